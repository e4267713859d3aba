//! How a controller takes part in a crawl: it joins the crawl's ring, resumes a crawl that no
//! controller executes, or learns that the crawl is over.
//!
//! Controllers say in their heartbeats how they stand. The driver passes on what the connected
//! controllers say, and carries out what the [`Lifecycle`] decides. The rules, the first that
//! applies:
//!
//! 1. One controller says that the crawl is over: it is over here too.
//! 2. One controller is inside the crawl's ring: join through it.
//! 3. Controllers restarted with facts, and no ring is left: the one with the lowest key gathers
//!    the facts of the others and resumes alone. The others then join it.

use std::collections::{BTreeMap, BTreeSet};

use argiope_ring::Key;
use serde::{Deserialize, Serialize};

use crate::journal::Fact;

/// How a controller stands in a crawl, as its heartbeat says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Standing {
    /// It is outside the ring and has never been inside.
    #[default]
    Newcomer,
    /// It restarted and is outside the ring. Its disk may hold facts.
    Restarted,
    /// It is a member of the crawl's ring, or coordinates its star.
    Inside,
    /// It knows that the crawl is over.
    Finished,
}

/// What a controller is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleStep {
    /// Join the crawl's ring through this member, with the facts that it has kept.
    Join(Key),
    /// Send the facts that it has kept to this controller, which will resume the crawl.
    SendFacts(Key),
    /// Resume the crawl with the facts that were gathered, as a ring of one.
    Resume,
    /// The crawl is over.
    Finish,
}

/// Decides how one controller takes part in one crawl.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lifecycle {
    me: Key,
    standing: Standing,
    /// The facts that it has kept, and those that others have sent: until it is inside.
    facts: Vec<Fact>,
    /// The controllers that have sent all of theirs.
    have_sent: BTreeSet<Key>,
    /// The controller to which it has sent its facts.
    sent_to: Option<Key>,
    /// The member through which it joins.
    joins_through: Option<Key>,
    /// When it started, or last heard of a controller inside the ring. In microseconds.
    ring_seen: u64,
    /// How long it looks for a ring before it resumes the crawl without one.
    discovery: u64,
}

impl Lifecycle {
    /// Of a controller that founds the crawl's ring.
    pub fn founder(me: Key) -> Self {
        Self { standing: Standing::Inside, ..Self::newcomer(me) }
    }

    /// Of a controller that hears of the crawl for the first time.
    pub fn newcomer(me: Key) -> Self {
        Self {
            me,
            standing: Standing::Newcomer,
            facts: Vec::new(),
            have_sent: BTreeSet::new(),
            sent_to: None,
            joins_through: None,
            ring_seen: 0,
            discovery: 0,
        }
    }

