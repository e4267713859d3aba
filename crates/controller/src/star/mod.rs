//! The static scheme (Dist-RIA, paper 003): one coordinator in the middle of a star, and crawlers that know enough to
//! find their own work. Which crawler executes which action is settled in advance ([`division`]); a crawler only
//! says what it found, and hears of the others' states when it asks. Pure, both sides: `handle(input)` gives effects.
//!
//! What differs from the paper: a crawler that is out of work is answered when there is some, instead of asking
//! again and again; it says what it has executed now and then, so that the model is in one place; and the share of
//! one that falls silent goes to others. The coordinator remains the one thing that must not fail: that is what the
//! ring ([`peer`](crate::peer)) is for.

use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

use crate::job::{CrawlerId, Step};

pub mod coordinator;
pub mod division;
pub mod node;

pub use coordinator::Coordinator;
pub use node::Node;

/// A state that somebody found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its name.
    pub key: StateKey,
    /// What it offers, in the order that numbers them: sorted.
    pub actions: Vec<ActionSignature>,
    /// The transition that led there; none to the initial state. Whoever hears of it has heard of where it begins.
    pub by: Option<Step>,
}

/// From a crawler to the coordinator. Each is answered before the next is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tell {
    /// Who.
    pub crawler: CrawlerId,
    /// States that it found (*SendNewStateToCoordinator*).
    pub found: Vec<Found>,
    /// Transitions that it executed.
    pub executed: Vec<Step>,
    /// Actions that it gave up.
    pub closed: Vec<(StateKey, ActionSignature)>,
    /// It has nothing left to do, as far as it knows (*SendNodeStatusToCoordinator*, *GetNewStatesFromCoordinator*).
    pub done: bool,
}

impl Tell {
    /// Nothing but that one is there (*GetCredentialsFromCoordinator*).
    pub fn hello(crawler: CrawlerId) -> Self {
        Self { crawler, found: Vec::new(), executed: Vec::new(), closed: Vec::new(), done: false }
    }
}

/// From the coordinator to a crawler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToNode {
    /// States that others found, and shares that are its from now on, its first one included.
    News {
        /// In the order in which they were heard of.
        states: Vec<Found>,
        /// Each with what is done of it.
        shares: Vec<Share>,
    },
    /// The crawl is over (*Terminated*).
    Finished,
}

/// A part of all actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Which.
    pub number: usize,
    /// What was executed of it.
    pub executed: Vec<Step>,
    /// What was given up of it.
    pub closed: Vec<(StateKey, ActionSignature)>,
}
