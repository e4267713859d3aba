//! What an input has reached in a target: the feedback that tells which inputs to keep. It stands
//! for the coverage of code, which stable Rust cannot measure.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The outcomes of one input.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    outcomes: BTreeSet<u64>,
    accepted: usize,
    refused: usize,
}

impl Reached {
    /// Notes an outcome: a variant, a kind of error, a size as [`bucket`] gives it.
    pub fn note(&mut self, outcome: impl Hash) {
        let mut hasher = DefaultHasher::new();
        outcome.hash(&mut hasher);
        self.outcomes.insert(hasher.finish());
    }

    /// Notes that an entry of the input was accepted.
    pub fn accept(&mut self, outcome: impl Hash) {
        self.accepted += 1;
        self.note(("accepted", outcome));
    }

    /// Notes that an entry of the input was refused.
    pub fn refuse(&mut self, outcome: impl Hash) {
        self.refused += 1;
        self.note(("refused", outcome));
    }

    /// How many entries were accepted.
    pub fn accepted(&self) -> usize {
        self.accepted
    }

    /// How many entries were refused.
    pub fn refused(&self) -> usize {
        self.refused
    }

    /// The outcomes.
    pub fn outcomes(&self) -> impl Iterator<Item = u64> + '_ {
        self.outcomes.iter().copied()
    }
}

/// The order of magnitude of a size, so that outcomes do not differ by every single number.
pub fn bucket(size: usize) -> u32 {
    usize::BITS - size.leading_zeros()
}
