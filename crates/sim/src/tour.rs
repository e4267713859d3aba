//! How cheaply all states of a known application could have been visited: a lower bound that is
//! exact more often than not, and the best tour found. (The problem itself is an asymmetric
//! travelling salesman's.)
//!
//! The bound is a min-cost flow in which every state is entered at least once; it would be the answer
//! if a tour could consist of unconnected rounds. Where it comes out in one piece, it is. Otherwise
//! the rounds are put together where that costs least, and the order is improved by moving short
//! stretches of it elsewhere.

use std::collections::VecDeque;

use argiope_explore::distances::Distances;
use argiope_explore::flow::{ACTION, Flow, Network, UNLIMITED, price};
use argiope_explore::graph::Slot;
use argiope_explore::id::StateIndex;
use argiope_explore::model::Model;

/// How many states long the stretches are that are tried elsewhere.
const LONGEST_STRETCH: usize = 3;
/// How often the whole order is gone through for improvements.
const PASSES: usize = 8;

/// Above so many states the table of all ways does not fit into memory (200 MB here), and the tour is
/// the one that always goes to the nearest state not visited.
const MOST_IMPROVED: usize = 10_000;

/// What visiting every state costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllStates {
    /// No tour of all states costs less.
    pub lower: f64,
    /// What the best tour found costs, in actions.
    pub cost: f64,
    /// The actions of that tour.
    pub actions: u64,
    /// Its resets, the first load included.
    pub resets: u64,
}

/// The best tour found over all states that can be reached, and what no tour can beat.
pub fn all_states(model: &Model, reset_cost: f64) -> AllStates {
    let visits = Visits::new(model, reset_cost);
    let (lower, pieces) = visits.relaxed();
    let (actions, resets) = if visits.edges.len() > MOST_IMPROVED {
        visits.nearest_first()
    } else {
        let ways = Ways::new(&visits, reset_cost);
        let mut order = ways.join(pieces);
        for _ in 0..PASSES {
            if !ways.improve(&mut order) {
                break;
            }
        }
        ways.spent(&order)
    };
    AllStates { lower, cost: actions as f64 + resets as f64 * reset_cost, actions, resets }
}

/// The part of the application that can be reached, without repeated edges.
struct Visits {
    reset_cost: f64,
    /// The states in the order in which they are reached; the initial one is 0.
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

    /// The lower bound, and the rounds it consists of; the first starts at the initial state.
    fn relaxed(&self) -> (f64, Vec<Vec<u32>>) {
        let states = self.edges.len();
        let (reset, end) = (2 * states, 2 * states + 1);
        // A state is entered at 2n and left at 2n + 1, and at least once it goes from one to the other.
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
        let flow = network.solve().expect("every state can be reached");
        let actions: u64 = flow.amounts[..arcs.len()].iter().sum();
        let resets: u64 = 1 + flow.amounts.last().expect("the arc of resets was added last");
        (actions as f64 + resets as f64 * self.reset_cost, self.pieces(&arcs, &flow))
    }

    /// Actions and resets of the tour that always goes to the nearest state not visited.
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
            // A neighbour needs no distances, and so none have to be repaired.
            if let Some(&next) = self.edges[at.at()].iter().find(|&&to| !visited[to as usize]) {
                at = StateIndex(next);
                actions += 1;
                continue;
            }
            let Some(way) = distances.choose_transfer(0, &self.edges, at, self.reset_cost) else {
                break;
            };
            walk.clear();
            at = distances.walk(
                0,
                &self.edges,
                if way.reset { StateIndex(0) } else { at },
                &mut walk,
            );
            resets += u64::from(way.reset);
            actions += walk.len() as u64;
        }
        (actions, resets)
    }

    /// Takes the flow apart into rounds over states, in the order of their first visit.
    fn pieces(&self, arcs: &[(u32, u32)], flow: &Flow) -> Vec<Vec<u32>> {
        let states = self.edges.len();
        let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); states];
        for (&(from, to), &amount) in arcs.iter().zip(&flow.amounts) {
            leaving[from as usize].extend((0..amount).map(|_| to));
        }
        for (state, leaving) in leaving.iter_mut().enumerate() {
            leaving.extend((0..flow.amounts[arcs.len() + 3 * state]).map(|_| 0));
        }
        let mut seen = vec![false; states];
        let mut pieces = Vec::new();
        for start in 0..states as u32 {
            if seen[start as usize] {
                continue;
            }
            // Hierholzer: the states in the reverse order in which they have nowhere left to go.
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
            pieces.push(trail);
        }
        pieces
    }
}

/// The shortest ways between all states.
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

    /// From the state before a place in the order, and to the one after it; the tour ends anywhere.
    fn gap(&self, before: u32, after: Option<u32>) -> f64 {
        after.map_or(0.0, |after| self.cost(before, after))
    }

    /// Puts the rounds one after the other into the first, each turned and placed where it costs least.
    fn join(&self, mut pieces: Vec<Vec<u32>>) -> Vec<u32> {
        let mut order = pieces.remove(0);
        for mut round in pieces {
            let mut best = (f64::INFINITY, 0, 0);
            for turn in 0..round.len() {
                let (first, last) = (round[turn], round[(turn + round.len() - 1) % round.len()]);
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
            round.rotate_left(best.1);
            order.splice(best.2..best.2, round);
        }
        order
    }

    /// Moves each short stretch to where it saves most; false if none saves anything.
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
    fn a_hypercube_is_toured_at_the_proved_cost() {
        // Paper 001, table II: 1,646 actions and 252 resets are the least for ten dimensions.
        let tour = all_states(&hypercube(10), 3.0);
        assert_eq!((tour.actions, tour.resets, tour.lower), (1646, 252, 2402.0));
    }

    #[test]
    fn a_large_application_is_toured_nearest_first() {
        let tour = all_states(&crate::testbeds::random(MOST_IMPROVED as u32 + 1, 3, 0), 3.0);
        assert!(tour.lower <= tour.cost && tour.cost < 2.0 * tour.lower, "{tour:?}");
        let visits = Visits::new(&hypercube(3), 3.0);
        assert_eq!(visits.nearest_first(), (7, 3));
    }

    #[test]
    fn unconnected_rounds_are_joined() {
        // Two rounds of three that only the state 0 joins: 0-1-2 and 3-4-5.
        let mut model = Model::new("rounds", 10.0, (0..2).map(|i| format!("a{i}")).collect());
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
