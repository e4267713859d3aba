//! A strategy of one's own in the simulator, beside the built-in ones on two test-beds:
//!
//! ```text
//! cargo run --release -p argiope-sim --example strategy
//! ```

#![expect(clippy::disallowed_macros, reason = "an example prints its result")]

use argiope_explore::bound::lower_bound;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::StateIndex;
use argiope_explore::job::PlannedJob;
use argiope_explore::strategies;
use argiope_explore::strategies::greedy::Nearest;
use argiope_explore::strategy::{NamedStrategy, Strategy, StrategySettings};
use argiope_sim::crawl::{Spent, crawl};
use argiope_sim::testbeds::Recipe;

const TESTBEDS: [Recipe; 2] = [Recipe::Elfinder, Recipe::Hypercube(8)];
const SEED: u64 = 1;

/// Name, help and constructor. A built-in strategy is listed in `strategies::ALL` as well.
static RAREST_FIRST: NamedStrategy = NamedStrategy {
    name: "rarest-first",
    summary: "execute the action that was executed least often",
    help: "Executes the action of the present state that was executed least often in the whole crawl. \
           In a state without candidates it goes to the nearest one.",
    make: |settings| {
        Box::new(RarestFirst { nearest: Nearest::new(settings), executions: Vec::new() })
    },
};

#[derive(Clone)]
struct RarestFirst {
    /// Finds the nearest candidate, and must hear of every change.
    nearest: Nearest,
    /// The number of executions of each action.
    executions: Vec<u32>,
}

impl Strategy for RarestFirst {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        self.nearest.on_discovered(graph, state, by);
        self.executions.resize(graph.actions_seen(), 0);
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        self.nearest.on_executed(graph, slot, destination, new);
        self.executions[graph.action_of(slot).at()] += 1;
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        let job = self.nearest.choose(graph, at)?;
        let candidates = graph.slots(job.candidate.state).filter(|&slot| graph.is_free(slot));
        let candidate =
            candidates.min_by_key(|&slot| self.executions[graph.action_of(slot).at()])?;
        Some(PlannedJob { candidate, ..job })
    }

    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_claimed(graph, slot);
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        self.nearest.on_released(graph, slot);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        self.nearest.set_reset_cost(cost);
    }
}

fn main() {
    println!("{:<16}{:<22}{:>12}{:>12}", "test-bed", "strategy", "all states", "complete");
    for recipe in TESTBEDS {
        let model = recipe.model();
        let settings = StrategySettings { reset_cost: model.reset_cost, seed: SEED };
        for strategy in strategies::ALL.iter().chain([&RAREST_FIRST]) {
            let run = crawl(&model, strategy, settings);
            let cost = |spent: Spent| spent.cost(model.reset_cost);
            let (all_states, complete) = (cost(run.all_states), cost(run.complete));
            println!("{:<16}{:<22}{all_states:>12.0}{complete:>12.0}", model.name, strategy.name);
        }
        let bound = lower_bound(&model, model.reset_cost).cost;
        println!("{:<16}{:<22}{:>12}{bound:>12.0}", model.name, "(lower bound)", "");
    }
}
