//! The distance of every state to the nearest goal, maintained while edges and goals change.
//!
//! The nearest candidate is the inner loop of every strategy. A new search at each decision would
//! cost the whole graph once nearly everything is explored. The distances are repaired instead: a
//! new edge or goal lowers some of them, a removed one raises those that depended on it. The repair
//! after a removal follows Ramalingam and Reps, for edges of length one. Removals are collected.
//! [`Distances::repair`] handles them together before the next query.
//!
//! Several sets of goals can share the same edges. Each set is a *field*.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::graph::{Edges, ResetCosts, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::job::{TransferChoice, cheapest_transfer};

const FAR: u32 = u32::MAX;
const NO_SLOT: u32 = u32::MAX;

/// Distances, in actions, from every state to the nearest goal of each field.
#[derive(Clone)]
pub struct Distances {
    /// The sources of edges to each state. A source may be stale, but none is missing.
    incoming: Vec<Vec<u32>>,
    fields: Vec<Field>,
    /// The number of the latest search that reached each state.
    seen_in: Vec<u32>,
    searches: u32,
}

#[derive(Clone, Default)]
struct Field {
    distance: Vec<u32>,
    /// The slot whose destination is one step nearer to the goal: the support of the distance.
    support: Vec<u32>,
    goal: Vec<bool>,
    affected: Vec<bool>,
    /// The states that may have lost their support.
    unsupported: Vec<u32>,
}

impl Distances {
    /// Creates distances for a number of sets of goals, without states.
    pub fn new(fields: usize) -> Self {
        Self {
            incoming: Vec::new(),
            fields: vec![Field::default(); fields],
            seen_in: Vec::new(),
            searches: 0,
        }
    }

    /// Adds a state that has no edges and is not a goal.
    pub fn add_state(&mut self) {
        self.incoming.push(Vec::new());
        self.seen_in.push(0);
        for field in &mut self.fields {
            field.distance.push(FAR);
            field.support.push(NO_SLOT);
            field.goal.push(false);
            field.affected.push(false);
        }
    }

    /// The number of actions from a state to the nearest goal.
    pub fn distance_from(&self, field: usize, state: StateIndex) -> Option<u32> {
        let distance = self.fields[field].distance[state.at()];
        (distance != FAR).then_some(distance)
    }

    /// Chooses the cheapest transfer from a state to the nearest goal, by a walk or a reset.
    /// Repairs nothing if the state is a goal itself.
    pub fn choose_transfer(
        &mut self,
        field: usize,
        edges: &impl Edges,
        at: StateIndex,
        resets: ResetCosts<'_>,
    ) -> Option<TransferChoice> {
        if self.fields[field].goal[at.at()] {
            return Some(TransferChoice { reset_to: None, cost: 0.0 });
        }
        self.repair(field, edges);
        cheapest_transfer(Some(at), resets, |state| self.distance_from(field, state))
    }

    /// Appends the shortest walk from a state to its nearest goal, and returns the goal.
    pub fn walk(
        &self,
        field: usize,
        edges: &impl Edges,
        from: StateIndex,
        walk: &mut Vec<Slot>,
    ) -> StateIndex {
        let field = &self.fields[field];
        let mut state = from;
        while field.distance[state.at()] > 0 {
            let index = field.support[state.at()];
            assert_ne!(index, NO_SLOT, "{from:?} reaches no goal");
            walk.push(Slot { state, index });
            state = StateIndex(edges.targets(state.at())[index as usize]);
        }
        state
    }

    /// Like [`Self::walk`], but takes the highest rank among the goals at the same distance.
    pub fn walk_to_best(
        &mut self,
        field: usize,
        edges: &impl Edges,
        from: StateIndex,
        walk: &mut Vec<Slot>,
        rank: impl Fn(StateIndex) -> usize,
    ) -> StateIndex {
        let distances = &self.fields[field].distance;
        self.searches += 1;
        // The states on shortest walks, layer by layer: state, slot that entered it, and the entry
        // before.
        let mut entries: Vec<(StateIndex, u32, usize)> = vec![(from, NO_SLOT, usize::MAX)];
        let mut layer = 0..1;
        for distance in (0..distances[from.at()]).rev() {
            for at in layer.clone() {
                let state = entries[at].0;
                for (index, &to) in (0..).zip(edges.targets(state.at())) {
                    if to != UNEXPLORED
                        && distances[to as usize] == distance
                        && std::mem::replace(&mut self.seen_in[to as usize], self.searches)
                            != self.searches
                    {
                        entries.push((StateIndex(to), index, at));
                    }
                }
            }
            layer = layer.end..entries.len();
        }
        let best = layer.rev().max_by_key(|&at| rank(entries[at].0)).expect("a goal is in reach");
        let (start, mut at) = (walk.len(), best);
        while entries[at].2 != usize::MAX {
            let (_, index, before) = entries[at];
            walk.push(Slot { state: entries[before].0, index });
            at = before;
        }
        walk[start..].reverse();
        entries[best].0
    }

