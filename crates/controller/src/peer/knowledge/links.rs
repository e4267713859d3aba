//! Plain links of own states. They are set aside, and are no candidates, until it is known which
//! state follows them.

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};

use super::PeerKnowledge;

impl PeerKnowledge {
    /// Sets the free plain links of an own state aside. Callers keep the counts right.
    pub(in crate::peer) fn set_links_aside(&mut self, state: StateIndex) {
        let known = self.graph.at(state);
        if !self.ownership.is_own(state) || !known.full || known.links.is_empty() {
            return;
        }
        let key = self.graph.key(state);
        for link in known.links.clone() {
            let slot = self.graph.slot(key, link);
            if let Some(slot) = slot.filter(|&slot| self.graph.slots().is_free(slot)) {
                self.graph.explorer().claim(slot);
                self.ownership.aside.insert(slot, false);
                self.ownership.newly_aside.push((key, link));
            }
        }
    }

    /// The slot of a plain link that is set aside.
    fn slot_aside(&self, state: StateKey, link: ActionSignature) -> Option<Slot> {
        let slot = self.graph.slot(state, link)?;
        let is_aside = self.ownership.aside.contains_key(&slot)
            && self.graph.is_open(slot)
            && self.graph.slots().claimed().contains(&slot);
        is_aside.then_some(slot)
    }

    /// Whether a plain link of a state is set aside.
    pub fn is_aside(&self, state: StateKey, link: ActionSignature) -> bool {
        self.slot_aside(state, link).is_some()
    }

    /// This state follows a plain link that was set aside: it is a candidate like others.
    pub fn take_up(&mut self, state: StateKey, link: ActionSignature) {
        if let Some(slot) = self.slot_aside(state, link) {
            self.ownership.aside.remove(&slot);
            self.release(slot);
        }
    }

    /// Another state followed a plain link that was set aside; it stays aside.
    pub fn leave_elsewhere(&mut self, state: StateKey, link: ActionSignature) {
        if let Some(slot) = self.slot_aside(state, link) {
            self.ownership.aside.insert(slot, true);
        }
    }

    /// Takes in which of a state's actions are plain links.
    pub fn learn_links(&mut self, key: StateKey, links: impl IntoIterator<Item = ActionSignature>) {
        let state = self.graph.find_or_add(key);
        self.graph.at_mut(state).links.extend(links);
        self.counted(state, |known| known.set_links_aside(state));
    }

    /// Takes in that an action is a plain link wherever it is offered. Says whether that was new.
    pub fn learn_plain(&mut self, link: ActionSignature) -> bool {
        if !self.graph.plain.insert(link) {
            return false;
        }
        let states = self.graph.all().map(|(key, _)| key);
        let offering: Vec<StateKey> =
            states.filter(|&key| self.graph.slot(key, link).is_some()).collect();
        for key in offering {
            self.learn_links(key, [link]);
        }
        true
    }
}
