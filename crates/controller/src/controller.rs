//! The controller of a crawl on one machine: `handle` takes an input and appends effects. Jobs in
//! flight and failure counts are held here and are lost with the process. What must not be lost is
//! in the facts (`knowledge`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionIndex, StateIndex, StateKey};
use argiope_explore::strategy::INITIAL;

use crate::input::{ControllerEffect, ControllerInput, StoppedBy};
use crate::job::{CrawlerId, JobId, Transition};
use crate::journal::Fact;
use crate::knowledge::{Contradiction, CrawlKnowledge};
use crate::outcome::{FEW_MISSES, JobFailure, MOST_MISSES, Outcome, Sighting};
use crate::route::Hop;
use crate::settings::{ControllerSettings, StopAt};
use crate::spent::{Spent, WriterId};

mod outcomes;
mod retries;
mod scheduling;
mod suspects;

use retries::RetryCounts;
use suspects::Suspects;

/// Assigns jobs to any number of crawlers.
pub struct Controller {
    known: CrawlKnowledge,
    idle: BTreeMap<CrawlerId, Idle>,
    /// The jobs of each crawler in the order of execution; never empty.
    busy: BTreeMap<CrawlerId, VecDeque<Assigned>>,
    next_job: u64,
    troubles: RetryCounts,
    /// Where the last reset led.
    lands_in: StateIndex,
    suspects: Suspects,
    /// Actions that lost crawlers may have executed: they count against the limit, but not as
    /// spent.
    written_off: u64,
    stopping: Option<StoppedBy>,
    finished: bool,
    /// The effects of the input that it is handling.
    out: Vec<ControllerEffect>,
}

/// A crawler without a job.
#[derive(Clone, Copy)]
struct Idle {
    at: Option<StateIndex>,
    told: bool,
}

/// A job in flight.
struct Assigned {
    id: JobId,
    candidate: Slot,
    reset: bool,
    walk: Vec<Hop>,
    /// Where the crawler's previous job must have led; none for its first job.
    after: Option<StateIndex>,
    /// For a second attempt: where the first one strayed to.
    retry_of: Option<Vec<Hop>>,
    /// How many jobs were finished when it was assigned.
    since: u64,
}

impl Assigned {
    /// The state in which it begins, after the reset if there is one.
    fn start(&self) -> StateIndex {
        self.walk.first().map_or(self.candidate.state, |hop| hop.slot.state)
    }

    /// The most actions that it takes.
    fn actions(&self) -> u64 {
        self.walk.len() as u64 + 1
    }
}

impl Controller {
    /// Of a crawl that has not begun.
    pub fn new(settings: ControllerSettings) -> Self {
        Self::knowing(CrawlKnowledge::new(settings))
    }

    /// Of a crawl that kept these facts and is resumed. They may be cut off anywhere.
    pub fn restore(
        settings: ControllerSettings,
        facts: impl IntoIterator<Item = Fact>,
    ) -> Result<Self, Contradiction> {
        let facts: Vec<Fact> = facts.into_iter().collect();
        Ok(Self::knowing(CrawlKnowledge::restore(settings, &facts)?))
    }

    /// Of a crawl that is resumed: it tries again what was given up.
    pub fn resume(
        settings: ControllerSettings,
        facts: impl IntoIterator<Item = Fact>,
    ) -> Result<Self, Contradiction> {
        Self::restore(
            settings,
            facts.into_iter().filter(|fact| !matches!(fact, Fact::GivenUp { .. })),
        )
    }

    fn knowing(known: CrawlKnowledge) -> Self {
        Self {
            known,
            idle: BTreeMap::new(),
            busy: BTreeMap::new(),
            next_job: 0,
            troubles: RetryCounts::default(),
            lands_in: INITIAL,
            suspects: Suspects::default(),
            written_off: 0,
            stopping: None,
            finished: false,
            out: Vec::new(),
        }
    }

