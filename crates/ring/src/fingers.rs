//! Fingers: members at doubling distances. They make lookups fast, and no lookup needs them to be
//! correct.

use std::collections::BTreeMap;

use crate::key::Key;

/// The known members at doubling distances, by exponent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Fingers {
    known: BTreeMap<u32, Key>,
    next: u32,
}

impl Fingers {
    /// The next exponent to refresh. Goes in turns from the farthest down to the distance of the
    /// successor.
    pub fn next_exponent(&mut self, me: Key, successor: Key) -> u32 {
        let nearest = me.distance(successor).max(1).ilog2();
        // Fingers nearer than the successor are useless.
        self.known.retain(|&exponent, _| exponent >= nearest);
        let at = self.next.min(127);
        self.next = if at <= nearest { 127 } else { at - 1 };
        at
    }

    /// The finger at an exponent, if it is known.
    pub fn get(&self, exponent: u32) -> Option<Key> {
        self.known.get(&exponent).copied()
    }

    /// Sets the finger at an exponent to the owner of that position.
    pub fn learn(&mut self, exponent: u32, me: Key, owner: Key) {
        if owner == me {
            self.known.remove(&exponent);
        } else {
            self.known.insert(exponent, owner);
        }
    }

    /// Removes a member that is gone.
    pub fn forget(&mut self, member: Key) {
        self.known.retain(|_, &mut other| other != member);
    }

    /// All known fingers.
    pub fn iter(&self) -> impl Iterator<Item = Key> + '_ {
        self.known.values().copied()
    }
}
