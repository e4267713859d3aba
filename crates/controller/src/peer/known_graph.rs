//! The states and transitions that a controller of a ring knows: its own in full, replicas of its
//! neighbours', and of all others what it has heard. Must not know which states are its own.
//!
//! A state whose actions are not known has one candidate instead: *to ask*. To ask about another
//! controller's state is to send the crawler's request to its owner. To ask about an own state,
//! which was lost and collected again, is to send a crawler there to look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use argiope_explore::chance::Chance;
use argiope_explore::explorer::Explorer;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::strategy::{INITIAL, NamedStrategy, StrategySettings};
use argiope_ring::Key;

use super::schemes::Looks;
use super::settings::PeerSettings;
use crate::job::{Route, Transition, initial_of};
use crate::journal::ContentId;
use crate::outcome::{JobFailure, Note};
use crate::route::{Hop, WalkTree};

/// The action that stands for all actions of a state that are not known. No real action has this
/// name: signatures are hashes, and a page that hits upon it only loses this one action.
pub(super) const ASK: ActionSignature = ActionSignature(u64::MAX);

/// What is known of a state beside its transitions. Only ever grows.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownState {
    pub(super) route: Option<Route>,
    /// Whether its actions are known.
    pub(super) full: bool,
    /// The candidate that stands for the actions that are not known.
    pub(super) ask: Option<Slot>,
    /// Its owner, when it was last heard of.
    pub(super) owner: Option<Key>,
    /// How many transitions the last hint listed that called it drained.
    pub(super) leads_heard: usize,
    pub(super) content: Option<ContentId>,
    /// Its plain links.
    pub(super) links: BTreeSet<ActionSignature>,
    /// Where its actions led besides.
    pub(super) strays: BTreeSet<(ActionSignature, StateKey)>,
    /// What happened while its actions were executed.
    pub(super) notes: BTreeMap<ActionSignature, Arc<[Note]>>,
    /// Why its actions were given up.
    pub(super) reasons: BTreeMap<ActionSignature, JobFailure>,
    /// A crawler was there and no transition explains it; whether a load led there.
    pub(super) appeared: Option<bool>,
    /// It does not come back.
    pub(super) gone: bool,
    /// It does not come back, and what becomes of its actions is not decided yet.
    pub(super) vanishing: bool,
}

/// The states and transitions that a controller knows.
#[derive(Clone)]
pub struct KnownGraph {
    strategy: &'static NamedStrategy,
    exploring: StrategySettings,
    /// States of other controllers are candidates too, by asking their owners.
    pub(super) asks_others: bool,
    /// The links that load the seeds of the crawl.
    seeds: Arc<[ActionSignature]>,
    explorer: Option<Explorer>,
    states: Vec<KnownState>,
    /// Actions that turned out to be plain links, though they did not look like it.
    pub(super) plain: BTreeSet<ActionSignature>,
    /// Notes that several transitions share.
    notes: BTreeSet<Arc<[Note]>>,
}

impl KnownGraph {
    pub(super) fn new(settings: &PeerSettings) -> Self {
        Self {
            strategy: settings.strategy,
            exploring: settings.exploring,
            asks_others: settings.scheme.looks == Looks::Known,
            seeds: settings.seeds.clone(),
            explorer: None,
            states: Vec::new(),
            plain: BTreeSet::new(),
            notes: BTreeSet::new(),
        }
    }

    /// The initial state, if its name is known.
    pub fn initial(&self) -> Option<StateKey> {
        self.explorer.as_ref().map(|explorer| explorer.graph().key(INITIAL))
    }

    /// Takes in the name of the initial state.
    pub(super) fn begin(&mut self, initial: StateKey) {
        if self.explorer.is_none() {
            self.explorer = Some(Explorer::new(self.strategy, self.exploring, initial, &[]));
            self.states.push(KnownState { route: Some(Arc::new([])), ..KnownState::default() });
            self.refresh_ask(INITIAL, false);
        }
    }

    pub(super) fn slots(&self) -> &Graph {
        self.explorer.as_ref().expect("there is an initial state").graph()
    }

    pub(super) fn explorer(&mut self) -> &mut Explorer {
        self.explorer.as_mut().expect("there is an initial state")
    }

