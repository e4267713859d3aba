//! Why calls fail and connections end.

use super::MAX_MESSAGE;

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The browser refused it.
    #[error("the browser refused the call: {message} ({code})")]
    Protocol {
        /// The protocol's error number.
        code: i64,
        /// In the browser's words.
        message: String,
    },
    /// The renderer process behind the session died; the session is of no more use.
    #[error("the page's process died")]
    Crashed,
    /// The session has ended, or never was.
    #[error("the session has ended")]
    SessionGone,
    /// The connection is closed.
    #[error("the connection to the browser is closed: {0}")]
    ConnectionClosed(Closed),
    /// There was no answer in time. The browser may still perform the call.
    #[error("no answer from the browser in time")]
    Deadline,
    /// The answer (or the call's parameters) could not be read as what they should be.
    #[error("the answer is not what it should be: {0}")]
    Malformed(String),
}

/// Why a connection was closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// The browser ended, or closed its side.
    #[error("the browser has ended")]
    Ended,
    /// We closed it.
    #[error("closed by argiope")]
    ByUs,
    /// A message was larger than [`MAX_MESSAGE`].
    #[error("a message of more than {} MB", MAX_MESSAGE >> 20)]
    TooLarge,
    /// The pipe failed.
    #[error("{0}")]
    Pipe(String),
}
