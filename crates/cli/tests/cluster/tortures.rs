//! What no operator plans: restarts at the wrong moment, returns after the end, more crawls than
//! tabs. `ARGIOPE_LONG=1` repeats each more often.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use argiope_explore::chance::Chance;

use crate::ring::{Crawl, Model, PATIENCE, Process, Ring, Started, argiope, folder};
use crate::stories::assert_equal;

/// The most bytes that a controller keeps of these crawls, on its disk and in its memory. Usual are
/// 2 MB and 25 MB.
const MOST_DATA: u64 = 6 << 20;
const MOST_MEMORY: u64 = 60 << 20;

fn is_long() -> bool {
    std::env::var_os("ARGIOPE_LONG").is_some()
}

/// A number for CI, and a larger one for `ARGIOPE_LONG=1`.
fn often(usual: usize, long: usize) -> usize {
    if is_long() { long } else { usual }
}

/// The actions of a summary.
fn actions(summary: &serde_json::Value) -> u64 {
    summary["actions_executed"].as_u64().expect("a number")
}

/// The states, transitions and actions of a crawl that is over, as `argiope status` counts them.
fn counts(crawl: &serde_json::Value) -> (Option<u64>, Option<u64>, Option<u64>) {
    assert_eq!(crawl["finished"], true, "{crawl}");
    (crawl["states"].as_u64(), crawl["transitions"].as_u64(), crawl["actions"].as_u64())
}

#[test]
fn a_controller_that_returns_after_the_end_crawls_nothing() {
    let mut ring = Ring::new("returns", 3, 2, "?switches=6&wait=20");
    let expected = ring.expected();
    let before = ring.clicks();
    let crawl = ring.crawl(&["--recovery", "redundancy"]);
    ring.wait_until(100);
    let killed = ring.controllers.remove(1);
    let (number, address) = (killed.number, killed.address.clone());
    killed.kill();
    let (summary, found) = crawl.end();
    assert_equal(&found, &expected);
    assert_eq!(actions(&summary), ring.clicks() - before);

    let clicks = ring.clicks();
    let again = ring.controller(number, &address, "exec \"$@\"");
    ring.controllers.push(again);
    ring.add_crawler();
    ring.wait_for("all know of the end", |status| {
        let over = |one: &serde_json::Value| one["shares"][0]["finished"] == true;
        status["controllers"].as_array().is_some_and(|all| all.len() == 3 && all.iter().all(over))
    });
    // Longer than a controller looks for others before it resumes a crawl alone.
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(ring.clicks(), clicks, "the crawl was executed again");
    let status = ring.status().expect("a controller answers");
    let crawl = &status["crawls"][0];
    assert_eq!(counts(crawl), (Some(64), Some(384), Some(actions(&summary))));
}

#[test]
fn all_controllers_restart_after_the_end_and_count_the_same() {
    let mut ring = Ring::new("restarted", 3, 2, "?switches=5&wait=20");
    let (summary, _) = ring.crawl(&[]).end();
    for index in 0..3 {
        ring.restart(index, Process::kill, Duration::ZERO);
    }
    ring.wait_until_inside();
    let crawl = &ring.status().expect("a controller answers")["crawls"][0];
    assert_eq!(counts(crawl), (Some(32), Some(160), Some(actions(&summary))));
    let fetched = ring.attach(crawl["id"].as_str().expect("an id"), "attached");
    assert_eq!(actions(&fetched.0), actions(&summary));
    assert_eq!(fetched.0["states"], 32);
}

/// The longest time that a crawl goes on after the last fault.
fn end(crawl: Crawl) -> (serde_json::Value, Model) {
    crawl.end_within(Duration::from_secs(often(90, 900) as u64))
}

