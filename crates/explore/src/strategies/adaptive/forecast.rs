//! Predicts where a candidate leads. Several simple rules compete, each a small metamodel. Each
//! rule has a score per action and a score over all actions. The rule with the best score for the
//! action decides.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::{ActionIndex, StateIndex};

/// The number of rules.
const RULES: usize = 6;
/// The first rules use what the action did in other states.
const BY_OTHER_STATES: usize = 3;
/// The weight of the overall score in the score of one action, in executions.
const SHARED_WEIGHT: f64 = 6.0;
/// The number of ancestors that a rule considers. The parent of a state is where it was found from.
const ANCESTORS: usize = 4;
/// The number of transitions of a state that are searched for one that few other states share.
const WITNESSES: usize = 12;
/// The number of latest source states that are kept for each destination of an action.
const MAX_LATEST: usize = 6;
/// Below this accuracy, what an action did in one state says nothing about the other states.
const LEAST_ACCURACY: f64 = 0.1;
/// The share of the accuracy that remains after each execution.
const FADE: f64 = 0.99;
/// The least confidence of a prediction that a plan relies on.
const TRUSTED: f64 = 0.5;

#[derive(Clone, Copy, Default)]
struct Score {
    trials: [u32; RULES],
    hits: [u32; RULES],
}

impl Score {
    /// Skips the first rules where they all agree: their scores decide only where they disagree.
    fn add(&mut self, predictions: &[Option<StateIndex>; RULES], destination: StateIndex) {
        let mut said = predictions[..BY_OTHER_STATES].iter().flatten();
        let first = said.next();
        let contested = said.clone().next().is_none() || said.any(|state| Some(state) != first);
        for (rule, prediction) in predictions.iter().enumerate() {
            if let Some(state) = prediction.filter(|_| contested || rule >= BY_OTHER_STATES) {
                self.trials[rule] += 1;
                self.hits[rule] += u32::from(state == destination);
            }
        }
    }
}

/// The executions of one action.
#[derive(Clone, Default)]
struct History {
    /// The destinations, in the order of execution.
    destinations: Vec<StateIndex>,
    /// The number of executions and the latest sources, by destination.
    by_destination: BTreeMap<StateIndex, SharedDestination>,
    /// The most common destination and its number of executions.
    most_common: Option<(StateIndex, u32)>,
}

#[derive(Clone, Copy)]
struct SharedDestination {
    times: u32,
    latest: [u32; MAX_LATEST],
}

impl History {
    fn add(&mut self, source: StateIndex, destination: StateIndex) {
        self.destinations.push(destination);
        let unused = SharedDestination { times: 0, latest: [UNEXPLORED; MAX_LATEST] };
        let shared = self.by_destination.entry(destination).or_insert(unused);
        shared.latest[shared.times as usize % MAX_LATEST] = source.0;
        shared.times += 1;
        if self.most_common.is_none_or(|(_, times)| shared.times >= times) {
            self.most_common = Some((destination, shared.times));
        }
    }

    /// Whether the state in which the action is executed matters.
    fn has_several_destinations(&self) -> bool {
        self.by_destination.len() > 1
    }
}

