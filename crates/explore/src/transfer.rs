//! The cheapest known transfer to one chosen state: a breadth-first search over explored
//! transitions, backwards from that state, and only as far as needed.
//!
//! It serves strategies that finish states in a strict order and return to the same state after
//! each of its actions. Meanwhile only transitions that leave this state are added. None of them is
//! on a shortest walk to it, so one search serves all its actions.

use std::collections::VecDeque;

use crate::graph::{Edges, Graph, ResetCosts, Slot};
use crate::id::StateIndex;
use crate::job::{PlannedJob, TransferChoice, cheapest_transfer};
use crate::strategy::StrategySettings;

const FAR: u32 = u32::MAX;

/// Finds the cheapest transfers to a target state that seldom changes.
#[derive(Clone)]
pub struct TransferSearch {
    reset_cost: f64,
    incoming: Vec<Vec<u32>>,
    target: Option<StateIndex>,
    distance: Vec<u32>,
    reached: Vec<u32>,
    queue: VecDeque<u32>,
}

impl TransferSearch {
    /// Creates a search that knows no states.
    pub fn new(settings: StrategySettings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            incoming: Vec::new(),
            target: None,
            distance: Vec::new(),
            reached: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    /// Sets the cost of a reset.
    pub fn set_reset_cost(&mut self, cost: f64) {
        self.reset_cost = cost;
    }

    /// Notes a new state.
    pub fn on_discovered(&mut self) {
        self.incoming.push(Vec::new());
        self.distance.push(FAR);
    }

    /// Notes that a candidate was executed.
    pub fn on_executed(&mut self, slot: Slot, destination: StateIndex) {
        let incoming = &mut self.incoming[destination.at()];
        if slot.state != destination && incoming.last() != Some(&slot.state.0) {
            incoming.push(slot.state.0);
        }
        if self.target != Some(slot.state) {
            self.target = None;
        }
    }

    /// Plans the job that takes a crawler from `at` to the next candidate of the target.
    pub fn plan(
        &mut self,
        graph: &Graph,
        at: StateIndex,
        target: StateIndex,
    ) -> Option<PlannedJob> {
        let candidate = graph.first_unexplored(target)?;
        if self.target != Some(target) {
            self.restart(target);
        }
        let transfer = self.choose_transfer(graph.resets(self.reset_cost), at)?;
        let (reset, mut state) = (transfer.is_reset(), transfer.start(at));
        let mut walk = Vec::new();
        while state != target {
            let next = self.distance[state.at()] - 1;
            let nearer = |&to: &u32| self.distance.get(to as usize) == Some(&next);
            let index = graph
                .targets(state.at())
                .iter()
                .position(nearer)
                .expect("a labelled state has a next");
            walk.push(Slot { state, index: index as u32 });
            state = StateIndex(graph.targets(state.at())[index]);
        }
        Some(PlannedJob { reset, walk, candidate })
    }

    fn restart(&mut self, target: StateIndex) {
        for state in self.reached.drain(..) {
            self.distance[state as usize] = FAR;
        }
        self.queue.clear();
        self.target = Some(target);
        self.label(target.0, 0);
    }

    fn label(&mut self, state: u32, distance: u32) {
        self.distance[state as usize] = distance;
        self.reached.push(state);
        self.queue.push_back(state);
    }

    fn known(&self, state: StateIndex) -> Option<u32> {
        Some(self.distance[state.at()]).filter(|&distance| distance != FAR)
    }

    /// Continues the search until the cheapest transfer is certain.
    fn choose_transfer(
        &mut self,
        resets: ResetCosts<'_>,
        at: StateIndex,
    ) -> Option<TransferChoice> {
        loop {
            let known = cheapest_transfer(Some(at), resets, |state| self.known(state));
            // Every state without a label is at least this far away.
            let frontier = self.queue.front().map(|&state| self.distance[state as usize]);
            let Some(far) = frontier.map(f64::from) else { return known };
            // A walk wins a tie, another reset does not.
            let may_change = known.is_none_or(|known| {
                (self.known(at).is_none() && far <= known.cost)
                    || resets
                        .iter()
                        .any(|(state, cost)| cost + far < known.cost && self.known(state).is_none())
            });
            if !may_change {
                return known;
            }
            let state = self.queue.pop_front().expect("there is a frontier");
            let next = self.distance[state as usize] + 1;
            for at in 0..self.incoming[state as usize].len() {
                let before = self.incoming[state as usize][at];
                if self.distance[before as usize] == FAR {
                    self.label(before, next);
                }
            }
        }
    }
}
