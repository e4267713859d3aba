//! What a crawl has learned about addresses that never finish answering, after it was stopped.

use argiope_runtime::learned;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{Batch, Store};
use argiope_sites::Server;

use crate::real::{Place, run};

/// The fixture's first page polls `/poll`; the second action begins to poll `/watch`.
#[test]
fn a_resumed_crawl_does_not_wait_for_addresses_that_it_has_learned() {
    let server = Server::start("long-poll").unwrap();
    let place = Place::new();
    let directory = place.path("run");
    let settings = CrawlSettings { settle_ms: 2_000, ..CrawlSettings::new(server.url()) };
    let stopped = CrawlSettings { max_actions: Some(1), ..settings.clone() };
    assert!(!run(&stopped, &directory).unwrap().complete);
    let store = Store::open(&directory).unwrap();
    let mut endless = learned::load(&store).unwrap().endless;
    assert_eq!(endless, [format!("{}poll", server.url())].into());

    // As if the crawl had learned the second one as well.
    endless.insert(format!("{}watch", server.url()));
    let named = vec![("endless".to_owned(), serde_json::to_vec(&endless).unwrap())];
    store.commit(&[Batch { named, ..Batch::default() }]).unwrap();
    drop(store);
    let summary = run(&settings, &directory).unwrap();
    assert!(summary.complete, "{summary:?}");
    assert_eq!((summary.progress.states, summary.unsettled), (3, 0));
}
