//! Exports what a crawl found: the model, and a shortest path to every state.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionIndex, ActionSignature, StateIndex, StateKey};
use argiope_explore::model::Model;

use crate::controller::Controller;
use crate::job::Transition;
use crate::route::{Routes, WalkTree};

/// Shortest known paths to all states.
pub struct Paths<'a> {
    controller: &'a Controller,
    tree: Option<WalkTree>,
}

/// A path to a state: load an address, then take the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathToState<'a> {
    /// The address of the entry where the path begins; none if it begins with the URL of the crawl.
    pub address: Option<&'a str>,
    /// The steps from the freshly loaded page. If loading the URL led to several states, the first
    /// step's `from` is the one where the path begins.
    pub steps: Vec<Transition>,
}

impl Paths<'_> {
    /// The shortest path to a state; none if no known path leads there.
    pub fn to(&self, key: StateKey) -> Option<PathToState<'_>> {
        let known = self.controller.known();
        let (state, graph) = (known.state(key)?, known.graph()?);
        let walk = self.tree.as_ref()?.walk_to(state)?;
        let start = walk.first().map_or(state, |hop| hop.slot.state);
        let address = known.entries().get(&start).map(String::as_str);
        Some(PathToState { address, steps: walk.iter().map(|hop| hop.named(graph)).collect() })
    }
}

impl Controller {
    /// Shortest known paths to all states.
    pub fn paths(&self) -> Paths<'_> {
        let avoid = BTreeSet::new();
        let tree = self.graph().map(|graph| {
            let routes = Routes { graph, strays: self.known().strays(), avoid: &avoid };
            routes.tree(self.known().starts().collect())
        });
        Paths { controller: self, tree }
    }

    /// The known model: states in the order of discovery, the initial one first, and the first
    /// destination of each transition. Open and given-up candidates are not in it. `label` names
    /// the actions.
    pub fn model(
        &self,
        name: impl Into<String>,
        mut label: impl FnMut(ActionSignature) -> String,
    ) -> Model {
        let mut numbers: BTreeMap<ActionIndex, u32> = BTreeMap::new();
        let mut labels = Vec::new();
        let mut states = Vec::new();
        if let Some(graph) = self.graph() {
            for state in (0..graph.states() as u32).map(StateIndex) {
                let executed = graph.slots(state).filter(|slot| !graph.closed().contains(slot));
                let mut executed: Vec<(ActionSignature, ActionIndex, u32)> = executed
                    .filter_map(|slot| {
                        let action = graph.action_of(slot);
                        Some((graph.signature(action), action, graph.target(slot)?.0))
                    })
                    .collect();
                executed.sort_unstable();
                let number = |&(signature, action, to): &(ActionSignature, ActionIndex, u32)| {
                    let number = *numbers.entry(action).or_insert_with(|| {
                        labels.push(label(signature));
                        labels.len() as u32 - 1
                    });
                    (number, to)
                };
                states.push(executed.iter().map(number).collect::<Vec<_>>());
            }
        }
        let mut model = Model::new(name, self.known().settings().exploring.reset_cost, labels);
        model.entries = self.known().entries().keys().map(|state| state.0).collect();
        states.into_iter().for_each(|transitions| model.push_state(transitions));
        model
    }
}
