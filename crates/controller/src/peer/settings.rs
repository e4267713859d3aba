//! The settings of a shared crawl, equal on all its controllers.

use std::sync::Arc;

use argiope_explore::id::ActionSignature;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};

use super::schemes::Scheme;

/// The settings of a shared crawl.
#[derive(Clone)]
pub struct PeerSettings {
    /// The knowledge-sharing scheme.
    pub scheme: &'static Scheme,
    /// The strategy; one of `strategies::FOR_PARTIAL_GRAPHS`.
    pub strategy: &'static NamedStrategy,
    /// The settings of the strategy.
    pub exploring: StrategySettings,
    /// Plain links that every state offers to which a load of the URL leads, in their order. They
    /// load the further addresses with which the crawl begins.
    pub seeds: Arc<[ActionSignature]>,
    /// The failover policy.
    pub recovery: Recovery,
    /// Replicas of each state.
    pub backups: usize,
    /// How many successors a member of the ring keeps.
    pub successors: usize,
    /// Timeouts; those for tasks and answers adapt to measured times.
    pub times: PeerTimeouts,
}

/// The failover policy: what becomes of the knowledge of a lost controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recovery {
    /// The other controllers collect its states and explore them again.
    Retry,
    /// Every fact is replicated before it is acknowledged.
    Redundancy,
    /// Facts are replicated periodically.
    Combined {
        /// The period in microseconds; `None` computes it from the measured delay and failure rate.
        period: Option<u64>,
    },
    /// Replicates at once while there is capacity, periodically under load.
    Adaptive,
}

/// Timeouts and periods, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerTimeouts {
    /// A task of one action, before the first measurement.
    pub task: u64,
    /// Between two stabilisations of the ring.
    pub stabilise: u64,
    /// A member that does not answer a question for this long has failed. The wait grows up to
    /// four times with the delays that a controller measures.
    pub answer: u64,
    /// A message that is not acknowledged for this long is sent again.
    pub resend: u64,
    /// The first wait of a crawler without work.
    pub idle: u64,
    /// The longest that an acknowledgement waits for a message to piggyback on.
    pub later: u64,
    /// A message that goes round the ring is lost if it is not back by then.
    pub round: u64,
}

/// Those of real processes. The predecessor of a dead controller notices after at most `stabilise`
/// and `answer`; its successor then checks for `answer`: 1.7 s. Shorter timeouts would take a busy
/// machine for dead, so that work is done twice.
impl Default for PeerTimeouts {
    fn default() -> Self {
        Self {
            task: 60_000_000,
            stabilise: 300_000,
            answer: 700_000,
            resend: 1_000_000,
            idle: 200_000,
            later: 50_000,
            round: 3_000_000,
        }
    }
}
