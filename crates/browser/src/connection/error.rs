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
        /// The browser's text.
        message: String,
    },
    /// The renderer process behind the session died; the session is unusable.
    #[error("the page's process died")]
    Crashed,
    /// The session has ended, or never existed.
    #[error("the session has ended")]
    SessionGone,
    /// The connection is closed.
    #[error("the connection to the browser is closed: {0}")]
    ConnectionClosed(Closed),
    /// No answer before the deadline. The browser may still perform the call.
    #[error("the browser did not answer before the deadline")]
    Deadline,
    /// The answer (or the call's parameters) does not have the form that the protocol describes.
    #[error("the browser's answer does not follow the protocol: {0}")]
    Malformed(String),
}

/// Why a connection was closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// The browser ended, or closed its side.
    #[error("the browser has ended")]
    Ended,
    /// Argiope closed it.
    #[error("argiope closed it")]
    ByUs,
    /// A message was larger than [`MAX_MESSAGE`].
    #[error("the browser sent a message of more than {} MB", MAX_MESSAGE >> 20)]
    TooLarge,
    /// The pipe failed.
    #[error("the pipe failed: {0}")]
    Pipe(String),
}
