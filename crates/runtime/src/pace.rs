//! The cost of a reset in actions, measured during the crawl.

use std::time::Duration;

use crate::crawler::JobCost;

/// How many loads must be measured before the cost counts, and how many tens of actions.
const ENOUGH: u64 = 5;
/// The cost is reported anew when it has changed by this factor.
const CHANGED: f64 = 1.25;

/// The times of loads and actions.
#[derive(Debug)]
pub struct Pace {
    loads: u64,
    loading: Duration,
    actions: u64,
    acting: Duration,
    reported: f64,
    changed: bool,
}

impl Pace {
    /// Begins with an assumed cost.
    pub fn new(reset_cost: f64) -> Self {
        Self {
            loads: 0,
            loading: Duration::ZERO,
            actions: 0,
            acting: Duration::ZERO,
            reported: reset_cost,
            changed: false,
        }
    }

    /// Adds what a job took. Returns the new cost if it has changed much.
    pub fn measured(&mut self, spent: &JobCost) -> Option<f64> {
        self.loads += spent.resets;
        self.loading += spent.loading;
        self.actions += spent.actions;
        self.acting += spent.acting;
        if self.loads < ENOUGH || self.actions < ENOUGH * 10 || self.acting.is_zero() {
            return None;
        }
        let load = self.loading.as_secs_f64() / self.loads as f64;
        let action = self.acting.as_secs_f64() / self.actions as f64;
        let cost = (load / action).clamp(1.0, 1000.0);
        if cost > self.reported * CHANGED || cost * CHANGED < self.reported {
            self.reported = cost;
            self.changed = true;
            return Some(cost);
        }
        None
    }

    /// The cost that was last reported.
    pub fn reset_cost(&self) -> f64 {
        self.reported
    }

    /// Whether the cost has changed since the last call.
    pub fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}
