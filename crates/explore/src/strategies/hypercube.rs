//! The hypercube strategy (paper 001, sections 5 and 6). It expects that actions are independent
//! and that each can be executed once. A state with n actions is then the bottom of an
//! n-dimensional hypercube. The strategy follows the chains of a minimal chain decomposition
//! without building it.

use std::collections::{BTreeMap, BTreeSet};

use crate::distances::Distances;
use crate::graph::{Graph, Slot};
use crate::id::{ActionIndex, StateIndex};
use crate::job::PlannedJob;
use crate::strategy::{INITIAL, NamedStrategy, Strategy, StrategySettings};

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "hypercube",
    summary: "expect independent actions; optimal where that holds",
    help: "Expects that the actions of a state are independent and that each can be executed once: a \
           hypercube. Where that holds, it is proved optimal: in resets until all states are found, and \
           in total cost for the complete crawl (Dincturk et al. 2014). Each unexpected state becomes \
           the bottom of a new hypercube. Elsewhere it therefore behaves like greedy, and prefers states \
           with more actions on a tie.",
    make: |settings| Box::new(Hypercube::new(settings)),
};

/// The position of a state in a hypercube: the bottom, and the executed actions as sorted positions
/// in the bottom's list of actions. These are the ones of the papers' bit string.
type Vertex = (StateIndex, Vec<u32>);

/// Whether a chain of the decomposition starts at this vertex (section 6.1.1). That is so if every
/// one of the bit string is matched by a zero on its left: with 0-based positions p_1 < p_2 < ...,
/// p_j is at least 2j - 1.
fn starts_a_chain(ones: impl Iterator<Item = u32>) -> bool {
    ones.zip(0..).all(|(position, before)| position > 2 * before)
}

/// The next action of the chain: the position of the leftmost zero that no one on its right
/// matches.
fn chain_successor(ones: &[u32], dimension: u32) -> Option<u32> {
    let mut unmatched = Vec::new();
    for position in 0..dimension {
        if ones.binary_search(&position).is_err() {
            unmatched.push(position);
        } else {
            unmatched.pop();
        }
    }
    unmatched.first().copied()
}

fn with(ones: &[u32], position: u32) -> Vec<u32> {
    let mut ones = ones.to_vec();
    let at = ones.binary_search(&position).expect_err("an action is executed once in a hypercube");
    ones.insert(at, position);
    ones
}

fn without(ones: &[u32], at: usize) -> Vec<u32> {
    let mut ones = ones.to_vec();
    ones.remove(at);
    ones
}

/// The two fields of distances: to an untried chain starter, and to any candidate.
const TO_STARTER: usize = 0;
const TO_CANDIDATE: usize = 1;

/// The strategy. `adaptive` uses it as long as the application looks like a hypercube.
#[derive(Clone)]
pub struct Hypercube {
    reset_cost: f64,
    vertices: Vec<Vertex>,
    states: BTreeMap<Vertex, StateIndex>,
    attempted: BTreeSet<Vertex>,
    /// The number of candidates of each state that lead to an untried chain starter.
    starters: Vec<u32>,
    distances: Distances,
    /// The remaining steps of each path to a chain starter, by the candidate that its crawler
    /// executes now. All of them are unexplored, and the next step is last.
    plans: BTreeMap<Slot, Vec<Slot>>,
    /// The remaining steps of paths whose crawler has arrived at the next step.
    arrived: BTreeMap<StateIndex, Vec<Slot>>,
    /// The states in which a chain continues.
    chains: BTreeSet<StateIndex>,
    violations: usize,
}

