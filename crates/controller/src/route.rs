//! Walks over known transitions, also over those with several destinations. Strategies find their
//! own walks. These are for what strategies do not know: several destinations, loads that lead to
//! other states, transitions to avoid, and paths for people.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use argiope_explore::graph::{Edges, Graph, Slot, UNEXPLORED};
use argiope_explore::id::StateIndex;

use crate::job::Transition;

/// One step over a known transition, and which of its destinations is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The transition.
    pub slot: Slot,
    /// Where it should lead.
    pub to: StateIndex,
}

/// The transitions to search.
pub struct Routes<'a> {
    /// With their first destinations.
    pub graph: &'a Graph,
    /// The other destinations.
    pub strays: &'a BTreeMap<Slot, Vec<StateIndex>>,
    /// Transitions to avoid.
    pub avoid: &'a BTreeSet<Slot>,
}

impl Hop {
    /// The step in names.
    pub(crate) fn named(self, graph: &Graph) -> Transition {
        Transition { to: graph.key(self.to), ..Transition::of(graph, self.slot) }
    }
}

impl Routes<'_> {
    /// The steps from a state: first to the usual destinations, then to the others.
    pub fn hops(&self, state: StateIndex) -> impl Iterator<Item = Hop> {
        let usual = (0..).zip(self.graph.targets(state.at()));
        let usual = usual.filter(move |&(_, &to)| to != UNEXPLORED && to != state.0);
        let usual =
            usual.map(move |(index, &to)| Hop { slot: Slot { state, index }, to: StateIndex(to) });
        let slots = Slot { state, index: 0 }..=Slot { state, index: u32::MAX };
        let strays = self.strays.range(slots);
        let strays =
            strays.flat_map(|(&slot, others)| others.iter().map(move |&to| Hop { slot, to }));
        usual.chain(strays).filter(|hop| !self.avoid.contains(&hop.slot))
    }

    /// The cheapest walk to a wanted state, from any of some states that cost something to begin
    /// with. Returns its place among them, too. The first wins a tie.
    pub fn cheapest_walk(
        &self,
        starts: &[(StateIndex, f64)],
        wanted: impl Fn(StateIndex) -> bool,
    ) -> Option<(usize, Vec<Hop>)> {
        let mut reached: BTreeMap<StateIndex, Reached> = BTreeMap::new();
        let mut heap = BinaryHeap::new();
        for (start, &(state, cost)) in starts.iter().enumerate() {
            let by = Reached { cost, start, hop: None };
            if reached.get(&state).is_none_or(|known| by.is_cheaper_than(known)) {
                reached.insert(state, by);
                heap.push(Reverse((WalkCost(cost), start, heap.len(), state)));
            }
        }
        // Of equal walks the one that a search by breadth finds first counts.
        let mut sequence = heap.len();
        while let Some(Reverse((WalkCost(cost), start, _, state))) = heap.pop() {
            if (Reached { cost, start, hop: None }).is_worse_than(&reached[&state]) {
                continue;
            }
            if wanted(state) {
                let mut walk = Vec::new();
                let mut at = state;
                while let Some(hop) = reached[&at].hop {
                    walk.push(hop);
                    at = hop.slot.state;
                }
                walk.reverse();
                return Some((start, walk));
            }
            for hop in self.hops(state) {
                let by = Reached { cost: cost + 1.0, start, hop: Some(hop) };
                if reached.get(&hop.to).is_none_or(|known| by.is_cheaper_than(known)) {
                    reached.insert(hop.to, by);
                    sequence += 1;
                    heap.push(Reverse((WalkCost(by.cost), start, sequence, hop.to)));
                }
            }
        }
        None
    }

    /// The states from which a walk leads to a wanted state, the wanted ones among them.
    pub fn leading_to(&self, wanted: impl Fn(StateIndex) -> bool) -> BTreeSet<StateIndex> {
        let states = (0..self.graph.states() as u32).map(StateIndex);
        let mut entered_from: BTreeMap<StateIndex, Vec<StateIndex>> = BTreeMap::new();
        for hop in states.clone().flat_map(|state| self.hops(state)) {
            entered_from.entry(hop.to).or_default().push(hop.slot.state);
        }
        let mut leading: BTreeSet<StateIndex> = states.filter(|&state| wanted(state)).collect();
        let mut queue: Vec<StateIndex> = leading.iter().copied().collect();
        while let Some(state) = queue.pop() {
            for &before in entered_from.get(&state).into_iter().flatten() {
                if leading.insert(before) {
                    queue.push(before);
                }
            }
        }
        leading
    }

    /// The least number of steps from any of some states to each state; `unknown` if none leads
    /// there.
    pub fn depths(&self, starts: &[StateIndex], unknown: u32) -> Vec<u32> {
        let mut depths = vec![unknown; self.graph.states()];
        let mut queue = VecDeque::new();
        for &start in starts {
            depths[start.at()] = 0;
            queue.push_back(start);
        }
        while let Some(state) = queue.pop_front() {
            for hop in self.hops(state) {
                if depths[hop.to.at()] == unknown {
                    depths[hop.to.at()] = depths[state.at()] + 1;
                    queue.push_back(hop.to);
                }
            }
        }
        depths
    }

    /// The shortest walks from some states to all others. Of equal walks that of an earlier start
    /// counts.
    pub fn tree(&self, starts: Vec<StateIndex>) -> WalkTree {
        let mut tree = WalkTree::new(self.graph, starts);
        tree.grow(|state| self.hops(state), |_| false);
        tree
    }
}

