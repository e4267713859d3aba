//! Where a candidate will lead: several simple rules, each a small metamodel of its own, and a score
//! for each of them, kept per action and over all. The rule with the best score for the action speaks.

use std::collections::BTreeMap;

use crate::chance::Chance;
use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::{ActionIndex, StateIndex};

/// The rules, in the order in which they are asked.
const RULES: usize = 6;
/// The first of them go by what the action did in other states.
const BY_OTHER_STATES: usize = 3;
/// How many executions the score over all actions counts for in the score of one action.
const SHARED_WEIGHT: f64 = 6.0;
/// How far up the states by which a state was found the rules look.
const ANCESTORS: usize = 4;
/// How many of a state's transitions are looked at for one that few other states share.
const WITNESSES: usize = 12;
/// How many of the states that share a transition are remembered: the latest ones.
const SHARING: usize = 6;
/// Below this accuracy nothing repeats itself in an application, and no record of an action says
/// anything about it elsewhere.
const LEAST_ACCURACY: f64 = 0.1;
/// How much of the accuracy stays with each execution.
const FADE: f64 = 0.99;
/// A prediction below this is not trusted to tell where a candidate leads.
const TRUSTED: f64 = 0.5;

#[derive(Clone, Copy, Default)]
struct Score {
    trials: [u32; RULES],
    hits: [u32; RULES],
}

impl Score {
    /// Where the rules that go by what the action did elsewhere all say the same, nothing is learned of
    /// which of them to believe where they do not.
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
    /// Where it led, in the order of execution.
    destinations: Vec<StateIndex>,
    /// By destination, how often it led there and from which states lately.
    by_destination: BTreeMap<StateIndex, SharedDestination>,
    /// Where it led most often.
    most_common: Option<(StateIndex, u32)>,
}

#[derive(Clone, Copy)]
struct SharedDestination {
    times: u32,
    latest: [u32; SHARING],
}

impl History {
    fn add(&mut self, source: StateIndex, destination: StateIndex) {
        self.destinations.push(destination);
        let unused = SharedDestination { times: 0, latest: [UNEXPLORED; SHARING] };
        let sharing = self.by_destination.entry(destination).or_insert(unused);
        sharing.latest[sharing.times as usize % SHARING] = source.0;
        sharing.times += 1;
        if self.most_common.is_none_or(|(_, times)| sharing.times >= times) {
            self.most_common = Some((destination, sharing.times));
        }
    }

    /// Whether it matters where the action is executed.
    fn has_several_destinations(&self) -> bool {
        self.by_destination.len() > 1
    }
}

/// What the rules have learned.
#[derive(Clone)]
pub struct Forecast {
    seed: u64,
    /// The transition by which each state was found.
    found_by: Vec<Option<Slot>>,
    histories: Vec<History>,
    scores: Vec<Score>,
    overall: Score,
    /// How often the best rule was right lately, where the destination was a known state.
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
    /// With no states yet.
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

    /// Whether anything at all repeats itself in this application.
    pub fn is_useful(&self) -> bool {
        self.accuracy > LEAST_ACCURACY
    }

    /// A state was seen for the first time.
    pub fn on_discovered(&mut self, graph: &Graph, by: Option<Slot>) {
        self.found_by.push(by);
        self.histories.resize_with(graph.actions_seen(), History::default);
        self.scores.resize(graph.actions_seen(), Score::default());
    }

    /// A candidate was executed.
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

    /// Where a candidate will probably lead.
    pub fn predict(&self, graph: &Graph, slot: Slot) -> Option<Prediction> {
        let predictions =
            self.apply_rules(graph, slot, &self.agreeing_states(graph, slot.state, None));
        self.best(graph.action_of(slot), predictions)
    }

    /// Whether an action was executed anywhere.
    pub fn was_executed(&self, action: ActionIndex) -> bool {
        !self.histories[action.at()].destinations.is_empty()
    }

    /// The one state from which an action led to another, if there is just one.
    pub fn only_source(&self, action: ActionIndex, destination: StateIndex) -> Option<StateIndex> {
        let sharing = self.histories[action.at()].by_destination.get(&destination)?;
        (sharing.times == 1).then_some(StateIndex(sharing.latest[0]))
    }

    /// Where every action of a state leads, in a plan: as known, as predicted or, where no prediction is
    /// to be trusted, to one of the states that the action led to before, drawn by how often. Single
    /// draws are wrong, but together they say how often each state will be entered, which is what a
    /// plan has to balance. Adds up how confident the predictions are.
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

    /// The candidate of a state whose action was executed least often so far. What can be done nearly
    /// everywhere mostly leads far away; it is left for when nothing else is to be done here.
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

