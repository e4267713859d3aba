//! A graph and a strategy together: records what a crawl finds and hands out jobs. This is the
//! whole interface that a driver needs, real or simulated.

use crate::contexts::{ContextKey, Contexts};
use crate::graph::{Edges, Graph, Slot, UNEXPLORED};
use crate::id::{ActionSignature, StateIndex, StateKey};
use crate::job::PlannedJob;
use crate::parts::StateParts;
use crate::strategy::{INITIAL, NamedStrategy, RESET_COSTS, Strategy, StrategySettings};

/// One exploration in progress. It keeps graph and strategy in step.
#[derive(Clone)]
pub struct Explorer {
    graph: Graph,
    strategy: Box<dyn Strategy>,
    /// Which actions are alike, if alike ones are to wait.
    contexts: Option<Contexts>,
}

/// The state that an action led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing {
    /// The state.
    pub state: StateIndex,
    /// Whether the state is new to the graph.
    pub new: bool,
}

impl Explorer {
    /// Begins with the initial state: its key and its actions.
    pub fn new(
        named: &NamedStrategy,
        settings: StrategySettings,
        key: StateKey,
        actions: &[ActionSignature],
    ) -> Self {
        let mut graph = Graph::new(settings.seed);
        let mut strategy = (named.make)(settings);
        let initial = graph.add_state(key, actions);
        assert_eq!(initial, INITIAL);
        strategy.on_discovered(&graph, initial, None);
        Self { graph, strategy, contexts: None }
    }

    /// Lets actions wait from now on whose context was executed elsewhere. Call it before the first
    /// state is described.
    pub fn defer_alike(&mut self, seed: u64) {
        self.contexts = Some(Contexts::new(seed));
    }

    /// Which actions are alike, if alike ones are to wait.
    pub fn contexts(&self) -> Option<&Contexts> {
        self.contexts.as_ref()
    }

    /// Adds the parts of a state.
    pub fn describe(&mut self, state: StateIndex, parts: StateParts) {
        let Some(contexts) = &mut self.contexts else { return };
        let changed = contexts.describe(&self.graph, state, parts);
        self.update_deferred(&changed);
    }

    /// Frees a sample of the candidates that wait, to check whether they are alike. Says whether
    /// there is one.
    pub fn check_alike(&mut self) -> bool {
        let Some(contexts) = &mut self.contexts else { return false };
        let changed = contexts.choose_samples(&self.graph);
        let any = !changed.is_empty();
        self.update_deferred(&changed);
        any
    }

    /// Frees all candidates that wait.
    pub fn free_alike(&mut self) {
        let Some(contexts) = &mut self.contexts else { return };
        let changed = contexts.end();
        self.update_deferred(&changed);
    }

    /// Defers the candidates of these contexts, or frees them.
    fn update_deferred(&mut self, changed: &[ContextKey]) {
        let Some(contexts) = &mut self.contexts else { return };
        for (slot, waits) in changed.iter().flat_map(|context| contexts.take_news(context)) {
            if waits == self.graph.deferred().contains(&slot) {
                continue;
            }
            if waits {
                self.graph.defer(slot);
                self.strategy.on_claimed(&self.graph, slot);
            } else {
                self.graph.undefer(slot);
                if self.graph.is_free(slot) {
                    self.strategy.on_released(&self.graph, slot);
                }
            }
        }
    }

    fn on_claim_changed(&mut self, slot: Slot) {
        let Some(contexts) = &mut self.contexts else { return };
        let changed = contexts.on_claim_changed(&self.graph, slot);
        self.update_deferred(changed.as_slice());
    }

    fn on_settled(&mut self, slot: Slot) {
        let Some(contexts) = &mut self.contexts else { return };
        let changed = contexts.on_settled(&self.graph, slot);
        self.update_deferred(&changed);
    }

