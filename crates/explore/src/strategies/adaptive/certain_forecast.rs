//! Predicts where a candidate leads only if that is almost certain. The controller may then plan
//! the crawler's next job in advance. Adds two rules to those of `forecast`: they predict seldom,
//! and are seldom wrong.

use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::strategies::adaptive::forecast::Forecast;

/// The least accuracy of a rule that counts as certain. A guess: a wrong prediction claims the next
/// candidate in vain for a moment.
const CERTAIN: f64 = 0.7;
/// The number of transitions of a state that are searched for a square.
const SIDES: usize = 16;
const RULES: usize = 2;

/// The rules that predict only what is almost certain, with their scores.
#[derive(Clone, Default)]
pub struct CertainForecast {
    trials: [u32; RULES],
    hits: [u32; RULES],
}

impl CertainForecast {
    /// Notes that a candidate was executed. Call it before [`Forecast::on_executed`].
    pub fn on_executed(
        &mut self,
        graph: &Graph,
        forecast: &Forecast,
        slot: Slot,
        destination: StateIndex,
    ) {
        for (rule, predicted) in Self::apply_rules(graph, forecast, slot).into_iter().enumerate() {
            self.trials[rule] += u32::from(predicted.is_some());
            self.hits[rule] += u32::from(predicted == Some(destination));
        }
    }

    /// Predicts where a candidate leads. An action that was never executed is never predicted.
    pub fn predict(&self, graph: &Graph, forecast: &Forecast, slot: Slot) -> Option<StateIndex> {
        if !forecast.was_executed(graph.action_of(slot)) {
            return None;
        }
        let certain = |rule: usize| {
            (f64::from(self.hits[rule]) + 0.5) / (f64::from(self.trials[rule]) + 1.0) >= CERTAIN
        };
        let predicted = Self::apply_rules(graph, forecast, slot).into_iter().enumerate();
        let predicted =
            predicted.filter_map(|(rule, predicted)| predicted.filter(|_| certain(rule))).next();
        predicted.or_else(|| {
            let prediction = forecast.predict(graph, slot)?;
            Some(prediction.state).filter(|_| prediction.confidence >= CERTAIN)
        })
    }

    fn apply_rules(graph: &Graph, forecast: &Forecast, slot: Slot) -> [Option<StateIndex>; RULES] {
        [Self::predict_toggle(graph, forecast, slot), Self::predict_square(graph, slot)]
    }

    /// Predicts a toggle: an action that led here from exactly one state leads back there.
    fn predict_toggle(graph: &Graph, forecast: &Forecast, slot: Slot) -> Option<StateIndex> {
        forecast
            .only_source(graph.action_of(slot), slot.state)
            .filter(|&source| source != slot.state)
    }

    /// Predicts the fourth side of a square of two independent toggles: take another action, then
    /// this one, then the other one again, if all three transitions are known.
    fn predict_square(graph: &Graph, slot: Slot) -> Option<StateIndex> {
        let action = graph.action_of(slot);
        let sides = graph.actions(slot.state).iter().zip(graph.targets(slot.state.at()));
        let sides = sides
            .filter(|&(&other, &to)| other != action && to != UNEXPLORED && to != slot.state.0);
        let leads = |from: StateIndex, action| graph.target(graph.slot_of(from, action)?);
        sides.take(SIDES).find_map(|(&other, &to)| {
            let across = leads(StateIndex(to), action).filter(|across| across.0 != to)?;
            leads(across, other).filter(|end| *end != across)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ActionSignature, StateKey};

    /// Executes every action of every state in turn. Returns the numbers of right and wrong
    /// predictions.
    fn replay(states: u32, actions: u32, leads: impl Fn(u32, u32) -> u32) -> (u32, u32) {
        let (mut graph, mut forecast, mut certain) =
            (Graph::new(0), Forecast::new(0), CertainForecast::default());
        let signatures: Vec<_> =
            (0..actions).map(|action| ActionSignature(action.into())).collect();
        for state in 0..states {
            graph.add_state(StateKey(state.into()), &signatures);
            forecast.on_discovered(&graph, None);
        }
        let (mut right, mut wrong) = (0, 0);
        for state in (0..states).map(StateIndex) {
            for slot in graph.slots(state).collect::<Vec<_>>() {
                let action = graph.signature(graph.action_of(slot)).0 as u32;
                let destination = StateIndex(leads(state.0, action));
                match certain.predict(&graph, &forecast, slot) {
                    Some(predicted) if predicted == destination => right += 1,
                    Some(_) => wrong += 1,
                    None => {}
                }
                graph.record(slot, destination);
                certain.on_executed(&graph, &forecast, slot, destination);
                forecast.on_executed(&graph, slot, destination, false);
            }
        }
        (right, wrong)
    }

    #[test]
    fn a_toggle_is_predicted_once_it_was_executed_from_the_other_side() {
        let (right, wrong) = replay(256, 8, |state, switch| state ^ 1 << switch);
        // One half of the 2,048 transitions leads back along the other half.
        assert!(right > 1_000 && wrong < 10, "{right} right, {wrong} wrong");
    }

    #[test]
    fn actions_that_never_lead_back_are_soon_not_predicted() {
        let (right, wrong) = replay(200, 4, |state, action| (state * 7 + action * 13 + 1) % 200);
        assert!(wrong <= 20 && right <= 20, "{right} right, {wrong} wrong");
    }
}
