//! The test-bed of the published crawlers, as a real page.

use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Server, Site};

use crate::real::{Place, model, records, run};

/// The published crawler took 27,149.
const MOST_ACTIONS: u64 = 20_000;

fn check(tabs: u32) {
    let expected = Site::find("filetree-cassandra").unwrap().expected().unwrap();
    let server = Server::start("filetree-cassandra").unwrap();
    let place = Place::new();
    let settings = CrawlSettings { tabs, ..CrawlSettings::new(server.url()) };
    let summary = run(&settings, &place.path("run")).unwrap();
    let model = model(&records(&place.path("run")));
    println!("{tabs} tabs: {:?}", summary.progress);
    assert!(summary.complete, "{summary:?}");
    let found = (model.states.len() as u64, model.transitions.len() as u64);
    assert_eq!(found, (expected.states, expected.transitions));
    assert!(summary.progress.actions <= MOST_ACTIONS, "{summary:?}");
}

#[test]
fn one_tab_completes_the_file_tree_with_fewer_actions_than_published() {
    check(1);
}

#[test]
fn two_tabs_complete_the_file_tree_with_fewer_actions_than_published() {
    check(2);
}