/// How a search has reached a state.
#[derive(Clone, Copy)]
struct Reached {
    cost: f64,
    /// The place of the start among all starts.
    start: usize,
    /// The last step; none in a start.
    hop: Option<Hop>,
}

impl Reached {
    /// Of equal walks that of an earlier start counts.
    fn is_cheaper_than(&self, other: &Self) -> bool {
        (self.cost, self.start) < (other.cost, other.start)
    }

    fn is_worse_than(&self, other: &Self) -> bool {
        other.is_cheaper_than(self)
    }
}

/// The cost of a walk, in actions; never NaN.
#[derive(PartialEq)]
struct WalkCost(f64);

impl Eq for WalkCost {}

impl PartialOrd for WalkCost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WalkCost {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Shortest walks from some states.
pub struct WalkTree {
    starts: Vec<StateIndex>,
    is_start: Vec<bool>,
    entered_by: Vec<Option<Hop>>,
}

impl WalkTree {
    /// No walks yet.
    pub(crate) fn new(graph: &Graph, starts: Vec<StateIndex>) -> Self {
        let mut is_start = vec![false; graph.states()];
        starts.iter().for_each(|start| is_start[start.at()] = true);
        Self { starts, is_start, entered_by: vec![None; graph.states()] }
    }

    /// Searches breadth-first over these steps. Stops at the first wanted state.
    pub(crate) fn grow<I: Iterator<Item = Hop>>(
        &mut self,
        hops: impl Fn(StateIndex) -> I,
        wanted: impl Fn(StateIndex) -> bool,
    ) -> Option<StateIndex> {
        let mut queue: VecDeque<StateIndex> = self.starts.iter().copied().collect();
        while let Some(state) = queue.pop_front() {
            if wanted(state) {
                return Some(state);
            }
            for hop in hops(state) {
                let entered_by = &mut self.entered_by[hop.to.at()];
                if entered_by.is_none() && !self.is_start[hop.to.at()] {
                    *entered_by = Some(hop);
                    queue.push_back(hop.to);
                }
            }
        }
        None
    }

    /// The walk to a state, if there is one.
    pub fn walk_to(&self, goal: StateIndex) -> Option<Vec<Hop>> {
        let mut walk = Vec::new();
        let mut state = goal;
        while !self.is_start[state.at()] {
            let hop = self.entered_by[state.at()]?;
            walk.push(hop);
            state = hop.slot.state;
        }
        walk.reverse();
        Some(walk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_explore::id::{ActionSignature, StateKey};

    #[test]
    fn a_walk_may_use_what_led_elsewhere_at_times_and_avoids_what_it_is_told_to() {
        let mut graph = Graph::new(0);
        for key in 0..4 {
            graph.add_state(StateKey(key), &[ActionSignature(0), ActionSignature(1)]);
        }
        let slot = |state, index| Slot { state: StateIndex(state), index };
        graph.record(slot(0, 0), StateIndex(1));
        graph.record(slot(0, 1), StateIndex(2));
        graph.record(slot(1, 0), StateIndex(2));
        let strays = BTreeMap::from([(slot(2, 0), vec![StateIndex(3)])]);
        let walk = |avoid: &BTreeSet<Slot>, goal| {
            let routes = Routes { graph: &graph, strays: &strays, avoid };
            let start = [(StateIndex(0), 0.0)];
            let walk = routes.cheapest_walk(&start, |state| state == StateIndex(goal));
            walk.map(|(_, walk)| {
                walk.iter().map(|hop| (hop.slot.state.0, hop.to.0)).collect::<Vec<_>>()
            })
        };
        let none = BTreeSet::new();
        assert_eq!(walk(&none, 0), Some(vec![]));
        assert_eq!(walk(&none, 3), Some(vec![(0, 2), (2, 3)]));
        assert_eq!(walk(&BTreeSet::from([slot(0, 1)]), 3), Some(vec![(0, 1), (1, 2), (2, 3)]));
        assert_eq!(walk(&BTreeSet::from([slot(2, 0)]), 3), None);
    }
    #[test]
    fn a_walk_begins_where_beginning_and_walking_cost_least() {
        let mut graph = Graph::new(0);
        for key in 0..6 {
            graph.add_state(StateKey(key), &[ActionSignature(0)]);
        }
        for state in 0..5 {
            graph.record(Slot { state: StateIndex(state), index: 0 }, StateIndex(state + 1));
        }
        let (strays, avoid) = (BTreeMap::new(), BTreeSet::new());
        let routes = Routes { graph: &graph, strays: &strays, avoid: &avoid };
        let walk = |costs: [f64; 2], goal| {
            let starts = [(StateIndex(0), costs[0]), (StateIndex(3), costs[1])];
            let found = routes.cheapest_walk(&starts, |state| state == StateIndex(goal));
            found.map(|(place, walk)| (place, walk.len()))
        };
        assert_eq!(walk([0.0, 1.5], 5), Some((1, 2)));
        assert_eq!(walk([0.0, 3.0], 5), Some((0, 5)), "the first start wins a tie");
        assert_eq!(walk([0.0, 0.5], 2), Some((0, 2)));
        assert_eq!(walk([7.0, 0.5], 3), Some((1, 0)));
        let tree = routes.tree(vec![StateIndex(3), StateIndex(1)]);
        let steps = |goal| tree.walk_to(StateIndex(goal)).map(|walk| walk.len());
        assert_eq!([0, 1, 2, 3, 5].map(steps), [None, Some(0), Some(1), Some(0), Some(2)]);
    }
}
