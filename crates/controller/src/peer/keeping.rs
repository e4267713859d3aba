//! What must not be lost: copies on other controllers, and messages that are repeated until they are taken in.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::Key;

use super::Peer;
use super::message::{Done, PeerEffect, PeerMessage, PeerTimer};
use super::ranges::Handover;
use super::settings::Recovery;
use crate::job::Route;
use crate::journal::Fact;
use crate::outcome::JobFailure;

/// What is under way to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Keeping {
    /// The controllers that have copies of all that is own.
    pub(super) copies_on: Vec<Key>,
    /// Messages that were not taken in yet.
    owed: BTreeMap<u64, Owed>,
    /// What waits until all copies of it are there.
    waiting: BTreeMap<u64, (BTreeSet<u64>, Then)>,
    /// How long it takes until a copy is confirmed, in microseconds: lately, and at best.
    delay: u64,
    least_delay: u64,
    /// Members that were found to be gone.
    gone: u64,
    /// States that came to be own otherwise than by being found: they have no copies yet.
    taken_over: Vec<StateKey>,
    /// What is to be copied the next time.
    gathered: Vec<Fact>,
    copying: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owed {
    /// To a member, or to whoever owns a state.
    to: To,
    message: PeerMessage,
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum To {
    Member(Key),
    Owner(StateKey),
}

/// What to do once something is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    Acknowledge(Option<Done>),
    Executed(Done),
    GivenUp(StateKey, ActionSignature, JobFailure),
    /// Tell this member that its message of this number was taken in.
    Confirm(Key, u64),
    Leave,
}

/// Copies that take so many times as long as at best have waited in a queue.
const OVERLOADED: u64 = 4;
/// A claim is repeated at least every so many times the time until the first repetition.
const LONGEST_CLAIM: u64 = 16;
/// What was found is copied at least so often and at most so often, in microseconds.
const PERIODS: std::ops::RangeInclusive<u64> = 1_000..=600_000_000;

/// The time between two copies that costs the least (equation 6.6: 2 sqrt(c / lambda)), from the delay of a message and
/// the rate at which a controller fails.
fn best_period(delay: u64, failure_rate: f64) -> u64 {
    let period = 2.0 * (delay.max(1) as f64 / failure_rate).sqrt();
    (period as u64).clamp(*PERIODS.start(), *PERIODS.end())
}

/// Facts, state by state: each group begins with a state.
pub(super) fn by_state(facts: &[Fact]) -> impl Iterator<Item = &[Fact]> {
    let same = |one: &Fact, next: &Fact| {
        one.state() == next.state() && !matches!(next, Fact::State { .. })
    };
    facts.chunk_by(same)
}

/// Where the actions of a state led, by the facts about it.
pub(super) fn executed(facts: &[Fact]) -> Vec<(ActionSignature, StateKey)> {
    let executed = facts.iter().filter_map(|fact| match fact {
        Fact::Transition { action, to, .. } => Some((*action, *to)),
        _ => None,
    });
    executed.collect()
}

/// The route to a state, by the facts about it.
pub(super) fn route_of(facts: &[Fact]) -> Route {
    let route = facts.iter().find_map(|fact| match fact {
        Fact::State { route, .. } => route.clone(),
        _ => None,
    });
    route.unwrap_or_default()
}

impl Peer {
    /// A member was found to be gone.
    pub(super) fn note_failure(&mut self) {
        self.keeping.gone += 1;
    }

    /// The controllers that should have copies.
    pub(super) fn backups(&self) -> Vec<Key> {
        let many = match self.settings.recovery {
            Recovery::Retry => 0,
            Recovery::Redundancy | Recovery::Combined { .. } | Recovery::Adaptive => {
                self.settings.backups
            }
        };
        self.member.successors().iter().copied().take(many).collect()
    }