    pub(super) fn claimed(&self) -> impl Iterator<Item = Slot> + '_ {
        self.explorer.iter().flat_map(|explorer| explorer.graph().claimed()).copied()
    }

    pub(super) fn at(&self, state: StateIndex) -> &KnownState {
        &self.states[state.at()]
    }

    pub(super) fn at_mut(&mut self, state: StateIndex) -> &mut KnownState {
        &mut self.states[state.at()]
    }

    /// What is known of the state with this name, if it was heard of.
    pub(super) fn get(&self, key: StateKey) -> Option<&KnownState> {
        self.find(key).map(|state| self.at(state))
    }

    /// The state with this name, if it was heard of.
    pub fn find(&self, key: StateKey) -> Option<StateIndex> {
        self.explorer.as_ref()?.graph().find(key)
    }

    /// The state with this name, which is added if it is new.
    pub(super) fn find_or_add(&mut self, key: StateKey) -> StateIndex {
        let landing = self.explorer().add_state(key, &[]);
        if landing.new {
            self.states.push(KnownState::default());
            self.refresh_ask(landing.state, false);
        }
        landing.state
    }

    /// Gives a state the candidate to ask, if it should have one. One that was executed or closed
    /// while the state was another controller's is offered again.
    pub(super) fn refresh_ask(&mut self, state: StateIndex, own: bool) {
        let known = self.at(state);
        if !known.full && known.ask.is_none() && (own || self.asks_others) {
            let slot = self.explorer().extend(state, ASK);
            self.at_mut(state).ask = Some(slot);
        }
    }

    /// Takes in what a state offers, for the first time: it needs no candidate to ask any more.
    pub(super) fn fill(&mut self, state: StateIndex) {
        self.at_mut(state).full = true;
        if let Some(ask) = self.at_mut(state).ask.take()
            && self.slots().target(ask).is_none()
        {
            self.explorer().close(ask);
        }
    }

    /// Adds actions to a state. Their order depends on the seed and the state alone.
    pub(super) fn add_actions(&mut self, state: StateIndex, actions: &[ActionSignature]) {
        let key = self.key(state);
        let mut actions: Vec<ActionSignature> = actions.to_vec();
        actions.sort_unstable();
        actions.dedup();
        actions.retain(|&action| action != ASK);
        Chance::new(&[self.exploring.seed, key.0 as u64, (key.0 >> 64) as u64])
            .shuffle(&mut actions);
        for action in actions {
            if self.slot(key, action).is_none() {
                self.explorer().extend(state, action);
            }
            if self.plain.contains(&action) {
                self.at_mut(state).links.insert(action);
            }
        }
    }

    /// Adds the links that load the seeds to a state that a load of the URL leads to, once its own
    /// actions are known. So a seed lasts as long as such a state, and is followed once.
    pub(super) fn add_seeds(&mut self, state: StateIndex) {
        let known = self.at(state);
        let is_loaded = state == INITIAL || known.appeared == Some(true);
        if known.full && is_loaded && !self.seeds.is_empty() {
            let seeds = self.seeds.clone();
            self.at_mut(state).links.extend(seeds.iter().copied());
            self.add_actions(state, &seeds);
        }
    }

    /// The name of a state.
    pub fn key(&self, state: StateIndex) -> StateKey {
        self.slots().key(state)
    }

    /// Whether a state's actions are known here.
    pub fn is_full(&self, key: StateKey) -> bool {
        self.get(key).is_some_and(|known| known.full)
    }

    /// The slot of an action in a state, if it is known.
    pub fn slot(&self, state: StateKey, action: ActionSignature) -> Option<Slot> {
        let graph = self.explorer.as_ref()?.graph();
        graph.slot_of(graph.find(state)?, graph.action_named(action)?)
    }

    /// Whether an action was neither executed nor given up.
    pub fn is_open(&self, slot: Slot) -> bool {
        self.slots().target(slot).is_none()
    }

    /// Whether a slot stands for asking.
    pub fn is_ask(&self, slot: Slot) -> bool {
        self.at(slot.state).ask == Some(slot)
    }

    /// A slot in names.
    pub fn step(&self, slot: Slot) -> Transition {
        Transition::of(self.slots(), slot)
    }

    /// Where the executed actions of a state lead; those that were given up are left out.
    pub fn leads(
        &self,
        state: StateIndex,
    ) -> impl Iterator<Item = (ActionSignature, StateKey)> + '_ {
        let graph = self.slots();
        let executed = graph.slots(state).filter(|slot| !graph.closed().contains(slot));
        executed.filter_map(|slot| {
            Some((graph.signature(graph.action_of(slot)), graph.key(graph.target(slot)?)))
        })
    }

    /// Where an executed action of a state leads.
    pub fn lead(&self, state: StateKey, action: ActionSignature) -> Option<StateKey> {
        let mut leads = self.leads(self.find(state)?);
        leads.find(|&(executed, _)| executed == action).map(|(_, to)| to)
    }

    /// All states that were heard of.
    pub fn all(&self) -> impl Iterator<Item = (StateKey, StateIndex)> + '_ {
        (0..self.states.len() as u32).map(StateIndex).map(|state| (self.key(state), state))
    }

    /// All states that are known in full, own or not.
    pub fn full(&self) -> impl Iterator<Item = (StateKey, StateIndex)> + '_ {
        self.all().filter(|&(_, state)| self.at(state).full)
    }

    /// The shortest known ways from the initial state.
    pub fn ways(&self) -> Option<WalkTree> {
        let graph = self.explorer.as_ref()?.graph();
        let mut ways = WalkTree::new(graph, vec![INITIAL]);
        let hop = |slot| Some(Hop { slot, to: graph.target(slot)? });
        ways.grow(|state| graph.slots(state).filter_map(hop), |_| false);
        Some(ways)
    }

    /// The route to a state, or else a route over known ways.
    pub fn route_by(&self, state: StateIndex, ways: &WalkTree) -> Option<Route> {
        let named = |walk: Vec<Hop>| walk.iter().map(|hop| hop.named(self.slots())).collect();
        self.at(state).route.clone().or_else(|| ways.walk_to(state).map(named))
    }

    /// Whether a route begins in the initial state: others begin where another load led.
    pub(super) fn is_certain(&self, route: &Route, state: StateKey) -> bool {
        self.initial().is_none_or(|initial| initial == initial_of(route, state))
    }

    /// Whether a state other than `except` offers an action, as far as is known here: it was
    /// executed there, or a state of `own` has it as a candidate and comes back.
    pub(super) fn is_offered(
        &self,
        action: ActionSignature,
        except: Option<StateKey>,
        own: impl Fn(StateIndex) -> bool,
    ) -> bool {
        let Some(graph) = self.explorer.as_ref().map(Explorer::graph) else { return false };
        let Some(action) = graph.action_named(action) else { return false };
        self.all().filter(|&(key, _)| Some(key) != except).any(|(_, other)| {
            let known = self.at(other);
            graph.slot_of(other, action).is_some_and(|slot| match graph.target(slot) {
                Some(_) => !graph.closed().contains(&slot),
                None => own(other) && !known.gone && !known.vanishing,
            })
        })
    }

    /// Takes in the owner of a state.
    pub(super) fn learn_owner(&mut self, state: StateKey, owner: Key) {
        if let Some(state) = self.find(state) {
            self.at_mut(state).owner = Some(owner);
        }
    }

    /// Forgets the owner of states, because it is gone.
    pub(super) fn forget_owner(&mut self, gone: Key) {
        for known in self.states.iter_mut().filter(|known| known.owner == Some(gone)) {
            known.owner = None;
        }
    }

    /// Takes in a state's page; the first one counts.
    pub(super) fn learn_content(&mut self, state: StateIndex, content: Option<ContentId>) {
        let known = self.at_mut(state);
        known.content = known.content.or(content);
    }

    /// The actions that turned out to be plain links.
    pub fn plain(&self) -> &BTreeSet<ActionSignature> {
        &self.plain
    }

    /// Takes in another destination of an action.
    pub(super) fn learn_stray(&mut self, step: Transition) {
        let (from, _) = (self.find_or_add(step.from), self.find_or_add(step.to));
        self.at_mut(from).strays.insert((step.action, step.to));
    }

    /// Takes in what happened while an action was executed.
    pub(super) fn learn_notes(&mut self, from: StateKey, action: ActionSignature, notes: &[Note]) {
        let from = self.find_or_add(from);
        if notes.is_empty() {
            return;
        }
        let shared = self.notes.get(notes).cloned().unwrap_or_else(|| notes.into());
        self.notes.insert(shared.clone());
        self.at_mut(from).notes.entry(action).or_insert(shared);
    }
}
