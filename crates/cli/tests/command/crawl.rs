//! `argiope crawl` of real applications in real Chromium: what it finds, how it stops, how it goes
//! on.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use argiope_sites::Server;
use serde_json::Value;

use crate::{Given, argiope, command, folder, given, output, without_warnings};

/// The one object that a crawl prints with `--json`.
fn summary(given: &Given) -> Value {
    assert_eq!(given.out.lines().count(), 1, "{}{}", given.out, given.err);
    serde_json::from_str(&given.out).expect("the line is JSON")
}

/// The keys of the states of a run.
fn keys(run: &Path) -> BTreeSet<String> {
    let list = output(&format!("states {}", run.display()));
    let key = |line: &str| line.split_whitespace().nth(1).expect("a state has a key").to_owned();
    list.lines().skip(1).map(key).collect()
}

#[test]
fn a_hypercube_is_found_in_full_and_told_as_one_object() {
    let here = folder("crawl-toggles");
    let site = Server::start("toggles").expect("a fixture can be served");
    let run = here.join("run");
    let end = argiope(&format!("crawl {} --out {} --tabs 2 --json", site.url(), run.display()));
    assert_eq!((end.code, without_warnings(&end.err)), (Some(0), ""));
    assert!(end.err.starts_with("argiope: actions may change data"), "{}", end.err);
    let fields = [
        "url",
        "complete",
        "stopped_by",
        "states",
        "transitions",
        "actions_executed",
        "resets",
        "reset_cost",
        "coverage",
        "failed",
        "given_up",
        "gone",
        "nondeterministic",
        "unsettled",
        "unsafe",
        "blocked",
        "urls",
        "avoided",
        "ledger",
        "ended_by",
        "tampered",
        "truncated",
        "seeds_left",
        "tabs",
        "wall_s",
        "actions_per_s",
        "out",
    ];
    let found = summary(&end);
    let names: Vec<&str> = end.out.split('"').filter(|text| fields.contains(text)).collect();
    assert_eq!(names, fields);
    assert_eq!(found.as_object().map(serde_json::Map::len), Some(fields.len()));
    assert_eq!((&found["complete"], &found["stopped_by"]), (&true.into(), &Value::Null));
    assert_eq!((&found["states"], &found["transitions"]), (&64.into(), &384.into()));
    assert_eq!(found["coverage"]["reached"], "all");
    assert_eq!((&found["url"], &found["tabs"]), (&site.url().into(), &2.into()));
    assert_eq!(found["out"].as_str(), run.to_str());
    assert_eq!(found["blocked"], serde_json::json!({"requests": 0, "hosts": []}));
    assert_eq!(keys(&run).len(), 64);
}

#[test]
fn a_crawl_that_gave_something_up_is_not_complete_and_tries_it_again_on_resume() {
    let here = folder("crawl-given-up");
    let site = Server::start("spinning").expect("a fixture can be served");
    let run = here.join("run");
    let crawl = |how: &str| {
        let settings = "--settle-cap 1s --tabs 1 --quiet";
        argiope(&format!("crawl {how} {settings}"))
    };
    let end = crawl(&format!("{} --out {} --json", site.url(), run.display()));
    assert_eq!(end.code, Some(5), "{}{}", end.out, end.err);
    let found = summary(&end);
    assert_eq!((&found["complete"], &found["stopped_by"]), (&false.into(), &Value::Null));
    assert_eq!(found["given_up"], serde_json::json!({ "hung": 1 }));
    let actions = found["actions_executed"].as_u64();

    let end = argiope(&format!("crawl --resume {} --quiet", run.display()));
    assert_eq!(end.code, Some(5), "{}{}", end.out, end.err);
    assert!(end.out.contains("explored, except 1 action given up\n"), "{}", end.out);
    assert!(end.out.contains("1 action given up: the page did not answer\n"), "{}", end.out);
    let states = argiope(&format!("states {}", run.display()));
    assert_eq!(states.code, Some(0), "{}", states.err);
    let end = argiope(&format!("crawl --resume {} --quiet --json", run.display()));
    assert!(summary(&end)["actions_executed"].as_u64() > actions, "it was not tried again");
}

