//! What a crawler is asked to do. The names mean the same to every crawler, simulated or with a
//! browser, on this machine or another.

use std::sync::Arc;

use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

/// Which job this is; never given twice in a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// Which crawler; its driver chooses the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
