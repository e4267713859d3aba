//! Reads the interchange file of a model. The file is untrusted: every fault gives one line that
//! names the place, and memory stays a small multiple of the file's size.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use super::table::StateTable;
use super::{FORMAT, FORMAT_WITH_PARTS, Model};
use crate::quoted::{Escaped, Quoted};
use crate::strategy::RESET_COSTS;

/// The maximum number of names of actions, and of parts. A name takes at least three bytes in a
/// file but many times that in memory, so the reader counts names as it reads. Real applications
/// have thousands.
const MAX_NAMES: usize = 1_000_000;
/// What the field `format` holds.
const FORMATS: &str = "\"argiope-model/1\" or \"argiope-model/2\"";

/// Options for reading a model file.
#[derive(Clone, Copy, Debug)]
pub struct ModelReadOptions {
    /// The maximum size of the file, in bytes. A transition takes at least six bytes in a file and
    /// at most 36 while it is read, so this also limits the memory.
    pub limit: usize,
    /// Accept unreachable states. [`Model::unreachable`] lists them.
    pub allow_unreachable: bool,
}

impl Default for ModelReadOptions {
    /// One gibibyte, enough for fifty million transitions, and no unreachable states.
    fn default() -> Self {
        Self { limit: 1 << 30, allow_unreachable: false }
    }
}

/// Why a model file is refused. Each error prints as one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The file is larger than the limit.
    #[error("the file has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The size of the file.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The file is not JSON, or has a wrong structure.
    #[error("line {line}, column {column}: {message}")]
    Shape {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong, escaped.
        message: String,
    },
    /// A required field is missing.
    #[error("{field} is missing; expected {expected}")]
    Missing {
        /// The name of the field.
        field: &'static str,
        /// What the field holds.
        expected: &'static str,
    },
    /// The model has no states.
    #[error("states is empty; a model has at least one state")]
    NoStates,
    /// The initial state does not exist.
    #[error("initial: state {initial} does not exist; the model has {states} states")]
    Initial {
        /// The index in the file.
        initial: u32,
        /// The number of states.
        states: usize,
    },
    /// An entry does not exist, or is the initial state or another entry.
    #[error(
        "entries[{at}]: {entry} is not another state; the model has {states} states, and each entry \
         stands once"
    )]
    Entry {
        /// The position in the list.
        at: usize,
        /// The index in the file.
        entry: u32,
        /// The number of states.
        states: usize,
    },
    /// The reset cost is out of range.
    #[error("reset_cost: {0} is not a number from {low} to {high}", low = RESET_COSTS.start(), high = RESET_COSTS.end())]
    ResetCost(f64),
    /// Two actions have the same name.
    #[error("actions[{second}]: {name} is already the name of actions[{first}]")]
    SameName {
        /// The name, quoted and escaped.
        name: String,
        /// The index of the first action.
        first: usize,
        /// The index of the second action.
        second: usize,
    },
    /// A transition refers to an action that does not exist.
    #[error(
        "states[{state}].actions[{at}]: action {action} does not exist; the model has {actions} actions"
    )]
    NoSuchAction {
        /// The state.
        state: usize,
        /// The position in the state's list.
        at: usize,
        /// The index in the file.
        action: u32,
        /// The number of actions.
        actions: usize,
    },
    /// A transition refers to a state that does not exist.
    #[error(
        "states[{state}].actions[{at}]: destination {to} does not exist; the model has {states} states"
    )]
    NoSuchState {
        /// The state.
        state: usize,
        /// The position in the state's list.
        at: usize,
        /// The index in the file.
        to: u32,
        /// The number of states.
        states: usize,
    },
    /// A state lists an action twice.
    #[error("states[{state}].actions[{at}]: the state lists action {action} twice")]
    ActionTwice {
        /// The state.
        state: usize,
        /// The position of the second entry in the state's list.
        at: usize,
        /// The index of the action.
        action: u32,
    },
    /// A state or an action has a part, but the format is that of a model without parts.
    #[error("states have parts; the format must be \"argiope-model/2\"")]
    PartsInFirstFormat,
    /// Two parts have the same name.
    #[error("parts[{second}]: {name} is already the name of parts[{first}]")]
    SamePartName {
        /// The name, quoted and escaped.
        name: String,
        /// The index of the first part.
        first: usize,
        /// The index of the second part.
        second: usize,
    },
    /// A state refers to a part that does not exist.
    #[error("states[{state}].parts[{at}]: part {part} does not exist; the model has {parts} parts")]
    NoSuchPart {
        /// The state.
        state: usize,
        /// The position in the state's list.
        at: usize,
        /// The index in the file.
        part: u32,
        /// The number of parts.
        parts: usize,
    },
    /// The parts of a state are not sorted, or one of them stands twice.
    #[error(
        "states[{state}].parts[{at}]: part {part} comes after part {before}; sort the parts, each once"
    )]
    PartOrder {
        /// The state.
        state: usize,
        /// The position in the state's list.
        at: usize,
        /// The part.
        part: u32,
        /// The part before it.
        before: u32,
    },
    /// An action belongs to a part that its state does not have.
    #[error("states[{state}].actions[{at}]: the state has no part {part}")]
    ForeignPart {
        /// The state.
        state: usize,
        /// The position in the state's list.
        at: usize,
        /// The index in the file.
        part: u32,
    },
    /// A crawl cannot reach some states.
    #[error(
        "states[{first}]: no walk from the initial state leads here ({count} unreachable in all)"
    )]
    Unreachable {
        /// The first unreachable state.
        first: u32,
        /// The number of unreachable states.
        count: usize,
    },
}

