//! Masks that were learned for one state after it had its key. They never change a key. A page
//! whose key is unknown is compared through them with the states that have masks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::digest::Encoder;
use super::mask::{Mask, Masks};
use super::view::MaskedPage;
use super::{NamedIdentity, Recognised, text};
use crate::id::{ActionSignature, StateKey};
use crate::page::{Kind, Page};

/// The masks of single states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
pub struct StateMasks {
    by_frame: BTreeMap<u128, Vec<Entry>>,
}

/// A state with its own masks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The hash of the visible tree without values.
    frame: u128,
    state: StateKey,
    masks: Masks,
    /// The key of the state's page under these masks.
    masked: StateKey,
    /// The signatures of its actions: under these masks, and without them.
    actions: Vec<(ActionSignature, ActionSignature)>,
}

impl StateMasks {
    /// Adds masks for a state. `page` is the page that gave the state its key.
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

    /// Finds the state that a page is equal to under that state's masks, with the state's own
    /// signatures. Call it only for a page whose key is unknown. If several states fit, it takes
    /// the first in its list.
    pub fn resolve(
        &self,
        identity: &NamedIdentity,
        known: &Masks,
        page: &Page,
    ) -> Option<Recognised> {
        if self.by_frame.is_empty() {
            return None;
        }
        // Similar states have the same masks, so the page is recognised once for all of them.
        let mut tried: Vec<(Vec<&Mask>, Recognised)> = Vec::new();
        for entry in self.by_frame.get(&frame_digest(page, known))? {
            let masks: Vec<&Mask> = entry.masks.masks.iter().collect();
            let same = |(other, _): &&(Vec<&Mask>, Recognised)| {
                let masks = masks.iter().map(|mask| (&mask.place, &mask.aspect));
                masks.eq(other.iter().map(|mask| (&mask.place, &mask.aspect)))
            };
            let recognised = match tried.iter().find(same) {
                Some((_, recognised)) => recognised,
                None => {
                    tried.push((masks, identity.recognise(page, &known.and(&entry.masks))));
                    &tried[tried.len() - 1].1
                }
            };
            if recognised.key == entry.masked {
                return Some(entry.translate_actions(page, recognised));
            }
        }
        None
    }

    /// Merges the masks that another controller learned. Of two entries for one state, it keeps the
    /// one with more masks. The result does not depend on the order of merges.
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

    /// The states that have masks, with their masks.
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
                // A link has the same signature in every state.
                Kind::Link => *action,
                _ => action.and_then(|action| names.get(&action).copied()),
            })
            .collect();
        Recognised { key: self.state, actions }
    }
}

/// A hash of the visible elements and texts without their values. It is equal for two pages that
/// differ only in values.
fn frame_digest(page: &Page, known: &Masks) -> u128 {
    let seen = MaskedPage::new(known, page);
    let mut encoder = Encoder::tagged("frame");
    for (_, node) in seen.nodes(|_| false) {
        if node.visible && !(node.is_text() && text::is_blank(&node.text)) {
            encoder.number(u64::from(node.depth)).text(&node.tag);
        }
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
