//! Breadth-first: finishes the oldest state first.

use std::collections::BTreeSet;

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategy::{NamedStrategy, Strategy};
use crate::transfer::TransferSearch;

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "breadth-first",
    summary: "finish the oldest state first",
    help: "Executes every action of the oldest state before it starts the next one, and reaches states \
           by the shortest known transfer (the papers' optimised breadth-first). This is the classic \
           baseline. It returns to the same state after every action, which costs many transfers and \
           resets.",
    make: |settings| {
        Box::new(BreadthFirst { transfer: TransferSearch::new(settings), open: BTreeSet::new() })
    },
};

#[derive(Clone)]
struct BreadthFirst {
    transfer: TransferSearch,
    /// The states that may have a free candidate. Their indexes are in the order of discovery.
    open: BTreeSet<StateIndex>,
}

impl Strategy for BreadthFirst {
    fn on_discovered(&mut self, _: &Graph, state: StateIndex, _: Option<Slot>) {
        self.transfer.on_discovered();
        self.open.insert(state);
    }

    fn on_executed(&mut self, _: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.transfer.on_executed(slot, destination);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        while graph.unexplored_in(*self.open.first()?) == 0 {
            self.open.pop_first();
        }
        // Only a state that no candidate led to can be out of reach.
        self.open.iter().find_map(|&state| self.transfer.plan(graph, at, state))
    }

    fn on_released(&mut self, _: &Graph, slot: Slot) {
        self.open.insert(slot.state);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.transfer.set_reset_cost(cost);
    }
}
