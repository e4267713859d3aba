//! The two halves of a stream of bytes, whatever carries it.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Bytes that come in.
pub(crate) type ByteReader = Box<dyn AsyncRead + Send + Unpin>;
/// Bytes that go out.
pub(crate) type ByteWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// A stream of bytes. One dynamic call per buffer costs nothing beside the system call behind it.
pub(crate) struct Stream {
    pub(crate) reader: ByteReader,
    pub(crate) writer: ByteWriter,
}

impl Stream {
    /// Splits any stream; the halves share a lock.
    pub(crate) fn new<S: AsyncRead + AsyncWrite + Send + 'static>(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }

    /// Splits a socket, which needs no lock for it.
    pub(crate) fn tcp(socket: TcpStream) -> Self {
        let (reader, writer) = socket.into_split();
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }
}
