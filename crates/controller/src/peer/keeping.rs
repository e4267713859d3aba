//! Keeps facts on the replicas, and repeats messages until their receiver acknowledges them.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::Key;

use super::Peer;
use super::message::{Done, PeerEffect, PeerMessage, PeerTimer};
use super::ranges::Handover;
use super::replicas::route_of;
use super::settings::Recovery;
use crate::job::Route;
use crate::journal::Fact;
use crate::outcome::JobFailure;

/// Replication under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Keeping {
    /// The controllers that hold replicas of all own states.
    pub(super) copies_on: Vec<Key>,
    /// Messages that are not acknowledged yet.
    owed: BTreeMap<u64, Owed>,
    /// What waits until all replicas have acknowledged, by the numbers of the messages.
    waiting: BTreeMap<u64, (BTreeSet<u64>, Then)>,
    /// The time until a replica acknowledges, in microseconds: recently, and at best.
    delay: u64,
    least_delay: u64,
    /// Members that failed.
    pub(super) gone: u64,
    /// States that were taken over from other controllers: they have no replicas yet.
    pub(super) taken_over: Vec<StateKey>,
    /// The messages that bring replicas of acknowledged facts to a new holder.
    restoring: BTreeSet<u64>,
    /// Facts for the next periodic copy.
    gathered: Vec<Fact>,
    copying: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owed {
    /// A member, or the owner of a state.
    to: To,
    message: PeerMessage,
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum To {
    Member(Key),
    Owner(StateKey),
}

/// What to do once facts are kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    Acknowledge(Option<Done>),
    Executed(Done),
    GivenUp(StateKey, ActionSignature, JobFailure),
    /// Acknowledge the message of this number to a member.
    Confirm(Key, u64),
    Leave,
}

/// A controller is overloaded if replicas take this many times as long as at best.
const OVERLOADED: u64 = 4;
/// The longest wait between repetitions of a claim, in waits for the first repetition.
const LONGEST_CLAIM: u64 = 16;
/// The shortest and the longest time between two periodic copies, in microseconds.
const PERIODS: std::ops::RangeInclusive<u64> = 1_000..=600_000_000;

/// The time between two copies that costs the least (equation 6.6: 2 sqrt(c / lambda)), from the
/// delay of a message and the failure rate of a controller.
fn best_period(delay: u64, failure_rate: f64) -> u64 {
    let period = 2.0 * (delay.max(1) as f64 / failure_rate).sqrt();
    (period as u64).clamp(*PERIODS.start(), *PERIODS.end())
}

impl Peer {
    /// The controllers that should hold replicas.
    pub(super) fn backups(&self) -> Vec<Key> {
        let many = match self.settings.recovery {
            Recovery::Retry => 0,
            Recovery::Redundancy | Recovery::Combined { .. } | Recovery::Adaptive => {
                self.settings.backups
            }
        };
        self.member.successors().iter().copied().take(many).collect()
    }

    /// Whether a message or a replica is not acknowledged yet.
    pub(super) fn is_keeping(&self) -> bool {
        !self.keeping.owed.is_empty() || !self.keeping.waiting.is_empty()
    }

    /// How many live controllers hold replicas of every acknowledged fact of its range. None, while
    /// the range may change or is not reconciled: then the loss of one more may repeat work.
    pub fn replicas(&self, is_up: impl Fn(Key) -> bool) -> usize {
        let is_moving = |owed: &Owed| match &owed.message {
            PeerMessage::HandOff { .. } | PeerMessage::Bequest { .. } => true,
            PeerMessage::Exists { facts, .. } => !facts.is_empty(),
            _ => false,
        };
        let may_change = self.is_unsettled()
            || self.known.ownership.unreconciled.is_some()
            || !self.keeping.taken_over.is_empty()
            || self.range_start().is_some_and(|before| before != self.me && !is_up(before))
            || self.keeping.owed.values().any(is_moving);
        if may_change {
            return 0;
        }
        let is_restoring = |holder: Key| {
            let mut restoring = self.keeping.restoring.iter();
            restoring.any(|number| {
                self.keeping.owed.get(number).is_some_and(|owed| owed.to == To::Member(holder))
            })
        };
        let holders = self.keeping.copies_on.iter().copied();
        holders.filter(|&holder| is_up(holder) && !is_restoring(holder)).count()
    }

    /// Keeps facts here and on the replicas, then goes on.
    pub(super) fn keep(&mut self, facts: Vec<Fact>, then: Then) {
        self.out.extend(facts.iter().cloned().map(PeerEffect::Keep));
        let at_once = match self.settings.recovery {
            Recovery::Redundancy => true,
            Recovery::Adaptive => !self.is_overloaded(),
            Recovery::Retry | Recovery::Combined { .. } => false,
        };
        if self.keeping.copies_on.is_empty() {
            self.then(then);
        } else if at_once {
            self.copy(&facts, Some(then));
        } else {
            self.keeping.gathered.extend(facts);
            if !std::mem::replace(&mut self.keeping.copying, true) {
                self.wake(PeerTimer::Copies, self.copy_period());
            }
            self.then(then);
        }
    }

