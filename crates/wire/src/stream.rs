//! The two halves of a stream of bytes, independent of the transport.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::trust::{OwnIdentity, PeerCertificate};

/// The half that reads.
pub(crate) type ByteReader = Box<dyn AsyncRead + Send + Unpin>;
/// The half that writes.
pub(crate) type ByteWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// What TLS has found out about the other side.
pub(crate) struct TlsSession {
    /// This side, for the errors that the other side sends.
    pub(crate) own: Arc<OwnIdentity>,
    /// The certificate of the other side. Its signature and its validity are verified.
    pub(crate) peer: PeerCertificate,
    /// The host that this side dialled.
    pub(crate) dialled: Option<String>,
}

/// A stream of bytes. The dynamic call per buffer costs nothing compared with its system call.
pub(crate) struct Stream {
    pub(crate) reader: ByteReader,
    pub(crate) writer: ByteWriter,
    /// `None` without certificates.
    pub(crate) session: Option<Box<TlsSession>>,
}

impl Stream {
    /// Splits any stream. The halves share a lock.
    pub(crate) fn new<S: AsyncRead + AsyncWrite + Send + 'static>(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Box::new(reader), writer: Box::new(writer), session: None }
    }

    /// Splits a socket, without a lock.
    pub(crate) fn tcp(socket: TcpStream) -> Self {
        let (reader, writer) = socket.into_split();
        Self { reader: Box::new(reader), writer: Box::new(writer), session: None }
    }

    /// Adds what TLS has found out.
    pub(crate) fn with_session(self, session: TlsSession) -> Self {
        Self { session: Some(Box::new(session)), ..self }
    }
}
