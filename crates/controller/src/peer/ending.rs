//! Detects termination with Misra's marker, which goes round the ring twice. A busy controller
//! keeps the marker until it is idle. The crawl has ended if, in the second round, no controller
//! has become busy since the first, and if the visited controllers are the whole ring: each owns
//! exactly the range between its predecessor and itself.

use argiope_ring::Key;

use super::Peer;
use super::message::{FinalCounts, InVain, Marker, PeerEffect, PeerMessage, PeerTimer, ToCrawler};

/// What a controller knows about termination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ending {
    /// How often it became busy, or its range changed.
    busy: u64,
    idle: bool,
    owned_after: Option<Key>,
    /// A marker that waits here, and its sender.
    waiting: Option<(Key, Marker)>,
    /// The marker under way that this controller started.
    sent: Option<u64>,
    /// The last marker met a ring with a gap: the next one waits for a stabilisation.
    rests: bool,
    /// The crawl has ended, with these counts.
    finished: Option<FinalCounts>,
    /// The controllers that the last marker visited, if it ended the crawl.
    members: Vec<Key>,
}

impl Peer {
    /// Whether it has no work and waits for nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.known.ownership.free() == 0
            && self.leases.is_empty()
            && !self.is_keeping()
            && !self.is_unsettled()
            && !self.waits_for_links()
            && !self.asks_elsewhere()
            && self.known.graph.initial().is_some()
    }

    /// Whether the crawl has ended.
    pub(super) fn is_finished(&self) -> bool {
        self.ending.finished.is_some()
    }

    /// How many tasks are under way.
    pub fn under_way(&self) -> usize {
        self.leases.len()
    }

    /// A claimed candidate without a lease, which no crawler would ever get. For checkers.
    pub fn leaked(&self) -> Option<String> {
        if self.is_keeping() {
            return None;
        }
        let leased: std::collections::BTreeSet<_> =
            self.leases.values().map(|lease| lease.slot).collect();
        let leaked = self.known.claimed_own().find(|slot| !leased.contains(slot))?;
        Some(format!(
            "{:?} of {:?}: {:?} is claimed without a lease",
            leaked,
            self.me,
            self.known.graph.step(leaked)
        ))
    }

    fn leads(&self) -> bool {
        self.member.is_inside() && self.successor().is_none_or(|next| next < self.me)
    }

    pub(super) fn check_termination(&mut self) {
        if self.is_finished() {
            return;
        }
        let idle = self.is_idle();
        if (self.ending.idle && !idle) || self.ending.owned_after != self.ranges.after {
            self.ending.busy += 1;
        }
        self.ending.idle = idle;
        self.ending.owned_after = self.ranges.after;
        if !idle {
            return;
        }
        if let Some((from, marker)) = self.ending.waiting.take() {
            self.pass_marker(from, marker);
        } else if self.leads() && self.ending.sent.is_none() && !self.ending.rests {
            self.send_marker();
        }
    }

    /// Allows another marker after a stabilisation.
    pub(super) fn marker_may_go(&mut self) {
        self.ending.rests = false;
    }

    fn send_marker(&mut self) {
        let number = self.number();
        let seen = vec![(self.me, self.ending.busy)];
        let counts = FinalCounts::default();
        let marker = Marker { leader: self.me, number, seen, again: 0, counts, in_vain: None };
        self.ending.sent = Some(number);
        self.wake(PeerTimer::Marker, self.settings.times.round);
        match self.successor() {
            Some(next) => self.send(next, PeerMessage::Marker(marker)),
            None if self.is_alone() => self.finish_all(vec![self.me], self.own_counts()),
            // It has lost its successors, and will find others.
            None => self.rest(),
        }
    }

    /// The marker did not come back: a controller that held it failed, or is busy.
    pub(super) fn marker_overdue(&mut self) {
        if self.is_finished() || self.ending.sent.is_none() {
            return;
        }
        (self.ending.sent, self.ending.rests) = (None, false);
        self.check_termination();
        if self.ending.sent.is_none() {
            // Busy now; when it is idle again it sends the next one.
            self.ending.waiting = None;
        }
    }

    pub(super) fn on_marker(&mut self, from: Key, marker: Marker) {
        if let Some(counts) = self.ending.finished {
            // The leader has not learned of the end.
            self.send(marker.leader, PeerMessage::Finish(self.me, counts));
            return;
        }
        if marker.leader == self.me && self.ending.sent != Some(marker.number) {
            return; // An old one.
        }
        self.ending.waiting = Some((from, marker));
    }

    fn pass_marker(&mut self, from: Key, mut marker: Marker) {
        let here = (self.me, self.ending.busy);
        // Otherwise a controller between the two was not visited, or the range between has no
        // owner.
        let complete = self.ranges.after == Some(from);
        if marker.leader == self.me {
            let in_vain = marker.in_vain.or((!complete).then_some(InVain::NotWhole));
            let same = in_vain.is_none() && marker.seen.first() == Some(&here);
            if in_vain == Some(InVain::NotWhole) {
                return self.rest();
            } else if same && marker.again == marker.seen.len() {
                let members = marker.seen.into_iter().map(|(key, _)| key).collect();
                return self.finish_all(members, marker.counts);
            } else if !same || marker.again > 0 {
                return self.send_marker();
            }
            // The first round is over. The second one compares, and counts.
            marker.again = 1;
            marker.counts = self.own_counts();
        } else if !complete {
            return self.give_back(marker, InVain::NotWhole);
        } else if marker.again == 0 {
            marker.seen.push(here);
        } else if marker.seen.get(marker.again) == Some(&here) {
            let FinalCounts { states, transitions } = self.own_counts();
            marker.again += 1;
            let counts = &mut marker.counts;
            counts.states = counts.states.saturating_add(states);
            counts.transitions = counts.transitions.saturating_add(transitions);
        } else {
            return self.give_back(marker, InVain::Busy);
        }
        match self.successor() {
            Some(next) => self.send(next, PeerMessage::Marker(marker)),
            None => self.give_back(marker, InVain::NotWhole),
        }
    }

    /// The ring has a gap: another marker is useless before a stabilisation.
    fn rest(&mut self) {
        (self.ending.sent, self.ending.rests) = (None, true);
    }

    /// Returns a marker that failed to its leader, which need not wait for the timeout.
    fn give_back(&mut self, marker: Marker, why: InVain) {
        let marker = Marker { in_vain: Some(why), ..marker };
        self.send(marker.leader, PeerMessage::Marker(marker));
    }

    /// The controllers of the ring at the end, if this controller detected it. Together they know
    /// the whole crawl.
    pub fn finishers(&self) -> &[Key] {
        &self.ending.members
    }

    /// The counts of the states that it owns.
    fn own_counts(&self) -> FinalCounts {
        FinalCounts {
            states: self.known.ownership().own_states() as u64,
            transitions: self.known.executed_own().count() as u64,
        }
    }

    fn finish_all(&mut self, members: Vec<Key>, counts: FinalCounts) {
        self.ending.members = members;
        self.on_finish(self.me, counts);
    }

    /// Ends the crawl here and tells the successor.
    pub(super) fn on_finish(&mut self, leader: Key, counts: FinalCounts) {
        if self.ending.finished.replace(counts).is_some() {
            return;
        }
        self.out.push(PeerEffect::Finished(counts));
        for crawler in std::mem::take(&mut self.parked).into_keys() {
            self.out.push(PeerEffect::Tell(crawler, ToCrawler::Finished));
        }
        if let Some(next) = self.successor() {
            self.send(next, PeerMessage::Finish(leader, counts));
        }
    }
}

