//! The greedy strategy: the nearest candidate first.

use crate::distances::Distances;
use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::{PlannedJob, TransferChoice};
use crate::strategy::{NamedStrategy, Strategy, StrategySettings};

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "greedy",
    summary: "execute the nearest unexplored action first",
    help: "Executes an unexplored action of the present state if there is one. Otherwise it goes to the \
           nearest state that has one, by a walk or a reset, whichever costs less (Peng et al. 2012). It \
           spends little on transfers, but ignores whether an action is likely to find a new state.",
    make: |settings| Box::new(Nearest::new(settings)),
};

/// The strategy: finds the nearest free candidate by the cheapest known transfer. Other strategies
/// fall back on it.
#[derive(Clone)]
pub struct Nearest {
    distances: Distances,
    reset_cost: f64,
}

impl Nearest {
    /// Creates a finder that knows no states.
    pub fn new(settings: StrategySettings) -> Self {
        Self { distances: Distances::new(1), reset_cost: settings.reset_cost }
    }

    /// Plans a job for the nearest candidate. Of several states at the same distance it takes the
    /// one with the most candidates. All states then run out of candidates late, and a crawler
    /// seldom ends in a state that has none.
    pub fn choose_fullest(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let transfer = self.choose_transfer(graph, at)?;
        let mut walk = Vec::new();
        let candidates = |state| graph.unexplored_in(state) as usize;
        let start = transfer.start(at);
        let goal = self.distances.walk_to_best(0, graph, start, &mut walk, candidates);
        let candidate = graph.first_unexplored(goal).expect("a goal has a candidate");
        Some(PlannedJob { reset: transfer.is_reset(), walk, candidate })
    }

    fn choose_transfer(&mut self, graph: &Graph, at: StateIndex) -> Option<TransferChoice> {
        self.distances.choose_transfer(0, graph, at, graph.resets(self.reset_cost))
    }
}

impl Strategy for Nearest {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, _: Option<Slot>) {
        self.distances.add_state();
        if graph.unexplored_in(state) > 0 {
            self.distances.set_goal(0, graph, state);
        }
    }

    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        if graph.is_free(slot) {
            self.distances.set_goal(0, graph, slot.state);
        }
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, _: StateIndex, _: bool) {
        self.distances.connect(graph, slot);
        self.on_claimed(graph, slot);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let transfer = self.choose_transfer(graph, at)?;
        let mut walk = Vec::new();
        let goal = self.distances.walk(0, graph, transfer.start(at), &mut walk);
        let candidate = graph.first_unexplored(goal).expect("a goal has a candidate");
        Some(PlannedJob { reset: transfer.is_reset(), walk, candidate })
    }

    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        if graph.unexplored_in(slot.state) == 0 {
            self.distances.clear_goal(0, slot.state);
        }
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.distances.set_goal(0, graph, slot.state);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.reset_cost = cost;
    }
}
