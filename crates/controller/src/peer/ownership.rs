//! The states that this controller owns, and their free candidates. The module does not depend on
//! how a state was learned.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_ring::Key;

use super::place;

/// The own states of a controller.
#[derive(Clone, Default)]
pub struct Ownership {
    own: BTreeMap<StateKey, StateIndex>,
    /// Whether each known state is own; states after the last one are not.
    is_own: Vec<bool>,
    /// Own states that are not known in full.
    pub(super) awaited: BTreeSet<StateIndex>,
    /// Own states with free candidates, by the length of their route.
    pub(super) by_route: BTreeSet<(usize, StateKey)>,
    /// Free candidates in own states, including one visit for each awaited state.
    free: usize,
    /// Own states that ran out of free candidates, or got some again, and no hint says so yet.
    pub(super) turned: BTreeSet<StateIndex>,
    /// The range to reconcile, after the first key up to the second. The controller assigns nothing
    /// in it before.
    pub(super) unreconciled: Option<(Key, Key)>,
    /// Plain links of own states that are no candidates, and whether another state followed them.
    pub(super) aside: BTreeMap<Slot, bool>,
    /// Links that were set aside since the link protocol last took this list.
    pub(super) newly_aside: Vec<(StateKey, ActionSignature)>,
}

/// The free candidates of a state, and its entry in the list by the length of routes.
pub(super) type CandidateCounts = (usize, Option<(usize, StateKey)>);

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

    /// Whether a state is in the places that are to be reconciled with other controllers.
    pub fn is_unreconciled(&self, key: StateKey) -> bool {
        self.unreconciled.is_some_and(|(after, upto)| place(key).belongs_to(after, upto))
    }

    /// Corrects the counts of a state that has changed.
    pub(super) fn recount(
        &mut self,
        state: StateIndex,
        (free_before, listed_before): CandidateCounts,
        (free, listed): CandidateCounts,
    ) {
        self.free = self.free + free - free_before;
        if (free_before == 0) != (free == 0) {
            self.turned.insert(state);
        }
        if listed_before != listed {
            listed_before.map(|entry| self.by_route.remove(&entry));
            listed.map(|entry| self.by_route.insert(entry));
        }
    }
}
