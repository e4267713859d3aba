//! The adaptive strategy: argiope's own, and the default.

use crate::graph::{Graph, Slot};
use crate::id::StateIndex;
use crate::job::Job;
use crate::strategies::greedy::Nearest;
use crate::strategies::hypercube::Hypercube;
use crate::strategy::{Described, Settings, Strategy};

mod forecast;
mod prospects;
mod touring;

/// How people choose it.
pub const DESCRIBED: Described = Described {
    name: "adaptive",
    summary: "learns what kind of application this is and plans accordingly (the default)",
    help: "Learns while it crawls which candidates find new states and where the others lead.",
    make: |settings| Box::new(Adaptive::new(settings)),
};

struct Adaptive {
    hypercube: Option<Hypercube>,
    prospects: prospects::Prospects,
    forecast: forecast::Forecast,
    touring: touring::Touring,
    nearest: Nearest,
    least: f64,
    trust: f64,
}

impl Adaptive {
    fn new(settings: Settings) -> Self {
        Self {
            hypercube: Some(Hypercube::new(settings)),
            prospects: prospects::Prospects::new(settings.reset_cost),
            forecast: forecast::Forecast::default(),
            touring: touring::Touring::new(settings),
            nearest: Nearest::new(settings),
            trust: 0.5,
            least: std::env::var("LEAST").ok().and_then(|v| v.parse().ok()).unwrap_or(0.01),
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
        self.touring.executed(slot, destination, new);
        let hit =
            self.forecast.predict(graph, slot).is_some_and(|prediction| prediction.state == destination);
        self.trust = self.trust * 0.99 + 0.01 * f64::from(u8::from(hit));
        self.forecast.executed(graph, slot, destination);
        self.prospects.executed(graph, slot, destination, new);
        self.nearest.executed(graph, slot);
    }

    fn choose(&mut self, graph: &Graph, at: StateIndex) -> Option<Job> {
        if let Some(hypercube) = &mut self.hypercube {
            return hypercube.choose(graph, at);
        }
        if let Some(job) = self.prospects.choose(graph, at, self.least) {
            return Some(job);
        }
        if self.trust < std::env::var("TRUST").ok().and_then(|v| v.parse().ok()).unwrap_or(0.8) {
            return self.nearest.choose_fullest(graph, at);
        }
        let job = self.touring.choose(graph, &self.forecast, &mut self.nearest, at);
        if job.is_none() && std::env::var("DBG").is_ok() {
            eprintln!(
                "replans {} stuck {} surprises {}",
                self.touring.replans, self.touring.stuck, self.touring.total_surprises
            );
        }
        job
    }
}