    /// Of a controller that restarts at `now` with the facts on its disk. It looks for a ring for
    /// the time `discovery`.
    pub fn restarted(me: Key, facts: Vec<Fact>, now: u64, discovery: u64) -> Self {
        let standing = Standing::Restarted;
        Self { standing, facts, ring_seen: now, discovery, ..Self::newcomer(me) }
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// The facts that it has kept, until it is inside.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Whether it has to decide how it takes part.
    pub fn is_outside(&self) -> bool {
        matches!(self.standing, Standing::Newcomer | Standing::Restarted)
    }

    /// It has entered the ring.
    pub fn on_entered(&mut self) {
        if self.is_outside() {
            *self = Self::founder(self.me);
        }
    }

    /// It knows that the crawl is over.
    pub fn on_finished(&mut self) {
        *self = Self { standing: Standing::Finished, ..Self::newcomer(self.me) };
    }

    /// A connection is gone, and with it perhaps facts that were under way.
    pub fn on_disconnected(&mut self, other: Key) {
        self.have_sent.remove(&other);
        if self.sent_to == Some(other) {
            self.sent_to = None;
        }
    }

    /// Another controller sends facts, perhaps the last ones.
    pub fn on_facts(&mut self, from: Key, facts: Vec<Fact>, is_last: bool) {
        if self.standing == Standing::Restarted {
            self.facts.extend(facts);
            if is_last {
                self.have_sent.insert(from);
            }
        }
    }

    /// Decides what to do, given how the connected controllers stand.
    pub fn decide(&mut self, now: u64, others: &BTreeMap<Key, Standing>) -> Option<LifecycleStep> {
        if self.standing == Standing::Finished {
            return None;
        }
        if others.values().any(|&other| other == Standing::Finished) {
            return Some(LifecycleStep::Finish);
        }
        if !self.is_outside() {
            return None;
        }
        let inside = |key: &Key| others.get(key) == Some(&Standing::Inside);
        if let Some(&member) = others.keys().find(|key| inside(key)) {
            self.ring_seen = now;
            // The member that it asked keeps trying. Only if it is gone is another one asked.
            if self.joins_through.as_ref().is_some_and(inside) {
                return None;
            }
            self.joins_through = Some(member);
            return Some(LifecycleStep::Join(member));
        }
        self.joins_through = None;
        self.without_ring(now, others)
    }

    /// No controller is inside a ring.
    fn without_ring(
        &mut self,
        now: u64,
        others: &BTreeMap<Key, Standing>,
    ) -> Option<LifecycleStep> {
        if self.standing == Standing::Newcomer {
            return None; // A controller that kept facts will resume.
        }
        let restarted =
            |(key, standing): (&Key, &Standing)| (*standing == Standing::Restarted).then_some(*key);
        let restarted: BTreeSet<Key> = others.iter().filter_map(restarted).collect();
        if let Some(&lowest) = restarted.first().filter(|&&lowest| lowest < self.me) {
            let is_new = self.sent_to.replace(lowest) != Some(lowest);
            return is_new.then_some(LifecycleStep::SendFacts(lowest));
        }
        let has_waited = now.saturating_sub(self.ring_seen) > self.discovery;
        if !has_waited || !restarted.is_subset(&self.have_sent) {
            return None;
        }
        self.standing = Standing::Inside;
        Some(LifecycleStep::Resume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Key = Key(5);
    const LOW: Key = Key(1);
    const HIGH: Key = Key(9);
    const DISCOVERY: u64 = 3_000_000;

    fn restarted() -> Lifecycle {
        Lifecycle::restarted(ME, Vec::new(), 0, DISCOVERY)
    }

    fn decide(
        lifecycle: &mut Lifecycle,
        now: u64,
        others: &[(Key, Standing)],
    ) -> Option<LifecycleStep> {
        lifecycle.decide(now, &others.iter().copied().collect())
    }

    #[test]
    fn a_controller_that_returns_after_the_end_does_not_crawl_again() {
        let mut lifecycle = restarted();
        let over = [(LOW, Standing::Restarted), (HIGH, Standing::Finished)];
        assert_eq!(decide(&mut lifecycle, 1, &over), Some(LifecycleStep::Finish));
        lifecycle.on_finished();
        assert_eq!(decide(&mut lifecycle, 2 * DISCOVERY, &[]), None);
    }

    #[test]
    fn a_member_that_missed_the_end_learns_of_it() {
        let mut lifecycle = Lifecycle::founder(ME);
        let over = [(LOW, Standing::Finished)];
        assert_eq!(decide(&mut lifecycle, 1, &over), Some(LifecycleStep::Finish));
    }

    #[test]
    fn a_controller_joins_through_another_member_once_the_first_is_gone() {
        let mut lifecycle = restarted();
        let both = [(LOW, Standing::Inside), (HIGH, Standing::Inside)];
        assert_eq!(decide(&mut lifecycle, 1, &both), Some(LifecycleStep::Join(LOW)));
        assert_eq!(decide(&mut lifecycle, 2, &both), None);
        assert_eq!(decide(&mut lifecycle, 3, &both[1..]), Some(LifecycleStep::Join(HIGH)));
    }

    #[test]
    fn a_controller_that_joins_a_ring_that_dies_resumes_the_crawl() {
        let mut lifecycle = restarted();
        let ring = [(LOW, Standing::Inside)];
        assert_eq!(decide(&mut lifecycle, DISCOVERY, &ring), Some(LifecycleStep::Join(LOW)));
        assert_eq!(decide(&mut lifecycle, 2 * DISCOVERY, &[]), None);
        assert_eq!(decide(&mut lifecycle, 2 * DISCOVERY + 1, &[]), Some(LifecycleStep::Resume));
        assert_eq!(lifecycle.standing(), Standing::Inside);
    }

    #[test]
    fn the_lowest_of_several_resumes_with_the_facts_of_all() {
        let mut lowest = restarted();
        let other = [(HIGH, Standing::Restarted)];
        assert_eq!(decide(&mut lowest, 2 * DISCOVERY, &other), None);
        lowest.on_facts(HIGH, Vec::new(), true);
        assert_eq!(decide(&mut lowest, 2 * DISCOVERY, &other), Some(LifecycleStep::Resume));

        let mut higher = restarted();
        let other = [(LOW, Standing::Restarted)];
        assert_eq!(decide(&mut higher, 1, &other), Some(LifecycleStep::SendFacts(LOW)));
        assert_eq!(decide(&mut higher, 2 * DISCOVERY, &other), None);
    }

    #[test]
    fn a_newcomer_never_resumes_a_crawl() {
        let mut lifecycle = Lifecycle::newcomer(ME);
        assert_eq!(decide(&mut lifecycle, u64::MAX, &[(LOW, Standing::Restarted)]), None);
        assert_eq!(
            decide(&mut lifecycle, u64::MAX, &[(LOW, Standing::Inside)]),
            Some(LifecycleStep::Join(LOW))
        );
    }
}
