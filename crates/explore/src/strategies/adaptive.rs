//! The adaptive strategy: argiope's own, and the default. It scores several small metamodels and
//! uses the one that has proved right in this crawl. The first rule that applies decides:
//!
//! 1. While the application looks like a hypercube, crawl it as one (`hypercube`).
//! 2. If actions behave alike in different states, execute the candidates that are likely to find
//!    new states (`prospects`).
//! 3. If the results of the remaining candidates can be predicted, execute them in the order of the
//!    cheapest tour (`forecast`, `touring`).
//! 4. Otherwise go to the nearest state with the most candidates, and execute there the action that
//!    was executed least often.
//!
//! A new state adds promising candidates, so the second rule may apply again.

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::PlannedJob;
use crate::strategies::greedy::Nearest;
use crate::strategies::hypercube::Hypercube;
use crate::strategy::{NamedStrategy, Strategy, StrategySettings};

mod certain_forecast;
mod forecast;
mod prospects;
mod touring;

use certain_forecast::CertainForecast;
use forecast::Forecast;
use prospects::Prospects;
use touring::Touring;

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "adaptive",
    summary: "learn how the application behaves and plan accordingly (the default)",
    help: "Learns during the crawl which kinds of action find new states, and predicts what the others \
           do: lead to the same state, change nothing, behave as in a similar state, lead back, or \
           commute with another action. Candidates that are likely to find new states come first. As \
           soon as the results of the rest can be predicted, it plans them as a postman tour over known \
           and predicted transitions, by min-cost flow. It recognises a hypercube and crawls it as one.",
    make: |settings| Box::new(Adaptive::new(settings)),
};

#[derive(Clone)]
struct Adaptive {
    /// `None` after the first contradiction.
    hypercube: Option<Hypercube>,
    prospects: Prospects,
    forecast: Forecast,
    certain: CertainForecast,
    touring: Touring,
    nearest: Nearest,
}

impl Adaptive {
    fn new(settings: StrategySettings) -> Self {
        Self {
            hypercube: Some(Hypercube::new(settings)),
            prospects: Prospects::new(settings.reset_cost),
            forecast: Forecast::new(settings.seed),
            certain: CertainForecast::default(),
            touring: Touring::new(settings),
            nearest: Nearest::new(settings),
        }
    }
}

impl Strategy for Adaptive {
    fn on_discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.on_discovered(graph, state, by);
        }
        self.prospects.on_discovered(graph, state);
        self.forecast.on_discovered(graph, by);
        self.nearest.on_discovered(graph, state, by);
    }

    fn on_extended(&mut self, graph: &Graph, slot: Slot) {
        // The vertices of a hypercube keep their actions.
        self.hypercube = None;
        self.prospects.on_extended(graph, slot);
        self.forecast.on_extended(graph);
        self.nearest.on_extended(graph, slot);
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.on_executed(graph, slot, destination, new);
            if hypercube.violations() > 0 {
                self.hypercube = None;
            }
        }
        self.touring.on_executed(slot, destination);
        self.certain.on_executed(graph, &self.forecast, slot, destination);
        self.forecast.on_executed(graph, slot, destination, new);
        self.prospects.on_executed(graph, slot, destination, new);
        self.nearest.on_executed(graph, slot, destination, new);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        if let Some(hypercube) = &mut self.hypercube {
            return hypercube.choose(graph, at);
        }
        if self.forecast.is_useful()
            && let Some(job) = self.prospects.choose(graph, at)
        {
            return Some(job);
        }
        if let Some(job) = self.touring.choose(graph, &self.forecast, &mut self.nearest, at) {
            return Some(job);
        }
        let job = self.nearest.choose_fullest(graph, at)?;
        let candidate = self.forecast.rarest(graph, job.candidate.state)?;
        Some(PlannedJob { candidate, ..job })
    }

    fn predict(&self, graph: &Graph, slot: Slot) -> Option<StateIndex> {
        self.certain.predict(graph, &self.forecast, slot)
    }

    fn on_claimed(&mut self, graph: &Graph, slot: Slot) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.on_claimed(graph, slot);
        }
        self.prospects.on_claimed(graph, slot);
        self.nearest.on_claimed(graph, slot);
    }

    fn on_released(&mut self, graph: &Graph, slot: Slot) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.on_released(graph, slot);
        }
        self.touring.on_released(slot);
        self.prospects.on_released(graph, slot);
        self.nearest.on_released(graph, slot);
    }

    fn on_closed(&mut self, graph: &Graph, slot: Slot) {
        // A hypercube has no action that cannot be executed.
        self.hypercube = None;
        self.touring.on_released(slot);
        self.prospects.on_closed(graph, slot);
        self.nearest.on_closed(graph, slot);
    }

    fn set_reset_cost(&mut self, cost: f64) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.set_reset_cost(cost);
        }
        self.touring.set_reset_cost(cost);
        self.prospects.set_reset_cost(cost);
        self.nearest.set_reset_cost(cost);
    }
}
