//! The settings of a crawl on one machine.

use argiope_explore::strategy::{NamedStrategy, StrategySettings};

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
}

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
