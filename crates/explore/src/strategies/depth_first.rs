//! Depth-first: the state that was found last is finished first.

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::Job;
use crate::strategy::{Described, Strategy};
use crate::transfer::Transfer;

/// How people choose it.
pub const DESCRIBED: Described = Described {
    name: "depth-first",
    summary: "finish the newest state first",
    help: "Executes every action of the state that was found last before it returns to the one before, by \
           the shortest known transfer (the papers' optimised depth-first). Few resets, but very long \
           walks: in most applications the costliest strategy of all.",
    make: |settings| Box::new(DepthFirst { transfer: Transfer::new(settings), stack: Vec::new() }),
};

struct DepthFirst {
    transfer: Transfer,
    stack: Vec<StateIndex>,
}

impl Strategy for DepthFirst {
    fn discovered(&mut self, _: &Graph, state: StateIndex, _: Option<Slot>) {
        self.transfer.discovered();
        self.stack.push(state);
    }

    fn executed(&mut self, _: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.transfer.executed(slot, destination);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<Job> {
        while graph.unexplored_in(*self.stack.last()?) == 0 {
            self.stack.pop();
        }
        self.transfer.job(graph, at, *self.stack.last()?)
    }
}
