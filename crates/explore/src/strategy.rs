//! What every exploration strategy is to the rest of argiope: it hears of what was found and says
//! what to do next. All strategies give the same complete model in the end; they differ in order.

use std::ops::RangeInclusive;

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;

/// An exploration strategy. It sees the graph but never changes it.
pub trait Strategy: Send + Sync + CloneStrategy {
    /// A state was seen for the first time, after the candidate `by` (none led to the initial state, or
    /// to one that was met by accident). Told before the candidate is recorded.
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>);

    /// A state that was not known in full has one more candidate, which comes after its others. Only strategies
    /// for crawls that know a part of the application (`strategies::FOR_PARTS`) are told so.
    fn on_extended(&mut self, _graph: &Graph, slot: Slot) {
        unreachable!("{slot:?} was added to a state that this strategy takes to be known in full");
    }

    /// A candidate was executed, and the graph has recorded where it led.
    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool);

    /// What a crawler that stands in `at` should do next; `None` only if no free candidate is left that
    /// can be reached from here or after a reset. Any number of crawlers ask, in any order.
    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob>;

    /// Where a candidate will lead, if that is as good as certain: a crawler may be told beforehand what to do
    /// there. A wrong answer costs time and nothing else.
    fn predict(&self, _graph: &Graph, _slot: Slot) -> Option<StateIndex> {
        None
    }

    /// A candidate is free no more: a crawler is on its way to it, or its state is held back.
    fn on_claimed(&mut self, _graph: &Graph, _slot: Slot) {}

    /// A candidate that was claimed is free again, and was not executed.
    fn on_released(&mut self, _graph: &Graph, _slot: Slot) {}

    /// A candidate was given up, and the graph shows it as leading back to its own state. Nothing was
    /// learned of the action.
    fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        self.on_executed(graph, slot, slot.state, false);
    }

    /// What a reset costs was measured anew.
    fn set_reset_cost(&mut self, _cost: f64) {}
}

/// So that what holds a strategy can be cloned, as a model checker does with every step.
pub trait CloneStrategy {
    /// The same strategy in the same state.
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

/// The reset costs that make sense: prices are counted in millionths of an action, and their sums must
/// not overflow.
pub const RESET_COSTS: RangeInclusive<f64> = 0.001..=1_000_000.0;

/// What a strategy is told when it is made.
#[derive(Clone, Copy, Debug)]
pub struct StrategySettings {
    /// What a reset costs, in actions (the papers' c_r).
    pub reset_cost: f64,
    /// Decides everything that is left to chance.
    pub seed: u64,
}

/// A strategy as people choose it: its name, what it says of itself, and how it is made.
pub struct NamedStrategy {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// A paragraph of help.
    pub help: &'static str,
    /// Makes one for a crawl.
    pub make: fn(StrategySettings) -> Box<dyn Strategy>,
}

/// The initial state is always the first that a graph gets.
pub const INITIAL: StateIndex = StateIndex(0);
