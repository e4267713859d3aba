//! Every fixture gives exactly what its `expected.toml` says, whatever the number of tabs.

use std::sync::Mutex;
use std::thread;

use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Expected, Server, Site};

use crate::real::{Model, Place, model, notes, records, run};

/// How many tabs each fixture is crawled with.
const TABS: [u32; 3] = [1, 2, 8];
/// How many fixtures are crawled at once.
const AT_ONCE: usize = 2;
/// Names the one fixture that is to be crawled, to look into a failure.
const ONE: &str = "ARGIOPE_SITE";

#[test]
fn every_fixture_gives_its_expected_model_with_any_number_of_tabs() {
    let one = std::env::var(ONE).ok();
    let wanted = |name: &&str| {
        !["broken", "filetree-cassandra"].contains(name)
            && one.as_deref().is_none_or(|one| one == *name)
    };
    assert!(Site::names().any(|name| wanted(&name)), "there is no fixture {one:?}");
    let sites = Mutex::new(Site::names().filter(wanted));
    let wrong = Mutex::new(Vec::new());
    let work = || {
        loop {
            // Taken out of the lock before the crawl begins.
            let next = sites.lock().unwrap().next();
            let Some(name) = next else { return };
            wrong.lock().unwrap().extend(check(name));
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is wrong with the crawls of a fixture.
fn check(name: &str) -> Vec<String> {
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
    wrong
}

/// Crawls a fixture that nobody has visited yet: some of them count their visitors.
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
        failed: summary.failed as u64,
        nondeterministic: summary.nondeterministic as u64,
        unsettled: summary.unsettled as u64,
        urls: summary.urls as u64,
        notes: notes(&records),
        ..expected.clone()
    };
    let counted = (summary.progress.states as u64, summary.progress.transitions as u64);
    if !summary.complete || counted != (found.states, found.transitions) {
        return Err(format!("not complete, or wrongly summed up: {summary:?}"));
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
