//! Looking at what a crawl found: `states`, `explain` and `export`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::OnceLock;

use argiope_sites::Server;
use serde_json::Value;

use crate::{argiope, folder, output, without_warnings};

/// A crawl of a small application, made once for all tests.
fn details() -> &'static PathBuf {
    static RUN: OnceLock<PathBuf> = OnceLock::new();
    RUN.get_or_init(|| {
        let run = folder("looking-details").join("run");
        let site = Server::start("details").expect("a fixture can be served");
        let end = argiope(&format!("crawl {} --out {} --screenshots", site.url(), run.display()));
        assert_eq!((end.code, without_warnings(&end.err)), (Some(0), ""));
        assert!(end.out.contains("\n12 states, 30 transitions\n"), "{}", end.out);
        run
    })
}

#[test]
fn states_are_listed_in_the_order_of_discovery() {
    let list = output(&format!("states {}", details().display()));
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["state", "key", "depth", "tried/known", "page"]);
    assert_eq!(rows.len(), 13);
    for (number, row) in rows[1..].iter().enumerate() {
        let (done, known) = row[3].split_once('/').expect("two numbers");
        assert_eq!((row[0], done), (number.to_string().as_str(), known));
    }
    assert_eq!(rows[1][2], "0");
    let json: Vec<Value> =
        serde_json::from_str(&output(&format!("states {} --json", details().display()))).unwrap();
    assert_eq!(json.len(), 12);
    for (state, row) in json.iter().zip(&rows[1..]) {
        let done = format!("{}/{}", state["tried"], state["known"]);
        assert_eq!(
            [&state["state"].to_string(), &state["depth"].to_string(), &done],
            [row[0], row[2], row[3]]
        );
        assert!(state["key"].as_str().unwrap().starts_with(row[1]), "{state}");
    }
}

#[test]
fn states_are_named_by_what_tells_them_apart() {
    let list = output(&format!("states {}", details().display()));
    let named = |name: &str| list.lines().filter(|line| line.contains(name)).count();
    assert!(named("\"dialog") > 0 && named("\"dialog") < 12, "{list}");
}

#[test]
fn nearly_equal_states_are_one_screen() {
    let run = details().display();
    let text = output(&format!("states {run} --screens"));
    let mut lines = text.lines();
    let (screens, states) = lines.next().and_then(|line| line.split_once(" of ")).unwrap();
    assert_eq!(states, "12 states");
    let counts: Vec<usize> = lines
        .skip(1)
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert_eq!(counts.iter().sum::<usize>(), 12, "{text}");
    assert!(screens.starts_with(&format!("{} screen", counts.len())), "{text}");
    assert!(counts.is_sorted_by(|a, b| a >= b), "{text}");
    assert_eq!(argiope(&format!("states {run} 1 --screens")).code, Some(2));
    let json: Vec<Value> =
        serde_json::from_str(&output(&format!("states {run} --screens --json"))).unwrap();
    let found: Vec<usize> =
        json.iter().map(|screen| screen["states"].as_array().unwrap().len()).collect();
    assert_eq!(found, counts);
}

#[test]
fn a_state_tells_how_to_get_there_and_where_its_actions_lead() {
    let run = details().display();
    let list = output(&format!("states {run}"));
    let key = list.lines().nth(3).and_then(|line| line.split_whitespace().nth(1)).expect("a key");
    let by_key = output(&format!("states {run} {key}"));
    assert_eq!(by_key, output(&format!("states {run} 2")));
    assert!(by_key.starts_with(&format!("state 2\nkey      {key}")), "{by_key}");
    assert!(by_key.contains("\npath ("), "{by_key}");
    assert!(by_key.contains("\n  load http://127.0.0.1:"), "{by_key}");
    assert!(by_key.lines().any(|line| line.contains("  → state ")), "{by_key}");
    let initial = output(&format!("states {run} initial"));
    assert!(initial.contains("path (0 actions):"), "{initial}");
}

#[test]
fn a_state_that_is_not_there_is_refused() {
    let run = details().display();
    for state in ["12", "zzz", "0123456789abcdef"] {
        let end = argiope(&format!("states {run} {state}"));
        assert_eq!((end.code, end.err.lines().count()), (Some(2), 1), "{}", end.err);
        assert!(
            end.err.contains("write 'initial', a number from 0 to 11, or the beginning of a key"),
            "{}",
            end.err
        );
    }
}

