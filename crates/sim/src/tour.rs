//! The least cost of visiting all states of a known application: a lower bound, which is often
//! exact, and the best tour found. The problem is an asymmetric travelling salesman problem.
//!
//! The bound is a min-cost flow that enters every state at least once. The flow consists of one or
//! more cycles. If there is one cycle, it is the best tour. Otherwise the cycles are joined where
//! that costs least, and the order is improved by moving short stretches.

use std::collections::VecDeque;

use argiope_explore::distances::Distances;
use argiope_explore::flow::{ACTION, Network, UNLIMITED, price};
use argiope_explore::graph::{ResetCosts, Slot};
use argiope_explore::id::StateIndex;
use argiope_explore::model::Model;

/// The largest number of states in a stretch that is moved.
const LONGEST_STRETCH: usize = 3;
/// The largest number of passes over the order.
const PASSES: usize = 8;

/// Above this number of states the table of all distances is too large (200 MB at the limit). The
/// tour then always goes to the nearest state that is not visited.
const MAX_IMPROVED: usize = 10_000;

/// The cost of visiting every state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllStates {
    /// No tour of all states costs less.
    pub lower: f64,
    /// The cost of the best tour found, in actions.
    pub cost: f64,
    /// The actions of that tour.
    pub actions: u64,
    /// Its resets, the first load included.
    pub resets: u64,
}

/// Computes the best tour over all reachable states, and the lower bound. The tour does not use the
/// entries of a model; the bound then only counts that each state is entered once.
pub fn all_states(model: &Model, reset_cost: f64) -> AllStates {
    let visits = Visits::new(model, reset_cost);
    let (mut lower, cycles) = visits.relaxed();
    if !model.entries.is_empty() {
        lower = reset_cost + (visits.edges.len() - 1) as f64 * reset_cost.min(1.0);
    }
    let (actions, resets) = if visits.edges.len() > MAX_IMPROVED {
        visits.nearest_first()
    } else {
        let ways = Ways::new(&visits, reset_cost);
        let mut order = ways.join(cycles);
        for _ in 0..PASSES {
            if !ways.improve(&mut order) {
                break;
            }
        }
        ways.spent(&order)
    };
    AllStates { lower, cost: actions as f64 + resets as f64 * reset_cost, actions, resets }
}

/// The reachable states of the application, without repeated edges.
struct Visits {
    reset_cost: f64,
    /// The targets of each state. States are numbered as they are reached, from the initial one on.
    edges: Vec<Vec<u32>>,
}

impl Visits {
    fn new(model: &Model, reset_cost: f64) -> Self {
        let mut number = vec![u32::MAX; model.states()];
        let mut reached = vec![model.initial];
        number[model.initial as usize] = 0;
        let mut at = 0;
        let mut edges = Vec::new();
        while at < reached.len() {
            let mut targets = Vec::new();
            for &(_, to) in model.transitions_from(reached[at]) {
                if number[to as usize] == u32::MAX {
                    number[to as usize] = reached.len() as u32;
                    reached.push(to);
                }
                targets.push(number[to as usize]);
            }
            targets.sort_unstable();
            targets.dedup();
            targets.retain(|&to| to as usize != at);
            edges.push(targets);
            at += 1;
        }
        Self { reset_cost, edges }
    }

    /// The lower bound, and the cycles of its flow. The first cycle starts at the initial state.
    fn relaxed(&self) -> (f64, Vec<Vec<u32>>) {
        let states = self.edges.len();
        let (reset, end) = (2 * states, 2 * states + 1);
        // State n is entered at node 2n and left at node 2n + 1. At least one unit flows between
        // them.
        let mut network = Network::new(2 * states + 2);
        let mut arcs = Vec::new();
        for (state, targets) in self.edges.iter().enumerate() {
            for &to in targets {
                network.arc(2 * state + 1, 2 * to as usize, UNLIMITED, ACTION);
                arcs.push((state as u32, to));
            }
        }
        for state in 0..states {
            network.supply(2 * state, -1);
            network.supply(2 * state + 1, 1);
            network.arc(2 * state + 1, reset, UNLIMITED, 0);
            network.arc(2 * state, 2 * state + 1, UNLIMITED, 0);
            network.arc(2 * state + 1, end, 1, 0);
        }
        network.arc(reset, 0, UNLIMITED, price(self.reset_cost));
        network.supply(0, 1);
        network.supply(end, -1);
        let amounts = network.solve().expect("every state is reachable");
        let actions: u64 = amounts[..arcs.len()].iter().sum();
        let resets: u64 = 1 + amounts.last().expect("the arc of resets was added last");
        (actions as f64 + resets as f64 * self.reset_cost, self.cycles(&arcs, &amounts))
    }

