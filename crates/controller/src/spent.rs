//! What work on an application costs.

use serde::{Deserialize, Serialize};

/// Executed actions, and resets (the first load counts as one).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Actions executed, whether for the first time or on the way. One that was begun counts, also if it
    /// led elsewhere or did not end; one that was performed in two ways, because the first had no effect, counts once.
    pub actions: u64,
    /// Loads of the URL.
    pub resets: u64,
}

impl Spent {
    /// In actions.
    pub fn cost(self, reset_cost: f64) -> f64 {
        self.actions as f64 + self.resets as f64 * reset_cost
    }

    /// This and that together.
    pub fn plus(self, more: Self) -> Self {
        Self {
            actions: self.actions.saturating_add(more.actions),
            resets: self.resets.saturating_add(more.resets),
        }
    }
}
