//! The figures that the papers printed, to be shown beside ours and marked as theirs.

/// What a crawl spent, as reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Actions executed.
    pub actions: u64,
    /// Resets, the first load included, where they are reported.
    pub resets: Option<u64>,
}

impl Figure {
    /// In actions; none if the resets are not reported.
    pub fn cost(self, reset_cost: f64) -> Option<f64> {
        let resets = self.resets?;
        Some(self.actions as f64 + resets as f64 * reset_cost)
    }
}

/// One published crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The application, by the paper's name.
    pub application: &'static str,
    /// The strategy, by our name; `optimal` is the cheapest walk through all states.
    pub strategy: &'static str,
    /// When the last state had been found.
    pub all_states: Option<Figure>,
    /// When the last transition had been executed.
    pub complete: Option<Figure>,
}

/// What was published for a test-bed and a strategy. Nothing until the tables are copied.
pub fn published(_testbed: &str, _strategy: &str) -> Option<&'static Published> {
    None
}
