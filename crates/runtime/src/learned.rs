//! What crawlers have learned, as named values of the store. If it is lost, it is learned again.

use std::collections::BTreeMap;

use argiope_explore::identity::{Masks, StateMasks};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::page_index::{PageIndex, PlacedAction};
use crate::store::{Store, StoreError};

/// The cost of a reset, in actions, before it is measured. Measured on client-side pages: 22 to 55.
const RESET_COST: f64 = 20.0;

/// The name of the actions that need trusted input.
pub const TRUSTED: &str = "trusted-where";

/// What an earlier run of the crawl has learned.
pub struct LearnedValues {
    /// Masks of what changes from load to load.
    pub masks: Masks,
    /// Masks of what changes in single states.
    pub state_masks: StateMasks,
    /// Whether actions need trusted input, each where it is on a page.
    pub trusted: BTreeMap<PlacedAction, bool>,
    /// The cost of a reset, in actions.
    pub reset_cost: f64,
    /// The origin to which the address has led.
    pub origin: Option<String>,
}

impl LearnedValues {
    /// Puts it into the page index of the crawlers.
    pub fn into_page_index(self, pages: &mut PageIndex) {
        pages.masks = self.masks;
        pages.state_masks = self.state_masks;
        pages.trusted = self.trusted;
    }
}

/// Reads what the store has.
pub fn load(store: &Store) -> Result<LearnedValues, StoreError> {
    let trusted: Vec<PlacedAction> = named(store, TRUSTED)?.unwrap_or_default();
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

/// The values that are known after the first page.
pub fn first(pages: &PageIndex, origin: &str) -> Vec<(String, Vec<u8>)> {
    vec![entry("masks", &pages.masks), entry("origin", origin)]
}

/// The values that are learned later.
pub fn learned(pages: &PageIndex, reset_cost: f64) -> Vec<(String, Vec<u8>)> {
    let trusted: Vec<_> =
        pages.trusted.iter().filter(|&(_, &trusted)| trusted).map(|(action, _)| action).collect();
    vec![
        entry(TRUSTED, &trusted),
        entry("state-masks", &pages.state_masks),
        entry("reset-cost", &reset_cost),
    ]
}

/// The values that the crawlers of a cluster have learned.
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
