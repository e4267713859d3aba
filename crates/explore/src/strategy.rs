//! The interface of every exploration strategy: it is notified of what the crawl finds, and chooses
//! the next job. All strategies find the same complete model; they differ in the order.

use std::ops::RangeInclusive;

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;

/// An exploration strategy. It reads the graph and never changes it.
///
/// The crate documentation shows a complete strategy. The order of notifications is fixed: a new
/// state is discovered before the candidate that led to it counts as executed, and a candidate is
/// claimed before it is executed or released.
pub trait Strategy: Send + Sync + CloneStrategy {
    /// Notes a state that was seen for the first time, after the candidate `by` was executed.
    ///
    /// `by` is `None` for the initial state and for a state that no candidate led to. The graph
    /// records `by` only after this call.
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>);

    /// Notes that a known state offers one more candidate, which comes after its others.
    ///
    /// A strategy that does not say otherwise treats it as one that is free again.
    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        if graph.is_free(slot) {
            self.on_released(graph, slot);
        }
    }

    /// Notes that a candidate was executed. The graph has recorded its destination. `new` says
    /// whether this execution discovered the destination.
    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool);

    /// Chooses the next job of a crawler that stands in `at`.
    ///
    /// Returns `None` only if no free candidate can be reached, neither from `at` nor after a
    /// reset. Any number of crawlers ask, in any order.
    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob>;

    /// Predicts where a candidate leads, if that is almost certain.
    ///
    /// The controller may then plan the crawler's next job in advance. A wrong prediction costs
    /// time and nothing else.
    fn predict(&self, _graph: &Graph, _slot: Slot) -> Option<StateIndex> {
        None
    }

    /// Notes that a candidate is no longer free: a crawler claimed it, or its state is held.
    fn on_claimed(&mut self, _graph: &Graph, _slot: Slot) {}

    /// Notes that a claimed candidate is free again. It was not executed.
    fn on_released(&mut self, _graph: &Graph, _slot: Slot) {}

    /// Notes that a candidate was given up. The graph shows it as a transition to its own state,
    /// but the crawl learned nothing about the action.
    fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        self.on_executed(graph, slot, slot.state, false);
    }

    /// Sets the cost of a reset, in actions, after a new measurement.
    fn set_reset_cost(&mut self, _cost: f64) {}
}

/// Clones a boxed strategy. A model checker clones the whole explorer at every step.
pub trait CloneStrategy {
    /// Returns a copy of this strategy, with everything it has learned.
    fn clone_box(&self) -> Box<dyn Strategy>;
}

impl<T: Strategy + Clone + 'static> CloneStrategy for T {
    fn clone_box(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Strategy> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// The valid reset costs. Costs are counted in millionths of an action, and their sums must not
/// overflow.
pub const RESET_COSTS: RangeInclusive<f64> = 0.001..=1_000_000.0;

/// The settings that a strategy is created with.
#[derive(Clone, Copy, Debug)]
pub struct StrategySettings {
    /// The cost of a reset, in actions (the papers' c_r).
    pub reset_cost: f64,
    /// The seed of every random choice.
    pub seed: u64,
}

/// A strategy as users choose it: its name, its help and its constructor.
pub struct NamedStrategy {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// A paragraph of help.
    pub help: &'static str,
    /// Creates the strategy for one crawl.
    pub make: fn(StrategySettings) -> Box<dyn Strategy>,
}

/// The initial state: the first state of every graph.
pub const INITIAL: StateIndex = StateIndex(0);
