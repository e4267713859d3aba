//! Walks over known transitions, also over those with several destinations. Strategies find their
//! own walks. These are for what strategies do not know: several destinations, loads that lead to
//! other states, transitions to avoid, and paths for people.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

    /// The shortest walk to a wanted state, which may be its start.
    pub fn walk(&self, from: StateIndex, wanted: impl Fn(StateIndex) -> bool) -> Option<Vec<Hop>> {
        let mut tree = WalkTree::new(self.graph, from);
        let goal = tree.grow(|state| self.hops(state), wanted)?;
        tree.walk_to(goal)
    }

    /// The shortest walks from a state to all others.
    pub fn tree(&self, from: StateIndex) -> WalkTree {
        let mut tree = WalkTree::new(self.graph, from);
        tree.grow(|state| self.hops(state), |_| false);
        tree
    }
}

/// Shortest walks from one state.
pub struct WalkTree {
    from: StateIndex,
    entered_by: Vec<Option<Hop>>,
}

impl WalkTree {
    /// No walks yet.
    pub(crate) fn new(graph: &Graph, from: StateIndex) -> Self {
        Self { from, entered_by: vec![None; graph.states()] }
    }

    /// Searches breadth-first over these steps. Stops at the first wanted state.
    pub(crate) fn grow<I: Iterator<Item = Hop>>(
        &mut self,
        hops: impl Fn(StateIndex) -> I,
        wanted: impl Fn(StateIndex) -> bool,
    ) -> Option<StateIndex> {
        let mut queue = VecDeque::from([self.from]);
        while let Some(state) = queue.pop_front() {
            if wanted(state) {
                return Some(state);
            }
            for hop in hops(state) {
                let entered_by = &mut self.entered_by[hop.to.at()];
                if entered_by.is_none() && hop.to != self.from {
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
        while state != self.from {
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
            let walk = routes.walk(StateIndex(0), |state| state == StateIndex(goal));
            walk.map(|walk| walk.iter().map(|hop| (hop.slot.state.0, hop.to.0)).collect::<Vec<_>>())
        };
        let none = BTreeSet::new();
        assert_eq!(walk(&none, 0), Some(vec![]));
        assert_eq!(walk(&none, 3), Some(vec![(0, 2), (2, 3)]));
        assert_eq!(walk(&BTreeSet::from([slot(0, 1)]), 3), Some(vec![(0, 1), (1, 2), (2, 3)]));
        assert_eq!(walk(&BTreeSet::from([slot(2, 0)]), 3), None);
    }
}
