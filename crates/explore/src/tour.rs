//! The cheapest tour over all required transitions: a directed postman tour with resets. A min-cost
//! flow decides which transitions are repeated: it balances how often each state is entered and
//! left. The tour itself then follows from Euler's theorem.

use std::collections::VecDeque;

use crate::flow::{ACTION, Network, UNLIMITED, price};
use crate::graph::{Edges, Slot, UNEXPLORED};
use crate::id::StateIndex;

/// One step of a tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourStep {
    /// Take this required transition.
    Take(Slot),
    /// Repeat this transition to reach the next required one.
    Again(Slot),
    /// Reset to this state to reach the next required transition.
    Reset(StateIndex),
}

/// The transitions that a tour may use. The methods take the ones that it must use.
pub struct TourProblem<'a, E> {
    /// The destinations of the transitions. A tour cannot use [`UNEXPLORED`] ones.
    pub edges: &'a E,
    /// The number of states.
    pub states: usize,
    /// The start states: one for each crawler that shares the tour. Crawlers may end anywhere.
    pub starts: &'a [StateIndex],
    /// The states that a reset leads to, each with its cost in actions.
    pub resets: &'a [(StateIndex, f64)],
}

/// The repetitions and resets that make a tour possible.
#[derive(Clone)]
pub struct Balance {
    /// The transitions to repeat, with their number of repetitions.
    pub repeats: Vec<(Slot, u64)>,
    /// The resets: from which state to which, with their number.
    pub resets: Vec<(StateIndex, StateIndex, u64)>,
}

impl Balance {
    /// The numbers of repetitions and resets.
    pub fn counts(&self) -> (u64, u64) {
        let repeats = self.repeats.iter().map(|&(_, times)| times).sum();
        (repeats, self.resets.iter().map(|&(.., times)| times).sum())
    }
}

impl<E: Edges> TourProblem<'_, E> {
    /// Solves the flow: finds the cheapest repetitions and resets that make a tour possible.
    pub fn balance(&self, required: impl Fn(Slot) -> bool) -> Balance {
        // Nodes: the states, one node for all resets, and one for the end of the tour.
        let (reset, end) = (self.states, self.states + 1);
        let mut network = Network::new(self.states + 2);
        let mut slots = Vec::new();
        let mut first_to = vec![u32::MAX; self.states];
        for state in 0..self.states {
            for (index, &to) in (0..).zip(self.edges.targets(state)) {
                let slot = Slot { state: StateIndex(state as u32), index };
                if to == UNEXPLORED || to as usize == state {
                    continue;
                }
                if required(slot) {
                    network.supply(to as usize, 1);
                    network.supply(state, -1);
                }
                // One of several transitions between two states is enough to repeat.
                if std::mem::replace(&mut first_to[to as usize], state as u32) != state as u32 {
                    network.arc(state, to as usize, UNLIMITED, ACTION);
                    slots.push(slot);
                }
            }
        }
        for state in 0..self.states {
            network.arc(state, reset, UNLIMITED, 0);
            network.arc(state, end, self.starts.len() as u64, 0);
        }
        for &(state, cost) in self.resets {
            network.arc(reset, state.at(), UNLIMITED, price(cost));
        }
        for start in self.starts {
            network.supply(start.at(), 1);
            network.supply(end, -1);
        }
        // Every state is reachable after a reset.
        let amounts = network.solve().expect("a reset leads to every known state");
        let repeats = slots.iter().copied().zip(amounts.iter().copied());
        let (from, to) = amounts[slots.len()..].split_at(2 * self.states);
        Balance {
            repeats: repeats.filter(|&(_, times)| times > 0).collect(),
            resets: self.pair_resets(from, to),
        }
    }

    /// Decides which reset leads where: any pairing of the resets that leave states with those that
    /// enter states costs the same.
    fn pair_resets(&self, from: &[u64], to: &[u64]) -> Vec<(StateIndex, StateIndex, u64)> {
        let mut pairs = Vec::new();
        let mut entered = self.resets.iter().map(|&(state, _)| state).zip(to.iter().copied());
        let mut present = entered.next();
        for state in (0..self.states as u32).map(StateIndex) {
            let mut left = from[2 * state.at()];
            while left > 0 {
                let Some((target, free)) = &mut present else { break };
                let times = left.min(*free);
                if times > 0 {
                    pairs.push((state, *target, times));
                }
                (left, *free) = (left - times, *free - times);
                if *free == 0 {
                    present = entered.next();
                }
            }
        }
        pairs
    }

    /// The steps of a cheapest tour, by the state they leave.
    ///
    /// A crawler that always takes the next step of its state uses every step that the tour can
    /// reach. The reason is that the last step of each state leads towards the end of the tour
    /// (theorem of de Bruijn, van Aardenne-Ehrenfest, Smith and Tutte). Cycles that the tour does
    /// not touch remain.
    pub fn steps(&self, required: impl Fn(Slot) -> bool) -> Vec<PendingSteps> {
        let balance = self.balance(&required);
        let mut pending = vec![PendingSteps::default(); self.states];
        for &(slot, times) in &balance.repeats {
            pending[slot.state.at()].0.push((TourStep::Again(slot), times));
        }
        for &(state, to, times) in &balance.resets {
            pending[state.at()].0.push((TourStep::Reset(to), times));
        }
        // Required steps come first: after a wrong prediction, the repetitions may be unnecessary.
        for (state, pending) in pending.iter_mut().enumerate() {
            for (index, &to) in (0..).zip(self.edges.targets(state)) {
                let slot = Slot { state: StateIndex(state as u32), index };
                if to != UNEXPLORED && required(slot) {
                    pending.0.push((TourStep::Take(slot), 1));
                }
            }
        }
        self.order_last_exits(&mut pending);
        pending
    }

    fn destination(&self, step: TourStep) -> StateIndex {
        match step {
            TourStep::Take(slot) | TourStep::Again(slot) => {
                StateIndex(self.edges.targets(slot.state.at())[slot.index as usize])
            }
            TourStep::Reset(state) => state,
        }
    }

    /// Searches back from the end of the tour. In each state, the step that the search came by
    /// becomes the last one.
    fn order_last_exits(&self, pending: &mut [PendingSteps]) {
        let mut entering = vec![Vec::new(); self.states];
        let mut surplus = vec![0i64; self.states];
        for start in self.starts {
            surplus[start.at()] += 1;
        }
        for (state, steps) in pending.iter().enumerate() {
            for (at, &(step, times)) in steps.0.iter().enumerate() {
                let to = self.destination(step).at();
                entering[to].push((state, at));
                surplus[to] += times as i64;
                surplus[state] -= times as i64;
            }
        }
        // The tour ends in the states that it enters more often than it leaves.
        let mut queue: VecDeque<usize> =
            (0..self.states).filter(|&state| surplus[state] > 0).collect();
        let mut seen = vec![false; self.states];
        for &end in &queue {
            seen[end] = true;
        }
        while let Some(state) = queue.pop_front() {
            for &(before, at) in &entering[state] {
                if !std::mem::replace(&mut seen[before], true) {
                    pending[before].move_to_last(at);
                    queue.push_back(before);
                }
            }
        }
    }
}

