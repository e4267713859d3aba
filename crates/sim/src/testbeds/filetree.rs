//! A file explorer over the shape of a directory tree. A state is one directory, open together with
//! its ancestors; all other directories are closed.

use argiope_explore::model::Model;
use argiope_explore::quoted::Escaped;
use serde::Deserialize;

use super::TestbedFamily;

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "filetree[:TREE]",
    examples: &["filetree", "filetree:cassandra", "filetree:httpd", "filetree:large"],
    summary: "a file explorer over a source tree: cassandra, httpd, large (generated), or a file",
    help: "Fully known. One folder is open at a time, with its ancestors. The actions are the visible \
           folders. Over Cassandra 1.2.1 this gives exactly the published test-bed of Dist-RIA (163 \
           states, 4,816 transitions). Over httpd 2.4.3 as tagged it gives 93 and 2,360; the \
           published copy gave 91 and 2,293. Of the large file explorer, which the papers on rings of \
           controllers use, three figures are known: the size (4,622 and 429,654), the reset cost \
           (12) and the average path after a reset (7). The generated tree has these figures. Any \
           other TREE is the path of a JSON file with the shape of a tree: an object with the field \
           parents, in which entry i is the parent of directory i and the first entry is null. A \
           reset costs 2 actions, as published, except in the large tree.",
};

/// The source tree of Cassandra 1.2.1, which gives exactly the published test-bed.
const CASSANDRA: &str = include_str!("cassandra-1.2.1.tree.json");
/// The source tree of httpd 2.4.3 as tagged; the published copy was two directories smaller.
const HTTPD: &str = include_str!("httpd-2.4.3.tree.json");

/// The largest number of directories in a shape. A state lists every child of every open directory,
/// so the transitions can grow with the square of the directories; see [`MAX_TRANSITIONS`].
pub const MAX_DIRECTORIES: usize = 1_000_000;
/// The largest number of transitions of a file explorer.
pub const MAX_TRANSITIONS: usize = 50_000_000;

/// A reset costs two actions, as the papers measured.
const RESET_COST: f64 = 2.0;

