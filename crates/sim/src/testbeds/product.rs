//! Products of small machines: a page whose parts change on their own. The number of states is the
//! product of the parts' states, the number of things worth trying is the sum.

use argiope_explore::model::Model;

use super::TestbedFamily;

/// The family of independent parts.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "product:SxP",
    examples: &["product:3x8"],
    summary: "P independent parts of S states each: S^P states",
    help: "Generated. Each part is a small machine with S states, of three kinds in turn: a choice (every \
           other state is one action away), a cycle (one action, to the next state) and a stepper (one \
           action up, one down, none past an end). No part knows of the others, so a page has S^P states \
           although the parts have S times P states in all. A reset costs 3 actions.",
};

/// The family with two parts that depend on each other.
pub(super) const COUPLED: TestbedFamily = TestbedFamily {
    name: "product-coupled:SxP",
    examples: &["product-coupled:3x8"],
    summary: "product:SxP where the second part depends on the first one",
    help: "Generated like product:SxP, with one difference. The action of the second part leads to the \
           next state only while the first part is in its first state. Otherwise it leads back to the \
           first state. A crawler that takes all parts for independent predicts it wrongly. A reset \
           costs 3 actions.",
};

/// The largest number of states of a part.
pub(super) const MAX_STATES: u32 = 100;
/// The largest number of parts.
pub(super) const MAX_PARTS: u32 = 20;
/// The largest number of states of a page.
const MAX_PAGES: u64 = 1_000_000;
/// The largest number of transitions.
const MAX_TRANSITIONS: u64 = 10_000_000;

/// A page with parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The number of states of each part.
    pub states: u32,
    /// The number of parts.
    pub parts: u32,
    /// Whether the second part depends on the first one.
    pub coupled: bool,
}

/// What the actions of a part do.
enum Machine {
    Choice,
    Cycle,
    Stepper,
}

fn machine(part: u32) -> Machine {
    match part % 3 {
        0 => Machine::Choice,
        1 => Machine::Cycle,
        _ => Machine::Stepper,
    }
}

impl Product {
    /// Whether its numbers are within their limits.
    pub(super) fn is_within_limits(&self) -> bool {
        let fewest_parts = if self.coupled { 2 } else { 1 };
        (2..=MAX_STATES).contains(&self.states)
            && (fewest_parts..=MAX_PARTS).contains(&self.parts)
            && u64::from(self.states).checked_pow(self.parts).is_some_and(|pages| {
                pages <= MAX_PAGES && self.transitions_of(pages) <= MAX_TRANSITIONS
            })
    }

    /// The number of transitions of a product with this number of pages.
    fn transitions_of(&self, pages: u64) -> u64 {
        let states = u64::from(self.states);
        let of_part = |part| match machine(part) {
            Machine::Choice => pages * (states - 1),
            Machine::Cycle => pages,
            Machine::Stepper => pages / states * 2 * (states - 1),
        };
        (0..self.parts).map(of_part).sum()
    }

    /// The actions of a part: the number of the action within the part, and the next state.
    fn actions(&self, part: u32, at: &[u32]) -> Vec<(u32, u32)> {
        let (state, last) = (at[part as usize], self.states - 1);
        match machine(part) {
            Machine::Choice => {
                (0..self.states).filter(|&to| to != state).map(|to| (to, to)).collect()
            }
            Machine::Cycle => {
                let leads_back = self.coupled && part == 1 && at[0] != 0;
                vec![(0, if leads_back || state == last { 0 } else { state + 1 })]
            }
            Machine::Stepper => {
                let up = (state < last).then(|| (0, state + 1));
                let down = (state > 0).then(|| (1, state - 1));
                up.into_iter().chain(down).collect()
            }
        }
    }

    fn action_names(&self, part: u32) -> Vec<String> {
        let named = |action: String| format!("{action} in part {part}");
        match machine(part) {
            Machine::Choice => (0..self.states).map(|to| named(format!("choose {to}"))).collect(),
            Machine::Cycle => vec![named("turn".to_owned())],
            Machine::Stepper => ["more", "less"].map(|name| named(name.to_owned())).to_vec(),
        }
    }

    /// Builds the application.
    pub(super) fn model(&self) -> Model {
        assert!(self.is_within_limits(), "{self:?} is too large");
        let mut names = Vec::new();
        let mut first_action = Vec::new();
        for part in 0..self.parts {
            first_action.push(names.len() as u32);
            names.extend(self.action_names(part));
        }
        let family = if self.coupled { "product-coupled" } else { "product" };
        let mut model = Model::new(format!("{family}:{}x{}", self.states, self.parts), 3.0, names);
        model.part_names = (0..self.parts).map(|part| format!("part {part}")).collect();
        // The number of a page has one digit for each part, the digit of part 0 being the last.
        let mut at = vec![0; self.parts as usize];
        for page in 0..self.states.pow(self.parts) {
            let mut weight = 1;
            let mut transitions = Vec::new();
            for part in 0..self.parts {
                for (action, to) in self.actions(part, &at) {
                    let target = page - at[part as usize] * weight + to * weight;
                    let action = first_action[part as usize] + action;
                    transitions.push((action, target, Some(part)));
                }
                weight = weight.saturating_mul(self.states);
            }
            model.push_state_with_parts((0..).zip(at.iter().copied()), transitions);
            for digit in &mut at {
                *digit = (*digit + 1) % self.states;
                if *digit > 0 {
                    break;
                }
            }
        }
        model
    }
}