    /// Notes an edge that was added to `edges`.
    pub fn connect(&mut self, edges: &impl Edges, slot: Slot) {
        let (from, to) =
            (slot.state.at(), edges.targets(slot.state.at())[slot.index as usize] as usize);
        if to == from {
            return;
        }
        note_incoming(&mut self.incoming[to], slot.state.0);
        for field in &mut self.fields {
            if field.distance[to] != FAR && field.distance[to] + 1 < field.distance[from] {
                field.support[from] = slot.index;
                field.lower(&self.incoming, edges, slot.state, field.distance[to] + 1);
            }
        }
    }

    /// Notes that the edge of a slot was removed.
    pub fn disconnect(&mut self, slot: Slot) {
        for field in &mut self.fields {
            if field.support[slot.state.at()] == slot.index {
                field.unsupported.push(slot.state.0);
            }
        }
    }

    /// Repairs the distances of a field that lost their support. Call it before queries of the
    /// field.
    pub fn repair(&mut self, field: usize, edges: &impl Edges) {
        if !self.fields[field].unsupported.is_empty() {
            self.fields[field].raise(&self.incoming, edges);
        }
    }

    /// Makes a state a goal.
    pub fn set_goal(&mut self, field: usize, edges: &impl Edges, state: StateIndex) {
        let field = &mut self.fields[field];
        field.goal[state.at()] = true;
        if field.distance[state.at()] != 0 {
            field.support[state.at()] = NO_SLOT;
            field.lower(&self.incoming, edges, state, 0);
        }
    }

    /// Removes a state from the goals.
    pub fn clear_goal(&mut self, field: usize, state: StateIndex) {
        let field = &mut self.fields[field];
        if std::mem::replace(&mut field.goal[state.at()], false) {
            field.unsupported.push(state.0);
        }
    }
}

/// Adds a source of an edge. Removes duplicates whenever the capacity is used up, because edges
/// that come and go would otherwise make the list grow without limit.
fn note_incoming(incoming: &mut Vec<u32>, from: u32) {
    if incoming.last() == Some(&from) {
        return;
    }
    if incoming.len() == incoming.capacity() {
        incoming.sort_unstable();
        incoming.dedup();
    }
    incoming.push(from);
}

impl Field {
    fn lower(
        &mut self,
        incoming: &[Vec<u32>],
        edges: &impl Edges,
        state: StateIndex,
        distance: u32,
    ) {
        self.distance[state.at()] = distance;
        let mut queue = VecDeque::from([state.0]);
        while let Some(state) = queue.pop_front() {
            let next = self.distance[state as usize] + 1;
            for &before in &incoming[state as usize] {
                if next >= self.distance[before as usize] {
                    continue;
                }
                if let Some(index) =
                    edges.targets(before as usize).iter().position(|&to| to == state)
                {
                    self.distance[before as usize] = next;
                    self.support[before as usize] = index as u32;
                    queue.push_back(before);
                }
            }
        }
    }

    fn raise(&mut self, incoming: &[Vec<u32>], edges: &impl Edges) {
        let affected = self.find_affected(incoming, edges);
        for &state in &affected {
            self.affected[state as usize] = false;
            self.distance[state as usize] = FAR;
            self.support[state as usize] = NO_SLOT;
        }
        let mut heap = BinaryHeap::new();
        for &state in &affected {
            let known =
                (0..).zip(edges.targets(state as usize)).filter(|&(_, &to)| to != UNEXPLORED);
            let nearest = known.map(|(index, &to)| (self.distance[to as usize], index)).min();
            if let Some((distance, index)) = nearest.filter(|&(distance, _)| distance != FAR) {
                heap.push(Reverse((distance + 1, state, index)));
            }
        }
        // Distances found through unaffected states are set only now, so that no affected state
        // supports another one.
        for &Reverse((distance, state, index)) in &heap {
            self.distance[state as usize] = distance;
            self.support[state as usize] = index;
        }
        while let Some(Reverse((distance, state, _))) = heap.pop() {
            if distance > self.distance[state as usize] {
                continue;
            }
            for &before in &incoming[state as usize] {
                if distance + 1 < self.distance[before as usize]
                    && let Some(index) =
                        edges.targets(before as usize).iter().position(|&to| to == state)
                {
                    self.distance[before as usize] = distance + 1;
                    self.support[before as usize] = index as u32;
                    heap.push(Reverse((distance + 1, before, index as u32)));
                }
            }
        }
    }

