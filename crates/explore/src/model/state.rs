//! Reads the list of states of a model file directly into flat vectors. A state takes four bytes
//! and a transition eight, whatever the layout of the file.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess};
use serde::de::{Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};

use crate::quoted::Quoted;

/// All transitions in one vector, and the start of each state's transitions.
pub(super) struct TransitionTable {
    pub(super) starts: Vec<u32>,
    pub(super) transitions: Vec<(u32, u32)>,
}

impl<'de> Deserialize<'de> for TransitionTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StatesVisitor)
    }
}

struct StatesVisitor;

impl<'de> Visitor<'de> for StatesVisitor {
    type Value = TransitionTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of states")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TransitionTable, A::Error> {
        let mut states = TransitionTable { starts: vec![0], transitions: Vec::new() };
        while list.next_element_seed(StateReader(&mut states.transitions))?.is_some() {
            let (Ok(end), Ok(_)) =
                (u32::try_from(states.transitions.len()), u32::try_from(states.starts.len()))
            else {
                return Err(A::Error::custom("more states or transitions than 4294967295"));
            };
            states.starts.push(end);
        }
        Ok(states)
    }
}

/// Reads one state: an object whose only field is its list of actions.
struct StateReader<'a>(&'a mut Vec<(u32, u32)>);

impl<'de> DeserializeSeed<'de> for StateReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for StateReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state: {\"actions\":[[action, destination], …]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(field) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            if field != "actions" {
                let field = Quoted(&field);
                return Err(A::Error::custom(format_args!("a state has no field {field}")));
            }
            if seen {
                return Err(A::Error::duplicate_field("actions"));
            }
            fields.next_value_seed(ActionsReader(self.0))?;
            seen = true;
        }
        if seen { Ok(()) } else { Err(A::Error::missing_field("actions")) }
    }
}

/// Reads the actions of one state and appends them to the transitions.
struct ActionsReader<'a>(&'a mut Vec<(u32, u32)>);

impl<'de> DeserializeSeed<'de> for ActionsReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ActionsReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of [action, destination]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(Transition(action, to)) = list.next_element()? {
            self.0.push((action, to));
        }
        Ok(())
    }
}

/// A pair of indexes. A derived tuple would report a third number as "trailing characters".
struct Transition(u32, u32);

impl<'de> Deserialize<'de> for Transition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PairVisitor)
    }
}

struct PairVisitor;

impl<'de> Visitor<'de> for PairVisitor {
    type Value = Transition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[action, destination], two indexes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Transition, A::Error> {
        let action = pair.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let to = pair.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        if pair.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(3, &self));
        }
        Ok(Transition(action, to))
    }
}
