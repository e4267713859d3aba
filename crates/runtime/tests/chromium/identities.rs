//! The other identities, and what people say about volatile parts, in whole crawls.

use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;
use argiope_sites::Server;

use crate::real::{Model, Place, model, records, run};

/// 10:30 on the fifteenth of January 2024, in milliseconds since 1970.
const THEN: i64 = 1_705_314_600_000;

fn crawled(settings: &CrawlSettings, place: &Place) -> Model {
    let summary = run(settings, &place.path("run")).unwrap();
    assert!(summary.complete, "{summary:?}");
    assert_eq!((summary.failed(), summary.nondeterministic), (0, 0), "{summary:?}");
    model(&records(&place.path("run")))
}

#[track_caller]
fn check(site: &str, identity: &str, expected: (usize, usize)) {
    let server = Server::start(site).unwrap();
    let settings =
        CrawlSettings { identity: identity.to_owned(), ..CrawlSettings::new(server.url()) };
    let found = crawled(&settings, &Place::new());
    assert_eq!((found.states.len(), found.transitions.len()), expected, "{site} by {identity}");
}

#[test]
fn structure_takes_switches_that_are_alike_for_one() {
    // What is pressed and what is said do not count, and the six buttons in a row are one.
    check("toggles", "structure", (1, 1));
}

#[test]
fn strict_tells_the_same_apart_where_everything_shows() {
    check("toggles", "strict", (64, 384));
    // An address is part of a strict state; here each page has its own already.
    check("moving", "strict", (16, 56));
}

#[test]
fn ignored_elements_are_neither_compared_nor_learned() {
    let server = Server::start("volatile").unwrap();
    let place = Place::new();
    let ignore = vec!["footer".to_owned(), "#clock".to_owned()];
    let found = crawled(&CrawlSettings { ignore, ..CrawlSettings::new(server.url()) }, &place);
    assert_eq!((found.states.len(), found.transitions.len()), (6, 18));
    let store = Store::read(&place.path("run")).unwrap();
    let masks: serde_json::Value =
        serde_json::from_slice(&store.named("masks").unwrap().unwrap()).unwrap();
    assert_eq!(masks["masks"], serde_json::json!([]));
    for (_, detail) in store.states().unwrap().map(Result::unwrap) {
        let page = store.page(detail.page).unwrap().unwrap();
        assert!(page.nodes.iter().all(|node| !node.text.contains("Visitor")));
    }
}

#[test]
fn a_frozen_clock_shows_the_same_time_on_every_load() {
    let server = Server::start("volatile").unwrap();
    let masked_and_shown = |freeze_time| {
        let place = Place::new();
        let found =
            crawled(&CrawlSettings { freeze_time, ..CrawlSettings::new(server.url()) }, &place);
        assert_eq!((found.states.len(), found.transitions.len()), (6, 18));
        let store = Store::read(&place.path("run")).unwrap();
        let masks = String::from_utf8(store.named("masks").unwrap().unwrap()).unwrap();
        let sources: Vec<String> = store
            .states()
            .unwrap()
            .map(|state| {
                String::from_utf8(store.blob(state.unwrap().1.source).unwrap().unwrap()).unwrap()
            })
            .collect();
        (
            masks.contains("clock"),
            sources.iter().filter(|source| source.contains("2024-01-15T10:30:")).count(),
        )
    };
    assert_eq!(masked_and_shown(None), (true, 0));
    assert_eq!(masked_and_shown(Some(THEN)), (false, 6));
}
