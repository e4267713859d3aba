//! Handles the reports of crawlers, and what they mean for states, leases and candidates.

use argiope_explore::graph::Slot;
use argiope_explore::id::StateKey;
use argiope_ring::Key;

use super::keeping::Then;
use super::message::{
    Done, Envelope, LeaseRef, PeerEffect, PeerMessage, PeerTimer, RouteHint, TaskReport, ToCrawler,
};
use super::schemes::Hears;
use super::{Lease, Peer};
use crate::job::{CrawlerId, Transition, initial_of};
use crate::journal::Fact;
use crate::outcome::{ENOUGH, JobFailure};

/// The slowest measured time decays by 1/64 per task.
const DECAY: u64 = 64;

impl Peer {
    /// Forwards a crawler's report to the owner of the state that the crawler stands in.
    pub(super) fn on_report(&mut self, report: TaskReport) {
        self.parked.remove(&report.crawler);
        match &report.at {
            Some(at) => {
                let key = at.key;
                if self.settings.scheme.hears == Hears::Passing {
                    self.hear(&report);
                }
                self.send_to_owner(key, None, PeerMessage::Reached(report));
            }
            None => {
                self.tell_failure(&report);
                self.employ(report.request());
            }
        }
    }

    /// Tells the controller that holds the lease why its task was not done.
    fn tell_failure(&mut self, report: &TaskReport) {
        if let (Some(task), Some(reason)) = (report.task, report.failed) {
            let message = match report.wanted {
                Some(_) => PeerMessage::EndedElsewhere(task),
                None => PeerMessage::TaskFailed(task, reason),
            };
            self.send(task.by, message);
        }
    }

    /// A crawler reached an own state.
    pub(super) fn on_reached(&mut self, report: &TaskReport) {
        let Some(at) = report.at.clone() else { return };
        let initial = match &report.route {
            Some(route) => Some(initial_of(route, at.key)),
            None => self.known.graph.initial(),
        };
        // Without a route and without an initial state there is no job to give.
        let Some(initial) = initial else { return };
        self.known.graph.begin(initial);
        self.hear(report);
        let state = self.known.set_owned(at.key, true);
        self.known.graph.learn_content(state, report.content);
        if let Some(route) = &report.route {
            self.known.learn_route(state, route);
        }
        self.note_appearance(report, at.key);
        let new = at.offers.is_some_and(|offers| {
            let links = offers.iter().filter(|offered| offered.once).map(|offered| offered.action);
            self.known.learn_links(at.key, links);
            let actions: Vec<_> = offers.iter().map(|offered| offered.action).collect();
            self.known.learn_actions(at.key, &actions)
        });
        let done = report.task.zip(report.executed).map(|(task, (from, action))| {
            let step = Transition { from, action, to: at.key };
            let (once, notes) = (report.once, report.notes.clone());
            Done { task, step, once, notes, new, kept_by: self.me }
        });
        self.tell_failure(report);
        if new {
            // Perhaps it was known before and lost.
            self.assure_all_but(at.key, &[]);
        }
        // A single stray counts only after a reset: otherwise hidden state may explain it. But
        // every state needs a path, so one that found a new state counts too.
        if let Some((step, _)) = report.strayed.filter(|&(_, certain)| certain || new) {
            let asker = self.me;
            self.owe_owner(step.from, |number| PeerMessage::Strayed { number, asker, step });
        }
        if new {
            self.keep(self.known.facts(state), Then::Acknowledge(done));
            for done in self.led_to_awaited.remove(&at.key).unwrap_or_default() {
                self.keep(Vec::new(), Then::Acknowledge(Some(done)));
            }
        } else if self.known.graph.is_full(at.key) {
            self.acknowledge(done);
        } else {
            // A crawler that looks at the awaited state will report what it offers.
            self.led_to_awaited.entry(at.key).or_default().extend(done);
        }
        self.go_on_here(report, at.key);
    }

