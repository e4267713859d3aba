//! What the controllers of a ring are told when a crawl begins. All of them are told the same.

use argiope_explore::strategy::{NamedStrategy, StrategySettings};

use super::schemes::Scheme;

/// How to crawl together.
#[derive(Clone, Copy)]
pub struct PeerSettings {
    /// What controllers know of each other's states.
    pub scheme: &'static Scheme,
    /// The strategy; one of `strategies::FOR_PARTS`.
    pub strategy: &'static NamedStrategy,
    /// What it is told.
    pub exploring: StrategySettings,
    /// What becomes of what a lost controller knew.
    pub recovery: Recovery,
    /// On how many other controllers there are copies.
    pub backups: usize,
    /// How many successors a member of the ring keeps.
    pub successors: usize,
    /// How long things take at first; later that is learned.
    pub times: PeerTimeouts,
}

/// What becomes of what a lost controller knew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recovery {
    /// Its states are collected from the others and explored again.
    Retry,
    /// Everything is copied before it is acknowledged.
    Redundancy,
    /// What was found is copied from time to time.
    Combined {
        /// How often, in microseconds; by itself, from the measured delay and rate of failures, if there is none.
        period: Option<u64>,
    },
    /// Copies at once while there is time for it, from time to time under load.
    Adaptive,
}

/// Times, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerTimeouts {
    /// A task of one action, before any was measured.
    pub task: u64,
    /// Between two looks at the ring.
    pub stabilise: u64,
    /// A question that was not answered for so long was asked of a dead member.
    pub answer: u64,
    /// What was not taken in for so long is sent again.
    pub resend: u64,
    /// Crawlers without a job ask round so often.
    pub idle: u64,
    /// What is told by the way waits so long for a message to go with.
    pub later: u64,
    /// Something that goes round the ring is lost if it is not back by then.
    pub round: u64,
}

impl Default for PeerTimeouts {
    fn default() -> Self {
        Self {
            task: 60_000_000,
            stabilise: 500_000,
            answer: 1_000_000,
            resend: 2_000_000,
            idle: 200_000,
            later: 50_000,
            round: 5_000_000,
        }
    }
}
