//! Maps and sets keyed by hashes, such as state keys. The keys need no further hashing, which makes
//! a lookup cheaper than in an ordered map. The maps offer no iteration, because their order would
//! break determinism.

#![expect(clippy::disallowed_types, reason = "no method exposes the order")]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map whose keys are hashes.
#[derive(Clone, Debug)]
pub struct KeyMap<Key, Value>(HashMap<Key, Value, BuildHasherDefault<KeyHasher>>);

impl<Key, Value> Default for KeyMap<Key, Value> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<Key: Eq + Hash, Value: Copy> KeyMap<Key, Value> {
    /// The value of a key.
    pub fn get(&self, key: &Key) -> Option<Value> {
        self.0.get(key).copied()
    }

    /// The value of a key. Inserts `value` first if there is none.
    pub fn get_or_insert(&mut self, key: Key, value: Value) -> Value {
        *self.0.entry(key).or_insert(value)
    }

    /// The memory of the table in bytes: one entry in eight stays free, and each has a control
    /// byte.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * 8 / 7 * (size_of::<(Key, Value)>() + 1)
    }
}

/// A set of hashes.
#[derive(Clone, Debug)]
pub struct KeySet<Key>(HashSet<Key, BuildHasherDefault<KeyHasher>>);

impl<Key> Default for KeySet<Key> {
    fn default() -> Self {
        Self(HashSet::default())
    }
}

impl<Key: Eq + Hash> KeySet<Key> {
    /// Adds a key. Returns whether it is new.
    pub fn insert(&mut self, key: Key) -> bool {
        self.0.insert(key)
    }
}

impl<Key> KeySet<Key> {
    /// The number of keys.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<Key: Eq + Hash> FromIterator<Key> for KeySet<Key> {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}

/// Spreads the bits of a key over a word, without a random seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // Keys in tests and test-beds are small numbers. The odd factor varies the upper bits, and
        // the rotation the lower bits.
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
    fn small_keys_differ_in_the_bits_that_a_table_uses() {
        let hash =
            |number: u128| BuildHasherDefault::<KeyHasher>::default().hash_one(StateKey(number));
        for shift in [0, 57] {
            let slots: HashSet<u64> =
                (0..128).map(|number| (hash(number) >> shift) & 127).collect();
            assert!(slots.len() > 60, "{} different values from bit {shift} on", slots.len());
        }
        assert_ne!(hash(1), hash(1 << 64));
    }

    #[test]
    fn an_insert_keeps_the_first_value() {
        let mut numbers = KeyMap::default();
        assert_eq!(numbers.get_or_insert(StateKey(5), 1), 1);
        assert_eq!(numbers.get_or_insert(StateKey(5), 2), 1);
        assert_eq!((numbers.get(&StateKey(5)), numbers.get(&StateKey(6))), (Some(1), None));
    }

    #[test]
    fn the_hash_depends_on_the_order_of_bytes() {
        let hash = |name: &str| {
            let mut hasher = KeyHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        assert_ne!(hash("ab"), hash("ba"));
    }
}
