//! What a crawl must not forget, in the order in which it happened. Replaying the records of a crawl
//! into a new controller gives the controller that wrote them.

use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

use crate::outcome::{JobFailure, Note};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// A state was seen for the first time. The first of all is the initial state; any other becomes part
    /// of the graph by the `Transition`, `Strayed` or `Appeared` that follows.
    State {
        /// Its name.
        key: StateKey,
        /// What it offers and is a candidate here: without links that belong to another state.
        actions: Vec<ActionSignature>,
        /// Which of them are plain links.
        links: Vec<ActionSignature>,
    },
    /// A candidate was executed.
    Transition {
        /// Where.
        from: StateKey,
        /// What.
        action: ActionSignature,
        /// Where it led.
        to: StateKey,
        /// What happened on the way.
        notes: Vec<Note>,
        /// It is a plain link after all.
        once: bool,
    },
    /// A candidate was given up.
    Failed {
        /// Where.
        from: StateKey,
        /// What.
        action: ActionSignature,
        /// Why.
        reason: JobFailure,
    },
    /// A known transition led elsewhere as well.
    Strayed {
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
        /// Loading the URL led there, though it led elsewhere first. If not, the page changed by itself.
        loaded: bool,
    },
    /// What has been spent so far.
    Spent {
        /// Actions executed.
        actions: u64,
        /// Loads of the URL.
        resets: u64,
    },
}
