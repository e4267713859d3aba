//! Every fixture gives exactly what its `expected.toml` says, with any number of tabs. Each fixture
//! is a test of its own, so that a failure names it.

use std::path::Path;

use argiope_controller::journal::Fact;
use argiope_runtime::inputs;
use argiope_runtime::login::GivenSecrets;
use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Expected, Server, Site};

use crate::real::{Model, Place, model, notes, records, run};

/// How many tabs each fixture is crawled with.
const TABS: [u32; 3] = [1, 2, 8];
/// Fixtures that are not crawled here: `broken` has no page, `tree.rs` crawls the large tree,
/// `remembering.rs` those whose server remembers.
const ELSEWHERE: [&str; 4] = ["broken", "filetree-cassandra", "recent", "visited"];

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
    accounts: "accounts",
    areas: "areas",
    astray: "astray",
    boxless: "boxless",
    brakes: "brakes",
    crashing: "crashing",
    deep: "deep",
    delegated: "delegated",
    demo: "demo",
    details: "details",
    dialogs: "dialogs",
    durations: "durations",
    endless: "endless",
    filetree: "filetree",
    form: "form",
    frames: "frames",
    generated_ids: "generated-ids",
    gestures: "gestures",
    hidden: "hidden",
    hover: "hover",
    leaving: "leaving",
    links: "links",
    long_poll: "long-poll",
    members: "members",
    members_digest: "members-digest",
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
    sandboxed: "sandboxed",
    session: "session",
    shadow: "shadow",
    shelves: "shelves",
    shifted: "shifted",
    sign_up: "sign-up",
    slow_fetch: "slow-fetch",
    spinning: "spinning",
    splash: "splash",
    storage: "storage",
    streams: "streams",
    taps: "taps",
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

/// Without entries each of the 15 dead ends costs a walk from the first page: the depths of all of
/// them add up to 119.
#[test]
fn deep_states_are_reached_by_the_addresses_that_lead_back_to_them() {
    for tabs in TABS {
        let server = Server::start("deep").unwrap();
        let place = Place::new();
        let settings = CrawlSettings { tabs, ..CrawlSettings::new(server.url()) };
        let summary = run(&settings, &place.path("run")).unwrap();
        assert!(summary.complete, "{summary:?}");
        assert!(summary.progress.actions < 90, "{tabs} tabs: {summary:?}");
        let records = records(&place.path("run"));
        let entry = |fact: &Fact| match fact {
            Fact::Entry { address, seed: false, .. } => Some(address.clone()),
            _ => None,
        };
        let entries: Vec<String> = records.iter().filter_map(entry).collect();
        let room = format!("{}#room/", server.url());
        assert!(!entries.is_empty(), "{tabs} tabs");
        assert!(entries.iter().all(|entry| entry.starts_with(&room)), "{entries:?}");
    }
}

/// The seeds of a crawl are entries from its beginning, and the bad one leaves it incomplete until
/// it can be loaded.
#[test]
fn a_crawl_begins_at_all_its_seeds() {
    let server = Server::start("deep").unwrap();
    let place = Place::new();
    let mut settings = CrawlSettings::new(server.url());
    let seeds = ["#room/6", "#room/12", "missing"].map(|end| format!("{}{end}", server.url()));
    settings.add_seeds(seeds.iter().map(String::as_str)).unwrap();
    let summary = run(&settings, &place.path("run")).unwrap();
    assert_eq!((summary.progress.states, summary.progress.transitions), (29, 28));
    assert!(!summary.complete && summary.stopped_by.is_none(), "{summary:?}");
    let left: Vec<&String> = summary.seeds_left.keys().collect();
    assert_eq!(left, [&seeds[2]]);
    assert!(summary.seeds_left[&seeds[2]].contains("404"), "{summary:?}");
    let records = records(&place.path("run"));
    let given = |fact: &&Fact| matches!(fact, Fact::Entry { seed: true, .. });
    assert_eq!(records.iter().filter(given).count(), 2);
    // It is tried again, and nothing else is left to do.
    let again = run(&settings, &place.path("run")).unwrap();
    assert_eq!(again.seeds_left.len(), 1);
    assert_eq!(again.progress.actions, summary.progress.actions);
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
    let mut settings = settings(name, &server, expected, place.profiles());
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
fn settings(name: &str, server: &Server, expected: &Expected, files: &Path) -> CrawlSettings {
    let mut settings = CrawlSettings::new(server.url());
    if let Some(identity) = &expected.crawl.identity {
        settings.identity.clone_from(identity);
    }
    let site = Site::find(name).unwrap();
    for pair in site.crawl_arguments(files).unwrap().chunks(2) {
        match pair {
            [name, value] if name == "--settle-cap" => {
                let seconds: u32 = value.strip_suffix('s').unwrap().parse().unwrap();
                settings.settle_ms = seconds * 1000;
            }
            [name, value] if name == "--ignore" => settings.ignore.push(value.clone()),
            [name, file] if name == "--inputs" => {
                let text = std::fs::read_to_string(file).unwrap();
                settings.inputs = inputs::parse(file, &text).unwrap();
            }
            [name, value] if name == "--login" => settings.login.script = Some(value.into()),
            [name, value] if name == "--logged-in" => {
                settings.login.logged_in = Some(value.clone());
            }
            other => panic!("no test knows the arguments {other:?}"),
        }
    }
    let http = settings.access.http.take();
    let read = settings.login.read(&settings.url, http, &GivenSecrets::default());
    settings.access = read.map(|read| read.access).unwrap();
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
