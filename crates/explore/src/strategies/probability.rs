//! The probability strategy (paper 001, section 5.5; Dincturk et al. 2012): an action that found
//! new states is likely to find another one.

use std::collections::VecDeque;

use crate::anticipated::{AnticipatedModel, Classification};
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::{PlannedJob, TransferChoice};
use crate::strategy::{NamedStrategy, Strategy, StrategySettings};

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "probability",
    summary: "weigh how likely an action finds a new state against the way to it",
    help: "Estimates for every action the probability that it finds a new state, from how often it did \
           so before (1/2 for an action never executed). A far candidate wins over a near one only if \
           it is more promising than the actions that the crawler could execute instead of the extra \
           walk (Dincturk et al. 2012).",
    make: |settings| Box::new(Probability::new(settings)),
};

/// P(a) = (S + 1) / (N + 2), which is one half for an action never executed.
const PRIOR_SUCCESSES: f64 = 1.0;
const PRIOR_TRIALS: f64 = 2.0;
/// The number of latest executions in the average probability. About 500 reproduces the published
/// figures.
const WINDOW: usize = 500;
/// The lower limit of the average. Below it, the crawler would cross the whole graph for a minimal
/// gain. Far above it, useless candidates nearby win over good ones five steps away. On
/// `bebop-like` all states are found at 10,800 with 0.1 and at 590,000 with 0.25. Elsewhere it
/// makes no difference.
const LEAST_AVERAGE: f64 = 0.1;
const MARGIN: f64 = 1e-6;

/// The number of steps that probabilities are rounded to. The nearest candidate of each step is
/// known at any time. The steps are finest near zero, where most actions end up.
const STEPS: usize = 24;

fn step(probability: f64) -> usize {
    (probability.sqrt() * STEPS as f64) as usize
}

/// The probability in the middle of a step.
fn probability_of(step: usize) -> f64 {
    ((step as f64 + 0.5) / STEPS as f64).powi(2).clamp(MARGIN, 1.0 - MARGIN)
}

#[derive(Clone, Copy, Default)]
struct Record {
    trials: u32,
    successes: u32,
}

impl Record {
    fn probability(self) -> f64 {
        let estimate =
            (f64::from(self.successes) + PRIOR_SUCCESSES) / (f64::from(self.trials) + PRIOR_TRIALS);
        estimate.clamp(MARGIN, 1.0 - MARGIN)
    }

    /// Predicts no destination, so transfers take known transitions only.
    fn classification(self) -> Classification {
        Classification { group: Some(step(self.probability())), behaviour: None }
    }
}

#[derive(Clone)]
struct Probability {
    records: Vec<Record>,
    window: VecDeque<f64>,
    window_sum: f64,
    candidates: AnticipatedModel<STEPS>,
}

impl Probability {
    fn new(settings: StrategySettings) -> Self {
        Self {
            records: Vec::new(),
            window: VecDeque::new(),
            window_sum: 0.0,
            candidates: AnticipatedModel::new(settings.reset_cost),
        }
    }

    fn average(&self) -> f64 {
        let average =
            if self.window.is_empty() { 0.5 } else { self.window_sum / self.window.len() as f64 };
        average.clamp(LEAST_AVERAGE, 1.0 - MARGIN)
    }
}

impl Strategy for Probability {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, _: Option<Slot>) {
        self.records.resize(graph.actions_seen(), Record::default());
        self.candidates.on_discovered(graph, state, Record::default().classification());
    }

    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        self.records.resize(graph.actions_seen(), Record::default());
        self.candidates.on_extended(graph, slot, Record::default().classification());
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        self.candidates.on_executed(graph, slot, destination);
        let action = graph.action_of(slot);
        let record = &mut self.records[action.at()];
        self.window.push_back(record.probability());
        self.window_sum += record.probability();
        if self.window.len() > WINDOW {
            self.window_sum -= self.window.pop_front().unwrap_or(0.0);
        }
        record.trials += 1;
        record.successes += u32::from(new);
        self.candidates.classify(graph, action, record.classification());
    }

    /// Finds the state s that minimises ln(1 - P(s)) - d(s) ln(1 - P_avg). This is the papers'
    /// comparison of a near with a far state, written as one key.
    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let per_action = -(1.0 - self.average()).ln();
        let mut best: Option<(f64, usize)> = None;
        for step in (0..STEPS).rev() {
            let here = (1.0 - probability_of(step)).ln();
            if best.is_some_and(|(key, _)| key <= here) {
                break; // This step and the lower ones could not win even at distance zero.
            }
            if let Some(TransferChoice { cost, .. }) =
                self.candidates.choose_transfer(graph, at, step)
            {
                let key = here + cost * per_action;
                if best.is_none_or(|(other, _)| key < other) {
                    best = Some((key, step));
                }
            }
        }
        self.candidates.seek(graph, at, best?.1)
    }

    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        self.candidates.on_claimed(graph, slot);
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.candidates.on_released(graph, slot);
    }

    fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        self.candidates.on_executed(graph, slot, slot.state);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.candidates.set_reset_cost(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probability_is_near_the_middle_of_its_step() {
        for trials in 0..2000 {
            for successes in [0, trials / 3, trials] {
                let probability = Record { trials, successes }.probability();
                let step = step(probability);
                assert!(step < STEPS, "{probability}");
                assert!((probability_of(step) - probability).abs() < 0.05, "{probability}");
            }
        }
    }
}
