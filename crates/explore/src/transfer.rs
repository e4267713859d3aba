//! Shortest known transfers to one chosen state: breadth-first over the explored edges, backwards
//! from that state, and only as far as the question needs.
//!
//! The strategies that explore states in a strict order ask this: they return to the same state
//! after each of its actions. While they do, the only edges that are added leave that state, and an
//! edge that leaves the target is on no shortest walk to it, so one search serves them all.

use std::collections::VecDeque;

use crate::graph::{Edges, Graph, Slot};
use crate::id::StateIndex;
use crate::job::{PlannedJob, cheaper_transfer};
use crate::strategy::{INITIAL, StrategySettings};

const FAR: u32 = u32::MAX;

/// Finds the cheapest transfers to a target that changes now and then.
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
    /// With no states yet.
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

    /// What a reset costs was measured anew.
    pub fn set_reset_cost(&mut self, cost: f64) {
        self.reset_cost = cost;
    }

    /// A state was seen for the first time.
    pub fn on_discovered(&mut self) {
        self.incoming.push(Vec::new());
        self.distance.push(FAR);
    }

    /// A candidate was executed.
    pub fn on_executed(&mut self, slot: Slot, destination: StateIndex) {
        let incoming = &mut self.incoming[destination.at()];
        if slot.state != destination && incoming.last() != Some(&slot.state.0) {
            incoming.push(slot.state.0);
        }
        if self.target != Some(slot.state) {
            self.target = None;
        }
    }

    /// The job that takes a crawler from `at` to the target's next candidate.
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
        let reset = self.choose_reset(at)?;
        let mut walk = Vec::new();
        let mut state = if reset { INITIAL } else { at };
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

    /// Searches on until it is clear how to get to the target: by a reset (true) or from here.
    fn choose_reset(&mut self, at: StateIndex) -> Option<bool> {
        loop {
            // Whatever is not labelled yet is at least this far away.
            let frontier = self.queue.front().map(|&state| self.distance[state as usize]);
            let (here, initial) = (self.known(at), self.known(INITIAL));
            let decided =
                match (here, initial) {
                    (Some(_), Some(_)) => true,
                    (Some(here), None) => frontier
                        .is_none_or(|far| f64::from(here) <= self.reset_cost + f64::from(far)),
                    (None, Some(initial)) => frontier
                        .is_none_or(|far| self.reset_cost + f64::from(initial) < f64::from(far)),
                    (None, None) => frontier.is_none(),
                };
            if decided {
                return cheaper_transfer(here, initial, self.reset_cost).map(|way| way.reset);
            }
            let state = self.queue.pop_front().expect("undecided only while there is a frontier");
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