    /// The graph so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Chooses the next job of a crawler that stands in `at`, and claims its candidate until the
    /// candidate is recorded, closed or released.
    ///
    /// Returns `None` if no free candidate can be reached, neither from `at` nor after a reset.
    /// Jobs that other crawlers still execute may change that.
    pub fn next(&mut self, at: StateIndex) -> Option<PlannedJob> {
        let job = self.choose(at);
        match &job {
            Some(job) => self.claim(job.candidate),
            None => assert!(
                self.graph.free() == 0 || !self.reaches_free_candidate(at),
                "the strategy chose nothing although {} candidates are free",
                self.graph.free()
            ),
        }
        job
    }

    /// Chooses the next job of a crawler that stands in `at`, without a claim.
    pub fn choose(&mut self, at: StateIndex) -> Option<PlannedJob> {
        self.strategy.choose(&self.graph, at)
    }

    /// Predicts where a candidate leads, if the strategy is almost certain.
    pub fn predict(&self, slot: Slot) -> Option<StateIndex> {
        self.strategy.predict(&self.graph, slot)
    }

    /// Whether a walk from a state, or after a reset, leads to a free candidate.
    fn reaches_free_candidate(&self, at: StateIndex) -> bool {
        let mut seen = vec![false; self.graph.states()];
        let mut waiting = vec![at.0, INITIAL.0];
        waiting.extend(self.graph.entries().iter().map(|entry| entry.state.0));
        while let Some(state) = waiting.pop() {
            if std::mem::replace(&mut seen[state as usize], true) {
                continue;
            }
            if self.graph.unexplored_in(StateIndex(state)) > 0 {
                return true;
            }
            waiting
                .extend(self.graph.targets(state as usize).iter().filter(|&&to| to != UNEXPLORED));
        }
        false
    }

    /// Claims a free candidate that the driver chose by itself.
    pub fn claim(&mut self, slot: Slot) {
        self.graph.claim(slot);
        self.strategy.on_claimed(&self.graph, slot);
        self.on_claim_changed(slot);
    }

    /// Releases a claimed candidate that was not executed.
    pub fn release(&mut self, slot: Slot) {
        self.graph.release(slot);
        if self.graph.is_free(slot) {
            self.strategy.on_released(&self.graph, slot);
        }
        self.on_claim_changed(slot);
    }

    /// Records the state that a candidate led to. `actions` is called only if that state is new.
    pub fn record(
        &mut self,
        slot: Slot,
        key: StateKey,
        actions: impl FnOnce() -> Vec<ActionSignature>,
    ) -> Landing {
        let known = self.graph.find(key);
        let state = known.unwrap_or_else(|| {
            let state = self.graph.add_state(key, &actions());
            self.strategy.on_discovered(&self.graph, state, Some(slot));
            state
        });
        self.record_transition(slot, state, known.is_none());
        Landing { state, new: known.is_none() }
    }

    /// Records that a candidate led to a known state. The caller says whether the execution
    /// discovered it: in a ring, the state may arrive before the transition that found it.
    pub fn record_known(&mut self, slot: Slot, key: StateKey, new: bool) {
        let state = self.graph.find(key).expect("the destination is known");
        self.record_transition(slot, state, new);
    }

    fn record_transition(&mut self, slot: Slot, state: StateIndex, new: bool) {
        self.graph.record(slot, state);
        self.strategy.on_executed(&self.graph, slot, state, new);
        self.on_settled(slot);
    }

    /// Gives up a candidate, claimed or not.
    pub fn close(&mut self, slot: Slot) {
        self.graph.close(slot);
        self.strategy.on_closed(&self.graph, slot);
        self.on_settled(slot);
    }

    /// Adds a state that no candidate led to. Possibly no known walk leads there.
    pub fn add_state(&mut self, key: StateKey, actions: &[ActionSignature]) -> Landing {
        if let Some(state) = self.graph.find(key) {
            return Landing { state, new: false };
        }
        let state = self.graph.add_state(key, actions);
        self.strategy.on_discovered(&self.graph, state, None);
        Landing { state, new: true }
    }

