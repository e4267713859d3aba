//! What a crawl knows: a function of the facts that it has kept, and of nothing else. So a crawl
//! that is restored from its facts knows what the crawl knew that wrote them. Must not know who is
//! working on what.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use argiope_explore::contexts::Contexts;
use argiope_explore::explorer::Explorer;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategy::{INITIAL, RESET_COSTS};

use crate::job::{Route, Transition};
use crate::journal::{Fact, distinct_offers};
use crate::outcome::{JobFailure, Note, Offered};
use crate::route::Routes;
use crate::settings::{ControllerSettings, MOST_PAIRS, StopAt};
use crate::spent::{Spent, SpentByWriter};

mod ended;
mod replay;

use replay::ReplayIndex;

/// A fact that contradicts the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// How many facts came before it.
    pub at: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The depth of a state that no known path reaches from the initial one.
const UNKNOWN: u32 = u32::MAX;

/// What a crawl knows.
pub struct CrawlKnowledge {
    settings: ControllerSettings,
    /// None until the initial state was seen.
    explorer: Option<Explorer>,
    /// States that are not part of the graph yet, and what they offer.
    announced: BTreeMap<StateKey, Vec<ActionSignature>>,
    /// Actions that are a plain link in some state, or turned out to be one.
    links: BTreeSet<ActionSignature>,
    /// The states in which a plain link is a candidate. A link without followers is one everywhere.
    followers: BTreeMap<ActionSignature, BTreeSet<StateKey>>,
    /// Actions that turned out to be plain links when they were executed.
    plain: BTreeSet<ActionSignature>,
    /// The plain links that a state shows and other states follow.
    shown: BTreeMap<StateIndex, Vec<ActionSignature>>,
    /// Where each plain link led when it was last followed.
    led_to: BTreeMap<ActionSignature, StateIndex>,
    strays: BTreeMap<Slot, Vec<StateIndex>>,
    /// The states besides the initial one that loading the URL led to.
    landings: Vec<StateIndex>,
    /// The states that a load of their own address leads to, and that address. Of several
    /// addresses the least counts, in any order.
    entries: BTreeMap<StateIndex, String>,
    /// The measured costs of such loads, in actions.
    entry_costs: BTreeMap<StateIndex, f64>,
    /// The least number of actions from the initial state to each state.
    depths: Vec<u32>,
    /// Candidates that were given up. Of several reasons the least counts, in any order.
    given_up: BTreeMap<Slot, JobFailure>,
    /// States that do not come back.
    gone: BTreeSet<StateIndex>,
    /// Actions after which the application could not be loaded.
    ended: BTreeSet<Slot>,
    /// Those of them that were performed when it could not be loaded any more.
    blamed: BTreeSet<Slot>,
    /// Those that no state performs again.
    ended_actions: BTreeSet<ActionSignature>,
    /// States that only such actions lead to. Their candidates are held back.
    cut_off: BTreeSet<StateIndex>,
    unsettled: usize,
    curbed: usize,
    /// No action waits for those that are not alike.
    is_undeferred: bool,
    pub(crate) spent: SpentByWriter,
    /// Facts that wait for a state: to be described, or to become part of the graph.
    waiting: BTreeMap<StateKey, Vec<Fact>>,
    /// States that facts have waited for, and that have come.
    arrived: Vec<StateKey>,
    /// While restoring: what all facts together say.
    replayed: ReplayIndex,
}

impl CrawlKnowledge {
    /// Of a crawl that has not begun.
    pub fn new(settings: ControllerSettings) -> Self {
        Self {
            settings,
            explorer: None,
            announced: BTreeMap::new(),
            links: BTreeSet::new(),
            followers: BTreeMap::new(),
            plain: BTreeSet::new(),
            shown: BTreeMap::new(),
            led_to: BTreeMap::new(),
            strays: BTreeMap::new(),
            landings: Vec::new(),
            entries: BTreeMap::new(),
            entry_costs: BTreeMap::new(),
            depths: Vec::new(),
            given_up: BTreeMap::new(),
            gone: BTreeSet::new(),
            ended: BTreeSet::new(),
            blamed: BTreeSet::new(),
            ended_actions: BTreeSet::new(),
            cut_off: BTreeSet::new(),
            unsettled: 0,
            curbed: 0,
            is_undeferred: false,
            spent: SpentByWriter::default(),
            waiting: BTreeMap::new(),
            arrived: Vec::new(),
            replayed: ReplayIndex::default(),
        }
    }