/// The pending steps of a state, each with its number of times. The next step is the last entry.
#[derive(Clone, Debug, Default)]
pub struct PendingSteps(Vec<(TourStep, u64)>);

impl PendingSteps {
    /// Takes the next step.
    pub fn pop(&mut self) -> Option<TourStep> {
        let (step, times) = self.0.last_mut()?;
        let step = *step;
        *times -= 1;
        if *times == 0 {
            self.0.pop();
        }
        Some(step)
    }

    /// Makes one execution of a step the last to be taken.
    fn move_to_last(&mut self, at: usize) {
        let (step, times) = self.0[at];
        if times == 1 {
            self.0.swap(0, at);
        } else {
            self.0[at].1 -= 1;
            self.0.insert(0, (step, 1));
        }
    }
}

/// The destinations of each state's transitions, for callers without a graph.
impl Edges for Vec<Vec<u32>> {
    fn targets(&self, state: usize) -> &[u32] {
        &self[state]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    /// Takes the steps as a crawler would. Returns the cost and the number of steps left.
    fn follow(
        problem: &TourProblem<'_, Vec<Vec<u32>>>,
        required: impl Fn(Slot) -> bool,
    ) -> (f64, usize) {
        let mut pending = problem.steps(required);
        let (mut state, mut cost) = (problem.starts[0], 0.0);
        while let Some(step) = pending[state.at()].pop() {
            let reset_cost = |to| problem.resets.iter().find(|(state, _)| *state == to).unwrap().1;
            cost += if let TourStep::Reset(to) = step { reset_cost(to) } else { 1.0 };
            state = problem.destination(step);
        }
        (cost, pending.iter().map(|pending| pending.0.len()).sum())
    }

    #[test]
    fn a_crawler_can_take_all_steps_of_a_tour_at_the_least_cost() {
        for seed in 0..200 {
            let mut chance = Chance::new(&[seed]);
            let states = 2 + chance.below(12);
            let edges: Vec<Vec<u32>> = (1..=states as u32)
                .map(|next| {
                    let next = (next < states as u32).then_some(next);
                    let others = (0..chance.below(4)).map(|_| chance.below(states) as u32);
                    next.into_iter().chain(others).collect()
                })
                .collect();
            let start = StateIndex(chance.below(states) as u32);
            // Half of the applications have one or two more states that a reset leads to.
            let entries = chance.below(2) * chance.below(3).min(states - 1);
            let entry = |at: usize| (StateIndex((states - 1 - at) as u32), 1.5);
            let resets: Vec<_> =
                [(StateIndex(0), 2.5)].into_iter().chain((0..entries).map(entry)).collect();
            let problem = TourProblem { edges: &edges, states, starts: &[start], resets: &resets };
            let transitions: usize = edges.iter().map(Vec::len).sum();
            let balance = problem.balance(|_| true);
            let price = |to| resets.iter().find(|(state, _)| *state == to).unwrap().1;
            let loads: f64 =
                balance.resets.iter().map(|&(_, to, times)| times as f64 * price(to)).sum();
            let cheapest = (transitions as u64 + balance.counts().0) as f64 + loads;
            assert_eq!(follow(&problem, |_| true), (cheapest, 0), "seed {seed}");
        }
    }

    #[test]
    fn other_transitions_are_walked_only_to_reach_required_ones() {
        // A cycle of four transitions, one of which is required.
        let edges = vec![vec![1], vec![2], vec![3], vec![0]];
        let (start, resets) = (StateIndex(0), [(StateIndex(0), 9.0)]);
        let problem = TourProblem { edges: &edges, states: 4, starts: &[start], resets: &resets };
        let required = |slot: Slot| slot.state == StateIndex(2);
        assert_eq!(follow(&problem, required), (3.0, 0));
    }
}
