//! Masks that were learned for one state after it had got its name. They never change a name: a page
//! that looks new is compared with the states that have masks, through these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::digest::Encoder;
use super::mask::{Mask, Masks};
use super::view::MaskedPage;
use super::{NamedIdentity, Recognised, text};
use crate::id::{ActionSignature, StateKey};
use crate::page::{Kind, Page};

/// The states that have masks of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct StateMasks {
    by_frame: BTreeMap<u128, Vec<Entry>>,
}

/// A state that has masks of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The hash of what masks of values leave as it is.
    frame: u128,
    state: StateKey,
    masks: Masks,
    /// What the state would be called with these masks.
    masked: StateKey,
    /// What its actions would be called, and what they are called.
    actions: Vec<(ActionSignature, ActionSignature)>,
}

impl StateMasks {
    /// Takes in masks for a state, given the page that gave it its name.
    pub fn learn(
        &mut self,
        identity: &NamedIdentity,
        known: &Masks,
        state: StateKey,
        page: &Page,
        masks: &Masks,
    ) {
        let frame = frame_digest(page, known);
        let entries = self.by_frame.entry(frame).or_default();
        let place = entries.iter().position(|entry| entry.state == state);
        let mut own = place.map(|place| entries[place].masks.clone()).unwrap_or_default();
        own.merge(masks);
        let plain = identity.recognise(page, known);
        let masked = identity.recognise(page, &known.and(&own));
        let both = masked.actions.iter().zip(&plain.actions);
        let actions = both.filter_map(|(masked, plain)| masked.zip(*plain)).collect();
        let entry = Entry { frame, state, masks: own, masked: masked.key, actions };
        match place {
            Some(place) => entries[place] = entry,
            None => entries.push(entry),
        }
    }

    /// The state that a page is but for its masked parts, and its actions by their names in that state.
    /// To be asked only about a page whose own key is not known. If several fit, the one that got masks
    /// first.
    pub fn resolve(
        &self,
        identity: &NamedIdentity,
        known: &Masks,
        page: &Page,
    ) -> Option<Recognised> {
        if self.by_frame.is_empty() {
            return None;
        }
        // States that are alike have learned the same masks: the page is named once for all of them.
        let mut tried: Vec<(Vec<&Mask>, Recognised)> = Vec::new();
        for entry in self.by_frame.get(&frame_digest(page, known))? {
            let parts: Vec<&Mask> = entry.masks.masks.iter().collect();
            let same = |(other, _): &&(Vec<&Mask>, Recognised)| {
                let parts = parts.iter().map(|mask| (&mask.place, &mask.part));
                parts.eq(other.iter().map(|mask| (&mask.place, &mask.part)))
            };
            let recognised = match tried.iter().find(same) {
                Some((_, recognised)) => recognised,
                None => {
                    tried.push((parts, identity.recognise(page, &known.and(&entry.masks))));
                    &tried[tried.len() - 1].1
                }
            };
            if recognised.key == entry.masked {
                return Some(entry.translate_actions(page, recognised));
            }
        }
        None
    }

    /// Takes in what somebody else has learned. Of two that say something of the same state, the one who has learned
    /// more of it is believed; whatever the order, the outcome is the same.
    pub fn merge(&mut self, other: Self) {
        for entry in other.by_frame.into_values().flatten() {
            let entries = self.by_frame.entry(entry.frame).or_default();
            match entries.iter_mut().find(|known| known.state == entry.state) {
                Some(known) => {
                    let rank = |entry: &Entry| (entry.masks.masks.len(), entry.masked);
                    if rank(&entry) > rank(known) {
                        *known = entry;
                    }
                }
                None => entries.push(entry),
            }
            entries.sort_by_key(|entry| entry.state);
        }
    }

    /// The masks of each state that has some.
    pub fn iter(&self) -> impl Iterator<Item = (StateKey, &Masks)> {
        self.by_frame.values().flatten().map(|entry| (entry.state, &entry.masks))
    }

    /// The masks of one state.
    pub fn of(&self, state: StateKey) -> Option<&Masks> {
        self.iter().find(|(key, _)| *key == state).map(|(_, masks)| masks)
    }

    /// Whether no state has masks.
    pub fn is_empty(&self) -> bool {
        self.by_frame.is_empty()
    }
}

impl Entry {
    fn translate_actions(&self, page: &Page, recognised: &Recognised) -> Recognised {
        let names: BTreeMap<ActionSignature, ActionSignature> =
            self.actions.iter().copied().collect();
        let both = page.offers.iter().zip(&recognised.actions);
        let actions = both
            .map(|(offer, action)| match offer.kind {
                // A link has the same name everywhere.
                Kind::Link => *action,
                _ => action.and_then(|action| names.get(&action).copied()),
            })
            .collect();
        Recognised { key: self.state, actions }
    }
}

/// A hash of the visible elements and texts without their values: equal for two pages that differ only
/// in values.
fn frame_digest(page: &Page, known: &Masks) -> u128 {
    let seen = MaskedPage::new(known, page);
    let mut encoder = Encoder::tagged("frame");
    let mut at = 0;
    while at < seen.tree.len() {
        let node = seen.tree.node(at);
        if seen.masked.whole(at) {
            at = seen.tree.end(at);
            continue;
        }
        if node.visible && !(node.is_text() && text::is_blank(&node.text)) {
            encoder.number(u64::from(node.depth)).text(&node.tag);
        }
        at += 1;
    }
    encoder.wide_digest()
}

impl From<Vec<Entry>> for StateMasks {
    fn from(entries: Vec<Entry>) -> Self {
        let mut by_frame: BTreeMap<u128, Vec<Entry>> = BTreeMap::new();
        for entry in entries {
            by_frame.entry(entry.frame).or_default().push(entry);
        }
        Self { by_frame }
    }
}

impl From<StateMasks> for Vec<Entry> {
    fn from(masks: StateMasks) -> Self {
        masks.by_frame.into_values().flatten().collect()
    }
}
