//! Plain links among the actions of states: they are set aside in own states until it is known where they are followed
//! from.

use std::collections::BTreeSet;

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};

use super::Atlas;

impl Atlas {
    /// Own plain links are not candidates until it is known where they are followed from. What becomes of the counts is
    /// seen to by the callers.
    pub(super) fn set_links_aside(&mut self, state: StateIndex) {
        let entry = &self.entries[state.at()];
        if !entry.own || !entry.full || entry.remarks.links.is_empty() {
            return;
        }
        let key = self.key(state);
        for link in entry.remarks.links.clone() {
            if let Some(slot) = self.slot(key, link).filter(|&slot| self.graph().is_free(slot)) {
                self.explorer().claim(slot);
                self.aside.insert(slot, false);
                self.set_aside.push((key, link));
            }
        }
    }

    /// Plain links of own states that were set aside since this was last asked.
    pub fn take_set_aside(&mut self) -> Vec<(StateKey, ActionSignature)> {
        std::mem::take(&mut self.set_aside)
    }

    /// The slot of a plain link that is set aside.
    fn slot_aside(&self, state: StateKey, link: ActionSignature) -> Option<Slot> {
        let slot = self.slot(state, link).filter(|slot| self.aside.contains_key(slot))?;
        (self.graph().target(slot).is_none() && self.graph().claimed().contains(&slot))
            .then_some(slot)
    }

    /// Whether a plain link of a state is set aside.
    pub fn is_aside(&self, state: StateKey, link: ActionSignature) -> bool {
        self.slot_aside(state, link).is_some()
    }

    /// A plain link that was set aside is to be followed from this state: it is a candidate like others.
    pub fn take_up(&mut self, state: StateKey, link: ActionSignature) {
        if let Some(slot) = self.slot_aside(state, link) {
            self.aside.remove(&slot);
            self.release(slot);
        }
    }

    /// A plain link that was set aside was followed from another state, and stays aside.
    pub fn leave_elsewhere(&mut self, state: StateKey, link: ActionSignature) {
        if let Some(slot) = self.slot_aside(state, link) {
            self.aside.insert(slot, true);
        }
    }

    /// Takes in which of a state's actions are plain links.
    pub fn learn_links(&mut self, key: StateKey, links: impl IntoIterator<Item = ActionSignature>) {
        let state = self.meet(key);
        self.entries[state.at()].remarks.links.extend(links);
        self.counted(state, |atlas| atlas.set_links_aside(state));
    }

    /// Takes in that an action is a plain link wherever it is offered. Says whether that was new.
    pub fn learn_plain(&mut self, link: ActionSignature) -> bool {
        if !self.plain.insert(link) {
            return false;
        }
        let offering: Vec<StateKey> =
            self.all().map(|(key, _)| key).filter(|&key| self.slot(key, link).is_some()).collect();
        for key in offering {
            self.learn_links(key, [link]);
        }
        true
    }

    /// The actions that turned out to be plain links.
    pub fn plain(&self) -> &BTreeSet<ActionSignature> {
        &self.plain
    }

    /// The plain links of a state.
    pub fn links(&self, state: StateIndex) -> &BTreeSet<ActionSignature> {
        &self.entries[state.at()].remarks.links
    }
}
