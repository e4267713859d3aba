//! What one controller of a ring knows: the graph, and which of its states are its own. Everything
//! that changes the graph goes through here, so that the counts of own candidates stay right.
//!
//! Words: a state is *own* if this controller owns its key. It is *full* if its actions are known
//! here, and *awaited* if it is own and not full. A state that is not full has one candidate,
//! *ask*: a crawler sent there reports to its owner. A plain link of an own state is *aside* while
//! another state may follow it; the flag says whether one did. *Hints* are piggybacked on messages
//! and may be old; *reports* are final.

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::job::PlannedJob;
use argiope_explore::strategy::INITIAL;
use argiope_ring::Key;

use super::known_graph::{ASK, KnownGraph};
use super::message::RouteHint;
use super::ownership::{CandidateCounts, Ownership};
use super::settings::PeerSettings;
use crate::job::{Route, Transition};
use crate::outcome::JobFailure;

mod links;

/// As long as any route: states that only some loads lead to are tried last.
const FAR: usize = 1 << 24;

/// What a controller of a ring knows.
#[derive(Clone)]
pub struct PeerKnowledge {
    pub(super) graph: KnownGraph,
    pub(super) ownership: Ownership,
}

/// For model checkers. The hash covers what is known and ignores the order in which it was learned,
/// so two controllers with equal hashes may choose differently among equally short paths.
impl std::hash::Hash for PeerKnowledge {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        if self.graph.initial().is_none() {
            return;
        }
        self.ownership.unreconciled.hash(hasher);
        let graph = self.graph.slots();
        let mut states: Vec<(StateKey, StateIndex)> = self.graph.all().collect();
        states.sort_unstable();
        for (key, state) in states {
            let known = self.graph.at(state);
            let own = self.ownership.is_own(state);
            (key, own, known.full, &known.route, known.owner).hash(hasher);
            (known.appeared, known.gone, known.vanishing).hash(hasher);
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

impl PeerKnowledge {
    /// Knows nothing.
    pub fn new(settings: &PeerSettings) -> Self {
        Self { graph: KnownGraph::new(settings), ownership: Ownership::default() }
    }

    /// The states and transitions.
    pub fn graph(&self) -> &KnownGraph {
        &self.graph
    }

    /// Which states are own.
    pub fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// Runs a change of a state and keeps the counts of own candidates right.
    pub(super) fn counted(&mut self, state: StateIndex, change: impl FnOnce(&mut Self)) {
        let before = self.counts(state);
        change(self);
        self.ownership.recount(state, before, self.counts(state));
    }

    fn counts(&self, state: StateIndex) -> CandidateCounts {
        let free = self.free_in(state);
        let (key, known) = (self.graph.key(state), self.graph.at(state));
        let far = || if known.full { Some(usize::MAX) } else { None };
        let length = known.route.as_ref().map(|route| self.cost_of(route, key)).or_else(far);
        (free, length.filter(|_| free > 0).map(|length| (length, key)))
    }

    /// How long a route is; one that begins where only some loads lead is longer than any other.
    fn cost_of(&self, route: &Route, key: StateKey) -> usize {
        route.len() + if self.graph.is_certain(route, key) { 0 } else { FAR }
    }

    /// Holds back candidates that this controller must not assign: those of other owners, those of
    /// unreconciled states, which another controller may have executed, and those of states that do
    /// not come back.
    fn refresh_hold(&mut self, state: StateIndex) {
        let known = self.graph.at(state);
        let held = if self.ownership.is_own(state) {
            let is_lost = known.gone || known.vanishing;
            is_lost || self.ownership.is_unreconciled(self.graph.key(state))
        } else {
            known.full || !self.graph.asks_others
        };
        self.graph.explorer().hold(state, held);
    }

    /// Blocks assignments in a range of keys (after the first, up to the second) until it is
    /// reconciled. `None` lifts the block.
    pub fn set_unreconciled(&mut self, places: Option<(Key, Key)>) {
        self.ownership.unreconciled = places;
        let own: Vec<StateIndex> = self.ownership.own().map(|(_, state)| state).collect();
        for state in own {
            self.counted(state, |known| {
                known.refresh_hold(state);
                known.set_links_aside(state);
            });
        }
    }

    /// Whether crawlers are still to look what an own state offers.
    pub fn awaits_any(&self) -> bool {
        let awaited = self.ownership.awaited.iter();
        awaited.copied().any(|state| !self.graph.at(state).vanishing)
    }

    /// Own states of which neither the actions nor a route are known.
    pub fn awaited_without_route(&self) -> Vec<StateIndex> {
        let awaited = self.ownership.awaited.iter().copied();
        awaited.filter(|&state| self.graph.at(state).route.is_none()).collect()
    }

    /// Takes in that a state is, or is not, this controller's.
    pub fn set_owned(&mut self, key: StateKey, own: bool) -> StateIndex {
        let state = self.graph.find_or_add(key);
        if self.ownership.is_own(state) == own {
            return state;
        }
        self.counted(state, |known| {
            let full = known.graph.at(state).full;
            // A new owner decides again.
            known.graph.at_mut(state).vanishing = false;
            known.ownership.set_owned(key, state, own, full);
            known.refresh_hold(state);
            known.graph.refresh_ask(state, own);
            if let Some(ask) = known.graph.at(state).ask.filter(|_| own)
                && known.graph.slots().claimed().contains(&ask)
            {
                known.graph.explorer().release(ask);
            }
            known.set_links_aside(state);
        });
        state
    }

    /// Takes in a route to a state, if it is shorter than the known one.
    pub fn learn_route(&mut self, state: StateIndex, route: &Route) {
        let key = self.graph.key(state);
        let known = self.graph.at(state).route.as_ref();
        if known.is_none_or(|known| self.cost_of(known, key) > self.cost_of(route, key)) {
            self.counted(state, |known| known.graph.at_mut(state).route = Some(route.clone()));
        }
    }

    /// Takes in what a state offers, if that is not known. Says whether it was new.
    pub fn learn_actions(&mut self, key: StateKey, actions: &[ActionSignature]) -> bool {
        let state = self.graph.find_or_add(key);
        if self.graph.at(state).full {
            return false;
        }
        self.counted(state, |known| {
            known.graph.fill(state);
            known.graph.at_mut(state).vanishing = false;
            known.ownership.awaited.remove(&state);
            known.refresh_hold(state);
            known.graph.add_actions(state, actions);
            known.graph.add_seeds(state);
            known.set_links_aside(state);
        });
        true
    }

    /// Records the destination of an action. `new`: the action found that state. Returns whether
    /// the transition was unknown.
    pub fn learn_step(&mut self, step: Transition, new: bool) -> bool {
        // No crawler executes it. As a transition it would take the place of the candidate to ask.
        if step.action == ASK {
            return false;
        }
        let from = self.graph.find_or_add(step.from);
        let slot = self.graph.slot(step.from, step.action);
        if slot.is_some_and(|slot| !self.graph.is_open(slot)) {
            return false;
        }
        self.graph.find_or_add(step.to);
        self.counted(from, |known| match slot {
            Some(slot) => known.graph.explorer().record_known(slot, step.to, new),
            None => known.graph.explorer().extend_executed(from, step.action, step.to, new),
        });
        true
    }

    /// Records a transition that a message mentions, unless its source state is stored here. For
    /// stored states only reports count: a report is sent after its destination is durable.
    pub fn hear(&mut self, step: Transition) {
        if !self.graph.is_full(step.from) {
            self.learn_step(step, false);
        }
    }

    /// Records several such transitions.
    pub fn hear_all<'a>(&mut self, steps: impl IntoIterator<Item = &'a Transition>) {
        for &step in steps {
            self.hear(step);
        }
    }

    /// Records a hint that another controller piggybacked.
    pub fn learn_hint(&mut self, hint: &RouteHint) {
        match hint {
            RouteHint::Leads(step) => self.hear(*step),
            RouteHint::Drained(key, leads) => {
                let state = self.graph.find_or_add(*key);
                // Many controllers tell the same, and what is known of a state only grows.
                let heard = &mut self.graph.at_mut(state).leads_heard;
                if std::mem::replace(heard, leads.len()) < leads.len() {
                    for &(action, to) in leads.iter() {
                        self.hear(Transition { from: *key, action, to });
                    }
                }
                // The state has nothing to assign: there is no use in asking about it.
                if let Some(ask) = self.foreign_ask(*key)
                    && self.graph.slots().is_free(ask)
                {
                    self.graph.explorer().claim(ask);
                }
            }
            RouteHint::Open(key) => {
                if let Some(ask) = self.foreign_ask(*key)
                    && self.graph.slots().claimed().contains(&ask)
                {
                    self.graph.explorer().release(ask);
                }
            }
        }
    }

    /// The candidate to ask about another controller's state.
    fn foreign_ask(&self, key: StateKey) -> Option<Slot> {
        let state = self.graph.find(key)?;
        let known = self.graph.at(state);
        if self.ownership.is_own(state) || known.full { None } else { known.ask }
    }

    /// The job that the strategy chooses for a crawler in a state, or else after a reset.
    pub fn choose(&mut self, at: Option<StateKey>) -> Option<PlannedJob> {
        let at = at.map_or(INITIAL, |at| self.graph.find_or_add(at));
        self.graph.explorer().choose(at)
    }

    /// A free candidate of an own state.
    pub fn first_free(&self, state: StateIndex) -> Option<Slot> {
        if self.ownership.is_own(state) { self.graph.slots().first_unexplored(state) } else { None }
    }

    /// Whether a slot is a free candidate of an own state.
    pub fn is_assignable(&self, slot: Slot) -> bool {
        self.ownership.is_own(slot.state)
            && self.graph.slots().is_free(slot)
            && !self.graph.is_ask(slot)
    }

    /// How many free candidates an own state has.
    pub fn free_in(&self, state: StateIndex) -> usize {
        if self.ownership.is_own(state) {
            self.graph.slots().unexplored_in(state) as usize
        } else {
            0
        }
    }

    /// The own state with a free candidate that is nearest after a reset.
    pub fn nearest_by_route(&self) -> Option<StateIndex> {
        self.ownership.by_route.first().and_then(|&(_, key)| self.graph.find(key))
    }

    /// Claims a free candidate.
    pub fn claim(&mut self, slot: Slot) {
        self.counted(slot.state, |known| known.graph.explorer().claim(slot));
    }

    /// A claimed candidate was not executed.
    pub fn release(&mut self, slot: Slot) {
        if self.graph.slots().claimed().contains(&slot) {
            self.counted(slot.state, |known| known.graph.explorer().release(slot));
        }
    }

    /// Gives a candidate up.
    pub fn close(&mut self, slot: Slot, reason: JobFailure) {
        if self.graph.is_open(slot) {
            self.counted(slot.state, |known| known.graph.explorer().close(slot));
            let action = self.graph.step(slot).action;
            self.graph.at_mut(slot.state).reasons.insert(action, reason);
        }
    }

    /// Takes in that a crawler was in a state that no transition explains, perhaps after a load.
    pub(super) fn learn_appeared(&mut self, key: StateKey, loaded: bool) {
        let state = self.graph.find_or_add(key);
        let appeared = &mut self.graph.at_mut(state).appeared;
        *appeared = Some(loaded || *appeared == Some(true));
        if loaded {
            self.learn_route(state, &Route::default());
            self.counted(state, |known| {
                known.graph.add_seeds(state);
                known.set_links_aside(state);
            });
        }
    }

    /// Takes in that a state does not come back: nothing is assigned there any more.
    pub(super) fn learn_gone(&mut self, key: StateKey) {
        let state = self.graph.find_or_add(key);
        self.counted(state, |known| {
            known.graph.at_mut(state).gone = true;
            known.refresh_hold(state);
        });
    }

    /// Assigns nothing in an own state until it is decided whether it comes back.
    pub(super) fn set_vanishing(&mut self, state: StateIndex, vanishing: bool) {
        self.counted(state, |known| {
            known.graph.at_mut(state).vanishing = vanishing;
            known.refresh_hold(state);
        });
    }

    /// The actions of a state that were neither executed nor given up.
    pub(super) fn open_in(&self, state: StateIndex) -> Vec<ActionSignature> {
        let slots = self.graph.slots().slots(state).filter(|&slot| self.graph.is_open(slot));
        slots.map(|slot| self.graph.step(slot).action).filter(|&action| action != ASK).collect()
    }

    /// What was executed in own states.
    pub fn executed_own(&self) -> impl Iterator<Item = (StateKey, ActionSignature)> + '_ {
        let own = self.ownership.own();
        own.flat_map(|(key, state)| self.graph.leads(state).map(move |(action, _)| (key, action)))
    }

    /// Claimed candidates of own states; each should have a lease.
    pub fn claimed_own(&self) -> impl Iterator<Item = Slot> + '_ {
        let own = |slot: &Slot| self.ownership.is_own(slot.state);
        let claimed = self.graph.claimed().filter(own);
        claimed.filter(|slot| !self.ownership.aside.contains_key(slot))
    }

    /// Whether everything that a state offers was executed or given up.
    pub fn is_done_with(&self, state: StateIndex) -> bool {
        let is_done = |slot: Slot| {
            !self.graph.is_open(slot) || self.ownership.aside.get(&slot) == Some(&true)
        };
        let known = self.graph.at(state);
        known.full && (known.gone || self.graph.slots().slots(state).all(is_done))
    }
}
