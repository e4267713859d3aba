//! What went wrong so far, counted, so that nothing is tried without end. Every outcome either settles
//! a candidate or raises a count here that has a limit, and a count goes back to zero only when a
//! candidate's state was reached, which settles the candidate or raises another count. So a crawl of
//! finitely many states ends whatever its crawlers say.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::StateIndex;

/// A candidate that failed so often is given up. Whoever failed is replaced, so it failed on different
/// tabs.
const MOST_FAILURES: u32 = 2;
/// A candidate whose crawler was lost so often is given up: it may be what kills the browser.
const MOST_LOSSES: u32 = 5;
/// A candidate for which so many tabs were exchanged is given up. Each tab is exchanged once, so there would have to be as
/// many.
const MOST_EXCHANGES: u32 = 100;
/// A state that so many jobs in a row did not reach is given up.
const MOST_MISSES: u32 = 8;
/// A transition that failed or led elsewhere so often is avoided where there is another way.
const UNRELIABLE: u32 = 2;
/// If the URL could not be loaded so often in a row, the crawl stops.
const MOST_FAILED_LOADS: u32 = 8;

/// Counts.
#[derive(Default)]
pub(super) struct RetryCounts {
    failures: BTreeMap<Slot, u32>,
    losses: BTreeMap<Slot, u32>,
    exchanges: BTreeMap<Slot, u32>,
    misses: BTreeMap<StateIndex, u32>,
    wrong_steps: BTreeMap<Slot, u32>,
    unreliable: BTreeSet<Slot>,
    failed_loads: u32,
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K) -> u32 {
    let count = counts.entry(key).or_default();
    *count += 1;
    *count
}

impl RetryCounts {
    /// A candidate failed; whether that is enough.
    pub(super) fn failed(&mut self, candidate: Slot) -> bool {
        count(&mut self.failures, candidate) >= MOST_FAILURES
    }

    /// A crawler was lost on a candidate; whether that is enough.
    pub(super) fn lost(&mut self, candidate: Slot) -> bool {
        count(&mut self.losses, candidate) >= MOST_LOSSES
    }

    /// A tab has to be exchanged; whether that was too often.
    pub(super) fn exchanged(&mut self, candidate: Slot) -> bool {
        count(&mut self.exchanges, candidate) >= MOST_EXCHANGES
    }

    /// A state was not reached; whether that is enough.
    pub(super) fn missed(&mut self, state: StateIndex) -> bool {
        count(&mut self.misses, state) >= MOST_MISSES
    }

    /// A state was reached.
    pub(super) fn reached(&mut self, state: StateIndex) {
        self.misses.remove(&state);
    }

    /// A transition on the way failed or led elsewhere; whether it has done so often.
    pub(super) fn went_wrong(&mut self, step: Slot) -> bool {
        let often = count(&mut self.wrong_steps, step) >= UNRELIABLE;
        if often {
            self.unreliable.insert(step);
        }
        often
    }

    /// The URL could not be loaded; whether that is enough.
    pub(super) fn not_loaded(&mut self) -> bool {
        self.failed_loads += 1;
        self.failed_loads >= MOST_FAILED_LOADS
    }

    /// The URL could be loaded, or at least nothing says otherwise.
    pub(super) fn loaded(&mut self) {
        self.failed_loads = 0;
    }

    /// The transitions to avoid.
    pub(super) fn unreliable(&self) -> &BTreeSet<Slot> {
        &self.unreliable
    }
}
