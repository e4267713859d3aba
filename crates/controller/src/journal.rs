//! The journal of a crawl: facts, each of which only adds to what is known. A crawl on one machine,
//! a ring and a star keep, send and export the same facts.
//!
//! Facts in any order, any number of times, give the same graph. Facts in the same order give the
//! same controller, strategy included. The journal does not know who works on what.
//!
//! [`encoding`] says how a fact lies on disk and on the wire.

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::parts::StateParts;
use serde::{Deserialize, Serialize};

use crate::job::Route;
use crate::outcome::{JobFailure, Note, Offered};
use crate::spent::WriterId;

pub mod encoding;

/// One thing that a crawl has found out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// A state exists. It becomes part of the graph by the `Transition`, `Stray` or `Appeared` that
    /// leads there; the initial state, whose route has no steps, is part of it at once.
    State {
        /// Its name.
        key: StateKey,
        /// Everything that it offers, in the order of the actions, each once.
        offers: Vec<Offered>,
        /// Known transitions from the initial state to this one, if the writer knows any.
        route: Option<Route>,
        /// Its page, if its bytes are kept apart from the fact.
        content: Option<ContentId>,
    },
    /// An action was executed.
    Transition {
        /// Where.
        from: StateKey,
        /// What.
        action: ActionSignature,
        /// Where it led.
        to: StateKey,
        /// What happened on the way.
        notes: Vec<Note>,
    },
    /// An action was given up.
    GivenUp {
        /// Where.
        from: StateKey,
        /// What.
        action: ActionSignature,
        /// Why.
        reason: JobFailure,
    },
    /// An executed action led to another state than before.
    Stray {
        /// Where.
        from: StateKey,
        /// What.
        action: ActionSignature,
        /// Where it led this time.
        to: StateKey,
    },
    /// A crawler was in a state that no known transition explains.
    Appeared {
        /// The state.
        at: StateKey,
        /// Loading the URL led there, though it led elsewhere first. If not, the page changed by
        /// itself.
        loaded: bool,
    },
    /// An action turned out to be a plain link, wherever it is offered.
    PlainLink {
        /// The action.
        action: ActionSignature,
    },
    /// A plain link is a candidate in this state. Other states that offer it leave it to its
    /// followers.
    LinkFollower {
        /// The link.
        link: ActionSignature,
        /// The state.
        state: StateKey,
    },
    /// A state does not come back. What it offers and was not executed there is offered elsewhere,
    /// or given up by facts of its own.
    Gone {
        /// The state.
        state: StateKey,
    },
    /// Loading an address of its own leads to a state.
    Entry {
        /// The state.
        state: StateKey,
        /// The address.
        address: String,
        /// The address was given with the crawl: the state counts as one of its first.
        seed: bool,
    },
    /// After this action the application could not be loaded any more. It is never performed again.
    Ended {
        /// Where.
        from: StateKey,
        /// What.
        action: ActionSignature,
        /// It is certain that this action did it: no state performs it again.
        everywhere: bool,
    },
    /// A state consists of these parts.
    Parts {
        /// The state.
        state: StateKey,
        /// Its parts, and which action belongs to which.
        parts: StateParts,
    },
    /// No action waits any more because one that is alike was executed elsewhere.
    Undeferred,
    /// What a writer has spent so far. Of several totals of one writer the largest counts.
    Spent {
        /// Who spent it.
        writer: WriterId,
        /// Actions executed.
        actions: u64,
        /// Loads of the URL.
        resets: u64,
    },
}

/// The name of bytes that are kept beside the facts. Controllers pass it on and never read the
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentId(pub u128);

impl Fact {
    /// The state that it is about, if it is about one.
    pub fn state(&self) -> Option<StateKey> {
        match self {
            Self::State { key: state, .. }
            | Self::Transition { from: state, .. }
            | Self::GivenUp { from: state, .. }
            | Self::Stray { from: state, .. }
            | Self::Ended { from: state, .. }
            | Self::Appeared { at: state, .. }
            | Self::LinkFollower { state, .. }
            | Self::Entry { state, .. }
            | Self::Parts { state, .. }
            | Self::Gone { state } => Some(*state),
            Self::PlainLink { .. } | Self::Undeferred | Self::Spent { .. } => None,
        }
    }

    /// The state that it leads to, if it leads to one.
    pub fn destination(&self) -> Option<StateKey> {
        match self {
            Self::Transition { to, .. } | Self::Stray { to, .. } => Some(*to),
            Self::State { .. }
            | Self::GivenUp { .. }
            | Self::Appeared { .. }
            | Self::PlainLink { .. }
            | Self::LinkFollower { .. }
            | Self::Gone { .. }
            | Self::Entry { .. }
            | Self::Ended { .. }
            | Self::Parts { .. }
            | Self::Undeferred
            | Self::Spent { .. } => None,
        }
    }

    /// What is wrong with the form of a fact, whatever the others say. Graphs rely on this form, so
    /// every fact is checked where its bytes are read.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::State { offers, .. } => {
                let in_order = offers.is_sorted_by(|one, next| one.action < next.action);
                (!in_order).then_some("its actions are not in order, each once")
            }
            Self::Parts { parts, .. } => parts.fault(),
            Self::Transition { .. }
            | Self::GivenUp { .. }
            | Self::Stray { .. }
            | Self::Appeared { .. }
            | Self::PlainLink { .. }
            | Self::LinkFollower { .. }
            | Self::Gone { .. }
            | Self::Entry { .. }
            | Self::Ended { .. }
            | Self::Undeferred
            | Self::Spent { .. } => None,
        }
    }

    /// The bytes that it refers to.
    pub fn content(&self) -> Option<ContentId> {
        match self {
            Self::State { content, .. } => *content,
            Self::Transition { .. }
            | Self::GivenUp { .. }
            | Self::Stray { .. }
            | Self::Appeared { .. }
            | Self::PlainLink { .. }
            | Self::LinkFollower { .. }
            | Self::Gone { .. }
            | Self::Entry { .. }
            | Self::Ended { .. }
            | Self::Parts { .. }
            | Self::Undeferred
            | Self::Spent { .. } => None,
        }
    }
}

/// What a state offers, in the form that its fact has: each action once, a plain link if any
/// mention of it says so.
pub fn distinct_offers(offers: impl IntoIterator<Item = Offered>) -> Vec<Offered> {
    let mut distinct = std::collections::BTreeMap::new();
    for Offered { action, once } in offers {
        *distinct.entry(action).or_default() |= once;
    }
    distinct.into_iter().map(|(action, once)| Offered { action, once }).collect()
}
