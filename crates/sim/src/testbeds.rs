//! Test-beds: applications that are known in full, one file per family. A name always gives the
//! same application. One kind of name refers to a file, which the caller reads: this crate does no
//! I/O.

use argiope_explore::model::Model;
use argiope_explore::quoted::Quoted;

mod accumulator;
mod bank;
mod bebop;
mod calendar;
mod clipmarks;
mod clipmarks_large;
mod elfinder;
mod explorer;
pub mod filetree;
mod grid;
pub mod hypercube;
mod list;
mod periodic;
mod product;
mod program;
pub mod random;
mod shop;
mod site;
mod tabs;
mod wizard;

pub use hypercube::hypercube;
pub use product::Product;
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
    product::FAMILY,
    product::COUPLED,
    list::FAMILY,
    accumulator::FAMILY,
    shop::FAMILY,
    wizard::FAMILY,
    grid::FAMILY,
    calendar::FAMILY,
    tabs::FAMILY,
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
    /// A page with parts.
    Product(Product),
    /// A list with this number of items.
    List(u32),
    /// A list that grows up to this number of items.
    Accumulator(u32),
    /// The imitation of a shop.
    Shop,
    /// A form with this number of pages.
    Wizard(u32),
    /// A presentation.
    Grid {
        /// The number of columns.
        columns: u32,
        /// The number of rows.
        rows: u32,
    },
    /// A calendar with this number of months.
    Calendar(u32),
    /// Tabs with panels.
    Tabs {
        /// The number of tabs.
        tabs: u32,
        /// The number of states of each panel.
        states: u32,
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
            Self::Product(product) => product.model(),
            Self::List(items) => list::list(items),
            Self::Accumulator(items) => accumulator::accumulator(items),
            Self::Shop => shop::shop_like(),
            Self::Wizard(pages) => wizard::wizard(pages),
            Self::Grid { columns, rows } => grid::grid(columns, rows),
            Self::Calendar(months) => calendar::calendar(months),
            Self::Tabs { tabs, states } => tabs::tabs(tabs, states),
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
        ("shop-like", None) => Recipe::Shop,
        (family, rest) => match generated(family, rest) {
            Some((Some(recipe), _)) => recipe,
            Some((None, syntax)) => return Err(malformed(syntax)),
            None => return Err(TestbedError::Unknown(name.to_string())),
        },
    };
    Ok(TestbedSpec::Made(recipe))
}

/// The recipe of a family whose names have numbers, if they are valid, and the valid names.
fn generated(family: &str, rest: Option<&str>) -> Option<(Option<Recipe>, &'static str)> {
    let up_to = |most: u32| rest.and_then(number_of).filter(|n| (1..=most).contains(n));
    let pair = |most: [u32; 2]| {
        rest.and_then(pair_of).filter(|&[first, second]| {
            (1..=most[0]).contains(&first) && (1..=most[1]).contains(&second)
        })
    };
    let product = |coupled: bool| {
        let made = rest.and_then(pair_of).map(|[states, parts]| Product { states, parts, coupled });
        made.filter(Product::is_within_limits).map(Recipe::Product)
    };
    Some(match family {
        "product" => (
            product(false),
            "product:SxP with S from 2 to 100, P from 1 to 20, and at most 1000000 states and \
             10000000 transitions",
        ),
        "product-coupled" => (
            product(true),
            "product-coupled:SxP with S from 2 to 100, P from 2 to 20, and at most 1000000 states \
             and 10000000 transitions",
        ),
        "list" => (up_to(list::MAX_ITEMS).map(Recipe::List), "list:N with N from 1 to 100000"),
        "accumulator" => (
            up_to(accumulator::MAX_ITEMS).map(Recipe::Accumulator),
            "accumulator:N with N from 1 to 500",
        ),
        "wizard" => {
            (up_to(wizard::MAX_PAGES).map(Recipe::Wizard), "wizard:N with N from 1 to 10000")
        }
        "grid" => (
            pair([grid::MAX_SIDE; 2]).map(|[columns, rows]| Recipe::Grid { columns, rows }),
            "grid:CxR with C and R from 1 to 1000",
        ),
        "calendar" => {
            (up_to(calendar::MAX_MONTHS).map(Recipe::Calendar), "calendar:N with N from 1 to 600")
        }
        "tabs" => (
            pair([tabs::MAX_TABS, tabs::MAX_STATES])
                .map(|[tabs, states]| Recipe::Tabs { tabs, states }),
            "tabs:TxS with T from 1 to 100 and S from 1 to 1000",
        ),
        _ => return None,
    })
}

/// A number that fits into 32 bits.
fn number_of(text: &str) -> Option<u32> {
    u32::try_from(number(text)?).ok()
}

