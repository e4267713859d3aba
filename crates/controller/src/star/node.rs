//! A crawler of a star: finds its own work among the states that it has heard of.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategy::{INITIAL, NamedStrategy, StrategySettings};

use super::division::DivisionPlan;
use super::links::LinkTable;
use super::{Executed, FoundState, HeardUpTo, News, NodeReport, ToNode};
use crate::job::{CrawlerId, Job, JobId, Transition};
use crate::journal::ContentId;
use crate::outcome::{ENOUGH, JobFailure, Outcome, Sighting};
use crate::spent::Spent;

/// So many transitions wait at most before the coordinator hears of them.
const BATCH: usize = 32;

/// What a crawler is told.
#[derive(Clone, Debug)]
pub enum NodeInput {
    /// Begin.
    Start,
    /// The URL was loaded; what the page is like.
    Loaded(Sighting, Option<ContentId>),
    /// The URL could not be loaded.
    NotLoaded,
    /// The job is over.
    Performed(Performed),
    /// The job was not begun, for reasons that have nothing to do with it.
    NotBegun,
    /// The coordinator answers.
    Received(ToNode),
    /// Time has passed: what was not answered is said again, and what was not said is said.
    Remind,
    /// It goes by another name from now on, and stands nowhere.
    Renamed(CrawlerId),
}

/// How a job ended.
#[derive(Clone, Debug)]
pub struct Performed {
    /// How.
    pub outcome: Outcome,
    /// What that has cost.
    pub spent: Spent,
    /// What the page is like where the crawler stands.
    pub content: Option<ContentId>,
}

/// What a crawler asks for.
#[derive(Clone, Debug)]
pub enum NodeEffect {
    /// Load the URL, then say so.
    Load,
    /// Do this, then say how it ended.
    Perform(Job),
    /// Tell the coordinator.
    Send(NodeReport),
    /// The crawl is over.
    Finished,
}

/// A crawler.
pub struct StarNode {
    crawler: CrawlerId,
    strategy: &'static NamedStrategy,
    exploring: StrategySettings,
    /// How work is divided, as soon as it was told.
    pub(super) plan: Option<DivisionPlan>,
    pub(super) explorer: Option<Explorer>,
    /// The shares that are its own.
    pub(super) shares: BTreeSet<usize>,
    /// What it was asked to execute though it is not in its shares.
    pub(super) adopted: BTreeSet<Slot>,
    pub(super) links: LinkTable,
    /// What states offer of which it has seen something else itself.
    pub(super) corrected: BTreeMap<StateKey, Vec<ActionSignature>>,
    /// Where transitions led besides.
    strays: BTreeMap<Slot, BTreeSet<StateIndex>>,
    at: Option<StateIndex>,
    /// What it is executing.
    doing: Option<(Slot, Job)>,
    busy: bool,
    /// What it has told and was not answered.
    said: Option<NodeReport>,
    /// Counts what it says.
    number: u64,
    heard: HeardUpTo,
    /// The coordinator knows that it is out of work.
    done: bool,
    pub(super) unsaid: NodeReport,
    /// News that came before the URL was loaded.
    early: Vec<News>,
    against: BTreeMap<Slot, u32>,
    jobs: u64,
}

impl StarNode {
    /// One that knows nothing.
    pub fn new(
        crawler: CrawlerId,
        strategy: &'static NamedStrategy,
        exploring: StrategySettings,
    ) -> Self {
        Self {
            crawler,
            strategy,
            exploring,
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
        }
    }

