//! Which actions may have ended the application, if it can no longer be loaded: those that were
//! executed after the last load that went right.

use std::collections::BTreeMap;

use argiope_explore::graph::Slot;

use crate::job::CrawlerId;

/// What was executed and is not followed by a load yet.
#[derive(Default)]
pub(super) struct Suspects {
    /// How many jobs were finished.
    finished: u64,
    /// How many of them were finished before a load that went right.
    proven: u64,
    /// The last action of each crawler, with its number in the order of their ends.
    last: BTreeMap<CrawlerId, (u64, Slot)>,
    /// Dangerous actions that the crawl was told to perform.
    dangerous: Vec<(u64, Slot)>,
}

impl Suspects {
    /// How many jobs were finished so far.
    pub(super) fn finished(&self) -> u64 {
        self.finished
    }

    /// A crawler has executed an action, or tried to.
    pub(super) fn executed(&mut self, crawler: CrawlerId, slot: Slot, is_dangerous: bool) {
        self.finished += 1;
        self.last.insert(crawler, (self.finished, slot));
        if is_dangerous {
            self.dangerous.push((self.finished, slot));
        }
    }

    /// A load went right that began after this many jobs: what was executed before is innocent.
    pub(super) fn loaded(&mut self, since: u64) {
        self.proven = self.proven.max(since);
        self.last.retain(|_, (number, _)| *number > since);
        self.dangerous.retain(|(number, _)| *number > since);
    }

    /// The actions that may have ended the application: the dangerous ones if there are any,
    /// otherwise the last one of each crawler. Also whether it is certain that these did it.
    pub(super) fn named(&self) -> (Vec<Slot>, bool) {
        let is_certain = !self.dangerous.is_empty() || self.finished == self.proven + 1;
        let mut slots: Vec<Slot> = if self.dangerous.is_empty() {
            self.last.values().map(|(_, slot)| *slot).collect()
        } else {
            self.dangerous.iter().map(|(_, slot)| *slot).collect()
        };
        slots.sort_unstable();
        slots.dedup();
        (slots, is_certain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_explore::id::StateIndex;

    #[test]
    fn a_load_clears_what_was_executed_before_it_began() {
        let slot = |index| Slot { state: StateIndex(0), index };
        let mut suspects = Suspects::default();
        suspects.executed(CrawlerId(1), slot(1), false);
        let since = suspects.finished();
        suspects.executed(CrawlerId(2), slot(2), false);
        suspects.loaded(since);
        assert_eq!(suspects.named(), (vec![slot(2)], true), "the load may have begun before it");
        suspects.executed(CrawlerId(2), slot(5), false);
        assert_eq!(suspects.named(), (vec![slot(5)], false), "the last one, or the one before");
        suspects.executed(CrawlerId(1), slot(3), true);
        suspects.executed(CrawlerId(1), slot(4), false);
        assert_eq!(suspects.named(), (vec![slot(3)], true), "the dangerous one alone");
        suspects.loaded(suspects.finished());
        assert_eq!(suspects.named(), (vec![], false));
    }
}
