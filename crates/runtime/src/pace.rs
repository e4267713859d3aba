//! The cost of a reset in actions, measured during the crawl.

use crate::crawler::JobCost;

/// How many loads must be measured before the cost counts, and how many tens of actions.
const ENOUGH: u64 = 5;
/// The cost is reported anew when it has changed by this factor.
const CHANGED: f64 = 1.25;

/// The times of loads and actions.
#[derive(Debug)]
pub struct Pace {
    total: JobCost,
    reported: f64,
}

impl Pace {
    /// Begins with an assumed cost.
    pub fn new(reset_cost: f64) -> Self {
        Self { total: JobCost::default(), reported: reset_cost }
    }

    /// Adds what a job took. Returns the new cost if it has changed much.
    pub fn measured(&mut self, cost: &JobCost) -> Option<f64> {
        let JobCost { spent, loading, acting } = &mut self.total;
        *spent = spent.plus(cost.spent);
        *loading += cost.loading;
        *acting += cost.acting;
        if spent.resets < ENOUGH || spent.actions < ENOUGH * 10 || acting.is_zero() {
            return None;
        }
        let load = loading.as_secs_f64() / spent.resets as f64;
        let action = acting.as_secs_f64() / spent.actions as f64;
        let cost = (load / action).clamp(1.0, 1000.0);
        if cost > self.reported * CHANGED || cost * CHANGED < self.reported {
            self.reported = cost;
            return Some(cost);
        }
        None
    }

    /// The cost that was last reported.
    pub fn reset_cost(&self) -> f64 {
        self.reported
    }
}