    /// Notes that a crawler stands in an own state that no transition explains.
    fn note_appearance(&mut self, report: &TaskReport, at: StateKey) {
        let is_initial = self.known.graph.initial() == Some(at);
        let loaded = report.landed || report.route.as_ref().is_some_and(|route| route.is_empty());
        let known = self.known.graph.get(at);
        let is_full = known.is_some_and(|known| known.full);
        let is_known = is_full || known.is_some_and(|known| known.route.is_some());
        let is_news = match known.and_then(|known| known.appeared) {
            None => loaded || (!is_known && report.executed.is_none() && report.strayed.is_none()),
            Some(as_loaded) => loaded && !as_loaded,
        };
        if is_initial || !is_news {
            return;
        }
        self.known.learn_appeared(at, loaded);
        // The facts of a new state are kept below.
        if is_full {
            self.keep(vec![Fact::Appeared { at, loaded }], Then::Acknowledge(None));
        }
    }

    /// Gives a crawler that reports from an own state its next task. If its walk ended elsewhere
    /// and this state offers what it was to execute, it does so here: the application has moved on.
    fn go_on_here(&mut self, report: &TaskReport, at: StateKey) {
        let wanted = report.wanted.and_then(|action| self.known.graph.slot(at, action));
        match wanted.filter(|&slot| self.known.is_assignable(slot) && !self.is_finished()) {
            Some(slot) => self.assign_here(report.request(), slot),
            None => self.employ(report.request()),
        }
    }

    /// Answers a crawler's request for the content of a state, or forwards it to the owner.
    pub(super) fn on_want(&mut self, state: StateKey, crawler: CrawlerId, home: Key) {
        let content = self.known.graph.get(state).and_then(|known| known.content);
        if content.is_none() && !self.owns(state) {
            self.send_to_owner(state, None, PeerMessage::Want(state, crawler, home));
        } else if home == self.me {
            self.out.push(PeerEffect::Tell(crawler, ToCrawler::Like(state, content)));
        } else {
            self.send(home, PeerMessage::Like(state, crawler, content));
        }
    }

    /// Acknowledges a task, now that its destination is durable.
    pub(super) fn acknowledge(&mut self, done: Option<Done>) {
        let Some(done) = done else { return };
        let by = done.task.by;
        if self.settings.scheme.hears != Hears::Everything || by == self.me {
            self.send(by, PeerMessage::Done(done));
            return;
        }
        self.later.entry(by).or_default().push(done);
        if !std::mem::replace(&mut self.telling_later, true) {
            self.wake(PeerTimer::Later, self.settings.times.later);
        }
    }

    /// A task was done: one leased here, or one in a state that is owned here now.
    pub(super) fn on_done(&mut self, done: Done) {
        if done.task.by == self.me {
            self.overdue.remove(&done.task.job);
            if let Some(lease) = self.leases.remove(&done.task.job) {
                self.measure_task(&lease);
                self.reached(lease.slot, lease.again);
                // An execution is recorded below. A visit, or a slot that is not own any more, is
                // free again.
                if self.known.graph.is_ask(lease.slot) || !self.owns(done.step.from) {
                    self.known.release(lease.slot);
                }
            }
        }
        if self.known.graph.initial().is_none() {
            return;
        }
        if !self.owns(done.step.from) {
            self.send_to_owner(done.step.from, None, PeerMessage::Done(done));
            return;
        }
        let slot = self.known.graph.slot(done.step.from, done.step.action);
        let is_known = self.known.graph.find(done.step.from).is_some();
        if is_known && self.known.ownership.is_unreconciled(done.step.from) {
            // Another controller may have served this range and may be about to assign the action:
            // the report waits until the range is reconciled.
            if let Some(slot) = slot {
                self.known.release(slot);
            }
            let done = Envelope::new(Some(done.step.from), PeerMessage::Done(done));
            self.hold(self.me, done);
            return;
        }
        self.known.graph.learn_owner(done.step.to, done.kept_by);
        if slot.is_none_or(|slot| self.known.graph.is_open(slot)) {
            let Transition { from, action, to } = done.step;
            let transition = Fact::Transition { from, action, to, notes: done.notes.clone() };
            self.keep(vec![transition], Then::Executed(done));
        }
    }

