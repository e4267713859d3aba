//! The anticipated model (paper 001, section 4.2.1): the explored transitions, and predicted ones
//! where an action was not executed yet. A strategy sorts candidates into groups by their action.
//! The nearest candidate of each group is known at any time, over explored and predicted
//! transitions.

use std::collections::BTreeSet;

use crate::distances::Distances;
use crate::graph::{Graph, Slot, UNEXPLORED};
use crate::id::{ActionIndex, StateIndex};
use crate::job::{PlannedJob, TransferChoice};

/// How a strategy classifies an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The group of its candidates, or `None` if they are not worth seeking.
    pub group: Option<usize>,
    /// The predicted behaviour, if any.
    pub behaviour: Option<Behaviour>,
}

/// What an action does in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// It leads to this state, as a menu item does.
    LeadsTo(StateIndex),
    /// It changes nothing.
    Idles,
}

impl Behaviour {
    /// The destination of the action when it is executed in `source`.
    pub fn destination_from(self, source: StateIndex) -> StateIndex {
        match self {
            Self::LeadsTo(state) => state,
            Self::Idles => source,
        }
    }
}

/// The anticipated model, with candidates in `N` groups.
#[derive(Clone)]
pub struct AnticipatedModel<const N: usize> {
    reset_cost: f64,
    /// The known or predicted destinations of each state.
    targets: Vec<Vec<u32>>,
    classes: Vec<Classification>,
    /// The candidates of each action. Executed ones are dropped when the action is classified anew.
    candidates: Vec<Vec<Slot>>,
    /// The number of free candidates of each group, per state.
    counts: Vec<[u32; N]>,
    /// The candidates that are not free.
    claimed: BTreeSet<Slot>,
    distances: Distances,
}

impl<const N: usize> AnticipatedModel<N> {
    /// Creates a model without states.
    pub fn new(reset_cost: f64) -> Self {
        Self {
            reset_cost,
            targets: Vec::new(),
            classes: Vec::new(),
            candidates: Vec::new(),
            counts: Vec::new(),
            claimed: BTreeSet::new(),
            distances: Distances::new(N),
        }
    }

    /// Notes a new state. `of_unseen` is the class of an action that was never seen before.
    pub fn on_discovered(&mut self, graph: &Graph, state: StateIndex, of_unseen: Classification) {
        self.distances.add_state();
        self.counts.push([0; N]);
        self.targets.push(Vec::new());
        for slot in graph.slots(state) {
            self.on_extended(graph, slot, of_unseen);
        }
    }

    /// Notes one more candidate of a known state.
    pub fn on_extended(&mut self, graph: &Graph, slot: Slot, of_unseen: Classification) {
        self.classes.resize(graph.actions_seen(), of_unseen);
        self.candidates.resize_with(graph.actions_seen(), Vec::new);
        self.targets[slot.state.at()].push(UNEXPLORED);
        let action = graph.action_of(slot);
        self.candidates[action.at()].push(slot);
        let class = self.classes[action.at()];
        self.count(slot.state, class.group, 1);
        self.predict(slot, class.behaviour.map(|behaviour| behaviour.destination_from(slot.state)));
        if !graph.is_free(slot) {
            self.on_claimed(graph, slot);
        }
    }