    /// Whether something is not where it should be yet.
    pub(super) fn is_keeping(&self) -> bool {
        !self.keeping.owed.is_empty() || !self.keeping.waiting.is_empty()
    }

    /// Keeps facts here and on the replicas, then goes on.
    pub(super) fn keep(&mut self, facts: Vec<Fact>, then: Then, out: &mut Vec<PeerEffect>) {
        out.extend(facts.iter().cloned().map(PeerEffect::Keep));
        let at_once = match self.settings.recovery {
            Recovery::Redundancy => true,
            Recovery::Adaptive => !self.is_overloaded(),
            Recovery::Retry | Recovery::Combined { .. } => false,
        };
        if self.keeping.copies_on.is_empty() {
            self.then(then, out);
        } else if at_once {
            self.copy(&facts, Some(then), out);
        } else {
            self.keeping.gathered.extend(facts);
            if !std::mem::replace(&mut self.keeping.copying, true) {
                out.push(PeerEffect::Wake(PeerTimer::Copies, self.copy_period()));
            }
            self.then(then, out);
        }
    }

    /// How long it is between two copies.
    fn copy_period(&self) -> u64 {
        match self.settings.recovery {
            Recovery::Combined { period: Some(period) } => period,
            Recovery::Retry
            | Recovery::Redundancy
            | Recovery::Combined { period: None }
            | Recovery::Adaptive => best_period(self.keeping.delay / 2, self.failure_rate()),
        }
    }

    /// How often a controller fails, per microsecond: as often as those that it watches did, and half a time more,
    /// for none may have failed yet.
    fn failure_rate(&self) -> f64 {
        let watched = self.member.successors().len().max(1) as f64;
        (self.keeping.gone as f64 + 0.5) / (watched * self.now.max(1) as f64)
    }

    /// Whether messages wait so long that copies should not add to them.
    fn is_overloaded(&self) -> bool {
        self.keeping.delay > OVERLOADED * self.keeping.least_delay.max(1)
    }

    fn measure_delay(&mut self, took: u64) {
        let keeping = &mut self.keeping;
        keeping.least_delay =
            if keeping.least_delay == 0 { took } else { keeping.least_delay.min(took) };
        keeping.delay = if keeping.delay == 0 { took } else { (7 * keeping.delay + took) / 8 };
    }

    /// Copies what was gathered.
    pub(super) fn copy_now(&mut self, out: &mut Vec<PeerEffect>) {
        self.keeping.copying = false;
        let facts = std::mem::take(&mut self.keeping.gathered);
        if !facts.is_empty() {
            self.copy(&facts, None, out);
        }
    }

    pub(super) fn copy(&mut self, facts: &[Fact], then: Option<Then>, out: &mut Vec<PeerEffect>) {
        let mut numbers = BTreeSet::new();
        for to in self.keeping.copies_on.clone() {
            numbers.insert(self.owe(
                To::Member(to),
                |number| PeerMessage::Copy(number, facts.to_vec()),
                out,
            ));
        }
        match then {
            Some(then) if numbers.is_empty() => self.then(then, out),
            Some(then) => {
                let number = self.number();
                self.keeping.waiting.insert(number, (numbers, then));
            }
            None => {}
        }
    }

    /// A state that somebody else had has come to be own.
    pub(super) fn came_to_own(&mut self, key: StateKey) {
        self.keeping.taken_over.push(key);
    }

