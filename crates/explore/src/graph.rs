//! What a crawl knows so far: the states, their actions, and where the executed actions led. Must
//! not know how the next action is chosen.
//!
//! Each slot (one action of one state) is in one of these conditions:
//! - *free*: a candidate that a strategy may choose;
//! - *claimed*: a candidate that a crawler is about to execute;
//! - *held*: a candidate of a state that is held back;
//! - *deferred*: a candidate that waits, because an action that is alike was executed elsewhere;
//! - *closed*: a candidate that was given up. It looks like a transition to its own state, so no
//!   walk uses it;
//! - *executed*: a transition.
//!
//! The graph is built for half a million states and fifty million transitions. A transition takes
//! eight bytes (its action and its destination), and the graph stores no strings.

use std::collections::BTreeSet;

use crate::chance::Chance;
use crate::id::{ActionIndex, ActionSignature, StateIndex, StateKey};
use crate::key_map::KeyMap;
use crate::strategy::INITIAL;

/// The destination of an action that was not executed yet.
pub const UNEXPLORED: u32 = u32::MAX;

/// One action of one state: a candidate while it is unexplored, a transition afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The state.
    pub state: StateIndex,
    /// The position in the state's list of actions.
    pub index: u32,
}

/// A state that a load of its own address leads to (an address other than the URL of the crawl).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The state.
    pub state: StateIndex,
    /// The cost of the load, in actions.
    pub cost: f64,
}

/// The states that a load leads to, with the cost of each load in actions.
#[derive(Clone, Copy, Debug)]
pub struct ResetCosts<'a> {
    /// Of a load of the URL, which leads to the initial state.
    pub initial: f64,
    /// The other addresses.
    pub entries: &'a [Entry],
}

impl ResetCosts<'_> {
    /// The states and costs, the initial state first.
    pub fn iter(&self) -> impl Iterator<Item = (StateIndex, f64)> {
        let entries = self.entries.iter().map(|entry| (entry.state, entry.cost));
        std::iter::once((INITIAL, self.initial)).chain(entries)
    }
}

/// Known or predicted destinations of the actions of every state.
pub trait Edges {
    /// One destination per action of the state, [`UNEXPLORED`] where none is known.
    fn targets(&self, state: usize) -> &[u32];
}

#[derive(Clone)]
struct StateRecord {
    key: StateKey,
    actions: Vec<ActionIndex>,
    targets: Vec<u32>,
    /// The number of candidates that are neither claimed nor deferred.
    unexplored: u32,
    /// Every candidate before this position is claimed or deferred.
    cursor: u32,
    held: bool,
}

/// The graph of states and transitions that a crawl has found.
#[derive(Clone)]
pub struct Graph {
    seed: u64,
    states: Vec<StateRecord>,
    by_key: KeyMap<StateKey, StateIndex>,
    signatures: Vec<ActionSignature>,
    by_signature: KeyMap<ActionSignature, ActionIndex>,
    transitions: usize,
    unexplored: usize,
    free: usize,
    claimed: BTreeSet<Slot>,
    deferred: BTreeSet<Slot>,
    closed: BTreeSet<Slot>,
    entries: Vec<Entry>,
}

