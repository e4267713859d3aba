//! A connection that both sides have accepted: a queue of frames to send, and a stream of frames to
//! receive.
//!
//! A task of its own (`writer`) writes, so a sender never waits for the network. Knows nothing of
//! the transport or of the content of frames.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_rustls::rustls;

use crate::frame::{Frames, MAX_FRAME};
use crate::hello::Hello;
use crate::limits::ConnectionLimits;
use crate::stream::{ByteReader, ByteWriter};
use crate::trust::explain_without_identity;
use crate::writer;

/// Why a frame was not queued.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The queue is full. Returns the frame.
    #[error("the send queue is full: the other side reads too slowly")]
    Full(Bytes),
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
    /// The frame is larger than allowed.
    #[error("the frame has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// The size of the frame.
        size: usize,
        /// The largest size.
        limit: usize,
    },
}

/// Why no more frames arrive.
#[derive(Debug, thiserror::Error)]
pub enum RecvError {
    /// The other side announced a frame that is larger than allowed.
    #[error("the other side announced a frame of {size} bytes; the limit is {limit}")]
    TooLarge {
        /// The announced size.
        size: usize,
        /// The largest size.
        limit: usize,
    },
    /// The stream ended without a goodbye, possibly in the middle of a frame.
    #[error("the other side closed the connection without a goodbye")]
    Broken,
    /// The other side stopped reading.
    #[error("the other side stopped reading")]
    Stalled,
    /// The network failed.
    #[error("the connection failed: {}", explain(.0))]
    Io(io::Error),
}

/// The error of a stream, without the names that rustls has for errors.
pub(crate) fn explain(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    tls.map_or_else(|| error.to_string(), explain_without_identity)
}

/// The phase of a connection, shared by its sender, receiver and writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionPhase {
    Open,
    /// Everything was written, including the goodbye.
    Written,
    /// Writing failed. The receiver continues, because frames may still arrive.
    Lost,
    /// The receiver or the writer ended the connection for all.
    Cut,
}

/// The state that sender, receiver and writer of one connection share.
pub(crate) struct Shared {
    /// One permit for each byte that may still be queued.
    pub(crate) free_bytes: Semaphore,
    capacity: u32,
    largest: usize,
    pub(crate) progress: watch::Sender<ConnectionPhase>,
}

impl Shared {
    /// The number of permits that a frame takes. A frame larger than the capacity takes all of
    /// them, otherwise it could never be sent.
    pub(crate) fn charge_for(&self, frame: &Bytes) -> u32 {
        u32::try_from(frame.len()).map_or(self.capacity, |size| size.min(self.capacity))
    }

    /// Ends the connection for sender, receiver and writer.
    pub(crate) fn cut(&self) {
        self.progress.send_replace(ConnectionPhase::Cut);
    }
}

/// A connection to a process that has introduced itself. When it, its sender and its receiver are
/// dropped, queued frames are still written, and the other side sees an orderly end.
pub struct Connection {
    /// The hello of the other side. Its texts are untrusted: escape them before printing.
    pub peer: Hello,
    sender: Sender,
    receiver: Receiver,
}

impl Connection {
    /// Starts the writer. Bytes that `frames` has read already are kept.
    pub(crate) fn begin(
        peer: Hello,
        mut frames: Frames<ByteReader>,
        writer: ByteWriter,
        limits: &ConnectionLimits,
    ) -> Self {
        let (queue, queued) = mpsc::channel(limits.queue.clamp(1, Semaphore::MAX_PERMITS));
        // Permits are counted in `u32`.
        let capacity = limits.unsent_bytes.clamp(1, Semaphore::MAX_PERMITS);
        let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        let free_bytes = Semaphore::new(capacity as usize);
        let (progress, watched) = watch::channel(ConnectionPhase::Open);
        let largest = limits.frame.min(MAX_FRAME);
        let shared = Arc::new(Shared { free_bytes, capacity, largest, progress });
        frames.limit = largest;
        tokio::spawn(writer::run(writer, queued, Arc::clone(&shared), limits.stall));
        let receiver = Receiver { frames: Some(frames), watched, shared: Arc::clone(&shared) };
        Self { peer, sender: Sender { queue, shared }, receiver }
    }

