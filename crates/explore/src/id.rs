//! Identifiers of states and actions: keys that mean the same on every machine, and the small
//! indexes that stand for them inside one graph.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The key of a state: the hash that its identity computed. It also decides which controller of a
/// ring owns the state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateKey(pub u128);

/// The signature of an action. It is equal in every state that offers the same action.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Hashes are numbers for people, and bytes for programs: with a varint of 19 bytes for each key a
/// controller would spend a tenth of its time on them.
macro_rules! encoded_as_bytes {
    ($($name:ident($number:ty))*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return self.0.serialize(serializer);
                }
                serializer.serialize_bytes(&self.0.to_le_bytes())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Bytes;

                impl Visitor<'_> for Bytes {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} bytes", size_of::<$number>())
                    }

                    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<$name, E> {
                        match bytes.try_into() {
                            Ok(bytes) => Ok($name(<$number>::from_le_bytes(bytes))),
                            Err(_) => Err(E::invalid_length(bytes.len(), &self)),
                        }
                    }
                }

                if deserializer.is_human_readable() {
                    return <$number>::deserialize(deserializer).map($name);
                }
                deserializer.deserialize_bytes(Bytes)
            }
        }
    )*};
}

encoded_as_bytes! {
    StateKey(u128)
    ActionSignature(u64)
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
