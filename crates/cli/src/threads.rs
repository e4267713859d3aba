//! How many threads a command may use.

use std::thread;

/// The number of threads that the machine runs at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