    /// The actions and resets of the tour that always goes to the nearest state not visited.
    fn nearest_first(&self) -> (u64, u64) {
        let mut distances = Distances::new(1);
        for state in 0..self.edges.len() as u32 {
            distances.add_state();
            distances.set_goal(0, &self.edges, StateIndex(state));
        }
        for (state, targets) in (0..).map(StateIndex).zip(&self.edges) {
            for index in 0..targets.len() as u32 {
                distances.connect(&self.edges, Slot { state, index });
            }
        }
        let (mut at, mut actions, mut resets) = (StateIndex(0), 0, 1);
        let mut visited = vec![false; self.edges.len()];
        let mut walk = Vec::new();
        loop {
            visited[at.at()] = true;
            distances.clear_goal(0, at);
            // A step to a neighbour needs no distances, so none have to be repaired.
            if let Some(&next) = self.edges[at.at()].iter().find(|&&to| !visited[to as usize]) {
                at = StateIndex(next);
                actions += 1;
                continue;
            }
            let costs = ResetCosts { initial: self.reset_cost, entries: &[] };
            let Some(way) = distances.choose_transfer(0, &self.edges, at, costs) else {
                break;
            };
            walk.clear();
            at = distances.walk(0, &self.edges, way.start(at), &mut walk);
            resets += u64::from(way.is_reset());
            actions += walk.len() as u64;
        }
        (actions, resets)
    }

    /// Decomposes the flow into cycles, each with its states in the order of their first visit.
    fn cycles(&self, arcs: &[(u32, u32)], amounts: &[u64]) -> Vec<Vec<u32>> {
        let states = self.edges.len();
        let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); states];
        for (&(from, to), &amount) in arcs.iter().zip(amounts) {
            leaving[from as usize].extend((0..amount).map(|_| to));
        }
        for (state, leaving) in leaving.iter_mut().enumerate() {
            leaving.extend((0..amounts[arcs.len() + 3 * state]).map(|_| 0));
        }
        let mut seen = vec![false; states];
        let mut cycles = Vec::new();
        for start in 0..states as u32 {
            if seen[start as usize] {
                continue;
            }
            // Hierholzer's algorithm: a state joins the trail, in reverse, once all its edges are
            // used.
            let (mut stack, mut trail) = (vec![start], Vec::new());
            while let Some(&state) = stack.last() {
                if let Some(next) = leaving[state as usize].pop() {
                    stack.push(next);
                } else {
                    trail.extend(stack.pop());
                }
            }
            trail.reverse();
            trail.retain(|&state| !std::mem::replace(&mut seen[state as usize], true));
            cycles.push(trail);
        }
        cycles
    }
}

/// The shortest walks between all states.
struct Ways {
    states: usize,
    reset_cost: f64,
    walks: Vec<u16>,
}

const NO_WALK: u16 = u16::MAX;

impl Ways {
    fn new(visits: &Visits, reset_cost: f64) -> Self {
        let states = visits.edges.len();
        let mut walks = vec![NO_WALK; states * states];
        let mut queue = VecDeque::new();
        for (from, row) in walks.chunks_exact_mut(states.max(1)).enumerate() {
            row[from] = 0;
            queue.push_back(from);
            while let Some(state) = queue.pop_front() {
                for &to in &visits.edges[state] {
                    if row[to as usize] == NO_WALK {
                        row[to as usize] = row[state].saturating_add(1).min(NO_WALK - 1);
                        queue.push_back(to as usize);
                    }
                }
            }
        }
        Self { states, reset_cost, walks }
    }

    fn walk(&self, from: u32, to: u32) -> u16 {
        self.walks[from as usize * self.states + to as usize]
    }

    fn by_reset(&self, from: u32, to: u32) -> bool {
        let walk = self.walk(from, to);
        walk == NO_WALK || self.reset_cost + f64::from(self.walk(0, to)) < f64::from(walk)
    }