impl Hypercube {
    /// Creates the strategy without states.
    pub fn new(settings: StrategySettings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            vertices: Vec::new(),
            states: BTreeMap::new(),
            attempted: BTreeSet::new(),
            starters: Vec::new(),
            distances: Distances::new(2),
            plans: BTreeMap::new(),
            arrived: BTreeMap::new(),
            chains: BTreeSet::new(),
            violations: 0,
        }
    }

    /// The number of transitions that contradicted the expected hypercube.
    pub fn violations(&self) -> usize {
        self.violations
    }

    fn position(graph: &Graph, bottom: StateIndex, action: ActionIndex) -> u32 {
        graph.slot_of(bottom, action).expect("a hypercube has its bottom's actions").index
    }

    /// The vertex that a slot is expected to lead to.
    fn expected(&self, graph: &Graph, slot: Slot) -> Vertex {
        let (bottom, ones) = &self.vertices[slot.state.at()];
        (*bottom, with(ones, Self::position(graph, *bottom, graph.action_of(slot))))
    }

    fn leads_to_untried_starter(&self, graph: &Graph, slot: Slot) -> bool {
        let vertex = self.expected(graph, slot);
        starts_a_chain(vertex.1.iter().copied()) && !self.attempted.contains(&vertex)
    }

    /// Whether the new state offers the actions of the source without the executed one.
    fn keeps_the_other_actions(graph: &Graph, slot: Slot, state: StateIndex) -> bool {
        let executed = graph.action_of(slot);
        let sorted = |state| {
            let mut actions = graph.actions(state).to_vec();
            actions.sort_unstable();
            actions
        };
        let mut expected = sorted(slot.state);
        expected.retain(|&action| action != executed);
        expected == sorted(state)
    }

    fn count_starters(&mut self, graph: &Graph, state: StateIndex) {
        let free = graph.slots(state).filter(|&slot| graph.is_free(slot));
        let untried = free.filter(|&slot| self.leads_to_untried_starter(graph, slot)).count();
        self.starters[state.at()] = untried as u32;
        if untried > 0 {
            self.distances.set_goal(TO_STARTER, graph, state);
        } else {
            self.distances.clear_goal(TO_STARTER, state);
        }
    }

    /// Marks a chain starter as tried: it is no longer a goal of the states below it.
    fn attempt(&mut self, vertex: Vertex) {
        if !starts_a_chain(vertex.1.iter().copied()) || self.attempted.contains(&vertex) {
            return;
        }
        for at in 0..vertex.1.len() {
            if let Some(&below) = self.states.get(&(vertex.0, without(&vertex.1, at))) {
                // After the bottom gained an action, not every vertex offers it.
                let count = &mut self.starters[below.at()];
                *count = count.saturating_sub(1);
                if self.starters[below.at()] == 0 {
                    self.distances.clear_goal(TO_STARTER, below);
                }
            }
        }
        self.attempted.insert(vertex);
    }

    fn here(&self, candidate: Slot) -> Option<PlannedJob> {
        Some(PlannedJob { reset: false, walk: Vec::new(), candidate })
    }

    /// Continues a chain, then extends it over any unexplored action (section 6.1.2).
    fn follow_chain(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let (bottom, ones) = &self.vertices[at.at()];
        let dimension = graph.actions(*bottom).len() as u32;
        if let Some(position) = chain_successor(ones, dimension) {
            let action = graph.actions(*bottom)[position as usize];
            // The bottom may have gained an action that the vertex does not offer.
            if let Some(slot) = graph.slot_of(at, action).filter(|&slot| graph.is_free(slot)) {
                return self.here(slot);
            }
        }
        self.here(graph.first_unexplored(at)?)
    }

    fn seek_starter(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let (mut job, goal) = self.go(graph, at, TO_STARTER)?;
        job.candidate = graph
            .slots(goal)
            .filter(|&slot| graph.is_free(slot))
            .find(|&slot| self.leads_to_untried_starter(graph, slot))
            .expect("a goal has a candidate that leads to a starter");
        if job.reset && self.vertices[goal.at()].0 == INITIAL {
            self.prefer_unexplored(graph, &mut job);
        }
        Some(job)
    }

    /// Rebuilds a path from the initial state so that it ends in as many unexplored steps as
    /// possible. Otherwise each would cost a reset of its own later (section 6.1.2).
    fn prefer_unexplored(&mut self, graph: &Graph, job: &mut PlannedJob) {
        let mut plan = vec![job.candidate];
        let mut state = job.candidate.state;
        while let Some(below) = self.step_below(graph, state, |slot| graph.is_free(slot)) {
            plan.push(below);
            state = below.state;
        }
        job.walk.clear();
        while let Some(below) =
            self.step_below(graph, state, |slot| graph.target(slot) == Some(state))
        {
            job.walk.push(below);
            state = below.state;
        }
        job.walk.reverse();
        job.candidate = plan.pop().expect("the plan holds the candidate");
        self.plans.insert(job.candidate, plan);
    }

    /// Finds a slot of a known state that is expected to lead to the vertex of this state.
    fn step_below(
        &self,
        graph: &Graph,
        state: StateIndex,
        wanted: impl Fn(Slot) -> bool,
    ) -> Option<Slot> {
        let (bottom, ones) = &self.vertices[state.at()];
        (0..ones.len()).find_map(|at| {
            let below = *self.states.get(&(*bottom, without(ones, at)))?;
            let slot = graph.slot_of(below, graph.actions(*bottom)[ones[at] as usize])?;
            wanted(slot).then_some(slot)
        })
    }

    /// Takes the next step of a path whose crawler stands here.
    fn follow_plan(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let mut plan = self.arrived.remove(&at)?;
        let slot = plan.pop().filter(|&slot| slot.state == at && graph.is_free(slot))?;
        self.plans.insert(slot, plan);
        self.here(slot)
    }

    /// Plans a job for the nearest goal. On a tie it takes the state with more actions, which is
    /// likely to find more states.
    fn go(
        &mut self,
        graph: &Graph,
        at: StateIndex,
        field: usize,
    ) -> Option<(PlannedJob, StateIndex)> {
        let resets = graph.resets(self.reset_cost);
        let transfer = self.distances.choose_transfer(field, graph, at, resets)?;
        let mut walk = Vec::new();
        let actions = |state| graph.actions(state).len();
        let start = transfer.start(at);
        let goal = self.distances.walk_to_best(field, graph, start, &mut walk, actions);
        let candidate = graph.first_unexplored(goal).expect("a goal has a candidate");
        Some((PlannedJob { reset: transfer.is_reset(), walk, candidate }, goal))
    }

    /// The transition exploration phase (section 6.2). While the application is a hypercube, a
    /// crawler in a finished state resets. A walk over known transitions would end in a candidate
    /// that a later chain needs unexplored.
    fn transition_phase(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        if self.violations == 0
            && graph.unexplored_in(at) == 0
            && let Some((job, _)) = self.go(graph, INITIAL, TO_CANDIDATE)
        {
            return Some(PlannedJob { reset: true, ..job });
        }
        self.go(graph, at, TO_CANDIDATE).map(|(job, _)| job)
    }
}

