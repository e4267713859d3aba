//! Where a candidate will lead: several simple rules, each a small metamodel of its own, and a score
//! for each of them, kept per action and over all. The rule with the best score for the action speaks.

use crate::chance::Chance;
use crate::graph::{Graph, Slot};
use crate::id::{ActionIndex, StateIndex};

const RULES: usize = 5;
/// How many executions the score over all actions counts for in the score of one action.
const SHARED_WEIGHT: f64 = 2.0;
/// How far up the states by which a state was found the rules look.
const GENERATIONS: usize = 4;

#[derive(Clone, Copy, Default)]
struct Score {
    trials: [u32; RULES],
    hits: [u32; RULES],
}

impl Score {
    fn add(&mut self, predictions: &[Option<StateIndex>; RULES], destination: StateIndex) {
        for (rule, prediction) in predictions.iter().enumerate() {
            if let Some(state) = prediction {
                self.trials[rule] += 1;
                self.hits[rule] += u32::from(*state == destination);
            }
        }
    }
}

/// What the rules have learned.
#[derive(Default)]
pub struct Forecast {
    /// The transition by which each state was found.
    found_by: Vec<Option<Slot>>,
    /// Where each action led, and how often.
    led_to: Vec<Vec<(StateIndex, u32)>>,
    scores: Vec<Score>,
    overall: Score,
}

/// A predicted destination.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// The state.
    pub state: StateIndex,
    /// The share of predictions like this one that were right.
    pub confidence: f64,
}

impl Forecast {
    /// A state was seen for the first time.
    pub fn discovered(&mut self, graph: &Graph, by: Option<Slot>) {
        self.found_by.push(by);
        self.led_to.resize_with(graph.actions_seen(), Vec::new);
        self.scores.resize(graph.actions_seen(), Score::default());
    }

    /// A candidate was executed.
    pub fn executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex) {
        let predictions = self.ask(graph, slot);
        let action = graph.action_of(slot);
        self.overall.add(&predictions, destination);
        self.scores[action.at()].add(&predictions, destination);
        let led_to = &mut self.led_to[action.at()];
        if let Some(at) = led_to.iter().position(|&(state, _)| state == destination) {
            led_to[at].1 += 1;
            // Most often first.
            if at > 0 && led_to[at].1 > led_to[at - 1].1 {
                led_to.swap(at, at - 1);
            }
        } else {
            led_to.push((destination, 1));
        }
    }

    /// Where a candidate will probably lead.
    pub fn predict(&self, graph: &Graph, slot: Slot) -> Option<Prediction> {
        let score = &self.scores[graph.action_of(slot).at()];
        let mut best: Option<Prediction> = None;
        for (rule, prediction) in self.ask(graph, slot).into_iter().enumerate() {
            let Some(state) = prediction else { continue };
            let shared =
                (f64::from(self.overall.hits[rule]) + 0.5) / (f64::from(self.overall.trials[rule]) + 1.0);
            let confidence = (f64::from(score.hits[rule]) + SHARED_WEIGHT * shared)
                / (f64::from(score.trials[rule]) + SHARED_WEIGHT);
            if best.is_none_or(|other| confidence > other.confidence) {
                best = Some(Prediction { state, confidence });
            }
        }
        best
    }

    /// Where a candidate leads in a plan: as predicted or, where no prediction is to be trusted, to one
    /// of the states that the action led to before, drawn by how often. Single draws are wrong, but
    /// together they say how often each state will be entered, which is what a plan has to balance.
    pub fn guess(&self, graph: &Graph, slot: Slot) -> Option<StateIndex> {
        let prediction = self.predict(graph, slot);
        if let Some(trusted) = prediction.filter(|prediction| prediction.confidence >= 0.5) {
            return Some(trusted.state);
        }
        let led_to = &self.led_to[graph.action_of(slot).at()];
        let total: u32 = led_to.iter().map(|&(_, times)| times).sum();
        if total == 0 {
            return prediction.map(|prediction| prediction.state);
        }
        let mut drawn =
            Chance::new(&[u64::from(slot.state.0), u64::from(slot.index)]).below(total as usize) as u32;
        for &(state, times) in led_to {
            if drawn < times {
                return Some(state);
            }
            drawn -= times;
        }
        None
    }

    fn ask(&self, graph: &Graph, slot: Slot) -> [Option<StateIndex>; RULES] {
        let action = graph.action_of(slot);
        [
            self.led_to[action.at()].first().map(|&(state, _)| state),
            Some(slot.state),
            self.as_in_the_state_before(graph, slot.state, action),
            self.commutes(graph, slot.state, action),
            self.undoes(graph, slot.state, action),
        ]
    }

    /// What the action did in the state from which this one was found, or in one further back.
    fn as_in_the_state_before(
        &self,
        graph: &Graph,
        state: StateIndex,
        action: ActionIndex,
    ) -> Option<StateIndex> {
        let mut state = state;
        for _ in 0..GENERATIONS {
            state = self.found_by[state.at()]?.state;
            if let Some(target) = graph.slot_of(state, action).and_then(|slot| graph.target(slot)) {
                return Some(target);
            }
        }
        None
    }

    /// The two actions may be independent: executed before the one that led here, this action led to
    /// a state from which that other action leads on to where this one leads now.
    fn commutes(&self, graph: &Graph, state: StateIndex, action: ActionIndex) -> Option<StateIndex> {
        let by = self.found_by[state.at()]?;
        let sideways =
            graph.target(graph.slot_of(by.state, action)?).filter(|&sideways| sideways != state)?;
        graph.target(graph.slot_of(sideways, graph.action_of(by))?)
    }

    /// The action that led here may lead back.
    fn undoes(&self, graph: &Graph, state: StateIndex, action: ActionIndex) -> Option<StateIndex> {
        self.found_by[state.at()].filter(|&by| graph.action_of(by) == action).map(|by| by.state)
    }
}