    fn measure_task(&mut self, lease: &Lease) {
        let took = (self.now - lease.since) / lease.units.max(1);
        // The first measurement replaces the configured guess. Later the slowest counts, with
        // decay: a failure may have made it slow.
        let first = self.slowest == self.settings.times.task;
        let faded = if first { 1 } else { self.slowest - self.slowest / DECAY };
        self.slowest = faded.max(took);
    }

    /// Takes in a transition that is durable, with all its replicas.
    pub(super) fn on_durable(&mut self, done: Done) {
        if !self.owns(done.step.from) {
            // The state was handed over while its replicas were made: its new owner must learn of
            // it.
            if let Some(slot) = self.known.graph.slot(done.step.from, done.step.action) {
                self.known.release(slot);
            }
            self.send_to_owner(done.step.from, None, PeerMessage::Done(done));
            return;
        }
        if !self.known.learn_step(done.step, done.new) {
            return;
        }
        self.known.graph.learn_notes(done.step.from, done.step.action, &done.notes);
        let Transition { from, action: link, to } = done.step;
        let known = self.known.graph.get(from);
        let looked_like_it = known.is_some_and(|known| known.links.contains(&link));
        if looked_like_it || done.once {
            self.out.push(PeerEffect::Keep(Fact::LinkFollower { link, state: from }));
            self.followed_here(done.step, !looked_like_it);
        }
        self.out.push(PeerEffect::Executed(done.step));
        self.known.graph.learn_owner(to, done.kept_by);
        let state = self.known.graph.find(from);
        if let Some(state) = state.filter(|&state| self.known.free_in(state) == 0)
            && self.shares_hints()
            && self.known.ownership.is_own(state)
        {
            self.told.push(RouteHint::Leads(done.step));
        }
        self.assure(done.step, done.kept_by);
    }

    /// An action of an own state led to another destination than before.
    pub(super) fn on_strayed(&mut self, step: Transition) {
        self.known.graph.learn_stray(step);
        let Transition { from, action, to } = step;
        self.keep(vec![Fact::Stray { from, action, to }], Then::Acknowledge(None));
    }

    /// The walk of a task ended in another state.
    pub(super) fn on_ended_elsewhere(&mut self, answer: LeaseRef) {
        if answer.by != self.me {
            return;
        }
        let Some((slot, is_held, _)) = self.take_lease(answer) else { return };
        if is_held {
            self.known.release(slot);
        }
        self.missed(slot.state, true);
    }

    /// Ends the lease of a task that was not done, or notes that an overdue one was not. Returns
    /// the slot, whether it was leased, and whether the crawler had to go to its state.
    fn take_lease(&mut self, answer: LeaseRef) -> Option<(Slot, bool, bool)> {
        match (self.leases.remove(&answer.job), self.overdue.remove(&answer.job)) {
            (Some(lease), _) => Some((lease.slot, true, lease.again)),
            (None, Some(slot)) => Some((slot, false, false)),
            (None, None) => None,
        }
    }

    /// A task failed, or is overdue.
    pub(super) fn on_task_failed(&mut self, answer: LeaseRef, reason: JobFailure) {
        if answer.by != self.me {
            return;
        }
        let Some((slot, is_held, again)) = self.take_lease(answer) else { return };
        if reason == JobFailure::Unreachable {
            if is_held {
                self.known.release(slot);
            }
            self.missed(slot.state, false);
            return;
        }
        if matches!(reason, JobFailure::Hung | JobFailure::Crashed | JobFailure::Missing) {
            self.reached(slot, again);
        }
        let against = self.failures.entry(slot).or_default();
        *against += reason.weight();
        let enough = *against >= ENOUGH && !self.known.graph.is_ask(slot);
        let Transition { from, action, .. } = self.known.graph.step(slot);
        if enough && self.owns(from) && self.known.graph.is_open(slot) {
            // Another crawler may have got an overdue task meanwhile: one failure report is enough.
            self.leases.retain(|_, lease| lease.slot != slot);
            if self.known.graph.slots().is_free(slot) {
                self.known.claim(slot);
            }
            let given_up = Fact::GivenUp { from, action, reason };
            self.keep(vec![given_up], Then::GivenUp(from, action, reason));
        } else if is_held {
            self.known.release(slot);
        }
    }
}
