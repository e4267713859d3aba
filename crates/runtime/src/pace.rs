//! What a reset costs, in actions, measured while crawling.

use std::time::Duration;

use crate::crawler::JobCost;

/// So much must have been measured before the price is believed.
const ENOUGH: u64 = 5;
/// The price is told anew when it has changed by this factor.
const CHANGED: f64 = 1.25;

/// Keeps the time of loads and actions.
#[derive(Debug)]
pub struct Pace {
    loads: u64,
    loading: Duration,
    actions: u64,
    acting: Duration,
    told: f64,
    changed: bool,
}

impl Pace {
    /// With a price to begin with.
    pub fn new(reset_cost: f64) -> Self {
        Self {
            loads: 0,
            loading: Duration::ZERO,
            actions: 0,
            acting: Duration::ZERO,
            told: reset_cost,
            changed: false,
        }
    }

    /// Takes in what a job took; the new price if it has changed much.
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
        if cost > self.told * CHANGED || cost * CHANGED < self.told {
            self.told = cost;
            self.changed = true;
            return Some(cost);
        }
        None
    }

    /// The price.
    pub fn reset_cost(&self) -> f64 {
        self.told
    }

    /// Whether the price has changed since this was last asked.
    pub fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }
}