impl Strategy for Hypercube {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        self.distances.add_state();
        let as_expected = by
            .filter(|&slot| Self::keeps_the_other_actions(graph, slot, state))
            .map(|slot| self.expected(graph, slot))
            .filter(|vertex| !self.states.contains_key(vertex));
        if by.is_some() && as_expected.is_none() {
            self.violations += 1;
        }
        let vertex = as_expected.unwrap_or((state, Vec::new()));
        self.vertices.push(vertex.clone());
        self.states.insert(vertex, state);
        if graph.unexplored_in(state) > 0 {
            self.distances.set_goal(TO_CANDIDATE, graph, state);
        }
        self.starters.push(0);
        self.count_starters(graph, state);
    }

    /// The state is no vertex of its hypercube any more, but the bottom of another.
    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        self.violations += 1;
        let state = slot.state;
        let vertex = std::mem::replace(&mut self.vertices[state.at()], (state, Vec::new()));
        self.states.remove(&vertex);
        self.states.insert((state, Vec::new()), state);
        self.count_starters(graph, state);
        if graph.is_free(slot) {
            self.distances.set_goal(TO_CANDIDATE, graph, state);
        }
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        let expected = self.expected(graph, slot);
        let as_expected = self.states.get(&expected) == Some(&destination);
        if !as_expected && !new {
            self.violations += 1;
        }
        self.attempt(expected);
        self.distances.connect(graph, slot);
        if graph.unexplored_in(slot.state) == 0 {
            self.distances.clear_goal(TO_CANDIDATE, slot.state);
        }
        if as_expected || new {
            self.chains.insert(destination);
        }
        if let Some(plan) = self.plans.remove(&slot).filter(|_| as_expected) {
            self.arrived.insert(destination, plan);
        }
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let chain = self.chains.remove(&at);
        if let Some(job) = self.follow_plan(graph, at) {
            return Some(job);
        }
        // The first chain starts at the initial state.
        if (chain || graph.transitions() == 0)
            && let Some(job) = self.follow_chain(graph, at)
        {
            return Some(job);
        }
        self.seek_starter(graph, at).or_else(|| self.transition_phase(graph, at))
    }

    /// Marks the expected destination as tried, so that no other crawler starts the same chain. A
    /// released candidate stays a candidate, but is no longer preferred.
    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        self.attempt(self.expected(graph, slot));
        if graph.unexplored_in(slot.state) == 0 {
            self.distances.clear_goal(TO_CANDIDATE, slot.state);
        }
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.plans.remove(&slot);
        self.distances.set_goal(TO_CANDIDATE, graph, slot.state);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.reset_cost = cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_section_6_1_1_holds() {
        // 1100110001: the leftmost unmatched zero is the seventh bit. The first two ones are
        // unmatched.
        let ones = [0, 1, 4, 5, 9];
        assert_eq!(chain_successor(&ones, 10), Some(6));
        assert!(!starts_a_chain(ones.into_iter()));
        assert!(starts_a_chain([1, 3].into_iter()));
        assert!(!starts_a_chain([1, 2].into_iter()));
    }

    #[test]
    fn chains_cover_every_vertex_once() {
        for n in 1..=10u32 {
            let ones = |bits: u32| (0..n).filter(|i| bits & 1 << i != 0).collect::<Vec<_>>();
            let mut covered = vec![0; 1 << n];
            let mut chains = 0;
            for bits in 0..1u32 << n {
                if !starts_a_chain(ones(bits).into_iter()) {
                    continue;
                }
                chains += 1;
                let mut bits = bits;
                covered[bits as usize] += 1;
                while let Some(next) = chain_successor(&ones(bits), n) {
                    bits |= 1 << next;
                    covered[bits as usize] += 1;
                }
            }
            assert!(covered.iter().all(|&times| times == 1), "dimension {n}");
            let middle =
                (0..n / 2).fold(1u64, |product, i| product * u64::from(n - i) / u64::from(i + 1));
            assert_eq!(chains, middle, "dimension {n}");
        }
    }
}
