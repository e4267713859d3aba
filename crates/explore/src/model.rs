//! The model of a whole application: its states, their actions and the destinations. Knows nothing
//! of crawling; the growing knowledge of a crawl is [`crate::graph`].
//!
//! The interchange file `argiope-model/1` is JSON. A state lists its actions as pairs of two
//! indexes, action and destination:
//!
//! ```json
//! {"format":"argiope-model/1","name":"switch","initial":0,"reset_cost":2.0,
//! "actions":["on","off"],
//! "states":[
//! {"actions":[[0,1]]},
//! {"actions":[[1,0]]}
//! ]}
//! ```
//!
//! The optional field `entries` lists further states that a load leads to, as `[2,5]`.
//!
//! In `argiope-model/2` states may list their parts: the pieces of a page that change by
//! themselves. The field `parts` names them. A state lists pairs of part and part state, sorted by
//! part. The third index of an action is the part that it belongs to; without it, the action
//! belongs to the page as a whole:
//!
//! ```json
//! {"format":"argiope-model/2","name":"lamp and fan","initial":0,"reset_cost":2.0,
//! "parts":["lamp","fan"],
//! "actions":["switch lamp","switch fan"],
//! "states":[
//! {"parts":[[0,0],[1,0]],"actions":[[0,1,0],[1,2,1]]},
//! {"parts":[[0,1],[1,0]],"actions":[[0,0,0],[1,3,1]]},
//! {"parts":[[0,0],[1,1]],"actions":[[0,3,0],[1,0,1]]},
//! {"parts":[[0,1],[1,1]],"actions":[[0,2,0],[1,1,1]]}
//! ]}
//! ```
//!
//! A model without parts is written as `argiope-model/1`.

use std::fmt::Write as _;
use std::io;

mod read;
mod state;
mod table;

use table::StateTable;

pub use read::{ModelError, ModelReadOptions};

/// The value of the field `format` in the file of a model without parts.
pub const FORMAT: &str = "argiope-model/1";
/// The value of the field `format` in the file of a model with parts.
pub const FORMAT_WITH_PARTS: &str = "argiope-model/2";

/// A complete model: every action of every state with its destination.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The name of the application.
    pub name: String,
    /// The state that a reset (loading the URL) leads to.
    pub initial: u32,
    /// The cost of a reset, in actions (the papers' c_r).
    pub reset_cost: f64,
    /// The other states that a reset leads to, by an address of their own. Such a reset costs the
    /// same.
    pub entries: Vec<u32>,
    /// The names of the actions. Transitions refer to them by index.
    pub actions: Vec<String>,
    /// The names of the parts. States refer to them by index. Empty if the model has no parts.
    pub part_names: Vec<String>,
    table: StateTable,
}

impl Model {
    /// Creates a model without states.
    pub fn new(name: impl Into<String>, reset_cost: f64, actions: Vec<String>) -> Self {
        Self {
            name: name.into(),
            initial: 0,
            reset_cost,
            entries: Vec::new(),
            actions,
            part_names: Vec::new(),
            table: StateTable::default(),
        }
    }

    /// Adds the next state with its transitions: pairs of action and destination.
    pub fn push_state(&mut self, transitions: impl IntoIterator<Item = (u32, u32)>) {
        self.push_state_with_parts(
            [],
            transitions.into_iter().map(|(action, to)| (action, to, None)),
        );
    }

    /// Adds the next state with its parts and its transitions.
    ///
    /// Parts are pairs of part and part state, sorted by part. A transition has an action, a
    /// destination and the part that the action belongs to, or `None` for the page as a whole.
    pub fn push_state_with_parts(
        &mut self,
        parts: impl IntoIterator<Item = (u32, u32)>,
        transitions: impl IntoIterator<Item = (u32, u32, Option<u32>)>,
    ) {
        for (action, to, part) in transitions {
            self.table.add_transition(action, to, part);
        }
        for (part, part_state) in parts {
            self.table.add_part(part, part_state);
        }
        assert!(self.table.end_state(), "at most 2^32 states, transitions and parts");
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.table.states()
    }

    /// The number of transitions.
    pub fn transitions(&self) -> usize {
        self.table.transitions()
    }

    /// The transitions of a state: pairs of action and destination.
    pub fn transitions_from(&self, state: u32) -> &[(u32, u32)] {
        self.table.transitions_from(state)
    }

    /// The parts of a state: pairs of part and part state, sorted by part.
    pub fn parts_of(&self, state: u32) -> &[(u32, u32)] {
        self.table.parts_of(state)
    }

    /// The part that the action of a transition belongs to, by the transition's position in
    /// [`Self::transitions_from`]. `None` means the page as a whole.
    pub fn part_of(&self, state: u32, at: usize) -> Option<u32> {
        self.table.part_of(state, at)
    }