    /// Of a crawl that kept these facts. A fact about a state that no fact describes does not
    /// count.
    pub fn restore(settings: ControllerSettings, facts: &[Fact]) -> Result<Self, Contradiction> {
        let mut known = Self::new(settings);
        known.replayed = ReplayIndex::of(facts);
        for fact in facts {
            match fact {
                Fact::LinkFollower { link, state } => {
                    known.followers.entry(*link).or_default().insert(*state);
                }
                Fact::Ended { action, everywhere: true, .. } => {
                    known.ended_actions.insert(*action);
                }
                _ => {}
            }
        }
        for (at, fact) in facts.iter().enumerate() {
            known.apply(fact).map_err(|what| Contradiction { at, what })?;
        }
        if known.explorer.is_none() && !known.announced.is_empty() {
            return Err(Contradiction { at: facts.len(), what: NO_STATE });
        }
        known.replayed = ReplayIndex::default();
        // What waits until the end is about states that no fact describes. When a crawler finds one
        // of them, what the crawler saw counts.
        known.waiting.clear();
        known.cut_off_ended();
        Ok(known)
    }

    /// Takes a fact in, and with it those that waited for it; or says what is wrong with it.
    pub fn apply(&mut self, fact: &Fact) -> Result<(), &'static str> {
        self.apply_one(fact)?;
        while let Some(state) = self.arrived.pop() {
            for fact in self.waiting.remove(&state).into_iter().flatten() {
                self.apply_one(&fact)?;
            }
        }
        Ok(())
    }

    fn apply_one(&mut self, fact: &Fact) -> Result<(), &'static str> {
        if let Some(missing) = self.missing(fact) {
            self.waiting.entry(missing).or_default().push(fact.clone());
            return Ok(());
        }
        match fact {
            Fact::State { key, offers, route, .. } => {
                self.apply_state(*key, offers, route.as_ref())?;
            }
            Fact::Transition { from, action, to, notes } => {
                let slot = self.slot(*from, *action).ok_or(NO_ACTION)?;
                self.apply_transition(slot, *to, notes)?;
            }
            Fact::GivenUp { from, action, reason } => {
                let slot = self.slot(*from, *action).ok_or(NO_ACTION)?;
                let executed = self.replayed.destination(*from, *action).is_some();
                let explorer = self.explorer.as_mut().ok_or(NO_STATE)?;
                let graph = explorer.graph();
                let is_closed = graph.closed().contains(&slot);
                if !executed && (is_closed || graph.target(slot).is_none()) {
                    if !is_closed {
                        explorer.close(slot);
                    }
                    let first = self.given_up.entry(slot).or_insert(*reason);
                    *first = (*first).min(*reason);
                }
            }
            Fact::Stray { from, action, to } => {
                // An action that is no candidate here leads nowhere: other states follow that link.
                if let Some(slot) = self.slot(*from, *action)
                    && !self.replayed.is_withdrawn(*from, *action)
                    && self.replayed.destination(*from, *action) != Some(*to)
                {
                    self.add_stray(slot, *to)?;
                }
            }
            Fact::Appeared { at, loaded } => {
                let state = self.bring_in(*at)?;
                if *loaded && state != INITIAL && !self.landings.contains(&state) {
                    self.landings.push(state);
                }
                self.entered(state, if *loaded { 0 } else { UNKNOWN });
            }
            Fact::Entry { state, address, seed } => self.apply_entry(*state, address, *seed)?,
            Fact::PlainLink { action } => self.withdraw(*action),
            Fact::LinkFollower { link, state } => self.apply_follower(*link, *state),
            Fact::Gone { state } => self.apply_gone(*state)?,
            Fact::Parts { state, parts } => {
                let explorer = self.explorer.as_mut().ok_or(NO_STATE)?;
                let state = explorer.graph().find(*state).ok_or(NO_STATE)?;
                explorer.describe(state, parts.clone());
            }
            Fact::Undeferred => {
                self.is_undeferred = true;
                if let Some(explorer) = &mut self.explorer {
                    explorer.free_alike();
                }
            }
            Fact::Ended { from, action, everywhere } => {
                self.apply_ended((*from, *action), *everywhere)?;
            }
            Fact::Spent { writer, actions, resets } => {
                self.spent.record(*writer, Spent { actions: *actions, resets: *resets });
            }
        }
        Ok(())
    }

    /// The state that must come before a fact can be taken in.
    fn missing(&self, fact: &Fact) -> Option<StateKey> {
        let outside = |key: StateKey| self.state(key).is_none().then_some(key);
        let unknown = |key: StateKey| (!self.knows(key)).then_some(key);
        match fact {
            Fact::Transition { from, to, .. } | Fact::Stray { from, to, .. } => {
                outside(*from).or_else(|| unknown(*to))
            }
            Fact::GivenUp { from: state, .. }
            | Fact::Ended { from: state, .. }
            | Fact::Parts { state, .. }
            | Fact::Gone { state } => outside(*state),
            Fact::Appeared { at, .. } | Fact::Entry { state: at, .. } => {
                unknown(*at).or_else(|| self.replayed.initial.and_then(outside))
            }
            Fact::State { .. }
            | Fact::PlainLink { .. }
            | Fact::LinkFollower { .. }
            | Fact::Undeferred
            | Fact::Spent { .. } => None,
        }
    }

    /// A state follows a plain link. If the state is in the graph, the link becomes a candidate.
    fn apply_follower(&mut self, link: ActionSignature, key: StateKey) {
        self.followers.entry(link).or_default().insert(key);
        if let Some(state) = self.state(key)
            && self.only_shows(state, link)
            && let Some(explorer) = &mut self.explorer
        {
            explorer.extend(state, link);
        }
    }

    /// Closes what was not executed in a state that does not come back.
    fn apply_gone(&mut self, key: StateKey) -> Result<(), &'static str> {
        let explorer = self.explorer.as_mut().ok_or(NO_STATE)?;
        let state = explorer.graph().find(key).ok_or(NO_STATE)?;
        self.gone.insert(state);
        for slot in explorer.graph().slots(state) {
            let graph = explorer.graph();
            let action = graph.signature(graph.action_of(slot));
            let spared = graph.claimed().contains(&slot) || self.replayed.is_settled(key, action);
            if graph.target(slot).is_none() && !spared {
                explorer.close(slot);
            }
        }
        Ok(())
    }

    /// A load of its own address leads to a state.
    fn apply_entry(
        &mut self,
        key: StateKey,
        address: &str,
        seed: bool,
    ) -> Result<(), &'static str> {
        let state = self.bring_in(key)?;
        self.entered(state, if seed { 0 } else { UNKNOWN });
        if state == INITIAL {
            return Ok(());
        }
        let known = self.entries.entry(state).or_insert_with(|| address.to_owned());
        if address < known.as_str() {
            address.clone_into(known);
        }
        let cost = self.settings.exploring.reset_cost;
        self.explorer.as_mut().ok_or(NO_STATE)?.add_entry(state, cost);
        Ok(())
    }

    /// Lets the facts go on that waited for a state.
    fn arrive(&mut self, key: StateKey) {
        if self.waiting.contains_key(&key) {
            self.arrived.push(key);
        }
    }

    fn apply_state(
        &mut self,
        key: StateKey,
        offers: &[Offered],
        route: Option<&Route>,
    ) -> Result<(), &'static str> {
        if self.knows(key) {
            return Ok(());
        }
        let offers = self.replayed.offers(key).unwrap_or(offers).to_vec();
        let links = offers.iter().filter(|offered| offered.once).map(|offered| offered.action);
        self.links.extend(links);
        let actions = offers.iter().map(|offered| offered.action).collect();
        // Several facts may describe the initial state, and not all say how it is reached.
        let is_initial = match self.replayed.initial {
            Some(initial) => initial == key,
            None => route.is_some_and(|route| route.is_empty()),
        };
        if self.explorer.is_none() && is_initial {
            let ControllerSettings { strategy, exploring, stop_at, .. } = self.settings;
            let (candidates, shown) = self.candidates(key, actions);
            let mut explorer = Explorer::new(strategy, exploring, key, &candidates);
            if stop_at != StopAt::All && !self.is_undeferred {
                explorer.defer_alike(exploring.seed);
            }
            self.explorer = Some(explorer);
            self.shows(INITIAL, shown);
            self.entered(INITIAL, 0);
            self.end_actions(INITIAL)?;
        } else {
            self.announced.insert(key, actions);
        }
        self.arrive(key);
        Ok(())
    }

    fn apply_transition(
        &mut self,
        slot: Slot,
        to: StateKey,
        notes: &[Note],
    ) -> Result<(), &'static str> {
        let graph = self.graph().ok_or(NO_STATE)?;
        let Transition { from, action, .. } = Transition::of(graph, slot);
        match graph.target(slot) {
            Some(_) if graph.closed().contains(&slot) => return Ok(()),
            Some(known) if graph.key(known) == to => return Ok(()),
            None if self.replayed.destination(from, action).is_none_or(|known| known == to) => {}
            Some(_) | None => return self.add_stray(slot, to),
        }
        self.unsettled += usize::from(notes.contains(&Note::Unsettled));
        let is_unsafe = |note: &Note| matches!(note, Note::Unsafe(..));
        self.curbed += usize::from(notes.iter().any(is_unsafe));
        let (candidates, shown) = self.announced_candidates(to);
        let explorer = self.explorer.as_mut().ok_or(NO_STATE)?;
        let landing = explorer.record(slot, to, || candidates);
        self.shows(landing.state, shown);
        if self.links.contains(&action) {
            self.led_to.insert(action, landing.state);
        }
        self.entered(landing.state, self.depths[slot.state.at()].saturating_add(1));
        if landing.new {
            self.end_actions(landing.state)?;
        }
        self.arrive(to);
        Ok(())
    }

    fn add_stray(&mut self, slot: Slot, to: StateKey) -> Result<(), &'static str> {
        let state = self.bring_in(to)?;
        let others = self.strays.entry(slot).or_default();
        if !others.contains(&state) {
            others.push(state);
        }
        self.entered(state, self.depths[slot.state.at()].saturating_add(1));
        Ok(())
    }

    fn slot(&self, from: StateKey, action: ActionSignature) -> Option<Slot> {
        let graph = self.graph()?;
        graph.slot_of(graph.find(from)?, graph.action_named(action)?)
    }

    /// Makes a state part of the graph that no candidate led to.
    fn bring_in(&mut self, key: StateKey) -> Result<StateIndex, &'static str> {
        let (candidates, shown) = self.announced_candidates(key);
        let landing = self.explorer.as_mut().ok_or(NO_STATE)?.add_state(key, &candidates);
        self.shows(landing.state, shown);
        if landing.new {
            self.end_actions(landing.state)?;
        }
        self.arrive(key);
        Ok(landing.state)
    }

    /// The candidates of a state that becomes part of the graph now, and what it only shows.
    fn announced_candidates(
        &mut self,
        key: StateKey,
    ) -> (Vec<ActionSignature>, Vec<ActionSignature>) {
        let actions = self.announced.remove(&key).unwrap_or_default();
        self.candidates(key, actions)
    }

    /// Divides the offered actions: the candidates, and the plain links that the state only shows.
    /// Those are followed by other states, or were followed before they were known to be plain.
    fn candidates(
        &self,
        key: StateKey,
        actions: Vec<ActionSignature>,
    ) -> (Vec<ActionSignature>, Vec<ActionSignature>) {
        let follows = |link: &ActionSignature| {
            self.followers.get(link).is_none_or(|followers| followers.contains(&key))
        };
        actions.into_iter().partition(|action| {
            self.replayed.is_settled(key, *action)
                || (follows(action) && !self.plain.contains(action))
        })
    }

    fn shows(&mut self, state: StateIndex, links: Vec<ActionSignature>) {
        if !links.is_empty() {
            self.shown.insert(state, links);
        }
    }

    /// Whether a state shows a plain link that it does not follow, but may.
    fn only_shows(&self, state: StateIndex, link: ActionSignature) -> bool {
        let is_shown = self.shown.get(&state).is_some_and(|links| links.contains(&link));
        is_shown && !self.plain.contains(&link) && !self.ended_actions.contains(&link) && {
            let graph = self.graph().expect("a state shows the link");
            graph.action_named(link).is_none_or(|link| graph.slot_of(state, link).is_none())
        }
    }

    /// Withdraws every candidate that is this plain link, except those that a crawler is about to
    /// execute.
    fn withdraw(&mut self, link: ActionSignature) {
        self.links.insert(link);
        self.plain.insert(link);
        let Some(explorer) = &mut self.explorer else { return };
        let Some(action) = explorer.graph().action_named(link) else { return };
        for state in (0..explorer.graph().states() as u32).map(StateIndex) {
            let graph = explorer.graph();
            let Some(slot) = graph.slot_of(state, action) else { continue };
            let spared =
                graph.claimed().contains(&slot) || self.replayed.is_settled(graph.key(state), link);
            if graph.target(slot).is_none() && !spared {
                explorer.close(slot);
            }
        }
    }

    /// A claimed candidate was not executed. If it turned out to be a plain link meanwhile, it is
    /// withdrawn.
    pub fn released(&mut self, candidate: Slot) {
        let Some(explorer) = &mut self.explorer else { return };
        let graph = explorer.graph();
        let is_plain = self.plain.contains(&graph.signature(graph.action_of(candidate)));
        if is_plain || self.gone.contains(&candidate.state) {
            explorer.close(candidate);
        } else {
            explorer.release(candidate);
        }
    }

    /// A path of `depth` actions enters a state. If it is shorter than before, so are the paths to
    /// the states behind it. Candidates of states that are too deep are held back.
    fn entered(&mut self, state: StateIndex, depth: u32) {
        let Some(explorer) = &mut self.explorer else { return };
        self.depths.resize(explorer.graph().states(), UNKNOWN);
        let mut queue = VecDeque::new();
        if depth < self.depths[state.at()] {
            self.depths[state.at()] = depth;
            queue.push_back(state);
        }
        while let Some(state) = queue.pop_front() {
            let depth = self.depths[state.at()];
            let limit = self.settings.limits.max_depth;
            if self.cut_off.remove(&state) || limit.is_some() {
                explorer.hold(state, limit.is_some_and(|limit| depth > limit));
            }
            let avoid = &self.ended;
            let routes = Routes { graph: explorer.graph(), strays: &self.strays, avoid };
            for hop in routes.hops(state) {
                if depth + 1 < self.depths[hop.to.at()] {
                    self.depths[hop.to.at()] = depth + 1;
                    queue.push_back(hop.to);
                }
            }
        }
    }

    /// The facts about a state that was seen for the first time and offers this. A plain link that
    /// no state follows yet is followed by this one, and by those that offered it before it was
    /// one.
    pub fn describe(&self, key: StateKey, offers: &[Offered]) -> Vec<Fact> {
        let offers = distinct_offers(offers.iter().copied());
        let links: Vec<ActionSignature> =
            offers.iter().filter(|offered| offered.once).map(|offered| offered.action).collect();
        let route = self.explorer.is_none().then(Route::default);
        let mut facts = vec![Fact::State { key, offers, route, content: None }];
        for link in links {
            if self.followers.contains_key(&link) || self.plain.contains(&link) {
                continue;
            }
            let mut followers = self.offering(link);
            // A journal may be cut off between a state and the followers of its links.
            if followers.is_empty() || !self.links.contains(&link) {
                followers.push(key);
            }
            facts.extend(followers.into_iter().map(|state| Fact::LinkFollower { link, state }));
        }
        facts
    }

    /// The states that have an action as a candidate or transition, or will have.
    fn offering(&self, action: ActionSignature) -> Vec<StateKey> {
        let announced = self.announced.iter().filter(|(_, actions)| actions.contains(&action));
        let mut offering: Vec<StateKey> = announced.map(|(&key, _)| key).collect();
        if let Some(graph) = self.graph()
            && let Some(action) = graph.action_named(action)
        {
            let states = (0..graph.states() as u32).map(StateIndex);
            let states = states.filter(|&state| graph.slot_of(state, action).is_some());
            offering.extend(states.map(|state| graph.key(state)));
        }
        offering
    }

    /// Whether a state has been recorded.
    pub fn knows(&self, key: StateKey) -> bool {
        self.announced.contains_key(&key) || self.state(key).is_some()
    }

    /// A state of the graph.
    pub fn state(&self, key: StateKey) -> Option<StateIndex> {
        self.graph()?.find(key)
    }

    /// The graph, once the initial state was seen.
    pub fn graph(&self) -> Option<&Graph> {
        self.explorer.as_ref().map(Explorer::graph)
    }

    /// The explorer, once the initial state was seen.
    pub fn explorer(&mut self) -> Option<&mut Explorer> {
        self.explorer.as_mut()
    }

    /// How many states have been recorded.
    pub fn states(&self) -> usize {
        self.graph().map_or(0, Graph::states) + self.announced.len()
    }

    /// The transitions that led elsewhere as well, and where.
    pub fn strays(&self) -> &BTreeMap<Slot, Vec<StateIndex>> {
        &self.strays
    }

    /// The states besides the initial one that loading the URL led to.
    pub fn landings(&self) -> &[StateIndex] {
        &self.landings
    }

    /// The states that a load of their own address leads to, and that address.
    pub fn entries(&self) -> &BTreeMap<StateIndex, String> {
        &self.entries
    }

    /// Whether a path may begin with a state.
    pub fn is_start(&self, state: StateIndex) -> bool {
        state == INITIAL || self.entries.contains_key(&state) || self.landings.contains(&state)
    }

    /// The states that a path may begin with: the initial state, others that loading the URL led
    /// to, entries.
    pub fn starts(&self) -> impl Iterator<Item = StateIndex> {
        let landings = self.landings.iter().copied();
        [INITIAL].into_iter().chain(landings).chain(self.entries.keys().copied())
    }

    /// Whether a state shows a link that it does not follow.
    pub(crate) fn shows_links(&self) -> bool {
        !self.shown.is_empty()
    }

    /// A link that a state only shows, and that led to one of some states when it was followed.
    pub(crate) fn link_towards(
        &self,
        state: StateIndex,
        wanted: &BTreeSet<StateIndex>,
    ) -> Option<ActionSignature> {
        let leads = |link: &ActionSignature| {
            let to = self.led_to.get(link);
            to.is_some_and(|to| *to != state && wanted.contains(to))
        };
        let links = self.shown.get(&state).filter(|_| !self.gone.contains(&state))?;
        links.iter().copied().find(|link| leads(link) && self.only_shows(state, *link))
    }

    /// The youngest state that shows a link, may follow it, and may come back.
    pub(crate) fn next_follower(&self, link: ActionSignature) -> Option<StateIndex> {
        let may = |state: &StateIndex| !self.gone.contains(state) && self.only_shows(*state, link);
        self.shown.keys().rev().copied().find(may)
    }

    /// How many plain links have been seen.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// How many candidates were given up, by reason.
    pub fn given_up(&self) -> BTreeMap<JobFailure, usize> {
        let mut counts = BTreeMap::new();
        for reason in self.given_up.values() {
            *counts.entry(*reason).or_default() += 1;
        }
        counts
    }

    /// The states that do not come back.
    pub fn gone(&self) -> &BTreeSet<StateIndex> {
        &self.gone
    }

    /// The candidates that were given up, and why.
    pub fn given_up_slots(&self) -> &BTreeMap<Slot, JobFailure> {
        &self.given_up
    }

    /// Whether another state that may come back offers the action of a slot: it was executed
    /// there, or it will be.
    pub fn is_offered_elsewhere(&self, slot: Slot, executed: bool) -> bool {
        let Some(graph) = self.graph() else { return false };
        let action = graph.action_of(slot);
        let others = (0..graph.states() as u32).map(StateIndex);
        let mut others = others.filter(|&state| state != slot.state);
        others.any(|state| {
            let other = graph.slot_of(state, action);
            other.is_some_and(|other| match graph.target(other) {
                Some(_) => !graph.closed().contains(&other),
                None => !executed && !self.gone.contains(&state),
            })
        })
    }

    /// How many transitions ended before their page had settled.
    pub fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Transitions with a request that a safe crawl stopped.
    pub fn curbed(&self) -> usize {
        self.curbed
    }

    /// Whether actions that are alike are wanted too. A crawl that decides by itself wants them
    /// unless there are too many pairs of state and action.
    pub(crate) fn wants_all(&self) -> bool {
        match self.settings.stop_at {
            StopAt::All => true,
            StopAt::Parts => false,
            StopAt::Auto => {
                let Some(explorer) = &self.explorer else { return true };
                let known = explorer.graph().transitions() + explorer.graph().unexplored();
                let missing = explorer.contexts().map_or(0.0, Contexts::combinations);
                known as f64 + missing <= MOST_PAIRS
            }
        }
    }

    /// How far the contexts are executed, if alike actions wait.
    pub fn contexts(&self) -> Option<&Contexts> {
        self.explorer.as_ref().and_then(Explorer::contexts)
    }

    /// What all writers have spent.
    pub fn spent(&self) -> Spent {
        self.spent.total()
    }

    /// The depth of the deepest state.
    pub fn depth(&self) -> u32 {
        self.depths.iter().copied().filter(|&depth| depth != UNKNOWN).max().unwrap_or(0)
    }

    /// Takes in the measured cost of a reset.
    pub fn measured_reset(&mut self, cost: f64) {
        if cost.is_nan() {
            return;
        }
        self.settings.exploring.reset_cost = cost.clamp(*RESET_COSTS.start(), *RESET_COSTS.end());
        let Some(explorer) = &mut self.explorer else { return };
        explorer.set_reset_cost(cost);
        let entries: Vec<StateIndex> =
            explorer.graph().entries().iter().map(|entry| entry.state).collect();
        for state in entries.into_iter().filter(|state| !self.entry_costs.contains_key(state)) {
            explorer.add_entry(state, cost);
        }
    }

    /// Takes in the measured cost of a load that leads to an entry.
    pub fn measured_entry(&mut self, state: StateIndex, cost: f64) {
        // An entry that missed too often is in the graph no more.
        if let Some(explorer) = &mut self.explorer
            && explorer.graph().entries().iter().any(|entry| entry.state == state)
        {
            self.entry_costs.insert(state, cost);
            explorer.add_entry(state, cost);
        }
    }

    /// The settings, with the reset cost that was measured last.
    pub fn settings(&self) -> &ControllerSettings {
        &self.settings
    }
}

const NO_STATE: &str = "no fact describes the initial state";
const NO_ACTION: &str = "a state does not offer the action";