#[test]
fn the_difference_of_two_states_is_told() {
    let run = details().display();
    let text = output(&format!("explain {run} initial 1"));
    assert!(text.starts_with("A: state 0 ("), "{text}");
    assert!(text.contains("\nB: state 1 ("), "{text}");
    assert!(text.contains("\nDifferences that tell them apart (identity content):\n  "), "{text}");
    assert!(output(&format!("explain {run} 1 1")).ends_with("A and B are the same state.\n"));
    assert!(output(&format!("explain {run}")).starts_with("no masks"));
    assert_eq!(argiope(&format!("explain {run} 1")).code, Some(2));
}

#[test]
fn explain_shows_what_changes_by_itself() {
    let run = folder("looking-volatile").join("run");
    let site = Server::start("volatile").expect("a fixture can be served");
    let line =
        format!("crawl {} --out {} --max-states 2 --ignore nav --quiet", site.url(), run.display());
    let end = argiope(&line);
    assert_eq!(end.code, Some(4), "{}", end.err);
    assert!(end.out.contains(" masks of volatile content:\n  "), "{}", end.out);
    let run = run.display();
    let all = output(&format!("explain {run}"));
    assert!(all.contains(" masks on every page:\n  "), "{all}");
    assert!(all.ends_with("ignored by --ignore: elements that match \"nav\"\n"), "{all}");
    let text = output(&format!("explain {run} 0 1"));
    assert!(text.contains("\nMasked differences:\n  "), "{text}");
    let state = output(&format!("states {run} initial"));
    assert!(state.contains("\nmasks of every page:\n  text of "), "{state}");
}

#[test]
fn an_exported_model_can_be_simulated() {
    let here = folder("looking-model");
    let run = details().display();
    let file = here.join("model.json");
    let model = output(&format!("export {run} --format model"));
    assert_eq!(output(&format!("export {run} --format model --out {}", file.display())), "");
    assert_eq!(fs::read_to_string(&file).expect("a file was written"), model);
    let model: Value = serde_json::from_str(&model).expect("it is JSON");
    assert_eq!((&model["format"], &model["initial"]), (&"argiope-model/1".into(), &0.into()));
    let line = output(&format!("simulate --model {} --json", file.display()));
    let simulated: Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!((&simulated["states"], &simulated["transitions"]), (&12.into(), &30.into()));
}

#[test]
fn the_page_of_a_state_can_be_exported() {
    let run = details().display();
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

/// A page whose title, texts and addresses contain escapes for terminals.
const HOSTILE: &str = "<!doctype html><meta charset=utf-8><title>a\u{202e}b\u{9b}31m</title>\
     <button onclick=\"this.textContent = 'c\u{1b}]0;d\u{7}'\">e\u{1b}[2J</button>";

/// Answers every request with the page, as long as the test process lives.
fn serve_hostile() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}/", listener.local_addr().expect("it has an address"));
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let length = HOSTILE.len();
            // A client that has gone needs no answer.
            let _ = client.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
            let _ = write!(client, "{head}\r\ncontent-length: {length}\r\n\r\n{HOSTILE}");
        }
    });
    url
}

#[test]
fn nothing_of_a_page_steers_the_terminal() {
    let run = folder("looking-hostile").join("run");
    let end = argiope(&format!("crawl {} --out {}", serve_hostile(), run.display()));
    assert_eq!((end.code, without_warnings(&end.err)), (Some(0), ""));
    assert!(end.out.contains("\n2 states, 2 transitions\n"), "{}", end.out);
    let run = run.display();
    let mut all = end.out + &end.err;
    for line in [
        "states RUN",
        "states RUN 0",
        "states RUN 1",
        "explain RUN 0 1",
        "export RUN --format model",
    ] {
        all += &output(&line.replace("RUN", &run.to_string()));
    }
    assert!(all.contains("\\u{202e}") && all.contains("\\u{1b}"), "{all}");
    let steers = |one: char| (one.is_control() && one != '\n') || one == '\u{202e}';
    assert!(!all.contains(steers), "{all:?}");
}
