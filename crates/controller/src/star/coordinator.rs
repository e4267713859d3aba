//! The coordinator of a star: collects what nodes report, and sends each node what it lacks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_explore::id::{ActionSignature, StateKey};

use super::division::DivisionPlan;
use super::{ActionShare, Executed, FoundState, HeardUpTo, News, NodeReport, ToNode};
use crate::job::{CrawlerId, Route, Transition, longer};
use crate::journal::{ContentId, Fact};
use crate::outcome::{JobFailure, Note, Offered};

/// An input of the coordinator.
#[derive(Clone, Debug)]
pub enum CoordinatorInput {
    /// Begin or resume.
    Start,
    /// A node reports.
    Report(NodeReport),
    /// A node is lost.
    NodeLoss(CrawlerId),
    /// A timer fired.
    Timer(CoordinatorTimer),
}

/// A timer of the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoordinatorTimer {
    /// Begin with the nodes that have reported.
    Gather,
    /// Look for silent nodes.
    Silence,
}

/// An effect that the coordinator asks its driver for.
#[derive(Clone, Debug)]
pub enum CoordinatorEffect {
    /// Make this durable before any answer leaves.
    Keep(Fact),
    /// Answer a node.
    Answer(CrawlerId, ToNode),
    /// Start a timer of this many microseconds.
    Wake(CoordinatorTimer, u64),
    /// The crawl is over.
    Finished,
}

/// Timeouts, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct CoordinatorTimeouts {
    /// The assumed time of a task. The first expected silence is a multiple of it.
    pub task: u64,
    /// The longest wait for the expected nodes.
    pub gather: u64,
}

/// A node is lost when it is silent for this multiple of the longest silence so far.
const SILENCE: u64 = 2;

/// The longest silence expected at first, in tasks.
const EXPECTED: u64 = 8;

/// One answer carries at most this many states; the next answers carry the rest.
const STATES_AT_ONCE: usize = 4096;

/// A node, as the coordinator knows it.
#[derive(Default)]
struct Known {
    /// The number of its last report.
    number: u64,
    shares: Vec<usize>,
    /// The shares that its last report listed.
    has: Vec<usize>,
    /// What the node has acknowledged.
    told: HeardUpTo,
    heard: u64,
    /// It waits for an answer.
    asks: bool,
    /// The node has no work left.
    done: bool,
}

/// A second attempt at an action that a node could not reach.
struct Retry {
    /// The node that failed.
    not_by: Option<CrawlerId>,
    /// The node that was asked to try.
    by: Option<CrawlerId>,
}

/// An action of a state.
type Of = (StateKey, ActionSignature);

/// The coordinator.
pub struct Coordinator {
    plan: DivisionPlan,
    times: CoordinatorTimeouts,
    crawlers: BTreeMap<CrawlerId, Known>,
    /// Shares that no node holds.
    free: BTreeSet<usize>,
    begun: bool,
    /// The states in the order in which they were reported.
    states: Vec<FoundState>,
    places: BTreeMap<StateKey, usize>,
    executed: BTreeMap<Of, StateKey>,
    notes: BTreeMap<Of, Vec<Note>>,
    strays: BTreeSet<(Of, StateKey)>,
    closed: BTreeMap<Of, JobFailure>,
    /// Actions that one node could not reach and another is to try.
    retries: BTreeMap<Of, Retry>,
    /// Actions that turned out to be plain links, in the order in which they were reported.
    plain: Vec<ActionSignature>,
    /// Plain links that a state offers.
    links: BTreeSet<ActionSignature>,
    /// The number of actions to execute, executed ones included.
    offered: usize,
    /// The longest silence of a node with work.
    longest: u64,
    finished: bool,
    /// The effects of the input that it is handling.
    out: Vec<CoordinatorEffect>,
}

impl Coordinator {
    /// Waits for as many nodes as there are shares.
    pub fn new(plan: DivisionPlan, times: CoordinatorTimeouts) -> Self {
        Self {
            plan,
            times,
            crawlers: BTreeMap::new(),
            free: (0..plan.shares).collect(),
            begun: false,
            states: Vec::new(),
            places: BTreeMap::new(),
            executed: BTreeMap::new(),
            notes: BTreeMap::new(),
            strays: BTreeSet::new(),
            closed: BTreeMap::new(),
            retries: BTreeMap::new(),
            plain: Vec::new(),
            links: BTreeSet::new(),
            offered: 0,
            longest: EXPECTED * times.task,
            finished: false,
            out: Vec::new(),
        }
    }