    /// Sends everything to controllers that should have copies and have none, and what was taken over to all.
    pub(super) fn look_at_backups(&mut self, out: &mut Vec<PeerEffect>) {
        let taken_over = std::mem::take(&mut self.keeping.taken_over);
        if !taken_over.is_empty() && !self.keeping.copies_on.is_empty() {
            let states = taken_over.iter().filter_map(|&key| self.atlas.find(key));
            let facts: Vec<Fact> = states.flat_map(|state| self.atlas.facts(state)).collect();
            self.copy(&facts, None, out);
        }
        let wanted = self.backups();
        if wanted == self.keeping.copies_on {
            return;
        }
        let before = std::mem::replace(&mut self.keeping.copies_on, wanted.clone());
        let facts = self.atlas.own_facts();
        for &to in wanted.iter().filter(|key| !before.contains(key)) {
            if !facts.is_empty() {
                self.owe(To::Member(to), |number| PeerMessage::Copy(number, facts.clone()), out);
            }
            self.copy_waiting(to, out);
        }
        // Not before: what waits for one that is gone waits for its successor.
        for &gone in before.iter().filter(|key| !wanted.contains(key)) {
            self.owe_nothing(gone, |message| matches!(message, PeerMessage::Copy(..)), out);
        }
    }

    /// What waits for its copies waits for one more: it is not among what is known yet.
    fn copy_waiting(&mut self, to: Key, out: &mut Vec<PeerEffect>) {
        let copied = |number: &u64| match &self.keeping.owed.get(number)?.message {
            PeerMessage::Copy(_, facts) => Some(facts.clone()),
            _ => None,
        };
        let waiting = self.keeping.waiting.iter();
        let waiting =
            waiting.filter_map(|(&group, (numbers, _))| Some((group, copied(numbers.first()?)?)));
        for (group, facts) in waiting.collect::<Vec<_>>() {
            let number = self.owe(To::Member(to), |number| PeerMessage::Copy(number, facts), out);
            if let Some((numbers, _)) = self.keeping.waiting.get_mut(&group) {
                numbers.insert(number);
            }
        }
    }

    /// Takes in facts that other controllers found, or that this one kept in an earlier life.
    pub(super) fn keep_copies(&mut self, facts: &[Fact]) {
        for group in by_state(facts) {
            for fact in group {
                self.atlas.learn(fact);
            }
            if let Some(Fact::State { key, .. }) = group.first()
                && self.atlas.initial().is_some()
            {
                self.own_or_not(*key);
            }
        }
    }

    /// Hands over to another controller what lies after a place.
    pub(super) fn hand_over(
        &mut self,
        to: Key,
        after: Key,
        given: Handover,
        out: &mut Vec<PeerEffect>,
    ) {
        let Handover { settled, facts, awaited, links } = given;
        let plain = self.atlas.plain().iter().copied().collect();
        let message = |number| PeerMessage::HandOff { number, after, settled, facts, links, plain };
        self.owe(To::Member(to), message, out);
        self.owe_existences(awaited, out);
    }

    /// Leaves everything to another controller; then is gone.
    pub(super) fn bequeath(&mut self, heir: Key, given: Handover, out: &mut Vec<PeerEffect>) {
        let Handover { facts, awaited, links, .. } = given;
        let plain = self.atlas.plain().iter().copied().collect();
        let message = |number| PeerMessage::Bequest { number, facts, links, plain };
        let number = self.owe(To::Member(heir), message, out);
        let group = self.number();
        self.keeping.waiting.insert(group, (BTreeSet::from([number]), Then::Leave));
        self.owe_existences(awaited, out);
    }

    fn owe_existences(&mut self, awaited: Vec<(StateKey, Route)>, out: &mut Vec<PeerEffect>) {
        for (key, route) in awaited {
            self.owe_existence(key, route, out);
        }
    }

    /// Tells the owner of a state that it is there.
    pub(super) fn owe_existence(
        &mut self,
        state: StateKey,
        route: Route,
        out: &mut Vec<PeerEffect>,
    ) {
        let asker = self.me;
        self.owe_owner(
            state,
            |number| PeerMessage::Exists { number, asker, state, route, facts: Vec::new() },
            out,
        );
    }

    /// Passes on the facts about a state to its owner.
    pub(super) fn pass_on(&mut self, facts: &[Fact], out: &mut Vec<PeerEffect>) {
        let Some(state) = facts.first().and_then(Fact::state) else { return };
        let (asker, facts) = (self.me, facts.to_vec());
        let route = route_of(&facts);
        let message = |number| PeerMessage::Exists { number, asker, state, route, facts };
        self.owe_owner(state, message, out);
    }

