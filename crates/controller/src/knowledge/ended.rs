//! Actions after which the application could not be loaded: no walk uses them again, and what only
//! they lead to is cut off.

use std::collections::BTreeSet;

use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};

use super::{CrawlKnowledge, NO_ACTION, NO_STATE, UNKNOWN};
use crate::job::Transition;
use crate::outcome::JobFailure;
use crate::route::Routes;

impl CrawlKnowledge {
    /// No walk uses an action any more after which the application could not be loaded, and no
    /// state performs it if it is certain that the action did it.
    pub(super) fn apply_ended(
        &mut self,
        (from, action): (StateKey, ActionSignature),
        everywhere: bool,
    ) -> Result<(), &'static str> {
        let slot = self.slot(from, action).ok_or(NO_ACTION)?;
        self.blamed.insert(slot);
        self.end_slot(slot)?;
        if everywhere {
            self.ended_actions.insert(action);
            for state in (0..self.graph().map_or(0, Graph::states) as u32).map(StateIndex) {
                self.end_actions(state)?;
            }
        }
        if self.replayed.is_empty() {
            self.cut_off_ended();
        }
        Ok(())
    }

    /// Ends the actions of a state that end the application wherever they are performed.
    pub(super) fn end_actions(&mut self, state: StateIndex) -> Result<(), &'static str> {
        for action in self.ended_actions.clone() {
            let graph = self.graph().ok_or(NO_STATE)?;
            let slot = graph.action_named(action).and_then(|action| graph.slot_of(state, action));
            slot.map_or(Ok(()), |slot| self.end_slot(slot))?;
        }
        Ok(())
    }

    /// If an action was not executed, it counts as given up.
    fn end_slot(&mut self, slot: Slot) -> Result<(), &'static str> {
        self.ended.insert(slot);
        let explorer = self.explorer.as_mut().ok_or(NO_STATE)?;
        let graph = explorer.graph();
        let Transition { from, action, .. } = Transition::of(graph, slot);
        let is_withdrawn = graph.closed().contains(&slot) && !self.given_up.contains_key(&slot);
        if self.replayed.destination(from, action).is_some() || is_withdrawn {
            return Ok(());
        }
        if graph.target(slot).is_none() {
            explorer.close(slot);
        }
        if explorer.graph().closed().contains(&slot) {
            self.given_up.entry(slot).or_insert(JobFailure::NotLoaded);
        }
        Ok(())
    }

    /// Holds back the states that only actions lead to which end the application.
    pub(super) fn cut_off_ended(&mut self) {
        let starts: Vec<StateIndex> = self.starts().collect();
        let Some(explorer) = self.explorer.as_mut().filter(|_| !self.ended.is_empty()) else {
            return;
        };
        let none = BTreeSet::new();
        let depths = |avoid: &BTreeSet<Slot>, graph: &Graph| {
            let routes = Routes { graph, strays: &self.strays, avoid };
            routes.depths(&starts, UNKNOWN)
        };
        let with = depths(&none, explorer.graph());
        self.depths = depths(&self.ended, explorer.graph());
        self.cut_off.clear();
        for (at, (&with, &without)) in with.iter().zip(&self.depths).enumerate() {
            let state = StateIndex(at as u32);
            let is_cut = with != UNKNOWN && without == UNKNOWN;
            let too_deep = self.settings.limits.max_depth.is_some_and(|limit| without > limit);
            if is_cut {
                self.cut_off.insert(state);
            }
            if is_cut || without != UNKNOWN {
                explorer.hold(state, is_cut || too_deep);
            }
        }
    }

    /// The actions after which the application could not be loaded, where they were performed.
    pub fn blamed(&self) -> &BTreeSet<Slot> {
        &self.blamed
    }

    /// These, and the same actions in other states if it is certain that they end the application.
    pub fn ended(&self) -> &BTreeSet<Slot> {
        &self.ended
    }

    /// The states that only such actions lead to.
    pub fn cut_off(&self) -> &BTreeSet<StateIndex> {
        &self.cut_off
    }
}
