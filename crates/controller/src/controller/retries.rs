//! Counts failures, so that every retry has a limit. Each outcome either settles a candidate or
//! raises a count. A count returns to zero only when the state of a candidate was reached, which
//! settles the candidate or raises another count. So a crawl of finitely many states ends, whatever
//! its crawlers report.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::StateIndex;

/// Failures after which a candidate is given up. Each was on another tab: a tab that fails is
/// replaced.
const MOST_FAILURES: u32 = 2;
/// Lost crawlers after which a candidate is given up: it may be what kills the browser.
const MOST_LOSSES: u32 = 5;
/// Exchanged tabs after which a candidate is given up. A tab is exchanged once for each candidate.
const MOST_EXCHANGES: u32 = 100;
/// Ended sessions after which a candidate is given up: it may be what ends them. A session that
/// expires by itself ends with the same candidate again only by chance.
const MOST_LOGOUTS: u32 = 4;
/// Failures or strays after which a transition is avoided where there is another way.
const UNRELIABLE: u32 = 2;
/// Loads of an entry's address that lead elsewhere, after which no job begins there.
const MOST_MISSED_ENTRIES: u32 = 2;
/// Failed loads of the URL in a row after which the crawl stops.
const MOST_FAILED_LOADS: u32 = 8;

/// The counts of a crawl.
#[derive(Default)]
pub(super) struct RetryCounts {
    failures: BTreeMap<Slot, u32>,
    losses: BTreeMap<Slot, u32>,
    exchanges: BTreeMap<Slot, u32>,
    logouts: BTreeMap<Slot, u32>,
    misses: BTreeMap<StateIndex, u32>,
    /// States that a reset or a walk has led back to.
    came_back: BTreeSet<StateIndex>,
    wrong_steps: BTreeMap<Slot, u32>,
    unreliable: BTreeSet<Slot>,
    missed_entries: BTreeMap<StateIndex, u32>,
    failed_loads: u32,
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K) -> u32 {
    let count = counts.entry(key).or_default();
    *count += 1;
    *count
}

impl RetryCounts {
    /// Counts a failure of a candidate. Says whether it is given up.
    pub(super) fn failed(&mut self, candidate: Slot) -> bool {
        count(&mut self.failures, candidate) >= MOST_FAILURES
    }

    /// Counts a crawler that was lost with a candidate. Says whether it is given up.
    pub(super) fn lost(&mut self, candidate: Slot) -> bool {
        count(&mut self.losses, candidate) >= MOST_LOSSES
    }

    /// Counts an exchanged tab. Says whether the candidate is given up.
    pub(super) fn exchanged(&mut self, candidate: Slot) -> bool {
        count(&mut self.exchanges, candidate) >= MOST_EXCHANGES
    }

    /// Counts a session that was over after a candidate. Says whether the candidate is given up.
    pub(super) fn logged_out(&mut self, candidate: Slot) -> bool {
        count(&mut self.logouts, candidate) >= MOST_LOGOUTS
    }

    /// Counts a job that did not reach a state. Returns how many did not, in a row.
    pub(super) fn missed(&mut self, state: StateIndex) -> u32 {
        count(&mut self.misses, state)
    }

    /// A state was reached: again, if the crawler did not stand there before.
    pub(super) fn reached(&mut self, state: StateIndex, again: bool) {
        self.misses.remove(&state);
        if again {
            self.came_back.insert(state);
        }
    }

    /// Whether a reset or a walk has led back to a state.
    pub(super) fn has_come_back(&self, state: StateIndex) -> bool {
        self.came_back.contains(&state)
    }

    /// Counts a failure or stray of a transition on a walk. Says whether it is unreliable.
    pub(super) fn went_wrong(&mut self, step: Slot) -> bool {
        let often = count(&mut self.wrong_steps, step) >= UNRELIABLE;
        if often {
            self.unreliable.insert(step);
        }
        often
    }

    /// Counts a load of an entry's address that led elsewhere. Says whether no job begins there any
    /// more.
    pub(super) fn missed_entry(&mut self, state: StateIndex) -> bool {
        count(&mut self.missed_entries, state) >= MOST_MISSED_ENTRIES
    }

    /// Counts a failed load. Says whether the crawl stops.
    pub(super) fn not_loaded(&mut self) -> bool {
        self.failed_loads += 1;
        self.failed_loads >= MOST_FAILED_LOADS
    }

    /// The URL was loaded, or no load failed.
    pub(super) fn loaded(&mut self) {
        self.failed_loads = 0;
    }

    /// The transitions to avoid.
    pub(super) fn unreliable(&self) -> &BTreeSet<Slot> {
        &self.unreliable
    }
}
