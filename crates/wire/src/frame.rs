//! Frames on a stream of bytes: a length of four bytes (big-endian), then the content.
//!
//! The length [`GOODBYE`] has no content. It marks an orderly end, because to TCP a process that
//! dies between two frames looks the same. Knows nothing of the content of a frame.

use std::io::ErrorKind;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::connection::RecvError;

/// The number of bytes of a length.
pub(crate) const LENGTH_BYTES: usize = 4;
/// The length that marks an orderly end.
pub(crate) const GOODBYE: u32 = u32::MAX;
/// The largest frame that a length can express.
pub(crate) const MAX_FRAME: usize = GOODBYE as usize - 1;

/// The size of the first reads. Most connections are idle and never need more.
const FIRST_READ: usize = 8 << 10;
/// The maximum size of a read. Beyond it, system calls cost little compared with copying.
const MAX_READ: usize = 64 << 10;
/// Smaller frames are copied out of the buffer. Otherwise a frame that is kept would keep the whole
/// buffer.
const COPIED: usize = 16 << 10;
/// A buffer that a large frame made larger than this is freed afterwards.
const KEPT_BUFFER: usize = 256 << 10;

/// Reads frames. Keeps bytes that were read but not returned, so a cancelled read loses nothing.
pub(crate) struct Frames<R> {
    reader: R,
    /// The unread bytes: they also diagnose a stream that is not in frames.
    pub(crate) buffer: BytesMut,
    read_size: usize,
    /// The maximum size of a frame.
    pub(crate) limit: usize,
    goodbye: bool,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Reads frames of at most `limit` bytes.
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader, buffer: BytesMut::new(), read_size: FIRST_READ, limit, goodbye: false }
    }

    /// Reads the next frame, or `None` after the goodbye. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, RecvError> {
        loop {
            if let Some(ready) = self.ready()? {
                return Ok(ready);
            }
            self.fill().await?;
        }
    }

    /// Reads once. Safe to cancel: a cancelled call reads nothing.
    pub(crate) async fn fill(&mut self) -> Result<(), RecvError> {
        // The buffer grows (by doubling) with received bytes, never with an announced length.
        self.buffer.reserve(self.read_size);
        let read = self.reader.read_buf(&mut (&mut self.buffer).limit(self.read_size)).await;
        let read = read.map_err(|error| match error.kind() {
            // TLS reports the first for a truncated stream, TCP the second for a process that died
            // with unread bytes.
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => RecvError::Broken,
            _ => RecvError::Io(error),
        })?;
        if read == 0 {
            return Err(RecvError::Broken);
        }
        if read == self.read_size {
            self.read_size = (read * 2).min(MAX_READ);
        }
        Ok(())
    }

    /// Takes the first frame out of the buffer: the result of [`Self::next`] if it needs no read,
    /// `None` if the frame is incomplete.
    pub(crate) fn ready(&mut self) -> Result<Option<Option<Bytes>>, RecvError> {
        if self.goodbye {
            return Ok(Some(None));
        }
        let Some(head) = self.buffer.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let announced = u32::from_be_bytes(*head);
        if announced == GOODBYE {
            self.goodbye = true;
            self.buffer = BytesMut::new();
            return Ok(Some(None));
        }
        let size = announced as usize;
        if size > self.limit {
            return Err(RecvError::TooLarge { size, limit: self.limit });
        }
        if self.buffer.len() - LENGTH_BYTES < size {
            return Ok(None);
        }
        self.buffer.advance(LENGTH_BYTES);
        if size < COPIED {
            let frame = Bytes::copy_from_slice(&self.buffer[..size]);
            self.buffer.advance(size);
            return Ok(Some(Some(frame)));
        }
        let frame = self.buffer.split_to(size).freeze();
        if self.buffer.capacity() > KEPT_BUFFER {
            // At most the last read remains, so this copies little.
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
        Ok(Some(Some(frame)))
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    const LIMIT: usize = 1 << 20;

    /// A reader that yields its bytes in pieces of the given sizes, then ends.
    struct Pieces {
        bytes: Vec<u8>,
        given: usize,
        sizes: Vec<usize>,
        turn: usize,
    }

    impl Pieces {
        fn new(bytes: Vec<u8>, sizes: Vec<usize>) -> Self {
            Self { bytes, given: 0, sizes, turn: 0 }
        }
    }

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let size = self.sizes[self.turn % self.sizes.len()];
            self.turn += 1;
            let end = (self.given + size.min(into.remaining())).min(self.bytes.len());
            into.put_slice(&self.bytes[self.given..end]);
            self.given = end;
            Poll::Ready(Ok(()))
        }
    }

    /// Reads to the end, and checks after every read that memory is bounded by received bytes.
    fn read_all(bytes: &[u8], sizes: Vec<usize>) -> (Vec<Bytes>, Result<(), RecvError>) {
        let mut frames = Frames::new(Pieces::new(bytes.to_vec(), sizes), LIMIT);
        let mut read = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        loop {
            match frames.ready() {
                Ok(Some(Some(frame))) => read.push(frame),
                Ok(Some(None)) => return (read, Ok(())),
                Ok(None) => {
                    if let Err(error) = runtime.block_on(frames.fill()) {
                        return (read, Err(error));
                    }
                    let arrived = frames.reader.given;
                    assert!(frames.buffer.capacity() <= 2 * (arrived + MAX_READ));
                }
                Err(error) => return (read, Err(error)),
            }
        }
    }

    fn written(frames: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for frame in frames {
            bytes.extend_from_slice(&u32::try_from(frame.len()).expect("small").to_be_bytes());
            bytes.extend_from_slice(frame);
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 128,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..4096),
            sizes in proptest::collection::vec(1_usize..600, 1..8),
        ) {
            let (frames, _) = read_all(&bytes, sizes);
            prop_assert!(frames.iter().map(Bytes::len).sum::<usize>() <= bytes.len());
        }

        #[test]
        fn frames_read_in_any_pieces_arrive_whole(
            frames in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40_000), 0..8),
            sizes in proptest::collection::vec(1_usize..30_000, 1..8),
            cut in any::<proptest::sample::Index>(),
        ) {
            let mut bytes = written(&frames);
            bytes.extend_from_slice(&GOODBYE.to_be_bytes());
            let (read, end) = read_all(&bytes, sizes.clone());
            prop_assert!(end.is_ok());
            prop_assert_eq!(&read, &frames);

            // Truncated: complete frames arrive, and the end is not an orderly one.
            bytes.truncate(cut.index(bytes.len()));
            let (read, end) = read_all(&bytes, sizes);
            prop_assert!(matches!(end, Err(RecvError::Broken)));
            prop_assert_eq!(&read[..], &frames[..read.len()]);
        }
    }

    #[test]
    fn an_announced_length_takes_no_memory() {
        let mut bytes = u32::try_from(LIMIT).expect("small").to_be_bytes().to_vec();
        bytes.push(1);
        // `read_all` checks the memory.
        let (read, end) = read_all(&bytes, vec![1]);
        assert!(read.is_empty());
        assert!(matches!(end, Err(RecvError::Broken)));
    }

    #[test]
    fn the_memory_of_a_large_frame_is_freed() {
        let large = vec![7; LIMIT];
        let bytes = written(&[large.clone(), vec![1, 2, 3]]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut frames = Frames::new(Pieces::new(bytes, vec![1 << 20]), LIMIT);
        runtime.block_on(async {
            assert_eq!(frames.next().await.expect("read"), Some(Bytes::from(large)));
            assert!(frames.buffer.capacity() <= KEPT_BUFFER);
            assert_eq!(frames.next().await.expect("read"), Some(Bytes::from_static(&[1, 2, 3])));
        });
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_its_content() {
        let bytes = u32::try_from(LIMIT + 1).expect("small").to_be_bytes();
        let (_, end) = read_all(&bytes, vec![4]);
        assert!(
            matches!(end, Err(RecvError::TooLarge { size, limit: LIMIT }) if size == LIMIT + 1)
        );
    }
}