    /// States that agree with this one: the same action leads to the same state from both. Of the
    /// transitions that say so, those are taken that the fewest states share: they say most. The one
    /// that is to be predicted must not be among them, though it is recorded already.
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
        let sharing = telling.take(WITNESSES).filter_map(|((_, action), &to)| {
            let sharing = self.histories[action.at()].by_destination.get(&StateIndex(to))?;
            (sharing.times > 1).then_some(sharing)
        });
        let mut sharing: Vec<&SharedDestination> = sharing.collect();
        sharing.sort_by_key(|sharing| sharing.times);
        let others = sharing.iter().take(2).flat_map(|sharing| sharing.latest);
        others.filter(|&other| other != UNEXPLORED && other != state.0).collect()
    }

    /// What the action did in one of these states.
    fn predict_as_in(graph: &Graph, states: &[u32], slot: Slot) -> Option<StateIndex> {
        let action = graph.action_of(slot);
        states.iter().find_map(|&state| graph.target(graph.slot_of(StateIndex(state), action)?))
    }

    /// What the action did in the state from which this one was found, or in one further back.
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

    /// The two actions may be independent: executed before the one that led here, this action led to
    /// a state from which that other action leads on to where this one leads now.
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

    /// The action may lead back to the state from which this one was found.
    fn predict_return(&self, state: StateIndex) -> Option<StateIndex> {
        self.found_by[state.at()].map(|by| by.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ActionSignature, StateKey};

    /// A graph in which every state offers the same actions, and a forecast that heard of all of it.
    struct Scenario {
        graph: Graph,
        forecast: Forecast,
    }

    impl Scenario {
        fn new(actions: u64) -> Self {
            let mut heard = Self { graph: Graph::new(0), forecast: Forecast::new(0) };
            heard.find(actions, None);
            heard
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

        /// Executes an action that leads to a state, which is found if it is the next one.
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
                .expect("some rule always says something")
                .state
                .0
        }
    }

    #[test]
    fn a_menu_item_is_expected_to_lead_where_it_always_led() {
        let mut heard = Scenario::new(3);
        heard.execute(0, 0, 1);
        heard.execute(1, 1, 2);
        heard.execute(2, 0, 1);
        heard.execute(1, 0, 1);
        heard.execute(1, 2, 3);
        assert_eq!(heard.predicted(3, 0), 1);
    }

    #[test]
    fn states_that_agree_on_a_telling_action_are_expected_to_agree_on_others() {
        // Two modes of a page: action 0 leads to the start of the mode (1 or 4), action 1 to its end.
        let mut heard = Scenario::new(8);
        heard.execute(0, 2, 1);
        heard.execute(1, 3, 2);
        heard.execute(2, 4, 3);
        heard.execute(3, 5, 4);
        heard.execute(4, 6, 5);
        heard.execute(5, 7, 6);
        for (state, start, end) in [(2, 1, 3), (5, 4, 6)] {
            heard.execute(state, 0, start);
            heard.execute(state, 1, end);
        }
        heard.execute(3, 0, 1);
        heard.execute(6, 0, 4);
        assert_eq!([heard.predicted(3, 1), heard.predicted(6, 1)], [3, 6]);
    }

    #[test]
    fn an_action_that_goes_back_is_expected_to_go_back() {
        let mut heard = Scenario::new(4);
        heard.execute(0, 0, 1);
        heard.execute(1, 1, 2);
        heard.execute(2, 2, 3);
        heard.execute(1, 3, 0);
        heard.execute(2, 3, 1);
        assert_eq!(heard.predicted(3, 3), 2);
    }

    #[test]
    fn independent_actions_are_expected_to_commute() {
        // Two switches: 0 is off and off, and each of the actions 0 and 1 turns one of them on.
        let mut heard = Scenario::new(4);
        for first in [0, 4, 8] {
            heard.execute(first, 0, first + 1);
            heard.execute(first, 1, first + 2);
            heard.execute(first + 1, 1, first + 3);
            if first < 8 {
                heard.execute(first + 2, 0, first + 3);
                heard.execute(first + 3, 2, first + 4);
            }
        }
        assert_eq!(heard.predicted(10, 0), 11);
    }

    #[test]
    fn where_nothing_repeats_itself_no_forecast_is_any_use() {
        let mut heard = Scenario::new(40);
        (1..40).for_each(|state| heard.execute(state - 1, 0, state));
        let mut chance = Chance::new(&[1]);
        for state in 0..40 {
            (1..15).for_each(|action| heard.execute(state, action, chance.below(40) as u32));
        }
        assert!(!heard.forecast.is_useful());
    }
}