/// Waits until the crawl has written to its store several times, so that something is found.
fn under_way(child: &mut Child, run: &Path) {
    let written =
        || std::fs::metadata(run.join("argiope.redb")).and_then(|found| found.modified()).ok();
    let mut seen: BTreeSet<SystemTime> = BTreeSet::new();
    while seen.len() < 6 {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it has ended already");
        seen.extend(written());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_interrupted_crawl_goes_on_and_ends_as_if_nothing_had_happened() {
    let here = folder("crawl-interrupted");
    let site = Server::start("toggles").expect("a fixture can be served");
    let run = here.join("run");
    let shown = run.to_str().expect("a plain path");
    // The server takes its time, so that the crawl is not over before it is interrupted.
    let url = format!("{}?wait=20", site.url());
    let arguments = ["crawl", &url, "--out", shown, "--tabs", "1", "--json"];
    let mut child = command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("argiope can be run");
    under_way(&mut child, &run);
    for second in [
        format!("crawl --resume {shown}"),
        format!("crawl {url} --out {shown}"),
        format!("states {shown}"),
    ] {
        let refused = argiope(&second);
        let expected = format!("argiope: {shown}/argiope.redb is in use by another argiope\n");
        assert_eq!((refused.code, refused.err), (Some(2), expected), "{second}");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill can be run").success());
    let end = given(child.wait_with_output().expect("argiope ends"));
    assert_eq!(end.code, Some(3), "{}", end.err);
    let first = summary(&end);
    assert_eq!((&first["complete"], &first["stopped_by"]), (&false.into(), &"interrupt".into()));
    assert!(
        end.err.ends_with(&format!("argiope: to resume: argiope crawl --resume {shown}\n")),
        "{}",
        end.err
    );

    let end = argiope(&format!("crawl --resume {shown} --tabs 2 --json --quiet"));
    assert_eq!((end.code, end.err.as_str()), (Some(0), ""));
    let second = summary(&end);
    assert_eq!((&second["states"], &second["transitions"]), (&64.into(), &384.into()));
    let actions = |summary: &Value| summary["actions_executed"].as_u64().expect("a number");
    assert!(actions(&second) > actions(&first));

    let end = argiope(&format!("crawl --resume {shown}"));
    assert_eq!((end.code, end.err.as_str()), (Some(0), ""));
    assert!(
        end.out.starts_with(&format!("{url}: complete\n64 states, 384 transitions\n")),
        "{}",
        end.out
    );
}

#[test]
fn limits_are_exact_and_can_be_raised() {
    let here = folder("crawl-limits");
    let run = here.join("run");
    let shown = run.to_str().expect("a plain path");
    let end = argiope(&format!("crawl --demo --out {shown} --max-states 10 --json --quiet"));
    let found = summary(&end);
    assert_eq!(
        (end.code, &found["stopped_by"], &found["states"]),
        (Some(4), &"max-states".into(), &10.into())
    );
    assert_eq!(keys(&run).len(), 10);

    // The demo is served again where it was.
    let end = argiope(&format!(
        "crawl --resume {shown} --max-states none --max-actions 60 --json --quiet"
    ));
    let found = summary(&end);
    assert_eq!((end.code, &found["stopped_by"]), (Some(4), &"max-actions".into()));
    let actions = found["actions_executed"].as_u64().expect("a number");
    assert!((20..=60).contains(&actions), "{actions}");
    assert!(found["states"].as_u64().expect("a number") > 10);
}

#[test]
fn a_limit_of_depth_or_time_is_told_for_people() {
    let here = folder("crawl-deep");
    let site = Server::start("toggles").expect("a fixture can be served");
    let url = site.url();
    let run = here.join("depth");
    let end = argiope(&format!("crawl {url} --out {} --max-depth 1 --quiet", run.display()));
    assert_eq!((end.code, end.err.as_str()), (Some(4), ""));
    // One switch on: 6 states, in each of which all 6 are tried. Two on: 15 states, in which none
    // is.
    let expected = format!(
        "{url}: stopped by --max-depth, 90 known actions unexplored\n22 states, 42 transitions\n"
    );
    assert!(end.out.starts_with(&expected), "{}", end.out);
    let resume =
        format!("to resume:\n  argiope crawl --resume {} --max-depth none\n", run.display());
    assert!(end.out.ends_with(&resume), "{}", end.out);

    let run = here.join("time");
    let end =
        argiope(&format!("crawl {url} --out {} --max-time 1ms --quiet --json", run.display()));
    assert_eq!((end.code, &summary(&end)["stopped_by"]), (Some(4), &"max-time".into()));
}

#[test]
fn without_a_directory_each_crawl_gets_a_new_one() {
    let here = folder("crawl-named");
    for number in 1..=2 {
        let arguments = ["crawl", "--demo", "--max-states", "1", "--quiet"];
        let end =
            given(command(&arguments).current_dir(&here).output().expect("argiope can be run"));
        assert_eq!(end.code, Some(4), "{}", end.err);
        assert!(end.out.contains(&format!("the run is in out/demo-{number}:\n")), "{}", end.out);
        assert!(here.join(format!("out/demo-{number}/argiope.redb")).is_file());
    }
}

#[test]
fn a_crawl_of_several_addresses_begins_at_each_and_says_which_one_cannot_be_loaded() {
    let here = folder("crawl-seeds");
    let site = Server::start("deep").expect("a fixture can be served");
    let (run, list) = (here.join("run"), here.join("seeds.txt"));
    let url = site.url();
    let lines = format!("# rooms\n{url}#room/12\n\n{url}#room/12\n  {url}missing  # not there\n");
    std::fs::write(&list, lines).expect("a list can be written");
    let line =
        format!("crawl {url} {url}#room/6 --seeds {} --out {}", list.display(), run.display());
    let end = argiope(&format!("{line} --tabs 1 --json"));
    assert_eq!(end.code, Some(5), "{}{}", end.out, end.err);
    let found = summary(&end);
    assert_eq!((&found["complete"], &found["stopped_by"]), (&false.into(), &Value::Null));
    assert_eq!((&found["states"], &found["transitions"]), (&29.into(), &28.into()));
    assert_eq!(found["seeds_left"], serde_json::json!([format!("{url}missing")]));
    // Paths begin with the nearest address.
    let states = output(&format!("states {}", run.display()));
    let gold = states.lines().find(|line| line.contains("Gold")).expect("the vault was opened");
    let number = gold.split_whitespace().next().expect("a state has a number");
    let told = output(&format!("states {} {number}", run.display()));
    assert!(told.contains(&format!("load {url}#room/12\n")), "{told}");
    // The address is tried again.
    let again = argiope(&format!("crawl --resume {}", run.display()));
    assert_eq!(again.code, Some(5), "{}{}", again.out, again.err);
    assert!(again.out.contains("not loaded: ") && again.out.contains("404"), "{}", again.out);
}
