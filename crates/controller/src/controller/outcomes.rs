//! Handles the outcomes of jobs.

use argiope_explore::graph::Slot;
use argiope_explore::id::StateKey;

use super::{Assigned, Controller, Idle};
use crate::input::StoppedBy;
use crate::job::{CrawlerId, Transition};
use crate::journal::Fact;
use crate::outcome::{JobFailure, Note, Outcome, Sighting};
use crate::route::Hop;
use crate::spent::Spent;

/// Why a crawler is in another state than expected.
enum Astray {
    /// Loading the URL led there.
    Load,
    /// A transition led there.
    Step(Hop),
    /// No step explains it: the page changed by itself.
    Nothing,
}

impl Controller {
    pub(super) fn take_in(
        &mut self,
        crawler: CrawlerId,
        assigned: &Assigned,
        outcome: Outcome,
        spent: Spent,
    ) {
        match outcome {
            Outcome::Done { at, notes, once } => {
                self.done(crawler, assigned, &at, (notes, once));
            }
            Outcome::Elsewhere { went_right, at } => {
                self.elsewhere(crawler, assigned, (went_right, spent), &at);
            }
            Outcome::Failed { went_right, reason } => {
                self.failed(crawler, assigned, (went_right, spent), reason);
            }
        }
    }

    /// No load failed in a job. If it began with one, what was executed before is innocent should
    /// the application end.
    fn loaded(&mut self, assigned: &Assigned) {
        self.troubles.loaded();
        if assigned.reset {
            self.suspects.loaded(assigned.since);
        }
    }

    fn done(
        &mut self,
        crawler: CrawlerId,
        assigned: &Assigned,
        at: &Sighting,
        (notes, once): (Vec<Note>, bool),
    ) {
        let candidate = assigned.candidate;
        self.loaded(assigned);
        let is_dangerous = notes.contains(&Note::Allowed);
        if notes.contains(&Note::Ended) {
            self.stop(StoppedBy::NotLoaded);
        }
        self.suspects.executed(crawler, candidate, is_dangerous);
        self.troubles.reached(candidate.state, assigned.reset || !assigned.walk.is_empty());
        if assigned.reset && !self.is_entry(assigned.start()) {
            self.lands_in = assigned.start();
        }
        if self.introduce(at) {
            let graph = self.known.graph().expect("a job was given, so there is a state");
            let Transition { from, action, .. } = Transition::of(graph, candidate);
            self.keep(Fact::Transition { from, action, to: at.key, notes });
            if once {
                self.keep(Fact::PlainLink { action });
            }
        } else {
            // The limit of states is reached, or the crawler did not describe a new state.
            self.lost_with(candidate);
        }
        if !self.busy.contains_key(&crawler) {
            // After a dangerous action a load says whether the application has ended.
            let at = self.known.state(at.key).filter(|_| !is_dangerous);
            self.idle.insert(crawler, Idle { at, told: false });
        }
    }

    fn elsewhere(
        &mut self,
        crawler: CrawlerId,
        assigned: &Assigned,
        (went_right, spent): (u32, Spent),
        at: &Sighting,
    ) {
        self.loaded(assigned);
        let candidate = assigned.candidate;
        let mut strays = assigned.retry_of.clone().unwrap_or_default();
        let explained = match self.astray(assigned, went_right, spent, at) {
            Astray::Load if self.is_entry(assigned.start()) => {
                self.missed_entry(assigned.start());
                false
            }
            Astray::Load => self.landed(at).is_some(),
            Astray::Step(hop) => {
                let often = self.troubles.went_wrong(hop.slot);
                self.strayed(hop.slot, at, &mut strays);
                if often {
                    // A step that succeeds in every second attempt is unreliable too.
                    self.keep_strays(&strays);
                }
                true
            }
            Astray::Nothing => {
                if self.introduce(at) && self.known.state(at.key).is_none() {
                    self.keep(Fact::Appeared { at: at.key, loaded: false });
                }
                false
            }
        };
        self.idle.insert(crawler, Idle { at: self.known.state(at.key), told: false });
        if assigned.reset {
            self.keep_strays(&strays);
        }
        let is_gone = self.misses(candidate.state, true);
        if self.stopping.is_none()
            && let Some(same) = self.same_action(candidate, at.key)
        {
            // The application may have moved on: what the job wanted is offered here.
            self.released(candidate);
            self.perform_here(crawler, same);
        } else if !is_gone && assigned.retry_of.is_none() && explained && self.stopping.is_none() {
            self.try_again(crawler, candidate, strays);
        } else {
            self.released(candidate);
        }
        if is_gone {
            self.give_up_state(candidate.state);
        }
    }

