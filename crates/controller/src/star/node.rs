//! A node of a star: finds work for its crawler among the states that it knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategy::{INITIAL, NamedStrategy, StrategySettings};

use super::division::DivisionPlan;
use super::links::LinkTable;
use super::{Executed, FoundState, HeardUpTo, News, NodeReport, ToNode};
use crate::job::{CrawlerId, Job, JobId, Transition};
use crate::journal::{ContentId, distinct_offers};
use crate::outcome::{ENOUGH, JobFailure, Offered, Outcome, Sighting};
use crate::route::{Hop, WalkTree};
use crate::spent::Spent;

/// A node reports at the latest after this many transitions.
const BATCH: usize = 32;

/// An input of a node.
#[derive(Clone, Debug)]
pub enum NodeInput {
    /// Begin.
    Start,
    /// The URL was loaded; the state, and the content of its page.
    Loaded(Sighting, Option<ContentId>),
    /// The URL could not be loaded.
    NotLoaded,
    /// The job ended.
    Performed(Performed),
    /// The job was not begun, for a reason outside the application.
    NotBegun,
    /// The coordinator answers.
    Message(ToNode),
    /// Time has passed: repeat an unanswered report, and report what waits.
    Remind,
    /// The crawler has another id from now on, and stands nowhere.
    Renamed(CrawlerId),
}

/// How a job ended.
#[derive(Clone, Debug)]
pub struct Performed {
    /// The outcome.
    pub outcome: Outcome,
    /// What it cost.
    pub spent: Spent,
    /// The content of the page where the crawler stands.
    pub content: Option<ContentId>,
}

/// An effect that a node asks its driver for.
#[derive(Clone, Debug)]
pub enum NodeEffect {
    /// Load the URL, then send `Loaded` or `NotLoaded`.
    Load,
    /// Perform a job, then send `Performed` or `NotBegun`.
    Perform(Job),
    /// Report to the coordinator.
    Send(NodeReport),
    /// The crawl is over.
    Finished,
}

/// A node.
pub struct StarNode {
    crawler: CrawlerId,
    pub(super) strategy: &'static NamedStrategy,
    exploring: StrategySettings,
    /// Plain links that the states offer to which a load of the URL leads: they load the seeds.
    seeds: Arc<[ActionSignature]>,
    /// How work is divided, once the coordinator has said so.
    pub(super) plan: Option<DivisionPlan>,
    pub(super) explorer: Option<Explorer>,
    /// The shares that it holds.
    pub(super) shares: BTreeSet<usize>,
    /// Actions outside its shares that it was asked to try.
    pub(super) adopted: BTreeSet<Slot>,
    pub(super) links: LinkTable,
    /// The announced offers of states where the node itself saw others.
    pub(super) corrected: BTreeMap<StateKey, Vec<ActionSignature>>,
    /// Further destinations of transitions.
    strays: BTreeMap<Slot, BTreeSet<StateIndex>>,
    at: Option<StateIndex>,
    /// The job under way.
    doing: Option<(Slot, Job)>,
    busy: bool,
    /// The report that is not answered yet.
    said: Option<NodeReport>,
    /// Counts its reports.
    number: u64,
    heard: HeardUpTo,
    /// The coordinator knows that it has no work.
    done: bool,
    pub(super) unsaid: NodeReport,
    /// News that arrived before the URL was loaded.
    early: Vec<News>,
    against: BTreeMap<Slot, u32>,
    jobs: u64,
    /// The effects of the input that it is handling.
    out: Vec<NodeEffect>,
}

impl StarNode {
    /// A node that knows nothing.
    pub fn new(
        crawler: CrawlerId,
        strategy: &'static NamedStrategy,
        exploring: StrategySettings,
    ) -> Self {
        Self {
            crawler,
            strategy,
            exploring,
            seeds: [].into(),
            plan: None,
            explorer: None,
            shares: BTreeSet::new(),
            adopted: BTreeSet::new(),
            links: LinkTable::default(),
            corrected: BTreeMap::new(),
            strays: BTreeMap::new(),
            at: None,
            doing: None,
            busy: false,
            said: None,
            number: 0,
            heard: HeardUpTo::default(),
            done: false,
            unsaid: NodeReport::hello(crawler),
            early: Vec::new(),
            against: BTreeMap::new(),
            jobs: 0,
            out: Vec::new(),
        }
    }

