//! States that do not come back, because a server remembers what was done. Where many jobs in a row
//! do not reach a state, it is *vanishing*: nothing is assigned there, and a question goes round
//! the ring, whether other states offer what was not executed there. What none offers is given up,
//! and the state is *gone*, which is a fact.
//!
//! A vanishing state does not answer for others. So of several that vanish at once, none relies on
//! another, and no action is lost in silence.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::graph::Slot;
use argiope_explore::id::{StateIndex, StateKey};
use argiope_ring::Key;

use super::Peer;
use super::keeping::Then;
use super::message::{Elsewhere, PeerMessage, PeerTimer};
use crate::journal::Fact;
use crate::outcome::{FEW_MISSES, JobFailure, MOST_MISSES};

/// Which own states were not reached again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Absences {
    /// Jobs in a row that did not reach a state.
    misses: BTreeMap<StateKey, u32>,
    /// States that a reset or a walk has led back to.
    came_back: BTreeSet<StateKey>,
    /// States that vanish, as soon as no crawler is on its way there any more.
    vanishing: BTreeSet<StateKey>,
    /// The questions under way, by their numbers.
    asking: BTreeMap<u64, StateKey>,
}

impl Peer {
    /// A state of this controller was reached: again, if the crawler did not stand there before.
    pub(super) fn reached(&mut self, slot: Slot, again: bool) {
        let key = self.known.graph.key(slot.state);
        self.absences.misses.remove(&key);
        if again {
            self.absences.came_back.insert(key);
        }
        if self.absences.vanishing.remove(&key) {
            self.known.set_vanishing(slot.state, false);
        }
    }

    /// A job did not reach an own state. Decides whether the state vanishes. A page that failed on
    /// the way says less than a walk that ended in another state.
    pub(super) fn missed(&mut self, state: StateIndex, ended_elsewhere: bool) {
        let key = self.known.graph.key(state);
        let count = self.absences.misses.entry(key).or_default();
        *count += 1;
        let (is_enough, may_do) = (*count >= MOST_MISSES, *count >= FEW_MISSES);
        let is_new = may_do && ended_elsewhere && !self.absences.came_back.contains(&key);
        let is_decided = self.is_gone(key) || self.known.graph.at(state).vanishing;
        if !self.owns(key) || is_decided {
            return;
        }
        if is_enough || (is_new && self.loses_nothing(key, state)) {
            self.known.set_vanishing(state, true);
            self.absences.vanishing.insert(key);
        }
    }

    /// Lets states go that vanish, unless a crawler is on its way there: it may still reach one. If
    /// it is not known what a state offers, no more is done: its crawl is not complete, since a
    /// transition leads to a state without facts.
    pub(super) fn let_go(&mut self) {
        for key in self.absences.vanishing.clone() {
            let state = self.known.graph.find(key);
            let state = state.filter(|&state| self.is_vanishing(key, state));
            let is_on_the_way =
                |state| self.leases.values().any(|lease| Some(lease.slot.state) == state);
            if state.is_some() && is_on_the_way(state) {
                continue;
            }
            self.absences.vanishing.remove(&key);
            if let Some(state) = state.filter(|_| self.known.graph.is_full(key)) {
                self.ask_elsewhere(key, state);
            }
        }
    }

    /// Whether all that a state offers was executed, there or elsewhere, as far as is known here.
    fn loses_nothing(&self, key: StateKey, state: StateIndex) -> bool {
        let open = self.known.open_in(state);
        self.known.graph.is_full(key)
            && open.iter().all(|&action| self.known.graph.is_offered(action, Some(key), |_| false))
    }

    /// Whether a state does not come back.
    pub(super) fn is_gone(&self, key: StateKey) -> bool {
        self.known.graph.get(key).is_some_and(|known| known.gone)
    }

    /// Whether it is not decided yet what becomes of a state that vanishes.
    pub(super) fn asks_elsewhere(&self) -> bool {
        !self.absences.asking.is_empty() || !self.absences.vanishing.is_empty()
    }

    /// Asks all controllers who else offers the open actions of a state.
    fn ask_elsewhere(&mut self, key: StateKey, state: StateIndex) {
        let number = self.number();
        self.absences.asking.insert(number, key);
        let actions = self.known.open_in(state);
        self.wake(PeerTimer::Elsewhere(number), self.settings.times.round);
        self.answer_elsewhere(Elsewhere { by: self.me, number, actions, gaps: false });
    }

    /// The answer is overdue, or a controller was missed.
    pub(super) fn ask_again(&mut self, number: u64) {
        let Some(key) = self.absences.asking.remove(&number) else { return };
        let state = self.known.graph.find(key);
        if let Some(state) = state.filter(|&state| self.is_vanishing(key, state)) {
            self.ask_elsewhere(key, state);
        }
    }

    /// Whether an own state still vanishes: its range may have changed owners meanwhile.
    fn is_vanishing(&self, key: StateKey, state: StateIndex) -> bool {
        self.owns(key) && self.known.graph.at(state).vanishing
    }

    /// Strikes out what this controller knows from other states, and passes the question on.
    fn answer_elsewhere(&mut self, mut question: Elsewhere) {
        let known = &self.known;
        let asked_here = self.absences.asking.get(&question.number);
        let except = asked_here.copied().filter(|_| question.by == self.me);
        let is_own = |state| known.ownership.is_own(state);
        question.actions.retain(|&action| !known.graph.is_offered(action, except, is_own));
        // A state that is awaited, or not reconciled, may offer more than is known here.
        question.gaps |=
            self.is_unsettled() || known.ownership.unreconciled.is_some() || known.awaits_any();
        match self.successor() {
            Some(next) if question.by.is_between(self.me, next) => {
                question.gaps = true;
                self.send(question.by, PeerMessage::Elsewhere(question));
            }
            Some(next) => self.send(next, PeerMessage::Elsewhere(question)),
            None if self.is_alone() => self.on_answered(&question),
            // It has lost its successors and will find others. The asker retries.
            None => {}
        }
    }

    /// Answers a question and passes it on, or takes the answer in when it is back.
    pub(super) fn on_elsewhere(&mut self, from: Key, mut question: Elsewhere) {
        question.gaps |= self.range_start() != Some(from);
        if question.by == self.me {
            self.on_answered(&question);
        } else {
            self.answer_elsewhere(question);
        }
    }

    /// All controllers have answered: what no other state offers is given up. The state is gone.
    fn on_answered(&mut self, question: &Elsewhere) {
        let Some(&key) = self.absences.asking.get(&question.number) else { return };
        if question.gaps {
            // Asks again once the members know each other, and their ranges.
            self.wake(PeerTimer::Elsewhere(question.number), self.settings.times.stabilise);
            return;
        }
        self.absences.asking.remove(&question.number);
        let Some(state) = self.known.graph.find(key) else { return };
        if !self.is_vanishing(key, state) {
            return;
        }
        let open = self.known.open_in(state);
        let reason = JobFailure::Unreachable;
        let lost = question.actions.iter().filter(|action| open.contains(action));
        let given_up = lost.map(|&action| Fact::GivenUp { from: key, action, reason });
        let facts: Vec<Fact> = given_up.chain([Fact::Gone { state: key }]).collect();
        for fact in &facts {
            self.known.learn(fact);
        }
        self.known.set_vanishing(state, false);
        self.absences.misses.remove(&key);
        self.keep(facts, Then::Acknowledge(None));
        let links = self.known.graph.at(state).links.iter().copied();
        let open_links = links.filter(|link| open.contains(link)).collect();
        self.give_up_links(key, open_links);
    }
}
