//! The first words on a connection: both sides say hello, each judges the other, both hear the verdict.
//!
//! Both always send a hello and a verdict and read the other's, so the reason of a refusal is known on
//! both sides, whichever refuses. Knows nothing of addresses and certificates but how their absence shows.

use std::fmt;
use std::io;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls;

use crate::connection::{Connection, RecvError};
use crate::frame::Frames;
use crate::hello::{self, Hello, HelloVerdict, ReceivedHello};
use crate::limits::ConnectionLimits;
use crate::stream::{ByteReader, ByteWriter, Stream};

/// What the accepting side asks besides: an error is the reason that both sides get to know.
pub type HelloCheck<'a> = &'a (dyn Fn(&Hello) -> Result<(), String> + Send + Sync);

/// The two ends of a connection, as seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// This process.
    This,
    /// The process at the other end.
    Other,
}

/// Two processes that do not belong together. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who refused; this side, if both did.
    pub by: Side,
    /// Why, as a sentence from the point of view of the side that refused.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            Side::This => write!(formatter, "refused the other side: {}", self.reason),
            Side::Other => write!(formatter, "refused by the other side: {}", self.reason),
        }
    }
}

/// Why a stream of bytes did not become a connection.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// One of the two does not want the other.
    #[error("{0}")]
    Refused(Refusal),
    /// One of the two has no certificate that the other trusts.
    #[error("not authenticated: {0}")]
    NotAuthenticated(String),
    /// Not all was said in time.
    #[error("the other side did not say hello in time")]
    Deadline,
    /// The other side closed the connection too early.
    #[error("the other side closed the connection before it was accepted")]
    Closed,
    /// The network failed.
    #[error("the connection failed: {0}")]
    Io(io::Error),
}

impl From<io::Error> for HandshakeError {
    fn from(error: io::Error) -> Self {
        // Before both sides have said hello, whatever TLS complains about is about who they are.
        if let Some(inner) = error.get_ref()
            && let Some(tls) = inner.downcast_ref::<rustls::Error>()
        {
            return Self::NotAuthenticated(tls.to_string());
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

impl From<RecvError> for HandshakeError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Io(error) => error.into(),
            _ => Self::Closed,
        }
    }
}

/// Makes a connection out of a stream, if both sides want it before the deadline.
pub(crate) async fn exchange_hellos(
    stream: Stream,
    me: &Hello,
    limits: &ConnectionLimits,
    deadline: Instant,
    check: HelloCheck<'_>,
) -> Result<Connection, HandshakeError> {
    let refusal = |by, reason| HandshakeError::Refused(Refusal { by, reason });
    let hello = me.encode().map_err(|reason| refusal(Side::This, reason))?;
    let mut frames = Frames::new(stream.reader, hello::MAX_HELLO);
    let mut writer = stream.writer;

    let heard = async {
        // If this fails, what the other side has said before it closed still tells why.
        let _ = send_frame(&mut writer, &hello).await;
        receive_hello(&mut frames).await
    };
    let heard = timeout_at(deadline, heard).await.map_err(|_| HandshakeError::Deadline)??;
    let judged = me.check_peer(heard).and_then(|other| check(&other).map(|()| other));

    let verdict = match &judged {
        Ok(_) => HelloVerdict::Accepted,
        Err(reason) => HelloVerdict::Refused(reason.clone()),
    };
    let answered = async {
        let _ = send_frame(&mut writer, &verdict.encode()).await;
        // Also when this side refuses: closing with something unread may destroy what was sent last.
        frames.next().await
    };
    let answered = timeout_at(deadline, answered).await;
    let peer = judged.map_err(|reason| refusal(Side::This, reason))?;
    let answer = answered.map_err(|_| HandshakeError::Deadline)??.ok_or(HandshakeError::Closed)?;
    match HelloVerdict::decode(&answer) {
        Some(HelloVerdict::Accepted) => Ok(Connection::begin(peer, frames, writer, limits)),
        Some(HelloVerdict::Refused(reason)) => Err(refusal(Side::Other, reason)),
        None => Err(refusal(Side::This, "its verdict cannot be read".to_owned())),
    }
}

pub(crate) async fn send_frame(writer: &mut ByteWriter, frame: &[u8]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    writer.write_all(&[&length.to_be_bytes(), frame].concat()).await?;
    writer.flush().await
}

async fn receive_hello(frames: &mut Frames<ByteReader>) -> Result<ReceivedHello, HandshakeError> {
    match frames.next().await {
        Ok(Some(frame)) => Ok(Hello::decode(&frame)),
        Ok(None) => Err(HandshakeError::Closed),
        Err(RecvError::TooLarge { .. }) => match frames.peek() {
            // An alert of TLS, and its first message: one side has certificates and the other has none.
            [0x15, 3, ..] => Err(HandshakeError::NotAuthenticated(
                "the other side wants certificates, this side has none".to_owned(),
            )),
            [0x16, 3, ..] => Err(HandshakeError::NotAuthenticated(
                "the other side has certificates, this side has none".to_owned(),
            )),
            _ => Ok(ReceivedHello { protocol: None, hello: None }),
        },
        Err(error) => Err(error.into()),
    }
}
