//! How a job ended. Bad news from the world is data here.

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::parts::StateParts;
use serde::{Deserialize, Serialize};

/// The state that a crawler is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sighting {
    /// Its name.
    pub key: StateKey,
    /// What it offers, if the crawler looked (it does when the state is new to it).
    pub offers: Option<Vec<Offered>>,
    /// Its parts, if the crawler looked for them. A ring does not know them.
    #[serde(skip)]
    pub parts: Option<Box<StateParts>>,
}

impl Sighting {
    /// Of a state whose actions are known.
    pub fn known(key: StateKey) -> Self {
        Self { key, offers: None, parts: None }
    }

    /// Of a state that the crawler has looked at.
    pub fn described(key: StateKey, offers: Vec<Offered>) -> Self {
        Self { key, offers: Some(offers), parts: None }
    }
}

/// An action that a state offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offered {
    /// Its name.
    pub action: ActionSignature,
    /// A plain link: to be followed once in the whole crawl, from the first state that shows it.
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
        /// The action turned out to be a plain link that no script handles. Its other occurrences
        /// lead to the same URL and are not tried.
        once: bool,
    },
    /// The walk left the known path; the candidate was not executed.
    Elsewhere {
        /// How many steps of the walk went right. The next one led elsewhere (or the reset did).
        went_right: u32,
        /// Where the crawler is.
        at: Sighting,
    },
    /// The job could not be finished, and the crawler is in no known state.
    Failed {
        /// How many steps of the walk went right before; all of them if the candidate failed.
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
    /// The page does not show the action.
    Missing,
    /// The browser itself went away; the action need not be the cause.
    Lost,
    /// Several attempts did not reach the state that offers the action. Only a controller says
    /// this.
    Unreachable,
    /// The tab must be exchanged for one that can do more, or that has a new session; the action is
    /// not the cause.
    Exchanged,
    /// After the action the application's session was over: the action may have ended it.
    LoggedOut,
    /// A load led out of the scope.
    OutOfScope,
    /// A seed of the crawl leads to no page, and the URL still leads to one.
    NoPage,
}

/// Jobs in a row that do not reach a state, after which the state counts as gone.
pub(crate) const MOST_MISSES: u32 = 8;
/// The same, if the state has never come back, and all that it offers was executed elsewhere.
pub(crate) const FEW_MISSES: u32 = 2;

/// The weight of failures at which a candidate is given up.
pub(crate) const ENOUGH: u32 = 100;

impl JobFailure {
    /// What happened, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Hung => "the page did not answer",
            Self::Crashed => "the page's process died",
            Self::NotLoaded => "the page could not be loaded",
            Self::Missing => "the page did not show the action again",
            Self::Lost => "the browser ended each time",
            Self::Unreachable => "no path led to the state again",
            Self::Exchanged => "no tab could perform the action",
            Self::LoggedOut => "the session was over after it",
            Self::OutOfScope => "the load led out of the scope",
            Self::NoPage => "its address leads to no page",
        }
    }

    /// Whether its cause is neither the action nor the walk to it.
    pub(crate) fn is_environmental(self) -> bool {
        matches!(self, Self::Lost | Self::NotLoaded | Self::Exchanged | Self::OutOfScope)
    }

    /// The weight of a failure against a candidate. As on one machine, a candidate is given up
    /// after two failures of its own, eight walks that do not reach it, or five crawlers lost with
    /// it, or four sessions that were over after it. A failed load does not count. An exchanged tab
    /// counts least, since each tab is exchanged once.
    pub(crate) fn weight(self) -> u32 {
        match self {
            Self::Hung | Self::Crashed | Self::Missing | Self::NoPage => ENOUGH.div_ceil(2),
            Self::Unreachable | Self::OutOfScope => ENOUGH.div_ceil(8),
            Self::Lost => ENOUGH.div_ceil(5),
            Self::LoggedOut => ENOUGH.div_ceil(4),
            Self::Exchanged => 1,
            Self::NotLoaded => 0,
        }
    }
}

/// Something worth recording that happened during a transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// A dialog was answered: its type (`alert`, `confirm`, `prompt`, `beforeunload`) and what it
    /// said.
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
    /// The page has replaced built-in functions of the browser, and may have deceived argiope.
    Tampered,
    /// The action is dangerous, and the crawl was told to perform it.
    Allowed,
    /// After such an action the application could not be loaded.
    Ended,
    /// A safe crawl stopped a request that may change something: its method, and its address
    /// without its query. The method of a socket is `SOCKET`.
    Unsafe(String, String),
}