/// What a controller waits for, to explain why a crawl does not end.
impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:02x}: owns {} states, free {}, leases {}, parked {}, {}, {}, marker here {}, sent {}, \
             busy {}, after {:?}, predecessor {:?}, successors {:?}",
            self.me.0 >> 120,
            self.known.ownership.own_states(),
            self.known.ownership.free(),
            self.leases.len(),
            self.parked.len(),
            if self.is_keeping() { "keeping" } else { "kept" },
            if self.is_unsettled() { "unsettled" } else { "settled" },
            self.ending.waiting.is_some(),
            self.ending.sent.is_some(),
            self.ending.busy,
            self.ranges.after.map(|key| key.0 >> 120),
            self.member.predecessor().map(|key| key.0 >> 120),
            self.member.successors().iter().map(|key| key.0 >> 120).collect::<Vec<_>>(),
        )?;
        let open = self.known.ownership.own().filter(|&(_, state)| self.known.free_in(state) > 0);
        open.take(5).try_for_each(|(key, state)| {
            let known = if self.known.graph.is_full(key) { "known" } else { "awaited" };
            let steps = self.known.graph.at(state).route.as_ref().map(|route| route.len());
            write!(f, "; {key:?} is {known}, route {steps:?}, free {}", self.known.free_in(state))
        })
    }
}