impl Model {
    /// Reads the interchange file.
    pub fn from_json(text: &[u8], options: ModelReadOptions) -> Result<Self, ModelError> {
        if text.len() > options.limit {
            return Err(ModelError::TooLarge { bytes: text.len(), limit: options.limit });
        }
        let missing = |field, expected| ModelError::Missing { field, expected };
        // The derived reader would also accept a list of the field values.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(missing("format", FORMATS));
        }
        let file: File = serde_json::from_slice(text).map_err(|error| shape_error(&error))?;
        let format = file.format.ok_or(missing("format", FORMATS))?;
        let table = file.states.ok_or(missing("states", "a list of states"))?;
        let part_names = match format {
            Format::WithParts => file.parts.ok_or(missing("parts", "a list of names"))?.0,
            Format::First if file.parts.is_some() || table.has_parts() => {
                return Err(ModelError::PartsInFirstFormat);
            }
            Format::First => Vec::new(),
        };
        let model = Self {
            name: file.name.ok_or(missing("name", "a text"))?,
            initial: file.initial.ok_or(missing("initial", "the index of a state"))?,
            reset_cost: file.reset_cost.ok_or(missing("reset_cost", "a number above 0"))?,
            entries: file.entries.unwrap_or_default(),
            actions: file.actions.ok_or(missing("actions", "a list of names"))?.0,
            part_names,
            table,
        };
        check(&model)?;
        if !options.allow_unreachable {
            let unreachable = model.unreachable();
            if let Some(&first) = unreachable.first() {
                let count = unreachable.len();
                return Err(ModelError::Unreachable { first, count });
            }
        }
        Ok(model)
    }
}

/// Checks that every index refers to something.
fn check(model: &Model) -> Result<(), ModelError> {
    let (states, actions) = (model.states(), model.actions.len());
    if states == 0 {
        return Err(ModelError::NoStates);
    }
    if model.initial as usize >= states {
        let initial = model.initial;
        return Err(ModelError::Initial { initial, states });
    }
    let mut seen = BTreeSet::from([model.initial]);
    for (at, &entry) in model.entries.iter().enumerate() {
        if entry as usize >= states || !seen.insert(entry) {
            return Err(ModelError::Entry { at, entry, states });
        }
    }
    if !RESET_COSTS.contains(&model.reset_cost) {
        return Err(ModelError::ResetCost(model.reset_cost));
    }
    if let Some((name, first, second)) = repeated(&model.actions) {
        return Err(ModelError::SameName { name, first, second });
    }
    if let Some((name, first, second)) = repeated(&model.part_names) {
        return Err(ModelError::SamePartName { name, first, second });
    }
    // The last state that listed each action: one vector serves all states.
    let mut listed_by = vec![usize::MAX; actions];
    for state in 0..states {
        check_parts(model, state)?;
        for (at, &(action, to)) in model.transitions_from(state as u32).iter().enumerate() {
            let Some(listed_by) = listed_by.get_mut(action as usize) else {
                return Err(ModelError::NoSuchAction { state, at, action, actions });
            };
            if to as usize >= states {
                return Err(ModelError::NoSuchState { state, at, to, states });
            }
            if *listed_by == state {
                return Err(ModelError::ActionTwice { state, at, action });
            }
            *listed_by = state;
        }
    }
    Ok(())
}

