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
