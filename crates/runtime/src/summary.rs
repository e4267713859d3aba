//! The progress of a crawl and its summary, in numbers for people and scripts.

use std::collections::BTreeMap;
use std::time::Duration;

use argiope_controller::Controller;
use argiope_controller::coverage::Coverage;
use argiope_controller::input::StoppedBy;
use argiope_controller::outcome::JobFailure;
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateKey};

use crate::learned::PageDoubts;

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
    /// Every candidate was executed, none was given up, there are no doubts, and every
    /// seed was loaded.
    pub complete: bool,
    /// Why the crawl stopped before that.
    pub stopped_by: Option<StoppedBy>,
    /// The progress at the end.
    pub progress: CrawlProgress,
    /// How much is covered.
    pub coverage: Coverage,
    /// Candidates given up, by reason.
    pub given_up: BTreeMap<JobFailure, usize>,
    /// States that do not come back.
    pub gone: usize,
    /// Actions after which the application could not be loaded, each with its state.
    pub ended: Vec<(StateKey, ActionSignature)>,
    /// Actions that led to several states.
    pub nondeterministic: usize,
    /// Transitions after which the page was still busy.
    pub unsettled: usize,
    /// Plain links followed.
    pub urls: usize,
    /// Transitions with a request that a safe crawl stopped.
    pub curbed: usize,
    /// Blocked requests by host. A count of 0 says that the number is not known.
    pub blocked: BTreeMap<String, u64>,
    /// Why the model may be wrong.
    pub doubts: PageDoubts,
    /// Addresses with which the crawl should begin and that could not be loaded, with the reason.
    pub seeds_left: BTreeMap<String, String>,
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

/// The actions after which the application could not be loaded.
fn ended(controller: &Controller) -> Vec<(StateKey, ActionSignature)> {
    let Some(graph) = controller.graph() else { return Vec::new() };
    let named = |slot: &Slot| (graph.key(slot.state), graph.signature(graph.action_of(*slot)));
    controller.known().blamed().iter().map(named).collect()
}

impl CrawlSummary {
    /// How many candidates were given up.
    pub fn failed(&self) -> usize {
        self.given_up.values().sum()
    }

    /// The same with what makes the model doubtful: such a crawl is not complete.
    #[must_use]
    pub fn with_doubts(mut self, doubts: PageDoubts) -> Self {
        self.complete &= doubts.is_empty();
        self.doubts = doubts;
        self
    }

    /// The same with the seeds that could not be loaded: such a crawl is not complete.
    #[must_use]
    pub fn with_seeds_left(mut self, seeds_left: BTreeMap<String, String>) -> Self {
        self.complete &= seeds_left.is_empty();
        self.seeds_left = seeds_left;
        self
    }

    /// The numbers of a controller, without times and browsers.
    pub fn of(controller: &Controller, complete: bool, stopped_by: Option<StoppedBy>) -> Self {
        let counts = controller.progress();
        Self {
            complete,
            stopped_by,
            progress: CrawlProgress::of(controller),
            coverage: controller.coverage(),
            given_up: controller.known().given_up(),
            gone: counts.gone,
            ended: ended(controller),
            nondeterministic: counts.nondeterministic,
            unsettled: counts.unsettled,
            urls: counts.links,
            curbed: counts.curbed,
            blocked: BTreeMap::new(),
            doubts: PageDoubts::default(),
            seeds_left: BTreeMap::new(),
            reset_cost: controller.known().settings().exploring.reset_cost,
            browsers_replaced: 0,
            sandboxed: true,
        }
    }
}
