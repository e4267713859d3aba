//! The static scheme (Dist-RIA): one coordinator in the middle of a star, and nodes that find their
//! own work. A node is the half of a crawler that decides. A rule fixed in advance ([`division`])
//! says which node executes which action. A node reports what it found, and learns of other nodes'
//! states in the answers. Both sides are pure: `handle(input)` appends effects.
//!
//! Differences from the paper:
//! - The coordinator answers a node without work when there is some; nodes do not poll.
//! - Nodes report their transitions in batches, so that the model is in one place.
//! - The share of a silent node goes to other nodes.
//! - Another node tries an action that one node could not reach, before it is given up.
//!
//! The coordinator is a single point of failure; the ring ([`peer`](crate::peer)) has none.
//!
//! Messages may be lost or repeated. A node repeats an unanswered report under a new number. Each
//! report says how much the node has learned and which shares it holds, so an answer carries
//! exactly what is missing. Reported facts only grow. Names in italics are the paper's.

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

/// A state that a node found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedState")]
pub struct FoundState {
    /// Its name.
    pub key: StateKey,
    /// What it offers, sorted: the order numbers the actions.
    pub actions: Vec<ActionSignature>,
    /// Those of them that are plain links, sorted. A crawl follows each once.
    pub links: Vec<ActionSignature>,
    /// The transition that led there; none for the initial state. A node that learns of this state
    /// knows the transition's source.
    pub by: Option<Transition>,
    /// The content of its page.
    pub content: Option<ContentId>,
}

/// A state as another process sent it.
#[derive(Deserialize)]
struct UncheckedState {
    key: StateKey,
    actions: Vec<ActionSignature>,
    links: Vec<ActionSignature>,
    by: Option<Transition>,
    content: Option<ContentId>,
}

/// Nodes number the actions, and graphs hold each once: the order is checked where bytes are read.
impl TryFrom<UncheckedState> for FoundState {
    type Error = &'static str;

    fn try_from(state: UncheckedState) -> Result<Self, Self::Error> {
        let UncheckedState { key, actions, links, by, content } = state;
        let in_order = |actions: &[ActionSignature]| actions.is_sorted_by(|one, next| one < next);
        if !in_order(&actions) || !in_order(&links) {
            return Err("the actions of a state are not in order, each once");
        }
        if links.iter().any(|link| actions.binary_search(link).is_err()) {
            return Err("a plain link of a state is none of its actions");
        }
        Ok(Self { key, actions, links, by, content })
    }
}

/// A transition that a node executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// The transition.
    pub step: Transition,
    /// It is a plain link.
    pub once: bool,
    /// What happened on the way.
    pub notes: Vec<Note>,
}

/// How much a node has learned from the coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeardUpTo {
    /// The number of states.
    pub states: usize,
    /// The number of actions that turned out to be plain links.
    pub plain: usize,
}

/// From a node to the coordinator. A node sends the next one after the answer, or after a timeout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// The crawler of the node.
    pub crawler: CrawlerId,
    /// Counts its reports; set when it is sent, from one.
    pub number: u64,
    /// How much it has learned.
    pub heard: HeardUpTo,
    /// The shares that it holds, as far as it knows.
    pub shares: Vec<usize>,
    /// States that it found (*SendNewStateToCoordinator*).
    pub found: Vec<FoundState>,
    /// Transitions that it executed.
    pub executed: Vec<Executed>,
    /// Transitions that led elsewhere than before.
    pub strayed: Vec<Transition>,
    /// Actions that it gave up, and why.
    pub closed: Vec<(StateKey, ActionSignature, JobFailure)>,
    /// It has no work left, as far as it knows (*SendNodeStatusToCoordinator*,
    /// *GetNewStatesFromCoordinator*).
    pub done: bool,
}

impl NodeReport {
    /// An empty report; as the first one it announces the node (*GetCredentialsFromCoordinator*).
    pub fn hello(crawler: CrawlerId) -> Self {
        Self { crawler, ..Self::default() }
    }

    /// The contents that it refers to.
    pub fn contents(&self) -> impl Iterator<Item = ContentId> + '_ {
        self.found.iter().filter_map(|found| found.content)
    }
}

/// From the coordinator to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToNode {
    /// What it has not learned yet.
    News(News),
    /// The crawl is over (*Terminated*).
    Finished,
}

/// What a node has not learned yet, and the shares that it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// The report that it answers.
    pub number: u64,
    /// How the work is divided.
    pub plan: DivisionPlan,
    /// How much the node had learned before.
    pub after: HeardUpTo,
    /// States in the order in which the coordinator learned of them.
    pub states: Vec<FoundState>,
    /// Actions that turned out to be plain links, and were followed.
    pub plain: Vec<ActionSignature>,
    /// Shares that it holds from now on, with what is done of each.
    pub shares: Vec<ActionShare>,
    /// Shares that another node holds by now.
    pub gone: Vec<usize>,
    /// Actions that another node could not reach: this node is to try them.
    pub unreached: Vec<(StateKey, ActionSignature)>,
}

/// A fixed fraction of all actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionShare {
    /// Its number.
    pub number: usize,
    /// Its executed actions.
    pub executed: Vec<Transition>,
    /// Its actions that were given up.
    pub closed: Vec<(StateKey, ActionSignature)>,
}