    /// The same in a crawl that begins at further addresses; these links load them.
    #[must_use]
    pub fn with_seeds(mut self, seeds: Arc<[ActionSignature]>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Handles an input and appends the effects.
    pub fn handle(&mut self, input: NodeInput, out: &mut Vec<NodeEffect>) {
        let mut say = false;
        match input {
            NodeInput::Start => say = true,
            NodeInput::Loaded(at, content) => self.on_loaded(&at, content),
            NodeInput::NotLoaded => self.out.push(NodeEffect::Load),
            NodeInput::Performed(performed) => self.on_performed(performed),
            NodeInput::NotBegun => self.abandon(),
            NodeInput::Message(ToNode::Finished) => {
                out.push(NodeEffect::Finished);
                return;
            }
            NodeInput::Message(ToNode::News(news)) => self.on_news(news),
            NodeInput::Remind => {
                let unsaid = !self.unsaid.found.is_empty() || !self.unsaid.executed.is_empty();
                say = self.said.is_some() || unsaid;
            }
            NodeInput::Renamed(crawler) => {
                self.crawler = crawler;
                self.abandon();
                self.at = None;
                say = true;
                if self.explorer.is_none() && !self.early.is_empty() {
                    self.busy = true;
                    self.out.push(NodeEffect::Load);
                }
            }
        }
        self.go_on(say);
        out.append(&mut self.out);
    }

    pub(super) fn explorer(&mut self) -> &mut Explorer {
        self.explorer.as_mut().expect("the URL was loaded")
    }

    fn on_news(&mut self, news: News) {
        // An answer to an older report: the newer one is answered too.
        if self.said.is_none() || news.number != self.number {
            return;
        }
        self.said = None;
        self.done = false;
        self.plan = Some(news.plan);
        self.heard = HeardUpTo {
            states: news.after.states.saturating_add(news.states.len()),
            plain: news.after.plain.saturating_add(news.plain.len()),
        };
        if self.explorer.is_some() {
            self.learn(news);
            return;
        }
        // The first answer: load the URL now.
        self.early.push(news);
        if !std::mem::replace(&mut self.busy, true) {
            self.out.push(NodeEffect::Load);
        }
    }

    fn on_loaded(&mut self, at: &Sighting, content: Option<ContentId>) {
        self.busy = false;
        let seeds = self.seeds.iter().map(|&action| Offered { action, once: true });
        let offers = at.offers.iter().flatten().copied().chain(seeds).collect();
        let here = found(&Sighting::described(at.key, offers), None, content);
        // All nodes share the initial state of the first one.
        let heard = self.early.iter().find(|news| news.after.states == 0);
        let heard = heard.and_then(|news| news.states.first());
        let first = heard.unwrap_or(&here).clone();
        self.explorer =
            Some(Explorer::new(self.strategy, self.exploring, first.key, &first.actions));
        self.links.learn(first.key, &first.links);
        self.set_aside(first.key, &first.actions);
        self.met(here);
        self.at = self.find(at.key);
        for news in std::mem::take(&mut self.early) {
            self.learn(news);
        }
    }

    /// Takes in the state where the crawler stands, which may be new.
    fn met(&mut self, found: FoundState) {
        if self.find(found.key).is_none() {
            self.explorer().add_state(found.key, &found.actions);
            self.links.learn(found.key, &found.links);
            self.set_aside(found.key, &found.actions);
        } else if found.by.is_some() {
            return;
        }
        self.unsaid.found.push(found);
    }

    pub(super) fn find(&self, state: StateKey) -> Option<StateIndex> {
        self.explorer.as_ref()?.graph().find(state)
    }

    pub(super) fn slot(&self, state: StateKey, action: ActionSignature) -> Option<Slot> {
        let graph = self.explorer.as_ref()?.graph();
        graph.slot_of(graph.find(state)?, graph.action_named(action)?)
    }

    pub(super) fn is_open(&self, slot: Slot) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| explorer.graph().target(slot).is_none())
    }

    pub(super) fn is_free(&self, slot: Slot) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| explorer.graph().is_free(slot))
    }

    pub(super) fn is_doing(&self, slot: Slot) -> bool {
        self.doing.as_ref().is_some_and(|(doing, _)| *doing == slot)
    }

    /// Whether a candidate is deferred.
    pub(super) fn is_aside(&self, slot: Slot) -> bool {
        let claimed = self.explorer.as_ref().map(|explorer| explorer.graph().claimed());
        claimed.is_some_and(|claimed| claimed.contains(&slot)) && !self.is_doing(slot)
    }

    fn learn(&mut self, news: News) {
        for found in news.states {
            self.learn_state(&found);
        }
        for action in news.plain {
            self.learn_plain(action);
        }
        for share in news.gone {
            self.give_away(share);
        }
        for share in news.shares {
            self.take_over(share);
        }
        for (state, action) in news.unreached {
            self.adopt(state, action);
        }
    }

    fn learn_state(&mut self, found: &FoundState) {
        if self.find(found.key).is_some() {
            self.correct(found);
            return;
        }
        self.links.learn(found.key, &found.links);
        let by = found.by.and_then(|step| self.slot(step.from, step.action));
        match by.filter(|&slot| self.is_open(slot)) {
            Some(slot) => {
                self.explorer().record(slot, found.key, || found.actions.clone());
            }
            None => {
                let landing = self.explorer().add_state(found.key, &found.actions);
                if let Some(slot) = by {
                    self.strays.entry(slot).or_default().insert(landing.state);
                }
            }
        }
        self.set_aside(found.key, &found.actions);
    }

    fn on_performed(&mut self, performed: Performed) {
        self.busy = false;
        let (slot, job) = self.doing.take().expect("it was doing something");
        let Performed { outcome, spent, content } = performed;
        match outcome {
            Outcome::Done { at, once, notes } => {
                let step = Transition { from: job.state, action: job.action, to: at.key };
                let here = found(&at, Some(step), content);
                let new = self.find(at.key).is_none();
                self.links.learn(at.key, if new { &here.links } else { &[] });
                if self.is_open(slot) {
                    self.explorer().record(slot, at.key, || here.actions.clone());
                } else {
                    self.explorer().add_state(at.key, &here.actions);
                }
                if new {
                    self.set_aside(at.key, &here.actions);
                    self.unsaid.found.push(here);
                }
                if once && !self.links.contains(step.from, step.action) {
                    self.learn_plain(step.action);
                }
                self.unsaid.executed.push(Executed { step, once, notes });
                self.at = self.find(at.key);
            }
            Outcome::Elsewhere { went_right, at } => {
                let step = job.strayed(went_right, spent, at.key);
                self.strayed(step, job.reset, &at, content);
                self.at = self.find(at.key);
                self.failed(slot, &job, JobFailure::Unreachable);
            }
            Outcome::Failed { went_right, reason } => {
                self.at = None;
                self.failed(slot, &job, job.failure(went_right, spent, reason));
            }
        }
    }

    /// The crawler stands in an unexpected state, by this transition if it is known. A single stray
    /// counts only after a reset, or if it found a new state: every state needs a path.
    fn strayed(
        &mut self,
        step: Option<Transition>,
        certain: bool,
        at: &Sighting,
        content: Option<ContentId>,
    ) {
        let new = self.find(at.key).is_none();
        if new {
            self.met(found(at, step, content));
        }
        let Some(step) = step.filter(|_| certain || new) else { return };
        self.unsaid.strayed.push(step);
        if let (Some(slot), Some(to)) = (self.slot(step.from, step.action), self.find(step.to)) {
            self.strays.entry(slot).or_default().insert(to);
        }
    }

    /// Retries a candidate that was not executed, or gives it up after too many failures.
    fn failed(&mut self, slot: Slot, job: &Job, reason: JobFailure) {
        let against = self.against.entry(slot).or_default();
        *against += reason.weight();
        let enough = *against >= ENOUGH;
        if !self.is_open(slot) {
            return;
        }
        if !enough {
            self.release(slot, job);
            return;
        }
        self.explorer().close(slot);
        self.unsaid.closed.push((job.state, job.action, reason));
        if self.links.contains(job.state, job.action) {
            self.pursue_elsewhere(job.action);
        }
    }

    /// Drops the job under way without a report.
    fn abandon(&mut self) {
        self.busy = false;
        if let Some((slot, job)) = self.doing.take() {
            self.release(slot, &job);
        }
    }

    /// Starts the next job, and reports if a report is due.
    fn go_on(&mut self, say: bool) {
        if self.explorer.is_some() && !self.busy {
            self.next_job();
        }
        let out_of_work = self.explorer.is_some() && !self.busy && !self.done;
        let much = !self.unsaid.found.is_empty() || self.unsaid.executed.len() >= BATCH;
        if say || self.said.is_none() && (out_of_work || much) {
            self.tell();
        }
    }

    fn next_job(&mut self) {
        let at = self.at;
        let planned = self.explorer().choose(at.unwrap_or(INITIAL));
        let (reset, walk, candidate) = match planned {
            Some(planned) => {
                let graph = self.explorer().graph();
                let walk = planned.walk.iter().map(|&slot| Transition::of(graph, slot)).collect();
                (planned.reset || at.is_none(), walk, planned.candidate)
            }
            None => match self.by_strays() {
                Some((walk, candidate)) => (true, walk, candidate),
                None => return,
            },
        };
        self.explorer().claim(candidate);
        self.busy = true;
        self.jobs += 1;
        let last = Transition::of(self.explorer().graph(), candidate);
        let job = Job { id: JobId(self.jobs), reset, walk, state: last.from, action: last.action };
        self.doing = Some((candidate, job.clone()));
        self.out.push(NodeEffect::Perform(job));
    }

    /// Work in a state that only non-deterministic transitions reach: the nearest after a reset.
    fn by_strays(&self) -> Option<(Vec<Transition>, Slot)> {
        let graph = self.explorer.as_ref()?.graph();
        if graph.free() == 0 {
            return None;
        }
        let hops = |slot: Slot| {
            let strays = self.strays.get(&slot).into_iter().flatten().copied();
            graph.target(slot).into_iter().chain(strays).map(move |to| Hop { slot, to })
        };
        let mut tree = WalkTree::new(graph, vec![INITIAL]);
        let has_work = |state| graph.first_unexplored(state).is_some();
        let state = tree.grow(|state| graph.slots(state).flat_map(hops), has_work)?;
        let walk = tree.walk_to(state)?.iter().map(|hop| hop.named(graph)).collect();
        Some((walk, graph.first_unexplored(state)?))
    }

    /// Reports what is new, together with the last report if it was not answered.
    fn tell(&mut self) {
        let new = std::mem::replace(&mut self.unsaid, NodeReport::hello(self.crawler));
        let mut tell = self.said.take().unwrap_or_else(|| NodeReport::hello(self.crawler));
        tell.found.extend(new.found);
        tell.executed.extend(new.executed);
        tell.strayed.extend(new.strayed);
        tell.closed.extend(new.closed);
        self.number += 1;
        (tell.crawler, tell.number, tell.heard) = (self.crawler, self.number, self.heard);
        tell.shares = self.shares.iter().copied().collect();
        tell.done = self.explorer.is_some() && !self.busy;
        self.done = tell.done;
        self.said = Some(tell.clone());
        self.out.push(NodeEffect::Send(tell));
    }
}

/// A state as a crawler saw it: what it offers, each once, sorted.
fn found(at: &Sighting, by: Option<Transition>, content: Option<ContentId>) -> FoundState {
    let offers = distinct_offers(at.offers.iter().flatten().copied());
    FoundState::of(at.key, &offers, by, content)
}
