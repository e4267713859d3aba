//! A connection that both sides have accepted: frames out through a queue, frames in one by one.
//!
//! The writing is done by a task of its own (`writer`), so nobody waits for the network to send. Knows
//! nothing of what carries the bytes or of what they say.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::frame::Frames;
use crate::hello::Hello;
use crate::limits::ConnectionLimits;
use crate::stream::{ByteReader, ByteWriter};
use crate::writer;

/// Why a frame was not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The queue is full; the frame is given back.
    #[error("the other side is slower than what is sent to it")]
    Full(Bytes),
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
    /// The frame is larger than allowed.
    #[error("a frame of {size} bytes is larger than the {limit} allowed")]
    TooLarge {
        /// The size of the frame.
        size: usize,
        /// The largest size.
        limit: usize,
    },
}

/// Why nothing more will be received.
#[derive(Debug, thiserror::Error)]
pub enum RecvError {
    /// The other side announced a frame that is larger than allowed.
    #[error("the other side announced a frame of {size} bytes, {limit} are allowed")]
    TooLarge {
        /// The size that was announced.
        size: usize,
        /// The largest size.
        limit: usize,
    },
    /// The other side went away without a goodbye, perhaps in the middle of a frame.
    #[error("the other side went away without a goodbye")]
    Broken,
    /// The other side did not read what was sent to it.
    #[error("the other side no longer reads what is sent to it")]
    Stalled,
    /// The network failed.
    #[error("the connection failed: {0}")]
    Io(io::Error),
}

/// How far a connection has come, as its parts tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionPhase {
    Open,
    /// Everything was written, the goodbye included.
    Written,
    /// Writing failed. The reader goes on: it may still find the other side's last words.
    Lost,
    /// One part gave up for all of them.
    Cut,
}

/// What the parts of one connection share.
pub(crate) struct Shared {
    /// One permit for each byte that may still be queued.
    pub(crate) free_bytes: Semaphore,
    capacity: usize,
    largest: usize,
    pub(crate) progress: watch::Sender<ConnectionPhase>,
}

impl Shared {
    /// How much room a frame takes. One that is larger than all the room takes all of it, else it could
    /// never be sent.
    pub(crate) fn charge_for(&self, frame: &Bytes) -> usize {
        frame.len().min(self.capacity)
    }

    /// Ends the connection for its other parts too.
    pub(crate) fn cut(&self) {
        self.progress.send_replace(ConnectionPhase::Cut);
    }
}

/// A connection to a process that said who it is. When it and all its parts are dropped, what is queued is
/// still written, and the other side sees an orderly end.
pub struct Connection {
    /// What the other side said of itself. Its texts come from outside: escape them before printing.
    pub peer: Hello,
    sender: Sender,
    receiver: Receiver,
}

impl Connection {
    /// Starts the task that writes; what was read of the frames already stays.
    pub(crate) fn begin(
        peer: Hello,
        mut frames: Frames<ByteReader>,
        writer: ByteWriter,
        limits: &ConnectionLimits,
    ) -> Self {
        let (queue, queued) = mpsc::channel(limits.queue.clamp(1, Semaphore::MAX_PERMITS));
        let all_room = limits.unsent_bytes.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let (progress, watched) = watch::channel(ConnectionPhase::Open);
        let largest = limits.largest_frame();
        let shared = Arc::new(Shared {
            free_bytes: Semaphore::new(all_room),
            capacity: all_room,
            largest,
            progress,
        });
        frames.set_limit(largest);
        tokio::spawn(writer::run(writer, queued, Arc::clone(&shared), limits.stall));
        let receiver = Receiver { frames: Some(frames), watched, shared: Arc::clone(&shared) };
        Self { peer, sender: Sender { queue, shared }, receiver }
    }

    /// The two directions, to be used apart.
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connection").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Sends frames; clones send on the same connection. When the last one is dropped, what is queued is
/// written and the direction is closed in order.
#[derive(Clone)]
pub struct Sender {
    queue: mpsc::Sender<Bytes>,
    shared: Arc<Shared>,
}

impl Sender {
    /// Queues a frame if there is room.
    pub fn try_send(&self, frame: impl Into<Bytes>) -> Result<(), SendError> {
        let frame = self.checked(frame.into())?;
        let room = self.shared.charge_for(&frame);
        match self.shared.free_bytes.try_acquire_many(permits(room)) {
            Ok(taken) => taken.forget(),
            Err(tokio::sync::TryAcquireError::NoPermits) => return Err(SendError::Full(frame)),
            Err(tokio::sync::TryAcquireError::Closed) => return Err(SendError::Closed),
        }
        self.queue.try_send(frame).map_err(|error| {
            self.shared.free_bytes.add_permits(room);
            match error {
                mpsc::error::TrySendError::Full(frame) => SendError::Full(frame),
                mpsc::error::TrySendError::Closed(_) => SendError::Closed,
            }
        })
    }

    /// Queues a frame, and waits for room if there is none. If abandoned, the frame is not sent.
    pub async fn send(&self, frame: impl Into<Bytes>) -> Result<(), SendError> {
        let frame = self.checked(frame.into())?;
        let room = self.shared.charge_for(&frame);
        let taken = self
            .shared
            .free_bytes
            .acquire_many(permits(room))
            .await
            .map_err(|_| SendError::Closed)?;
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

    /// Gives this sender up and waits until, with the last of its clones gone too, all that was queued is
    /// handed to the network. A process that is about to end should wait for it.
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

/// Permits are counted in `u32`, and the room was made no larger.
fn permits(room: usize) -> u32 {
    u32::try_from(room).unwrap_or(u32::MAX)
}

/// Receives frames. After an error the whole connection is over. One that is dropped early leaves what the
/// other side sends unread, and then what was sent to it last may be lost: receive until `None` where that
/// matters.
pub struct Receiver {
    /// `None` after an error: the socket is given back at once.
    frames: Option<Frames<ByteReader>>,
    watched: watch::Receiver<ConnectionPhase>,
    shared: Arc<Shared>,
}

impl Receiver {
    /// The next frame; `None` when the other side has closed its direction in order. It can be abandoned
    /// (as `select!` does) without losing anything.
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
                // Only the writer cuts while this waits. `shared` holds the sender: it never ends.
                _ = self.watched.wait_for(|progress| *progress == ConnectionPhase::Cut) => {
                    return Err(RecvError::Stalled);
                }
                filled = frames.fill() => filled?,
            }
        }
    }
}
