//! Which of the known states are this controller's, and what is to be done in them. Must not know
//! how a state came to be known.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_ring::Key;

use super::known_graph::KnownGraph;
use super::place;

/// The own states of a controller.
#[derive(Clone, Default)]
pub struct Ownership {
    own: BTreeMap<StateKey, StateIndex>,
    /// Whether each known state is own; states after the last one are not.
    is_own: Vec<bool>,
    /// Own states that are not known in full.
    awaited: BTreeSet<StateIndex>,
    /// Own states with free candidates, by the length of their route.
    by_route: BTreeSet<(usize, StateKey)>,
    /// Free candidates in own states, the visits to awaited ones included.
    free: usize,
    /// Own states that ran out of free candidates, or got some again.
    turned: BTreeSet<StateIndex>,
    /// Places after the first key up to the second in which another controller may know of more
    /// that was done. Nothing there is assigned before it is reconciled.
    unreconciled: Option<(Key, Key)>,
    /// Plain links of own states that are no candidates, and whether another state followed them.
    pub(super) aside: BTreeMap<Slot, bool>,
    /// Those that were set aside since they were last asked for.
    pub(super) newly_aside: Vec<(StateKey, ActionSignature)>,
}

/// What the counts say of a state before it changes.
#[derive(Clone, Copy)]
pub(super) struct CandidateCounts {
    free: usize,
    listed: Option<(usize, StateKey)>,
}

impl Ownership {
    /// Whether a state is this controller's.
    pub fn is_own(&self, state: StateIndex) -> bool {
        self.is_own.get(state.at()).copied().unwrap_or_default()
    }

    /// The own states.
    pub fn own(&self) -> impl Iterator<Item = (StateKey, StateIndex)> + '_ {
        self.own.iter().map(|(&key, &state)| (key, state))
    }

    /// How many own states are known in full.
    pub fn own_states(&self) -> usize {
        self.own.len() - self.awaited.len()
    }

    /// How many candidates of own states can be assigned.
    pub fn free(&self) -> usize {
        self.free
    }

    /// Own states that are not known in full.
    pub(super) fn awaited(&self) -> impl Iterator<Item = StateIndex> + '_ {
        self.awaited.iter().copied()
    }

    pub(super) fn set_owned(&mut self, key: StateKey, state: StateIndex, own: bool, full: bool) {
        if self.is_own.len() <= state.at() {
            self.is_own.resize(state.at() + 1, false);
        }
        self.is_own[state.at()] = own;
        if own {
            self.own.insert(key, state);
            if !full {
                self.awaited.insert(state);
            }
        } else {
            self.own.remove(&key);
            self.awaited.remove(&state);
        }
    }

    /// A state is known in full.
    pub(super) fn no_longer_awaited(&mut self, state: StateIndex) {
        self.awaited.remove(&state);
    }

    /// The places that are to be reconciled with other controllers.
    pub fn unreconciled(&self) -> Option<(Key, Key)> {
        self.unreconciled
    }

    pub(super) fn set_unreconciled(&mut self, places: Option<(Key, Key)>) {
        self.unreconciled = places;
    }

    /// Whether a state is in those places.
    pub fn is_unreconciled(&self, key: StateKey) -> bool {
        self.unreconciled.is_some_and(|(after, upto)| place(key).belongs_to(after, upto))
    }

    /// The own state with a free candidate that is nearest after a reset.
    pub(super) fn nearest_by_route(&self) -> Option<StateKey> {
        self.by_route.first().map(|&(_, key)| key)
    }

    /// How many free candidates an own state has.
    pub fn free_in(&self, graph: &KnownGraph, state: StateIndex) -> usize {
        if self.is_own(state) { graph.slots().unexplored_in(state) as usize } else { 0 }
    }

    /// What the counts say of a state, before a change.
    pub(super) fn counted(&self, graph: &KnownGraph, state: StateIndex) -> CandidateCounts {
        let free = self.free_in(graph, state);
        let listed = graph.route(state).filter(|_| free > 0);
        CandidateCounts { free, listed: listed.map(|route| (route.len(), graph.key(state))) }
    }

    /// Corrects the counts of a state after a change.
    pub(super) fn recount(
        &mut self,
        graph: &KnownGraph,
        state: StateIndex,
        before: CandidateCounts,
    ) {
        let now = self.counted(graph, state);
        self.free = self.free + now.free - before.free;
        if (before.free == 0) != (now.free == 0) {
            self.turned.insert(state);
        }
        if before.listed != now.listed {
            before.listed.map(|entry| self.by_route.remove(&entry));
            now.listed.map(|entry| self.by_route.insert(entry));
        }
    }

    /// Own states that ran out of free candidates, or got some again, since this was last asked
    /// for.
    pub(super) fn take_turned(&mut self) -> BTreeSet<StateIndex> {
        std::mem::take(&mut self.turned)
    }
}
