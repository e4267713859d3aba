//! What one controller of a ring knows of the application: its own states in full, copies of its neighbours', and
//! of all others what it has heard.
//!
//! A state whose actions are not known has one candidate instead: *to ask*. Asking of another's state means to
//! send the crawler's request to its owner; asking of an own state (one that was lost and collected again) means to
//! send a crawler there to look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use argiope_explore::explorer::Explorer;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::job::PlannedJob;
use argiope_explore::strategy::{INITIAL, NamedStrategy, StrategySettings};
use argiope_ring::Key;
use serde::{Deserialize, Serialize};

use super::place;
use crate::job::{Route, Transition};
use crate::journal::{ContentId, Fact};
use crate::outcome::{JobFailure, Note, Offered};

mod links;

/// The action that stands for all actions of a state that are not known. No real action has this name: signatures
/// are hashes, and a page that hits upon it gains nothing but that this one action is not explored.
const ASK: ActionSignature = ActionSignature(u64::MAX);

/// What is known of the actions of a state beside where they lead. Only ever grows.
#[derive(Clone, Debug, Default)]
struct Remarks {
    /// Those that are plain links.
    links: BTreeSet<ActionSignature>,
    /// Where they led besides.
    strays: BTreeSet<(ActionSignature, StateKey)>,
    /// What happened while they were executed.
    notes: BTreeMap<ActionSignature, Arc<[Note]>>,
    /// Why they were given up.
    reasons: BTreeMap<ActionSignature, JobFailure>,
}

/// Something about another's state that helps to find ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RouteHint {
    /// A state has nothing left to be handed out; where its executed actions lead.
    Drained(StateKey, Arc<[(ActionSignature, StateKey)]>),
    /// A state has something to be handed out again.
    Open(StateKey),
    /// A transition.
    Leads(Transition),
}

#[derive(Clone, Debug, Default)]
struct Entry {
    route: Option<Route>,
    /// Whether its actions are known.
    full: bool,
    /// Whether it is this controller's.
    own: bool,
    /// The candidate that stands for the actions that are not known.
    ask: Option<Slot>,
    /// Who had it when it was last heard of.
    owner: Option<Key>,
    /// How many of its transitions were told at once when it was last said to be drained.
    leads_heard: usize,
    /// What its page is like.
    content: Option<ContentId>,
    remarks: Remarks,
}

/// The knowledge of a controller.
#[derive(Clone)]
pub struct Atlas {
    strategy: &'static NamedStrategy,
    exploring: StrategySettings,
    /// Whether states of others are worth asking about.
    beyond: bool,
    explorer: Option<Explorer>,
    entries: Vec<Entry>,
    /// Own states with free candidates, by the length of their route; for those who know no other way.
    by_route: BTreeSet<(usize, StateKey)>,
    /// Own states that are not known in full.
    awaited: BTreeSet<StateIndex>,
    own: BTreeMap<StateKey, StateIndex>,
    /// Free candidates in own states, the visits to awaited ones included.
    free: usize,
    /// Own states that ran out of free candidates or got some again.
    turned: BTreeSet<StateIndex>,
    /// Actions that turned out to be plain links, though they did not look like it.
    plain: BTreeSet<ActionSignature>,
    /// Plain links of own states that nobody is sent to, and whether they were followed from another state.
    aside: BTreeMap<Slot, bool>,
    /// Those that were set aside lately.
    set_aside: Vec<(StateKey, ActionSignature)>,
    /// After the first of these places up to the second somebody may know of more that was done: nothing there is handed
    /// out.
    doubt: Option<(Key, Key)>,
    /// Notes that several transitions share.
    notes: BTreeSet<Arc<[Note]>>,
}

/// What is known, whatever the order in which it came to be. For model checkers: two atlases that are equal in this
/// may still prefer different ones of equally good ways.
impl std::hash::Hash for Atlas {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        let Some(explorer) = &self.explorer else { return };
        self.doubt.hash(hasher);
        let graph = explorer.graph();
        let mut states: Vec<(StateKey, StateIndex)> = self.all().collect();
        states.sort_unstable();
        for (key, state) in states {
            let entry = &self.entries[state.at()];
            (key, entry.own, entry.full, &entry.route, entry.owner).hash(hasher);
            let slot = |slot: Slot| {
                let target = graph.target(slot).map(|to| graph.key(to));
                (graph.signature(graph.action_of(slot)), target, graph.claimed().contains(&slot))
            };
            let mut slots: Vec<_> = graph.slots(state).map(slot).collect();
            slots.sort_unstable();
            slots.hash(hasher);
        }
    }
}