    /// Takes an input in and appends what is to be done about it.
    pub fn handle(&mut self, input: NodeInput, out: &mut Vec<NodeEffect>) {
        let mut say = false;
        match input {
            NodeInput::Start => say = true,
            NodeInput::Loaded(at, content) => self.loaded(&at, content),
            NodeInput::NotLoaded => out.push(NodeEffect::Load),
            NodeInput::Performed(performed) => self.performed(performed),
            NodeInput::NotBegun => self.abandon(),
            NodeInput::Received(ToNode::Finished) => {
                out.push(NodeEffect::Finished);
                return;
            }
            NodeInput::Received(ToNode::News(news)) => self.received(news, out),
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
                    out.push(NodeEffect::Load);
                }
            }
        }
        self.go_on(say, out);
    }

    pub(super) fn explorer(&mut self) -> &mut Explorer {
        self.explorer.as_mut().expect("the URL was loaded")
    }

    fn received(&mut self, news: News, out: &mut Vec<NodeEffect>) {
        // What answers something that was said again since will come again.
        if self.said.is_none() || news.number != self.number {
            return;
        }
        self.said = None;
        self.done = false;
        self.plan = Some(news.plan);
        self.heard = HeardUpTo {
            states: news.after.states + news.states.len(),
            plain: news.after.plain + news.plain.len(),
        };
        if self.explorer.is_some() {
            self.learn(news);
            return;
        }
        // The credentials: now everybody loads the URL.
        self.early.push(news);
        if !std::mem::replace(&mut self.busy, true) {
            out.push(NodeEffect::Load);
        }
    }

    fn loaded(&mut self, at: &Sighting, content: Option<ContentId>) {
        self.busy = false;
        let here = found(at, None, content);
        // Where everybody begins is where whoever was first began.
        let heard = self
            .early
            .iter()
            .find(|news| news.after.states == 0)
            .and_then(|news| news.states.first());
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

    /// It stands in a state that may be new.
    fn met(&mut self, found: FoundState) {
        if self.find(found.key).is_none() {
            self.explorer().met(found.key, &found.actions);
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

    /// Whether a candidate is set aside.
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
                self.explorer().executed(slot, found.key, || found.actions.clone());
            }
            None => {
                let landing = self.explorer().met(found.key, &found.actions);
                if let Some(slot) = by {
                    self.strays.entry(slot).or_default().insert(landing.state);
                }
            }
        }
        self.set_aside(found.key, &found.actions);
    }

    fn performed(&mut self, performed: Performed) {
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
                    self.explorer().executed(slot, at.key, || here.actions.clone());
                } else {
                    self.explorer().met(at.key, &here.actions);
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
                let wrong = job
                    .walk
                    .get(went_right as usize)
                    .filter(|step| spent.actions > 0 && step.to != at.key);
                self.strayed(wrong.copied(), job.reset, &at, content);
                self.at = self.find(at.key);
                self.failed(slot, &job, JobFailure::Unreachable);
            }
            Outcome::Failed { went_right, reason } => {
                self.at = None;
                let on_the_way = (went_right as usize) < job.walk.len();
                let about_the_way = on_the_way && !reason.is_about_nothing();
                self.failed(
                    slot,
                    &job,
                    if about_the_way { JobFailure::Unreachable } else { reason },
                );
            }
        }
    }

    /// It stands elsewhere than it should, by this transition if it is known by which. What happened once may be due to
    /// something that cannot be seen, unless the way began with a reset; but there must be a way to every state.
    fn strayed(
        &mut self,
        wrong: Option<Transition>,
        certain: bool,
        at: &Sighting,
        content: Option<ContentId>,
    ) {
        let step = wrong.map(|step| Transition { to: at.key, ..step });
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

    /// A candidate was not executed: it is tried again, or given up if it failed too often.
    fn failed(&mut self, slot: Slot, job: &Job, reason: JobFailure) {
        let against = self.against.entry(slot).or_default();
        *against += reason.speaks_against();
        let enough = *against >= ENOUGH;
        if !self.is_open(slot) {
            return;
        }
        if !enough {
            self.release(slot, job);
            return;
        }
        self.explorer().closed(slot);
        self.unsaid.closed.push((job.state, job.action, reason));
        if self.links.contains(job.state, job.action) {
            self.pursue_elsewhere(job.action);
        }
    }

    /// What it was doing was not done, and it says nothing about that.
    fn abandon(&mut self) {
        self.busy = false;
        if let Some((slot, job)) = self.doing.take() {
            self.release(slot, &job);
        }
    }

    /// Does what there is to do, and says what there is to say.
    fn go_on(&mut self, say: bool, out: &mut Vec<NodeEffect>) {
        if self.explorer.is_some() && !self.busy {
            self.next_job(out);
        }
        let out_of_work = self.explorer.is_some() && !self.busy && !self.done;
        let much = !self.unsaid.found.is_empty() || self.unsaid.executed.len() >= BATCH;
        if say || self.said.is_none() && (out_of_work || much) {
            self.tell(out);
        }
    }

    fn next_job(&mut self, out: &mut Vec<NodeEffect>) {
        let at = self.at;
        let planned = self.explorer().choose(at.unwrap_or(INITIAL));
        let (reset, walk, candidate) = match planned {
            Some(planned) => {
                let graph = self.explorer().graph();
                let walk = planned.walk.iter().map(|&slot| step(graph, slot)).collect();
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
        let last = step(self.explorer().graph(), candidate);
        let job = Job { id: JobId(self.jobs), reset, walk, state: last.from, action: last.action };
        self.doing = Some((candidate, job.clone()));
        out.push(NodeEffect::Perform(job));
    }

    /// Something to do in a state that is only reached by transitions that sometimes lead elsewhere: the nearest after a
    /// reset.
    fn by_strays(&self) -> Option<(Vec<Transition>, Slot)> {
        let graph = self.explorer.as_ref()?.graph();
        if graph.free() == 0 {
            return None;
        }
        let mut entered: BTreeMap<StateIndex, Option<Transition>> =
            BTreeMap::from([(INITIAL, None)]);
        let mut queue = VecDeque::from([INITIAL]);
        while let Some(state) = queue.pop_front() {
            if let Some(candidate) = graph.first_unexplored(state) {
                let mut walk = Vec::new();
                let mut at = Some(state);
                while let Some(step) = at.and_then(|at| entered[&at]) {
                    walk.push(step);
                    at = graph.find(step.from);
                }
                walk.reverse();
                return Some((walk, candidate));
            }
            for slot in graph.slots(state) {
                let strays = self.strays.get(&slot).into_iter().flatten().copied();
                for to in graph.target(slot).into_iter().chain(strays) {
                    entered.entry(to).or_insert_with(|| {
                        queue.push_back(to);
                        Some(Transition { to: graph.key(to), ..step(graph, slot) })
                    });
                }
            }
        }
        None
    }

    /// Says what there is to say, and again what was not answered.
    fn tell(&mut self, out: &mut Vec<NodeEffect>) {
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
        out.push(NodeEffect::Send(tell));
    }
}

/// A slot in names.
pub(super) fn step(graph: &argiope_explore::graph::Graph, slot: Slot) -> Transition {
    Transition {
        from: graph.key(slot.state),
        action: graph.signature(graph.action_of(slot)),
        to: graph.target(slot).map_or(StateKey(0), |to| graph.key(to)),
    }
}

/// A state as it was seen: what it offers, each once, in the order that numbers them.
fn found(at: &Sighting, by: Option<Transition>, content: Option<ContentId>) -> FoundState {
    let mut offered: BTreeMap<ActionSignature, bool> = BTreeMap::new();
    for offer in at.offers.iter().flatten() {
        *offered.entry(offer.action).or_default() |= offer.once;
    }
    let links = offered.iter().filter(|&(_, &once)| once).map(|(&action, _)| action).collect();
    FoundState { key: at.key, actions: offered.into_keys().collect(), links, by, content }
}
