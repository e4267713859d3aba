//! Reads the list of states of a model file directly into flat vectors, whatever the layout of the
//! file.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, Unexpected};
use serde::de::{Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};

use super::table::StateTable;
use crate::quoted::Quoted;

impl<'de> Deserialize<'de> for StateTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StatesVisitor)
    }
}

struct StatesVisitor;

impl<'de> Visitor<'de> for StatesVisitor {
    type Value = StateTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of states")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StateTable, A::Error> {
        let mut states = StateTable::default();
        while list.next_element_seed(StateReader(&mut states))?.is_some() {
            if !states.end_state() {
                return Err(A::Error::custom("more states, transitions or parts than 4294967295"));
            }
        }
        Ok(states)
    }
}

/// Reads one state: an object with its list of actions and perhaps a list of parts.
struct StateReader<'a>(&'a mut StateTable);

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
        let (mut has_actions, mut has_parts) = (false, false);
        while let Some(field) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            let (seen, name) = match &*field {
                "actions" => (&mut has_actions, "actions"),
                "parts" => (&mut has_parts, "parts"),
                _ => {
                    let field = Quoted(&field);
                    return Err(A::Error::custom(format_args!("a state has no field {field}")));
                }
            };
            if std::mem::replace(seen, true) {
                return Err(A::Error::duplicate_field(name));
            }
            match name {
                "actions" => fields.next_value_seed(ActionsReader(self.0))?,
                _ => fields.next_value_seed(PartsReader(self.0))?,
            }
        }
        if has_actions { Ok(()) } else { Err(A::Error::missing_field("actions")) }
    }
}

/// Reads the actions of one state and appends them to the transitions.
struct ActionsReader<'a>(&'a mut StateTable);

impl<'de> DeserializeSeed<'de> for ActionsReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ActionsReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of [action, destination] or [action, destination, part]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(Transition(action, to, part)) = list.next_element()? {
            self.0.add_transition(action, to, part);
        }
        Ok(())
    }
}

/// Reads the parts of one state and appends them to the parts of all.
struct PartsReader<'a>(&'a mut StateTable);

impl<'de> DeserializeSeed<'de> for PartsReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for PartsReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of [part, part state]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(PartState(part, part_state)) = list.next_element()? {
            self.0.add_part(part, part_state);
        }
        Ok(())
    }
}

/// Two indexes and perhaps a third. A derived tuple would report one more number as "trailing
/// characters".
struct Transition(u32, u32, Option<u32>);

impl<'de> Deserialize<'de> for Transition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(TransitionVisitor)
    }
}

struct TransitionVisitor;

impl<'de> Visitor<'de> for TransitionVisitor {
    type Value = Transition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[action, destination] or [action, destination, part], all indexes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Transition, A::Error> {
        let action = list.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let to = list.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        let part: Option<u32> = list.next_element()?;
        if part.is_some() && list.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(4, &self));
        }
        if part == Some(u32::MAX) {
            let number = Unexpected::Unsigned(u32::MAX.into());
            return Err(A::Error::invalid_value(number, &"the index of a part"));
        }
        Ok(Transition(action, to, part))
    }
}

/// A part and its state.
struct PartState(u32, u32);

impl<'de> Deserialize<'de> for PartState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PartStateVisitor)
    }
}

struct PartStateVisitor;

impl<'de> Visitor<'de> for PartStateVisitor {
    type Value = PartState;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[part, part state], two numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<PartState, A::Error> {
        let part = pair.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let part_state = pair.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        if pair.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(3, &self));
        }
        Ok(PartState(part, part_state))
    }
}
