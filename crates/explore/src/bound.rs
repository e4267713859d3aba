//! The exact lower bound of a complete crawl: every action once is a directed postman tour with
//! resets, so its cheapest completion is a min-cost flow.

use crate::id::StateIndex;
use crate::model::Model;
use crate::tour::Task;

/// The cheapest crawl that executes every transition, had the model been known from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Actions executed.
    pub actions: u64,
    /// Resets, the first load included.
    pub resets: u64,
    /// Both, in actions. No complete crawl costs less.
    pub cost: f64,
}

/// The bound for an application all of whose states can be reached. Where several crawls cost the
/// same, the actions and resets are those of one of them.
pub fn complete(model: &Model, reset_cost: f64) -> Bound {
    let edges: Vec<Vec<u32>> = (0..model.states() as u32)
        .map(|state| model.from(state).iter().map(|&(_, to)| to).collect())
        .collect();
    let initial = StateIndex(model.initial);
    let task = Task { edges: &edges, states: model.states(), start: initial, initial, reset_cost };
    let balance = task.balance(|_| true);
    let repeats: u64 = balance.repeats.iter().map(|&(_, times)| times).sum();
    Bound {
        actions: model.transitions() as u64 + repeats,
        resets: 1 + balance.resets.iter().map(|&(_, times)| times).sum::<u64>(),
        cost: model.transitions() as f64 + balance.cost + reset_cost,
    }
}
