//! An application that demands a login: the crawl logs in, and the password appears nowhere but in
//! the one value of the store that a resumed crawl needs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use argiope_runtime::store::Store;
use argiope_sites::Server;

use crate::{argiope, command, folder, given};

/// The password as it is, as an address has it and as a browser sends it, and the user name.
const SECRETS: [&str; 4] = ["zwhisperz", "k9%2F", "YWRhOms5L3p3aGlzcGVyeg", "ada:"];
/// What precedes the password in the one value that holds it.
const KEPT: &[u8] = b"\"user\":\"ada\",\"secret\":\"k9/";

fn assert_silent(bytes: impl AsRef<[u8]>, what: &str) {
    let bytes = bytes.as_ref();
    for secret in SECRETS {
        let at = bytes.windows(secret.len()).position(|found| found == secret.as_bytes());
        let around = at.map(|at| &bytes[at.saturating_sub(80)..(at + 40).min(bytes.len())]);
        let around = around.map(String::from_utf8_lossy);
        assert_eq!(around, None, "{what} has {secret}");
    }
}

/// Whether a file holds the password. If it does, then only in the value that is meant for it.
fn holds_login(file: &Path) -> bool {
    let bytes = fs::read(file).expect("a file");
    let secret = SECRETS[0].as_bytes();
    let found = bytes.windows(secret.len()).enumerate().filter(|(_, found)| *found == secret);
    let places: Vec<usize> = found.map(|(at, _)| at).collect();
    for &at in &places {
        let before = &bytes[..at];
        let around = String::from_utf8_lossy(&bytes[at.saturating_sub(80)..at]);
        assert!(before.ends_with(KEPT), "{}: …{around}", file.display());
    }
    !places.is_empty()
}

/// Checks all values of a run, uncompressed.
fn assert_silent_run(directory: &Path) {
    let store = Store::read(directory).expect("a run");
    assert_silent(store.meta().settings.to_string(), "the settings");
    let named = store.named_from("").expect("named values");
    assert!(named.iter().any(|(name, _)| name == "login"), "a resumed crawl needs it");
    for (name, bytes) in named.into_iter().filter(|(name, _)| name != "login") {
        assert_silent(bytes, &name);
    }
    for fact in store.facts().expect("facts") {
        assert_silent(format!("{:?}", fact.expect("a fact")), "a fact");
    }
    for state in store.states().expect("states") {
        let (_, detail) = state.expect("a state");
        assert_silent(format!("{detail:?}"), "a state");
        assert_silent(store.blob(detail.source).expect("read").expect("a source"), "a source");
        let page = store.page(detail.page).expect("read").expect("a page");
        assert_silent(format!("{page:?}"), "a page");
    }
}

/// The processes that a process has started, and those that they have started.
fn descendants(of: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .expect("processes")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let this = found[at];
        found.extend(all.iter().filter(|(_, parent)| *parent == this).map(|(pid, _)| pid));
        at += 1;
    }
    found.split_off(1)
}

