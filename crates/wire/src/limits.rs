//! The limits of one connection: memory, and time without progress.

use std::time::Duration;

/// The limits of one connection on this side. The other side may have others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The maximum size of a frame, sent or received, in bytes.
    pub frame: usize,
    /// The maximum duration of the handshake.
    pub hello: Duration,
    /// The maximum time of a write without progress. The reader then counts as dead.
    pub stall: Duration,
    /// The maximum number of queued frames.
    pub queue: usize,
    /// The maximum number of queued bytes.
    pub unsent_bytes: usize,
}

impl Default for ConnectionLimits {
    /// Guesses: a frame may hold the source of a large page, and a process that is swapped out or
    /// stopped for some seconds does not count as dead.
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