    /// The states that no walk from the initial state reaches, in order. A crawl cannot find them.
    pub fn unreachable(&self) -> Vec<u32> {
        let mut reached = vec![false; self.states()];
        reached[self.initial as usize] = true;
        let mut waiting = vec![self.initial];
        while let Some(state) = waiting.pop() {
            for &(_, to) in self.transitions_from(state) {
                if !reached[to as usize] {
                    reached[to as usize] = true;
                    waiting.push(to);
                }
            }
        }
        let states = 0..self.states() as u32;
        states.filter(|&state| !reached[state as usize]).collect()
    }

    /// Returns the interchange file. Equal models give equal bytes.
    pub fn to_json(&self) -> String {
        let mut text = Vec::new();
        self.write_json(&mut text).expect("writing to memory succeeds");
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    /// Writes the interchange file, one state per line, so that `diff` compares two models.
    pub fn write_json(&self, out: &mut impl io::Write) -> io::Result<()> {
        let has_parts = !self.part_names.is_empty();
        let format = if has_parts { FORMAT_WITH_PARTS } else { FORMAT };
        write!(out, r#"{{"format":"{format}","name":"#)?;
        serde_json::to_writer(&mut *out, &self.name)?;
        write!(out, r#","initial":{},"reset_cost":"#, self.initial)?;
        serde_json::to_writer(&mut *out, &self.reset_cost)?;
        if !self.entries.is_empty() {
            out.write_all(b",\n\"entries\":")?;
            serde_json::to_writer(&mut *out, &self.entries)?;
        }
        if has_parts {
            out.write_all(b",\n\"parts\":")?;
            serde_json::to_writer(&mut *out, &self.part_names)?;
        }
        out.write_all(b",\n\"actions\":")?;
        serde_json::to_writer(&mut *out, &self.actions)?;
        out.write_all(b",\n\"states\":[")?;
        let mut line = String::new();
        for state in 0..self.states() as u32 {
            line.clear();
            line.push_str(if state == 0 { "\n" } else { ",\n" });
            line.push('{');
            if has_parts {
                line.push_str(r#""parts":["#);
                for (at, (part, part_state)) in self.parts_of(state).iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(line, "{comma}[{part},{part_state}]")
                        .expect("writing to memory succeeds");
                }
                line.push_str("],");
            }
            line.push_str(r#""actions":["#);
            for (at, (action, to)) in self.transitions_from(state).iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                write!(line, "{comma}[{action},{to}").expect("writing to memory succeeds");
                if let Some(part) = self.part_of(state, at) {
                    write!(line, ",{part}").expect("writing to memory succeeds");
                }
                line.push(']');
            }
            line.push_str("]}");
            out.write_all(line.as_bytes())?;
        }
        out.write_all(b"\n]}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Model;

    fn switch() -> Model {
        let mut model = Model::new("switch", 2.0, vec!["on".into(), "off".into()]);
        model.push_state([(0, 1)]);
        model.push_state([(1, 0)]);
        model
    }

    #[test]
    fn a_model_has_the_same_bytes_in_every_version() {
        let expected = concat!(
            r#"{"format":"argiope-model/1","name":"switch","initial":0,"reset_cost":2.0,"#,
            "\n\"actions\":[\"on\",\"off\"],\n\"states\":[\n",
            "{\"actions\":[[0,1]]},\n{\"actions\":[[1,0]]}\n]}\n"
        );
        assert_eq!(switch().to_json(), expected);
    }

    #[test]
    fn a_model_with_parts_has_the_same_bytes_in_every_version() {
        let mut model = Model::new("lamp", 2.0, vec!["switch".into(), "reload".into()]);
        model.part_names = vec!["clock".into(), "lamp".into()];
        model.push_state([(1, 1)]);
        model.push_state_with_parts([(1, 0)], [(1, 0, None), (0, 2, Some(1))]);
        model.push_state_with_parts([(0, 7), (1, 1)], [(0, 1, Some(1)), (1, 0, None)]);
        let expected = concat!(
            r#"{"format":"argiope-model/2","name":"lamp","initial":0,"reset_cost":2.0,"#,
            "\n\"parts\":[\"clock\",\"lamp\"],\n\"actions\":[\"switch\",\"reload\"],\n\"states\":[\n",
            "{\"parts\":[],\"actions\":[[1,1]]},\n",
            "{\"parts\":[[1,0]],\"actions\":[[1,0],[0,2,1]]},\n",
            "{\"parts\":[[0,7],[1,1]],\"actions\":[[0,1,1],[1,0]]}\n]}\n"
        );
        assert_eq!(model.to_json(), expected);
        assert_eq!([model.parts_of(0), model.parts_of(1)], [&[][..], &[(1, 0)]]);
        assert_eq!(model.parts_of(2), [(0, 7), (1, 1)]);
        let part_of = |(state, at)| model.part_of(state, at);
        let parts = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)].map(part_of);
        assert_eq!(parts, [None, None, Some(1), Some(1), None]);
    }

    #[test]
    fn unreachable_states_are_listed() {
        let mut model = switch();
        assert!(model.unreachable().is_empty());
        model.push_state([(0, 0)]);
        model.push_state([]);
        assert_eq!(model.unreachable(), [2, 3]);
    }
}