/// Runs a command with all log lines, and watches the arguments of the processes that it starts.
/// Returns its standard output.
fn watched(arguments: &[&str], here: &Path, code: i32) -> String {
    let mut child = command(arguments)
        .current_dir(here)
        .env("RUST_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(fs::File::create(here.join("log")).expect("a file"))
        .spawn()
        .expect("argiope can be run");
    let arguments_of = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut seen = 0;
    while child.try_wait().expect("it can be asked").is_none() {
        for pid in descendants(child.id()) {
            let arguments = arguments_of(pid);
            // A process has the arguments of its parent until it has begun.
            if arguments != arguments_of(child.id()) {
                seen += usize::from(!arguments.is_empty());
                assert_silent(arguments, "the arguments of a process");
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let end = given(child.wait_with_output().expect("argiope ends"));
    let log = fs::read(here.join("log")).expect("a log");
    let shown = String::from_utf8_lossy(&log);
    assert_eq!(end.code, Some(code), "{}", &shown[shown.len().saturating_sub(2_000)..]);
    assert!(seen > 0, "no process was seen");
    assert_silent(&log, "the log");
    assert_silent(&end.out, "the output");
    end.out
}

/// Every command that reads a run.
fn assert_silent_commands(run: &str) {
    let export = format!("export {run} --format");
    for line in [
        format!("states {run}"),
        format!("states {run} initial"),
        format!("states {run} 2"),
        format!("explain {run}"),
        format!("explain {run} initial 2"),
        format!("{export} model"),
        format!("{export} source --state initial"),
        format!("{export} source --state 2"),
        format!("crawl --resume {run}"),
        format!("crawl --resume {run} --json"),
    ] {
        let end = argiope(&line);
        assert_eq!(end.code, Some(0), "argiope {line}: {}", end.err);
        assert_silent(end.out + &end.err, &line);
    }
}

#[test]
fn a_crawl_logs_in_and_only_its_store_knows_the_password() {
    let here = folder("login");
    let site = Server::start("members").expect("a fixture can be served");
    let url = site.url();
    assert!(url.contains("k9%2Fzwhisperz@"), "{url}");
    let first =
        ["crawl", &url, "--out", "run", "--tabs", "2", "--max-actions", "1", "--screenshots"];
    watched(&first, &here, 4);
    let out = watched(&["crawl", "--resume", "run", "--max-actions", "none", "--json"], &here, 0);
    assert!(out.contains("\"states\":3,\"transitions\":4"), "{out}");
    assert!(out.contains(&format!("\"url\":\"http://{}/\"", site.address())), "{out}");
    let run = here.join("run");
    assert_silent_run(&run);
    assert!(holds_login(&run.join("argiope.redb")));
    assert_silent_commands(run.to_str().expect("a plain path"));

    // Without an own directory, the run is named after the host.
    let out = watched(&["crawl", &url, "--max-states", "1", "--quiet"], &here, 4);
    assert!(out.contains("the run is in out/127.0.0.1-1:\n"), "{out}");
}

#[test]
fn a_wrong_password_or_a_wrong_address_is_refused_without_repeating_it() {
    let here = folder("login-refused");
    let site = Server::start("members").expect("a fixture can be served");
    let host = site.address();
    let secure = format!("https://ada:zwhisperz@{host}/");
    for (url, expected) in [
        (format!("http://ada:zwhisperz@{host}/"), "demands a login"),
        (format!("http://{host}/"), "demands a login"),
        (secure, "it does not speak https"),
        (format!("ada:zwhisperz@{host}/"), "has no scheme"),
        (format!("ftp://ada:zwhisperz@{host}/"), "only http and https"),
        (format!("http:///ada:zwhisperz@{host}/"), "is not a web address"),
        (format!("http://ada:slash/zwhisperz@{host}/"), "write %2F for /"),
        ("http://ada:zwhisperz@no-such-host.invalid/".to_owned(), "cannot be loaded"),
    ] {
        let end = command(&["crawl", &url, "--quiet", "--out", "run"]).current_dir(&here).output();
        let end = given(end.expect("argiope can be run"));
        assert_eq!((end.code, end.out.as_str()), (Some(2), ""), "{}", end.err);
        assert!(end.err.contains(expected), "'{expected}' is not in: {}", end.err);
        assert_silent(&end.err, "the error");
    }
    let end = argiope(&format!("crawl http://{host}/ http://ada:zwhisperz@{host}/"));
    assert_eq!(end.code, Some(2));
    assert_silent(&end.err, "the error about two addresses");
    assert!(!here.join("run").exists());
}

#[test]
fn the_environment_may_hold_the_login() {
    let here = folder("login-environment");
    let site = Server::start("members").expect("a fixture can be served");
    let url = format!("http://{}/", site.address());
    let end = command(&["crawl", &url, "--quiet", "--json", "--out", "run"])
        .current_dir(&here)
        .env("ARGIOPE_LOGIN", "ada:k9/zwhisperz")
        .output();
    let end = given(end.expect("argiope can be run"));
    assert_eq!(end.code, Some(0), "{}", end.err);
    assert_silent(end.out + &end.err, "the output");
}

#[test]
fn a_ring_logs_in_also_after_a_restart_and_its_status_has_no_password() {
    let here = folder("login-ring");
    let site = Server::start("members").expect("a fixture can be served");
    let url = site.url();
    let ring = |more: &[&str]| {
        let cluster = [
            "local-cluster",
            "--verbose",
            "--controllers",
            "2",
            "--crawlers",
            "1",
            "--data",
            "ring",
            "--",
        ];
        let arguments: Vec<&str> = cluster.iter().chain(more).copied().collect();
        watched(&arguments, &here, 0)
    };
    let out = ring(&["crawl", &url, "--json", "--out", "run"]);
    assert!(out.contains("\"states\":3,\"transitions\":4"), "{out}");
    assert_silent_run(&here.join("run"));
    assert!(holds_login(&here.join("run/argiope.redb")));

    // The ring ends before the crawl does; its next processes read the login from their disks.
    let id = ring(&["crawl", &url, "--detach"]);
    let out = ring(&["attach", id.trim(), "--json", "--out", "attached"]);
    assert!(out.contains("\"states\":3,\"transitions\":4"), "{out}");
    for status in [ring(&["status"]), ring(&["status", "--json"])] {
        assert!(status.contains(&format!("http://{}/", site.address())), "{status}");
    }
    assert!(holds_login(&here.join("ring/0/argiope.redb")));
    assert!(holds_login(&here.join("ring/1/argiope.redb")));
    // A client that did not start the crawl does not learn it.
    assert!(!holds_login(&here.join("attached/argiope.redb")));
}

#[test]
fn a_browser_does_not_get_the_login_of_the_environment() {
    let here = folder("login-browser");
    let site = Server::start("toggles").expect("a fixture can be served");
    let mut child =
        command(&["crawl", &format!("{}?wait=20", site.url()), "--quiet", "--out", "run"])
            .current_dir(&here)
            .env("ARGIOPE_LOGIN", "ada:zwhisperz")
            .stdout(Stdio::null())
            .spawn()
            .expect("argiope can be run");
    let is_browser = |pid: &u32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).contains("--user-data-dir=")
    };
    let browser = loop {
        if let Some(browser) = descendants(child.id()).into_iter().find(is_browser) {
            break browser;
        }
        assert!(child.try_wait().expect("it can be asked").is_none(), "it has ended already");
        std::thread::sleep(Duration::from_millis(5));
    };
    let environment = fs::read(format!("/proc/{browser}/environ")).expect("an environment");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill can be run").success());
    child.wait().expect("it ends");
    assert!(!environment.is_empty());
    assert_silent(environment, "the environment of the browser");
}
