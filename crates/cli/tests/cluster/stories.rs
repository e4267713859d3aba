//! What a ring must survive, one story each.

use crate::ring::{Model, Ring};

/// The models are the same; if not, in what.
fn assert_equal(found: &Model, expected: &Model) {
    let missing = expected.difference(found).count();
    let more = found.difference(expected).count();
    assert_eq!((missing, more), (0, 0), "of {} there are missing, and there are more", expected.len());
}

#[test]
fn machines_are_lost_come_and_leave_and_the_model_is_the_same() {
    let mut ring = Ring::new("machines", 3, 3, "?switches=7");
    let expected = ring.expected();
    let crawl = ring.crawl(&["--recovery", "redundancy"]);
    ring.wait_until(100);
    ring.controllers.remove(1).kill();
    ring.wait_until(250);
    ring.crawlers.remove(0).kill();
    ring.add_controller();
    ring.add_crawler();
    ring.wait_until(500);
    ring.controllers.remove(1).leave();
    let (summary, found) = crawl.end();
    assert_equal(&found, &expected);
    assert_eq!((&summary["states"], &summary["transitions"]), (&128.into(), &896.into()));
    assert_eq!(ring.needless(), Vec::<String>::new());
}
