//! The cheapest way to take every required transition: a directed postman tour with resets. What
//! must be walked again to get from one required transition to the next is a min-cost flow that
//! balances, at every state, how often it is entered and left; the tour then follows Euler's
//! theorem.

use std::collections::VecDeque;

use crate::flow::{ACTION, Flow, Network, UNLIMITED, price};
use crate::graph::{Edges, Slot, UNEXPLORED};
use crate::id::StateIndex;

/// One step of a tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourStep {
    /// Take this required transition.
    Take(Slot),
    /// Take this transition once more, to get on.
    Again(Slot),
    /// Load the URL, to get on.
    Reset,
}

/// The transitions that a tour may use, and those it must.
pub struct TourProblem<'a, E> {
    /// Where the transitions lead; `UNEXPLORED` ones cannot be used.
    pub edges: &'a E,
    /// How many states there are.
    pub states: usize,
    /// Where the tour starts: one state for each of those who share it. They may end anywhere.
    pub starts: &'a [StateIndex],
    /// The state that a reset leads to.
    pub initial: StateIndex,
    /// What a reset costs.
    pub reset_cost: f64,
}

/// How often each transition has to be walked beyond the once that is required.
#[derive(Clone)]
pub struct Balance {
    /// The slots to take again, and how often.
    pub repeats: Vec<(Slot, u64)>,
    /// The states to reset in, and how often.
    pub resets: Vec<(StateIndex, u64)>,
}

impl Balance {
    /// How many transitions are taken again, and how many resets there are.
    pub fn counts(&self) -> (u64, u64) {
        let repeats = self.repeats.iter().map(|&(_, times)| times).sum();
        (repeats, self.resets.iter().map(|&(_, times)| times).sum())
    }
}

impl<E: Edges> TourProblem<'_, E> {
    /// Solves the flow: the cheapest repeats that make a tour possible.
    pub fn balance(&self, required: impl Fn(Slot) -> bool) -> Balance {
        // Nodes: the states, one through which every reset passes, and one where the tour ends.
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
                // Of several transitions to one state one is enough to walk over again.
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
        network.arc(reset, self.initial.at(), UNLIMITED, price(self.reset_cost));
        for start in self.starts {
            network.supply(start.at(), 1);
            network.supply(end, -1);
        }
        // Every state is reachable from the initial one over known transitions, and that one by a reset.
        let flow = network.solve().expect("a reset leads to every known state");
        self.read_flow(&slots, &flow)
    }

    fn read_flow(&self, slots: &[Slot], flow: &Flow) -> Balance {
        let repeats = slots.iter().copied().zip(flow.amounts.iter().copied());
        let resets = (0..self.states)
            .map(|state| (StateIndex(state as u32), flow.amounts[slots.len() + 2 * state]));
        Balance {
            repeats: repeats.filter(|&(_, times)| times > 0).collect(),
            resets: resets.filter(|&(_, times)| times > 0).collect(),
        }
    }

    /// The steps of a cheapest tour, by the state they leave. Taking them in that order from the start
    /// uses all of them that the tour can reach, whatever it passes first: the step that is left for
    /// last in each state leads towards the tour's end (the theorem of de Bruijn, van
    /// Aardenne-Ehrenfest, Smith and Tutte). Round trips that the tour does not touch remain.
    pub fn steps(&self, required: impl Fn(Slot) -> bool) -> Vec<PendingSteps> {
        let balance = self.balance(&required);
        let mut leaving = vec![PendingSteps::default(); self.states];
        for &(slot, times) in &balance.repeats {
            leaving[slot.state.at()].0.push((TourStep::Again(slot), times));
        }
        for &(state, times) in &balance.resets {
            leaving[state.at()].0.push((TourStep::Reset, times));
        }
        // What is required goes on top: if a prediction fails, the repeats may not be needed at all.
        for (state, leaving) in leaving.iter_mut().enumerate() {
            for (index, &to) in (0..).zip(self.edges.targets(state)) {
                let slot = Slot { state: StateIndex(state as u32), index };
                if to != UNEXPLORED && required(slot) {
                    leaving.0.push((TourStep::Take(slot), 1));
                }
            }
        }
        self.order_last_exits(&mut leaving);
        leaving
    }

    fn destination(&self, step: TourStep) -> StateIndex {
        match step {
            TourStep::Take(slot) | TourStep::Again(slot) => {
                StateIndex(self.edges.targets(slot.state.at())[slot.index as usize])
            }
            TourStep::Reset => self.initial,
        }
    }

    /// Searches back from the end of the tour and keeps, in each state it meets, one of the step it came
    /// by for last.
    fn order_last_exits(&self, leaving: &mut [PendingSteps]) {
        let mut entering = vec![Vec::new(); self.states];
        let mut surplus = vec![0i64; self.states];
        for start in self.starts {
            surplus[start.at()] += 1;
        }
        for (state, steps) in leaving.iter().enumerate() {
            for (at, &(step, times)) in steps.0.iter().enumerate() {
                let to = self.destination(step).at();
                entering[to].push((state, at));
                surplus[to] += times as i64;
                surplus[state] -= times as i64;
            }
        }
        // The tour ends where it enters once more than it leaves.
        let mut queue: VecDeque<usize> =
            (0..self.states).filter(|&state| surplus[state] > 0).collect();
        let mut seen = vec![false; self.states];
        for &end in &queue {
            seen[end] = true;
        }
        while let Some(state) = queue.pop_front() {
            for &(before, at) in &entering[state] {
                if !std::mem::replace(&mut seen[before], true) {
                    leaving[before].move_to_last(at);
                    queue.push_back(before);
                }
            }
        }
    }
}

