//! Static division of work with one coordinator: `--scheme static`.

use argiope_sites::{Server, Site};

use crate::ring::{Ring, alone};
use crate::stories::{assert_equal, notes};

#[test]
fn static_division_records_what_one_machine_does() {
    let ring = Ring::new("divided", 2, 3, "");
    let expected = ring.expected();
    for division in ["stride", "range", "hash"] {
        let more = ["--scheme", "static", "--division", division];
        let (summary, found) = ring.crawl_of(&ring.url, division, &more).end();
        assert_equal(&found, &expected);
        assert_eq!((&summary["states"], &summary["transitions"]), (&64.into(), &384.into()));
    }
    for site in ["links", "dialogs", "nondeterministic"] {
        let server = Server::start(site).expect("the fixture can be served");
        let expected =
            Site::find(site).and_then(Site::expected).expect("it is known what is there");
        let (summary, found) = ring.crawl_of(&server.url(), site, &["--scheme", "static"]).end();
        let count = |field: &str| summary[field].as_u64().expect("a number");
        let counted = ["states", "transitions", "failed", "urls"].map(count);
        let wanted = [expected.states, expected.transitions, expected.failed, expected.urls];
        assert_eq!(counted, wanted, "{site}");
        assert!(count("actions_executed") >= count("transitions"), "{site}: {summary}");
        if site == "dialogs" {
            let alone = alone(&server.url(), &ring.folder.join("dialogs-alone"));
            assert_eq!(notes(&found), notes(&alone));
            assert!(notes(&found).len() > 20, "too few notes to compare");
        }
    }
}

#[test]
fn a_lost_crawler_and_a_restarted_coordinator_leave_the_model_the_same() {
    let mut ring = Ring::new("coordinator", 2, 3, "?switches=7");
    let expected = ring.expected();
    let crawl = ring.crawl(&["--scheme", "static"]);
    ring.wait_until(150);
    ring.crawlers.remove(1).kill();
    ring.wait_until(400);
    // The controller that was dialled coordinates.
    let coordinator = ring.controllers.remove(0);
    let (number, address) = (coordinator.number, coordinator.address.clone());
    coordinator.kill();
    let again = ring.controller(number, &address, "exec \"$@\"");
    ring.controllers.insert(0, again);
    let (summary, found) = crawl.end();
    assert_equal(&found, &expected);
    assert_eq!((&summary["states"], &summary["transitions"]), (&128.into(), &896.into()));
}
