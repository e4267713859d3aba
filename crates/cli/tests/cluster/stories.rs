//! What a cluster must survive, one story each.

use std::time::Duration;

use argiope_controller::outcome::Note;
use argiope_sites::{Server, Site};

use crate::ring::{Model, Process, Ring, alone};

/// Compares two models and shows what differs.
pub fn assert_equal(found: &Model, expected: &Model) {
    let missing: Vec<_> = expected.difference(found).collect();
    let more: Vec<_> = found.difference(expected).collect();
    assert!(
        missing.is_empty() && more.is_empty(),
        "of {} {missing:?} are missing, and {more:?} are more",
        expected.len()
    );
}

#[test]
fn machines_are_lost_come_and_leave_and_the_model_is_the_same() {
    let mut ring = Ring::new("machines", 3, 3, "?switches=7&wait=20");
    let expected = ring.expected();
    let crawl = ring.crawl(&["--recovery", "redundancy"]);
    // By then all three know each other. A member that only one controller knows is lost with it
    // (decision 20).
    ring.wait_until(200);
    ring.controllers.remove(1).kill();
    ring.wait_until(350);
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

#[test]
fn jobs_of_a_killed_crawler_are_reassigned_at_once() {
    // Without measured times a task would be overdue only after two minutes.
    let mut ring = Ring::new("begun", 1, 2, "?switches=2&wait=1000");
    let crawl = ring.crawl(&[]);
    ring.wait_for("both have begun", |_| ring.count("assigned") >= 2);
    ring.crawlers.remove(0).kill();
    let (summary, _) = crawl.end();
    assert_eq!((&summary["states"], &summary["transitions"]), (&4.into(), &8.into()));
}

#[test]
fn crawlers_share_the_pages_that_one_has_captured() {
    let ring = Ring::new("looked", 2, 3, "?switches=5&wait=20");
    let (summary, _) = ring.crawl(&[]).end();
    assert_eq!(summary["states"], 32);
    let looked = ring.count("looked");
    // All three visit nearly every page; two that arrive at the same time may both capture it.
    assert!((32..=48).contains(&looked), "{looked} looks at 32 pages");
}

#[test]
fn a_controller_logs_an_address_that_it_cannot_reach() {
    let mut ring = Ring::new("unreached", 1, 0, "");
    let lonely = ring.controller(9, "127.0.0.1:0", "exec \"$@\" --join 127.0.0.1:1");
    ring.controllers.push(lonely);
    let log = ring.folder.join("controller-9.log");
    ring.wait_for("the log has the address", |_| {
        std::fs::read_to_string(&log)
            .is_ok_and(|text| text.contains("127.0.0.1:1 cannot be reached"))
    });
}

/// How long a controller is stopped: long enough for a failover, or half a minute with
/// `ARGIOPE_LONG=1`.
fn pause() -> Duration {
    Duration::from_secs(if std::env::var_os("ARGIOPE_LONG").is_some() { 30 } else { 5 })
}

#[test]
fn a_stopped_controller_continues_and_the_model_is_the_same() {
    let ring = Ring::new("frozen", 3, 3, "?switches=6&wait=50");
    let expected = ring.expected();
    let crawl = ring.crawl(&[]);
    ring.wait_until(100);
    ring.controllers[1].freeze();
    std::thread::sleep(pause());
    ring.controllers[1].thaw();
    let (_, found) = crawl.end();
    assert_equal(&found, &expected);
}

#[test]
fn all_are_killed_at_once_and_the_crawl_resumes() {
    let mut ring = Ring::new("blackout", 3, 2, "?switches=7");
    let expected = ring.expected();
    let crawl = ring.crawl(&["--recovery", "redundancy"]);
    ring.wait_until(300);
    let gone: Vec<Process> = ring.controllers.drain(..).chain(ring.crawlers.drain(..)).collect();
    let controllers: Vec<(u32, String)> =
        gone.iter().take(3).map(|one| (one.number, one.address.clone())).collect();
    gone.into_iter().for_each(Process::kill);
    for (number, address) in controllers {
        let again = ring.controller(number, &address, "exec \"$@\"");
        ring.controllers.push(again);
    }
    ring.add_crawler();
    ring.add_crawler();
    let (_, found) = crawl.end();
    assert_equal(&found, &expected);
    assert_eq!(ring.needless(), Vec::<String>::new());
}

#[test]
fn a_controller_with_a_full_disk_ends_and_the_others_continue() {
    let mut ring = Ring::new("full", 2, 2, "?switches=6&ballast=100000");
    let expected = ring.expected();
    // A limit on the size of files stands for a full disk.
    let full = ring.controller(9, "127.0.0.1:0", "trap '' XFSZ; ulimit -S -f 3000; exec \"$@\"");
    ring.controllers.push(full);
    ring.wait_for("the third is connected", |status| {
        status["controllers"].as_array().is_some_and(|all| all.len() == 3)
    });
    // With two replicas each of the three has every state.
    let crawl = ring.crawl(&["--backups", "2"]);
    let code = ring.controllers.remove(2).ends();
    let log =
        std::fs::read_to_string(ring.folder.join("controller-9.log")).expect("it has said why");
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("the disk is full"), "{log}");
    let (_, found) = crawl.end();
    assert_equal(&found, &expected);
}

