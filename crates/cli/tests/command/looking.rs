//! Looking at what a crawl found: `states`, `explain` and `export`.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use argiope_sites::Server;
use serde_json::Value;

use crate::{argiope, folder, output, without_sandbox_note};

/// A crawl of the volatile fixture, made once for all tests.
fn volatile() -> &'static PathBuf {
    static RUN: OnceLock<PathBuf> = OnceLock::new();
    RUN.get_or_init(|| {
        let run = folder("looking-volatile").join("run");
        let site = Server::start("volatile").expect("a fixture can be served");
        let end = argiope(&format!("crawl {} --out {} --screenshots", site.url(), run.display()));
        assert_eq!((end.code, without_sandbox_note(&end.err)), (Some(0), ""));
        assert!(end.out.contains("\n6 states, 18 transitions\n"), "{}", end.out);
        assert!(end.out.contains(" volatile parts were masked:\n  "), "{}", end.out);
        run
    })
}

#[test]
fn states_are_listed_in_the_order_of_discovery() {
    let list = output(&format!("states {}", volatile().display()));
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["state", "key", "depth", "done/known", "page"]);
    assert_eq!(rows.len(), 7);
    for (number, row) in rows[1..].iter().enumerate() {
        assert_eq!((row[0], row[3]), (number.to_string().as_str(), "3/3"));
    }
    assert_eq!(rows[1][2], "0");
}

#[test]
fn a_state_tells_how_to_get_there_and_where_its_actions_lead() {
    let run = volatile().display();
    let list = output(&format!("states {run}"));
    let key = list.lines().nth(3).and_then(|line| line.split_whitespace().nth(1)).expect("a key");
    let by_key = output(&format!("states {run} {key}"));
    assert_eq!(by_key, output(&format!("states {run} 2")));
    assert!(by_key.starts_with(&format!("state 2\nkey      {key}")), "{by_key}");
    assert!(by_key.contains("\nhow to get there ("), "{by_key}");
    assert!(by_key.contains("\n  load http://127.0.0.1:"), "{by_key}");
    assert_eq!(by_key.lines().filter(|line| line.contains("  → state ")).count(), 3, "{by_key}");
    assert!(by_key.contains("\nvolatile here, as on every page:\n"), "{by_key}");
    let initial = output(&format!("states {run} initial"));
    assert!(initial.contains("how to get there (0 actions):"), "{initial}");
}

#[test]
fn a_state_that_is_not_there_is_refused() {
    let run = volatile().display();
    for state in ["6", "zzz", "0123456789abcdef"] {
        let end = argiope(&format!("states {run} {state}"));
        assert_eq!((end.code, end.err.lines().count()), (Some(2), 1), "{}", end.err);
        assert!(
            end.err.contains("write 'initial', a number from 0 to 5, or the beginning of a key"),
            "{}",
            end.err
        );
    }
}

#[test]
fn the_difference_of_two_states_is_told_with_what_is_masked() {
    let run = volatile().display();
    let text = output(&format!("explain {run} initial 1"));
    assert!(text.starts_with("A: state 0 ("), "{text}");
    assert!(text.contains("\nB: state 1 ("), "{text}");
    assert!(text.contains("\nWhat makes them two states (identity content):\n  "), "{text}");
    assert!(text.contains("\nWhat differs and is masked:\n  "), "{text}");
    assert!(output(&format!("explain {run} 1 1")).ends_with("They are the same state.\n"));
    assert!(output(&format!("explain {run}")).contains(" volatile parts masked on every page:\n  "));
    assert_eq!(argiope(&format!("explain {run} 1")).code, Some(2));
}

#[test]
fn an_exported_model_can_be_simulated() {
    let here = folder("looking-model");
    let run = volatile().display();
    let file = here.join("model.json");
    let model = output(&format!("export {run} --format model"));
    assert_eq!(output(&format!("export {run} --format model --out {}", file.display())), "");
    assert_eq!(fs::read_to_string(&file).expect("a file was written"), model);
    let model: Value = serde_json::from_str(&model).expect("it is JSON");
    assert_eq!((&model["format"], &model["initial"]), (&"argiope-model/1".into(), &0.into()));
    let line = output(&format!("simulate --model {} --json", file.display()));
    let simulated: Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!((&simulated["states"], &simulated["transitions"]), (&6.into(), &18.into()));
}

#[test]
fn the_page_of_a_state_can_be_had() {
    let run = volatile().display();
    let source = output(&format!("export {run} --format source --state initial"));
    assert!(source.contains("<html"), "{source}");
    let here = folder("looking-picture");
    let picture = here.join("state.png");
    assert_eq!(
        output(&format!("export {run} --format screenshot --state 0 --out {}", picture.display())),
        ""
    );
    assert!(!fs::read(&picture).expect("a file was written").is_empty());
}
