//! What a crawl of a fixture must find, as written in its `expected.toml`.

use serde::Deserialize;

/// What a crawl of a fixture must find, under the `content` identity unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What is hard about it, in one sentence.
    pub difficulty: String,
    /// How many states.
    pub states: u64,
    /// How many transitions, followed links included.
    pub transitions: u64,
    /// How many actions must be given up.
    #[serde(default)]
    pub failed: u64,
    /// How many transitions lead to more than one place.
    #[serde(default)]
    pub nondeterministic: u64,
    /// How many steps end while the page is still busy.
    #[serde(default)]
    pub unsettled: u64,
    /// How many plain links are followed.
    #[serde(default)]
    pub urls: u64,
    /// How many transitions carry which note.
    #[serde(default)]
    pub notes: Notes,
    /// How it is to be crawled, where that is not the default way.
    #[serde(default)]
    pub crawl: CrawlOptions,
}

/// How many transitions carry which note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notes {
    /// A dialog was answered.
    pub dialogs: u64,
    /// A new window was refused.
    pub windows: u64,
    /// A download was refused.
    pub downloads: u64,
    /// A navigation out of scope was stopped.
    pub out_of_scope: u64,
}

/// How a fixture is to be crawled, where that is not the default way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlOptions {
    /// The identity, if it is not `content`.
    pub identity: Option<String>,
    /// More arguments of the command.
    pub args: Vec<String>,
}