impl Graph {
    /// Creates an empty graph. The seed decides the order of the actions in every state.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            states: Vec::new(),
            by_key: KeyMap::default(),
            signatures: Vec::new(),
            by_signature: KeyMap::default(),
            transitions: 0,
            unexplored: 0,
            free: 0,
            claimed: BTreeSet::new(),
            deferred: BTreeSet::new(),
            closed: BTreeSet::new(),
            entries: Vec::new(),
        }
    }

    /// The states that a load leads to, if a load of the URL costs this.
    pub fn resets(&self, initial: f64) -> ResetCosts<'_> {
        ResetCosts { initial, entries: &self.entries }
    }

    /// The entries, in the order in which they were found.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry, or changes its cost. The initial state is none.
    pub(crate) fn set_entry(&mut self, state: StateIndex, cost: f64) {
        match self.entries.iter_mut().find(|entry| entry.state == state) {
            Some(entry) => entry.cost = cost,
            None if state == INITIAL => {}
            None => self.entries.push(Entry { state, cost }),
        }
    }

    /// A load of its address does not lead to a state any more.
    pub(crate) fn remove_entry(&mut self, state: StateIndex) {
        self.entries.retain(|entry| entry.state != state);
    }

    /// Adds a new state. The order of its actions depends only on the seed and on the key, so it is
    /// the same whenever the state is found.
    pub fn add_state(&mut self, key: StateKey, actions: &[ActionSignature]) -> StateIndex {
        let state = StateIndex(u32::try_from(self.states.len()).expect("at most 2^32 states"));
        assert_eq!(self.by_key.get_or_insert(key, state), state, "state {key:?} is known already");
        let mut sorted = actions.to_vec();
        sorted.sort_unstable();
        let mut indexes: Vec<ActionIndex> =
            sorted.iter().map(|&signature| self.intern(signature)).collect();
        assert!(sorted.is_sorted_by(|a, b| a < b), "state {key:?} lists an action twice");
        Chance::new(&[self.seed, key.0 as u64, (key.0 >> 64) as u64]).shuffle(&mut indexes);
        self.unexplored += indexes.len();
        self.free += indexes.len();
        self.states.push(StateRecord {
            key,
            targets: vec![UNEXPLORED; indexes.len()],
            unexplored: indexes.len() as u32,
            cursor: 0,
            held: false,
            actions: indexes,
        });
        state
    }

    /// Adds a candidate to a known state.
    pub fn extend(&mut self, state: StateIndex, signature: ActionSignature) -> Slot {
        let action = self.intern(signature);
        assert_eq!(self.slot_of(state, action), None, "{state:?} lists an action twice");
        let record = &mut self.states[state.at()];
        let slot = Slot { state, index: record.actions.len() as u32 };
        record.actions.push(action);
        record.targets.push(UNEXPLORED);
        record.unexplored += 1;
        self.unexplored += 1;
        self.free += usize::from(!record.held);
        slot
    }

    fn intern(&mut self, signature: ActionSignature) -> ActionIndex {
        let next = ActionIndex(u32::try_from(self.signatures.len()).expect("at most 2^32 actions"));
        let index = self.by_signature.get_or_insert(signature, next);
        if index == next {
            self.signatures.push(signature);
        }
        index
    }

    /// Records the destination of a candidate. A candidate is recorded once.
    pub fn record(&mut self, slot: Slot, destination: StateIndex) {
        self.set_target(slot, destination);
        self.transitions += 1;
    }

    /// Gives up a candidate.
    pub fn close(&mut self, slot: Slot) {
        self.set_target(slot, slot.state);
        self.closed.insert(slot);
    }

    fn set_target(&mut self, slot: Slot, destination: StateIndex) {
        assert!(destination.at() < self.states.len(), "{destination:?} is not in the graph");
        assert_eq!(self.target(slot), None, "{slot:?} was recorded before");
        if !self.claimed.remove(&slot) && !self.deferred.remove(&slot) {
            self.count_out(slot);
        }
        self.states[slot.state.at()].targets[slot.index as usize] = destination.0;
        self.unexplored -= 1;
        self.advance_cursor(slot.state);
    }

    /// Claims a free candidate for a crawler.
    pub fn claim(&mut self, slot: Slot) {
        assert!(self.is_free(slot), "{slot:?} is not a free candidate");
        self.claimed.insert(slot);
        self.count_out(slot);
        self.advance_cursor(slot.state);
    }

    /// Releases a claimed candidate that was not executed.
    pub fn release(&mut self, slot: Slot) {
        assert!(self.claimed.remove(&slot), "{slot:?} is not claimed");
        self.count_in(slot);
    }

    /// Lets a candidate wait that no crawler has claimed.
    pub fn defer(&mut self, slot: Slot) {
        let waits = self.is_open(slot) && self.deferred.insert(slot);
        assert!(waits, "{slot:?} cannot be deferred");
        self.count_out(slot);
        self.advance_cursor(slot.state);
    }

    /// A deferred candidate waits no more.
    pub fn undefer(&mut self, slot: Slot) {
        assert!(self.deferred.remove(&slot), "{slot:?} is not deferred");
        self.count_in(slot);
    }

    fn count_in(&mut self, slot: Slot) {
        let record = &mut self.states[slot.state.at()];
        record.unexplored += 1;
        record.cursor = record.cursor.min(slot.index);
        self.free += usize::from(!record.held);
    }

    /// Holds or frees a state. The candidates of a held state are not free.
    pub fn hold(&mut self, state: StateIndex, held: bool) {
        let record = &mut self.states[state.at()];
        let count = record.unexplored as usize;
        match (std::mem::replace(&mut record.held, held), held) {
            (false, true) => self.free -= count,
            (true, false) => self.free += count,
            (true, true) | (false, false) => {}
        }
    }

    fn count_out(&mut self, slot: Slot) {
        let record = &mut self.states[slot.state.at()];
        record.unexplored -= 1;
        self.free -= usize::from(!record.held);
    }

    fn advance_cursor(&mut self, state: StateIndex) {
        let mut cursor = self.states[state.at()].cursor;
        let targets = &self.states[state.at()].targets;
        while targets.get(cursor as usize).is_some_and(|&target| {
            let slot = Slot { state, index: cursor };
            target != UNEXPLORED || self.claimed.contains(&slot) || self.deferred.contains(&slot)
        }) {
            cursor += 1;
        }
        self.states[state.at()].cursor = cursor;
    }

    /// The state with this key, if it is known.
    pub fn find(&self, key: StateKey) -> Option<StateIndex> {
        self.by_key.get(&key)
    }

    /// The key of a state.
    pub fn key(&self, state: StateIndex) -> StateKey {
        self.states[state.at()].key
    }

    /// The signature of an action.
    pub fn signature(&self, action: ActionIndex) -> ActionSignature {
        self.signatures[action.at()]
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The number of different actions.
    pub fn actions_seen(&self) -> usize {
        self.signatures.len()
    }

    /// The number of transitions.
    pub fn transitions(&self) -> usize {
        self.transitions
    }

    /// The number of candidates: free, claimed, held and deferred.
    pub fn unexplored(&self) -> usize {
        self.unexplored
    }

    /// The number of free candidates.
    pub fn free(&self) -> usize {
        self.free
    }

    /// The number of held candidates that are neither claimed nor deferred.
    pub fn held(&self) -> usize {
        self.unexplored - self.free - self.claimed.len() - self.deferred.len()
    }

    /// The claimed candidates.
    pub fn claimed(&self) -> &BTreeSet<Slot> {
        &self.claimed
    }

    /// The deferred candidates.
    pub fn deferred(&self) -> &BTreeSet<Slot> {
        &self.deferred
    }

    /// The closed candidates.
    pub fn closed(&self) -> &BTreeSet<Slot> {
        &self.closed
    }

    /// Whether a slot is a candidate that is neither claimed, held nor deferred.
    pub fn is_free(&self, slot: Slot) -> bool {
        let is_held = self.states[slot.state.at()].held;
        self.is_open(slot) && !is_held && !self.deferred.contains(&slot)
    }

    /// Whether a slot is a candidate that no crawler has claimed.
    pub fn is_open(&self, slot: Slot) -> bool {
        let record = &self.states[slot.state.at()];
        record.targets[slot.index as usize] == UNEXPLORED && !self.claimed.contains(&slot)
    }

    /// The number of free candidates of a state.
    pub fn unexplored_in(&self, state: StateIndex) -> u32 {
        let record = &self.states[state.at()];
        if record.held { 0 } else { record.unexplored }
    }

    /// The first free candidate of a state, in the state's order.
    pub fn first_unexplored(&self, state: StateIndex) -> Option<Slot> {
        let index = self.states[state.at()].cursor;
        (self.unexplored_in(state) > 0).then_some(Slot { state, index })
    }

    /// The slots of a state, in the state's order.
    pub fn slots(&self, state: StateIndex) -> impl Iterator<Item = Slot> + use<> {
        (0..self.states[state.at()].actions.len() as u32).map(move |index| Slot { state, index })
    }

    /// The actions of a state, in the state's order.
    pub fn actions(&self, state: StateIndex) -> &[ActionIndex] {
        &self.states[state.at()].actions
    }

    /// The action of a slot.
    pub fn action_of(&self, slot: Slot) -> ActionIndex {
        self.states[slot.state.at()].actions[slot.index as usize]
    }

    /// The destination of a slot, if it was executed or closed.
    pub fn target(&self, slot: Slot) -> Option<StateIndex> {
        let target = self.states[slot.state.at()].targets[slot.index as usize];
        (target != UNEXPLORED).then_some(StateIndex(target))
    }

    /// The action with this signature, if it is known.
    pub fn action_named(&self, signature: ActionSignature) -> Option<ActionIndex> {
        self.by_signature.get(&signature)
    }

    /// The slot of an action in a state, if the state offers it.
    pub fn slot_of(&self, state: StateIndex, action: ActionIndex) -> Option<Slot> {
        let index = self.actions(state).iter().position(|&other| other == action)?;
        Some(Slot { state, index: index as u32 })
    }

    /// The memory of the graph in bytes: of its states (with the index of keys) and of its
    /// transitions.
    pub fn bytes(&self) -> (usize, usize) {
        let slots: usize = self.states.iter().map(|record| record.actions.len()).sum();
        (
            self.states.capacity() * size_of::<StateRecord>() + self.by_key.bytes(),
            slots * (size_of::<ActionIndex>() + size_of::<u32>()),
        )
    }
}

