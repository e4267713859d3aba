//! The last phase: what is left to execute as a postman tour over known and predicted transitions,
//! followed for as long as the predictions hold, and planned anew when too many did not.

use std::collections::VecDeque;

use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::job::Job;
use crate::strategies::adaptive::forecast::Forecast;
use crate::strategies::greedy::Nearest;
use crate::strategy::{INITIAL, Settings};
use crate::tour::{Step, Task};

/// A plan is made anew when this share of what it covered turned out otherwise...
static TOLERATED: std::sync::LazyLock<f64> =
    std::sync::LazyLock::new(|| std::env::var("TOL").ok().and_then(|v| v.parse().ok()).unwrap_or(0.01));
/// ...but not for fewer surprises than this.
const LEAST_SURPRISES: usize = 8;

/// Follows a tour.
pub struct Touring {
    reset_cost: f64,
    /// The steps still to take from each state, the next one last; the very first entry of a state
    /// is its way out towards the end of the tour, and is taken last.
    leaving: Vec<Vec<Step>>,
    expected: Option<(Slot, u32)>,
    surprises: usize,
    failures: usize,
    covered: usize,
    pub replans: usize,
    pub stuck: usize,
    pub total_surprises: usize,
}

impl Touring {
    /// Without a plan.
    pub fn new(settings: Settings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            leaving: Vec::new(),
            expected: None,
            surprises: 0,
            failures: 0,
            covered: 0,
            replans: 0,
            stuck: 0,
            total_surprises: 0,
        }
    }

    /// A candidate was executed.
    pub fn executed(&mut self, slot: Slot, destination: StateIndex, new: bool) {
        let as_expected = self.expected.take() == Some((slot, destination.0));
        if !as_expected || new {
            self.surprises += 1;
            self.total_surprises += 1;
        }
    }

    /// The next job of the tour.
    pub fn choose(
        &mut self,
        graph: &Graph,
        forecast: &Forecast,
        nearest: &mut Nearest,
        at: StateIndex,
    ) -> Option<Job> {
        if std::env::var("NOTOUR").is_err() && self.is_outdated(graph) {
            self.plan(graph, forecast, at);
        }
        if std::env::var("NOTOUR").is_ok() {
            return nearest.choose_fullest(graph, at);
        }
        if let Some(job) = self.follow(graph, forecast, at) {
            return Some(job);
        }
        self.stuck += 1;
        self.failures += 1;
        let job = nearest.choose_fullest(graph, at)?;
        self.expect(graph, forecast, job.candidate);
        Some(job)
    }

    fn is_outdated(&self, graph: &Graph) -> bool {
        let allowed = (*TOLERATED * graph.unexplored() as f64) as usize;
        self.covered == 0 || self.failures > allowed.max(LEAST_SURPRISES)
    }

    fn expect(&mut self, graph: &Graph, forecast: &Forecast, slot: Slot) {
        self.expected = forecast.predict(graph, slot).map(|prediction| (slot, prediction.state.0));
    }

    /// Takes the steps of the plan up to the next candidate.
    fn follow(&mut self, graph: &Graph, forecast: &Forecast, at: StateIndex) -> Option<Job> {
        let mut job = Job { reset: false, walk: Vec::new(), candidate: Slot { state: at, index: 0 } };
        let mut state = at;
        loop {
            match self.leaving.get_mut(state.at())?.pop()? {
                Step::Reset => {
                    job.reset = true;
                    job.walk.clear();
                    state = INITIAL;
                }
                Step::Take(slot) => match graph.target(slot) {
                    Some(target) => {
                        job.walk.push(slot);
                        state = target;
                    }
                    None => {
                        job.candidate = slot;
                        self.expect(graph, forecast, slot);
                        return Some(job);
                    }
                },
            }
        }
    }

    fn plan(&mut self, graph: &Graph, forecast: &Forecast, at: StateIndex) {
        self.replans += 1;
        self.surprises = 0;
        self.failures = 0;
        self.covered = graph.unexplored();
        let edges: Vec<Vec<u32>> = (0..graph.states() as u32)
            .map(|state| {
                (0..)
                    .zip(graph.targets(state as usize))
                    .map(|(index, &target)| {
                        if target != UNEXPLORED {
                            return target;
                        }
                        let slot = Slot { state: StateIndex(state), index };
                        forecast.guess(graph, slot).map_or(UNEXPLORED, |state| state.0)
                    })
                    .collect()
            })
            .collect();
        let task = Task {
            edges: &edges,
            states: graph.states(),
            start: at,
            initial: INITIAL,
            reset_cost: self.reset_cost,
        };
        self.leaving = task.steps(|slot| graph.target(slot).is_none());
        let _: VecDeque<u32> = VecDeque::new();
    }
}
