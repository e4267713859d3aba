//! The settings of a crawl on one machine.

use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use serde::{Deserialize, Serialize};

/// How to crawl.
#[derive(Clone, Copy)]
pub struct ControllerSettings {
    /// The strategy.
    pub strategy: &'static NamedStrategy,
    /// The reset cost to begin with, and the seed.
    pub exploring: StrategySettings,
    /// When to stop.
    pub limits: CrawlLimits,
    /// How many jobs a crawler gets beyond its first, where the strategy predicts where they lead.
    /// It saves round trips.
    pub ahead: usize,
    /// Which coverage is wanted.
    pub stop_at: StopAt,
}

/// How much is to be executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopAt {
    /// Every action in every state.
    #[default]
    All,
    /// Every context: alike actions are executed once. A sample checks whether they are alike.
    Parts,
    /// Every context, and then every action in every state unless there are too many of them.
    Auto,
}

/// In a crawl that decides by itself, the most pairs of state and action, found and estimated, at
/// which it goes on to all of them.
pub const MOST_PAIRS: f64 = 5_000.0;

/// When to stop before everything is explored. The driver limits the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlLimits {
    /// Record at most this many states; the initial state always is.
    pub max_states: Option<usize>,
    /// Execute at most this many actions.
    pub max_actions: Option<u64>,
    /// Execute no action in states that are deeper than this.
    pub max_depth: Option<u32>,
}
