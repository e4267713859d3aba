//! The adaptive strategy: argiope's own, and the default. It does not choose one metamodel, but keeps
//! score of several small ones and uses whichever has proved right in this crawl:
//!
//! 1. while nothing contradicts a hypercube, it is crawled as one (`hypercube`);
//! 2. otherwise, if anything repeats itself in this application, the candidates that are likely to
//!    find new states come first (`prospects`);
//! 3. when none is left, what remains is toured in the cheapest order, if its results can be foreseen
//!    (`forecast`, `touring`);
//! 4. and if they cannot, the nearest state with the most candidates is next, and there the action
//!    that was executed least often.
//!
//! A new state brings promising candidates, and with them the second step, back.

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

/// How people choose it.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "adaptive",
    summary: "learns what kind of application this is and plans accordingly (the default)",
    help: "Learns while it crawls: which kinds of action find new states here, and what the others do \
           (always the same, nothing, the same as in a state that agrees with this one, back to where it \
           came from, the same in any order). Candidates that are likely to find something come first; \
           what is left is planned as a postman tour over known and predicted transitions, by min-cost \
           flow, as soon as its results can be foreseen. A hypercube is recognised and crawled as one.",
    make: |settings| Box::new(Adaptive::new(settings)),
};

#[derive(Clone)]
struct Adaptive {
    /// As long as nothing contradicts it.
    hypercube: Option<Hypercube>,
    prospects: Prospects,
    forecast: Forecast,
    foresight: CertainForecast,
    touring: Touring,
    nearest: Nearest,
}

impl Adaptive {
    fn new(settings: StrategySettings) -> Self {
        Self {
            hypercube: Some(Hypercube::new(settings)),
            prospects: Prospects::new(settings.reset_cost),
            forecast: Forecast::new(settings.seed),
            foresight: CertainForecast::default(),
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
        self.nearest.on_discovered(graph, state);
    }

    fn on_executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.on_executed(graph, slot, destination, new);
            if hypercube.violations() > 0 {
                self.hypercube = None;
            }
        }
        self.touring.on_executed(slot, destination);
        self.foresight.on_executed(graph, &self.forecast, slot, destination);
        self.forecast.on_executed(graph, slot, destination, new);
        self.prospects.on_executed(graph, slot, destination, new);
        self.nearest.on_executed(graph, slot);
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
        self.foresight.predict(graph, &self.forecast, slot)
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
        // A candidate that cannot be executed is no edge of a hypercube.
        self.hypercube = None;
        self.touring.on_released(slot);
        self.prospects.on_closed(graph, slot);
        self.nearest.on_executed(graph, slot);
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