/// After every torture: the model of a lone crawl, exact counters, nothing that was acknowledged
/// assigned again, bounded data and memory, and no process left.
fn assert_unharmed(ring: Ring, crawl: Crawl, expected: &Model, clicks_before: u64) {
    let (summary, found) = end(crawl);
    assert_equal(&found, expected);
    assert_eq!(actions(&summary), ring.clicks() - clicks_before, "the counters are wrong");
    assert_eq!(ring.needless(), Vec::<String>::new());
    let (sizes, memory) = (ring.data_sizes(), ring.memory());
    println!("bytes of data {sizes:?}, of memory {memory:?}");
    assert!(sizes.iter().all(|&size| size < MOST_DATA), "the data has grown: {sizes:?}");
    assert!(memory.iter().all(|&size| size < MOST_MEMORY), "the memory has grown: {memory:?}");
    ring.end();
}

#[test]
fn restarted_controllers_come_inside_and_nothing_grows() {
    // Each restart takes some four seconds, and the crawl outlasts them.
    let query = format!("?switches={}&wait={}", often(6, 9), often(120, 400));
    let mut ring = Ring::new("restarts", 3, 2, &query);
    let expected = ring.expected();
    let before = ring.clicks();
    let crawl = ring.crawl(&["--recovery", "redundancy"]);
    ring.wait_until(20);
    let mut chance = Chance::new(&[18]);
    for restart in 0..often(3, 100) {
        ring.wait_until_ready();
        // A slow machine restarts fewer before the end.
        assert!(restart >= often(2, 100) || !ring.is_over(), "only {restart} restarts");
        let pause = Duration::from_millis([0, 0, 500, 1500][chance.below(4)]);
        let end = if restart % 2 == 0 { Process::kill } else { Process::leave };
        ring.restart(chance.below(3), end, pause);
    }
    ring.wait_until_ready();
    assert_unharmed(ring, crawl, &expected, before);
}

/// A process that is stopped while it handles an input must notice that, too.
#[test]
fn stopped_controllers_repeat_nothing() {
    let query = format!("?switches={}&wait={}", often(6, 7), often(60, 200));
    let ring = Ring::new("stops", 3, 3, &query);
    let expected = ring.expected();
    let before = ring.clicks();
    let crawl = ring.crawl(&["--recovery", "redundancy", "--backups", "2"]);
    ring.wait_until(20);
    let mut chance = Chance::new(&[83]);
    let mut stops = 0;
    while stops < often(2, 60) && !ring.is_over() {
        ring.wait_until_ready();
        let stopped = &ring.controllers[chance.below(3)];
        stopped.freeze();
        std::thread::sleep(Duration::from_millis(2500));
        stopped.thaw();
        stops += 1;
    }
    println!("{stops} stops");
    ring.wait_until_ready();
    assert_unharmed(ring, crawl, &expected, before);
}

#[test]
fn rolling_upgrades_leave_no_controller_without_a_share() {
    let query = format!("?switches={}&wait={}", often(6, 9), often(120, 300));
    let mut ring = Ring::new("rolling", 3, 2, &query);
    let expected = ring.expected();
    let before = ring.clicks();
    let crawl = ring.crawl(&["--recovery", "redundancy"]);
    ring.wait_until(20);
    for upgrade in 0..often(1, 20) {
        for index in 0..3 {
            ring.wait_until_ready();
            ring.restart(index, Process::leave, Duration::ZERO);
        }
        ring.wait_until_ready();
        let upgrades = upgrade + 1;
        assert!(upgrades == often(1, 20) || !ring.is_over(), "only {upgrades} upgrades");
    }
    assert_unharmed(ring, crawl, &expected, before);
}

#[test]
fn random_kills_lose_nothing() {
    // With two replicas, two controllers may be down at once.
    let query = format!("?switches={}&wait={}", often(6, 8), often(120, 250));
    let mut ring = Ring::new("kills", 3, 3, &query);
    let expected = ring.expected();
    let before = ring.clicks();
    let crawl = ring.crawl(&["--recovery", "redundancy", "--backups", "2"]);
    ring.wait_until(20);
    let mut chance = Chance::new(&[42]);
    let began = Instant::now();
    let mut moments: Vec<usize> =
        (0..often(4, 42)).map(|_| chance.below(often(12_000, 200_000))).collect();
    moments.sort_unstable();
    for moment in moments {
        std::thread::sleep(Duration::from_millis(moment as u64).saturating_sub(began.elapsed()));
        ring.restart(chance.below(3), Process::kill, Duration::ZERO);
    }
    ring.wait_until_ready();
    assert_unharmed(ring, crawl, &expected, before);
}

