//! The two halves of a stream of bytes, independent of the transport.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// The half that reads.
pub(crate) type ByteReader = Box<dyn AsyncRead + Send + Unpin>;
/// The half that writes.
pub(crate) type ByteWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// A stream of bytes. The dynamic call per buffer costs nothing compared with its system call.
pub(crate) struct Stream {
    pub(crate) reader: ByteReader,
    pub(crate) writer: ByteWriter,
}

impl Stream {
    /// Splits any stream. The halves share a lock.
    pub(crate) fn new<S: AsyncRead + AsyncWrite + Send + 'static>(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }

    /// Splits a socket, without a lock.
    pub(crate) fn tcp(socket: TcpStream) -> Self {
        let (reader, writer) = socket.into_split();
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }
}
