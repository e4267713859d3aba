//! The parts of a state: regions of its page that may change on their own. Plain data, from which
//! [`crate::contexts`] learns which actions are alike.

use serde::{Deserialize, Serialize};

use crate::id::ActionSignature;

/// Where a part is. It is the same in every state that has the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartPlace(pub u64);

/// What a part shows, without the parts inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartLook(pub u64);

/// A part of a state. The items of a list have one place, and items that look alike are one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StatePart {
    /// Where it is.
    pub place: PartPlace,
    /// What it shows.
    pub look: PartLook,
}

/// An action of a state, and the part that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartAction {
    /// The action.
    pub action: ActionSignature,
    /// What is done to which kind of element. It is the same for alike items of a list, and in
    /// every state.
    pub deed: u64,
    /// The index of the part.
    pub part: u32,
    /// Whether the part is an item of a list.
    pub item: bool,
}

/// The parts of one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateParts {
    /// In order, each once.
    pub parts: Vec<StatePart>,
    /// The actions that belong to a part, in the order of their signatures, each once.
    pub actions: Vec<PartAction>,
}

impl StateParts {
    /// Brings parts and actions into their order.
    pub fn new(
        parts: &[StatePart],
        actions: impl IntoIterator<Item = (PartAction, StatePart)>,
    ) -> Self {
        let mut parts = parts.to_vec();
        let mut actions: Vec<(PartAction, StatePart)> = actions.into_iter().collect();
        parts.extend(actions.iter().map(|(_, part)| *part));
        parts.sort_unstable();
        parts.dedup();
        actions.sort_unstable_by_key(|(action, _)| action.action);
        actions.dedup_by_key(|(action, _)| action.action);
        let indexed = |(action, part): (PartAction, StatePart)| {
            let index = parts.binary_search(&part).expect("every part of an action is a part");
            PartAction { part: index as u32, ..action }
        };
        let actions = actions.into_iter().map(indexed).collect();
        Self { parts, actions }
    }

    /// What is wrong with the form, if anything is: it may come from another process.
    pub fn fault(&self) -> Option<&'static str> {
        let in_order = self.parts.is_sorted_by(|one, next| one < next)
            && self.actions.is_sorted_by(|one, next| one.action < next.action);
        let known = |action: &PartAction| (action.part as usize) < self.parts.len();
        if !in_order {
            Some("its parts are not in order, each once")
        } else if !self.actions.iter().all(known) {
            Some("an action belongs to no part")
        } else {
            None
        }
    }

    /// An action, if it belongs to a part.
    pub fn action(&self, action: ActionSignature) -> Option<&PartAction> {
        let at = self.actions.binary_search_by_key(&action, |known| known.action).ok()?;
        Some(&self.actions[at])
    }

    /// What is at a place: one look, several of a list, or none.
    pub fn at(&self, place: PartPlace) -> &[StatePart] {
        let begin = self.parts.partition_point(|part| part.place < place);
        let end = self.parts.partition_point(|part| part.place <= place);
        &self.parts[begin..end]
    }
}
