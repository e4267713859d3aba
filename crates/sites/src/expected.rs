//! The expected result of a crawl of a fixture, from its `expected.toml`.

use serde::Deserialize;

/// The expected result of a crawl of a fixture. The identity is `content` unless `crawl` names
/// another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The difficulty of the fixture, in one sentence.
    pub difficulty: String,
    /// The number of states.
    pub states: u64,
    /// The number of transitions, including followed links.
    pub transitions: u64,
    /// The number of actions that are given up.
    #[serde(default)]
    pub failed: u64,
    /// The number of transitions that lead to more than one state.
    #[serde(default)]
    pub nondeterministic: u64,
    /// The number of steps after which the page did not settle.
    #[serde(default)]
    pub unsettled: u64,
    /// The number of plain links that are followed.
    #[serde(default)]
    pub urls: u64,
    /// The numbers of transitions with each note.
    #[serde(default)]
    pub notes: Notes,
    /// The options of the crawl, where they differ from the defaults.
    #[serde(default)]
    pub crawl: CrawlOptions,
}

/// The numbers of transitions with each note.
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

/// The options of a crawl of a fixture, where they differ from the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlOptions {
    /// The identity, if it is not `content`.
    pub identity: Option<String>,
    /// Additional arguments of the command.
    pub args: Vec<String>,
}
