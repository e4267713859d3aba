//! Starts, calls and ends a real browser.

use argiope_browser::cdp::Evaluate;
use argiope_browser::connection::Closed;
use argiope_browser::{Browser, CallError};
use serde_json::json;

use crate::real::{Place, evaluate, has_ended, processes_with, settings, signal};

#[tokio::test]
async fn a_launched_browser_evaluates_and_leaves_nothing_when_closed() {
    let place = Place::new("launch");
    let mut browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let profile = browser.profile().to_owned();
    let tab = browser.new_tab(true).await.unwrap();
    assert_eq!(evaluate(&browser.connection, &tab.session, "1 + 1").await.unwrap(), 2);
    assert!(browser.version.contains("Chrom"), "{}", browser.version);
    assert!(browser.is_alive());
    assert!(browser.memory() > 10 << 20);
    assert!(processes_with(profile.to_str().unwrap()).len() > 1);
    let processes = browser.processes();
    browser.close().await;
    assert_gone(&profile, &processes);
}

#[tokio::test]
async fn a_dropped_browser_leaves_nothing() {
    let place = Place::new("drop");
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let (profile, processes) = (browser.profile().to_owned(), browser.processes());
    drop(browser);
    assert_gone(&profile, &processes);
}

fn assert_gone(profile: &std::path::Path, processes: &[u32]) {
    assert!(processes.len() > 1);
    assert!(!profile.exists());
    assert!(processes_with(profile.to_str().unwrap()).is_empty());
    assert!(processes.iter().all(|pid| has_ended(*pid)), "{processes:?}");
}

#[tokio::test]
async fn tabs_share_neither_scripts_nor_contexts() {
    let place = Place::new("two");
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let (one, other) = tokio::join!(browser.new_tab(true), browser.new_tab(true));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_ne!(one.context, other.context);
    let connection = &browser.connection;
    let (first, second) = tokio::join!(
        evaluate(connection, &one.session, "globalThis.mine = 'one'"),
        evaluate(connection, &other.session, "globalThis.mine = 'other'")
    );
    assert_eq!((first.unwrap(), second.unwrap()), (json!("one"), json!("other")));
    assert_eq!(evaluate(connection, &one.session, "mine").await.unwrap(), "one");

    browser.close_context(&one.context).answer().await.unwrap();
    assert_eq!(evaluate(connection, &one.session, "mine").await, Err(CallError::SessionGone));
    assert_eq!(evaluate(connection, &other.session, "mine").await.unwrap(), "other");
}

#[tokio::test]
async fn a_thousand_calls_are_sent_before_the_first_answer_is_read() {
    let place = Place::new("pipeline");
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let tab = browser.new_tab(true).await.unwrap();
    let call = |number: usize| {
        let expression = format!("{number} * 2");
        browser.connection.call(Some(&tab.session), &Evaluate::new(&expression))
    };
    let calls: Vec<_> = (0..1000).map(call).collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.answer().await.unwrap().value::<usize>().unwrap(), Some(number * 2));
    }
    assert_eq!(browser.connection.malformed(), 0);
}

#[tokio::test]
async fn a_killed_renderer_fails_its_own_session_only() {
    let place = Place::new("renderer");
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let victim = browser.new_tab(true).await.unwrap();
    let bystander = browser.new_tab(true).await.unwrap();
    let connection = &browser.connection;
    // The victim is the process with the most memory.
    let large = "globalThis.large = new Uint8Array(300 << 20).fill(1); 1";
    evaluate(connection, &victim.session, large).await.unwrap();
    evaluate(connection, &bystander.session, "1").await.unwrap();
    let renderers = browser.processes().into_iter().filter(is_renderer);
    let process = renderers.max_by_key(|pid| resident_pages(*pid)).unwrap();
    let waiting = evaluate(connection, &victim.session, "new Promise(() => {})");
    let kill = async {
        // Its own session answers in order: the call above has arrived.
        evaluate(connection, &victim.session, "1").await.unwrap();
        assert!(signal("KILL", process));
    };
    let (waited, ()) = tokio::join!(waiting, kill);
    assert_eq!(waited, Err(CallError::Crashed));
    assert!(connection.has_crashed(&victim.session));
    assert_eq!(evaluate(connection, &victim.session, "1").await, Err(CallError::Crashed));
    assert_eq!(evaluate(connection, &bystander.session, "1 + 1").await.unwrap(), 2);
    let mut events = connection.events(&victim.session).unwrap();
    let mut methods = Vec::new();
    while let Some(event) = events.try_next() {
        methods.push(event.method);
    }
    assert!(methods.iter().any(|method| &**method == "Inspector.targetCrashed"), "{methods:?}");
}

fn is_renderer(pid: &u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("--type=renderer")
}

fn resident_pages(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    statm.split_whitespace().nth(1).map_or(0, |pages| pages.parse().unwrap())
}

#[tokio::test]
async fn a_message_that_is_too_large_ends_the_connection() {
    let place = Place::new("large");
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let tab = browser.new_tab(true).await.unwrap();
    let connection = &browser.connection;
    let accepted = evaluate(connection, &tab.session, "'x'.repeat(20 << 20)").await.unwrap();
    assert_eq!(accepted.as_str().unwrap().len(), 20 << 20);
    let refused = evaluate(connection, &tab.session, "'x'.repeat(70 << 20)").await;
    assert_eq!(refused, Err(CallError::ConnectionClosed(Closed::TooLarge)));
    let after = evaluate(connection, &tab.session, "1").await;
    assert_eq!(after, Err(CallError::ConnectionClosed(Closed::TooLarge)));
}

#[tokio::test]
async fn the_sandbox_is_off_for_root_only() {
    let place = Place::new("sandbox");
    let browser = Browser::launch(&settings(&place.0)).await.unwrap();
    let uid = std::process::Command::new("id").arg("-u").output().unwrap().stdout;
    let root = String::from_utf8(uid).unwrap().trim() == "0";
    assert_eq!(browser.is_sandboxed, !root);
    let lines = browser.processes().into_iter().map(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).into_owned()
    });
    assert_eq!(lines.filter(|line| line.contains("--no-sandbox")).count() > 0, root);
}

#[tokio::test]
async fn several_browsers_run_beside_each_other() {
    let place = Place::new("several");
    let settings = settings(&place.0);
    let browsers = tokio::join!(Browser::launch(&settings), Browser::launch(&settings));
    let (one, other) = (browsers.0.unwrap(), browsers.1.unwrap());
    assert_ne!(one.profile(), other.profile());
    drop(one);
    let tab = other.new_tab(true).await.unwrap();
    assert_eq!(evaluate(&other.connection, &tab.session, "1 + 1").await.unwrap(), 2);
}
