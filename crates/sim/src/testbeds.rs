//! Test-beds: applications that are known in full, one file per family. A name always gives the
//! same application. One kind of name refers to a file, which the caller reads: this crate does no
//! I/O.

use argiope_explore::model::Model;
use argiope_explore::quoted::Quoted;

mod bank;
mod bebop;
mod clipmarks;
mod clipmarks_large;
mod elfinder;
mod explorer;
pub mod filetree;
pub mod hypercube;
mod periodic;
mod program;
pub mod random;
mod site;

pub use hypercube::hypercube;
pub use random::random;

/// A family of test-beds, as `argiope testbeds` describes it.
pub struct TestbedFamily {
    /// The pattern of its names: lower case is literal, capitals are parameters.
    pub name: &'static str,
    /// Complete names.
    pub examples: &'static [&'static str],
    /// One line of help.
    pub summary: &'static str,
    /// A paragraph of help: which facts about the application are known, and which are guessed.
    pub help: &'static str,
}

/// Every family, in the order of tables and help.
pub const ALL: &[TestbedFamily] = &[
    hypercube::FAMILY,
    filetree::FAMILY,
    bebop::FAMILY,
    elfinder::FAMILY,
    periodic::FAMILY,
    clipmarks::FAMILY,
    bank::FAMILY,
    site::FAMILY,
    random::FAMILY,
];

/// The meaning of a test-bed's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestbedSpec {
    /// An application that the name defines.
    Made(Recipe),
    /// The file explorer over the shape in this file. The caller reads the file and passes its text
    /// to [`filetree::from_shape`].
    ShapeFile(String),
}

/// The parsed name of an application. Its numbers are within their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The hypercube of this dimension.
    Hypercube(u32),
    /// The file explorer over the source tree of Cassandra.
    Cassandra,
    /// The file explorer over the source tree of httpd.
    Httpd,
    /// The file explorer over a large generated tree.
    FiletreeLarge,
    /// The imitation of Bebop.
    Bebop,
    /// The imitation of the large version of Bebop.
    BebopLarge,
    /// The imitation of Elfinder.
    Elfinder,
    /// The imitation of Periodic Table.
    PeriodicTable,
    /// The imitation of Clipmarks.
    Clipmarks,
    /// The imitation of the large version of Clipmarks.
    ClipmarksLarge,
    /// The imitation of Altoro Mutual.
    Bank,
    /// The imitation of TestRIA.
    Site,
    /// A random application.
    Random {
        /// The number of states.
        states: u32,
        /// The number of actions of each state.
        actions: u32,
        /// The seed of the rest.
        seed: u64,
    },
}

impl Recipe {
    /// Builds the application, the same one every time.
    pub fn model(self) -> Model {
        match self {
            Self::Hypercube(n) => hypercube(n),
            Self::Cassandra => filetree::cassandra(),
            Self::Httpd => filetree::httpd(),
            Self::FiletreeLarge => explorer::filetree_large(),
            Self::Bebop => bebop::bebop_like(),
            Self::BebopLarge => bebop::bebop_like_large(),
            Self::Elfinder => elfinder::elfinder_like(),
            Self::PeriodicTable => periodic::periodic_table_like(),
            Self::Clipmarks => clipmarks::clipmarks_like(),
            Self::ClipmarksLarge => clipmarks_large::clipmarks_like_large(),
            Self::Bank => bank::bank_like(),
            Self::Site => site::site_like(),
            Self::Random { states, actions, seed } => random(states, actions, seed),
        }
    }
}

/// Why a name is not a test-bed. Each error prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TestbedError {
    /// No family has this name.
    #[error("no test-bed is called {}; known are {}", Quoted(.0), names())]
    Unknown(String),
    /// The family exists, but its parameters are invalid.
    #[error("{} is not a test-bed; write {syntax}", Quoted(.name))]
    Malformed {
        /// The given name.
        name: String,
        /// The valid names.
        syntax: &'static str,
    },
}

fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|described| described.name).collect();
    names.join(", ")
}

/// Finds the test-bed of a name.
pub fn find(name: &str) -> Result<TestbedSpec, TestbedError> {
    let (family, rest) = match name.split_once(':') {
        Some((family, rest)) => (family, Some(rest)),
        None => (name, None),
    };
    let malformed = |syntax| TestbedError::Malformed { name: name.to_string(), syntax };
    let recipe = match (family, rest) {
        ("hypercube", _) => rest
            .and_then(hypercube_of)
            .ok_or_else(|| malformed("hypercube:N with N from 1 to 20"))?,
        ("random", _) => rest.and_then(random_of).ok_or_else(|| {
            malformed(
                "random:STATES:ACTIONS or random:STATES:ACTIONS:SEED with 1 to 1000000 states, 1 \
                 to 1000 actions and at most 50000000 transitions",
            )
        })?,
        ("filetree", None | Some("cassandra")) => Recipe::Cassandra,
        ("filetree", Some("httpd")) => Recipe::Httpd,
        ("filetree", Some("large")) => Recipe::FiletreeLarge,
        ("filetree", Some("")) => {
            return Err(malformed(
                "filetree:cassandra, filetree:httpd, filetree:large or filetree:FILE",
            ));
        }
        ("filetree", Some(file)) => return Ok(TestbedSpec::ShapeFile(file.to_string())),
        ("bebop-like", None) => Recipe::Bebop,
        ("bebop-like", Some("large")) => Recipe::BebopLarge,
        ("bebop-like", _) => return Err(malformed("bebop-like or bebop-like:large")),
        ("elfinder-like", None) => Recipe::Elfinder,
        ("periodic-table-like", None) => Recipe::PeriodicTable,
        ("clipmarks-like", None) => Recipe::Clipmarks,
        ("clipmarks-like", Some("large")) => Recipe::ClipmarksLarge,
        ("clipmarks-like", _) => return Err(malformed("clipmarks-like or clipmarks-like:large")),
        ("bank-like", None) => Recipe::Bank,
        ("site-like", None) => Recipe::Site,
        _ => return Err(TestbedError::Unknown(name.to_string())),
    };
    Ok(TestbedSpec::Made(recipe))
}

