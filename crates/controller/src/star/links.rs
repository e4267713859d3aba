//! A crawl follows each plain link once. The link's signature alone decides which node follows it:
//! from the first state that the node learns of, or from another if that attempt is given up. In
//! all other states the link is deferred. An action that turns out to be a plain link was followed
//! thereby; every node that learns of it defers it.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};

use super::StarNode;

/// What a node knows of plain links.
#[derive(Default)]
pub(super) struct LinkTable {
    /// The states that offer them.
    offered_by: BTreeMap<ActionSignature, BTreeSet<StateKey>>,
    /// Own links that are being followed, or were.
    taken: BTreeSet<ActionSignature>,
    /// Actions that turned out to be plain links.
    plain: BTreeSet<ActionSignature>,
}

impl LinkTable {
    /// Records that a state offers plain links.
    pub(super) fn learn(&mut self, state: StateKey, links: &[ActionSignature]) {
        for &link in links {
            self.offered_by.entry(link).or_default().insert(state);
        }
    }

    /// Whether an action of a state looks like a plain link.
    pub(super) fn contains(&self, state: StateKey, action: ActionSignature) -> bool {
        self.offered_by.get(&action).is_some_and(|states| states.contains(&state))
    }

    /// Whether an action turned out to be a plain link.
    pub(super) fn is_plain(&self, action: ActionSignature) -> bool {
        self.plain.contains(&action)
    }

    /// Records that a link was followed.
    pub(super) fn follow(&mut self, link: ActionSignature) {
        self.taken.insert(link);
    }

    /// All actions that look like plain links.
    pub(super) fn all(&self) -> Vec<ActionSignature> {
        self.offered_by.keys().copied().collect()
    }
}

impl StarNode {
    /// Follows an own link from the first state that offers it.
    pub(super) fn pursue(&mut self, link: ActionSignature) {
        let Some(plan) = self.plan else { return };
        let own = self.shares.contains(&plan.share_of_link(link));
        if !own || self.links.is_plain(link) || self.links.taken.contains(&link) {
            return;
        }
        let states = self.links.offered_by.get(&link).into_iter().flatten();
        let slots = states.filter_map(|&state| self.slot(state, link));
        // The state that was found first.
        if let Some(slot) = slots.filter(|&slot| self.is_aside(slot)).min_by_key(|slot| slot.state)
        {
            self.links.taken.insert(link);
            self.explorer().release(slot);
        }
    }

    /// Tries a link that was given up in one state from another.
    pub(super) fn pursue_elsewhere(&mut self, link: ActionSignature) {
        if self.links.taken.remove(&link) {
            self.pursue(link);
        }
    }

    /// Defers a link that another node follows by now.
    pub(super) fn let_go(&mut self, link: ActionSignature) {
        self.links.taken.remove(&link);
        self.set_aside_everywhere(link);
    }

    /// Records that an action turned out to be a plain link.
    pub(super) fn learn_plain(&mut self, action: ActionSignature) {
        if self.links.plain.insert(action) {
            self.set_aside_everywhere(action);
        }
    }

    fn set_aside_everywhere(&mut self, action: ActionSignature) {
        let graph = self.explorer().graph();
        let Some(named) = graph.action_named(action) else { return };
        let states = (0..graph.states() as u32).map(StateIndex);
        let slots: Vec<Slot> = states.filter_map(|state| graph.slot_of(state, named)).collect();
        self.defer(slots);
    }
}