/// Why a shape is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The text is not JSON, or lacks the field `parents`.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong, escaped.
        message: String,
    },
    /// There is no root.
    #[error("parents is empty; put the root first: [null]")]
    Empty,
    /// The first directory has a parent.
    #[error("parents[0] is {0}; write null, since the first directory is the root")]
    Root(u32),
    /// A later directory has no parent.
    #[error("parents[{0}] is null; only the first directory is a root")]
    SecondRoot(usize),
    /// A parent does not come before its child; the shape might be a cycle.
    #[error("parents[{at}] is {parent}; put a parent before its children")]
    Order {
        /// The directory.
        at: usize,
        /// Its parent in the file.
        parent: u32,
    },
    /// The explorer would be too large.
    #[error("the shape gives more than {limit} {what}; use a smaller tree")]
    TooLarge {
        /// Directories or transitions.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

/// A shape file: entry i is the parent of directory i. The other fields describe the source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with the field parents")]
struct Shape {
    name: Option<String>,
    #[serde(rename = "what")]
    _what: Option<String>,
    #[serde(rename = "model")]
    _model: Option<String>,
    parents: Vec<Option<u32>>,
}

/// The file explorer over the source tree of Cassandra 1.2.1.
pub fn cassandra() -> Model {
    embedded("filetree:cassandra", CASSANDRA)
}

/// The file explorer over the source tree of httpd 2.4.3.
pub fn httpd() -> Model {
    embedded("filetree:httpd", HTTPD)
}

fn embedded(name: &str, shape: &str) -> Model {
    let mut model = from_shape(shape).expect("the embedded shape is valid");
    model.name = name.to_string();
    model
}

/// The file explorer over any shape: `{"name": …, "parents": [null, 0, 0, 1, …]}`.
pub fn from_shape(text: &str) -> Result<Model, ShapeError> {
    let shape: Shape = serde_json::from_str(text).map_err(|error| json_error(&error))?;
    let parents = checked_parents(&shape.parents)?;
    let mut children = vec![Vec::new(); parents.len()];
    for (directory, &parent) in parents.iter().enumerate().skip(1) {
        children[parent as usize].push(directory as u32);
    }
    refuse_too_many_transitions(&parents, &children)?;
    let names = (1..parents.len()).map(|directory| format!("folder {directory}"));
    let name = format!("filetree:{}", shape.name.as_deref().unwrap_or("unnamed"));
    let mut model = Model::new(name, RESET_COST, names.collect());
    let mut open = vec![false; parents.len()];
    let mut chain = Vec::new();
    for directory in 0..parents.len() as u32 {
        chain.clear();
        chain.push(directory);
        while let Some(&last) = chain.last().filter(|&&last| last != 0) {
            chain.push(parents[last as usize]);
        }
        chain.iter().for_each(|&at| open[at as usize] = true);
        let folders = chain.iter().rev().flat_map(|&at| &children[at as usize]);
        // A click on an open folder closes it. A click on another one opens it and closes the rest.
        // The root is not clickable, so folder i is action i - 1.
        model.push_state(folders.map(|&folder| {
            let to = if open[folder as usize] { parents[folder as usize] } else { folder };
            (folder - 1, to)
        }));
        chain.iter().for_each(|&at| open[at as usize] = false);
    }
    Ok(model)
}

fn checked_parents(parents: &[Option<u32>]) -> Result<Vec<u32>, ShapeError> {
    match parents.first() {
        None => return Err(ShapeError::Empty),
        Some(&Some(parent)) => return Err(ShapeError::Root(parent)),
        Some(None) => {}
    }
    if parents.len() > MAX_DIRECTORIES {
        return Err(ShapeError::TooLarge { what: "directories", limit: MAX_DIRECTORIES });
    }
    let mut checked = vec![0];
    for (at, parent) in parents.iter().enumerate().skip(1) {
        let parent = parent.ok_or(ShapeError::SecondRoot(at))?;
        if parent as usize >= at {
            return Err(ShapeError::Order { at, parent });
        }
        checked.push(parent);
    }
    Ok(checked)
}

/// Counts the transitions before anything is built. A directory shows the folders that its parent
/// shows, and its own children.
fn refuse_too_many_transitions(parents: &[u32], children: &[Vec<u32>]) -> Result<(), ShapeError> {
    let mut visible = vec![children[0].len()];
    let mut total = visible[0];
    for directory in 1..parents.len() {
        let here = visible[parents[directory] as usize] + children[directory].len();
        visible.push(here);
        total = total.saturating_add(here);
    }
    if total > MAX_TRANSITIONS {
        return Err(ShapeError::TooLarge { what: "transitions", limit: MAX_TRANSITIONS });
    }
    Ok(())
}

fn json_error(error: &serde_json::Error) -> ShapeError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let message = text.strip_suffix(&format!(" at line {line} column {column}"));
    ShapeError::Json { line, column, message: Escaped(message.unwrap_or(&text), 200).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_trees_have_their_known_sizes() {
        for (model, states, transitions) in [(cassandra(), 163, 4_816), (httpd(), 93, 2_360)] {
            assert_eq!(
                (model.states(), model.transitions()),
                (states, transitions),
                "{}",
                model.name
            );
            assert!(model.unreachable().is_empty());
        }
    }

    #[test]
    fn clicking_an_open_folder_closes_it() {
        // The root holds 1 and 3; 1 holds 2.
        let model = from_shape(r#"{"parents":[null,0,1,0]}"#).unwrap();
        assert_eq!(model.transitions_from(0), [(0, 1), (2, 3)]);
        assert_eq!(model.transitions_from(1), [(0, 0), (2, 3), (1, 2)]);
        assert_eq!(model.transitions_from(2), [(0, 0), (2, 3), (1, 1)]);
        assert_eq!(model.transitions_from(3), [(0, 1), (2, 0)]);
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(from_shape(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn invalid_shapes_are_refused_with_their_position() {
        check("", "line 1, column 0: EOF while parsing a value");
        check(
            "7",
            "line 1, column 1: invalid type: integer `7`, expected an object with the field parents",
        );
        check("{}", "line 1, column 2: missing field `parents`");
        check(r#"{"parents":[]}"#, "parents is empty; put the root first: [null]");
        check(
            r#"{"parents":[0]}"#,
            "parents[0] is 0; write null, since the first directory is the root",
        );
        check(
            r#"{"parents":[null,null]}"#,
            "parents[1] is null; only the first directory is a root",
        );
        check(r#"{"parents":[null,2,1]}"#, "parents[1] is 2; put a parent before its children");
        check(
            r#"{"parents":[null,-1]}"#,
            "line 1, column 19: invalid value: integer `-1`, expected u32",
        );
    }

    #[test]
    fn a_shape_that_would_fill_the_memory_is_refused() {
        let parents = (0..20_000).map(|at| if at == 0 { "null" } else { "0" });
        let text = format!("{{\"parents\":[{}]}}", parents.collect::<Vec<_>>().join(","));
        check(&text, "the shape gives more than 50000000 transitions; use a smaller tree");
    }

    #[test]
    fn a_deep_shape_is_read() {
        let parents =
            (0..2_000).map(|at: i32| if at == 0 { "null".into() } else { (at - 1).to_string() });
        let text = format!("{{\"parents\":[{}]}}", parents.collect::<Vec<String>>().join(","));
        assert_eq!(from_shape(&text).unwrap().transitions(), 1_999 * 2_000 / 2 + 1_999);
    }
}
