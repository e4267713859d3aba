//! One simulated crawler in a known application: it executes the jobs of a strategy and counts
//! them. It speaks to the strategy in indexes, without a controller, since it measures strategies
//! over millions of jobs. A fleet of one gives the same figures at several times the cost.

use std::collections::BTreeMap;

use argiope_explore::chance::Chance;
use argiope_explore::explorer::Explorer;
use argiope_explore::graph::Graph;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::job::PlannedJob;
use argiope_explore::model::Model;
use argiope_explore::strategy::{INITIAL, NamedStrategy, StrategySettings};

pub use argiope_controller::spent::Spent;

/// What a complete crawl cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The name of the strategy.
    pub strategy: &'static str,
    /// The seed.
    pub seed: u64,
    /// The states found.
    pub states: usize,
    /// The transitions executed, each at least once.
    pub transitions: usize,
    /// What was spent when the last state was found.
    pub all_states: Spent,
    /// What was spent when the last transition was executed.
    pub complete: Spent,
    /// The costs at which 25, 50, 75 and 100 % of the states were found.
    pub quartiles: [f64; 4],
}

/// A crawl in progress.
pub struct SimulatedCrawl<'a> {
    app: &'a Model,
    described: &'static NamedStrategy,
    settings: StrategySettings,
    signatures: Vec<ActionSignature>,
    explorer: Explorer,
    /// The application's number of each state of the graph.
    behind: Vec<u32>,
    at: StateIndex,
    spent: Spent,
    /// What had been spent when each state was found.
    found_at: Vec<Spent>,
}

/// The key by which crawlers identify a state of a known application.
pub fn key_of(state: u32) -> StateKey {
    let mut chance = Chance::new(&[0x5747, u64::from(state)]);
    StateKey(u128::from(chance.word()) << 64 | u128::from(chance.word()))
}

/// The signature by which crawlers identify an action of a known application.
pub fn signature_of(action: u32) -> ActionSignature {
    ActionSignature(Chance::new(&[0xAC, u64::from(action)]).word())
}

/// An application with these of its transitions alone, each given as state, action and target. A
/// crawl learns nothing of parts, so the model has none.
pub(crate) fn model_of(app: &Model, executed: impl Iterator<Item = (u32, u32, u32)>) -> Model {
    let mut transitions: Vec<Vec<(u32, u32)>> = vec![Vec::new(); app.states()];
    executed.for_each(|(state, action, to)| transitions[state as usize].push((action, to)));
    let mut model = Model::new(app.name.clone(), app.reset_cost, app.actions.clone());
    model.initial = app.initial;
    model.entries = app.entries.clone();
    for mut transitions in transitions {
        transitions.sort_unstable();
        model.push_state(transitions);
    }
    model
}

impl<'a> SimulatedCrawl<'a> {
    /// Loads the initial state.
    pub fn new(
        app: &'a Model,
        described: &'static NamedStrategy,
        settings: StrategySettings,
    ) -> Self {
        let signatures: Vec<ActionSignature> =
            (0..app.actions.len() as u32).map(signature_of).collect();
        let offered: Vec<_> = app
            .transitions_from(app.initial)
            .iter()
            .map(|&(action, _)| signatures[action as usize])
            .collect();
        let explorer = Explorer::new(described, settings, key_of(app.initial), &offered);
        let spent = Spent { actions: 0, resets: 1 };
        Self {
            app,
            described,
            settings,
            signatures,
            explorer,
            behind: vec![app.initial],
            at: INITIAL,
            spent,
            found_at: vec![spent],
        }
    }

    /// The graph of what the crawl has found.
    pub fn graph(&self) -> &Graph {
        self.explorer.graph()
    }

    /// Performs one job. Returns false once the crawl is complete.
    pub fn step(&mut self) -> bool {
        let Some(job) = self.explorer.next(self.at) else {
            return false;
        };
        self.perform(&job);
        true
    }

    fn perform(&mut self, job: &PlannedJob) {
        if job.reset {
            self.at = job.start();
            let graph = self.explorer.graph();
            let is_entry = graph.entries().iter().any(|entry| entry.state == self.at);
            assert!(self.at == INITIAL || is_entry, "a load leads to {:?}", self.at);
            self.spent.resets += 1;
        }
        for &slot in &job.walk {
            assert_eq!(slot.state, self.at, "the walk starts at the state of the crawler");
            self.at = self.explorer.graph().target(slot).expect("a walk takes known transitions");
        }
        self.spent.actions += job.walk.len() as u64 + 1;
        assert_eq!(job.candidate.state, self.at, "the walk leads to the candidate");
        let destination = self.destination(job);
        let (app, signatures) = (self.app, &self.signatures);
        let offered = || {
            app.transitions_from(destination)
                .iter()
                .map(|&(action, _)| signatures[action as usize])
                .collect()
        };
        let landing = self.explorer.record(job.candidate, key_of(destination), offered);
        self.at = landing.state;
        if landing.new {
            self.behind.push(destination);
            self.found_at.push(self.spent);
            if self.app.entries.contains(&destination) {
                self.explorer.add_entry(landing.state, self.settings.reset_cost);
            }
        }
    }

    /// The state that the candidate of a job leads to.
    fn destination(&self, job: &PlannedJob) -> u32 {
        let graph = self.explorer.graph();
        let signature = graph.signature(graph.action_of(job.candidate));
        let transitions = self.app.transitions_from(self.behind[job.candidate.state.at()]);
        let found =
            transitions.iter().find(|&&(action, _)| self.signatures[action as usize] == signature);
        found.expect("the state offers the action").1
    }

    /// What the crawl has found, in the application's own numbers. A complete crawl gives the
    /// application without its parts; a state that was not found has no transitions.
    pub fn model(&self) -> Model {
        let graph = self.graph();
        let number: BTreeMap<ActionSignature, u32> =
            self.signatures.iter().copied().zip(0..).collect();
        let executed = (0..).map(StateIndex).zip(&self.behind).flat_map(|(state, &behind)| {
            let target = |slot| Some(self.behind[graph.target(slot)?.at()]);
            let number = |slot| number[&graph.signature(graph.action_of(slot))];
            graph.slots(state).filter_map(move |slot| Some((behind, number(slot), target(slot)?)))
        });
        model_of(self.app, executed)
    }

    /// The costs of the crawl, once it is complete.
    pub fn finish(self) -> Run {
        let cost = |quarters: usize| {
            let states = self.found_at.len();
            self.found_at[(states * quarters).div_ceil(4) - 1].cost(self.settings.reset_cost)
        };
        Run {
            strategy: self.described.name,
            seed: self.settings.seed,
            states: self.graph().states(),
            transitions: self.graph().transitions(),
            all_states: *self.found_at.last().expect("the initial state was found"),
            complete: self.spent,
            quartiles: [cost(1), cost(2), cost(3), cost(4)],
        }
    }
}

/// Crawls the whole application.
pub fn crawl(app: &Model, described: &'static NamedStrategy, settings: StrategySettings) -> Run {
    let mut crawl = SimulatedCrawl::new(app, described, settings);
    while crawl.step() {}
    crawl.finish()
}
