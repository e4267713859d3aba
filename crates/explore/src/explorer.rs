//! A graph and a strategy put together: takes in what was seen, hands out jobs. This is the whole
//! interface that a driver (simulated or real) needs.

use crate::graph::{Graph, Slot};
use crate::id::{ActionSignature, StateIndex, StateKey};
use crate::job::Job;
use crate::strategy::{Described, INITIAL, Settings, Strategy};

/// One exploration in progress.
pub struct Explorer {
    graph: Graph,
    strategy: Box<dyn Strategy>,
}

/// Where an action led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing {
    /// The state.
    pub state: StateIndex,
    /// Whether it was seen for the first time.
    pub new: bool,
}

impl Explorer {
    /// Begins with the page that loading the URL gave.
    pub fn new(
        described: &Described,
        settings: Settings,
        key: StateKey,
        actions: &[ActionSignature],
    ) -> Self {
        let mut graph = Graph::new(settings.seed);
        let mut strategy = (described.make)(settings);
        let initial = graph.add_state(key, actions);
        assert_eq!(initial, INITIAL);
        strategy.discovered(&graph, initial, None);
        Self { graph, strategy }
    }

    /// What is known so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What a crawler that stands in `at` should do next; `None` when the crawl is complete.
    pub fn next(&mut self, at: StateIndex) -> Option<Job> {
        let job = self.strategy.choose(&self.graph, at);
        assert!(
            job.is_some() || self.graph.unexplored() == 0,
            "the strategy stopped with {} candidates left",
            self.graph.unexplored()
        );
        job
    }

    /// Takes in where a candidate led. `actions` is asked only if the state is new.
    pub fn executed(
        &mut self,
        slot: Slot,
        key: StateKey,
        actions: impl FnOnce() -> Vec<ActionSignature>,
    ) -> Landing {
        let known = self.graph.find(key);
        let state = known.unwrap_or_else(|| {
            let state = self.graph.add_state(key, &actions());
            self.strategy.discovered(&self.graph, state, Some(slot));
            state
        });
        self.graph.record(slot, state);
        self.strategy.executed(&self.graph, slot, state, known.is_none());
        Landing { state, new: known.is_none() }
    }
}