#[test]
fn two_of_three_disks_are_lost_and_nothing_is_repeated() {
    let mut ring = Ring::new("disks", 3, 2, "?switches=6&wait=100");
    let expected = ring.expected();
    let before = ring.clicks();
    let crawl = ring.crawl(&["--recovery", "redundancy", "--backups", "2"]);
    ring.wait_until(100);
    ring.wait_until_ready();
    let lost: Vec<Process> = ring.controllers.drain(..2).collect();
    let lost: Vec<(u32, String)> = lost
        .into_iter()
        .map(|one| {
            let place = (one.number, one.address.clone());
            one.kill();
            place
        })
        .collect();
    for (number, address) in lost {
        let data = ring.folder.join(format!("controller-{number}"));
        std::fs::remove_dir_all(data).expect("the disk is lost");
        let empty = ring.controller(number, &address, "exec \"$@\"");
        ring.controllers.push(empty);
    }
    ring.wait_until_ready();
    assert_unharmed(ring, crawl, &expected, before);
}

#[test]
fn silent_sockets_do_not_lock_a_controller() {
    let ring = Ring::new("silent", 1, 0, "");
    let address = ring.controllers[0].address.clone();
    let silent: Vec<_> = (0..often(600, 1000))
        .map(|_| TcpStream::connect(&address).expect("the controller accepts"))
        .collect();
    for attempt in 0..4 {
        let out = argiope(&["status", "--cluster", &address]).output().expect("argiope can be run");
        assert!(out.status.success(), "{attempt}: {}", String::from_utf8_lossy(&out.stderr));
    }
    drop(silent);
    let log = std::fs::read_to_string(ring.folder.join("controller-1.log")).expect("a log");
    assert!(log.lines().count() < 30, "the log grows with each socket: {log}");
}