    /// Notes that a candidate was executed or closed.
    pub fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex) {
        self.on_claimed(graph, slot);
        self.claimed.remove(&slot);
        self.predict(slot, Some(destination));
    }

    /// Notes that a candidate is no longer free.
    pub fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        if self.claimed.insert(slot) {
            self.count(slot.state, self.classes[graph.action_of(slot).at()].group, -1);
        }
    }

    /// Notes that a candidate is free again.
    pub fn on_released(&mut self, graph: &Graph, slot: Slot) {
        let class = self.classes[graph.action_of(slot).at()];
        if self.claimed.remove(&slot) {
            self.count(slot.state, class.group, 1);
        }
        self.predict(slot, class.behaviour.map(|behaviour| behaviour.destination_from(slot.state)));
    }

    /// Sets the cost of a reset.
    pub fn set_reset_cost(&mut self, cost: f64) {
        self.reset_cost = cost;
    }

    /// Changes the class of an action, for all its remaining candidates.
    pub fn classify(&mut self, graph: &Graph, action: ActionIndex, class: Classification) {
        let before = std::mem::replace(&mut self.classes[action.at()], class);
        if before == class {
            return;
        }
        let mut candidates = std::mem::take(&mut self.candidates[action.at()]);
        candidates.retain(|&slot| graph.target(slot).is_none());
        for &slot in &candidates {
            if before.group != class.group && !self.claimed.contains(&slot) {
                self.count(slot.state, before.group, -1);
                self.count(slot.state, class.group, 1);
            }
            self.predict(
                slot,
                class.behaviour.map(|behaviour| behaviour.destination_from(slot.state)),
            );
        }
        self.candidates[action.at()] = candidates;
    }

    fn predict(&mut self, slot: Slot, target: Option<StateIndex>) {
        let target = target.map_or(UNEXPLORED, |state| state.0);
        let place = &mut self.targets[slot.state.at()][slot.index as usize];
        let before = std::mem::replace(place, target);
        if before == target {
            return;
        }
        if before != UNEXPLORED {
            self.distances.disconnect(slot);
        }
        if target != UNEXPLORED {
            self.distances.connect(&self.targets, slot);
        }
    }

    fn count(&mut self, state: StateIndex, group: Option<usize>, by: i32) {
        let Some(group) = group else { return };
        let count = &mut self.counts[state.at()][group];
        let before = *count;
        *count = before.checked_add_signed(by).expect("a state loses only candidates it has");
        match (before, *count) {
            (0, 1..) => self.distances.set_goal(group, &self.targets, state),
            (1.., 0) => self.distances.clear_goal(group, state),
            _ => {}
        }
    }

    /// Chooses the cheapest transfer from `at` to the nearest candidate of a group.
    pub fn choose_transfer(
        &mut self,
        graph: &Graph,
        at: StateIndex,
        group: usize,
    ) -> Option<TransferChoice> {
        let resets = graph.resets(self.reset_cost);
        self.distances.choose_transfer(group, &self.targets, at, resets)
    }

    /// Plans a job towards the nearest candidate of a group.
    pub fn seek(&mut self, graph: &Graph, at: StateIndex, group: usize) -> Option<PlannedJob> {
        self.seek_goal(graph, at, group, false)
    }

    /// Plans a job towards the nearest candidate of a group. Of several states at the same distance
    /// it takes the one with the most candidates.
    pub fn seek_fullest(
        &mut self,
        graph: &Graph,
        at: StateIndex,
        group: usize,
    ) -> Option<PlannedJob> {
        self.seek_goal(graph, at, group, true)
    }

    /// Cuts the walk at its first unexplored step, because only its execution shows whether the
    /// prediction holds. If another crawler has claimed that step, its prediction is withdrawn
    /// until it is executed or released, and the search takes another walk.
    fn seek_goal(
        &mut self,
        graph: &Graph,
        at: StateIndex,
        group: usize,
        fullest: bool,
    ) -> Option<PlannedJob> {
        let candidates = |state| graph.unexplored_in(state) as usize;
        loop {
            let transfer = self.choose_transfer(graph, at, group)?;
            let (reset, from) = (transfer.is_reset(), transfer.start(at));
            let mut walk = Vec::new();
            let goal = if fullest {
                self.distances.walk_to_best(group, &self.targets, from, &mut walk, candidates)
            } else {
                self.distances.walk(group, &self.targets, from, &mut walk)
            };
            let Some(first) = walk.iter().position(|&slot| graph.target(slot).is_none()) else {
                let candidate = self.candidate(graph, group, goal);
                return Some(PlannedJob { reset, walk, candidate });
            };
            let candidate = walk[first];
            if graph.is_free(candidate) {
                walk.truncate(first);
                return Some(PlannedJob { reset, walk, candidate });
            }
            self.predict(candidate, None);
        }
    }

    fn candidate(&self, graph: &Graph, group: usize, state: StateIndex) -> Slot {
        let wanted = |&slot: &Slot| {
            graph.is_free(slot) && self.classes[graph.action_of(slot).at()].group == Some(group)
        };
        graph.slots(state).find(wanted).expect("a goal has a candidate")
    }
}
