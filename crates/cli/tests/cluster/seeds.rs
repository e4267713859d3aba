//! A crawl on a cluster begins at several addresses, whatever happens to the processes.

use std::net::TcpListener;
use std::time::Duration;

use argiope_sites::Server;

use crate::ring::{Model, Ring, alone_from, argiope};
use crate::stories::assert_equal;

/// A ring for switches, and the address of more switches that none of the pages leads to.
fn ring(name: &str, switches: u32, more: u32) -> (Ring, String, Model) {
    let ring = Ring::new(name, 3, 3, &format!("?switches={switches}&wait=20"));
    let second = ring.url.replace(&format!("={switches}&"), &format!("={more}&"));
    let expected = alone_from(&[&ring.url, &second], &ring.folder.join("alone"));
    let states = expected.iter().filter(|(_, transition)| transition.is_none()).count();
    assert_eq!(states, (1 << switches) + (1 << more));
    (ring, second, expected)
}

#[test]
fn a_ring_begins_at_two_addresses() {
    let (ring, second, expected) = ring("seeds", 3, 4);
    let (summary, found) = ring.crawl(&[&second]).end();
    assert_equal(&found, &expected);
    assert_eq!(summary["complete"], true, "{summary}");
    assert_eq!((&summary["states"], &summary["transitions"]), (&24.into(), &88.into()));
    // A path to its states begins with its address.
    let states = |more: &[&str]| {
        let listed = argiope(&["states"]).arg(ring.folder.join("run")).args(more).output();
        String::from_utf8(listed.expect("argiope can be run").stdout).expect("text")
    };
    let list = states(&[]);
    let state = list.lines().rfind(|line| line.ends_with(&second)).expect("it has states");
    let path = states(&[state.split_whitespace().next().expect("a number")]);
    assert!(path.contains(&format!("load {second}\n")), "{path}");
    assert_eq!(ring.needless(), Vec::<String>::new());
}

#[test]
fn a_star_begins_at_two_addresses() {
    let (ring, second, expected) = ring("seeds-star", 3, 4);
    let (summary, found) = ring.crawl(&[&second, "--scheme", "static"]).end();
    assert_equal(&found, &expected);
    assert_eq!(summary["complete"], true, "{summary}");
}

#[test]
fn a_controller_is_lost_and_no_seed_is() {
    let (mut ring, second, expected) = ring("seeds-lost", 5, 6);
    let crawl = ring.crawl(&[&second, "--recovery", "redundancy"]);
    ring.wait_until(100);
    ring.controllers.remove(1).kill();
    let (summary, found) = crawl.end();
    assert_equal(&found, &expected);
    assert_eq!(summary["complete"], true, "{summary}");
    assert_eq!(ring.needless(), Vec::<String>::new());
}

/// Without replicas the first state is lost and found again, and the seeds with it.
#[test]
fn controllers_without_replicas_are_lost_at_the_beginning_and_no_seed_is() {
    let (mut ring, second, expected) = ring("seeds-early", 4, 5);
    let crawl = ring.crawl(&[&second, "--recovery", "retry"]);
    ring.wait_until(2);
    ring.controllers.remove(1).kill();
    std::thread::sleep(Duration::from_secs(3));
    ring.controllers.remove(1).kill();
    let (summary, found) = crawl.end();
    assert_equal(&found, &expected);
    assert_eq!(summary["complete"], true, "{summary}");
}

#[test]
fn a_seed_that_cannot_be_loaded_is_given_up() {
    let server = Server::start("deep").expect("the fixture can be served");
    let ring = Ring::of("seeds-bad", 3, 2, server.url());
    // A port on which no server listens.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let refused = format!("http://{}/", free.expect("a free port"));
    let (missing, closed) = (format!("{}missing", ring.url), format!("{}#vault", ring.url));
    let include = format!("{refused}*,{}*", ring.url);
    let addresses: Vec<&str> = ring.controllers.iter().map(|one| one.address.as_str()).collect();
    let begin = |more: &[&str]| {
        let mut crawl = argiope(&["crawl", &ring.url, &missing, &closed, &refused, "--quiet"]);
        for pattern in include.split(',') {
            crawl.args(["--include", pattern]);
        }
        crawl.args(["--cluster", &addresses.join(",")]).args(more);
        crawl.output().expect("argiope can be run")
    };
    let out = ring.folder.join("run");
    let ended = begin(&["--out", out.to_str().expect("a plain path")]);
    let text = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(5), "{ended:?}");
    assert!(text.contains("explored, except from 2 seeds that could not be loaded"), "{text}");
    for seed in [&missing, &refused] {
        assert!(text.contains(&format!("not loaded: {seed} leads to no page")), "{text}");
    }
    // On one machine the run goes on: its server still has no such page.
    let resumed = argiope(&["crawl", "--quiet", "--json", "--resume"]).arg(&out).output();
    let resumed = resumed.expect("argiope can be run");
    assert_eq!(resumed.status.code(), Some(5), "{resumed:?}");
    let again: serde_json::Value = serde_json::from_slice(&resumed.stdout).expect("a summary");
    assert_eq!(again["seeds_left"].as_array().map(Vec::len), Some(2), "{again}");
    // A client that attaches later learns the same.
    let begun = begin(&["--detach"]);
    assert!(begun.status.success(), "{begun:?}");
    let id = String::from_utf8_lossy(&begun.stdout);
    let (summary, found) = ring.attach(id.trim(), "attached");
    assert_eq!(summary["complete"], false, "{summary}");
    let mut left = [missing.clone(), refused.clone()];
    left.sort();
    assert_eq!(summary["seeds_left"], serde_json::json!(left), "{summary}");
    // The closed vault is a state that only its address leads to.
    assert_eq!(summary["states"], 30, "{summary}");
    assert_equal(&found, &crate::ring::model(&out));
}
