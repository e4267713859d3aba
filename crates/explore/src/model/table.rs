//! The states of a model in flat vectors. A state takes four bytes and a transition eight. Parts
//! cost nothing in a model that has none.

/// Stands for a transition that belongs to no part.
const NO_PART: u32 = u32::MAX;

/// The transitions and parts of all states, one state after the other.
///
/// Equal states give equal vectors: `part_ends` stops at the last state with parts, and
/// `transition_parts` at the last transition with a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StateTable {
    /// The end of each state's transitions.
    ends: Vec<u32>,
    /// Pairs of action and destination.
    transitions: Vec<(u32, u32)>,
    /// The end of each state's parts.
    part_ends: Vec<u32>,
    /// Pairs of part and part state.
    parts: Vec<(u32, u32)>,
    /// The part that each transition's action belongs to.
    transition_parts: Vec<u32>,
}

impl StateTable {
    /// Adds a transition of the state that [`Self::end_state`] will end.
    pub(super) fn add_transition(&mut self, action: u32, to: u32, part: Option<u32>) {
        if let Some(part) = part {
            assert_ne!(part, NO_PART, "the number of a part is below 2^32 - 1");
            self.transition_parts.resize(self.transitions.len(), NO_PART);
            self.transition_parts.push(part);
        }
        self.transitions.push((action, to));
    }

    /// Adds a part of the state that [`Self::end_state`] will end.
    pub(super) fn add_part(&mut self, part: u32, part_state: u32) {
        if self.part_ends.len() < self.states() {
            let end = self.part_ends.last().copied().unwrap_or(0);
            self.part_ends.resize(self.states(), end);
        }
        self.parts.push((part, part_state));
    }

    /// Ends the next state. Returns whether the numbers of states, transitions and parts fit into
    /// 32 bits.
    pub(super) fn end_state(&mut self) -> bool {
        let (Ok(end), Ok(part_end), Ok(_)) = (
            u32::try_from(self.transitions.len()),
            u32::try_from(self.parts.len()),
            u32::try_from(self.ends.len() + 1),
        ) else {
            return false;
        };
        if self.part_ends.last().copied().unwrap_or(0) != part_end {
            self.part_ends.push(part_end);
        }
        self.ends.push(end);
        true
    }

    /// The number of states.
    pub(super) fn states(&self) -> usize {
        self.ends.len()
    }

    /// The number of transitions.
    pub(super) fn transitions(&self) -> usize {
        self.transitions.len()
    }

    /// Whether a state has parts, or an action belongs to one.
    pub(super) fn has_parts(&self) -> bool {
        !self.parts.is_empty() || !self.transition_parts.is_empty()
    }

    /// The transitions of a state.
    pub(super) fn transitions_from(&self, state: u32) -> &[(u32, u32)] {
        &self.transitions[self.start(state)..self.ends[state as usize] as usize]
    }

    /// The parts of a state.
    pub(super) fn parts_of(&self, state: u32) -> &[(u32, u32)] {
        let end = |state: usize| self.part_ends.get(state).copied();
        let Some(until) = end(state as usize) else { return &[] };
        let from = (state as usize).checked_sub(1).and_then(end).unwrap_or(0);
        &self.parts[from as usize..until as usize]
    }

    /// The part of a state's transition.
    pub(super) fn part_of(&self, state: u32, at: usize) -> Option<u32> {
        assert!(at < self.transitions_from(state).len(), "state {state} has no transition {at}");
        let part = self.transition_parts.get(self.start(state) + at).copied();
        part.filter(|&part| part != NO_PART)
    }

    fn start(&self, state: u32) -> usize {
        (state as usize).checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }
}
