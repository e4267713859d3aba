//! Plain links are followed once in the whole crawl. Whose a link is depends on its name alone, so that one crawler decides:
//! it follows it from the first state that it hears of, and from another one if it had to give it up there. In all other
//! states the link is set aside. What turned out to be a plain link when it was executed was followed thereby, and is
//! set aside by everybody who hears of it.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};

use super::StarNode;

/// What a crawler knows of plain links.
#[derive(Default)]
pub(super) struct LinkTable {
    /// The states that offer them.
    offered_by: BTreeMap<ActionSignature, BTreeSet<StateKey>>,
    /// Of its own: those that are being followed, or were.
    taken: BTreeSet<ActionSignature>,
    /// Those that turned out to be plain links.
    plain: BTreeSet<ActionSignature>,
}

impl LinkTable {
    /// Takes in that a state offers plain links.
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

    /// A link was followed.
    pub(super) fn follow(&mut self, link: ActionSignature) {
        self.taken.insert(link);
    }

    /// All that look like it.
    pub(super) fn all(&self) -> Vec<ActionSignature> {
        self.offered_by.keys().copied().collect()
    }
}

impl StarNode {
    /// Sees to it that an own link is followed from somewhere.
    pub(super) fn pursue(&mut self, link: ActionSignature) {
        let Some(plan) = self.plan else { return };
        let own = self.shares.contains(&plan.share_of_link(link));
        if !own || self.links.is_plain(link) || self.links.taken.contains(&link) {
            return;
        }
        let states = self.links.offered_by.get(&link).into_iter().flatten();
        let slots = states.filter_map(|&state| self.slot(state, link));
        // The one that was heard of first.
        if let Some(slot) = slots.filter(|&slot| self.is_aside(slot)).min_by_key(|slot| slot.state)
        {
            self.links.taken.insert(link);
            self.explorer().release(slot);
        }
    }

    /// A link was given up in a state: another one has it, perhaps.
    pub(super) fn pursue_elsewhere(&mut self, link: ActionSignature) {
        if self.links.taken.remove(&link) {
            self.pursue(link);
        }
    }

    /// A link is somebody else's to follow by now.
    pub(super) fn let_go(&mut self, link: ActionSignature) {
        self.links.taken.remove(&link);
        self.set_aside_everywhere(link);
    }

    /// An action turned out to be a plain link.
    pub(super) fn learn_plain(&mut self, action: ActionSignature) {
        if self.links.plain.insert(action) {
            self.set_aside_everywhere(action);
        }
    }

    fn set_aside_everywhere(&mut self, action: ActionSignature) {
        let graph = self.explorer().graph();
        let Some(named) = graph.action_named(action) else { return };
        let states = (0..graph.states() as u32).map(StateIndex);
        let slots = states.filter_map(|state| graph.slot_of(state, named));
        let free: Vec<Slot> = slots.filter(|&slot| graph.is_free(slot)).collect();
        for slot in free {
            self.explorer().claim(slot);
        }
    }
}
