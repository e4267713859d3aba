//! The last phase: what is left to execute as a postman tour over known and predicted transitions,
//! followed for as long as the predictions hold, and planned anew when too many did not.

use std::collections::BTreeMap;

use crate::graph::{Graph, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategies::adaptive::forecast::Forecast;
use crate::strategies::greedy::Nearest;
use crate::strategy::{INITIAL, StrategySettings};
use crate::tour::{PendingSteps, TourProblem, TourStep};

/// A tour is planned when what is left is foreseen this well on average. Below that the nearest
/// candidate is the better choice: each transition executed makes the rest easier to foresee, and no
/// way is walked twice for a destination that was only guessed. (With 0.7 elfinder-like ends 3 % above
/// the bound instead of 1.4 %, with 0.8 some crawls of a file tree start their tour too late.)
const FORESEEN: f64 = 0.77;
/// If it is not, that is looked at again when this share of the candidates is left.
const LOOK_AGAIN: f64 = 0.9;
/// A plan is made anew when this share of what it covers led elsewhere...
const SURPRISES: f64 = 0.01;
/// ...or when it broke off this often, by share of what it covers...
const BREAKS: f64 = 0.001;
/// ...but not for fewer breaks than these for each crawler (several share a plan, and each may be left
/// without a step).
const FEWEST_BREAKS: usize = 4;
/// ...or when a reset turned out to cost this much more or less, by share (a guess: planning costs
/// much more than a measurement that wavers).
const RESET_COST_SLACK: f64 = 0.25;

/// Plans and follows tours.
#[derive(Clone)]
pub struct Touring {
    reset_cost: f64,
    /// What a reset cost when the plan was made.
    planned_cost: f64,
    /// The steps still to take from each state. Empty without a plan.
    leaving: Vec<PendingSteps>,
    /// No plan is made while more candidates than this are left.
    not_before: usize,
    /// What the candidates that crawlers were sent to are expected to lead to.
    expected: BTreeMap<Slot, StateIndex>,
    surprises: usize,
    breaks: usize,
}

impl Touring {
    /// Without a plan.
    pub fn new(settings: StrategySettings) -> Self {
        Self {
            reset_cost: settings.reset_cost,
            planned_cost: settings.reset_cost,
            leaving: Vec::new(),
            not_before: usize::MAX,
            expected: BTreeMap::new(),
            surprises: 0,
            breaks: 0,
        }
    }

    /// A candidate was executed.
    pub fn on_executed(&mut self, slot: Slot, destination: StateIndex) {
        let expected = self.expected.remove(&slot);
        self.surprises += usize::from(expected.is_some_and(|expected| expected != destination));
    }

    /// A candidate was not executed after all.
    pub fn on_released(&mut self, slot: Slot) {
        self.expected.remove(&slot);
    }

    /// What a reset costs was measured anew. A plan made for quite another cost is given up.
    pub fn set_reset_cost(&mut self, cost: f64) {
        if (cost - self.planned_cost).abs() > RESET_COST_SLACK * self.planned_cost {
            self.leaving.clear();
        }
        self.reset_cost = cost;
    }

    /// The next job of the tour; none if what is left cannot be foreseen well enough for one.
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
        if self.leaving.is_empty() {
            return None;
        }
        let here =
            PlannedJob { reset: false, walk: Vec::new(), candidate: Slot { state: at, index: 0 } };
        let job = self.follow(graph, at, here).or_else(|| {
            self.breaks += 1;
            let job = nearest.choose_fullest(graph, at)?;
            Some(self.follow(graph, job.candidate.state, job.clone()).unwrap_or(job))
        })?;
        if let Some(foreseen) = forecast.predict(graph, job.candidate) {
            self.expected.insert(job.candidate, foreseen.state);
        }
        Some(job)
    }

    fn is_outdated(&self, graph: &Graph) -> bool {
        let share = |of: f64| (of * graph.free() as f64) as usize;
        if self.leaving.is_empty() {
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
            match self.leaving.get_mut(state.at())?.pop()? {
                TourStep::Take(slot) if graph.is_free(slot) => {
                    job.candidate = slot;
                    return Some(job);
                }
                // It was executed meanwhile, by the way, or somebody else is about to.
                TourStep::Take(_) => {}
                TourStep::Reset => {
                    job.reset = true;
                    job.walk.clear();
                    state = INITIAL;
                }
                // A prediction may not have come true yet: then there is nothing to walk on.
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
        self.leaving.clear();
        let mut confidence = 0.0;
        let edges: Vec<Vec<u32>> = (0..graph.states() as u32)
            .map(|state| forecast.targets(graph, StateIndex(state), &mut confidence))
            .collect();
        if confidence < FORESEEN * graph.free() as f64 {
            self.not_before = (LOOK_AGAIN * graph.free() as f64) as usize;
            return;
        }
        // The other crawlers go on from where their candidates lead.
        let others =
            graph.claimed().iter().map(|&slot| edges[slot.state.at()][slot.index as usize]);
        let starts: Vec<StateIndex> =
            [at].into_iter().chain(others.filter(|&to| to != UNEXPLORED).map(StateIndex)).collect();
        self.planned_cost = self.reset_cost;
        let task = TourProblem {
            edges: &edges,
            states: graph.states(),
            starts: &starts,
            initial: INITIAL,
            reset_cost: self.reset_cost,
        };
        let in_reach = reachable_after_reset(&edges);
        self.leaving = task.steps(|slot| graph.is_free(slot) && in_reach[slot.state.at()]);
    }
}

/// Whether each state can be reached after a reset, and so any number of times. Only one that was met by
/// accident, or that lies behind such a state, cannot, and no tour is planned through it.
fn reachable_after_reset(edges: &[Vec<u32>]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut waiting = vec![INITIAL.0];
    while let Some(state) = waiting.pop() {
        if !std::mem::replace(&mut seen[state as usize], true) {
            waiting.extend(edges[state as usize].iter().filter(|&&to| to != UNEXPLORED));
        }
    }
    seen
}