impl Atlas {
    /// Knows nothing.
    pub fn new(
        strategy: &'static NamedStrategy,
        exploring: StrategySettings,
        beyond: bool,
    ) -> Self {
        Self {
            strategy,
            exploring,
            beyond,
            explorer: None,
            entries: Vec::new(),
            by_route: BTreeSet::new(),
            awaited: BTreeSet::new(),
            own: BTreeMap::new(),
            free: 0,
            turned: BTreeSet::new(),
            plain: BTreeSet::new(),
            aside: BTreeMap::new(),
            set_aside: Vec::new(),
            doubt: None,
            notes: BTreeSet::new(),
        }
    }

    /// Own states that ran out of free candidates or got some again since this was last asked.
    pub fn take_turned(&mut self) -> BTreeSet<StateIndex> {
        std::mem::take(&mut self.turned)
    }

    /// The initial state, if its name is known.
    pub fn initial(&self) -> Option<StateKey> {
        self.explorer.as_ref().map(|explorer| explorer.graph().key(INITIAL))
    }

    /// Takes in the name of the initial state.
    pub fn begin(&mut self, initial: StateKey) {
        if self.explorer.is_none() {
            self.explorer = Some(Explorer::new(self.strategy, self.exploring, initial, &[]));
            self.entries.push(Entry { route: Some(Arc::new([])), ..Entry::default() });
            self.refresh_ask(INITIAL);
        }
    }

    fn graph(&self) -> &Graph {
        self.explorer.as_ref().expect("there is an initial state").graph()
    }

    fn explorer(&mut self) -> &mut Explorer {
        self.explorer.as_mut().expect("there is an initial state")
    }

    /// The state with this name, if it was heard of.
    pub fn find(&self, key: StateKey) -> Option<StateIndex> {
        self.explorer.as_ref()?.graph().find(key)
    }

    /// The name of a state.
    pub fn key(&self, state: StateIndex) -> StateKey {
        self.graph().key(state)
    }

    /// Whether a state's actions are known here.
    pub fn is_full(&self, key: StateKey) -> bool {
        self.find(key).is_some_and(|state| self.entries[state.at()].full)
    }

    /// Whether a state is this controller's.
    pub fn is_own(&self, state: StateIndex) -> bool {
        self.entries[state.at()].own
    }

    /// The state with this name, which from now on was heard of.
    fn meet(&mut self, key: StateKey) -> StateIndex {
        let landing = self.explorer().add_state(key, &[]);
        if landing.new {
            self.entries.push(Entry::default());
            self.refresh_ask(landing.state);
        }
        landing.state
    }

    /// Makes a state's ask-candidate what it should be.
    fn refresh_ask(&mut self, state: StateIndex) {
        let entry = &self.entries[state.at()];
        let wanted = !entry.full && (entry.own || self.beyond);
        if wanted && entry.ask.is_none() {
            // An own one that was asked about before it was own, or closed, is asked about again under the same name.
            let slot = self.explorer().extend(state, ASK);
            self.entries[state.at()].ask = Some(slot);
        }
    }

    /// Holds a state's candidates back if they are not to be handed out: those of others are theirs to hand out, and of own
    /// ones some may have been executed already.
    fn refresh_hold(&mut self, state: StateIndex) {
        let Entry { own, full, .. } = self.entries[state.at()];
        let held = if own { self.is_doubted(state) } else { full || !self.beyond };
        self.explorer().hold(state, held);
    }

    /// Whether somebody may know of more that was done in a state.
    pub fn is_doubted(&self, state: StateIndex) -> bool {
        self.doubt.is_some_and(|(after, upto)| place(self.key(state)).belongs_to(after, upto))
    }

    /// Hands out nothing more after one place up to another, or (without any) everything again.
    pub fn doubt(&mut self, places: Option<(Key, Key)>) {
        self.doubt = places;
        let own: Vec<StateIndex> = self.own.values().copied().collect();
        for state in own {
            self.counted(state, |atlas| {
                atlas.refresh_hold(state);
                atlas.set_links_aside(state);
            });
        }
    }

    /// The places where nothing is handed out.
    pub fn doubted(&self) -> Option<(Key, Key)> {
        self.doubt
    }