    /// Splits the connection into its two directions.
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connection").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Sends frames. Clones send on the same connection. When the last clone is dropped, the queued
/// frames are written and the direction ends orderly.
#[derive(Clone)]
pub struct Sender {
    queue: mpsc::Sender<Bytes>,
    shared: Arc<Shared>,
}

impl Sender {
    /// Queues a frame if the queue has space.
    pub fn try_send(&self, frame: impl Into<Bytes>) -> Result<(), SendError> {
        let frame = self.checked(frame.into())?;
        let charge = self.shared.charge_for(&frame);
        match self.shared.free_bytes.try_acquire_many(charge) {
            Ok(taken) => taken.forget(),
            Err(tokio::sync::TryAcquireError::NoPermits) => return Err(SendError::Full(frame)),
            Err(tokio::sync::TryAcquireError::Closed) => return Err(SendError::Closed),
        }
        self.queue.try_send(frame).map_err(|error| {
            self.shared.free_bytes.add_permits(charge as usize);
            match error {
                mpsc::error::TrySendError::Full(frame) => SendError::Full(frame),
                mpsc::error::TrySendError::Closed(_) => SendError::Closed,
            }
        })
    }

    /// Queues a frame, and waits for space if necessary. A cancelled call does not send the frame.
    pub async fn send(&self, frame: impl Into<Bytes>) -> Result<(), SendError> {
        let frame = self.checked(frame.into())?;
        let charge = self.shared.charge_for(&frame);
        let taken = self.shared.free_bytes.acquire_many(charge).await;
        let taken = taken.map_err(|_| SendError::Closed)?;
        let place = self.queue.reserve().await.map_err(|_| SendError::Closed)?;
        taken.forget();
        place.send(frame);
        Ok(())
    }

    /// Whether the connection has ended in this direction.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    /// Waits until the connection has ended in this direction.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }

    /// Drops this sender, and waits until all clones are dropped and all queued frames are written
    /// to the network. Call it before the process ends.
    pub async fn finish(self) -> Result<(), SendError> {
        let Self { queue, shared } = self;
        drop(queue);
        let mut progress = shared.progress.subscribe();
        match progress.wait_for(|progress| *progress != ConnectionPhase::Open).await.as_deref() {
            Ok(ConnectionPhase::Written) => Ok(()),
            _ => Err(SendError::Closed),
        }
    }

    fn checked(&self, frame: Bytes) -> Result<Bytes, SendError> {
        let (size, limit) = (frame.len(), self.shared.largest);
        if size > limit { Err(SendError::TooLarge { size, limit }) } else { Ok(frame) }
    }
}

/// Receives frames. After an error the whole connection is over. A receiver that is dropped early
/// leaves frames unread, and the frames sent last to the other side may then be lost. Receive until
/// `None` where that matters.
pub struct Receiver {
    /// `None` after an error, which closes the socket at once.
    frames: Option<Frames<ByteReader>>,
    watched: watch::Receiver<ConnectionPhase>,
    shared: Arc<Shared>,
}

impl Receiver {
    /// Receives the next frame, or `None` after an orderly end. Safe to cancel, as `select!` does.
    pub async fn recv(&mut self) -> Result<Option<Bytes>, RecvError> {
        let received = self.receive().await;
        if received.is_err() {
            self.frames = None;
            self.shared.cut();
        }
        received
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, RecvError> {
        let frames = self.frames.as_mut().ok_or(RecvError::Broken)?;
        loop {
            if let Some(ready) = frames.ready()? {
                return Ok(ready);
            }
            tokio::select! {
                biased;
                // Only the writer can cut while this waits. `shared` keeps the channel open.
                _ = self.watched.wait_for(|progress| *progress == ConnectionPhase::Cut) => {
                    return Err(RecvError::Stalled);
                }
                filled = frames.fill() => filled?,
            }
        }
    }
}
