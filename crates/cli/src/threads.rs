//! How much of the machine a command may use.

use std::thread;

/// As many threads as the machine runs at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
