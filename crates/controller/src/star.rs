//! The static scheme (Dist-RIA, paper 003): one coordinator in the middle of a star, and crawlers that know enough to
//! find their own work. Which crawler executes which action is settled in advance ([`division`]); a crawler only
//! says what it found, and hears of the others' states when it asks. Pure, both sides: `handle(input)` gives effects.
//!
//! What differs from the paper: a crawler that is out of work is answered when there is some, instead of asking
//! again and again; it says what it has executed now and then, so that the model is in one place; the share of
//! one that falls silent goes to others; and what one did not get to is tried by another one before it is given up.
//! The coordinator remains the one thing that must not fail: that is what the ring ([`peer`](crate::peer)) is for.
//!
//! Messages may be lost or come twice. A crawler says again what was not answered, under a new number, and always how much
//! it has heard and which shares it has; it is answered from there. What it says of the application only grows.

use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

use crate::job::{CrawlerId, Transition};
use crate::journal::ContentId;
use crate::outcome::{JobFailure, Note};

pub mod coordinator;
pub mod division;
mod links;
pub mod node;
mod shares;

pub use coordinator::Coordinator;
pub use node::StarNode;

use division::DivisionPlan;

/// The name of the scheme on the command line.
pub const NAME: &str = "static";

/// A state that somebody found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundState {
    /// Its name.
    pub key: StateKey,
    /// What it offers, in the order that numbers them: sorted.
    pub actions: Vec<ActionSignature>,
    /// Those of them that are plain links: followed once in the whole crawl. Sorted.
    pub links: Vec<ActionSignature>,
    /// The transition that led there; none to the initial state. Whoever hears of it has heard of where it begins.
    pub by: Option<Transition>,
    /// What its page is like.
    pub content: Option<ContentId>,
}

/// A transition that somebody executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The transition.
    pub step: Transition,
    /// It is a plain link.
    pub once: bool,
    /// What happened on the way.
    pub notes: Vec<Note>,
}

/// How much a crawler has heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardUpTo {
    /// So many of the states.
    pub states: usize,
    /// So many of the actions that turned out to be plain links.
    pub plain: usize,
}

/// From a crawler to the coordinator. Each is answered before another one is sent, unless the answer does not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Who.
    pub crawler: CrawlerId,
    /// Counts what it says, from one.
    pub number: u64,
    /// What it was told and has taken in.
    pub heard: HeardUpTo,
    /// The shares that it takes for its own.
    pub shares: Vec<usize>,
    /// States that it found (*SendNewStateToCoordinator*).
    pub found: Vec<FoundState>,
    /// Transitions that it executed.
    pub executed: Vec<Executed>,
    /// Transitions that led elsewhere than before.
    pub strayed: Vec<Transition>,
    /// Actions that it gave up, and why.
    pub closed: Vec<(StateKey, ActionSignature, JobFailure)>,
    /// It has nothing left to do, as far as it knows (*SendNodeStatusToCoordinator*, *GetNewStatesFromCoordinator*).
    pub done: bool,
}

impl NodeReport {
    /// Nothing but that one is there (*GetCredentialsFromCoordinator*).
    pub fn hello(crawler: CrawlerId) -> Self {
        Self {
            crawler,
            number: 0,
            heard: HeardUpTo::default(),
            shares: Vec::new(),
            found: Vec::new(),
            executed: Vec::new(),
            strayed: Vec::new(),
            closed: Vec::new(),
            done: false,
        }
    }

    /// The bytes that it speaks of.
    pub fn contents(&self) -> impl Iterator<Item = ContentId> + '_ {
        self.found.iter().filter_map(|found| found.content)
    }
}

/// From the coordinator to a crawler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToNode {
    /// What it has not heard.
    News(News),
    /// The crawl is over (*Terminated*).
    Finished,
}

/// What a crawler has not heard, and what is its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// What it answers.
    pub number: u64,
    /// How all work is divided.
    pub plan: DivisionPlan,
    /// What went before.
    pub after: HeardUpTo,
    /// States in the order in which they were heard of.
    pub states: Vec<FoundState>,
    /// Actions that turned out to be plain links, and were followed.
    pub plain: Vec<ActionSignature>,
    /// Shares that are its from now on, its first one included; each with what is done of it.
    pub shares: Vec<ActionShare>,
    /// Shares that are somebody else's by now.
    pub gone: Vec<usize>,
    /// Actions that another crawler did not get to, in many attempts: it is to try, too.
    pub unreached: Vec<(StateKey, ActionSignature)>,
}

/// A part of all actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionShare {
    /// Which.
    pub number: usize,
    /// What was executed of it.
    pub executed: Vec<Transition>,
    /// What was given up of it.
    pub closed: Vec<(StateKey, ActionSignature)>,
}
