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

use std::fmt::Write as _;
use std::io;

mod read;
mod state;

pub use read::{ModelError, ModelReadOptions};

/// The value of the field `format` in a model file.
pub const FORMAT: &str = "argiope-model/1";

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
    starts: Vec<u32>,
    transitions: Vec<(u32, u32)>,
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
            starts: vec![0],
            transitions: Vec::new(),
        }
    }

    /// Adds the next state with its transitions: pairs of action and destination.
    pub fn push_state(&mut self, transitions: impl IntoIterator<Item = (u32, u32)>) {
        self.transitions.extend(transitions);
        self.starts.push(u32::try_from(self.transitions.len()).expect("at most 2^32 transitions"));
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of transitions.
    pub fn transitions(&self) -> usize {
        self.transitions.len()
    }

    /// The transitions of a state: pairs of action and destination.
    pub fn transitions_from(&self, state: u32) -> &[(u32, u32)] {
        let state = state as usize;
        &self.transitions[self.starts[state] as usize..self.starts[state + 1] as usize]
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
        write!(out, r#"{{"format":"{FORMAT}","name":"#)?;
        serde_json::to_writer(&mut *out, &self.name)?;
        write!(out, r#","initial":{},"reset_cost":"#, self.initial)?;
        serde_json::to_writer(&mut *out, &self.reset_cost)?;
        if !self.entries.is_empty() {
            out.write_all(b",\n\"entries\":")?;
            serde_json::to_writer(&mut *out, &self.entries)?;
        }
        out.write_all(b",\n\"actions\":")?;
        serde_json::to_writer(&mut *out, &self.actions)?;
        out.write_all(b",\n\"states\":[")?;
        let mut line = String::new();
        for state in 0..self.states() as u32 {
            line.clear();
            line.push_str(if state == 0 { "\n" } else { ",\n" });
            line.push_str(r#"{"actions":["#);
            for (at, (action, to)) in self.transitions_from(state).iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                write!(line, "{comma}[{action},{to}]").expect("writing to memory succeeds");
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
    fn unreachable_states_are_listed() {
        let mut model = switch();
        assert!(model.unreachable().is_empty());
        model.push_state([(0, 0)]);
        model.push_state([]);
        assert_eq!(model.unreachable(), [2, 3]);
    }
}
