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

mod forecast;
mod foresight;
mod prospects;
mod touring;

use forecast::Forecast;
use foresight::Foresight;
use prospects::Prospects;
use touring::Touring;

/// How people choose it.
pub const DESCRIBED: NamedStrategy = NamedStrategy {
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
    foresight: Foresight,
    touring: Touring,
    nearest: Nearest,
}

impl Adaptive {
    fn new(settings: StrategySettings) -> Self {
        Self {
            hypercube: Some(Hypercube::new(settings)),
            prospects: Prospects::new(settings.reset_cost),
            forecast: Forecast::new(settings.seed),
            foresight: Foresight::default(),
            touring: Touring::new(settings),
            nearest: Nearest::new(settings),
        }
    }
}

impl Strategy for Adaptive {
    fn discovered(&mut self, graph: &Graph, state: StateIndex, by: Option<Slot>) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.discovered(graph, state, by);
        }
        self.prospects.discovered(graph, state);
        self.forecast.discovered(graph, by);
        self.nearest.discovered(graph, state);
    }

    fn executed(&mut self, graph: &Graph, slot: Slot, destination: StateIndex, new: bool) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.executed(graph, slot, destination, new);
            if hypercube.violations() > 0 {
                self.hypercube = None;
            }
        }
        self.touring.executed(slot, destination);
        self.foresight.executed(graph, &self.forecast, slot, destination);
        self.forecast.executed(graph, slot, destination, new);
        self.prospects.executed(graph, slot, destination, new);
        self.nearest.executed(graph, slot);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<PlannedJob> {
        if let Some(hypercube) = &mut self.hypercube {
            return hypercube.choose(graph, at);
        }
        if self.forecast.is_any_use()
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

    fn foresees(&self, graph: &Graph, slot: Slot) -> Option<StateIndex> {
        self.foresight.foresees(graph, &self.forecast, slot)
    }

    fn claimed(&mut self, graph: &Graph, slot: Slot) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.claimed(graph, slot);
        }
        self.prospects.claimed(graph, slot);
        self.nearest.claimed(graph, slot);
    }

    fn released(&mut self, graph: &Graph, slot: Slot) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.released(graph, slot);
        }
        self.touring.released(slot);
        self.prospects.released(graph, slot);
        self.nearest.released(graph, slot);
    }

    fn closed(&mut self, graph: &Graph, slot: Slot) {
        // A candidate that cannot be executed is no edge of a hypercube.
        self.hypercube = None;
        self.touring.released(slot);
        self.prospects.closed(graph, slot);
        self.nearest.executed(graph, slot);
    }

    fn reset_cost(&mut self, cost: f64) {
        if let Some(hypercube) = &mut self.hypercube {
            hypercube.reset_cost(cost);
        }
        self.touring.reset_cost(cost);
        self.prospects.reset_cost(cost);
        self.nearest.reset_cost(cost);
    }
}