    /// Resumes from durable facts, in their order. The nodes report which shares they hold.
    pub fn restored<'a>(
        plan: DivisionPlan,
        times: CoordinatorTimeouts,
        facts: impl IntoIterator<Item = &'a Fact>,
    ) -> Self {
        let mut coordinator = Self::new(plan, times);
        for fact in facts {
            match *fact {
                Fact::State { key, ref offers, ref route, content } => {
                    let by = route.as_ref().and_then(|route| route.last().copied());
                    coordinator.learn_state(FoundState::of(key, offers, by, content));
                }
                Fact::Transition { from, action, to, ref notes } => {
                    coordinator.learn_step(Transition { from, action, to }, notes.clone());
                }
                Fact::GivenUp { from, action, reason } => {
                    coordinator.learn_closed((from, action), reason, None);
                }
                Fact::Stray { from, action, to } => {
                    coordinator.learn_stray(Transition { from, action, to });
                }
                Fact::PlainLink { action } => coordinator.learn_plain(action),
                // The division decides which node follows a link. The coordinator does not use the
                // other kinds.
                Fact::LinkFollower { .. }
                | Fact::Appeared { .. }
                | Fact::Spent { .. }
                | Fact::Gone { .. }
                | Fact::Entry { .. }
                | Fact::Parts { .. }
                | Fact::Undeferred
                | Fact::Ended { .. } => {}
            }
        }
        // What was learned is durable.
        coordinator.out.clear();
        coordinator
    }

    /// The states that were found.
    pub fn states(&self) -> &[FoundState] {
        &self.states
    }

    /// The destination of an action of a state, if it was executed.
    pub fn target(&self, state: StateKey, action: ActionSignature) -> Option<StateKey> {
        self.executed.get(&(state, action)).copied()
    }

    /// The number of executed transitions.
    pub fn transitions(&self) -> usize {
        self.executed.len()
    }

    /// The number of known actions that are left to execute, without second attempts.
    pub fn left(&self) -> usize {
        let given_up = self.closed.keys().filter(|of| !self.executed.contains_key(of)).count();
        self.offered.saturating_sub(self.executed.len() + given_up)
    }

    /// The number of nodes with work.
    pub fn at_work(&self) -> usize {
        self.crawlers.values().filter(|known| !known.done).count()
    }

    /// The crawlers of all nodes that reported, without those that `NodeLoss` removed.
    pub fn crawlers(&self) -> impl Iterator<Item = CrawlerId> + '_ {
        self.crawlers.keys().copied()
    }

    /// The content of a state's page.
    pub fn content(&self, state: StateKey) -> Option<ContentId> {
        self.found(state)?.content
    }

    fn found(&self, state: StateKey) -> Option<&FoundState> {
        self.places.get(&state).map(|&place| &self.states[place])
    }

    /// Handles an input at a time in microseconds, and appends the effects.
    pub fn handle(&mut self, now: u64, input: CoordinatorInput, out: &mut Vec<CoordinatorEffect>) {
        match input {
            CoordinatorInput::Start => {
                self.out.push(CoordinatorEffect::Wake(CoordinatorTimer::Gather, self.times.gather));
            }
            CoordinatorInput::Report(tell) => self.on_report(now, tell),
            CoordinatorInput::NodeLoss(crawler) => {
                if let Some(known) = self.crawlers.remove(&crawler) {
                    self.free.extend(known.shares);
                    self.ask_others(crawler);
                }
            }
            CoordinatorInput::Timer(CoordinatorTimer::Gather) if self.begun => {}
            CoordinatorInput::Timer(CoordinatorTimer::Gather) if self.crawlers.is_empty() => {
                self.out.push(CoordinatorEffect::Wake(CoordinatorTimer::Gather, self.times.gather));
            }
            CoordinatorInput::Timer(CoordinatorTimer::Gather) => self.begin(),
            CoordinatorInput::Timer(CoordinatorTimer::Silence) => {
                self.look_for_lost(now);
                if !self.finished {
                    self.watch_for_silence();
                }
            }
        }
        self.answer(now);
        out.append(&mut self.out);
    }

    fn begin(&mut self) {
        self.begun = true;
        self.watch_for_silence();
    }

    fn watch_for_silence(&mut self) {
        self.out.push(CoordinatorEffect::Wake(CoordinatorTimer::Silence, SILENCE * self.longest));
    }

    fn on_report(&mut self, now: u64, tell: NodeReport) {
        if self.finished {
            self.out.push(CoordinatorEffect::Answer(tell.crawler, ToNode::Finished));
            return;
        }
        let new = Known { heard: now, asks: true, done: true, ..Known::default() };
        let known = self.crawlers.entry(tell.crawler).or_insert(new);
        // An older report, overtaken by a newer one.
        if tell.number <= known.number {
            return;
        }
        if self.begun && !known.done {
            self.longest = self.longest.max(now - known.heard);
        }
        (known.number, known.heard, known.asks, known.told) = (tell.number, now, true, tell.heard);
        known.done = tell.done || (!self.begun && tell.shares.is_empty());
        // It keeps the shares that it lists, unless another node holds them.
        known.shares.extend(tell.shares.iter().copied().filter(|share| self.free.remove(share)));
        known.has = tell.shares;
        for found in tell.found {
            self.learn_state(found);
        }
        for Executed { step, once, notes } in tell.executed {
            self.learn_step(step, notes);
            if once && !self.is_link(step.from, step.action) {
                self.learn_plain(step.action);
            }
        }
        for step in tell.strayed {
            self.learn_stray(step);
        }
        for (state, action, why) in tell.closed {
            self.learn_closed((state, action), why, Some(tell.crawler));
        }
        if !self.begun && self.crawlers.len() >= self.plan.shares {
            self.begin();
        }
    }

    fn learn_state(&mut self, found: FoundState) {
        if self.places.contains_key(&found.key) {
            return;
        }
        let counts = |action: &&ActionSignature| {
            let again = found.has_link(action) && self.links.contains(action);
            !again && !self.plain.contains(action)
        };
        self.offered += found.actions.iter().filter(counts).count();
        self.links.extend(&found.links);
        let fact = found.fact(self.route_by(found.by), &[]);
        self.out.push(CoordinatorEffect::Keep(fact));
        self.places.insert(found.key, self.states.len());
        self.states.push(found);
    }

    /// Whether a state offers an action, by the first report of the state. Later reports do not
    /// count.
    fn offers(&self, (state, action): Of) -> bool {
        self.found(state).is_some_and(|found| found.actions.binary_search(&action).is_ok())
    }

    fn is_link(&self, state: StateKey, action: ActionSignature) -> bool {
        self.found(state).is_some_and(|found| found.has_link(&action))
    }

    fn learn_step(&mut self, step: Transition, notes: Vec<Note>) {
        let of = (step.from, step.action);
        if self.offers(of) && self.places.contains_key(&step.to) && !self.executed.contains_key(&of)
        {
            self.executed.insert(of, step.to);
            self.retries.remove(&of);
            if !notes.is_empty() {
                self.notes.insert(of, notes.clone());
            }
            let Transition { from, action, to } = step;
            self.out.push(CoordinatorEffect::Keep(Fact::Transition { from, action, to, notes }));
        }
    }

    fn learn_stray(&mut self, step: Transition) {
        let of = (step.from, step.action);
        let known = self.offers(of) && self.places.contains_key(&step.to);
        if known && self.executed.get(&of) != Some(&step.to) && self.strays.insert((of, step.to)) {
            let Transition { from, action, to } = step;
            self.out.push(CoordinatorEffect::Keep(Fact::Stray { from, action, to }));
        }
    }

    fn learn_closed(&mut self, of: Of, why: JobFailure, by: Option<CrawlerId>) {
        if self.retries.get(&of).is_some_and(|retry| by.is_some() && retry.by == by) {
            self.retries.remove(&of);
        }
        if !self.offers(of) || self.executed.contains_key(&of) || self.closed.contains_key(&of) {
            return;
        }
        self.closed.insert(of, why);
        let (from, action) = of;
        self.out.push(CoordinatorEffect::Keep(Fact::GivenUp { from, action, reason: why }));
        // The node of a plain link tries other states itself.
        if why == JobFailure::Unreachable && !self.is_link(of.0, of.1) {
            self.retries.insert(of, Retry { not_by: by, by: None });
        }
    }

    /// Frees the second attempts of a lost node for other nodes.
    fn ask_others(&mut self, gone: CrawlerId) {
        for retry in self.retries.values_mut().filter(|retry| retry.by == Some(gone)) {
            retry.by = None;
        }
    }

    /// The second attempts for a node.
    fn unreached_for(&mut self, crawler: CrawlerId) -> Vec<Of> {
        let free = |retry: &Retry| retry.by.is_none() && retry.not_by != Some(crawler);
        for retry in self.retries.values_mut().filter(|retry| free(retry)) {
            retry.by = Some(crawler);
        }
        let its = self.retries.iter().filter(|(_, retry)| retry.by == Some(crawler));
        its.map(|(&of, _)| of).collect()
    }

    fn learn_plain(&mut self, action: ActionSignature) {
        if self.plain.contains(&action) {
            return;
        }
        let open = |found: &&FoundState| {
            let of = (found.key, action);
            self.offers(of) && !self.executed.contains_key(&of) && !self.closed.contains_key(&of)
        };
        self.offered = self.offered.saturating_sub(self.states.iter().filter(open).count());
        self.retries.retain(|of, _| of.1 != action);
        self.plain.push(action);
        self.out.push(CoordinatorEffect::Keep(Fact::PlainLink { action }));
    }

    /// Frees the shares of silent nodes.
    fn look_for_lost(&mut self, now: u64) {
        let silence = SILENCE * self.longest;
        let lost = |known: &Known| !known.asks && now - known.heard > silence;
        let mut silent = Vec::new();
        for (&crawler, known) in self.crawlers.iter_mut().filter(|(_, known)| lost(known)) {
            self.free.extend(std::mem::take(&mut known.shares));
            // A slow node reports again. The end of the crawl does not wait for it until then.
            known.done = true;
            silent.push(crawler);
        }
        for crawler in silent {
            self.ask_others(crawler);
        }
    }

    /// Answers each waiting node that lacks something.
    fn answer(&mut self, now: u64) {
        if !self.begun || self.finished {
            return;
        }
        for crawler in self.waiting() {
            self.answer_one(crawler, now);
        }
        let is_over = self.free.is_empty() && !self.crawlers.is_empty() && !self.states.is_empty();
        if is_over && self.crawlers.values().all(|known| known.done) {
            self.finished = true;
            for crawler in self.waiting() {
                self.out.push(CoordinatorEffect::Answer(crawler, ToNode::Finished));
            }
            self.out.push(CoordinatorEffect::Finished);
        }
    }

    /// The nodes that wait for an answer.
    fn waiting(&self) -> Vec<CrawlerId> {
        let waiting = self.crawlers.iter().filter(|(_, known)| known.asks);
        waiting.map(|(&crawler, _)| crawler).collect()
    }

    fn answer_one(&mut self, crawler: CrawlerId, now: u64) {
        let Some(known) = self.crawlers.get_mut(&crawler) else { return };
        // A node without a share, or without work, takes a free share.
        if known.shares.is_empty() || known.done {
            known.shares.extend(self.free.pop_first());
        }
        // Shares that it holds and did not list: the answer was lost.
        let missing = known.shares.iter().copied().filter(|share| !known.has.contains(share));
        let missing: Vec<usize> = missing.collect();
        let gone: Vec<usize> =
            known.has.iter().copied().filter(|share| !known.shares.contains(share)).collect();
        // A node that knows more than this coordinator learned it from another one.
        let after = HeardUpTo {
            states: known.told.states.min(self.states.len()),
            plain: known.told.plain.min(self.plain.len()),
        };
        let told = HeardUpTo { states: self.states.len(), plain: self.plain.len() };
        let unreached = self.unreached_for(crawler);
        let Some(known) = self.crawlers.get_mut(&crawler) else { return };
        let nothing = missing.is_empty() && gone.is_empty() && unreached.is_empty();
        if known.done && after == told && nothing {
            return;
        }
        (known.asks, known.done, known.heard) = (false, false, now);
        let number = known.number;
        let states: Vec<FoundState> =
            self.states[after.states..].iter().take(STATES_AT_ONCE).cloned().collect();
        // Shares and second attempts refer to states: they follow once the node knows all states.
        let all = after.states + states.len() == self.states.len();
        let shares = missing.into_iter().filter(|_| all).map(|share| self.share(share)).collect();
        let unreached = unreached.into_iter().filter(|_| all).collect();
        let plain = self.plain[after.plain..].to_vec();
        let news = News { number, plan: self.plan, after, states, plain, shares, gone, unreached };
        self.out.push(CoordinatorEffect::Answer(crawler, ToNode::News(news)));
    }

    fn share(&self, number: usize) -> ActionShare {
        let in_share = |&(state, action): &Of| {
            let Some(found) = self.found(state) else { return false };
            let Ok(place) = found.actions.binary_search(&action) else { return false };
            let its = if found.has_link(&action) {
                self.plan.share_of_link(action)
            } else {
                self.plan.share(state, action, place, found.actions.len())
            };
            its == number
        };
        let executed = self.executed.iter().filter(|(of, _)| in_share(of));
        let given_up =
            self.closed.keys().filter(|of| in_share(of) && !self.retries.contains_key(of));
        ActionShare {
            number,
            executed: executed
                .map(|(&(from, action), &to)| Transition { from, action, to })
                .collect(),
            closed: given_up.copied().collect(),
        }
    }

    /// The route to the destination of a transition, over the transitions that found states.
    fn route_by(&self, by: Option<Transition>) -> Route {
        let mut route = Vec::new();
        let (mut by, mut before) = (by, self.states.len());
        while let Some(step) = by {
            route.push(step);
            // A state is found after its source. Otherwise a node reported a circle.
            let source = self.places.get(&step.from).copied().filter(|&place| place < before);
            by = source.and_then(|place| self.states[place].by);
            before = source.unwrap_or(before);
        }
        route.reverse();
        route.into()
    }

    /// The facts about all states that a known path reaches.
    pub fn facts(&self) -> Vec<Fact> {
        let routes = self.routes();
        let reached = self.states.iter().filter_map(|found| Some((found, routes.get(&found.key)?)));
        let mut facts: Vec<Fact> =
            reached.map(|(found, route)| found.fact(route.clone(), &self.plain)).collect();
        facts.extend(self.executed.iter().map(|(&(from, action), &to)| {
            let notes = self.notes.get(&(from, action)).cloned().unwrap_or_default();
            Fact::Transition { from, action, to, notes }
        }));
        let is_plain =
            |&&(state, action): &&Of| self.is_link(state, action) || self.plain.contains(&action);
        let followed = self.executed.keys().filter(is_plain);
        facts.extend(followed.map(|&(state, link)| Fact::LinkFollower { link, state }));
        let strays = self.strays.iter();
        facts.extend(strays.map(|&((from, action), to)| Fact::Stray { from, action, to }));
        let given_up = |(&(from, action), &reason)| Fact::GivenUp { from, action, reason };
        facts.extend(self.closed.iter().map(given_up));
        facts.retain(|fact| fact.state().is_some_and(|state| routes.contains_key(&state)));
        facts
    }

    fn routes(&self) -> BTreeMap<StateKey, Route> {
        let Some(initial) = self.states.first().map(|found| found.key) else {
            return BTreeMap::new();
        };
        let mut leads: BTreeMap<StateKey, Vec<Transition>> = BTreeMap::new();
        let strays = self.strays.iter().map(|(of, to)| (of, to));
        for (&(from, action), &to) in self.executed.iter().chain(strays) {
            leads.entry(from).or_default().push(Transition { from, action, to });
        }
        let mut routes = BTreeMap::from([(initial, Route::default())]);
        let mut queue = VecDeque::from([initial]);
        while let Some(state) = queue.pop_front() {
            let route = routes[&state].clone();
            for &step in leads.get(&state).into_iter().flatten() {
                routes.entry(step.to).or_insert_with(|| {
                    queue.push_back(step.to);
                    longer(&route, step)
                });
            }
        }
        routes
    }
}

impl FoundState {
    pub(super) fn of(
        key: StateKey,
        offers: &[Offered],
        by: Option<Transition>,
        content: Option<ContentId>,
    ) -> Self {
        let links = offers.iter().filter(|offered| offered.once);
        Self {
            key,
            actions: offers.iter().map(|offered| offered.action).collect(),
            links: links.map(|offered| offered.action).collect(),
            by,
            content,
        }
    }

    fn has_link(&self, action: &ActionSignature) -> bool {
        self.links.binary_search(action).is_ok()
    }

    /// The fact that it exists, if these actions turned out to be plain links.
    fn fact(&self, route: Route, plain: &[ActionSignature]) -> Fact {
        let offered = |action: &ActionSignature| {
            let once = self.has_link(action) || plain.contains(action);
            Offered { action: *action, once }
        };
        let offers = self.actions.iter().map(offered).collect();
        Fact::State { key: self.key, offers, route: Some(route), content: self.content }
    }
}
