//! What the facts of a journal say together. A replay consults it, so that the graph depends on the
//! set of facts and not on their order.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionSignature, StateKey};

use crate::journal::{Fact, distinct_offers};
use crate::outcome::Offered;

/// An index of a journal; empty when nothing is replayed.
#[derive(Default)]
pub(super) struct ReplayIndex {
    /// The initial state, if a fact names it.
    pub(super) initial: Option<StateKey>,
    /// The actions that were executed or given up; where they led, if they were executed. If facts
    /// name several destinations, the smallest one is the transition and the others are strays.
    settled: BTreeMap<(StateKey, ActionSignature), Option<StateKey>>,
    /// Actions that turned out to be plain links.
    plain: BTreeSet<ActionSignature>,
    /// Everything that a state offers, if several facts describe it.
    offers: BTreeMap<StateKey, Vec<Offered>>,
}

impl ReplayIndex {
    pub(super) fn of(facts: &[Fact]) -> Self {
        let mut index = Self::default();
        let mut described: BTreeMap<StateKey, &[Offered]> = BTreeMap::new();
        for fact in facts {
            match fact {
                Fact::State { key, offers, route, .. } => {
                    if route.as_ref().is_some_and(|route| route.is_empty()) {
                        index.initial = Some(index.initial.map_or(*key, |known| known.min(*key)));
                    }
                    if let Some(known) = described.insert(*key, offers).filter(|&it| it != offers) {
                        let before = index.offers.remove(key).unwrap_or_else(|| known.to_vec());
                        let all = before.into_iter().chain(offers.iter().copied());
                        index.offers.insert(*key, distinct_offers(all));
                    }
                }
                Fact::Transition { from, action, to, .. } => {
                    let settled = index.settled.entry((*from, *action)).or_default();
                    *settled = Some(settled.map_or(*to, |known| known.min(*to)));
                }
                Fact::GivenUp { from, action, .. } | Fact::Ended { from, action, .. } => {
                    index.settled.entry((*from, *action)).or_default();
                }
                Fact::PlainLink { action } => _ = index.plain.insert(*action),
                Fact::Stray { .. }
                | Fact::Appeared { .. }
                | Fact::LinkFollower { .. }
                | Fact::Gone { .. }
                | Fact::Entry { .. }
                | Fact::Parts { .. }
                | Fact::Undeferred
                | Fact::Spent { .. } => {}
            }
        }
        index
    }

    /// Whether nothing is replayed.
    pub(super) fn is_empty(&self) -> bool {
        self.initial.is_none() && self.settled.is_empty()
    }

    /// Whether an action was executed or given up.
    pub(super) fn is_settled(&self, from: StateKey, action: ActionSignature) -> bool {
        self.settled.contains_key(&(from, action))
    }

    /// Whether an action is no candidate, because it is a plain link that was followed elsewhere.
    /// It may be one until the fact comes that says so.
    pub(super) fn is_withdrawn(&self, from: StateKey, action: ActionSignature) -> bool {
        self.plain.contains(&action) && !self.is_settled(from, action)
    }

    /// Where an action led, if it was executed.
    pub(super) fn destination(&self, from: StateKey, action: ActionSignature) -> Option<StateKey> {
        self.settled.get(&(from, action)).copied().flatten()
    }

    /// What a state offers, if several facts describe it differently.
    pub(super) fn offers(&self, key: StateKey) -> Option<&[Offered]> {
        self.offers.get(&key).map(Vec::as_slice)
    }
}
