//! What a crawl leaves alone, and what it does when an action ends the application.

use std::collections::BTreeSet;
use std::path::Path;

use argiope_sites::Server;
use serde_json::Value;

use crate::{Given, command, folder, given, output};

/// Crawls with arguments that may have spaces in them.
fn crawl(arguments: &[&str], run: &Path) -> Given {
    let mut command = command(&["crawl", "--quiet", "--json"]);
    given(command.args(arguments).arg("--out").arg(run).output().expect("argiope can be run"))
}

fn resume(run: &Path) -> Given {
    let mut command = command(&["crawl", "--quiet", "--json", "--resume"]);
    given(command.arg(run).output().expect("argiope can be run"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The labels in the ledger of a run that have a reason.
fn labels(run: &Path, reason: &str) -> BTreeSet<String> {
    let ledger = json(&output(&format!("ledger {} --json --reason {reason}", run.display())));
    let entries = ledger["entries"].as_array().expect("entries");
    let label = |entry: &Value| entry["label"].as_str().expect("a label").to_owned();
    entries.iter().map(label).collect()
}

fn set(labels: &[&str]) -> BTreeSet<String> {
    labels.iter().map(|&label| label.to_owned()).collect()
}

#[test]
fn what_is_dangerous_is_left_alone_and_listed() {
    let here = folder("brakes-default");
    for tabs in ["1", "2", "8"] {
        let site = Server::start("brakes").expect("a fixture can be served");
        let run = here.join(tabs);
        let end = crawl(&[&site.url(), "--tabs", tabs], &run);
        assert_eq!(end.code, Some(0), "{}{}", end.out, end.err);
        let found = json(&end.out);
        assert_eq!((&found["complete"], &found["states"]), (&true.into(), &4.into()), "{found}");
        for path in ["/logout", "/delete-all", "/shutdown"] {
            assert_eq!(site.requests(path), 0, "{path} with {tabs} tabs");
        }
        let leave = format!("link {}logout", site.url());
        let avoided = [
            "click button \"Log out\"",
            "click button \"Shut down\"",
            "click button \"Delete all\"",
            "click button \"Broom\"",
            &leave,
        ];
        assert_eq!(labels(&run, "avoided"), set(&avoided));
        assert_eq!(labels(&run, "disabled"), set(&["click button \"Archive\""]));
        assert_eq!(labels(&run, "invisible"), set(&["click button \"Secret\""]));
        assert_eq!(labels(&run, "covered"), set(&["click button \"Under\""]));
        assert_eq!(labels(&run, "out-of-scope"), set(&["link http://elsewhere.test/"]));
        assert_eq!(found["avoided"], 5, "{found}");
        assert_eq!(found["ledger"]["out-of-scope"], 1, "{found}");
    }
    let run = here.join("1");
    let text = output(&format!("ledger {}", run.display()));
    assert!(text.contains("click button \"Log out\"  [logs out]  state 0 and 3 more"), "{text}");
    let text = output(&format!("ledger {} --state 1 --reason avoided", run.display()));
    assert!(text.starts_with("avoided (left alone"), "{text}");
    let none = output(&format!("ledger {} --reason gone", run.display()));
    assert_eq!(none, "no such action\n");
}

#[test]
fn an_action_that_ends_the_application_is_named_and_not_repeated() {
    let here = folder("brakes-ended");
    for tabs in ["1", "2", "8"] {
        let site = Server::start("brakes").expect("a fixture can be served");
        let (url, port) = (site.url(), site.address().port());
        let run = here.join(tabs);
        let end = crawl(&[&url, "--tabs", tabs, "--allow", "Shut down"], &run);
        assert_eq!(end.code, Some(1), "{}{}", end.out, end.err);
        let found = json(&end.out);
        assert_eq!(found["stopped_by"], "not-loaded", "{found}");
        let ended_by = found["ended_by"].as_array().expect("a list");
        assert_eq!(ended_by.len(), 1, "{found}");
        let named = ended_by[0].as_str().expect("a text");
        assert!(named.starts_with("click button \"Shut down\" in state "), "{found}");
        let said = format!("{url} can no longer be loaded after {named}");
        assert!(end.err.contains(&said), "{}", end.err);
        drop(site);
        let site = Server::start_at("brakes", port).expect("the fixture can be served again");
        let again = resume(&run);
        assert_eq!(site.requests("/shutdown"), 0, "{}{}", again.out, again.err);
        let found = json(&again.out);
        assert_eq!(found["stopped_by"], Value::Null, "{found}");
        // Another tab may have met a page whose data the dying server did not send.
        let states = found["states"].as_u64().expect("a number");
        assert!(states == 5 || (tabs != "1" && states > 5), "{found}");
        assert_eq!(labels(&run, "failed"), set(&["click button \"Shut down\""]));
        // Four states offer it; it was performed in one, or in several by tabs at the same time.
        let performed = found["transitions"].as_u64().expect("a number") - 16;
        let left = 4 - performed;
        assert_eq!(found["failed"], left, "{found}");
        assert_eq!(again.code, Some(if left > 0 { 5 } else { 0 }), "{found}");
        assert!(performed > 0 && (tabs != "1" || performed == 1), "{found}");
        let complete = left == 0;
        assert_eq!(found["complete"], complete, "{found}");
        assert_eq!(labels(&run, "avoided").len(), 4, "{found}");
    }
}

#[test]
fn a_crawl_is_told_what_else_to_leave_alone() {
    let here = folder("brakes-told");
    let site = Server::start("brakes").expect("a fixture can be served");
    let told = ["--avoid", "attention", "--avoid", "css:section button"];
    let mut arguments = vec![site.url()];
    arguments.extend(told.map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = here.join("run");
    let end = crawl(&arguments, &run);
    assert_eq!(end.code, Some(0), "{}{}", end.out, end.err);
    let found = json(&end.out);
    assert_eq!((&found["states"], &found["transitions"]), (&2.into(), &4.into()), "{found}");
    let avoided = labels(&run, "avoided");
    for label in ["click button \"Pay attention\"", "click button \"Broom\""] {
        assert!(avoided.contains(label), "{avoided:?}");
    }
    let bad = here.join("bad");
    let end = crawl(&[&site.url(), "--avoid", "css:a["], &bad);
    assert_eq!((end.code, end.out.as_str()), (Some(2), ""), "{}", end.err);
    assert!(end.err.contains("--avoid: \"a[\" is not a CSS selector"), "{}", end.err);
    let end = crawl(&[&site.url(), "--allow", "  "], &bad);
    assert_eq!(end.code, Some(2), "{}", end.err);
}
