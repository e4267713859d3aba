//! Every fixture gives exactly what its `expected.toml` says, with any number of tabs. Each fixture
//! is a test of its own, so that a failure names it.

use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Expected, Server, Site};

use crate::real::{Model, Place, model, notes, records, run};

/// How many tabs each fixture is crawled with.
const TABS: [u32; 3] = [1, 2, 8];
/// Fixtures that are not crawled here: `broken` has no page, `tree.rs` crawls the large tree,
/// `remembering.rs` those whose server remembers.
const ELSEWHERE: [&str; 3] = ["broken", "filetree-cassandra", "visited"];

macro_rules! crawl_fixtures {
    ($($test:ident: $name:literal,)*) => {
        const LISTED: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*
    };
}

crawl_fixtures! {
    areas: "areas",
    crashing: "crashing",
    delegated: "delegated",
    demo: "demo",
    details: "details",
    dialogs: "dialogs",
    endless: "endless",
    filetree: "filetree",
    frames: "frames",
    generated_ids: "generated-ids",
    gestures: "gestures",
    hidden: "hidden",
    hover: "hover",
    links: "links",
    long_poll: "long-poll",
    members: "members",
    moving: "moving",
    nested_hover: "nested-hover",
    nondeterministic: "nondeterministic",
    one_way: "one-way",
    parked: "parked",
    react: "react",
    refresh: "refresh",
    ripples: "ripples",
    router: "router",
    same_label: "same-label",
    shadow: "shadow",
    shifted: "shifted",
    slow_fetch: "slow-fetch",
    spinning: "spinning",
    splash: "splash",
    storage: "storage",
    streams: "streams",
    timers: "timers",
    toggles: "toggles",
    transition: "transition",
    volatile: "volatile",
    volatile_late: "volatile-late",
    vue: "vue",
    windows: "windows",
    wizard: "wizard",
    written: "written",
}

#[test]
fn no_fixture_is_forgotten() {
    let missing = |name: &&str| !LISTED.contains(name) && !ELSEWHERE.contains(name);
    let missing: Vec<&str> = Site::names().filter(missing).collect();
    assert!(missing.is_empty(), "add to the list above: {missing:?}");
}

/// Crawls a fixture with each number of tabs; fails with everything that is wrong.
fn check(name: &str) {
    let expected = Site::find(name).unwrap().expected().unwrap();
    let mut wrong = Vec::new();
    let mut first: Option<Model> = None;
    for tabs in TABS {
        match crawled(name, tabs, &expected) {
            Err(words) => wrong.push(format!("{name} with {tabs} tabs: {words}")),
            Ok(model) => {
                let first = first.get_or_insert_with(|| model.clone());
                if first.states != model.states {
                    wrong.push(format!("{name} with {tabs} tabs: other names of states"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Crawls a new server of a fixture: some of them count their visitors.
fn crawled(name: &str, tabs: u32, expected: &Expected) -> Result<Model, String> {
    let server = Server::start(name).unwrap();
    let place = Place::new();
    let mut settings = settings(server.url(), expected);
    settings.tabs = tabs;
    let directory = place.path("run");
    let summary = run(&settings, &directory).map_err(|error| error.to_string())?;
    let records = records(&directory);
    let model = model(&records);
    let found = Expected {
        states: model.states.len() as u64,
        transitions: model.transitions.len() as u64,
        failed: summary.failed() as u64,
        nondeterministic: summary.nondeterministic as u64,
        unsettled: summary.unsettled as u64,
        urls: summary.urls as u64,
        notes: notes(&records),
        ..expected.clone()
    };
    let counted = (summary.progress.states as u64, summary.progress.transitions as u64);
    let complete = summary.stopped_by.is_none() && summary.failed() == 0;
    if summary.complete != complete || counted != (found.states, found.transitions) {
        return Err(format!("wrongly summed up: {summary:?}"));
    }
    if summary.stopped_by.is_some() {
        return Err(format!("stopped: {summary:?}"));
    }
    if found == *expected {
        return Ok(model);
    }
    Err(format!("expected {}, found {}: {summary:?}", in_short(expected), in_short(&found)))
}

/// How a fixture is to be crawled.
fn settings(url: String, expected: &Expected) -> CrawlSettings {
    let mut settings = CrawlSettings::new(url);
    if let Some(identity) = &expected.crawl.identity {
        settings.identity.clone_from(identity);
    }
    for pair in expected.crawl.args.chunks(2) {
        match pair {
            [name, value] if name == "--settle-cap" => {
                let seconds: u32 = value.strip_suffix('s').unwrap().parse().unwrap();
                settings.settle_ms = seconds * 1000;
            }
            [name, value] if name == "--ignore" => settings.ignore.push(value.clone()),
            other => panic!("no test knows the arguments {other:?}"),
        }
    }
    settings
}

fn in_short(expected: &Expected) -> String {
    let Expected { states, transitions, failed, nondeterministic, unsettled, urls, notes, .. } =
        expected;
    format!(
        "{states} states, {transitions} transitions, {failed} failed, {nondeterministic} not deterministic, \
         {unsettled} unsettled, {urls} urls, {notes:?}"
    )
}
