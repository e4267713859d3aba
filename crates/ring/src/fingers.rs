//! Short cuts: members at doubling distances. They make look-ups fast and are never needed for them to be right.

use std::collections::BTreeMap;

use crate::key::Key;

/// The members at doubling distances, by the exponent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Fingers {
    known: BTreeMap<u32, Key>,
    next: u32,
}

impl Fingers {
    /// The next exponent to look up, in turns from the farthest to those that are farther than the successor.
    pub fn next_exponent(&mut self, me: Key, successor: Key) -> u32 {
        let nearest = me.distance(successor).max(1).ilog2();
        // Those that the successor has overtaken are not looked after any more.
        self.known.retain(|&exponent, _| exponent >= nearest);
        let at = self.next.min(127);
        self.next = if at <= nearest { 127 } else { at - 1 };
        at
    }

    /// The member at that distance, if it is known.
    pub fn get(&self, exponent: u32) -> Option<Key> {
        self.known.get(&exponent).copied()
    }

    /// The owner of the place at that distance was found.
    pub fn learn(&mut self, exponent: u32, me: Key, owner: Key) {
        if owner == me {
            self.known.remove(&exponent);
        } else {
            self.known.insert(exponent, owner);
        }
    }

    /// A member is gone.
    pub fn forget(&mut self, member: Key) {
        self.known.retain(|_, &mut other| other != member);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Key> + '_ {
        self.known.values().copied()
    }
}
