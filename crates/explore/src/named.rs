//! Maps and sets by lasting names. A name is a hash already, so it is looked up in one step instead of a dozen
//! comparisons. Such a map has no order that means anything: nobody goes through one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by names.
pub type ByName<Name, Value> = HashMap<Name, Value, BuildHasherDefault<NameHasher>>;
/// A set of names.
pub type Names<Name> = HashSet<Name, BuildHasherDefault<NameHasher>>;

/// Spreads the bits of a name over a word, always in the same way.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // Names in tests and test-beds are small numbers: an odd factor makes the upper bits differ, the turn the lower.
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn write_u128(&mut self, word: u128) {
        self.write_u64(word as u64);
        self.write_u64((word >> 64) as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::StateKey;
    use std::hash::{BuildHasher, Hash};

    #[test]
    fn small_names_differ_in_the_bits_that_tables_look_at() {
        let hash = |number: u128| BuildHasherDefault::<NameHasher>::default().hash_one(StateKey(number));
        for shift in [0, 57] {
            let places: HashSet<u64> = (0..128).map(|number| (hash(number) >> shift) & 127).collect();
            assert!(places.len() > 60, "{} places from bit {shift} on", places.len());
        }
        assert_ne!(hash(1), hash(1 << 64));
    }

    #[test]
    fn whatever_is_written_counts() {
        let hash = |name: &str| {
            let mut hasher = NameHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        assert_ne!(hash("ab"), hash("ba"));
    }
}
