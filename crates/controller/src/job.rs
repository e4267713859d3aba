//! What a crawler is asked to do. The names mean the same to every crawler, simulated or with a
//! browser, on this machine or another.

use std::sync::Arc;

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

/// Known transitions from the initial state to another.
pub type Route = Arc<[Transition]>;