    /// The time between two periodic copies.
    fn copy_period(&self) -> u64 {
        match self.settings.recovery {
            Recovery::Combined { period: Some(period) } => period,
            Recovery::Retry
            | Recovery::Redundancy
            | Recovery::Combined { period: None }
            | Recovery::Adaptive => best_period(self.keeping.delay / 2, self.failure_rate()),
        }
    }

    /// Failures of a controller per microsecond: those of its successors so far, and half a failure
    /// more, because none may have failed yet.
    fn failure_rate(&self) -> f64 {
        let watched = self.member.successors().len().max(1) as f64;
        (self.keeping.gone as f64 + 0.5) / (watched * self.now.max(1) as f64)
    }

    /// Whether messages queue up, so that copies should be gathered.
    fn is_overloaded(&self) -> bool {
        self.keeping.delay > OVERLOADED * self.keeping.least_delay.max(1)
    }

    fn measure_delay(&mut self, took: u64) {
        let keeping = &mut self.keeping;
        keeping.least_delay =
            if keeping.least_delay == 0 { took } else { keeping.least_delay.min(took) };
        keeping.delay = if keeping.delay == 0 { took } else { (7 * keeping.delay + took) / 8 };
    }

    /// Copies the gathered facts.
    pub(super) fn copy_now(&mut self) {
        self.keeping.copying = false;
        let facts = std::mem::take(&mut self.keeping.gathered);
        if !facts.is_empty() {
            self.copy(&facts, None);
        }
    }

    pub(super) fn copy(&mut self, facts: &[Fact], then: Option<Then>) {
        let numbers = self.owe_copies(facts);
        match then {
            Some(then) if numbers.is_empty() => self.then(then),
            Some(then) => {
                let number = self.number();
                self.keeping.waiting.insert(number, (numbers, then));
            }
            None => {}
        }
    }

    /// Sends all own facts to new replica holders, and the facts about states that were taken over
    /// to all of them.
    pub(super) fn look_at_backups(&mut self) {
        let taken_over = std::mem::take(&mut self.keeping.taken_over);
        if !taken_over.is_empty() && !self.keeping.copies_on.is_empty() {
            let states = taken_over.iter().filter_map(|&key| self.known.graph.find(key));
            let facts: Vec<Fact> = states.flat_map(|state| self.known.facts(state)).collect();
            let numbers = self.owe_copies(&facts);
            self.keeping.restoring.extend(numbers);
        }
        let wanted = self.backups();
        if wanted == self.keeping.copies_on {
            return;
        }
        let before = std::mem::replace(&mut self.keeping.copies_on, wanted.clone());
        let facts = self.known.own_facts();
        for &to in wanted.iter().filter(|key| !before.contains(key)) {
            if !facts.is_empty() {
                let number = self.owe_copy(to, facts.clone());
                self.keeping.restoring.insert(number);
            }
            self.copy_waiting(to);
        }
        // Only now: what waits for a failed holder waits for its successor instead.
        for &gone in before.iter().filter(|key| !wanted.contains(key)) {
            self.owe_nothing(gone, |message| matches!(message, PeerMessage::Replicate(..)));
        }
    }

    fn owe_copies(&mut self, facts: &[Fact]) -> BTreeSet<u64> {
        let holders = self.keeping.copies_on.clone().into_iter();
        holders.map(|to| self.owe_copy(to, facts.to_vec())).collect()
    }

    fn owe_copy(&mut self, to: Key, facts: Vec<Fact>) -> u64 {
        self.owe(To::Member(to), |number| PeerMessage::Replicate(number, facts))
    }

    /// Facts that wait for their replicas are not known yet; they wait for one more replica.
    fn copy_waiting(&mut self, to: Key) {
        let copied = |number: &u64| match &self.keeping.owed.get(number)?.message {
            PeerMessage::Replicate(_, facts) => Some(facts.clone()),
            _ => None,
        };
        let waiting = self.keeping.waiting.iter();
        let waiting =
            waiting.filter_map(|(&group, (numbers, _))| Some((group, copied(numbers.first()?)?)));
        for (group, facts) in waiting.collect::<Vec<_>>() {
            let number = self.owe_copy(to, facts);
            if let Some((numbers, _)) = self.keeping.waiting.get_mut(&group) {
                numbers.insert(number);
            }
        }
    }

    /// Hands the range after a place over to another controller.
    pub(super) fn hand_over(&mut self, to: Key, after: Key, given: Handover) {
        let Handover { settled, facts, awaited, links } = given;
        let plain = self.known.graph.plain().iter().copied().collect();
        let message = |number| PeerMessage::HandOff { number, after, settled, facts, links, plain };
        self.owe(To::Member(to), message);
        self.announce(awaited);
    }

