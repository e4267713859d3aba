//! Exports what a crawl found: the model, and a shortest path to every state.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionIndex, ActionSignature, StateIndex, StateKey};
use argiope_explore::model::Model;
use argiope_explore::strategy::INITIAL;

use crate::controller::Controller;
use crate::job::Transition;
use crate::route::{Routes, WalkTree};

/// Shortest known paths from the URL to all states.
pub struct Paths<'a> {
    controller: &'a Controller,
    trees: Vec<WalkTree>,
}

impl Paths<'_> {
    /// The steps from a freshly loaded page to a state; none if no known path leads there. If
    /// loading the URL led to several states, the first step's `from` is the one where the path
    /// begins.
    pub fn to(&self, key: StateKey) -> Option<Vec<Transition>> {
        let state = self.controller.known().state(key)?;
        let graph = self.controller.graph()?;
        let walk = self.trees.iter().find_map(|tree| tree.walk_to(state))?;
        Some(walk.iter().map(|hop| hop.named(graph)).collect())
    }
}

impl Controller {
    /// Shortest known paths to all states.
    pub fn paths(&self) -> Paths<'_> {
        let avoid = BTreeSet::new();
        let trees = self.graph().map(|graph| {
            let routes = Routes { graph, strays: self.known().strays(), avoid: &avoid };
            let starts = [INITIAL].into_iter().chain(self.known().landings().iter().copied());
            starts.map(|start| routes.tree(start)).collect()
        });
        Paths { controller: self, trees: trees.unwrap_or_default() }
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
        states.into_iter().for_each(|transitions| model.push_state(transitions));
        model
    }
}