/// The steps that are still to be taken from a state, each with how often; the next one is last.
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

    /// Moves one of a step to where it is taken last.
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

/// Where each state's transitions lead, for callers that hold them in another form.
impl Edges for Vec<Vec<u32>> {
    fn targets(&self, state: usize) -> &[u32] {
        &self[state]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    /// Takes the steps as a crawler would, and gives what was spent and what was left untaken.
    fn follow(
        task: &TourProblem<'_, Vec<Vec<u32>>>,
        required: impl Fn(Slot) -> bool,
    ) -> (f64, usize) {
        let mut leaving = task.steps(required);
        let (mut state, mut cost) = (task.starts[0], 0.0);
        while let Some(step) = leaving[state.at()].pop() {
            cost += if step == TourStep::Reset { task.reset_cost } else { 1.0 };
            state = task.destination(step);
        }
        (cost, leaving.iter().map(|leaving| leaving.0.len()).sum())
    }

    #[test]
    fn the_steps_of_a_tour_can_be_taken_from_its_start_to_its_end() {
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
            let (start, initial) = (StateIndex(chance.below(states) as u32), StateIndex(0));
            let task =
                TourProblem { edges: &edges, states, starts: &[start], initial, reset_cost: 2.5 };
            let transitions: usize = edges.iter().map(Vec::len).sum();
            let (repeats, resets) = task.balance(|_| true).counts();
            let cheapest = (transitions as u64 + repeats) as f64 + resets as f64 * task.reset_cost;
            assert_eq!(follow(&task, |_| true), (cheapest, 0), "seed {seed}");
        }
    }

    #[test]
    fn what_is_not_required_is_walked_only_to_get_on() {
        // A round of four of which one transition is required.
        let edges = vec![vec![1], vec![2], vec![3], vec![0]];
        let (start, initial) = (StateIndex(0), StateIndex(0));
        let task =
            TourProblem { edges: &edges, states: 4, starts: &[start], initial, reset_cost: 9.0 };
        let required = |slot: Slot| slot.state == StateIndex(2);
        assert_eq!(follow(&task, required), (3.0, 0));
    }
}