fn hypercube_of(rest: &str) -> Option<Recipe> {
    let n = number(rest)?;
    let n = u32::try_from(n).ok()?;
    (1..=hypercube::MAX_DIMENSION).contains(&n).then_some(Recipe::Hypercube(n))
}

fn random_of(rest: &str) -> Option<Recipe> {
    let numbers: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let (states, actions, seed) = match numbers[..] {
        [states, actions] => (states, actions, 0),
        [states, actions, seed] => (states, actions, seed),
        _ => return None,
    };
    let (states, actions) = (u32::try_from(states).ok()?, u32::try_from(actions).ok()?);
    let fits = (1..=random::MAX_STATES).contains(&states)
        && (1..=random::MAX_ACTIONS).contains(&actions)
        && u64::from(states) * u64::from(actions) <= random::MAX_TRANSITIONS;
    fits.then_some(Recipe::Random { states, actions, seed })
}

/// A number without a sign, which the standard parser would accept.
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn model(name: &str) -> Model {
        match find(name) {
            Ok(TestbedSpec::Made(recipe)) => recipe.model(),
            other => panic!("{name} gives {other:?}"),
        }
    }

    #[test]
    fn every_test_bed_has_its_published_size() {
        for (name, states, transitions, reset_cost) in [
            ("hypercube:10", 1_024, 5_120, 3.0),
            ("filetree", 163, 4_816, 2.0),
            ("filetree:httpd", 93, 2_360, 2.0),
            ("filetree:large", 4_622, 429_654, 12.0),
            ("periodic-table-like", 240, 29_034, 8.0),
            ("bebop-like", 1_800, 145_811, 2.0),
            ("bebop-like:large", 5_082, 468_971, 3.0),
            ("elfinder-like", 1_360, 43_816, 10.0),
            ("clipmarks-like", 129, 10_580, 18.0),
            ("clipmarks-like:large", 2_663, 355_201, 32.0),
            ("bank-like", 45, 1_210, 2.0),
            ("site-like", 39, 305, 2.0),
            ("random:100:5", 100, 500, 3.0),
        ] {
            let model = model(name);
            assert_eq!((model.states(), model.transitions()), (states, transitions), "{name}");
            assert_eq!(model.reset_cost, reset_cost, "{name}");
            assert!(model.unreachable().is_empty(), "{name}");
        }
    }

    #[test]
    fn every_example_gives_a_valid_model_with_its_own_name() {
        for name in ALL.iter().flat_map(|described| described.examples) {
            let model = model(name);
            assert!(
                model.name == *name || name.starts_with("filetree"),
                "{name} gives {}",
                model.name
            );
            let names: BTreeSet<&String> = model.actions.iter().collect();
            assert_eq!(names.len(), model.actions.len(), "{name} has two actions of the same name");
            for state in 0..model.states() as u32 {
                let offered: BTreeSet<u32> =
                    model.transitions_from(state).iter().map(|&(action, _)| action).collect();
                assert_eq!(
                    offered.len(),
                    model.transitions_from(state).len(),
                    "state {state} of {name}"
                );
            }
            assert_eq!(
                model.to_json(),
                self::model(name).to_json(),
                "{name} gives two different models"
            );
        }
    }

    #[test]
    fn the_caller_reads_a_shape_file() {
        let spec = find("filetree:C:/my tree.json");
        assert_eq!(spec, Ok(TestbedSpec::ShapeFile("C:/my tree.json".to_string())));
    }

    fn check(name: &str, expected: &str) {
        let error = find(name).expect_err("the name is invalid").to_string();
        assert!(error.starts_with(expected), "{name} gives {error}");
    }

    #[test]
    fn errors_say_which_names_are_valid() {
        check(
            "bebop",
            "no test-bed is called \"bebop\"; known are hypercube:N, filetree[:TREE], bebop-like",
        );
        check("\u{1b}[2J", "no test-bed is called \"\\u{1b}[2J\"; known are ");
        check("bank-like:large", "no test-bed is called \"bank-like:large\"");
        check(
            "bebop-like:huge",
            "\"bebop-like:huge\" is not a test-bed; write bebop-like or bebop-like:large",
        );
        check("filetree:", "\"filetree:\" is not a test-bed; write filetree:cassandra");
        for name in [
            "hypercube",
            "hypercube:",
            "hypercube:0",
            "hypercube:21",
            "hypercube:+3",
            "hypercube:1x",
        ] {
            check(
                name,
                &format!("\"{name}\" is not a test-bed; write hypercube:N with N from 1 to 20"),
            );
        }
        for rest in [
            "",
            ":",
            ":5",
            ":0:1",
            ":5:0",
            ":1000001:1",
            ":1000000:51",
            ":1:2:3:4",
            ":99999999999999999999:1",
        ] {
            check(
                &format!("random{rest}"),
                &format!("\"random{rest}\" is not a test-bed; write random:STATES:"),
            );
        }
    }
}
