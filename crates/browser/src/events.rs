//! The queue of events of one session. A page can make events faster than they are read, so the
//! queue is bounded in number and in bytes: beyond that it drops the oldest events and counts them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;

/// The most events that a queue keeps.
pub const MAX_EVENTS: usize = 4096;
/// The most bytes of parameters that a queue keeps; it always keeps the newest event.
pub const MAX_BYTES: usize = 32 << 20;

/// An event of a session or of the browser.
#[derive(Clone, Debug)]
pub struct Event {
    /// The protocol's name of it, for example `Page.loadEventFired`.
    pub method: Box<str>,
    /// Its parameters, as sent.
    pub params: Box<RawValue>,
}

impl Event {
    /// Reads the parameters.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.params.get())
    }
}

#[derive(Debug, Default)]
struct Waiting {
    events: VecDeque<Event>,
    bytes: usize,
    dropped: u64,
    closed: bool,
}

/// The writing side of the queue, for the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    shared: Arc<(Mutex<Waiting>, Notify)>,
}

impl Queue {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, event: Event) {
        let mut waiting = self.waiting();
        waiting.bytes += event.params.get().len();
        waiting.events.push_back(event);
        while waiting.events.len() > MAX_EVENTS
            || (waiting.bytes > MAX_BYTES && waiting.events.len() > 1)
        {
            if let Some(oldest) = waiting.events.pop_front() {
                waiting.bytes -= oldest.params.get().len();
                waiting.dropped += 1;
            }
        }
        drop(waiting);
        self.shared.1.notify_one();
    }

    pub(crate) fn close(&self) {
        self.waiting().closed = true;
        self.shared.1.notify_one();
    }

    pub(crate) fn reader(&self) -> Events {
        Events { queue: self.clone() }
    }
}

/// The reading side of a queue. Each event goes to one reader, so there should be only one.
#[derive(Debug)]
pub struct Events {
    queue: Queue,
}

impl Events {
    /// The next event; `None` once the session has ended and all of its events were read.
    /// Cancelling the wait loses no event.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            if self.queue.waiting().closed {
                return None;
            }
            // An event that came since the check has left a permit: the wait ends at once.
            self.queue.shared.1.notified().await;
        }
    }

    /// The next event if one is waiting.
    pub fn try_next(&mut self) -> Option<Event> {
        let mut waiting = self.queue.waiting();
        let event = waiting.events.pop_front()?;
        waiting.bytes -= event.params.get().len();
        Some(event)
    }

    /// The number of events that were dropped unread.
    pub fn dropped(&self) -> u64 {
        self.queue.waiting().dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(params: String) -> Event {
        Event { method: "A.b".into(), params: RawValue::from_string(params).unwrap() }
    }

    #[test]
    fn a_queue_that_is_not_read_drops_the_oldest_and_counts_them() {
        let queue = Queue::default();
        for number in 0..MAX_EVENTS + 3 {
            queue.push(event(number.to_string()));
        }
        let mut events = queue.reader();
        assert_eq!(events.dropped(), 3);
        assert_eq!(events.try_next().unwrap().read::<u64>().unwrap(), 3);
    }

    #[test]
    fn a_queue_has_a_bound_in_bytes_but_keeps_the_newest_event() {
        let queue = Queue::default();
        let long = format!("\"{}\"", "x".repeat(MAX_BYTES));
        queue.push(event("1".to_owned()));
        queue.push(event(long.clone()));
        let mut events = queue.reader();
        assert_eq!(events.dropped(), 1);
        assert_eq!(events.try_next().unwrap().params.get().len(), long.len());
        assert!(events.try_next().is_none());
    }

    #[tokio::test]
    async fn queued_events_are_read_after_the_end() {
        let queue = Queue::default();
        queue.push(event("1".to_owned()));
        queue.close();
        let mut events = queue.reader();
        assert!(events.next().await.is_some());
        assert!(events.next().await.is_none());
    }
}
