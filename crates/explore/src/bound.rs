//! The exact lower bound of a complete crawl. A crawl that executes every action once is a directed
//! postman tour with resets, so a min-cost flow finds the cheapest one.

use crate::id::StateIndex;
use crate::model::Model;
use crate::tour::TourProblem;

/// The cheapest crawl that executes every transition of a model that is known in advance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The number of executed actions.
    pub actions: u64,
    /// The number of resets, including the first load.
    pub resets: u64,
    /// The total cost, in actions. No complete crawl costs less.
    pub cost: f64,
}

/// Computes the bound for all reachable states. If several crawls cost the same, the actions and
/// resets are those of one of them.
pub fn lower_bound(model: &Model, reset_cost: f64) -> Bound {
    let mut edges: Vec<Vec<u32>> = (0..model.states() as u32)
        .map(|state| model.transitions_from(state).iter().map(|&(_, to)| to).collect())
        .collect();
    for state in model.unreachable() {
        edges[state as usize].clear();
    }
    let transitions: usize = edges.iter().map(Vec::len).sum();
    let initial = StateIndex(model.initial);
    let entries = model.entries.iter().map(|&state| StateIndex(state));
    let resets: Vec<(StateIndex, f64)> =
        [initial].into_iter().chain(entries).map(|state| (state, reset_cost)).collect();
    let problem =
        TourProblem { edges: &edges, states: model.states(), starts: &[initial], resets: &resets };
    let (repeats, resets) = problem.balance(|_| true).counts();
    let (actions, resets) = (transitions as u64 + repeats, 1 + resets);
    Bound { actions, resets, cost: actions as f64 + resets as f64 * reset_cost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unreachable_states_cost_nothing() {
        let mut model = Model::new("island", 2.0, vec!["a".into(), "b".into()]);
        model.push_state([(0, 0), (1, 1)]);
        model.push_state([(0, 0)]);
        model.push_state([(0, 2), (1, 0)]);
        assert_eq!(lower_bound(&model, 2.0), Bound { actions: 3, resets: 1, cost: 5.0 });
    }

    /// The cost of the cheapest complete crawl, by Dijkstra over (state, set of executed
    /// transitions).
    fn brute_force(model: &Model, reset_cost: u64) -> u64 {
        use std::cmp::Reverse;
        use std::collections::{BTreeSet, BinaryHeap};
        let first: Vec<usize> = (0..model.states() as u32)
            .scan(0, |next, state| {
                Some(std::mem::replace(next, *next + model.transitions_from(state).len()))
            })
            .collect();
        let all = (1u32 << model.transitions()) - 1;
        let mut heap = BinaryHeap::from([Reverse((reset_cost, model.initial, 0u32))]);
        let mut seen = BTreeSet::new();
        while let Some(Reverse((cost, state, done))) = heap.pop() {
            if done == all {
                return cost;
            }
            if !seen.insert((state, done)) {
                continue;
            }
            for &start in [model.initial].iter().chain(&model.entries) {
                heap.push(Reverse((cost + reset_cost, start, done)));
            }
            for (at, &(_, to)) in model.transitions_from(state).iter().enumerate() {
                heap.push(Reverse((cost + 1, to, done | 1 << (first[state as usize] + at))));
            }
        }
        unreachable!("a reset leads to every reachable state")
    }

    proptest! {
        #[test]
        fn the_bound_equals_that_of_brute_force(
            targets in prop::collection::vec(prop::collection::vec(0u32..5, 0..3), 5),
            reset_cost in 1u64..6,
            entries in prop::collection::btree_set(1u32..5, 0..3),
        ) {
            let mut model = Model::new("any", reset_cost as f64, (0..4).map(|i| format!("a{i}")).collect());
            for (state, targets) in (1..).zip(&targets) {
                // A chain makes every state reachable.
                let next = (state < 5).then_some(state);
                model.push_state((0..).zip(next.into_iter().chain(targets.iter().copied())));
            }
            model.entries = entries.into_iter().collect();
            prop_assert_eq!(lower_bound(&model, reset_cost as f64).cost, brute_force(&model, reset_cost) as f64);
        }
    }
}