impl Edges for Graph {
    fn targets(&self, state: usize) -> &[u32] {
        &self.states[state].targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_of_two(seed: u64) -> Graph {
        let mut graph = Graph::new(seed);
        let actions: Vec<_> = (0..20).map(ActionSignature).collect();
        graph.add_state(StateKey(1), &actions);
        graph.add_state(StateKey(2), &actions[..3]);
        graph
    }

    #[test]
    fn the_order_of_actions_depends_only_on_the_seed_and_the_state() {
        let order = |seed| graph_of_two(seed).actions(StateIndex(0)).to_vec();
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut reversed = Graph::new(1);
        let actions: Vec<_> = (0..20).rev().map(ActionSignature).collect();
        reversed.add_state(StateKey(1), &actions);
        let names = |graph: &Graph| -> Vec<_> {
            graph.actions(StateIndex(0)).iter().map(|&action| graph.signature(action)).collect()
        };
        assert_eq!(names(&graph_of_two(1)), names(&reversed));
        let mut other = Graph::new(1);
        other.add_state(StateKey(7), &actions);
        assert_ne!(names(&other), names(&reversed));
    }

    #[test]
    fn a_recorded_candidate_is_no_longer_free() {
        let mut graph = graph_of_two(3);
        let state = StateIndex(1);
        let mut seen = Vec::new();
        while let Some(slot) = graph.first_unexplored(state) {
            graph.record(slot, StateIndex(0));
            seen.push(slot.index);
        }
        assert_eq!(seen, [0, 1, 2]);
        assert_eq!(
            (graph.transitions(), graph.unexplored(), graph.unexplored_in(state)),
            (3, 20, 0)
        );
    }

    #[test]
    fn a_released_candidate_is_free_again() {
        let mut graph = graph_of_two(3);
        let state = StateIndex(1);
        let [a, b, c] = [0, 1, 2].map(|index| Slot { state, index });
        graph.claim(a);
        graph.claim(c);
        assert_eq!(graph.first_unexplored(state), Some(b));
        graph.record(a, StateIndex(0));
        graph.claim(b);
        assert_eq!((graph.first_unexplored(state), graph.unexplored_in(state)), (None, 0));
        assert_eq!((graph.unexplored(), graph.free(), graph.claimed().len()), (22, 20, 2));
        graph.release(c);
        assert_eq!(graph.first_unexplored(state), Some(c));
        graph.release(b);
        assert_eq!(graph.first_unexplored(state), Some(b));
        assert_eq!((graph.unexplored(), graph.free()), (22, 22));
    }

    #[test]
    fn a_closed_candidate_is_not_a_transition() {
        let mut graph = graph_of_two(3);
        let slot = graph.first_unexplored(StateIndex(0)).unwrap();
        graph.close(slot);
        assert_eq!((graph.transitions(), graph.unexplored(), graph.free()), (0, 22, 22));
        assert_eq!(graph.target(slot), Some(slot.state));
        assert!(graph.closed().contains(&slot));
    }

    #[test]
    fn candidates_of_a_held_state_are_not_free() {
        let mut graph = graph_of_two(3);
        let state = StateIndex(1);
        let first = graph.first_unexplored(state).unwrap();
        graph.claim(first);
        graph.hold(state, true);
        graph.hold(state, true);
        assert_eq!((graph.free(), graph.held(), graph.unexplored_in(state)), (20, 2, 0));
        assert_eq!(graph.first_unexplored(state), None);
        graph.release(first);
        assert_eq!((graph.free(), graph.held()), (20, 3));
        graph.hold(state, false);
        assert_eq!((graph.free(), graph.held()), (23, 0));
        assert_eq!(graph.first_unexplored(state), Some(first));
    }

    #[test]
    #[should_panic(expected = "recorded before")]
    fn a_candidate_cannot_be_recorded_twice() {
        let mut graph = graph_of_two(3);
        let slot = graph.first_unexplored(StateIndex(0)).unwrap();
        graph.record(slot, StateIndex(1));
        graph.record(slot, StateIndex(1));
    }
}