    /// Handles an input and appends the effects.
    pub fn handle(&mut self, input: ControllerInput, out: &mut Vec<ControllerEffect>) {
        // Before the first crawler is ready, further addresses may lead to more.
        let is_seed = matches!(input, ControllerInput::Entered { seed: true, .. });
        match input {
            ControllerInput::Ready { crawler, at, spent } => {
                self.lose(crawler);
                let at = at.and_then(|sighting| self.landed(&sighting));
                self.idle.insert(crawler, Idle { at, told: false });
                self.spend(spent);
            }
            ControllerInput::Finished { crawler, job, outcome, spent } => {
                self.spend(spent);
                // The outcome of a job that was taken away from a crawler no longer counts.
                if let Some(assigned) = self.finish(crawler, job, &outcome) {
                    self.take_in(crawler, &assigned, outcome, spent);
                }
            }
            ControllerInput::Lost { crawler } => self.lose(crawler),
            ControllerInput::Entered { at, address, seed, cost } => {
                self.entered(&at, address, seed, cost);
            }
            ControllerInput::ResetCost(cost) => self.known.measured_reset(cost),
            ControllerInput::Stop(by) => self.stop(by),
        }
        if self.is_full() {
            self.stop(StoppedBy::MaxStates);
        }
        if !is_seed {
            self.employ();
            self.end();
        }
        out.append(&mut self.out);
    }

    /// What the crawl knows.
    pub fn known(&self) -> &CrawlKnowledge {
        &self.known
    }

    /// The graph, once the initial state was seen.
    pub fn graph(&self) -> Option<&Graph> {
        self.known.graph()
    }

    /// Whether a state is known. A sighting of one that is not must say what it offers.
    pub fn knows(&self, key: StateKey) -> bool {
        self.known.knows(key)
    }

    /// How many jobs are in flight.
    pub fn in_flight(&self) -> usize {
        self.busy.values().map(VecDeque::len).sum()
    }

    fn keep(&mut self, fact: Fact) {
        self.known.apply(&fact).expect("a controller does not contradict itself");
        self.out.push(ControllerEffect::Keep(fact));
    }

    fn spend(&mut self, spent: Spent) {
        if spent != Spent::default() {
            let writer = WriterId::LONE;
            let Spent { actions, resets } = self.known.spent.by(writer).plus(spent);
            self.keep(Fact::Spent { writer, actions, resets });
        }
    }

    fn stop(&mut self, by: StoppedBy) {
        self.stopping.get_or_insert(by);
    }

    /// Records a state, if the limits allow it. Says whether it is recorded.
    fn introduce(&mut self, at: &Sighting) -> bool {
        if self.known.knows(at.key) {
            return true;
        }
        let Some(offers) = &at.offers else { return false };
        if self.is_full() {
            self.stop(StoppedBy::MaxStates);
            return false;
        }
        for fact in self.known.describe(at.key, offers) {
            self.keep(fact);
        }
        if let Some(parts) = &at.parts
            && self.known.settings().stop_at != StopAt::All
        {
            self.keep(Fact::Parts { state: at.key, parts: (**parts).clone() });
        }
        true
    }

    /// Whether no more states may be recorded.
    fn is_full(&self) -> bool {
        let states = self.known.states();
        states > 0 && self.known.settings().limits.max_states.is_some_and(|limit| states >= limit)
    }

    /// A crawler loaded the URL and landed in this state.
    fn landed(&mut self, at: &Sighting) -> Option<StateIndex> {
        if !self.introduce(at) {
            return None;
        }
        let state = self.known.state(at.key);
        let as_before =
            state.is_some_and(|state| state == INITIAL || self.known.landings().contains(&state));
        if !as_before {
            self.keep(Fact::Appeared { at: at.key, loaded: true });
        }
        let state = self.known.state(at.key)?;
        self.lands_in = state;
        Some(state)
    }

    /// The address of a state at which jobs begin by loading it.
    pub fn entry_address(&self, key: StateKey) -> Option<&str> {
        let state = self.known.state(key).filter(|&state| self.is_entry(state))?;
        self.known.entries().get(&state).map(String::as_str)
    }

    /// Loading an address led to a state.
    fn entered(&mut self, at: &Sighting, address: String, seed: bool, cost: Option<f64>) {
        let is_known = if seed { self.introduce(at) } else { self.known.state(at.key).is_some() };
        if !is_known {
            return;
        }
        let known = self.known.state(at.key);
        if known.is_none_or(|state| !self.known.is_start(state)) {
            self.keep(Fact::Entry { state: at.key, address, seed });
        }
        if let Some((state, cost)) = self.known.state(at.key).zip(cost) {
            self.known.measured_entry(state, cost);
        }
    }

    /// A load of its own address did not lead to a state. The strategy no longer counts on it if
    /// that happens again.
    fn missed_entry(&mut self, state: StateIndex) {
        if self.troubles.missed_entry(state)
            && let Some(explorer) = self.known.explorer()
        {
            explorer.remove_entry(state);
        }
    }

