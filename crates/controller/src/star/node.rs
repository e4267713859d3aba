//! A crawler of a star: finds its own work among the states that it has heard of.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategy::{Described, INITIAL, Settings};

use super::division::Plan;
use super::{Found, Share, Tell, ToNode};
use crate::job::{CrawlerId, Job, JobId, Step};
use crate::outcome::{Outcome, Sighting};

/// So many transitions wait at most before the coordinator hears of them.
const BATCH: usize = 32;
/// A candidate that failed so often is given up.
const MOST_FAILURES: u32 = 2;

/// What a crawler is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin.
    Start,
    /// The URL was loaded.
    Loaded(Sighting),
    /// The job is over.
    Performed(Outcome),
    /// The coordinator answers.
    Received(ToNode),
}

/// What a crawler asks for.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Load the URL, then say so.
    Load,
    /// Do this, then say how it ended.
    Perform(Job),
    /// Tell the coordinator.
    Send(Tell),
    /// The crawl is over.
    Finished,
}

/// A crawler.
pub struct Node {
    crawler: CrawlerId,
    plan: Plan,
    strategy: &'static Described,
    exploring: Settings,
    explorer: Option<Explorer>,
    /// The shares that are its own.
    shares: BTreeSet<usize>,
    at: Option<StateIndex>,
    /// What it is executing.
    doing: Option<Slot>,
    busy: bool,
    /// It has told something and was not answered.
    telling: bool,
    /// The coordinator knows that it is out of work.
    done: bool,
    unsaid: Tell,
    /// News that came before the URL was loaded.
    early: Vec<ToNode>,
    failures: BTreeMap<Slot, u32>,
    jobs: u64,
}

impl Node {
    /// One that knows nothing.
    pub fn new(crawler: CrawlerId, plan: Plan, strategy: &'static Described, exploring: Settings) -> Self {
        Self {
            crawler,
            plan,
            strategy,
            exploring,
            explorer: None,
            shares: BTreeSet::new(),
            at: None,
            doing: None,
            busy: false,
            telling: false,
            done: false,
            unsaid: Tell::hello(crawler),
            early: Vec::new(),
            failures: BTreeMap::new(),
            jobs: 0,
        }
    }

