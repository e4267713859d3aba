//! What crawlers have learned, as named values of the store. If it is lost, it is learned again.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::identity::{Masks, StateMasks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::numbers::UniqueNumbers;
use crate::page_index::{PageIndex, PlacedAction};
use crate::store::{Store, StoreError};

/// The cost of a reset, in actions, before it is measured. Measured on client-side pages: 22 to 55.
pub const RESET_COST: f64 = 20.0;

/// The name of the actions that need trusted input.
pub const TRUSTED: &str = "trusted-where";

/// The name of the digests of tried addresses, and of the seeds that were not loaded.
const TRIED: &str = "tried-addresses";
const SEEDS_LEFT: &str = "seeds-left";

/// The name of the numbers that are used up.
const NUMBERS: &str = "numbers";

/// The most endless addresses of a crawl, and the longest one in bytes. A page makes them up.
const MOST_ENDLESS: usize = 100;
const LONGEST_ADDRESS: usize = 1000;
/// The most names of replaced functions of a crawl, and the longest one in bytes.
const MOST_TAMPERED: usize = 100;
const LONGEST_NAME: usize = 100;

/// What crawlers learn about pages while they crawl, and tell the other crawlers of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageFindings {
    /// Masks of what changes in single states.
    pub state_masks: StateMasks,
    /// Addresses whose requests do not end.
    pub endless: BTreeSet<String>,
    /// Hosts outside whose requests were blocked.
    pub blocked: BTreeSet<String>,
    /// Why what crawlers saw may be wrong.
    pub doubts: PageDoubts,
}

/// Why the model may be wrong, although nothing was given up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageDoubts {
    /// Built-in functions that a page has replaced and that may have deceived the page agent.
    pub tampered: BTreeSet<String>,
    /// A page was larger than what is read of a page.
    pub truncated: bool,
}

impl PageDoubts {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tampered.is_empty() && !self.truncated
    }

    /// Adds names of built-in functions, within limits. Says whether any is new.
    pub fn add_tampered(&mut self, names: impl IntoIterator<Item = String>) -> bool {
        let before = self.tampered.len();
        for name in names {
            if self.tampered.len() < MOST_TAMPERED && name.len() <= LONGEST_NAME {
                self.tampered.insert(name);
            }
        }
        self.tampered.len() > before
    }

    fn merge(&mut self, other: Self) {
        self.add_tampered(other.tampered);
        self.truncated |= other.truncated;
    }
}

impl PageFindings {
    /// Whether nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.state_masks.is_empty()
            && self.endless.is_empty()
            && self.blocked.is_empty()
            && self.doubts.is_empty()
    }

    /// Adds what other crawlers have learned.
    pub fn merge(&mut self, other: Self) {
        self.state_masks.merge(other.state_masks);
        add_bounded(&mut self.endless, other.endless);
        add_bounded(&mut self.blocked, other.blocked);
        self.doubts.merge(other.doubts);
    }
}

/// Adds addresses or hosts that pages name, within limits.
pub fn add_bounded(known: &mut BTreeSet<String>, more: impl IntoIterator<Item = String>) {
    for address in more {
        if known.len() < MOST_ENDLESS && address.len() <= LONGEST_ADDRESS {
            known.insert(address);
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
    /// Blocked requests by host. A count of 0 says that the number is not known.
    pub blocked: BTreeMap<String, u64>,
    /// Why the model may be wrong.
    pub doubts: PageDoubts,
    /// The numbers that values which must be unique may have used.
    pub numbers: Option<u64>,
    /// Digests of addresses that were tried.
    pub tried: Vec<u128>,
    /// Addresses with which the crawl begins and that were not loaded yet, with the reason.
    pub seeds_left: BTreeMap<String, String>,
}

impl LearnedValues {
    /// Puts it into the page index of the crawlers.
    pub fn into_page_index(self, pages: &mut PageIndex) {
        pages.masks = self.masks;
        pages.state_masks = self.state_masks;
        pages.trusted = self.trusted;
        pages.endless = self.endless;
        add_bounded(&mut pages.blocked, self.blocked.into_keys());
        pages.doubts = self.doubts;
        pages.own_addresses.add_tried(self.tried);
        if let Some(used) = self.numbers {
            pages.numbers = UniqueNumbers::after(used);
        }
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
        blocked: named(store, "blocked")?.unwrap_or_default(),
        doubts: named(store, "doubts")?.unwrap_or_default(),
        numbers: named(store, NUMBERS)?,
        tried: named(store, TRIED)?.unwrap_or_default(),
        seeds_left: named(store, SEEDS_LEFT)?.unwrap_or_default(),
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
    vec![
        entry("masks", &pages.masks),
        entry("origin", origin),
        entry("endless", &pages.endless),
        entry("doubts", &pages.doubts),
        entry(NUMBERS, &pages.numbers.reserved()),
    ]
}

/// The values that are learned later.
pub fn learned(pages: &PageIndex, reset_cost: f64) -> Vec<(String, Vec<u8>)> {
    let trusted: Vec<_> =
        pages.trusted.iter().filter(|&(_, &trusted)| trusted).map(|(action, _)| action).collect();
    vec![
        entry(TRUSTED, &trusted),
        entry("state-masks", &pages.state_masks),
        entry("endless", &pages.endless),
        entry("doubts", &pages.doubts),
        entry("reset-cost", &reset_cost),
        entry(NUMBERS, &pages.numbers.reserved()),
        entry(TRIED, &pages.own_addresses.tried().collect::<Vec<u128>>()),
    ]
}

/// Seeds that were not loaded, with the reason, as a named value.
pub fn seeds_left(left: &BTreeMap<String, String>) -> (String, Vec<u8>) {
    entry(SEEDS_LEFT, left)
}

/// Blocked requests by host, as a named value.
pub fn blocked(blocked: &BTreeMap<String, u64>) -> (String, Vec<u8>) {
    entry("blocked", blocked)
}

/// The values that the crawlers of a cluster have learned. They count no blocked requests.
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
        entry("doubts", &findings.doubts),
        entry("origin", origin),
        entry("reset-cost", &reset_cost),
        blocked(&findings.blocked.iter().map(|host| (host.clone(), 0)).collect()),
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

    #[test]
    fn names_of_replaced_functions_are_bounded_in_number_and_length() {
        let mut doubts = PageDoubts::default();
        assert!(!doubts.add_tampered(["x".repeat(LONGEST_NAME + 1)]) && doubts.is_empty());
        assert!(doubts.add_tampered((0..2 * MOST_TAMPERED).map(|at| at.to_string())));
        assert_eq!(doubts.tampered.len(), MOST_TAMPERED);
        let mut both = PageDoubts { truncated: true, ..PageDoubts::default() };
        both.merge(doubts.clone());
        assert!(both.truncated && both.tampered == doubts.tampered);
    }
}
