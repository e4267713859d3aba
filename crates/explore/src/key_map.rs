//! Maps and sets by lasting names. A name is a hash already, so it is looked up in one step instead of a dozen
//! comparisons. Such a map has no order that means anything, so there is no way to go through one.

#![expect(clippy::disallowed_types, reason = "nobody sees the order")]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map by names.
#[derive(Clone, Debug)]
pub struct KeyMap<Name, Value>(HashMap<Name, Value, BuildHasherDefault<KeyHasher>>);

impl<Name, Value> Default for KeyMap<Name, Value> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<Name: Eq + Hash, Value: Copy> KeyMap<Name, Value> {
    /// What stands under a name.
    pub fn get(&self, name: &Name) -> Option<Value> {
        self.0.get(name).copied()
    }

    /// What stands under a name; if nothing does, this from now on.
    pub fn get_or_insert(&mut self, name: Name, value: Value) -> Value {
        *self.0.entry(name).or_insert(value)
    }

    /// The bytes it holds: a table keeps an eighth of its places free, and a byte beside each.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * 8 / 7 * (size_of::<(Name, Value)>() + 1)
    }
}

/// A set of names.
#[derive(Clone, Debug)]
pub struct KeySet<Name>(HashSet<Name, BuildHasherDefault<KeyHasher>>);

impl<Name> Default for KeySet<Name> {
    fn default() -> Self {
        Self(HashSet::default())
    }
}

impl<Name: Eq + Hash> KeySet<Name> {
    /// Adds a name. Says whether it was not there.
    pub fn insert(&mut self, name: Name) -> bool {
        self.0.insert(name)
    }
}

impl<Name> KeySet<Name> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<Name: Eq + Hash> FromIterator<Name> for KeySet<Name> {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

/// Spreads the bits of a name over a word, always in the same way.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
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
    use std::hash::BuildHasher;

    #[test]
    fn small_names_differ_in_the_bits_that_tables_look_at() {
        let hash =
            |number: u128| BuildHasherDefault::<KeyHasher>::default().hash_one(StateKey(number));
        for shift in [0, 57] {
            let places: HashSet<u64> =
                (0..128).map(|number| (hash(number) >> shift) & 127).collect();
            assert!(places.len() > 60, "{} places from bit {shift} on", places.len());
        }
        assert_ne!(hash(1), hash(1 << 64));
    }

    #[test]
    fn the_first_value_stays() {
        let mut numbers = KeyMap::default();
        assert_eq!(numbers.get_or_insert(StateKey(5), 1), 1);
        assert_eq!(numbers.get_or_insert(StateKey(5), 2), 1);
        assert_eq!((numbers.get(&StateKey(5)), numbers.get(&StateKey(6))), (Some(1), None));
    }

    #[test]
    fn whatever_is_written_counts() {
        let hash = |name: &str| {
            let mut hasher = KeyHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        assert_ne!(hash("ab"), hash("ba"));
    }
}
