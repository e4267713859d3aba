//! How far a crawl is and how it ended, in numbers for people and scripts.

use std::time::Duration;

use argiope_controller::input::StoppedBy;

/// Where a crawl stands, for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// States found.
    pub states: usize,
    /// Transitions executed.
    pub transitions: usize,
    /// Candidates left.
    pub unexplored: usize,
    /// Actions executed, those of a resumed crawl included.
    pub actions: u64,
    /// Loads of the URL.
    pub resets: u64,
    /// Actions executed since this process began.
    pub actions_now: u64,
    /// Since this process began.
    pub elapsed: Duration,
}

/// How a crawl ended.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Every candidate was executed or given up.
    pub complete: bool,
    /// If not, why.
    pub stopped_by: Option<StoppedBy>,
    /// At the end.
    pub progress: Progress,
    /// Candidates given up.
    pub failed: usize,
    /// Transitions that led to several states.
    pub nondeterministic: usize,
    /// Transitions after which the page was still busy.
    pub unsettled: usize,
    /// Plain links followed.
    pub urls: usize,
    /// What a reset cost, in actions.
    pub reset_cost: f64,
    /// How often a browser was replaced.
    pub browsers_replaced: u32,
    /// Whether pages ran in the browser's sandbox.
    pub sandboxed: bool,
}