    fn give_up(&mut self, candidate: Slot, reason: JobFailure) {
        let Some(graph) = self.known.graph() else { return };
        let Transition { from, action, .. } = Transition::of(graph, candidate);
        self.keep(Fact::GivenUp { from, action, reason });
    }

    /// A crawler is lost. Its jobs are assigned again, unless the first of them loses crawlers
    /// repeatedly.
    fn lose(&mut self, crawler: CrawlerId) {
        self.idle.remove(&crawler);
        for (place, assigned) in self.busy.remove(&crawler).into_iter().flatten().enumerate() {
            self.written_off += assigned.actions();
            if place == 0 {
                self.lost_with(assigned.candidate);
            } else {
                self.released(assigned.candidate);
            }
        }
    }

    /// Removes a finished job from its crawler, and the jobs after it if their prediction failed.
    fn finish(&mut self, crawler: CrawlerId, job: JobId, outcome: &Outcome) -> Option<Assigned> {
        let led_to = match outcome {
            Outcome::Done { at, .. } => self.known.state(at.key),
            Outcome::Elsewhere { .. } | Outcome::Failed { .. } => None,
        };
        let jobs = self.busy.get_mut(&crawler).filter(|jobs| jobs[0].id == job)?;
        let finished = jobs.pop_front();
        if jobs.front().is_none_or(|next| led_to.is_none() || next.after != led_to) {
            for dropped in self.busy.remove(&crawler).into_iter().flatten() {
                self.released(dropped.candidate);
            }
        }
        finished
    }

    /// Assigns jobs to idle crawlers.
    fn employ(&mut self) {
        let idle: Vec<CrawlerId> = self.idle.keys().copied().collect();
        for crawler in idle {
            let Some(Idle { at, told }) = self.idle.get(&crawler).copied() else { continue };
            if self.stopping.is_none()
                && !self.finished
                && let Some(assigned) = self.find_job(at)
            {
                self.assign(crawler, assigned);
            } else if !told {
                self.idle.insert(crawler, Idle { at, told: true });
                self.out.push(ControllerEffect::Rest { crawler });
            }
        }
    }

    /// Ends the crawl if no job is in flight and no crawler can be given one.
    fn end(&mut self) {
        if self.finished {
            return;
        }
        let Some(graph) = self.known.graph() else {
            // Before the initial state is known, a stop has nothing to wait for.
            if self.stopping.is_some() {
                self.report_end(self.stopping);
            }
            return;
        };
        if !self.busy.is_empty() {
            return;
        }
        let (unexplored, free) = (graph.unexplored(), graph.free());
        if self.stopping.is_none() && unexplored > 0 {
            if self.idle.is_empty() {
                return; // The next crawler gets a job.
            }
            if free > 0 && self.is_short_of_actions() {
                self.stop(StoppedBy::MaxActions);
            } else if free > 0 {
                self.give_up_unreachable();
                // Another state may follow a link that only such a state followed.
                self.employ();
                if !self.busy.is_empty() {
                    return;
                }
                if self.known.graph().is_some_and(|graph| graph.free() > 0) {
                    return self.end();
                }
            }
            if self.stopping.is_none() && self.go_on_with_alike() {
                self.employ();
                if self.busy.is_empty() {
                    self.end();
                }
                return;
            }
            if self.stopping.is_none() {
                self.give_up_cut_off();
            }
        }
        let held = self.known.graph().map_or(0, |graph| graph.unexplored());
        let stopped_by = match self.stopping {
            // What was executed after the application ended may be wrong.
            Some(StoppedBy::NotLoaded) => Some(StoppedBy::NotLoaded),
            stopping => (held > 0).then(|| stopping.unwrap_or(StoppedBy::MaxDepth)),
        };
        self.report_end(stopped_by);
    }

    /// Nothing is left but actions that wait. Says whether some are free now: a sample, or all if
    /// that is wanted. If not, the crawl stops.
    fn go_on_with_alike(&mut self) -> bool {
        if self.graph().is_none_or(|graph| graph.deferred().is_empty()) {
            return false;
        }
        if self.known.explorer().is_some_and(Explorer::check_alike) {
            return true;
        }
        let wants_all = self.known.wants_all();
        if wants_all {
            self.keep(Fact::Undeferred);
        } else if self.graph().is_some_and(|graph| graph.held() > 0) {
            self.stop(StoppedBy::MaxDepth);
        } else {
            self.stop(StoppedBy::PartsCovered);
        }
        wants_all
    }

