//! What a crawler is asked to do. The names mean the same to every crawler, simulated or with a
//! browser, on this machine or another.

use std::sync::Arc;

use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

use crate::outcome::JobFailure;
use crate::spent::Spent;

/// Which job this is; never given twice in a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// Which crawler; its driver chooses the number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct CrawlerId(pub u64);

/// A path and one candidate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// Load the URL first; the walk then starts at the initial state instead of the present one.
    pub reset: bool,
    /// The known transitions to take, in order.
    pub walk: Vec<Transition>,
    /// Where the candidate is.
    pub state: StateKey,
    /// The action to execute there.
    pub action: ActionSignature,
}

/// A job to begin without asking, if the job before it ended as predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Where the candidate of the job before must have led.
    pub after: StateKey,
    /// What to do then.
    pub job: Job,
}

/// One known transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Transition {
    /// Where it begins.
    pub from: StateKey,
    /// What is done.
    pub action: ActionSignature,
    /// Where it should lead.
    pub to: StateKey,
}

impl Job {
    /// The step of the walk that led to this state instead, if one did.
    pub(crate) fn strayed(
        &self,
        went_right: u32,
        spent: Spent,
        at: StateKey,
    ) -> Option<Transition> {
        let wrong = self.walk.get(went_right as usize).filter(|_| spent.actions > 0);
        wrong.filter(|step| step.to != at).map(|&step| Transition { to: at, ..step })
    }

    /// Where the walk begins.
    pub fn start(&self) -> StateKey {
        self.walk.first().map_or(self.state, |step| step.from)
    }

    /// What a failure says of the candidate: one in the load or on the walk did not reach it.
    pub(crate) fn failure(&self, went_right: u32, spent: Spent, reason: JobFailure) -> JobFailure {
        let in_load = self.reset && spent.actions == 0 && reason != JobFailure::Missing;
        let on_the_way = in_load || (went_right as usize) < self.walk.len();
        if on_the_way && !reason.is_environmental() { JobFailure::Unreachable } else { reason }
    }
}

impl Transition {
    /// The transition of a slot. That of a candidate leads nowhere: to its own state.
    pub(crate) fn of(graph: &Graph, slot: Slot) -> Self {
        Self {
            from: graph.key(slot.state),
            action: graph.signature(graph.action_of(slot)),
            to: graph.key(graph.target(slot).unwrap_or(slot.state)),
        }
    }
}

/// Known transitions from the initial state to another.
pub type Route = Arc<[Transition]>;

/// A route and one more step.
pub(crate) fn longer(route: &[Transition], step: Transition) -> Route {
    route.iter().copied().chain([step]).collect()
}

/// The initial state, by the route from there to a state.
pub(crate) fn initial_of(route: &[Transition], state: StateKey) -> StateKey {
    route.first().map_or(state, |step| step.from)
}