    /// Hands everything over to another controller, then leaves.
    pub(super) fn bequeath(&mut self, heir: Key, given: Handover) {
        let Handover { facts, awaited, links, .. } = given;
        let plain = self.known.graph.plain().iter().copied().collect();
        let message = |number| PeerMessage::Bequest { number, facts, links, plain };
        let number = self.owe(To::Member(heir), message);
        let group = self.number();
        self.keeping.waiting.insert(group, (BTreeSet::from([number]), Then::Leave));
        self.announce(awaited);
    }

    /// Tells the owner of a state that the state exists.
    pub(super) fn owe_existence(&mut self, state: StateKey, route: Route) {
        let asker = self.me;
        let facts = Vec::new();
        self.owe_owner(state, |number| PeerMessage::Exists { number, asker, state, route, facts });
    }

    /// Passes on the facts about a state to its owner.
    pub(super) fn pass_on(&mut self, facts: &[Fact]) {
        let Some(state) = facts.first().and_then(Fact::state) else { return };
        let (asker, facts) = (self.me, facts.to_vec());
        let route = route_of(&facts);
        let message = |number| PeerMessage::Exists { number, asker, state, route, facts };
        self.owe_owner(state, message);
    }

    /// Sends a message to the owner of a state until it is acknowledged.
    pub(super) fn owe_owner(&mut self, state: StateKey, message: impl FnOnce(u64) -> PeerMessage) {
        self.owe(To::Owner(state), message);
    }

    /// Sends a message until it is acknowledged.
    fn owe(&mut self, to: To, message: impl FnOnce(u64) -> PeerMessage) -> u64 {
        let number = self.number();
        self.keeping.owed.insert(number, Owed { to, message: message(number), since: self.now });
        self.resend(number);
        number
    }

    pub(super) fn resend(&mut self, number: u64) {
        let Some(Owed { to, message, since }) = self.keeping.owed.get(&number).cloned() else {
            return;
        };
        let is_claim = matches!(message, PeerMessage::Claim { .. });
        match to {
            To::Member(to) => self.send(to, message),
            To::Owner(state) => self.send_to_owner(state, None, message),
        }
        // Back off: more messages do not help a slow receiver.
        let resend = self.settings.times.resend;
        let wait = resend.max(self.now - since);
        // A claim may wait for long, and its home may fail meanwhile.
        let wait = if is_claim { wait.min(LONGEST_CLAIM * resend) } else { wait };
        self.wake(PeerTimer::Resend(number), wait);
    }

    /// A message was acknowledged, or its receiver has failed. Says whether it was awaited.
    pub(super) fn taken(&mut self, number: u64) -> bool {
        let Some(owed) = self.keeping.owed.remove(&number) else { return false };
        self.keeping.restoring.remove(&number);
        if let PeerMessage::Replicate(..) = owed.message {
            self.measure_delay(self.now - owed.since);
        }
        let mut complete = Vec::new();
        for (&group, (numbers, _)) in &mut self.keeping.waiting {
            if numbers.remove(&number) && numbers.is_empty() {
                complete.push(group);
            }
        }
        for group in complete {
            if let Some((_, then)) = self.keeping.waiting.remove(&group) {
                self.then(then);
            }
        }
        true
    }

    fn then(&mut self, then: Then) {
        match then {
            Then::Acknowledge(done) => self.acknowledge(done),
            Then::Executed(done) => self.on_durable(done),
            Then::GivenUp(state, action, reason) => {
                if let Some(slot) = self.known.graph.slot(state, action) {
                    self.known.close(slot, reason);
                    if self.known.graph.at(slot.state).links.contains(&action) {
                        self.gave_up_link(state, action);
                    }
                }
            }
            Then::Confirm(member, number) => self.send(member, PeerMessage::Acknowledge(number)),
            Then::Leave => self.depart(),
        }
    }

    /// Sends the hand-over of a leaving controller to its new successor.
    pub(super) fn change_heir(&mut self, heir: Key) {
        let waiting = self.keeping.waiting.values().find(|(_, then)| *then == Then::Leave);
        let number = waiting.and_then(|(numbers, _)| numbers.first().copied());
        if let Some(number) = number
            && let Some(owed) = self.keeping.owed.get_mut(&number)
            && owed.to != To::Member(heir)
        {
            owed.to = To::Member(heir);
            self.resend(number);
        }
    }

    /// Some messages to a member need no acknowledgement any more.
    pub(super) fn owe_nothing(&mut self, gone: Key, what: impl Fn(&PeerMessage) -> bool) {
        let is_meant = |owed: &Owed| owed.to == To::Member(gone) && what(&owed.message);
        let owed = self.keeping.owed.iter().filter(|(_, owed)| is_meant(owed));
        let numbers: Vec<u64> = owed.map(|(&number, _)| number).collect();
        for number in numbers {
            self.taken(number);
        }
    }
}