    /// Adds an action to a known state, as a candidate.
    pub fn extend(&mut self, state: StateIndex, action: ActionSignature) -> Slot {
        let slot = self.graph.extend(state, action);
        self.strategy.on_extended(&self.graph, slot);
        slot
    }

    /// Adds an action to a known state, as a transition that another controller executed.
    pub fn extend_executed(
        &mut self,
        state: StateIndex,
        action: ActionSignature,
        key: StateKey,
        new: bool,
    ) {
        let destination = self.graph.find(key).expect("the destination is known");
        let slot = self.graph.extend(state, action);
        self.graph.record(slot, destination);
        self.strategy.on_extended(&self.graph, slot);
        self.strategy.on_executed(&self.graph, slot, destination, new);
    }

    /// Holds or frees a state. The candidates of a held state are not handed out.
    pub fn hold(&mut self, state: StateIndex, held: bool) {
        let before = self.free_slots(state);
        self.graph.hold(state, held);
        let after = self.free_slots(state);
        if after.is_empty() {
            before.into_iter().for_each(|slot| self.strategy.on_claimed(&self.graph, slot));
        } else if before.is_empty() {
            after.into_iter().for_each(|slot| self.strategy.on_released(&self.graph, slot));
        }
    }

    fn free_slots(&self, state: StateIndex) -> Vec<Slot> {
        self.graph.slots(state).filter(|&slot| self.graph.is_free(slot)).collect()
    }

    /// Sets the cost of a reset, in actions, after a new measurement.
    pub fn set_reset_cost(&mut self, cost: f64) {
        if let Some(cost) = valid_cost(cost) {
            self.strategy.set_reset_cost(cost);
        }
    }

    /// Notes that a load of its own address leads to a state, and the cost of that load in actions.
    pub fn add_entry(&mut self, state: StateIndex, cost: f64) {
        if let Some(cost) = valid_cost(cost) {
            self.graph.set_entry(state, cost);
        }
    }

    /// Notes that a load of its own address does not lead to a state any more.
    pub fn remove_entry(&mut self, state: StateIndex) {
        self.graph.remove_entry(state);
    }
}

fn valid_cost(cost: f64) -> Option<f64> {
    (!cost.is_nan()).then(|| cost.clamp(*RESET_COSTS.start(), *RESET_COSTS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::strategies;

    const STATES: usize = 12;
    const ACTIONS: u64 = 5;

    /// Explores an application at random places of which states gain candidates. Returns how many
    /// candidates there were, and how many were executed.
    fn explored(named: &NamedStrategy, seed: u64) -> (usize, usize) {
        let mut chance = Chance::new(&[seed]);
        let offered: Vec<ActionSignature> = (0..ACTIONS).map(ActionSignature).collect();
        let settings = StrategySettings { reset_cost: 2.0, seed };
        let mut explorer = Explorer::new(named, settings, StateKey(0), &offered);
        let mut at = INITIAL;
        let mut gained = 0;
        while let Some(job) = explorer.next(at) {
            let to = StateKey(chance.below(STATES) as u128);
            at = explorer.record(job.candidate, to, || offered.clone()).state;
            if chance.below(4) == 0 && gained < 40 {
                // Some actions are known elsewhere, and some are new.
                let action = ActionSignature(ACTIONS + chance.below(20) as u64);
                let state = StateIndex(chance.below(explorer.graph().states()) as u32);
                let known = explorer.graph().action_named(action);
                if known.is_none_or(|known| explorer.graph().slot_of(state, known).is_none()) {
                    explorer.extend(state, action);
                    gained += 1;
                }
            }
        }
        let graph = explorer.graph();
        (graph.states() * ACTIONS as usize + gained, graph.transitions())
    }

    #[test]
    fn every_strategy_executes_what_known_states_gain() {
        for named in strategies::ALL {
            for seed in 0..60 {
                let (all, executed) = explored(named, seed);
                assert_eq!(executed, all, "{} with seed {seed}", named.name);
            }
        }
    }
}