#[test]
fn several_crawls_share_a_cluster_and_stay_apart() {
    let ring = Ring::new("several", 2, 2, "");
    let expected = ring.expected();
    let other = Server::start("demo").expect("the fixture can be served");
    let also = alone(&other.url(), &ring.folder.join("also-alone"));
    let first = ring.crawl(&[]);
    let second =
        ring.crawl_of(&other.url(), "also", &["--scheme", "shared", "--recovery", "retry"]);
    let (_, found) = first.end();
    assert_equal(&found, &expected);
    let (_, found) = second.end();
    assert_equal(&found, &also);
}

/// The notes of all transitions.
pub fn notes(model: &Model) -> Vec<&Note> {
    let transitions = model.iter().filter_map(|(_, transition)| transition.as_ref());
    let mut notes: Vec<&Note> = transitions.flat_map(|(_, _, notes)| notes).collect();
    notes.sort_unstable();
    notes
}

#[test]
fn a_cluster_records_what_one_machine_does() {
    // Only counts are compared: where a link is followed, and what fails, varies.
    let ring = Ring::new("records", 3, 2, "");
    for site in ["links", "dialogs", "spinning"] {
        let server = Server::start(site).expect("the fixture can be served");
        let expected =
            Site::find(site).and_then(Site::expected).expect("it is known what is there");
        let (summary, found) = ring.crawl_of(&server.url(), site, &[]).end();
        let count = |field: &str| summary[field].as_u64().expect("a number");
        let counted =
            ["states", "transitions", "failed", "nondeterministic", "unsettled", "urls"].map(count);
        let wanted = [
            expected.states,
            expected.transitions,
            expected.failed,
            expected.nondeterministic,
            expected.unsettled,
            expected.urls,
        ];
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
fn a_ring_leaves_alone_what_is_dangerous_and_lists_it() {
    let server = Server::start("brakes").expect("the fixture can be served");
    let ring = Ring::of("brakes", 3, 3, server.url());
    let (summary, found) = ring.crawl(&[]).end();
    assert_equal(&found, &ring.expected());
    assert_eq!((&summary["complete"], &summary["states"]), (&true.into(), &4.into()), "{summary}");
    // Log out, Shut down, Delete all, the link to /logout, and the question of the broom.
    assert_eq!(summary["avoided"], 5, "{summary}");
    for path in ["/logout", "/delete-all", "/shutdown"] {
        assert_eq!(server.requests(path), 0, "{path}");
    }
}

/// Without addresses each of the 15 dead ends costs a walk from the first page: the depths of all
/// of them add up to 119.
#[test]
fn a_ring_reaches_deep_states_by_their_own_addresses() {
    let server = Server::start("deep").expect("the fixture can be served");
    let ring = Ring::of("deep", 3, 1, server.url());
    let (summary, found) = ring.crawl(&[]).end();
    assert_equal(&found, &ring.expected());
    assert_eq!((&summary["complete"], &summary["states"]), (&true.into(), &29.into()), "{summary}");
    let actions = summary["actions_executed"].as_u64().expect("a number");
    assert!(actions < 119, "{summary}");
}