    /// Sends a message to the owner of a state until it is taken in.
    pub(super) fn owe_owner(
        &mut self,
        state: StateKey,
        message: impl FnOnce(u64) -> PeerMessage,
        out: &mut Vec<PeerEffect>,
    ) {
        self.owe(To::Owner(state), message, out);
    }

    /// Sends a message until it is taken in.
    fn owe(
        &mut self,
        to: To,
        message: impl FnOnce(u64) -> PeerMessage,
        out: &mut Vec<PeerEffect>,
    ) -> u64 {
        let number = self.number();
        self.keeping.owed.insert(number, Owed { to, message: message(number), since: self.now });
        self.resend(number, out);
        number
    }

    pub(super) fn resend(&mut self, number: u64, out: &mut Vec<PeerEffect>) {
        let Some(Owed { to, message, since }) = self.keeping.owed.get(&number).cloned() else {
            return;
        };
        let is_claim = matches!(message, PeerMessage::Claim { .. });
        match to {
            To::Member(to) => self.send(to, message, out),
            To::Owner(state) => self.send_to_owner(state, None, message, out),
        }
        // The longer it has waited, the longer until the next time: whoever is behind is not helped by more messages.
        let resend = self.settings.times.resend;
        let wait = resend.max(self.now - since);
        // A claim may wait for long, and must not be forgotten with whoever was to answer it.
        let wait = if is_claim { wait.min(LONGEST_CLAIM * resend) } else { wait };
        out.push(PeerEffect::Wake(PeerTimer::Resend(number), wait));
    }

    /// A message was taken in, or nobody is there any more to do so. Says whether it was awaited.
    pub(super) fn taken(&mut self, number: u64, out: &mut Vec<PeerEffect>) -> bool {
        let Some(owed) = self.keeping.owed.remove(&number) else { return false };
        if let PeerMessage::Copy(..) = owed.message {
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
                self.then(then, out);
            }
        }
        true
    }

    fn then(&mut self, then: Then, out: &mut Vec<PeerEffect>) {
        match then {
            Then::Acknowledge(done) => self.acknowledge(done, out),
            Then::Executed(done) => self.executed(done, out),
            Then::GivenUp(state, action, reason) => {
                if let Some(slot) = self.atlas.slot(state, action) {
                    self.atlas.close(slot, reason);
                    if self.atlas.links(slot.state).contains(&action) {
                        self.gave_up_link(state, action, out);
                    }
                }
            }
            Then::Confirm(member, number) => self.send(member, PeerMessage::Taken(number), out),
            Then::Leave => self.left(out),
        }
    }

    /// What was to be handed over on leaving goes to another heir.
    pub(super) fn change_heir(&mut self, heir: Key, out: &mut Vec<PeerEffect>) {
        let waiting = self.keeping.waiting.values().find(|(_, then)| *then == Then::Leave);
        let number = waiting.and_then(|(numbers, _)| numbers.first().copied());
        if let Some(number) = number
            && let Some(owed) = self.keeping.owed.get_mut(&number)
            && owed.to != To::Member(heir)
        {
            owed.to = To::Member(heir);
            self.resend(number, out);
        }
    }

    /// Some of what is owed to a member need not be taken in any more.
    pub(super) fn owe_nothing(
        &mut self,
        gone: Key,
        what: impl Fn(&PeerMessage) -> bool,
        out: &mut Vec<PeerEffect>,
    ) {
        let owed = self
            .keeping
            .owed
            .iter()
            .filter(|(_, owed)| owed.to == To::Member(gone) && what(&owed.message));
        let numbers: Vec<u64> = owed.map(|(&number, _)| number).collect();
        for number in numbers {
            self.taken(number, out);
        }
    }
}
