//! The one event loop of this crate: fleets, rings and stars run on it.
//!
//! Time is simulated. Events happen in the order of their time; events of the same time happen in
//! the order of their rank, then in the order in which they were scheduled. So one seed gives one
//! run, down to the last byte of its trace. The loop knows nothing of crawls.

use std::collections::BTreeMap;

/// A simulation that the loop drives.
pub(crate) trait Simulation {
    /// What happens in it.
    type Event;

    /// The events to come.
    fn events(&mut self) -> &mut EventQueue<Self::Event>;

    /// Whether the crawl is over: the loop handles no further event.
    fn is_over(&self) -> bool;

    /// Handles one event. The queue's time is the time of the event.
    fn on_event(&mut self, event: Self::Event);

    /// No event is left, or the limit is reached, and the crawl is not over.
    fn on_stall(&mut self) {}
}

/// Handles the next event. Returns false once there is none to handle.
pub(crate) fn step(simulation: &mut impl Simulation) -> bool {
    if simulation.is_over() {
        return false;
    }
    let Some(event) = simulation.events().pop() else {
        simulation.on_stall();
        return false;
    };
    simulation.on_event(event);
    true
}

/// Runs a simulation to its end.
pub(crate) fn run(simulation: &mut impl Simulation) {
    while step(simulation) {}
}

/// The simulated clock, and the events to come.
pub(crate) struct EventQueue<E> {
    now: u64,
    scheduled: u64,
    handled: u64,
    limit: u64,
    /// By time, rank and number.
    waiting: BTreeMap<(u64, u64, u64), E>,
}

impl<E> EventQueue<E> {
    /// An empty queue that gives out fewer events than `limit`.
    pub(crate) fn with_limit(limit: u64) -> Self {
        Self { now: 0, scheduled: 0, handled: 0, limit, waiting: BTreeMap::new() }
    }

    /// The present time: the time of the last event given out.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Schedules an event after a delay.
    pub(crate) fn schedule(&mut self, delay: u64, event: E) {
        self.schedule_ranked(delay, 0, event);
    }

    /// Schedules an event that comes before those of the same time and a higher rank.
    pub(crate) fn schedule_ranked(&mut self, delay: u64, rank: u64, event: E) {
        self.scheduled += 1;
        self.waiting.insert((self.now.saturating_add(delay), rank, self.scheduled), event);
    }

    /// Gives out the next event and moves the clock to it.
    fn pop(&mut self) -> Option<E> {
        self.handled += 1;
        let ((time, ..), event) = self.waiting.pop_first().filter(|_| self.handled < self.limit)?;
        self.now = time;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_ordered_by_rank_and_then_by_scheduling() {
        let mut queue = EventQueue::with_limit(u64::MAX);
        for (delay, rank, event) in
            [(2, 0, "e"), (1, 7, "d"), (1, 0, "a"), (1, 0, "b"), (1, 3, "c")]
        {
            queue.schedule_ranked(delay, rank, event);
        }
        let order: Vec<_> =
            std::iter::from_fn(|| queue.pop().map(|it| (queue.now(), it))).collect();
        assert_eq!(order, [(1, "a"), (1, "b"), (1, "c"), (1, "d"), (2, "e")]);
    }

    #[test]
    fn the_limit_ends_a_queue_that_fills_itself() {
        let mut queue = EventQueue::with_limit(10);
        queue.schedule(0, ());
        let handled =
            std::iter::from_fn(|| queue.pop().inspect(|()| queue.schedule(1, ()))).count();
        assert_eq!((handled, queue.now()), (9, 8));
    }
}