    fn report_end(&mut self, stopped_by: Option<StoppedBy>) {
        self.finished = true;
        if stopped_by == Some(StoppedBy::NotLoaded) {
            self.blame();
        }
        let complete = stopped_by.is_none() && self.known.given_up().is_empty();
        self.out.push(ControllerEffect::Finished { complete, stopped_by });
    }

    /// Writes down which actions may have ended the application.
    fn blame(&mut self) {
        let (suspects, is_certain) = self.suspects.named();
        let actions = suspects.iter().filter_map(|&slot| Some(self.graph()?.action_of(slot)));
        let actions: BTreeSet<ActionIndex> = actions.collect();
        // Several tabs may have performed the same action.
        let everywhere = is_certain && actions.len() == 1;
        for slot in suspects {
            let Some(graph) = self.known.graph() else { return };
            let Transition { from, action, .. } = Transition::of(graph, slot);
            if graph.target(slot).is_none() {
                self.give_up(slot, JobFailure::NotLoaded);
            }
            self.keep(Fact::Ended { from, action, everywhere });
        }
    }

    /// Gives up what only an action leads to that ends the application.
    fn give_up_cut_off(&mut self) {
        for state in self.known.cut_off().clone() {
            let Some(graph) = self.known.graph() else { return };
            let open = graph.slots(state).filter(|&slot| graph.target(slot).is_none());
            for slot in open.collect::<Vec<Slot>>() {
                self.give_up(slot, JobFailure::Unreachable);
            }
        }
    }

    /// Gives up candidates that no known path reaches.
    fn give_up_unreachable(&mut self) {
        let Some(graph) = self.known.graph() else { return };
        let states = (0..graph.states() as u32).map(StateIndex);
        let states = states.filter(|&state| graph.unexplored_in(state) > 0);
        for state in states.collect::<Vec<StateIndex>>() {
            self.give_up_state(state);
        }
    }

    /// A state does not come back. Its free candidates that no other state offers are given up.
    fn give_up_state(&mut self, state: StateIndex) {
        let Some(graph) = self.known.graph() else { return };
        let free: Vec<Slot> = graph.slots(state).filter(|&slot| graph.is_free(slot)).collect();
        if free.is_empty() {
            return;
        }
        let key = graph.key(state);
        for slot in free {
            if !self.known.is_offered_elsewhere(slot, false) && !self.is_followed_elsewhere(slot) {
                self.give_up(slot, JobFailure::Unreachable);
            }
        }
        self.keep(Fact::Gone { state: key });
    }

    /// Lets another state follow a plain link, if one shows it.
    fn is_followed_elsewhere(&mut self, slot: Slot) -> bool {
        let Some(graph) = self.known.graph() else { return false };
        let link = graph.signature(graph.action_of(slot));
        let next = self.known.next_follower(link);
        let Some(state) = next.map(|next| graph.key(next)) else { return false };
        self.keep(Fact::LinkFollower { link, state });
        true
    }

    /// A claimed candidate was not executed. If its state was found to be gone meanwhile, it is
    /// given up like the others of that state.
    fn released(&mut self, candidate: Slot) {
        let is_lost = self.known.gone().contains(&candidate.state)
            && !self.known.is_offered_elsewhere(candidate, false)
            && !self.is_followed_elsewhere(candidate);
        if is_lost {
            self.give_up(candidate, JobFailure::Unreachable);
        } else {
            self.known.released(candidate);
        }
    }

    /// A job did not reach a state. Says whether the state counts as gone: soon, if it has never
    /// come back and all that it offers was executed elsewhere. A page that failed on the way, as
    /// on a busy machine, says less than a walk that ended in another state.
    fn misses(&mut self, state: StateIndex, ended_elsewhere: bool) -> bool {
        let count = self.troubles.missed(state);
        let loses_nothing = || {
            let graph = self.known.graph();
            graph.is_some_and(|graph| {
                let mut left = graph.slots(state).filter(|&slot| graph.target(slot).is_none());
                left.all(|slot| self.known.is_offered_elsewhere(slot, true))
            })
        };
        let is_new = ended_elsewhere && count >= FEW_MISSES && !self.troubles.has_come_back(state);
        count >= MOST_MISSES || (is_new && loses_nothing())
    }
}
