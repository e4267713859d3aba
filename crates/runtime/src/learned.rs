//! What the crawlers learned, as the store keeps it under names. Learned again if it is lost.

use std::collections::BTreeMap;

use argiope_explore::id::ActionSignature;
use argiope_explore::identity::{Masks, StateMasks};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::page_index::PageIndex;
use crate::store::{Store, StoreError};

/// What a reset is taken to cost before it was measured. Measured on client-side pages: 22 to 55.
const RESET_COST: f64 = 20.0;

/// What was learned in an earlier part of the crawl.
pub struct LearnedValues {
    /// What changes from load to load.
    pub masks: Masks,
    /// What changes in single states.
    pub state_masks: StateMasks,
    /// How actions are done.
    pub trusted: BTreeMap<ActionSignature, bool>,
    /// What a reset costs.
    pub reset_cost: f64,
    /// Where the application was found to be.
    pub origin: Option<String>,
}

impl LearnedValues {
    /// Puts it where crawlers find it.
    pub fn into_page_index(self, pages: &mut PageIndex) {
        pages.masks = self.masks;
        pages.state_masks = self.state_masks;
        pages.trusted = self.trusted;
    }
}

/// What the store has.
pub fn load(store: &Store) -> Result<LearnedValues, StoreError> {
    let trusted: Vec<ActionSignature> = named(store, "trusted")?.unwrap_or_default();
    Ok(LearnedValues {
        masks: named(store, "masks")?.unwrap_or_default(),
        state_masks: named(store, "state-masks")?.unwrap_or_default(),
        trusted: trusted.into_iter().map(|action| (action, true)).collect(),
        reset_cost: named(store, "reset-cost")?.unwrap_or(RESET_COST),
        origin: named(store, "origin")?,
    })
}

fn named<T: DeserializeOwned>(store: &Store, name: &str) -> Result<Option<T>, StoreError> {
    let bytes = store.named(name)?;
    let read = |bytes: Vec<u8>| {
        serde_json::from_slice(&bytes)
            .map_err(|error| StoreError::Damaged(format!("{name}: {error}")))
    };
    bytes.map(read).transpose()
}

/// What is known once the first page was seen.
pub fn first(knowledge: &PageIndex, origin: &str) -> Vec<(String, Vec<u8>)> {
    vec![entry("masks", &knowledge.masks), entry("origin", origin)]
}

/// What is learned later.
pub fn learned(knowledge: &PageIndex, reset_cost: f64) -> Vec<(String, Vec<u8>)> {
    let trusted: Vec<_> = knowledge
        .trusted
        .iter()
        .filter(|&(_, &trusted)| trusted)
        .map(|(action, _)| action)
        .collect();
    vec![
        entry("trusted", &trusted),
        entry("state-masks", &knowledge.state_masks),
        entry("reset-cost", &reset_cost),
    ]
}

/// What crawlers of a ring have learned.
pub fn fetched(
    masks: &Masks,
    state_masks: &StateMasks,
    origin: &str,
    reset_cost: f64,
) -> Vec<(String, Vec<u8>)> {
    vec![
        entry("masks", masks),
        entry("state-masks", state_masks),
        entry("origin", origin),
        entry("reset-cost", &reset_cost),
    ]
}

fn entry(name: &str, value: &(impl Serialize + ?Sized)) -> (String, Vec<u8>) {
    (name.to_owned(), serde_json::to_vec(value).expect("what is learned is plain data"))
}
