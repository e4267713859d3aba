//! Where a candidate leads, for those who want to be as good as certain: a crawler may then be told beforehand what to do
//! there. What `forecast` foresees, and two rules that say nothing where it plans and are seldom wrong where they speak.

use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::StateIndex;
use crate::strategies::adaptive::forecast::Forecast;

/// A rule that is right less often than this is not believed. (A guess: what follows a wrong one is claimed in vain for
/// a moment.)
const CERTAIN: f64 = 0.7;
/// How many transitions of a state are looked at for a square.
const SIDES: usize = 16;
const RULES: usize = 2;

/// How often the rules were right.
#[derive(Clone, Default)]
pub struct CertainForecast {
    trials: [u32; RULES],
    hits: [u32; RULES],
}

impl CertainForecast {
    /// A candidate was executed; to be told before `forecast` is.
    pub fn on_executed(
        &mut self,
        graph: &Graph,
        forecast: &Forecast,
        slot: Slot,
        destination: StateIndex,
    ) {
        for (rule, said) in Self::apply_rules(graph, forecast, slot).into_iter().enumerate() {
            self.trials[rule] += u32::from(said.is_some());
            self.hits[rule] += u32::from(said == Some(destination));
        }
    }

    /// Where a candidate leads. An action that was never executed may do anything.
    pub fn predict(&self, graph: &Graph, forecast: &Forecast, slot: Slot) -> Option<StateIndex> {
        if !forecast.was_executed(graph.action_of(slot)) {
            return None;
        }
        let certain = |rule: usize| {
            (f64::from(self.hits[rule]) + 0.5) / (f64::from(self.trials[rule]) + 1.0) >= CERTAIN
        };
        let said = Self::apply_rules(graph, forecast, slot).into_iter().enumerate();
        let said = said.filter_map(|(rule, said)| said.filter(|_| certain(rule))).next();
        said.or_else(|| {
            let prediction = forecast.predict(graph, slot)?;
            Some(prediction.state).filter(|_| prediction.confidence >= CERTAIN)
        })
    }

    fn apply_rules(graph: &Graph, forecast: &Forecast, slot: Slot) -> [Option<StateIndex>; RULES] {
        [Self::predict_toggle(graph, forecast, slot), Self::predict_square(graph, slot)]
    }

    /// A switch: if the action led here from one state only, it leads back there.
    fn predict_toggle(graph: &Graph, forecast: &Forecast, slot: Slot) -> Option<StateIndex> {
        forecast
            .only_source(graph.action_of(slot), slot.state)
            .filter(|&source| source != slot.state)
    }

    /// Two independent parts of a page: another action leads from here to a state where it is known where this one leads,
    /// and where the other one leads from there.
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

    /// Executes every action of so many states, one after the other; how often what it leads to was foreseen, and how often
    /// wrongly.
    fn replay(states: u32, actions: u32, leads: impl Fn(u32, u32) -> u32) -> (u32, u32) {
        let (mut graph, mut forecast, mut foresight) =
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
                match foresight.predict(&graph, &forecast, slot) {
                    Some(foreseen) if foreseen == destination => right += 1,
                    Some(_) => wrong += 1,
                    None => {}
                }
                graph.record(slot, destination);
                foresight.on_executed(&graph, &forecast, slot, destination);
                forecast.on_executed(&graph, slot, destination, false);
            }
        }
        (right, wrong)
    }

    #[test]
    fn switches_are_foreseen_as_soon_as_they_were_seen_from_the_other_side() {
        let (right, wrong) = replay(256, 8, |state, switch| state ^ 1 << switch);
        // Of 2,048 transitions one half are the ways back of the other half.
        assert!(right > 1_000 && wrong < 10, "{right} right, {wrong} wrong");
    }

    #[test]
    fn what_does_not_go_back_is_not_foreseen_for_long() {
        let (right, wrong) = replay(200, 4, |state, action| (state * 7 + action * 13 + 1) % 200);
        assert!(wrong <= 20 && right <= 20, "{right} right, {wrong} wrong");
    }
}
