//! How far every state is from the nearest goal, kept up to date while edges and goals come and go.
//!
//! The nearest unexplored action is the inner loop of every strategy. Searching for it anew at each
//! decision costs the whole graph once nearly everything is explored. Here the distances are
//! repaired instead: a new edge or goal lowers some of them, a goal that is done raises those that
//! hung on it. (The repair on removal is that of Ramalingam and Reps, for edges of length one.) What raises
//! distances is only noted at first and repaired together, by `settle`, before the next question.
//!
//! Several sets of goals can be kept over the same edges; each is a *field*.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::graph::{Edges, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::job::{TransferChoice, cheaper_transfer};
use crate::strategy::INITIAL;

const FAR: u32 = u32::MAX;
const NO_SLOT: u32 = u32::MAX;

/// Distances, in actions, from every state to the nearest goal of each field.
#[derive(Clone)]
pub struct Distances {
    /// The states with an edge to this one. May name a state whose edge is gone, never misses one.
    incoming: Vec<Vec<u32>>,
    fields: Vec<Field>,
    /// The search in which a state was last seen; searches are numbered.
    seen_in: Vec<u32>,
    searches: u32,
}

#[derive(Clone, Default)]
struct Field {
    distance: Vec<u32>,
    /// The slot whose destination is one step nearer to the goal.
    support: Vec<u32>,
    goal: Vec<bool>,
    affected: Vec<bool>,
    /// The states that may have lost what their distance rests on.
    unsupported: Vec<u32>,
}

impl Distances {
    /// With so many sets of goals and no states yet.
    pub fn new(fields: usize) -> Self {
        Self {
            incoming: Vec::new(),
            fields: vec![Field::default(); fields],
            seen_in: Vec::new(),
            searches: 0,
        }
    }

    /// Makes room for the next state, which is no goal and has no edges yet.
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

    /// The cheaper way from a state to the nearest goal, walking or by a reset. A crawler that stands on a
    /// goal needs no distance, so nothing is repaired for it.
    pub fn choose_transfer(
        &mut self,
        field: usize,
        edges: &impl Edges,
        at: StateIndex,
        reset_cost: f64,
    ) -> Option<TransferChoice> {
        if self.fields[field].goal[at.at()] {
            return Some(TransferChoice { reset: false, cost: 0.0 });
        }
        self.repair(field, edges);
        cheaper_transfer(
            self.distance_from(field, at),
            self.distance_from(field, INITIAL),
            reset_cost,
        )
    }

    /// Appends the shortest walk from a state to its nearest goal, and gives the goal.
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

    /// Like `walk`, but of all goals that are equally near it goes to the one that ranks highest.
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
        // Every state on some shortest walk, layer by layer, with the slot and the entry it was entered by.
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

    /// Takes in an edge that `edges` has just gained.
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

    /// Takes in that the edge of this slot is gone.
    pub fn disconnect(&mut self, slot: Slot) {
        for field in &mut self.fields {
            if field.support[slot.state.at()] == slot.index {
                field.unsupported.push(slot.state.0);
            }
        }
    }

    /// Repairs what lost its support in a field. To be called before its distances or walks are asked for.
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

    /// Makes a state no goal any more.
    pub fn clear_goal(&mut self, field: usize, state: StateIndex) {
        let field = &mut self.fields[field];
        if std::mem::replace(&mut field.goal[state.at()], false) {
            field.unsupported.push(state.0);
        }
    }
}

/// Notes a state, mostly once: edges that come and go would make the list grow without end, so it is
/// tidied whenever its room is used up.
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
        // What was found from outside the affected states is taken in only now, so that none of them
        // leaned on another one of them.
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

    /// The states that no shortest walk supports any more. Marks them.
    fn find_affected(&mut self, incoming: &[Vec<u32>], edges: &impl Edges) -> Vec<u32> {
        let mut affected = Vec::new();
        // States come out of the heap in the order of their old distance, so when one is looked at, all
        // those nearer to the goal are known to stand or to fall.
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

    /// What the distances must be, searched anew.
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

    /// How far state 0 is from one goal alone.
    fn steps(edges: &[Vec<u32>], goal: usize) -> Option<u32> {
        let goals: Vec<bool> = (0..edges.len()).map(|state| state == goal).collect();
        searched(edges, &goals)[0]
    }

    /// Where a walk from state 0 ends.
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
                // Often several changes come before the next question.
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
