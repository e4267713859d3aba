//! How far every state is from the nearest goal, kept up to date while edges and goals come and go.
//!
//! The nearest unexplored action is the inner loop of every strategy. Searching for it anew at each
//! decision costs the whole graph once nearly everything is explored. Here the distances are
//! repaired instead: a new edge or goal lowers some of them, a goal that is done raises those that
//! hung on it. A state is done once, but decisions are made once per transition, so the repairs are
//! few. (The repair on removal is that of Ramalingam and Reps, for edges of length one.)

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::graph::{Edges, Slot, UNEXPLORED};
use crate::id::StateIndex;

const FAR: u32 = u32::MAX;
const NO_SLOT: u32 = u32::MAX;

/// Distances, in actions, from every state to the nearest goal.
#[derive(Default)]
pub struct Distances {
    distance: Vec<u32>,
    /// The slot whose destination is one step nearer to the goal.
    support: Vec<u32>,
    /// The states with an edge to this one. May name a state whose edge is gone, never misses one.
    incoming: Vec<Vec<u32>>,
    affected: Vec<bool>,
}

impl Distances {
    /// Makes room for the next state, which is no goal and has no edges yet.
    pub fn add_state(&mut self) {
        self.distance.push(FAR);
        self.support.push(NO_SLOT);
        self.incoming.push(Vec::new());
        self.affected.push(false);
    }

    /// The number of actions from a state to the nearest goal.
    pub fn get(&self, state: StateIndex) -> Option<u32> {
        let distance = self.distance[state.at()];
        (distance != FAR).then_some(distance)
    }

    /// Appends the shortest walk from a state to its nearest goal, and gives the goal.
    pub fn walk(&self, edges: &impl Edges, from: StateIndex, walk: &mut Vec<Slot>) -> StateIndex {
        let mut state = from;
        while self.distance[state.at()] > 0 {
            let index = self.support[state.at()];
            assert_ne!(index, NO_SLOT, "{from:?} reaches no goal");
            walk.push(Slot { state, index });
            state = StateIndex(edges.targets(state.at())[index as usize]);
        }
        state
    }

    /// Takes in an edge that `edges` has just gained.
    pub fn connect(&mut self, edges: &impl Edges, slot: Slot) {
        let to = edges.targets(slot.state.at())[slot.index as usize] as usize;
        if to == slot.state.at() {
            return;
        }
        let incoming = &mut self.incoming[to];
        if incoming.last() != Some(&slot.state.0) {
            incoming.push(slot.state.0);
        }
        if self.distance[to] != FAR && self.distance[to] + 1 < self.distance[slot.state.at()] {
            self.support[slot.state.at()] = slot.index;
            self.lower(edges, slot.state, self.distance[to] + 1);
        }
    }

    /// Takes in that the edge of this slot is gone from `edges`.
    pub fn disconnect(&mut self, edges: &impl Edges, slot: Slot) {
        if self.support[slot.state.at()] == slot.index {
            self.raise(edges, slot.state);
        }
    }

    /// Makes a state a goal.
    pub fn set_goal(&mut self, edges: &impl Edges, state: StateIndex) {
        if self.distance[state.at()] != 0 {
            self.support[state.at()] = NO_SLOT;
            self.lower(edges, state, 0);
        }
    }

    /// Makes a state no goal any more.
    pub fn clear_goal(&mut self, edges: &impl Edges, state: StateIndex) {
        if self.distance[state.at()] == 0 {
            self.raise(edges, state);
        }
    }

    /// Whether the state is a goal.
    pub fn is_goal(&self, state: StateIndex) -> bool {
        self.distance[state.at()] == 0
    }

    fn lower(&mut self, edges: &impl Edges, state: StateIndex, distance: u32) {
        self.distance[state.at()] = distance;
        let mut queue = VecDeque::from([state.0]);
        while let Some(state) = queue.pop_front() {
            let next = self.distance[state as usize] + 1;
            for at in 0..self.incoming[state as usize].len() {
                let before = self.incoming[state as usize][at] as usize;
                if next >= self.distance[before] {
                    continue;
                }
                if let Some(index) = edges.targets(before).iter().position(|&to| to == state) {
                    self.distance[before] = next;
                    self.support[before] = index as u32;
                    queue.push_back(before as u32);
                }
            }
        }
    }

    /// The state lost what its distance rested on.
    fn raise(&mut self, edges: &impl Edges, state: StateIndex) {
        let affected = self.find_affected(edges, state);
        let mut heap = BinaryHeap::new();
        for &state in &affected {
            self.affected[state as usize] = false;
            self.distance[state as usize] = FAR;
            self.support[state as usize] = NO_SLOT;
        }
        for &state in &affected {
            let nearest = edges
                .targets(state as usize)
                .iter()
                .enumerate()
                .filter(|&(_, &to)| to != UNEXPLORED);
            let nearest = nearest.map(|(index, &to)| (self.distance[to as usize], index));
            if let Some((distance, index)) = nearest.min().filter(|&(distance, _)| distance != FAR) {
                heap.push(Reverse((distance + 1, state, index as u32)));
            }
        }
        while let Some(Reverse((distance, state, index))) = heap.pop() {
            if distance >= self.distance[state as usize] {
                continue;
            }
            self.distance[state as usize] = distance;
            self.support[state as usize] = index;
            for at in 0..self.incoming[state as usize].len() {
                let before = self.incoming[state as usize][at] as usize;
                if distance + 1 < self.distance[before]
                    && let Some(index) = edges.targets(before).iter().position(|&to| to == state)
                {
                    heap.push(Reverse((distance + 1, before as u32, index as u32)));
                }
            }
        }
    }

    /// The states whose every shortest walk to a goal went through `state`, nearest first. Marks them.
    fn find_affected(&mut self, edges: &impl Edges, state: StateIndex) -> Vec<u32> {
        let mut affected = Vec::new();
        // States come out of the queue in the order of their old distance, so when one is looked at,
        // all those nearer to the goal are known to stand or to fall.
        let mut queue = VecDeque::from([state.0]);
        while let Some(state) = queue.pop_front() {
            let at = state as usize;
            if self.affected[at] {
                continue;
            }
            let distance = self.distance[at];
            let nearer = |&to: &u32| {
                to != UNEXPLORED && !self.affected[to as usize] && {
                    let other = self.distance[to as usize];
                    other != FAR && other + 1 == distance
                }
            };
            if let Some(index) = edges.targets(at).iter().position(nearer) {
                self.support[at] = index as u32;
                continue;
            }
            self.affected[at] = true;
            affected.push(state);
            for &before in &self.incoming[at] {
                let support = self.support[before as usize];
                if self.distance[before as usize] == distance + 1
                    && support != NO_SLOT
                    && edges.targets(before as usize)[support as usize] == state
                {
                    queue.push_back(before);
                }
            }
        }
        affected
    }
}
