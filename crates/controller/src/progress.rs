//! The progress of a crawl, in numbers.

use serde::Serialize;

use crate::controller::Controller;

/// Counts for progress and summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlCounts {
    /// States found.
    pub states: usize,
    /// Transitions known.
    pub transitions: usize,
    /// Actions executed, also on walks.
    pub actions: u64,
    /// Loads of the URL.
    pub resets: u64,
    /// Candidates not executed yet, those in flight and those held back included.
    pub unexplored: usize,
    /// Jobs in flight.
    pub in_flight: usize,
    /// Candidates held back because they are too deep.
    pub held: usize,
    /// Candidates given up.
    pub failed: usize,
    /// States that do not come back.
    pub gone: usize,
    /// Transitions with several destinations, and states besides the initial one that loading the
    /// URL led to.
    pub nondeterministic: usize,
    /// Transitions that ended before their page had settled.
    pub unsettled: usize,
    /// Transitions with a request that a safe crawl stopped.
    pub curbed: usize,
    /// Plain links seen.
    pub links: usize,
    /// The depth of the deepest state.
    pub depth: u32,
}

impl Controller {
    /// The progress of the crawl.
    pub fn progress(&self) -> CrawlCounts {
        let known = self.known();
        let counts = known.graph().map(|graph| CrawlCounts {
            states: graph.states(),
            transitions: graph.transitions(),
            unexplored: graph.unexplored(),
            held: graph.held(),
            ..CrawlCounts::default()
        });
        CrawlCounts {
            actions: known.spent().actions,
            resets: known.spent().resets,
            in_flight: self.in_flight(),
            failed: known.given_up().values().sum(),
            gone: known.gone().len(),
            nondeterministic: known.strays().len() + known.landings().len(),
            unsettled: known.unsettled(),
            curbed: known.curbed(),
            links: known.links(),
            depth: known.depth(),
            ..counts.unwrap_or_default()
        }
    }
}
