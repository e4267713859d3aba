//! What crawlers have learned, as named values of the store. If it is lost, it is learned again.

use std::collections::{BTreeMap, BTreeSet};

use argiope_browser::Login;
use argiope_explore::identity::{Masks, StateMasks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::page_index::{PageIndex, PlacedAction};
use crate::store::{Store, StoreError};

/// The cost of a reset, in actions, before it is measured. Measured on client-side pages: 22 to 55.
const RESET_COST: f64 = 20.0;

/// The name of the actions that need trusted input.
pub const TRUSTED: &str = "trusted-where";

/// The most endless addresses of a crawl, and the longest one in bytes. A page makes them up.
const MOST_ENDLESS: usize = 100;
const LONGEST_ADDRESS: usize = 1000;

/// What crawlers learn about pages while they crawl, and tell the other crawlers of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageFindings {
    /// Masks of what changes in single states.
    pub state_masks: StateMasks,
    /// Addresses whose requests do not end.
    pub endless: BTreeSet<String>,
}

impl PageFindings {
    /// Whether nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.state_masks.is_empty() && self.endless.is_empty()
    }

    /// Adds what other crawlers have learned.
    pub fn merge(&mut self, other: Self) {
        self.state_masks.merge(other.state_masks);
        add_endless(&mut self.endless, other.endless);
    }
}

/// Adds addresses whose requests do not end, within limits.
pub fn add_endless(endless: &mut BTreeSet<String>, more: impl IntoIterator<Item = String>) {
    for address in more {
        if endless.len() < MOST_ENDLESS && address.len() <= LONGEST_ADDRESS {
            endless.insert(address);
        }
    }
}

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
    /// Addresses whose requests do not end.
    pub endless: BTreeSet<String>,
}

impl LearnedValues {
    /// Puts it into the page index of the crawlers.
    pub fn into_page_index(self, pages: &mut PageIndex) {
        pages.masks = self.masks;
        pages.state_masks = self.state_masks;
        pages.trusted = self.trusted;
        pages.endless = self.endless;
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
        endless: named(store, "endless")?.unwrap_or_default(),
    })
}

/// A login, as a named value. It is apart from the settings, which commands print.
pub fn stored_login(login: &Login) -> Vec<u8> {
    serde_json::to_vec(login).expect("a login is plain data")
}

/// The login under a name, if there is one.
pub fn login(store: &Store, name: &str) -> Result<Option<Login>, StoreError> {
    // The reason may repeat what could not be read.
    named(store, name).map_err(|_| StoreError::Damaged("the login cannot be read".to_owned()))
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
    vec![entry("masks", &pages.masks), entry("origin", origin), entry("endless", &pages.endless)]
}

/// The values that are learned later.
pub fn learned(pages: &PageIndex, reset_cost: f64) -> Vec<(String, Vec<u8>)> {
    let trusted: Vec<_> =
        pages.trusted.iter().filter(|&(_, &trusted)| trusted).map(|(action, _)| action).collect();
    vec![
        entry(TRUSTED, &trusted),
        entry("state-masks", &pages.state_masks),
        entry("endless", &pages.endless),
        entry("reset-cost", &reset_cost),
    ]
}

/// The values that the crawlers of a cluster have learned.
pub fn fetched(
    masks: &Masks,
    findings: &PageFindings,
    origin: &str,
    reset_cost: f64,
) -> Vec<(String, Vec<u8>)> {
    vec![
        entry("masks", masks),
        entry("state-masks", &findings.state_masks),
        entry("endless", &findings.endless),
        entry("origin", origin),
        entry("reset-cost", &reset_cost),
    ]
}

fn entry(name: &str, value: &(impl Serialize + ?Sized)) -> (String, Vec<u8>) {
    (name.to_owned(), serde_json::to_vec(value).expect("what is learned is plain data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_addresses_are_bounded_in_number_and_length() {
        let mut findings = PageFindings::default();
        let of = |endless: BTreeSet<String>| PageFindings { endless, ..PageFindings::default() };
        findings.merge(of(["x".repeat(LONGEST_ADDRESS + 1)].into()));
        assert!(findings.is_empty());
        findings.merge(of((0..2 * MOST_ENDLESS).map(|at| format!("http://a/{at}")).collect()));
        assert_eq!(findings.endless.len(), MOST_ENDLESS);
    }
}
