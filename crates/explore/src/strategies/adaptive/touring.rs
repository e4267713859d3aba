//! The last phase: executes the remaining candidates as a postman tour over known and predicted
//! transitions. Follows a plan while the predictions hold, and plans anew after too many wrong
//! ones.

use std::collections::BTreeMap;

use crate::graph::{Graph, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategies::adaptive::forecast::Forecast;
use crate::strategies::greedy::Nearest;
use crate::strategy::StrategySettings;
use crate::tour::{PendingSteps, TourProblem, TourStep};

/// The least average confidence at which a tour is planned. Below it, the nearest candidate is the
/// better choice: each execution improves the predictions, and no walk is wasted on a wrong guess.
/// With 0.7 elfinder-like ends 3 % above the bound instead of 1.4 %. With 0.8 some crawls of a file
/// tree start their tour too late.
const LEAST_CONFIDENCE: f64 = 0.77;
/// After too low a confidence, the next attempt waits until this share of the candidates is left.
const RETRY_SHARE: f64 = 0.9;
/// A new plan is made after this share of wrong predictions among the free candidates.
const SURPRISES: f64 = 0.01;
/// A new plan is made after this many breaks of the tour, as a share of the free candidates.
const BREAKS: f64 = 0.001;
/// The least number of breaks before a new plan, per crawler. Several crawlers share a plan, and
/// each may be left without a step.
const FEWEST_BREAKS: usize = 4;
/// A new plan is made when the reset cost changes by more than this share. A guess: planning costs
/// much more than a small error of measurement.
const RESET_COST_SLACK: f64 = 0.25;

/// Plans and follows tours.
#[derive(Clone)]
pub struct Touring {
    reset_cost: f64,
    /// The reset cost of the plan.
    planned_cost: f64,
    /// The pending steps of each state. Empty without a plan.
    pending: Vec<PendingSteps>,
    /// No plan is made while more candidates than this are free.
    not_before: usize,
    /// The predicted destinations of the candidates that crawlers execute now.
    expected: BTreeMap<Slot, StateIndex>,
    surprises: usize,
    breaks: usize,
}

impl Touring {
    /// Starts without a plan.
    pub fn new(settings: StrategySettings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            planned_cost: settings.reset_cost,
            pending: Vec::new(),
            not_before: usize::MAX,
            expected: BTreeMap::new(),
            surprises: 0,
            breaks: 0,
        }
    }

    /// Notes that a candidate was executed.
    pub fn on_executed(&mut self, slot: Slot, destination: StateIndex) {
        let expected = self.expected.remove(&slot);
        self.surprises += usize::from(expected.is_some_and(|expected| expected != destination));
    }

    /// Notes that a candidate was released or closed.
    pub fn on_released(&mut self, slot: Slot) {
        self.expected.remove(&slot);
    }

    /// Sets the cost of a reset. Drops a plan that was made for a very different cost.
    pub fn set_reset_cost(&mut self, cost: f64) {
        if (cost - self.planned_cost).abs() > RESET_COST_SLACK * self.planned_cost {
            self.pending.clear();
        }
        self.reset_cost = cost;
    }

    /// Plans the next job of the tour. Returns `None` if the predictions are not confident enough.
    pub fn choose(
        &mut self,
        graph: &Graph,
        forecast: &Forecast,
        nearest: &mut Nearest,
        at: StateIndex,
    ) -> Option<PlannedJob> {
        if self.is_outdated(graph) {
            self.plan(graph, forecast, at);
        }
        if self.pending.is_empty() {
            return None;
        }
        let here =
            PlannedJob { reset: false, walk: Vec::new(), candidate: Slot { state: at, index: 0 } };
        let job = self.follow(graph, at, here).or_else(|| {
            self.breaks += 1;
            let job = nearest.choose_fullest(graph, at)?;
            Some(self.follow(graph, job.candidate.state, job.clone()).unwrap_or(job))
        })?;
        if let Some(prediction) = forecast.predict(graph, job.candidate) {
            self.expected.insert(job.candidate, prediction.state);
        }
        Some(job)
    }

    fn is_outdated(&self, graph: &Graph) -> bool {
        let share = |of: f64| (of * graph.free() as f64) as usize;
        if self.pending.is_empty() {
            return graph.free() <= self.not_before;
        }
        let fewest_breaks = FEWEST_BREAKS * (1 + graph.claimed().len());
        self.surprises > share(SURPRISES).max(1) || self.breaks > share(BREAKS).max(fewest_breaks)
    }

    /// Takes the steps of the plan up to the next candidate.
    fn follow(
        &mut self,
        graph: &Graph,
        from: StateIndex,
        mut job: PlannedJob,
    ) -> Option<PlannedJob> {
        let mut state = from;
        loop {
            match self.pending.get_mut(state.at())?.pop()? {
                TourStep::Take(slot) if graph.is_free(slot) => {
                    job.candidate = slot;
                    return Some(job);
                }
                // The candidate was executed meanwhile, or another crawler has claimed it.
                TourStep::Take(_) => {}
                TourStep::Reset(to) => {
                    job.reset = true;
                    job.walk.clear();
                    state = to;
                }
                // A predicted transition that was not executed yet cannot be walked.
                TourStep::Again(slot) => {
                    if let Some(target) = graph.target(slot) {
                        job.walk.push(slot);
                        state = target;
                    }
                }
            }
        }
    }

    fn plan(&mut self, graph: &Graph, forecast: &Forecast, at: StateIndex) {
        (self.surprises, self.breaks) = (0, 0);
        self.pending.clear();
        let mut confidence = 0.0;
        let edges: Vec<Vec<u32>> = (0..graph.states() as u32)
            .map(|state| forecast.targets(graph, StateIndex(state), &mut confidence))
            .collect();
        if confidence < LEAST_CONFIDENCE * graph.free() as f64 {
            self.not_before = (RETRY_SHARE * graph.free() as f64) as usize;
            return;
        }
        // The other crawlers continue from the destinations of their candidates.
        let others =
            graph.claimed().iter().map(|&slot| edges[slot.state.at()][slot.index as usize]);
        let starts: Vec<StateIndex> =
            [at].into_iter().chain(others.filter(|&to| to != UNEXPLORED).map(StateIndex)).collect();
        self.planned_cost = self.reset_cost;
        let resets: Vec<(StateIndex, f64)> = graph.resets(self.reset_cost).iter().collect();
        let problem =
            TourProblem { edges: &edges, states: graph.states(), starts: &starts, resets: &resets };
        let in_reach = reachable_after_reset(&edges, &resets);
        self.pending = problem.steps(|slot| graph.is_free(slot) && in_reach[slot.state.at()]);
    }
}

/// Whether each state can be reached after a reset. No tour is planned through the others. Only
/// states that no candidate led to, and states behind them, are out of reach.
fn reachable_after_reset(edges: &[Vec<u32>], resets: &[(StateIndex, f64)]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut waiting: Vec<u32> = resets.iter().map(|(state, _)| state.0).collect();
    while let Some(state) = waiting.pop() {
        if !std::mem::replace(&mut seen[state as usize], true) {
            waiting.extend(edges[state as usize].iter().filter(|&&to| to != UNEXPLORED));
        }
    }
    seen
}
