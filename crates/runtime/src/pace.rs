//! The cost of a reset in actions, measured during the crawl.

use std::collections::BTreeMap;
use std::time::Duration;

use argiope_explore::id::StateKey;

use crate::crawler::JobCost;

/// How many loads must be measured before the cost counts, and how many tens of actions.
const ENOUGH: u64 = 5;
/// The cost is reported anew when it has changed by this factor.
const CHANGED: f64 = 1.25;

/// The times of loads and actions.
#[derive(Debug)]
pub struct Pace {
    total: JobCost,
    /// The time of the loads that led to each entry, and their number.
    entries: BTreeMap<StateKey, (Duration, u32)>,
    reported: f64,
}

impl Pace {
    /// Begins with an assumed cost.
    pub fn new(reset_cost: f64) -> Self {
        Self { total: JobCost::default(), entries: BTreeMap::new(), reported: reset_cost }
    }

    /// Adds what a job took. Returns the new cost if it has changed much.
    pub fn measured(&mut self, cost: &JobCost) -> Option<f64> {
        let JobCost { spent, entry_loads, loading, acting } = &mut self.total;
        *spent = spent.plus(cost.spent);
        *entry_loads += cost.entry_loads;
        *loading += cost.loading;
        *acting += cost.acting;
        let loads = spent.resets.saturating_sub(*entry_loads);
        if loads < ENOUGH || spent.actions < ENOUGH * 10 || acting.is_zero() {
            return None;
        }
        let load = loading.as_secs_f64() / loads as f64;
        let action = acting.as_secs_f64() / spent.actions as f64;
        let cost = (load / action).clamp(1.0, 1000.0);
        if cost > self.reported * CHANGED || cost * CHANGED < self.reported {
            self.reported = cost;
            return Some(cost);
        }
        None
    }

    /// Adds what a load took that led to an entry. Returns its cost in actions, once enough actions
    /// are measured.
    pub fn measured_entry(&mut self, entry: StateKey, loading: Duration) -> Option<f64> {
        let (total, loads) = self.entries.entry(entry).or_default();
        *total += loading;
        *loads += 1;
        let JobCost { spent, acting, .. } = &self.total;
        if spent.actions < ENOUGH * 10 || acting.is_zero() {
            return None;
        }
        let load = total.as_secs_f64() / f64::from(*loads);
        Some((load * spent.actions as f64 / acting.as_secs_f64()).clamp(1.0, 1000.0))
    }

    /// The cost that was last reported.
    pub fn reset_cost(&self) -> f64 {
        self.reported
    }
}
