//! What is known of states on one machine: the store, and pages that it has not written yet.
//! Without those, a tab that reaches a new state at once could not compare its page, and would take
//! volatile values for another state.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use argiope_browser::agent::Raw;
use argiope_explore::id::StateKey;
use argiope_explore::page::Page;

use crate::address::without_logins;
use crate::crawler::Details;
use crate::store::{FoundPage, OfferDetail, Store};

/// The details of a crawl on one machine.
pub struct LocalDetails {
    store: Store,
    /// Pages with the ticket of their batch. A leaf in the lock order.
    unwritten: Mutex<BTreeMap<StateKey, (u64, Page)>>,
}

impl LocalDetails {
    /// Everything is written.
    pub fn new(store: Store) -> Self {
        Self { store, unwritten: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StateKey, (u64, Page)>> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps pages until their batch is on disk.
    pub fn keep(&self, ticket: u64, pages: Vec<(StateKey, Page)>) {
        self.lock().extend(pages.into_iter().map(|(key, page)| (key, (ticket, page))));
    }

    /// Every batch up to this ticket is on disk.
    pub fn on_durable(&self, ticket: u64) {
        self.lock().retain(|_, (unwritten, _)| *unwritten > ticket);
    }
}

/// The pages of states that were found.
pub fn pages_of(states: &[(StateKey, FoundPage)]) -> Vec<(StateKey, Page)> {
    states.iter().map(|(key, found)| (*key, found.page.clone())).collect()
}

impl Details for LocalDetails {
    fn offers(&self, key: StateKey) -> Option<(Raw, Vec<OfferDetail>)> {
        let detail = self.store.detail(key).ok()??;
        Some((Raw(detail.raw), detail.offers))
    }

    fn address(&self, key: StateKey) -> Option<String> {
        let unwritten = self.lock().get(&key).map(|(_, page)| page.url.clone());
        let address = unwritten.or_else(|| Some(self.store.detail(key).ok()??.url))?;
        Some(without_logins(&address).into_owned())
    }

    fn page(&self, key: StateKey) -> Option<Page> {
        let unwritten = self.lock().get(&key).map(|(_, page)| page.clone());
        unwritten.or_else(|| self.store.page(self.store.detail(key).ok()??.page).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_before_it_is_on_disk() {
        let directory =
            std::env::temp_dir().join(format!("argiope-details-{}", std::process::id()));
        let store = Store::create(&directory, &serde_json::json!({})).unwrap();
        let details = LocalDetails::new(store);
        let page = |title: &str| Page { title: title.to_owned(), ..Page::default() };
        details.keep(1, vec![(StateKey(7), page("a"))]);
        details.keep(2, vec![(StateKey(8), page("b"))]);
        details.on_durable(1);
        assert_eq!(details.page(StateKey(7)), None, "the store has it, if it was written");
        assert_eq!(details.page(StateKey(8)).map(|page| page.title), Some("b".to_owned()));
        std::fs::remove_dir_all(directory).unwrap();
    }
}
