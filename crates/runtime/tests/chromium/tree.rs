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

/// A second tab takes another minute; with one, two and eight tabs the other fixtures are crawled.
#[test]
fn the_file_tree_is_completed_with_fewer_actions_than_published() {
    let is_long = std::env::var_os("ARGIOPE_LONG").is_some();
    let tabs: &[u32] = if is_long { &[1, 2] } else { &[1] };
    tabs.iter().for_each(|&tabs| check(tabs));
}
