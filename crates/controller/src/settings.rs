//! What a crawl is told when it begins.

use argiope_explore::strategy::{NamedStrategy, StrategySettings};

/// How to crawl.
#[derive(Clone, Copy)]
pub struct ControllerSettings {
    /// The strategy.
    pub strategy: &'static NamedStrategy,
    /// What it is told: the reset cost to begin with, and the seed.
    pub exploring: StrategySettings,
    /// When to stop.
    pub limits: CrawlLimits,
    /// How many jobs a crawler may be given beyond the one that it begins with, where the strategy foresees what comes
    /// of them. For crawlers to whom every question costs time.
    pub ahead: usize,
}

/// When to stop although there is more to explore. Limits of time are the driver's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlLimits {
    /// So many states are recorded at most (but the initial one always is).
    pub max_states: Option<usize>,
    /// So many actions are executed at most.
    pub max_actions: Option<u64>,
    /// What can be done in states that are further than this from the initial one, in actions, is not.
    pub max_depth: Option<u32>,
}
