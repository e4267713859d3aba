//! Identifiers of states and actions: keys that mean the same on every machine, and the small
//! indexes that stand for them inside one graph.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The key of a state: the hash that its identity computed. It also decides which controller of a
/// ring owns the state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateKey(pub u128);

/// The signature of an action. It is equal in every state that offers the same action.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionSignature(pub u64);

/// A state inside one graph, in the order of discovery.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateIndex(pub u32);

/// An action inside one graph, in the order in which it was first seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionIndex(pub u32);

impl StateIndex {
    /// The index into a vector with one entry per state.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl ActionIndex {
    /// The index into a vector with one entry per action.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ActionSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for StateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl fmt::Debug for ActionIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}