/// Runs `argiope certs`, which must succeed.
fn certs(folder: &std::path::Path, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let out = argiope(&["certs"]).args(words).current_dir(folder).output().expect("it runs");
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn silent_sockets_do_not_keep_certified_clients_out() {
    let folder = folder("silent-certified");
    certs(&folder, "init authority");
    let issue = "--host 127.0.0.1 --authority authority";
    certs(&folder, &format!("issue one --role controller {issue} --out one"));
    certs(&folder, &format!("issue me --role client {issue} --out me"));
    let log = std::fs::File::create(folder.join("log")).expect("a log");
    let controller = argiope(&["controller", "--listen", "127.0.0.1:0", "--data", "data"])
        .args(["--certs", "one"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn();
    let mut controller = Started(controller.expect("a controller starts"));
    let mut address = String::new();
    let out = controller.0.stdout.take().expect("there is an output");
    BufReader::new(out).read_line(&mut address).expect("it says where it listens");
    let address = address.trim();

    // Some say nothing, some begin as TLS does, and some talk about something else.
    let said: [&[u8]; 3] = [b"", &[0x16, 3, 1, 2, 0, 1], b"GET / HTTP/1.1\r\n\r\n"];
    let sockets: Vec<_> = said
        .iter()
        .cycle()
        .take(often(600, 1000))
        .map(|said| {
            let mut socket = TcpStream::connect(address).expect("the controller accepts");
            socket.write_all(said).expect("it can be sent");
            socket
        })
        .collect();
    for attempt in 0..4 {
        let status = argiope(&["status", "--cluster", address, "--certs", "me"])
            .current_dir(&folder)
            .output()
            .expect("argiope can be run");
        let said = String::from_utf8_lossy(&status.stderr);
        assert!(status.status.success(), "{attempt}: {said}");
    }
    // The certificate of a client is not enough to join.
    let joins = argiope(&["controller", "--listen", "127.0.0.1:0", "--data", "another"])
        .args(["--join", address, "--certs", "me"])
        .current_dir(&folder)
        .output()
        .expect("argiope can be run");
    let said = String::from_utf8_lossy(&joins.stderr).into_owned();
    assert_eq!(joins.status.code(), Some(2), "{said}");
    assert!(said.contains("has the role client; this process is a controller"), "{said}");
    drop(sockets);
    let read = || std::fs::read_to_string(folder.join("log")).expect("a log");
    // A refusal is logged once its socket is closed.
    let until = Instant::now() + PATIENCE;
    while !read().contains("the other side does not use TLS") {
        assert!(Instant::now() < until, "{}", read());
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = read();
    assert!(log.lines().count() < 30, "the log grows with each socket: {log}");
}

#[test]
fn a_controller_that_the_cluster_refuses_ends() {
    let mut ring = Ring::new("stranger", 1, 0, "");
    let end = ring.controller_refused("exec \"$@\" --cluster-name another");
    assert_eq!(end.0, Some(2), "{}", end.1);
    assert!(end.1.contains("the cluster refuses this controller"), "{}", end.1);
}

#[test]
fn directories_of_clients_and_controllers_are_not_confused() {
    let ring = Ring::new("directories", 1, 1, "?switches=3&wait=200");
    let crawl = ring.crawl(&[]);
    ring.wait_until(2);
    let run = crawl.kill();
    // The crawl goes on without its client: it must not be begun again here.
    let out = argiope(&["crawl", "--quiet", "--resume"]).arg(&run).output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains(" attach ") && said.contains("--cluster"), "{said}");
    let out = argiope(&["controller", "--listen", "127.0.0.1:0", "--data"]).arg(&run).output();
    let out = out.expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing was touched"), "{said}");
}

/// Once every crawl has had several turns, none had over 20 % more of the tabs' time than another.
fn assert_fair(ring: &Ring) {
    let seconds = |status: &serde_json::Value| -> Vec<f64> {
        let crawls = status["crawls"].as_array().expect("a list");
        crawls.iter().map(|crawl| crawl["tab_s"].as_f64().expect("a number")).collect()
    };
    let least = |all: &[f64]| all.iter().copied().fold(f64::MAX, f64::min);
    ring.wait_for_within(Duration::from_secs(400), "each had 40 s of the tabs", |status| {
        least(&seconds(status)) > 40.0
    });
    let all = seconds(&ring.status().expect("a controller answers"));
    let most = all.iter().copied().fold(0.0, f64::max);
    println!("seconds of tabs for each crawl: {all:?}");
    assert!(most / least(&all) < 1.2, "the shares are unequal: {all:?}");
}

#[test]
fn a_crawl_that_begins_without_a_free_tab_gets_its_turn() {
    let query = format!("?switches={}&wait={}", often(5, 7), often(50, 80));
    let ring = Ring::new("turns", 1, 3, &query);
    let expected = ring.expected();
    let expected_states = expected.iter().filter(|(_, transition)| transition.is_none()).count();
    // Crawls of one application: what crawlers know of one must not pass for the other's. They are
    // more than a crawler process remembers.
    let crawls: Vec<_> =
        (0..10).map(|one| ring.crawl_of(&ring.url, &format!("run-{one}"), &[])).collect();
    ring.wait_for("all are under way at once", |status| {
        let begun = |crawl: &serde_json::Value| {
            crawl["transitions"].as_u64() > Some(0) && crawl["finished"] == false
        };
        let all = status["crawls"].as_array().expect("a list");
        all.len() == crawls.len() && all.iter().all(begun)
    });
    if is_long() {
        assert_fair(&ring);
    }
    for crawl in crawls {
        let (summary, found) = end(crawl);
        assert_equal(&found, &expected);
        assert_eq!(summary["states"], expected_states);
    }
    ring.end();
}
