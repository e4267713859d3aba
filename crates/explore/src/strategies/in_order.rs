//! Finishes states in the order of their discovery, oldest or newest first. Breadth-first and
//! depth-first share it.

use std::collections::BTreeSet;

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategy::{Strategy, StrategySettings};
use crate::transfer::TransferSearch;

/// The state to finish first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstState {
    Oldest,
    Newest,
}

/// Executes every action of one state before it starts the next one.
#[derive(Clone)]
pub(super) struct InOrder {
    first: FirstState,
    transfer: TransferSearch,
    /// The states that may have a free candidate. Their indexes are in the order of discovery.
    open: BTreeSet<StateIndex>,
}

impl InOrder {
    pub(super) fn new(first: FirstState, settings: StrategySettings) -> Self {
        Self { first, transfer: TransferSearch::new(settings), open: BTreeSet::new() }
    }

    fn next(&self) -> Option<StateIndex> {
        match self.first {
            FirstState::Oldest => self.open.first().copied(),
            FirstState::Newest => self.open.last().copied(),
        }
    }
}

impl Strategy for InOrder {
    fn on_discovered(&mut self, _: &Graph, state: StateIndex, _: Option<Slot>) {
        self.transfer.on_discovered();
        self.open.insert(state);
    }

    fn on_executed(&mut self, _: &Graph, slot: Slot, destination: StateIndex, _: bool) {
        self.transfer.on_executed(slot, destination);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        while let Some(state) = self.next()
            && graph.unexplored_in(state) == 0
        {
            self.open.remove(&state);
        }
        // Only a state that no candidate led to can be out of reach.
        let mut plan = |&state: &StateIndex| self.transfer.plan(graph, at, state);
        match self.first {
            FirstState::Oldest => self.open.iter().find_map(&mut plan),
            FirstState::Newest => self.open.iter().rev().find_map(&mut plan),
        }
    }

    fn on_released(&mut self, _: &Graph, slot: Slot) {
        self.open.insert(slot.state);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.transfer.set_reset_cost(cost);
    }
}
