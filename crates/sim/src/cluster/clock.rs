//! What happens when: events in the order of their time, and of their making where times are equal.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Events to come.
pub struct Clock<E> {
    now: u64,
    made: u64,
    waiting: BinaryHeap<Reverse<Timed<E>>>,
}

struct Timed<E> {
    at: u64,
    number: u64,
    event: E,
}

impl<E> Default for Clock<E> {
    fn default() -> Self {
        Self { now: 0, made: 0, waiting: BinaryHeap::new() }
    }
}

impl<E> Clock<E> {
    /// The present, in microseconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Something will happen after a time.
    pub fn after(&mut self, time: u64, event: E) {
        self.made += 1;
        let at = self.now.saturating_add(time);
        self.waiting.push(Reverse(Timed { at, number: self.made, event }));
    }

    /// What happens next; the present moves on to it.
    pub fn advance(&mut self) -> Option<E> {
        let Reverse(timed) = self.waiting.pop()?;
        self.now = timed.at;
        Some(timed.event)
    }
}

impl<E> PartialEq for Timed<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Timed<E> {}

impl<E> PartialOrd for Timed<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Timed<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