    /// Runs a change of a state and keeps the counts of own candidates right.
    fn counted<T>(&mut self, state: StateIndex, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.own_free(state);
        let listed = self.listed(state);
        let result = change(self);
        let after = self.own_free(state);
        self.free = self.free + after - before;
        if (before == 0) != (after == 0) {
            self.turned.insert(state);
        }
        let list_now = self.listed(state);
        if listed != list_now {
            listed.map(|entry| self.by_route.remove(&entry));
            list_now.map(|entry| self.by_route.insert(entry));
        }
        result
    }

    fn own_free(&self, state: StateIndex) -> usize {
        if self.is_own(state) { self.graph().unexplored_in(state) as usize } else { 0 }
    }

    fn listed(&self, state: StateIndex) -> Option<(usize, StateKey)> {
        let route = self.entries[state.at()].route.as_ref()?;
        (self.own_free(state) > 0).then(|| (route.len(), self.key(state)))
    }

    /// How many candidates of own states can be handed out.
    pub fn free(&self) -> usize {
        self.free
    }

    /// Own states of which neither the actions nor a way there are known.
    pub fn awaited_without_route(&self) -> Vec<StateIndex> {
        self.awaited
            .iter()
            .copied()
            .filter(|state| self.entries[state.at()].route.is_none())
            .collect()
    }