/// The rules, with what they have learned.
#[derive(Clone)]
pub struct Forecast {
    seed: u64,
    /// The transition by which each state was found.
    found_by: Vec<Option<Slot>>,
    histories: Vec<History>,
    scores: Vec<Score>,
    overall: Score,
    /// The recent accuracy of the best rule, over executions that led to known states.
    accuracy: f64,
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
    /// Creates a forecast without states.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            found_by: Vec::new(),
            histories: Vec::new(),
            scores: Vec::new(),
            overall: Score::default(),
            accuracy: 0.5,
        }
    }

    /// Whether the rules predict anything in this application.
    pub fn is_useful(&self) -> bool {
        self.accuracy > LEAST_ACCURACY
    }

    /// Notes a new state.
    pub fn on_discovered(&mut self, graph: &Graph, by: Option<Slot>) {
        self.found_by.push(by);
        self.on_extended(graph);
    }

    /// Notes one more candidate of a known state.
    pub fn on_extended(&mut self, graph: &Graph) {
        self.histories.resize_with(graph.actions_seen(), History::default);
        self.scores.resize(graph.actions_seen(), Score::default());
    }

    /// Notes that a candidate was executed.
    pub fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        let predictions =
            self.apply_rules(graph, slot, &self.agreeing_states(graph, slot.state, Some(slot)));
        let action = graph.action_of(slot);
        if !new {
            let hit = self.best(action, predictions).is_some_and(|best| best.state == destination);
            self.accuracy += (1.0 - FADE) * (f64::from(u8::from(hit)) - self.accuracy);
        }
        self.overall.add(&predictions, destination);
        self.scores[action.at()].add(&predictions, destination);
        self.histories[action.at()].add(slot.state, destination);
    }

    /// Predicts where a candidate leads.
    pub fn predict(&self, graph: &Graph, slot: Slot) -> Option<Prediction> {
        let predictions =
            self.apply_rules(graph, slot, &self.agreeing_states(graph, slot.state, None));
        self.best(graph.action_of(slot), predictions)
    }

    /// Whether an action was executed anywhere.
    pub fn was_executed(&self, action: ActionIndex) -> bool {
        !self.histories[action.at()].destinations.is_empty()
    }

    /// The only state from which an action led to `destination`, if there is exactly one.
    pub fn only_source(&self, action: ActionIndex, destination: StateIndex) -> Option<StateIndex> {
        let shared = self.histories[action.at()].by_destination.get(&destination)?;
        (shared.times == 1).then_some(StateIndex(shared.latest[0]))
    }

    /// The destination of every action of a state, for a plan: known, predicted, or drawn at random
    /// from the earlier destinations of the action where no prediction is trusted.
    ///
    /// A single draw may be wrong. Together they say how often each state is entered, which is what
    /// a plan has to balance. Adds the confidence of each prediction to `confidence`.
    pub fn targets(&self, graph: &Graph, state: StateIndex, confidence: &mut f64) -> Vec<u32> {
        let agreeing = self.agreeing_states(graph, state, None);
        let mut guess = |index: u32| {
            let slot = Slot { state, index };
            let action = graph.action_of(slot);
            let prediction = self.best(action, self.apply_rules(graph, slot, &agreeing));
            *confidence += prediction.map_or(0.0, |prediction| prediction.confidence);
            if let Some(trusted) = prediction.filter(|prediction| prediction.confidence >= TRUSTED)
            {
                return trusted.state.0;
            }
            let before = &self.histories[action.at()].destinations;
            if before.is_empty() {
                return prediction.map_or(UNEXPLORED, |prediction| prediction.state.0);
            }
            before[Chance::new(&[self.seed, u64::from(state.0), u64::from(index)])
                .below(before.len())]
            .0
        };
        (0..)
            .zip(graph.targets(state.at()))
            .map(|(index, &target)| if target == UNEXPLORED { guess(index) } else { target })
            .collect()
    }

    /// The free candidate of a state whose action was executed least often. An action that nearly
    /// every state offers mostly leads far away, so it comes last.
    pub fn rarest(&self, graph: &Graph, state: StateIndex) -> Option<Slot> {
        let executed = |&slot: &Slot| self.histories[graph.action_of(slot).at()].destinations.len();
        graph.slots(state).filter(|&slot| graph.is_free(slot)).min_by_key(executed)
    }

    fn best(
        &self,
        action: ActionIndex,
        predictions: [Option<StateIndex>; RULES],
    ) -> Option<Prediction> {
        let score = &self.scores[action.at()];
        let mut best: Option<Prediction> = None;
        for (rule, prediction) in predictions.into_iter().enumerate() {
            let Some(state) = prediction else { continue };
            let shared = (f64::from(self.overall.hits[rule]) + 0.5)
                / (f64::from(self.overall.trials[rule]) + 1.0);
            let confidence = (f64::from(score.hits[rule]) + SHARED_WEIGHT * shared)
                / (f64::from(score.trials[rule]) + SHARED_WEIGHT);
            if best.is_none_or(|other| confidence > other.confidence) {
                best = Some(Prediction { state, confidence });
            }
        }
        best
    }

    fn apply_rules(
        &self,
        graph: &Graph,
        slot: Slot,
        agreeing: &[u32],
    ) -> [Option<StateIndex>; RULES] {
        let action = graph.action_of(slot);
        [
            Self::predict_as_in(graph, agreeing, slot),
            self.predict_as_in_ancestor(graph, slot.state, action),
            self.histories[action.at()].most_common.map(|(state, _)| state),
            self.predict_commuting(graph, slot.state, action),
            self.predict_return(slot.state),
            Some(slot.state),
        ]
    }

    /// The states that agree with this one: the same action leads to the same state from both.
    ///
    /// Takes the transitions that the fewest states share, because they say most. The slot
    /// `predicted` does not count, although the graph may have recorded it already.
    fn agreeing_states(
        &self,
        graph: &Graph,
        state: StateIndex,
        predicted: Option<Slot>,
    ) -> Vec<u32> {
        let known = (0..).zip(graph.actions(state)).zip(graph.targets(state.at()));
        let known = known.filter(|&((_, _), &to)| to != UNEXPLORED && to != state.0);
        let known = known.filter(|&((index, _), _)| Some(Slot { state, index }) != predicted);
        let telling = known
            .filter(|&((_, action), _)| self.histories[action.at()].has_several_destinations());
        let shared = telling.take(WITNESSES).filter_map(|((_, action), &to)| {
            let shared = self.histories[action.at()].by_destination.get(&StateIndex(to))?;
            (shared.times > 1).then_some(shared)
        });
        let mut shared: Vec<&SharedDestination> = shared.collect();
        shared.sort_by_key(|shared| shared.times);
        let others = shared.iter().take(2).flat_map(|shared| shared.latest);
        others.filter(|&other| other != UNEXPLORED && other != state.0).collect()
    }

    /// Predicts what the action did in one of these states.
    fn predict_as_in(graph: &Graph, states: &[u32], slot: Slot) -> Option<StateIndex> {
        let action = graph.action_of(slot);
        states.iter().find_map(|&state| graph.target(graph.slot_of(StateIndex(state), action)?))
    }

    /// Predicts what the action did in the nearest ancestor that executed it.
    fn predict_as_in_ancestor(
        &self,
        graph: &Graph,
        state: StateIndex,
        action: ActionIndex,
    ) -> Option<StateIndex> {
        let mut state = state;
        for _ in 0..ANCESTORS {
            state = self.found_by[state.at()]?.state;
            if let Some(target) = graph.slot_of(state, action).and_then(|slot| graph.target(slot)) {
                return Some(target);
            }
        }
        None
    }

    /// Predicts that this action and the one that led here commute: both orders of execution lead
    /// from the parent to the same state.
    fn predict_commuting(
        &self,
        graph: &Graph,
        state: StateIndex,
        action: ActionIndex,
    ) -> Option<StateIndex> {
        let by = self.found_by[state.at()]?;
        let sideways =
            graph.target(graph.slot_of(by.state, action)?).filter(|&sideways| sideways != state)?;
        graph.target(graph.slot_of(sideways, graph.action_of(by))?)
    }

    /// Predicts that the action leads back to the parent.
    fn predict_return(&self, state: StateIndex) -> Option<StateIndex> {
        self.found_by[state.at()].map(|by| by.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ActionSignature, StateKey};

    /// A graph in which every state offers the same actions, and its forecast.
    struct Scenario {
        graph: Graph,
        forecast: Forecast,
    }

    impl Scenario {
        fn new(actions: u64) -> Self {
            let mut scenario = Self { graph: Graph::new(0), forecast: Forecast::new(0) };
            scenario.find(actions, None);
            scenario
        }

        fn find(&mut self, actions: u64, by: Option<Slot>) -> StateIndex {
            let key = StateKey(self.graph.states() as u128);
            let signatures: Vec<_> = (0..actions).map(ActionSignature).collect();
            let state = self.graph.add_state(key, &signatures);
            self.forecast.on_discovered(&self.graph, by);
            state
        }

        fn slot(&self, state: u32, action: u64) -> Slot {
            let state = StateIndex(state);
            let offered = self.graph.actions(state).iter();
            let index =
                offered.map(|&action| self.graph.signature(action)).position(|it| it.0 == action);
            Slot { state, index: index.expect("every state offers it") as u32 }
        }

        /// Executes an action that leads to a state. The next unused number is a new state.
        fn execute(&mut self, from: u32, action: u64, to: u32) {
            let slot = self.slot(from, action);
            let new = to as usize == self.graph.states();
            if new {
                let actions = self.graph.actions(slot.state).len() as u64;
                self.find(actions, Some(slot));
            }
            self.graph.record(slot, StateIndex(to));
            self.forecast.on_executed(&self.graph, slot, StateIndex(to), new);
        }

        fn predicted(&self, from: u32, action: u64) -> u32 {
            let slot = self.slot(from, action);
            self.forecast
                .predict(&self.graph, slot)
                .expect("the last rule always predicts something")
                .state
                .0
        }
    }

    #[test]
    fn a_menu_item_is_predicted_to_lead_to_its_usual_destination() {
        let mut scenario = Scenario::new(3);
        scenario.execute(0, 0, 1);
        scenario.execute(1, 1, 2);
        scenario.execute(2, 0, 1);
        scenario.execute(1, 0, 1);
        scenario.execute(1, 2, 3);
        assert_eq!(scenario.predicted(3, 0), 1);
    }

    #[test]
    fn states_that_agree_on_one_action_are_predicted_to_agree_on_others() {
        // Two modes of a page: action 0 leads to the start of the mode (1 or 4), action 1 to its
        // end.
        let mut scenario = Scenario::new(8);
        scenario.execute(0, 2, 1);
        scenario.execute(1, 3, 2);
        scenario.execute(2, 4, 3);
        scenario.execute(3, 5, 4);
        scenario.execute(4, 6, 5);
        scenario.execute(5, 7, 6);
        for (state, start, end) in [(2, 1, 3), (5, 4, 6)] {
            scenario.execute(state, 0, start);
            scenario.execute(state, 1, end);
        }
        scenario.execute(3, 0, 1);
        scenario.execute(6, 0, 4);
        assert_eq!([scenario.predicted(3, 1), scenario.predicted(6, 1)], [3, 6]);
    }

    #[test]
    fn an_action_that_led_back_is_predicted_to_lead_back() {
        let mut scenario = Scenario::new(4);
        scenario.execute(0, 0, 1);
        scenario.execute(1, 1, 2);
        scenario.execute(2, 2, 3);
        scenario.execute(1, 3, 0);
        scenario.execute(2, 3, 1);
        assert_eq!(scenario.predicted(3, 3), 2);
    }

    #[test]
    fn independent_actions_are_predicted_to_commute() {
        // Two switches, both off in state 0. The actions 0 and 1 turn one of them on.
        let mut scenario = Scenario::new(4);
        for first in [0, 4, 8] {
            scenario.execute(first, 0, first + 1);
            scenario.execute(first, 1, first + 2);
            scenario.execute(first + 1, 1, first + 3);
            if first < 8 {
                scenario.execute(first + 2, 0, first + 3);
                scenario.execute(first + 3, 2, first + 4);
            }
        }
        assert_eq!(scenario.predicted(10, 0), 11);
    }

    #[test]
    fn a_forecast_is_useless_where_destinations_are_random() {
        let mut scenario = Scenario::new(40);
        (1..40).for_each(|state| scenario.execute(state - 1, 0, state));
        let mut chance = Chance::new(&[1]);
        for state in 0..40 {
            (1..15).for_each(|action| scenario.execute(state, action, chance.below(40) as u32));
        }
        assert!(!scenario.forecast.is_useful());
    }
}