    /// Finds and marks the states that no shortest walk supports any more.
    fn find_affected(&mut self, incoming: &[Vec<u32>], edges: &impl Edges) -> Vec<u32> {
        let mut affected = Vec::new();
        // The heap yields states by their old distance. When a state is examined, all nearer ones
        // are already decided.
        let mut heap: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        heap.extend(
            self.unsupported.drain(..).map(|state| Reverse((self.distance[state as usize], state))),
        );
        while let Some(Reverse((distance, state))) = heap.pop() {
            let at = state as usize;
            if self.affected[at] || self.goal[at] || distance == FAR {
                continue;
            }
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
            for &before in &incoming[at] {
                let support = self.support[before as usize];
                if self.distance[before as usize] == distance + 1
                    && support != NO_SLOT
                    && edges.targets(before as usize)[support as usize] == state
                {
                    heap.push(Reverse((distance + 1, before)));
                }
            }
        }
        affected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    /// The correct distances, by a new search.
    fn searched(edges: &[Vec<u32>], goals: &[bool]) -> Vec<Option<u32>> {
        let mut distance: Vec<Option<u32>> = goals.iter().map(|&goal| goal.then_some(0)).collect();
        for _ in 0..edges.len() {
            for state in 0..edges.len() {
                let nearest = edges[state].iter().filter(|&&to| to != UNEXPLORED);
                let nearest =
                    nearest.filter_map(|&to| distance[to as usize]).min().map(|near| near + 1);
                distance[state] = distance[state].into_iter().chain(nearest).min();
            }
        }
        distance
    }

    /// The distance of state 0 to a single goal.
    fn steps(edges: &[Vec<u32>], goal: usize) -> Option<u32> {
        let goals: Vec<bool> = (0..edges.len()).map(|state| state == goal).collect();
        searched(edges, &goals)[0]
    }

    /// The end of a walk from state 0.
    fn replayed(edges: &[Vec<u32>], walk: &[Slot]) -> StateIndex {
        walk.iter().fold(StateIndex(0), |state, slot| {
            assert_eq!(slot.state, state, "the steps of a walk follow each other");
            StateIndex(edges[state.at()][slot.index as usize])
        })
    }

    #[test]
    fn repaired_distances_equal_searched_ones() {
        for seed in 0..40 {
            let mut chance = Chance::new(&[seed]);
            let (states, slots) = (12, 3);
            let mut edges = vec![vec![UNEXPLORED; slots]; states];
            let mut goals = vec![false; states];
            let mut distances = Distances::new(2);
            (0..states).for_each(|_| distances.add_state());
            for _ in 0..300 {
                let state = StateIndex(chance.below(states) as u32);
                let slot = Slot { state, index: chance.below(slots) as u32 };
                let place = &mut edges[state.at()][slot.index as usize];
                match chance.below(4) {
                    0 if *place == UNEXPLORED => {
                        *place = chance.below(states) as u32;
                        distances.connect(&edges, slot);
                    }
                    1 if *place != UNEXPLORED => {
                        *place = UNEXPLORED;
                        distances.disconnect(slot);
                    }
                    2 => {
                        goals[state.at()] = true;
                        distances.set_goal(1, &edges, state);
                    }
                    _ => {
                        goals[state.at()] = false;
                        distances.clear_goal(1, state);
                    }
                }
                // Several changes often precede one query.
                if chance.below(3) > 0 {
                    continue;
                }
                distances.repair(1, &edges);
                let kept: Vec<_> = (0..states as u32)
                    .map(|state| distances.distance_from(1, StateIndex(state)))
                    .collect();
                assert_eq!(kept, searched(&edges, &goals), "seed {seed}");
                assert_eq!(distances.distance_from(0, state), None, "the other field has no goals");
                if let Some(distance) = kept[0] {
                    let (mut walk, mut to_best) = (Vec::new(), Vec::new());
                    let goal = distances.walk(1, &edges, StateIndex(0), &mut walk);
                    let rank = |state: StateIndex| state.at() * 7 % states;
                    let best = distances.walk_to_best(1, &edges, StateIndex(0), &mut to_best, rank);
                    assert_eq!([replayed(&edges, &walk), replayed(&edges, &to_best)], [goal, best]);
                    assert_eq!((walk.len(), to_best.len()), (distance as usize, distance as usize));
                    assert!(goals[goal.at()]);
                    let nearest = (0..states)
                        .filter(|&goal| goals[goal] && steps(&edges, goal) == Some(distance));
                    assert_eq!(
                        nearest.max_by_key(|&goal| rank(StateIndex(goal as u32))),
                        Some(best.at())
                    );
                }
            }
        }
    }
}