/// Two numbers, as in `3x8`.
fn pair_of(text: &str) -> Option<[u32; 2]> {
    let (first, second) = text.split_once('x')?;
    Some([number_of(first)?, number_of(second)?])
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
    use std::collections::{BTreeMap, BTreeSet};

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
            ("product:3x8", 6_561, 76_545, 3.0),
            ("product-coupled:3x8", 6_561, 76_545, 3.0),
            ("product:2x10", 1_024, 10_240, 3.0),
            ("list:100", 101, 200, 3.0),
            ("accumulator:20", 231, 440, 3.0),
            ("shop-like", 206, 1_852, 3.0),
            ("wizard:6", 19, 52, 3.0),
            ("grid:17x13", 221, 824, 3.0),
            ("calendar:24", 754, 1_506, 3.0),
            ("tabs:9x14", 126, 1_386, 3.0),
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

    /// The families that declare parts.
    fn with_parts() -> impl Iterator<Item = (&'static str, Model)> {
        let smallest =
            ["product:2x1", "list:1", "accumulator:1", "wizard:1", "grid:1x1", "tabs:1x1"];
        let names = ALL.iter().flat_map(|described| described.examples.iter().copied());
        let models = names.chain(smallest).map(|name| (name, model(name)));
        models.filter(|(_, model)| !model.part_names.is_empty())
    }

    #[test]
    fn the_parts_of_a_state_tell_it_from_every_other_one() {
        assert_eq!(with_parts().count(), 9 + 6);
        for (name, model) in with_parts() {
            let options = argiope_explore::model::ModelReadOptions::default();
            let read = Model::from_json(model.to_json().as_bytes(), options);
            assert_eq!(read.as_ref(), Ok(&model), "{name}");
            let parts: BTreeSet<_> =
                (0..model.states() as u32).map(|state| model.parts_of(state)).collect();
            assert_eq!(parts.len(), model.states(), "{name}");
            let mut places = (0..model.states() as u32).flat_map(|state| {
                (0..model.transitions_from(state).len()).map(move |at| (state, at))
            });
            assert!(places.all(|(state, at)| model.part_of(state, at).is_some()), "{name}");
        }
    }

    /// What differs between the parts of two states: each such part with its state in the second.
    fn changes(model: &Model, from: u32, to: u32) -> BTreeMap<u32, Option<u32>> {
        let parts = |state| model.parts_of(state).iter().copied().collect::<BTreeMap<u32, u32>>();
        let (before, after) = (parts(from), parts(to));
        let all = before.keys().chain(after.keys());
        let changed = all.filter(|part| before.get(part) != after.get(part));
        changed.map(|part| (*part, after.get(part).copied())).collect()
    }

    /// The number of contexts (an action and the state of its part) with different outcomes.
    fn refuted_contexts(model: &Model) -> usize {
        let mut outcomes: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for state in 0..model.states() as u32 {
            for (at, &(action, to)) in model.transitions_from(state).iter().enumerate() {
                let part = model.part_of(state, at);
                let own = model.parts_of(state).iter().find(|(other, _)| Some(*other) == part);
                let outcome = changes(model, state, to);
                outcomes.entry((action, own)).or_default().insert(outcome);
            }
        }
        outcomes.values().filter(|outcomes| outcomes.len() > 1).count()
    }

    #[test]
    fn an_action_depends_on_its_part_alone_where_parts_are_independent() {
        for (name, model) in with_parts() {
            let dependent = ["product-coupled", "accumulator:20", "shop-like"];
            let expected = dependent.iter().any(|family| name.starts_with(family));
            assert_eq!(refuted_contexts(&model) > 0, expected, "{name}");
        }
        // Two states of the second part lead elsewhere, from the third one both lead to the first.
        assert_eq!(refuted_contexts(&model("product-coupled:3x8")), 2);
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
        for (name, syntax) in [
            ("product", "product:SxP with S from 2"),
            ("product:3", "product:SxP with S from 2"),
            ("product:3x", "product:SxP with S from 2"),
            ("product:1x3", "product:SxP with S from 2"),
            ("product:3x13", "product:SxP with S from 2"),
            ("product:100x3", "product:SxP with S from 2"),
            ("product:100x99999999999", "product:SxP with S from 2"),
            ("product-coupled:3x1", "product-coupled:SxP with S from 2"),
            ("list:0", "list:N with N from 1 to 100000"),
            ("list:100001", "list:N with N from 1 to 100000"),
            ("accumulator:501", "accumulator:N with N from 1 to 500"),
            ("wizard:x", "wizard:N with N from 1 to 10000"),
            ("grid:17", "grid:CxR with C and R from 1 to 1000"),
            ("grid:1001x1", "grid:CxR with C and R from 1 to 1000"),
            ("calendar:601", "calendar:N with N from 1 to 600"),
            ("calendar:", "calendar:N with N from 1 to 600"),
            ("tabs:9x+1", "tabs:TxS with T from 1 to 100"),
        ] {
            check(name, &format!("\"{name}\" is not a test-bed; write {syntax}"));
        }
        check("shop-like:3", "no test-bed is called \"shop-like:3\"");
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
