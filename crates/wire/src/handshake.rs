//! The handshake of a connection: both sides send a hello, each checks the other's, and both send a
//! verdict.
//!
//! Both sides always send and read both messages, so both know the reason of a refusal. A hello
//! must agree with the certificate that TLS has verified. Knows nothing of sockets.

use std::fmt;
use std::io;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls;

use crate::connection::{Connection, RecvError};
use crate::frame::Frames;
use crate::hello::{self, Hello, ReceivedHello};
use crate::limits::ConnectionLimits;
use crate::stream::{ByteReader, ByteWriter, Stream, TlsSession};
use crate::trust::{OwnIdentity, explain_without_identity};

/// An additional check by the accepting side. An error is the reason that both sides receive.
pub type HelloCheck<'a> = &'a (dyn Fn(&Hello) -> Result<(), String> + Send + Sync);

/// The two ends of a connection, as seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// This process.
    This,
    /// The process at the other end.
    Other,
}

/// The refusal of a connection. A retry does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The side that refused. This side, if both did.
    pub by: Side,
    /// The reason, from the point of view of the side that refused.
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

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// One side refused the other.
    #[error("{0}")]
    Refused(Refusal),
    /// One side has no certificate that the other trusts.
    #[error("not authenticated: {0}")]
    NotAuthenticated(String),
    /// The handshake took too long.
    #[error("the other side did not complete the handshake in time")]
    Deadline,
    /// The other side closed the connection during the handshake.
    #[error("the other side closed the connection during the handshake")]
    Closed,
    /// The network failed.
    #[error("the connection failed: {0}")]
    Io(io::Error),
}

impl HandshakeError {
    /// An error of the stream, as this side explains it.
    pub(crate) fn from_io(error: io::Error, own: Option<&OwnIdentity>) -> Self {
        // During the handshake, every TLS error concerns authentication.
        if let Some(inner) = error.get_ref()
            && let Some(tls) = inner.downcast_ref::<rustls::Error>()
        {
            return Self::NotAuthenticated(
                own.map_or_else(|| explain_without_identity(tls), |own| own.explain(tls)),
            );
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Io(error),
        }
    }

    fn from_recv(error: RecvError, session: Option<&TlsSession>) -> Self {
        match error {
            RecvError::Io(error) => Self::from_io(error, session.map(|session| &*session.own)),
            _ => Self::Closed,
        }
    }
}

/// Turns a stream into a connection, if both sides accept before the deadline.
pub(crate) async fn exchange_hellos(
    stream: Stream,
    me: &Hello,
    limits: &ConnectionLimits,
    deadline: Instant,
    check: HelloCheck<'_>,
) -> Result<Connection, HandshakeError> {
    let refusal = |by, reason| HandshakeError::Refused(Refusal { by, reason });
    let hello = me.encode().map_err(|reason| refusal(Side::This, reason))?;
    let Stream { reader, mut writer, session } = stream;
    let session = session.as_deref();
    let mut frames = Frames::new(reader, hello::MAX_HELLO);

    let received = async {
        // After a failure, the other side's messages may still tell the reason.
        let _ = send_frame(&mut writer, &hello).await;
        receive_hello(&mut frames, session).await
    };
    let received = timeout_at(deadline, received).await.map_err(|_| HandshakeError::Deadline)??;
    let checked = me.check_peer(received).and_then(|other| {
        if let Some(session) = session {
            session.peer.check(&other, session.dialled.as_deref())?;
        }
        check(&other).map(|()| other)
    });

    let verdict = checked.as_ref().map(|_| ()).map_err(Clone::clone);
    let answered = async {
        let _ = send_frame(&mut writer, &hello::encode_verdict(&verdict)).await;
        // Also when this side refuses: closing with unread bytes may discard the verdict.
        frames.next().await
    };
    let answered = timeout_at(deadline, answered).await;
    let peer = checked.map_err(|reason| refusal(Side::This, reason))?;
    let answer = answered.map_err(|_| HandshakeError::Deadline)?;
    let answer = answer.map_err(|error| HandshakeError::from_recv(error, session))?;
    let answer = answer.ok_or(HandshakeError::Closed)?;
    match hello::decode_verdict(&answer) {
        Some(Ok(())) => Ok(Connection::begin(peer, frames, writer, limits)),
        Some(Err(reason)) => Err(refusal(Side::Other, reason)),
        None => Err(refusal(Side::This, "its verdict is unreadable".to_owned())),
    }
}

pub(crate) async fn send_frame(writer: &mut ByteWriter, frame: &[u8]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    writer.write_all(&[&length.to_be_bytes(), frame].concat()).await?;
    writer.flush().await
}

async fn receive_hello(
    frames: &mut Frames<ByteReader>,
    session: Option<&TlsSession>,
) -> Result<ReceivedHello, HandshakeError> {
    let without = |does: &str| {
        HandshakeError::NotAuthenticated(format!(
            "the other side {does} certificates; this side has none: \
             name the directory of its certificate with --certs"
        ))
    };
    match frames.next().await {
        Ok(Some(frame)) => Ok(Hello::decode(&frame)),
        Ok(None) => Err(HandshakeError::Closed),
        Err(RecvError::TooLarge { .. }) => match &frames.buffer[..] {
            // A TLS alert, and the first TLS message: only the other side has certificates.
            [0x15, 3, ..] if session.is_none() => Err(without("requires")),
            [0x16, 3, ..] if session.is_none() => Err(without("uses")),
            _ => Ok(ReceivedHello { protocol: None, hello: None }),
        },
        Err(error) => Err(HandshakeError::from_recv(error, session)),
    }
}