/// Checks the parts of one state, and those that its actions belong to.
fn check_parts(model: &Model, state: usize) -> Result<(), ModelError> {
    let (own, parts) = (model.parts_of(state as u32), model.part_names.len());
    let mut last = None;
    for (at, &(part, _)) in own.iter().enumerate() {
        if part as usize >= parts {
            return Err(ModelError::NoSuchPart { state, at, part, parts });
        }
        if let Some(before) = last.replace(part).filter(|&before| before >= part) {
            return Err(ModelError::PartOrder { state, at, part, before });
        }
    }
    for at in 0..model.transitions_from(state as u32).len() {
        if let Some(part) = model.part_of(state as u32, at)
            && own.binary_search_by_key(&part, |&(part, _)| part).is_err()
        {
            return Err(ModelError::ForeignPart { state, at, part });
        }
    }
    Ok(())
}

/// The first name that stands twice, quoted, and where.
fn repeated(names: &[String]) -> Option<(String, usize, usize)> {
    let mut seen = BTreeMap::new();
    names.iter().enumerate().find_map(|(second, name)| {
        let first = seen.insert(name, second)?;
        Some((Quoted(name).to_string(), first, second))
    })
}

/// Moves the place in front of the parser's message, and escapes text of the file.
fn shape_error(error: &serde_json::Error) -> ModelError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = text.strip_suffix(&place).unwrap_or(&text);
    ModelError::Shape { line, column, message: Escaped(message, 200).to_string() }
}

/// The file as written. Every field is optional here, so that the check reports a missing format
/// first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct File {
    format: Option<Format>,
    name: Option<String>,
    initial: Option<u32>,
    reset_cost: Option<f64>,
    entries: Option<Vec<u32>>,
    parts: Option<Names>,
    actions: Option<Names>,
    states: Option<StateTable>,
}

/// The format, checked as soon as it is read. Otherwise a file of another format would be refused
/// for a field that this format does not know.
enum Format {
    First,
    WithParts,
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*String::deserialize(deserializer)? {
            FORMAT => Ok(Self::First),
            FORMAT_WITH_PARTS => Ok(Self::WithParts),
            found => {
                let found = Quoted(found);
                Err(D::Error::custom(format_args!("format is {found}; expected {FORMATS}")))
            }
        }
    }
}

/// The names of the actions or parts, at most [`MAX_NAMES`].
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of names")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element()? {
            if names.len() == MAX_NAMES {
                return Err(A::Error::custom(format_args!("more than {MAX_NAMES} names")));
            }
            names.push(name);
        }
        Ok(Names(names))
    }
}

#[cfg(test)]
mod tests {
    use super::{Model, ModelReadOptions};

