//! Applications whose server remembers what was done: states do not come back, and what they
//! offered is executed where it is offered now.

use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Server, Site};

use crate::real::{Place, model, records, run};

#[test]
fn rows_that_the_server_ticks_are_all_opened_and_nothing_is_given_up() {
    for tabs in [1, 2, 8] {
        let server = Server::start("visited").unwrap();
        let place = Place::new();
        let settings = CrawlSettings { tabs, ..CrawlSettings::new(server.url()) };
        let summary = run(&settings, &place.path("run")).unwrap();
        assert_eq!(summary.failed(), 0, "{tabs} tabs: {summary:?}");
        assert!(summary.complete && summary.gone > 0, "{tabs} tabs: {summary:?}");
        let facts = records(&place.path("run"));
        let found = model(&facts);
        // A row offers nothing, so that it has no transition of its own.
        let rows = found
            .transitions
            .values()
            .filter(|&&to| !found.transitions.keys().any(|&(from, _)| from == to));
        let rows: std::collections::BTreeSet<_> = rows.collect();
        assert_eq!(rows.len(), 12, "{tabs} tabs: {summary:?}");
    }
}

/// Only a first page that does not come back has followed the links to the screens.
#[test]
fn what_links_of_a_first_page_led_to_is_found_when_that_page_has_changed() {
    for tabs in [1, 2, 8] {
        let server = Server::start("recent").unwrap();
        let place = Place::new();
        let settings = CrawlSettings { tabs, ..CrawlSettings::new(server.url()) };
        let summary = run(&settings, &place.path("run")).unwrap();
        assert!(summary.complete && summary.failed() == 0, "{tabs} tabs: {summary:?}");
        if tabs == 1 {
            let expected = Site::find("recent").and_then(Site::expected).unwrap();
            let counted = (summary.progress.states, summary.progress.transitions);
            let wanted = (expected.states as usize, expected.transitions as usize);
            assert_eq!(counted, wanted, "{summary:?}");
        }
        let facts = records(&place.path("run"));
        let found = model(&facts);
        let ends = found
            .transitions
            .values()
            .filter(|&&to| !found.transitions.keys().any(|&(from, _)| from == to));
        let ends: std::collections::BTreeSet<_> = ends.collect();
        assert_eq!(ends.len(), 6, "{tabs} tabs: six items are saved: {summary:?}");
    }
}
