//! How much one connection may take: of memory, and of time without progress.

use std::time::Duration;

/// Bounds of one connection. They are this side's own; the other side may have others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The largest frame that is sent or accepted, in bytes.
    pub frame: usize,
    /// How long a connection may take until both sides have accepted each other.
    pub hello: Duration,
    /// How long a write may make no progress before the reader counts as dead.
    pub stall: Duration,
    /// How many frames may wait to be written.
    pub queue: usize,
    /// How many bytes of frames may wait to be written.
    pub unsent_bytes: usize,
}

impl ConnectionLimits {
    /// The largest frame, where the four bytes of a length can say it.
    pub(crate) fn largest_frame(&self) -> usize {
        self.frame.min(crate::frame::MAX_FRAME)
    }
}

impl Default for ConnectionLimits {
    /// Guesses: a frame may hold the source of a large page, and a process that is swapped out or stopped
    /// for some seconds is not taken for dead.
    fn default() -> Self {
        Self {
            frame: 64 << 20,
            hello: Duration::from_secs(5),
            stall: Duration::from_secs(10),
            queue: 256,
            unsent_bytes: 128 << 20,
        }
    }
}