    fn cost(&self, from: u32, to: u32) -> f64 {
        if self.by_reset(from, to) {
            self.reset_cost + f64::from(self.walk(0, to))
        } else {
            f64::from(self.walk(from, to))
        }
    }

    /// The cost between two states that follow each other. The last state has no successor.
    fn gap(&self, before: u32, after: Option<u32>) -> f64 {
        after.map_or(0.0, |after| self.cost(before, after))
    }

    /// Inserts the cycles into the first one, each rotated and placed where it costs least.
    fn join(&self, mut cycles: Vec<Vec<u32>>) -> Vec<u32> {
        let mut order = cycles.remove(0);
        for mut cycle in cycles {
            let mut best = (f64::INFINITY, 0, 0);
            for turn in 0..cycle.len() {
                let (first, last) = (cycle[turn], cycle[(turn + cycle.len() - 1) % cycle.len()]);
                let opened = self.cost(last, first);
                for at in 1..=order.len() {
                    let (before, after) = (order[at - 1], order.get(at).copied());
                    let extra = self.cost(before, first) + self.gap(last, after)
                        - self.gap(before, after)
                        - opened;
                    if extra < best.0 {
                        best = (extra, turn, at);
                    }
                }
            }
            cycle.rotate_left(best.1);
            order.splice(best.2..best.2, cycle);
        }
        order
    }

    /// Moves each short stretch to where it saves most. Returns false if no move saves anything.
    fn improve(&self, order: &mut Vec<u32>) -> bool {
        let mut improved = false;
        for length in 1..=LONGEST_STRETCH {
            let mut start = 1;
            while start + length <= order.len() {
                let (first, last) = (order[start], order[start + length - 1]);
                let (before, after) = (order[start - 1], order.get(start + length).copied());
                let saved =
                    self.cost(before, first) + self.gap(last, after) - self.gap(before, after);
                let mut best = (1e-9, 0);
                if saved > 0.0 {
                    for at in (1..=order.len()).filter(|&at| at < start || at > start + length) {
                        let (left, right) = (order[at - 1], order.get(at).copied());
                        let gain = saved - self.cost(left, first) - self.gap(last, right)
                            + self.gap(left, right);
                        if gain > best.0 {
                            best = (gain, at);
                        }
                    }
                }
                if best.1 > 0 {
                    let stretch: Vec<u32> = order.drain(start..start + length).collect();
                    let at = if best.1 > start { best.1 - length } else { best.1 };
                    order.splice(at..at, stretch);
                    improved = true;
                }
                start += 1;
            }
        }
        improved
    }

    fn spent(&self, order: &[u32]) -> (u64, u64) {
        let (mut actions, mut resets) = (0, 1);
        for pair in order.windows(2) {
            let reset = self.by_reset(pair[0], pair[1]);
            resets += u64::from(reset);
            actions += u64::from(self.walk(if reset { 0 } else { pair[0] }, pair[1]));
        }
        (actions, resets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbeds::hypercube;

    #[test]
    fn the_tour_of_a_hypercube_has_the_proved_cost() {
        // Paper 001, table II: the optimum for ten dimensions is 1,646 actions and 252 resets.
        let tour = all_states(&hypercube(10), 3.0);
        assert_eq!((tour.actions, tour.resets, tour.lower), (1646, 252, 2402.0));
    }

    #[test]
    fn the_tour_of_a_large_application_goes_nearest_first() {
        let tour = all_states(&crate::testbeds::random(MAX_IMPROVED as u32 + 1, 3, 0), 3.0);
        assert!(tour.lower <= tour.cost && tour.cost < 2.0 * tour.lower, "{tour:?}");
        let visits = Visits::new(&hypercube(3), 3.0);
        assert_eq!(visits.nearest_first(), (7, 3));
    }

    #[test]
    fn unconnected_cycles_are_joined() {
        // Two cycles of three states, 0-1-2 and 3-4-5, connected through state 0.
        let mut model = Model::new("cycles", 10.0, (0..2).map(|i| format!("a{i}")).collect());
        model.push_state([(0, 1), (1, 3)]);
        model.push_state([(0, 2)]);
        model.push_state([(0, 0)]);
        model.push_state([(0, 4)]);
        model.push_state([(0, 5)]);
        model.push_state([(0, 3), (1, 0)]);
        let tour = all_states(&model, 10.0);
        assert_eq!((tour.actions, tour.resets), (6, 1));
        assert!(tour.lower <= tour.cost);
    }
}