    /// The own states.
    pub fn own(&self) -> impl Iterator<Item = (StateKey, StateIndex)> + '_ {
        self.own.iter().map(|(&key, &state)| (key, state))
    }

    /// How many states it owns and knows in full.
    pub fn own_states(&self) -> usize {
        self.own.len() - self.awaited.len()
    }

    /// Takes in that a state is, or is not, this controller's.
    pub fn own_it(&mut self, key: StateKey, own: bool) -> StateIndex {
        let state = self.meet(key);
        if self.entries[state.at()].own == own {
            return state;
        }
        self.counted(state, |atlas| {
            atlas.entries[state.at()].own = own;
            let full = atlas.entries[state.at()].full;
            if own {
                atlas.own.insert(key, state);
                if !full {
                    atlas.awaited.insert(state);
                }
            } else {
                atlas.own.remove(&key);
                atlas.awaited.remove(&state);
            }
            atlas.refresh_hold(state);
            atlas.refresh_ask(state);
            if let Some(ask) = atlas.entries[state.at()].ask.filter(|_| own)
                && atlas.graph().claimed().contains(&ask)
            {
                atlas.explorer().release(ask);
            }
            atlas.set_links_aside(state);
        });
        state
    }

    /// Takes in where an action led besides.
    pub fn learn_stray(&mut self, step: Transition) {
        let (from, _) = (self.meet(step.from), self.meet(step.to));
        self.entries[from.at()].remarks.strays.insert((step.action, step.to));
    }

    /// Takes in what happened while an action was executed.
    pub fn learn_notes(&mut self, from: StateKey, action: ActionSignature, notes: &[Note]) {
        let from = self.meet(from);
        if notes.is_empty() {
            return;
        }
        let shared = self.notes.get(notes).cloned().unwrap_or_else(|| notes.into());
        self.notes.insert(shared.clone());
        self.entries[from.at()].remarks.notes.entry(action).or_insert(shared);
    }

    /// Takes in a route to a state, if it is shorter than the one known. Says whether it was.
    pub fn learn_route(&mut self, state: StateIndex, route: &Route) -> bool {
        if self.entries[state.at()].route.as_ref().is_some_and(|known| known.len() <= route.len()) {
            return false;
        }
        self.counted(state, |atlas| atlas.entries[state.at()].route = Some(route.clone()));
        true
    }

    /// The shortest known ways from the initial state to all others: by which transition each is entered.
    pub fn ways(&self) -> Vec<Option<Slot>> {
        let mut entered_by = vec![None; self.entries.len()];
        let mut queue = std::collections::VecDeque::from([INITIAL]);
        while let Some(state) = queue.pop_front() {
            for slot in self.graph().slots(state) {
                if let Some(to) = self.graph().target(slot)
                    && to != INITIAL
                    && entered_by[to.at()].is_none()
                {
                    entered_by[to.at()] = Some(slot);
                    queue.push_back(to);
                }
            }
        }
        entered_by
    }

    /// How to get to a state: by its route, or over known ways.
    pub fn route_by(&self, state: StateIndex, ways: &[Option<Slot>]) -> Option<Route> {
        if let Some(route) = self.route(state) {
            return Some(route.clone());
        }
        let mut steps = Vec::new();
        let mut at = state;
        while at != INITIAL {
            let slot = ways[at.at()]?;
            steps.push(self.step(slot));
            at = slot.state;
        }
        steps.reverse();
        Some(steps.into())
    }

    /// How to get to a state after a reset.
    pub fn route(&self, state: StateIndex) -> Option<&Route> {
        self.entries[state.at()].route.as_ref()
    }

    /// Who had a state when it was last heard of.
    pub fn owner(&self, state: StateIndex) -> Option<Key> {
        self.entries[state.at()].owner
    }

    /// Takes in who has a state.
    pub fn learn_owner(&mut self, state: StateIndex, owner: Key) {
        self.entries[state.at()].owner = Some(owner);
    }

    /// Forgets that somebody has states.
    pub fn forget_owner(&mut self, gone: Key) {
        for entry in &mut self.entries {
            if entry.owner == Some(gone) {
                entry.owner = None;
            }
        }
    }

    /// Takes in what a state offers. Says whether that was new.
    pub fn learn_actions(&mut self, key: StateKey, actions: &[ActionSignature]) -> bool {
        let state = self.meet(key);
        if self.entries[state.at()].full {
            return false;
        }
        self.counted(state, |atlas| {
            atlas.entries[state.at()].full = true;
            atlas.awaited.remove(&state);
            if let Some(ask) = atlas.entries[state.at()].ask.take()
                && atlas.graph().target(ask).is_none()
            {
                atlas.explorer().close(ask);
            }
            atlas.refresh_hold(state);
            let mut actions: Vec<ActionSignature> = actions.to_vec();
            actions.sort_unstable();
            actions.dedup();
            actions.retain(|&action| action != ASK);
            argiope_explore::chance::Chance::new(&[
                atlas.exploring.seed,
                key.0 as u64,
                (key.0 >> 64) as u64,
            ])
            .shuffle(&mut actions);
            for action in actions {
                let known = atlas.graph().action_named(action);
                if known.and_then(|action| atlas.graph().slot_of(state, action)).is_none() {
                    atlas.explorer().extend(state, action);
                }
                if atlas.plain.contains(&action) {
                    atlas.entries[state.at()].remarks.links.insert(action);
                }
            }
            atlas.set_links_aside(state);
        });
        true
    }

    /// What a state's page is like.
    pub fn content(&self, state: StateIndex) -> Option<ContentId> {
        self.entries[state.at()].content
    }

    /// Takes in what a state's page is like; the first to say so is believed.
    pub fn learn_content(&mut self, state: StateIndex, content: Option<ContentId>) {
        let known = &mut self.entries[state.at()].content;
        *known = known.or(content);
    }

    /// Takes in where an action leads, executed here or heard of. `new`: it found that state. Says whether it was
    /// not known.
    pub fn learn_step(&mut self, step: Transition, new: bool) -> bool {
        let from = self.meet(step.from);
        let slot = self.slot(step.from, step.action);
        if slot.is_some_and(|slot| self.graph().target(slot).is_some()) {
            return false;
        }
        self.meet(step.to);
        // The destination was met just now, so nobody asks what it offers.
        self.counted(from, |atlas| match slot {
            Some(slot) => atlas.explorer().record_known(slot, step.to, new),
            None => atlas.explorer().extend_executed(from, step.action, step.to, new),
        });
        true
    }

    /// Takes in a transition that somebody mentioned. Of states that are kept here, as owner or as copy, only what was
    /// reported counts: whoever reports has seen to it that the destination is kept.
    pub fn hear(&mut self, step: Transition) {
        if !self.is_full(step.from) {
            self.learn_step(step, false);
        }
    }

    /// Takes in what another controller tells by the way.
    pub fn hear_hint(&mut self, hint: &RouteHint) {
        match hint {
            RouteHint::Leads(step) => self.hear(*step),
            RouteHint::Drained(key, leads) => {
                let state = self.meet(*key);
                // The same is told by many, and what is known of a state only grows.
                if std::mem::replace(&mut self.entries[state.at()].leads_heard, leads.len())
                    < leads.len()
                {
                    for &(action, to) in leads.iter() {
                        self.hear(Transition { from: *key, action, to });
                    }
                }
                self.drained(*key);
            }
            RouteHint::Open(key) => {
                if let Some(ask) = self.foreign_ask(*key)
                    && self.graph().claimed().contains(&ask)
                {
                    self.explorer().release(ask);
                }
            }
        }
    }

    /// There is no use in asking about this state of another's.
    pub fn drained(&mut self, key: StateKey) {
        if let Some(ask) = self.foreign_ask(key)
            && self.graph().is_free(ask)
        {
            self.explorer().claim(ask);
        }
    }

    fn foreign_ask(&self, key: StateKey) -> Option<Slot> {
        let state = self.find(key)?;
        let entry = &self.entries[state.at()];
        if entry.own || entry.full { None } else { entry.ask }
    }

    /// The slot of an action in a state, if it is known.
    pub fn slot(&self, state: StateKey, action: ActionSignature) -> Option<Slot> {
        let graph = self.explorer.as_ref()?.graph();
        graph.slot_of(graph.find(state)?, graph.action_named(action)?)
    }

    /// Where an action leads, if that is known.
    pub fn target(&self, slot: Slot) -> Option<StateKey> {
        self.graph().target(slot).map(|to| self.key(to))
    }

    /// Whether an action was neither executed nor given up.
    pub fn is_open(&self, slot: Slot) -> bool {
        self.graph().target(slot).is_none()
    }

    /// Whether a slot stands for asking.
    pub fn is_ask(&self, slot: Slot) -> bool {
        self.entries[slot.state.at()].ask == Some(slot)
    }

    /// What the strategy would have a crawler do that stands there.
    pub fn choose(&mut self, at: StateKey) -> Option<PlannedJob> {
        let at = self.meet(at);
        self.explorer.as_mut()?.choose(at)
    }

    /// A free candidate of an own state.
    pub fn first_free(&self, state: StateIndex) -> Option<Slot> {
        if self.is_own(state) { self.graph().first_unexplored(state) } else { None }
    }

    /// The own state with a free candidate that is the nearest after a reset.
    pub fn nearest_by_route(&self) -> Option<StateIndex> {
        self.by_route.first().and_then(|&(_, key)| self.find(key))
    }

    /// Sets a free candidate aside.
    pub fn claim(&mut self, slot: Slot) {
        self.counted(slot.state, |atlas| atlas.explorer().claim(slot));
    }

    /// Sets a candidate aside, if it is free.
    pub fn claim_if_free(&mut self, slot: Slot) {
        if self.graph().is_free(slot) {
            self.claim(slot);
        }
    }

    /// A candidate that was set aside was not executed.
    pub fn release(&mut self, slot: Slot) {
        if self.graph().claimed().contains(&slot) {
            self.counted(slot.state, |atlas| atlas.explorer().release(slot));
        }
    }

    /// Gives a candidate up.
    pub fn close(&mut self, slot: Slot, reason: JobFailure) {
        if self.graph().target(slot).is_none() {
            self.counted(slot.state, |atlas| atlas.explorer().close(slot));
            let action = self.step(slot).action;
            self.entries[slot.state.at()].remarks.reasons.insert(action, reason);
        }
    }

    /// A slot in names.
    pub fn step(&self, slot: Slot) -> Transition {
        let graph = self.graph();
        let from = graph.key(slot.state);
        let to = graph.target(slot).map_or(from, |to| graph.key(to));
        Transition { from, action: graph.signature(graph.action_of(slot)), to }
    }

    /// How many free candidates an own state has.
    pub fn free_in(&self, state: StateIndex) -> usize {
        self.own_free(state)
    }

    /// Where the executed actions of a state lead, those that were given up left out.
    pub fn leads(
        &self,
        state: StateIndex,
    ) -> impl Iterator<Item = (ActionSignature, StateKey)> + '_ {
        let graph = self.graph();
        let executed = graph.slots(state).filter(|slot| !graph.closed().contains(slot));
        executed.filter_map(|slot| {
            Some((graph.signature(graph.action_of(slot)), graph.key(graph.target(slot)?)))
        })
    }

    /// Where an executed action of a state leads.
    pub fn lead(&self, state: StateIndex, action: ActionSignature) -> Option<StateKey> {
        self.leads(state).find(|&(executed, _)| executed == action).map(|(_, to)| to)
    }

    /// The facts about the own states that are known in full.
    pub fn own_facts(&self) -> Vec<Fact> {
        self.own.values().flat_map(|&state| self.facts(state)).collect()
    }

    /// What was executed in own states.
    pub fn executed_own(&self) -> impl Iterator<Item = (StateKey, ActionSignature)> + '_ {
        self.own().flat_map(|(key, state)| self.leads(state).map(move |(action, _)| (key, action)))
    }

    /// The facts about a state, beginning with the state itself; none if it is not known in full.
    pub fn facts(&self, state: StateIndex) -> Vec<Fact> {
        let entry = &self.entries[state.at()];
        if !entry.full {
            return Vec::new();
        }
        let graph = self.graph();
        let (from, remarks) = (graph.key(state), &entry.remarks);
        let name = |slot: Slot| graph.signature(graph.action_of(slot));
        let mut actions: Vec<ActionSignature> =
            graph.slots(state).map(name).filter(|&action| action != ASK).collect();
        actions.sort_unstable();
        let offered = |action| Offered { action, once: remarks.links.contains(&action) };
        let offers = actions.into_iter().map(offered).collect();
        let (route, content) = (entry.route.clone(), entry.content);
        let mut facts = vec![Fact::State { key: from, offers, route, content }];
        let mut executed: Vec<_> = self.leads(state).collect();
        executed.sort_unstable();
        facts.extend(executed.iter().map(|&(action, to)| {
            let notes = remarks.notes.get(&action).map_or_else(Vec::new, |notes| notes.to_vec());
            Fact::Transition { from, action, to, notes }
        }));
        let strays = remarks.strays.iter();
        facts.extend(strays.map(|&(action, to)| Fact::Stray { from, action, to }));
        let reasons = remarks.reasons.iter();
        facts.extend(reasons.map(|(&action, &reason)| Fact::GivenUp { from, action, reason }));
        let followed = executed.iter().filter(|(action, _)| remarks.links.contains(action));
        facts.extend(followed.map(|&(link, _)| Fact::LinkFollower { link, state: from }));
        facts
    }

    /// Takes in a fact. Of a state whose initial state is not known nothing can be said yet.
    pub fn learn(&mut self, fact: &Fact) {
        if let Fact::State { key, route: Some(route), .. } = fact {
            self.begin(route.first().map_or(*key, |step| step.from));
        }
        if self.explorer.is_none() {
            return;
        }
        match fact {
            Fact::State { key, offers, route, content } => {
                self.learn_state(*key, offers, route.as_ref(), *content);
            }
            Fact::Transition { from, action, to, notes } => {
                self.learn_step(Transition { from: *from, action: *action, to: *to }, false);
                self.learn_notes(*from, *action, notes);
            }
            Fact::GivenUp { from, action, reason } => {
                if let Some(slot) = self.slot(*from, *action) {
                    self.close(slot, *reason);
                }
            }
            Fact::Stray { from, action, to } => {
                self.learn_stray(Transition { from: *from, action: *action, to: *to });
            }
            Fact::PlainLink { action } => _ = self.learn_plain(*action),
            // A ring knows of these by the transition of the link, by reports, and by heartbeats.
            Fact::LinkFollower { .. } | Fact::Appeared { .. } | Fact::Spent { .. } => {}
        }
    }

    fn learn_state(
        &mut self,
        key: StateKey,
        offers: &[Offered],
        route: Option<&Route>,
        content: Option<ContentId>,
    ) {
        let state = self.meet(key);
        let links = offers.iter().filter(|offered| offered.once).map(|offered| offered.action);
        self.entries[state.at()].remarks.links.extend(links);
        let actions: Vec<ActionSignature> = offers.iter().map(|offered| offered.action).collect();
        self.learn_actions(key, &actions);
        self.learn_content(state, content);
        if let Some(route) = route {
            self.learn_route(state, route);
            for step in route.iter() {
                self.hear(*step);
            }
        }
        self.counted(state, |atlas| atlas.set_links_aside(state));
    }

    /// Candidates of own states that are given out, or should be.
    pub fn claimed_own(&self) -> impl Iterator<Item = Slot> + '_ {
        let claimed = self.explorer.iter().flat_map(|explorer| explorer.graph().claimed());
        claimed.copied().filter(|slot| self.is_own(slot.state) && !self.aside.contains_key(slot))
    }

    /// All states that were heard of.
    pub fn all(&self) -> impl Iterator<Item = (StateKey, StateIndex)> + '_ {
        (0..self.entries.len() as u32).map(StateIndex).map(|state| (self.key(state), state))
    }

    /// Whether everything that a state offers was executed or given up.
    pub fn is_done_with(&self, state: StateIndex) -> bool {
        let graph = self.graph();
        let is_done =
            |slot: Slot| graph.target(slot).is_some() || self.aside.get(&slot) == Some(&true);
        self.entries[state.at()].full && graph.slots(state).all(is_done)
    }

    /// All states that are known in full, own or not.
    pub fn full(&self) -> impl Iterator<Item = (StateKey, StateIndex)> + '_ {
        let states = (0..self.entries.len() as u32).map(StateIndex);
        states.filter(|state| self.entries[state.at()].full).map(|state| (self.key(state), state))
    }
}