    /// A valid file of three states in a row, with one piece replaced.
    fn file(replaced: &str, by: &str) -> String {
        let good = r#"{"format":"argiope-model/1","name":"row","initial":0,"reset_cost":2.5,
"actions":["next","back"],
"states":[{"actions":[[0,1]]},{"actions":[[0,2],[1,0]]},{"actions":[[1,1]]}]}"#;
        assert!(good.contains(replaced), "{replaced} is not in the file");
        good.replacen(replaced, by, 1)
    }

    fn check(text: &str, expected: &str) {
        let error = Model::from_json(text.as_bytes(), ModelReadOptions::default())
            .expect_err("the file is wrong");
        assert_eq!(error.to_string(), expected, "for {text}");
    }

    #[test]
    fn a_model_survives_writing_and_reading() {
        let model = Model::from_json(
            file("row", "r\\u001b\\n\\\"ö").as_bytes(),
            ModelReadOptions::default(),
        )
        .unwrap();
        assert_eq!(model.name, "r\u{1b}\n\"ö");
        assert_eq!((model.states(), model.transitions()), (3, 4));
        assert_eq!(model.transitions_from(1), [(0, 2), (1, 0)]);
        let text = model.to_json();
        let again = Model::from_json(text.as_bytes(), ModelReadOptions::default()).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.to_json(), text);
    }

    #[test]
    fn broken_json_is_reported_with_its_place() {
        check("", "line 1, column 0: EOF while parsing a value");
        check("{\n  \"format\" 1}", "line 2, column 12: expected `:`");
        check(&file("[1,1]]}]}", "[1,1]]}"), "line 3, column 75: EOF while parsing a list");
        check(&(file("row", "row") + "x"), "line 3, column 78: trailing characters");
        check("7", "line 1, column 1: invalid type: integer `7`, expected an object");
        let text = [file("row", "row").as_bytes(), b"\xff"].concat();
        assert!(Model::from_json(&text, ModelReadOptions::default()).is_err());
    }

    #[test]
    fn another_format_is_reported_before_any_other_fault() {
        let expected = "expected \"argiope-model/1\" or \"argiope-model/2\"";
        check(
            &file("model/1\"", "model/3\",\"new\":1"),
            &format!("line 1, column 27: format is \"argiope-model/3\"; {expected}"),
        );
        check("{}", &format!("format is missing; {expected}"));
        check(" []", &format!("format is missing; {expected}"));
    }

    #[test]
    fn missing_and_unknown_fields_are_reported_by_name() {
        check(&file("\"name\":\"row\",", ""), "name is missing; expected a text");
        check(&file("\"initial\":0,", ""), "initial is missing; expected the index of a state");
        check(&file(",\"reset_cost\":2.5", ""), "reset_cost is missing; expected a number above 0");
        check(
            &file("\"actions\":[\"next\",\"back\"],", ""),
            "actions is missing; expected a list of names",
        );
        check(
            &file("\"initial\"", "\"\\u001b[31m\":1,\"initial\""),
            "line 1, column 53: unknown field `\\u{1b}[31m`, expected one of `format`, `name`, `initial`, \
             `reset_cost`, `entries`, `parts`, `actions`, `states`",
        );
        check(
            &file("\"initial\"", "\"name\":\"b\",\"initial\""),
            "line 1, column 47: duplicate field `name`",
        );
        check(
            &file("[[1,1]]", "[[1,1]],\"a\\n\":1"),
            "line 3, column 80: a state has no field \"a\\n\"",
        );
        check(&file("{\"actions\":[[1,1]]}", "{}"), "line 3, column 58: missing field `actions`");
    }

    #[test]
    fn wrong_numbers_are_reported_with_their_place() {
        check(&file(":0,", ":3,"), "initial: state 3 does not exist; the model has 3 states");
        check(&file(":0,", ":-1,"), "line 1, column 53: invalid value: integer `-1`, expected u32");
        check(&file("2.5", "0"), "reset_cost: 0 is not a number from 0.001 to 1000000");
        check(&file("2.5", "-1"), "reset_cost: -1 is not a number from 0.001 to 1000000");
        check(&file("2.5", "1e999"), "line 1, column 71: number out of range");
        let indexes = "expected [action, destination] or [action, destination, part], all indexes";
        check(&file("[1,1]", "[1]"), &format!("line 3, column 71: invalid length 1, {indexes}"));
        check(
            &file("[1,1]", "[1,1,1,1]"),
            &format!("line 3, column 77: invalid length 4, {indexes}"),
        );
        check(
            &file("[1,1]", "[1,1,4294967295]"),
            "line 3, column 84: invalid value: integer `4294967295`, expected the index of a part",
        );
        check(
            &file("[1,1]", "[1,\"1\"]"),
            "line 3, column 74: invalid type: string \"1\", expected u32",
        );
        check(
            &file("[1,1]", "[1,4294967296]"),
            "line 3, column 81: invalid value: integer `4294967296`, expected u32",
        );
    }

    #[test]
    fn indexes_out_of_range_are_reported_with_their_place() {
        check(
            &file("[1,0]", "[1,99]"),
            "states[1].actions[1]: destination 99 does not exist; the model has 3 states",
        );
        check(
            &file("[1,0]", "[2,0]"),
            "states[1].actions[1]: action 2 does not exist; the model has 2 actions",
        );
        check(&file("[1,0]", "[0,0]"), "states[1].actions[1]: the state lists action 0 twice");
        check(
            &file("\"back\"", "\"next\""),
            "actions[1]: \"next\" is already the name of actions[0]",
        );
        let line = "\"\\u001b[2J\",\"\\u001b[2J\"";
        check(
            &file("\"next\",\"back\"", line),
            "actions[1]: \"\\u{1b}[2J\" is already the name of actions[0]",
        );
    }

    /// A valid file with parts, with one piece replaced.
    fn file_with_parts(replaced: &str, by: &str) -> String {
        let good = r#"{"format":"argiope-model/2","name":"lamp","initial":0,"reset_cost":2.5,
"parts":["lamp","fan"],"actions":["switch"],
"states":[{"parts":[[0,0],[1,5]],"actions":[[0,1,0]]},{"actions":[[0,0]],"parts":[[0,1]]}]}"#;
        assert!(good.contains(replaced), "{replaced} is not in the file");
        good.replacen(replaced, by, 1)
    }

    #[test]
    fn parts_survive_writing_and_reading() {
        let text = file_with_parts("lamp", "lamp");
        let model = Model::from_json(text.as_bytes(), ModelReadOptions::default()).unwrap();
        assert_eq!(model.part_names, ["lamp", "fan"]);
        assert_eq!((model.parts_of(0), model.parts_of(1)), (&[(0, 0), (1, 5)][..], &[(0, 1)][..]));
        assert_eq!((model.part_of(0, 0), model.part_of(1, 0)), (Some(0), None));
        let again = Model::from_json(model.to_json().as_bytes(), ModelReadOptions::default());
        assert_eq!(again.unwrap(), model);
    }

    #[test]
    fn a_file_of_the_second_format_may_name_no_parts() {
        let text = file("model/1\"", "model/2\",\"parts\":[]");
        let model = Model::from_json(text.as_bytes(), ModelReadOptions::default()).unwrap();
        assert_eq!(model.to_json().lines().next(), file("row", "row").lines().next());
    }

    #[test]
    fn wrong_parts_are_reported_with_their_place() {
        let needed = "states have parts; the format must be \"argiope-model/2\"";
        check(&file("[1,1]", "[1,1,0]"), needed);
        check(&file("{\"actions\":[[1,1]]", "{\"actions\":[[1,1]],\"parts\":[[0,0]]"), needed);
        check(&file("\"actions\":[\"next", "\"parts\":[],\"actions\":[\"next"), needed);
        check(
            &file_with_parts("\"parts\":[\"lamp\",\"fan\"],", ""),
            "parts is missing; expected a list of names",
        );
        check(
            &file_with_parts("\"fan\"", "\"lamp\""),
            "parts[1]: \"lamp\" is already the name of parts[0]",
        );
        check(
            &file_with_parts("[1,5]", "[2,5]"),
            "states[0].parts[1]: part 2 does not exist; the model has 2 parts",
        );
        for wrong in ["[1,0],[0,5]", "[1,0],[1,5]"] {
            let part = &wrong[7..8];
            check(
                &file_with_parts("[0,0],[1,5]", wrong),
                &format!(
                    "states[0].parts[1]: part {part} comes after part 1; sort the parts, each once"
                ),
            );
        }
        check(
            &file_with_parts("[0,0]]", "[0,0,1]]"),
            "states[1].actions[0]: the state has no part 1",
        );
        check(
            &file_with_parts("[1,5]", "[1]"),
            "line 3, column 29: invalid length 1, expected [part, part state], two numbers",
        );
        check(
            &file_with_parts("[[0,1]]", "[[0,1]],\"parts\":[]"),
            "line 3, column 96: duplicate field `parts`",
        );
    }

    #[test]
    fn a_model_without_states_is_refused() {
        let text = r#"{"format":"argiope-model/1","name":"","initial":0,"reset_cost":1,"actions":[],"states":[]}"#;
        check(text, "states is empty; a model has at least one state");
    }

    #[test]
    fn unreachable_states_are_refused_unless_allowed() {
        let text = file("[0,2]", "[0,1]");
        check(&text, "states[2]: no walk from the initial state leads here (1 unreachable in all)");
        let options = ModelReadOptions { allow_unreachable: true, ..ModelReadOptions::default() };
        let model = Model::from_json(text.as_bytes(), options).unwrap();
        assert_eq!(model.unreachable(), [2]);
    }

    #[test]
    fn a_file_above_the_limit_is_not_parsed() {
        let options = ModelReadOptions { limit: 10, ..ModelReadOptions::default() };
        let error = Model::from_json(&[b'['; 11], options).unwrap_err();
        assert_eq!(error.to_string(), "the file has 11 bytes; the limit is 10");
    }

    #[test]
    fn too_many_names_are_refused_while_reading() {
        let names = "\"\",".repeat(1_000_001);
        let error =
            Model::from_json(file("\"next\",", &names).as_bytes(), ModelReadOptions::default())
                .unwrap_err();
        assert_eq!(error.to_string(), "line 2, column 3000014: more than 1000000 names");
        let wrong = file("\"back\"", "7");
        check(&wrong, "line 2, column 19: invalid type: integer `7`, expected a string");
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let nested = file("[1,1]", &"[".repeat(1_000_000));
        assert!(Model::from_json(nested.as_bytes(), ModelReadOptions::default()).is_err());
        let nested = file("[1,1]", &format!("[1,1,{}", "[".repeat(1_000_000)));
        assert!(Model::from_json(nested.as_bytes(), ModelReadOptions::default()).is_err());
    }
}
