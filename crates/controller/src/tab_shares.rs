//! Which crawl each tab of a controller works for. Open crawls get equal shares of the time of the
//! tabs: if the tabs cannot be divided evenly, they take turns.
//!
//! A tab that changes its crawl has to load another application, so a turn lasts for a while.

use std::collections::{BTreeMap, BTreeSet};

/// The tabs of a controller and the crawls that they work for. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct TabShares<T, C> {
    tabs: BTreeMap<T, Option<Turn<C>>>,
    /// The time that tabs have worked for each open crawl. A crawl that begins has used as much as
    /// the one that has used least.
    used: BTreeMap<C, u64>,
    /// The time up to which `used` counts.
    counted: u64,
    /// The shortest turn.
    turn: u64,
}

#[derive(Clone, Copy, Debug)]
struct Turn<C> {
    crawl: C,
    since: u64,
}

impl<T: Ord + Copy, C: Ord + Copy> TabShares<T, C> {
    /// No tabs. A turn lasts at least `turn`.
    pub fn new(turn: u64) -> Self {
        Self { tabs: BTreeMap::new(), used: BTreeMap::new(), counted: 0, turn }
    }

    /// A tab is there.
    pub fn add(&mut self, tab: T) {
        self.tabs.entry(tab).or_insert(None);
    }

    /// Tabs are gone.
    pub fn remove(&mut self, is_gone: impl Fn(T) -> bool) {
        self.tabs.retain(|&tab, _| !is_gone(tab));
    }

    /// The number of tabs that work for a crawl.
    pub fn count(&self, crawl: C) -> usize {
        self.tabs.values().flatten().filter(|turn| turn.crawl == crawl).count()
    }

    /// Divides the tabs among the open crawls. Returns the tabs that change, each with its crawl.
    pub fn assign(&mut self, now: u64, open: &BTreeSet<C>) -> Vec<(T, Option<C>)> {
        self.count_time(now);
        self.used.retain(|crawl, _| open.contains(crawl));
        let least_used = self.used.values().min().copied().unwrap_or_default();
        for &crawl in open {
            self.used.entry(crawl).or_insert(least_used);
        }
        let before: Vec<Option<C>> = self.crawls();
        for turn in self.tabs.values_mut() {
            *turn = turn.filter(|turn| open.contains(&turn.crawl));
        }
        if !open.is_empty() {
            while let Some(tab) = self.tab_to_free(now) {
                self.tabs.insert(tab, None);
            }
            self.fill(now);
        }
        let after = self.crawls();
        let changes = self.tabs.keys().copied().zip(before.into_iter().zip(after));
        changes.filter(|(_, (was, is))| was != is).map(|(tab, (_, is))| (tab, is)).collect()
    }

    fn crawls(&self) -> Vec<Option<C>> {
        self.tabs.values().map(|turn| turn.map(|turn| turn.crawl)).collect()
    }

    fn count_time(&mut self, now: u64) {
        let passed = now.saturating_sub(std::mem::replace(&mut self.counted, now));
        for turn in self.tabs.values().flatten() {
            *self.used.entry(turn.crawl).or_default() += passed;
        }
    }

    /// A tab of a crawl that has too many, or whose turn is over while another crawl has used less.
    fn tab_to_free(&self, now: u64) -> Option<T> {
        let crawls = self.used.len();
        let fair = self.tabs.len() / crawls;
        let spare = self.tabs.len() % crawls;
        let rich: BTreeSet<C> =
            self.used.keys().copied().filter(|&crawl| self.count(crawl) > fair).collect();
        let has_free = self.tabs.values().any(Option::is_none);
        let poorest =
            self.used.iter().filter(|(crawl, _)| !rich.contains(crawl)).map(|(_, used)| *used);
        let poorest = poorest.min();
        let is_over = |turn: &Turn<C>| {
            let used = self.used[&turn.crawl];
            now.saturating_sub(turn.since) >= self.turn
                && poorest.is_some_and(|poorest| poorest < used)
        };
        let too_many = |crawl: C| {
            let most = fair + usize::from(spare > 0);
            self.count(crawl) > most || rich.len() > spare
        };
        let candidates = self.tabs.iter().filter_map(|(&tab, turn)| Some((tab, (*turn)?)));
        let candidates = candidates.filter(|(_, turn)| rich.contains(&turn.crawl));
        let candidates =
            candidates.filter(|(_, turn)| too_many(turn.crawl) || (!has_free && is_over(turn)));
        // Of the crawl that has used most, the tab that has served it longest.
        let longest = |turn: &Turn<C>| (self.used[&turn.crawl], now.saturating_sub(turn.since));
        candidates.max_by_key(|(_, turn)| longest(turn)).map(|(tab, _)| tab)
    }