    /// Takes an input in and appends what is to be done about it.
    pub fn handle(&mut self, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Start => self.tell(out),
            Input::Loaded(at) => self.loaded(&at, out),
            Input::Performed(outcome) => self.performed(outcome),
            Input::Received(ToNode::Finished) => {
                out.push(Effect::Finished);
                return;
            }
            Input::Received(ToNode::News { states, shares }) => {
                self.telling = false;
                self.done = false;
                if self.explorer.is_none() {
                    // The credentials: now everybody loads the URL.
                    self.early.push(ToNode::News { states, shares });
                    if !std::mem::replace(&mut self.busy, true) {
                        out.push(Effect::Load);
                    }
                    return;
                }
                self.learn(states, shares);
            }
        }
        self.go_on(out);
    }

    fn explorer(&mut self) -> &mut Explorer {
        self.explorer.as_mut().expect("the URL was loaded")
    }

    fn loaded(&mut self, at: &Sighting, out: &mut Vec<Effect>) {
        self.busy = false;
        let actions = offered(at);
        self.explorer = Some(Explorer::new(self.strategy, self.exploring, at.key, &actions));
        self.at = Some(INITIAL);
        self.set_aside(at.key, &actions);
        self.unsaid.found.push(Found { key: at.key, actions, by: None });
        for news in std::mem::take(&mut self.early) {
            if let ToNode::News { states, shares } = news {
                self.learn(states, shares);
            }
        }
        self.go_on(out);
    }

    /// What of a state is not its own to execute is set aside.
    fn set_aside(&mut self, state: StateKey, actions: &[ActionSignature]) {
        for (place, &action) in actions.iter().enumerate() {
            let share = self.plan.share(state, action, place, actions.len());
            if !self.shares.contains(&share)
                && let Some(slot) = self.slot(state, action)
            {
                self.explorer().claim(slot);
            }
        }
    }

    fn slot(&self, state: StateKey, action: ActionSignature) -> Option<Slot> {
        let graph = self.explorer.as_ref()?.graph();
        graph.slot_of(graph.find(state)?, graph.action_named(action)?)
    }

    fn is_open(&self, slot: Slot) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| explorer.graph().target(slot).is_none())
    }

    fn learn(&mut self, states: Vec<Found>, shares: Vec<Share>) {
        for found in states {
            self.learn_state(&found);
        }
        for share in shares {
            self.take_over(share);
        }
    }

    fn learn_state(&mut self, found: &Found) {
        if self.explorer().graph().find(found.key).is_some() {
            return;
        }
        let by = found.by.and_then(|step| self.slot(step.from, step.action));
        match by.filter(|&slot| self.is_open(slot)) {
            Some(slot) => {
                self.explorer().executed(slot, found.key, || found.actions.clone());
            }
            None => {
                self.explorer().met(found.key, &found.actions);
            }
        }
        self.set_aside(found.key, &found.actions);
    }

    /// A share becomes its own: what of it is not done is free.
    fn take_over(&mut self, share: Share) {
        if !self.shares.insert(share.number) {
            return;
        }
        for step in share.executed {
            if let Some(slot) = self.slot(step.from, step.action).filter(|&slot| self.is_open(slot))
                && self.explorer().graph().find(step.to).is_some()
            {
                self.explorer().executed(slot, step.to, Vec::new);
            }
        }
        for (state, action) in share.closed {
            if let Some(slot) = self.slot(state, action).filter(|&slot| self.is_open(slot)) {
                self.explorer().closed(slot);
            }
        }
        for slot in self.set_aside_of(share.number) {
            self.explorer().released(slot);
        }
    }

    /// The candidates of a share that are set aside.
    fn set_aside_of(&self, share: usize) -> Vec<Slot> {
        let graph = self.explorer.as_ref().expect("the URL was loaded").graph();
        let mut found = Vec::new();
        for state in (0..graph.states() as u32).map(StateIndex) {
            let key = graph.key(state);
            let mut actions: Vec<(ActionSignature, Slot)> =
                graph.slots(state).map(|slot| (graph.signature(graph.action_of(slot)), slot)).collect();
            actions.sort_unstable_by_key(|&(action, _)| action);
            for (place, &(action, slot)) in actions.iter().enumerate() {
                let its = self.plan.share(key, action, place, actions.len()) == share;
                if its && self.doing != Some(slot) && graph.claimed().contains(&slot) {
                    found.push(slot);
                }
            }
        }
        found
    }

    fn performed(&mut self, outcome: Outcome) {
        self.busy = false;
        let slot = self.doing.take().expect("it was doing something");
        let graph = self.explorer().graph();
        let (from, action) = (graph.key(slot.state), graph.signature(graph.action_of(slot)));
        match outcome {
            Outcome::Done { at, .. } => {
                let step = Step { from, action, to: at.key };
                let actions = offered(&at);
                let known = self.explorer().graph().find(at.key);
                if known.is_none() {
                    self.unsaid.found.push(Found { key: at.key, actions: actions.clone(), by: Some(step) });
                }
                if self.is_open(slot) {
                    self.explorer().executed(slot, at.key, || actions.clone());
                } else {
                    self.explorer().met(at.key, &actions);
                }
                if known.is_none() {
                    self.set_aside(at.key, &actions);
                }
                self.unsaid.executed.push(step);
                self.at = self.explorer().graph().find(at.key);
            }
            Outcome::Elsewhere { at, .. } => {
                self.at = self.explorer().graph().find(at.key);
                self.try_again(slot, from, action);
            }
            Outcome::Failed { .. } => {
                self.at = None;
                self.try_again(slot, from, action);
            }
        }
    }

    fn try_again(&mut self, slot: Slot, from: StateKey, action: ActionSignature) {
        let failures = self.failures.entry(slot).or_default();
        *failures += 1;
        let given_up = *failures >= MOST_FAILURES;
        if !self.is_open(slot) {
            return;
        }
        if given_up {
            self.explorer().closed(slot);
            self.unsaid.closed.push((from, action));
        } else {
            self.explorer().released(slot);
        }
    }

    /// Does what there is to do, and says what there is to say.
    fn go_on(&mut self, out: &mut Vec<Effect>) {
        if self.explorer.is_none() {
            return;
        }
        if !self.busy {
            self.next_job(out);
        }
        let out_of_work = !self.busy && !self.done;
        let much = !self.unsaid.found.is_empty() || self.unsaid.executed.len() >= BATCH;
        if !self.telling && (out_of_work || much) {
            self.tell(out);
        }
    }

    fn next_job(&mut self, out: &mut Vec<Effect>) {
        let at = self.at;
        let Some(planned) = self.explorer().choose(at.unwrap_or(INITIAL)) else { return };
        self.explorer().claim(planned.candidate);
        self.doing = Some(planned.candidate);
        self.busy = true;
        self.jobs += 1;
        let graph = self.explorer.as_ref().expect("it has chosen").graph();
        let step = |&slot: &Slot| Step {
            from: graph.key(slot.state),
            action: graph.signature(graph.action_of(slot)),
            to: graph.target(slot).map_or(StateKey(0), |to| graph.key(to)),
        };
        let candidate = step(&planned.candidate);
        out.push(Effect::Perform(Job {
            id: JobId(self.jobs),
            reset: planned.reset || at.is_none(),
            walk: planned.walk.iter().map(step).collect(),
            state: candidate.from,
            action: candidate.action,
        }));
    }

    fn tell(&mut self, out: &mut Vec<Effect>) {
        let mut tell = std::mem::replace(&mut self.unsaid, Tell::hello(self.crawler));
        tell.done = self.explorer.is_some() && !self.busy;
        self.done = tell.done;
        self.telling = true;
        out.push(Effect::Send(tell));
    }
}

/// What a state offers, each once, in the order that numbers them.
fn offered(at: &Sighting) -> Vec<ActionSignature> {
    let mut actions: Vec<ActionSignature> =
        at.offers.iter().flatten().map(|offered| offered.action).collect();
    actions.sort_unstable();
    actions.dedup();
    actions
}
