//! Breadth-first: the state that was found first is finished first.

use std::collections::VecDeque;

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::Job;
use crate::strategy::{Described, Strategy};
use crate::transfer::Transfer;

/// How people choose it.
pub const DESCRIBED: Described = Described {
    name: "breadth-first",
    summary: "finish the oldest state first",
    help: "Executes every action of the state that was found first before it turns to the next one, by \
           the shortest known transfer (the papers' optimised breadth-first). The classic baseline: it \
           returns to the same state after every action, which costs many transfers and resets.",
    make: |settings| Box::new(BreadthFirst { transfer: Transfer::new(settings), queue: VecDeque::new() }),
};

struct BreadthFirst {
    transfer: Transfer,
    queue: VecDeque<StateIndex>,
}

impl Strategy for BreadthFirst {
    fn discovered(&mut self, _: &Graph, state: StateIndex, _: Option<Slot>) {
        self.transfer.discovered();
        self.queue.push_back(state);
    }

    fn executed(&mut self, _: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.transfer.executed(slot, destination);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<Job> {
        while graph.unexplored_in(*self.queue.front()?) == 0 {
            self.queue.pop_front();
        }
        self.transfer.job(graph, at, *self.queue.front()?)
    }
}