    /// Gives each free tab to the crawl with the fewest tabs; of several, to the least used one.
    fn fill(&mut self, now: u64) {
        let free: Vec<T> =
            self.tabs.iter().filter(|(_, turn)| turn.is_none()).map(|(&tab, _)| tab).collect();
        for tab in free {
            let poorest = self.used.iter().min_by_key(|&(&crawl, &used)| (self.count(crawl), used));
            let turn = poorest.map(|(&crawl, _)| Turn { crawl, since: now });
            self.tabs.insert(tab, turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn shares(tabs: u32) -> TabShares<u32, char> {
        let mut shares = TabShares::new(5 * SECOND);
        (0..tabs).for_each(|tab| shares.add(tab));
        shares
    }

    fn open(crawls: &str) -> BTreeSet<char> {
        crawls.chars().collect()
    }

    /// The seconds of tabs that each crawl gets, if all are open for this time.
    fn served(tabs: u32, crawls: &str, seconds: u64) -> BTreeMap<char, u64> {
        let mut shares = shares(tabs);
        let mut served: BTreeMap<char, u64> = BTreeMap::new();
        for half in 0..2 * seconds {
            shares.assign(half * SECOND / 2, &open(crawls));
            for crawl in crawls.chars() {
                *served.entry(crawl).or_default() += shares.count(crawl) as u64;
            }
        }
        served
    }

    #[test]
    fn crawls_get_equal_shares_whatever_the_number_of_tabs() {
        for (tabs, crawls) in [(3, "abcdefghij"), (1, "ab"), (5, "abc"), (4, "ab"), (2, "abc")] {
            let served = served(tabs, crawls, 300);
            let (least, most) = (served.values().min().unwrap(), served.values().max().unwrap());
            assert!(10 * least >= 9 * most, "{tabs} tabs, {crawls}: {served:?}");
            let all: u64 = served.values().sum();
            assert_eq!(all, u64::from(tabs) * 600, "a tab rests: {served:?}");
        }
    }

    #[test]
    fn a_turn_lasts_for_a_while() {
        let mut shares = shares(1);
        assert_eq!(shares.assign(0, &open("ab")), [(0, Some('a'))]);
        assert_eq!(shares.assign(4 * SECOND, &open("ab")), []);
        assert_eq!(shares.assign(5 * SECOND, &open("ab")), [(0, Some('b'))]);
        assert_eq!(shares.assign(9 * SECOND, &open("ab")), []);
    }

    #[test]
    fn a_tab_of_a_crawl_that_ends_goes_to_another_at_once() {
        let mut shares = shares(2);
        shares.assign(0, &open("ab"));
        assert_eq!(shares.assign(1, &open("b")), [(0, Some('b'))]);
        assert_eq!(shares.assign(2, &open("")), [(0, None), (1, None)]);
    }

    #[test]
    fn a_crawl_that_begins_gets_a_tab_and_does_not_starve_the_others() {
        let mut shares = shares(2);
        shares.assign(0, &open("a"));
        assert_eq!(shares.count('a'), 2);
        shares.assign(100 * SECOND, &open("ab"));
        assert_eq!((shares.count('a'), shares.count('b')), (1, 1));
        shares.assign(200 * SECOND, &open("abc"));
        let counts = ['a', 'b', 'c'].map(|crawl| shares.count(crawl));
        assert_eq!(counts.iter().sum::<usize>(), 2);
        assert!(counts.iter().all(|&count| count <= 1), "{counts:?}");
    }
}
