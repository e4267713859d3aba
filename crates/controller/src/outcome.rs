//! How a job ended. Bad news from the world is data here.

use argiope_explore::id::{ActionSignature, StateKey};
use serde::{Deserialize, Serialize};

/// A state that a crawler stands in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sighting {
    /// Its name.
    pub key: StateKey,
    /// What it offers, if the crawler had to look (it does when it has not met the state before).
    pub offers: Option<Vec<Offered>>,
}

/// An action that a state offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offered {
    /// Its name.
    pub action: ActionSignature,
    /// A plain link: to be taken once in the whole crawl, in whichever state it was seen first.
    pub once: bool,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The candidate was executed.
    Done {
        /// Where it led.
        at: Sighting,
        /// What happened on the way.
        notes: Vec<Note>,
        /// The action turned out to be a plain link that nothing handles: its other occurrences lead to
        /// the same URL and need not be tried.
        once: bool,
    },
    /// The walk left the known path; the candidate was not executed.
    Elsewhere {
        /// How many steps of the walk went right. The next one led elsewhere (or the reset did).
        went_right: u32,
        /// Where the crawler stands.
        at: Sighting,
    },
    /// The job could not be finished, and the crawler stands nowhere.
    Failed {
        /// How many steps of the walk went right before; all of them if it was the candidate that failed.
        went_right: u32,
        /// Why.
        reason: JobFailure,
    },
}

/// Why a job could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobFailure {
    /// The page did not answer before the deadline.
    Hung,
    /// The page's process died.
    Crashed,
    /// The page could not be loaded.
    NotLoaded,
    /// The action is not to be found on the page.
    Missing,
    /// The browser itself went away; says nothing about the action.
    Lost,
    /// The state that offers the action was not reached in many attempts. Only a controller says this.
    Unreachable,
    /// The tab has to be exchanged for one that can do more; says nothing about the action.
    Exchanged,
}

/// A candidate that so much speaks against is given up.
pub(crate) const ENOUGH: u32 = 100;

impl JobFailure {
    /// Whether it says nothing about the way to an action either.
    pub(crate) fn is_about_nothing(self) -> bool {
        matches!(self, Self::Lost | Self::NotLoaded | Self::Exchanged)
    }

    /// As on one machine, a candidate is given up after two failures of its own, eight in vain to get there, or five
    /// crawlers lost with it. That a page could not be loaded says nothing about it, and that a tab was exchanged next to
    /// nothing: each is once.
    pub(crate) fn speaks_against(self) -> u32 {
        match self {
            Self::Hung | Self::Crashed | Self::Missing => ENOUGH.div_ceil(2),
            Self::Unreachable => ENOUGH.div_ceil(8),
            Self::Lost => ENOUGH.div_ceil(5),
            Self::Exchanged => 1,
            Self::NotLoaded => 0,
        }
    }
}

/// Something worth recording that happened during a transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// A dialog was answered: its type (`alert`, `confirm`, `prompt`, `beforeunload`) and what it said.
    Dialog(String, String),
    /// A new window was wanted and refused; its address.
    Window(String),
    /// A download was refused; its address.
    Download(String),
    /// A navigation that leaves the scope was stopped; its address.
    OutOfScope(String),
    /// The address changed; the new one.
    Route(String),
    /// The page was still busy when the time was up.
    Unsettled,
}
