//! The exact lower bound of a complete crawl: every action once is a directed postman tour with
//! resets, so its cheapest completion is a min-cost flow.

use crate::model::Model;

/// The cheapest crawl that executes every transition, had the model been known from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Actions executed.
    pub actions: u64,
    /// Resets, the first load included.
    pub resets: u64,
    /// Both, in actions.
    pub cost: f64,
}

/// The bound for a model. Stands in until the min-cost flow is there: each transition once after
/// one load, which is a lower bound but not a tight one.
pub fn complete(model: &Model, reset_cost: f64) -> Bound {
    Bound {
        actions: model.transitions() as u64,
        resets: 1,
        cost: model.transitions() as f64 + reset_cost,
    }
}
