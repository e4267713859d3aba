//! The test-bed of the published crawlers, as a real page.

use argiope_runtime::settings::CrawlSettings;
use argiope_sites::{Server, Site};

use crate::real::{Place, model, records, run};

/// The published crawler took 27,149.
const MOST_ACTIONS: u64 = 20_000;

#[test]
fn the_file_tree_of_cassandra_is_complete_with_fewer_actions_than_published() {
    let expected = Site::find("filetree-cassandra").unwrap().expected().unwrap();
    let server = Server::start("filetree-cassandra").unwrap();
    let mut states = Vec::new();
    for tabs in [1, 2] {
        let place = Place::new();
        let settings = CrawlSettings { tabs, ..CrawlSettings::new(server.url()) };
        let summary = run(&settings, &place.path("run")).unwrap();
        let model = model(&records(&place.path("run")));
        println!("{tabs} tabs: {summary:?}");
        assert!(summary.complete, "{tabs} tabs: {summary:?}");
        let found = (model.states.len() as u64, model.transitions.len() as u64);
        assert_eq!(found, (expected.states, expected.transitions), "{tabs} tabs");
        assert!(summary.progress.actions <= MOST_ACTIONS, "{tabs} tabs: {summary:?}");
        states.push(model.states);
    }
    assert_eq!(states[0], states[1]);
}
