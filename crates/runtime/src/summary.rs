//! The progress of a crawl and its summary, in numbers for people and scripts.

use std::collections::BTreeMap;
use std::time::Duration;

use argiope_controller::Controller;
use argiope_controller::input::StoppedBy;
use argiope_controller::outcome::JobFailure;

/// The progress of a crawl.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrawlProgress {
    /// States found.
    pub states: usize,
    /// Transitions executed.
    pub transitions: usize,
    /// Candidates left.
    pub unexplored: usize,
    /// Actions executed, with those of earlier runs.
    pub actions: u64,
    /// Loads of the URL.
    pub resets: u64,
    /// Actions executed by this process.
    pub actions_now: u64,
    /// The time since this process began.
    pub elapsed: Duration,
}

/// How a crawl ended.
#[derive(Clone, Debug)]
pub struct CrawlSummary {
    /// Every candidate was executed, and none was given up.
    pub complete: bool,
    /// Why the crawl stopped before that.
    pub stopped_by: Option<StoppedBy>,
    /// The progress at the end.
    pub progress: CrawlProgress,
    /// Candidates given up, by reason.
    pub given_up: BTreeMap<JobFailure, usize>,
    /// States that do not come back.
    pub gone: usize,
    /// Actions that led to several states.
    pub nondeterministic: usize,
    /// Transitions after which the page was still busy.
    pub unsettled: usize,
    /// Plain links followed.
    pub urls: usize,
    /// The cost of a reset, in actions.
    pub reset_cost: f64,
    /// How many browsers were replaced.
    pub browsers_replaced: u32,
    /// Whether pages ran in the browser's sandbox.
    pub sandboxed: bool,
}

impl CrawlProgress {
    /// The numbers of a controller, without times.
    pub fn of(controller: &Controller) -> Self {
        let counts = controller.progress();
        Self {
            states: counts.states,
            transitions: counts.transitions,
            unexplored: counts.unexplored,
            actions: counts.actions,
            resets: counts.resets,
            ..Self::default()
        }
    }
}

impl CrawlSummary {
    /// How many candidates were given up.
    pub fn failed(&self) -> usize {
        self.given_up.values().sum()
    }

    /// The numbers of a controller, without times and browsers.
    pub fn of(controller: &Controller, complete: bool, stopped_by: Option<StoppedBy>) -> Self {
        let counts = controller.progress();
        Self {
            complete,
            stopped_by,
            progress: CrawlProgress::of(controller),
            given_up: controller.known().given_up(),
            gone: counts.gone,
            nondeterministic: counts.nondeterministic,
            unsettled: counts.unsettled,
            urls: counts.links,
            reset_cost: controller.known().settings().exploring.reset_cost,
            browsers_replaced: 0,
            sandboxed: true,
        }
    }
}