    /// The free candidate with the same action in the state where a crawler stands.
    fn same_action(&self, candidate: Slot, at: StateKey) -> Option<Slot> {
        let graph = self.known.graph()?;
        let slot = graph.slot_of(graph.find(at)?, graph.action_of(candidate))?;
        graph.is_free(slot).then_some(slot)
    }

    fn astray(&self, assigned: &Assigned, went_right: u32, spent: Spent, at: &Sighting) -> Astray {
        let graph = self.known.graph().expect("a job was given, so there is a state");
        if spent.actions == 0 {
            let as_expected = graph.key(assigned.start()) == at.key;
            return if assigned.reset && !as_expected { Astray::Load } else { Astray::Nothing };
        }
        match assigned.walk.get(went_right as usize) {
            Some(&hop) if graph.key(hop.to) != at.key => Astray::Step(hop),
            Some(_) | None => Astray::Nothing,
        }
    }

    /// A transition led to another state. It is recorded if the path began with a load (the second
    /// attempt does) or if it happens again in another job. Before that, state that the page does
    /// not show may be the cause. A stray to a new state is recorded at once, so that every state
    /// has a path.
    fn strayed(&mut self, step: Slot, at: &Sighting, strays: &mut Vec<Hop>) {
        if !self.introduce(at) {
            return;
        }
        match self.known.state(at.key) {
            Some(to) => strays.push(Hop { slot: step, to }),
            None => self.keep_stray(step, at.key),
        }
    }

    fn keep_strays(&mut self, strays: &[Hop]) {
        for hop in strays {
            let graph = self.known.graph().expect("a job was given, so there is a state");
            let others = self.known.strays().get(&hop.slot);
            if graph.target(hop.slot) != Some(hop.to)
                && others.is_none_or(|others| !others.contains(&hop.to))
            {
                self.keep_stray(hop.slot, graph.key(hop.to));
            }
        }
    }

    fn keep_stray(&mut self, step: Slot, to: StateKey) {
        let graph = self.known.graph().expect("a job was given, so there is a state");
        let Transition { from, action, .. } = Transition::of(graph, step);
        self.keep(Fact::Stray { from, action, to });
    }

    fn failed(
        &mut self,
        crawler: CrawlerId,
        assigned: &Assigned,
        (went_right, spent): (u32, Spent),
        reason: JobFailure,
    ) {
        let candidate = assigned.candidate;
        let step = assigned.walk.get(went_right as usize);
        let in_load = assigned.reset
            && spent.actions == 0
            && went_right == 0
            && reason != JobFailure::Missing;
        if in_load && matches!(reason, JobFailure::NotLoaded | JobFailure::OutOfScope) {
            if self.troubles.not_loaded() {
                self.stop(StoppedBy::NotLoaded);
            }
            self.released(candidate);
            return;
        }
        if in_load {
            self.troubles.loaded();
        } else {
            self.loaded(assigned);
            if step.is_none() && spent.actions > 0 {
                self.suspects.executed(crawler, candidate, false);
            }
        }
        if reason == JobFailure::Lost {
            self.lost_with(candidate);
        } else if reason == JobFailure::Exchanged {
            let enough = self.troubles.exchanged(candidate);
            self.retry_unless(enough, candidate, reason);
        } else if reason == JobFailure::LoggedOut {
            let enough = self.troubles.logged_out(candidate);
            self.retry_unless(enough, candidate, reason);
        } else if in_load || step.is_some() {
            if let Some(hop) = step.filter(|_| !in_load) {
                self.troubles.went_wrong(hop.slot);
            }
            let is_gone = self.misses(candidate.state, false);
            self.released(candidate);
            if is_gone {
                self.give_up_state(candidate.state);
            }
        } else {
            self.troubles.reached(candidate.state, assigned.reset || !assigned.walk.is_empty());
            let enough = self.troubles.failed(candidate);
            self.retry_unless(enough, candidate, reason);
        }
    }

    /// Gives a candidate up if it failed often enough; otherwise it is assigned again.
    fn retry_unless(&mut self, enough: bool, candidate: Slot, reason: JobFailure) {
        if enough {
            self.give_up(candidate, reason);
        } else {
            self.released(candidate);
        }
    }

    /// A candidate's crawler was lost, or its report was unusable.
    pub(super) fn lost_with(&mut self, candidate: Slot) {
        let enough = self.stopping.is_none() && self.troubles.lost(candidate);
        self.retry_unless(enough, candidate, JobFailure::Lost);
    }
}
