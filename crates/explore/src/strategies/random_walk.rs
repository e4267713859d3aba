//! A random walk: any action of the present state, explored or not.

use crate::chance::Chance;
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategies::greedy::Nearest;
use crate::strategy::{INITIAL, NamedStrategy, Strategy, StrategySettings};

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "random-walk",
    summary: "take any action of the present state at random: a baseline",
    help: "Takes a random action of the state in which the crawler stands, whether it was executed before \
           or not, and goes on from its destination. A baseline: it learns nothing, so a strategy should \
           do better. It resets where a state has no action. After 100 executed actions in a row it \
           goes to the nearest candidate, so that every crawl ends. It looks ahead on the graph: what \
           would come before a reset is not executed and costs nothing.",
    make: |settings| Box::new(RandomWalk::new(settings)),
};

/// The executed actions in a row after which the walk goes to the nearest candidate. With 1,000 the
/// complete crawl of bebop-like:large takes 347 million actions.
const LONGEST_WALK: usize = 100;

#[derive(Clone)]
struct RandomWalk {
    chance: Chance,
    nearest: Nearest,
}

impl RandomWalk {
    fn new(settings: StrategySettings) -> Self {
        Self { chance: Chance::new(&[settings.seed, 0x3A1C]), nearest: Nearest::new(settings) }
    }

    /// Draws one of the actions that a crawler may execute in a state: a free candidate or a
    /// transition. Nothing is known of an action that was given up.
    fn draw(&mut self, graph: &Graph, state: StateIndex) -> Option<Slot> {
        let usable = |&slot: &Slot| match graph.target(slot) {
            Some(_) => !graph.closed().contains(&slot),
            None => graph.is_free(slot),
        };
        let count = graph.slots(state).filter(usable).count();
        let drawn = (count > 0).then(|| self.chance.below(count))?;
        graph.slots(state).filter(usable).nth(drawn)
    }

    /// The state that the next reset leads to: each one that a load leads to is equally likely.
    fn draw_reset(&mut self, graph: &Graph) -> StateIndex {
        match self.chance.below(1 + graph.entries().len()) {
            0 => INITIAL,
            entry => graph.entries()[entry - 1].state,
        }
    }
}

impl Strategy for RandomWalk {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        self.nearest.on_discovered(graph, state, by);
    }

    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_extended(graph, slot);
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        self.nearest.on_executed(graph, slot, destination, new);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        if graph.free() == 0 {
            return None;
        }
        let (mut reset, mut walk, mut state) = (false, Vec::new(), at);
        for _ in 0..LONGEST_WALK {
            let Some(slot) = self.draw(graph, state) else {
                (reset, state) = (true, self.draw_reset(graph));
                walk.clear();
                continue;
            };
            let Some(target) = graph.target(slot) else {
                return Some(PlannedJob { reset, walk, candidate: slot });
            };
            walk.push(slot);
            state = target;
        }
        // From `at` more may be in reach than from the end of the walk.
        let Some(rest) = self.nearest.choose(graph, state) else {
            return self.nearest.choose(graph, at);
        };
        if rest.reset {
            return Some(rest);
        }
        walk.extend(rest.walk);
        Some(PlannedJob { reset, walk, candidate: rest.candidate })
    }

    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_claimed(graph, slot);
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_released(graph, slot);
    }

    fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_closed(graph, slot);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.nearest.set_reset_cost(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::Explorer;
    use crate::id::{ActionSignature, StateKey};

    #[test]
    fn a_walk_goes_on_over_transitions_and_takes_no_action_that_was_given_up() {
        // State 0 leads to state 1, which has a transition back, an action that was given up and
        // one candidate.
        let settings = StrategySettings { reset_cost: 2.0, seed: 1 };
        let mut explorer = Explorer::new(&STRATEGY, settings, StateKey(0), &[ActionSignature(0)]);
        let forward = explorer.next(INITIAL).expect("one action is free").candidate;
        let actions = || (1..4).map(ActionSignature).collect();
        let second = explorer.record(forward, StateKey(1), actions).state;
        let slot = |action: u64, graph: &Graph| {
            let action = graph.action_named(ActionSignature(action)).expect("it is known");
            graph.slot_of(second, action).expect("the state offers it")
        };
        let [back, given_up, free] = [1, 2, 3].map(|action| slot(action, explorer.graph()));
        explorer.record(back, StateKey(0), || unreachable!("state 0 is known"));
        explorer.close(given_up);
        let mut lengths = Vec::new();
        for _ in 0..20 {
            let job = explorer.choose(INITIAL).expect("one action is free");
            assert_eq!((job.reset, job.candidate), (false, free));
            assert!(job.walk.iter().all(|slot| [forward, back].contains(slot)));
            lengths.push(job.walk.len());
        }
        assert!(lengths.contains(&1) && lengths.iter().any(|&length| length > 1), "{lengths:?}");
    }

    #[test]
    fn a_walk_without_candidates_ends_at_the_nearest_one() {
        // A crawler that stands in a trap: the only candidate is in reach after a reset alone.
        let settings = StrategySettings { reset_cost: 2.0, seed: 1 };
        let actions = [ActionSignature(0), ActionSignature(1)];
        let mut explorer = Explorer::new(&STRATEGY, settings, StateKey(0), &actions);
        let first = explorer.next(INITIAL).expect("both actions are free").candidate;
        let trap = explorer.record(first, StateKey(1), || vec![ActionSignature(2)]).state;
        let around = explorer.next(trap).expect("the trap has an action").candidate;
        explorer.record(around, StateKey(1), || unreachable!("the trap is known"));
        let job = explorer.next(trap).expect("one action is free");
        assert!(job.reset && job.walk.is_empty() && job.candidate.state == INITIAL);
        assert_eq!(explorer.next(trap), None);
    }
}
