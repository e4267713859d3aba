//! An application that demands a login by HTTP: the crawl logs in, and the password appears
//! nowhere, neither on a disk nor in an output.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use argiope_runtime::store::Store;
use argiope_sites::Server;

use crate::{argiope, command, folder, given};

/// The password as it is, as an address has it and as a browser sends it, and the user name.
const SECRETS: [&str; 4] = ["zwhisperz", "k9%2F", "YWRhOms5L3p3aGlzcGVyeg", "ada:"];
/// The login of the fixture, for the environment.
const LOGIN: (&str, &str) = ("ARGIOPE_LOGIN", "ada:k9/zwhisperz");

pub fn assert_silent(bytes: impl AsRef<[u8]>, what: &str) {
    let bytes = bytes.as_ref();
    for secret in SECRETS {
        let at = bytes.windows(secret.len()).position(|found| found == secret.as_bytes());
        let around = at.map(|at| &bytes[at.saturating_sub(80)..(at + 40).min(bytes.len())]);
        let around = around.map(String::from_utf8_lossy);
        assert_eq!(around, None, "{what} has {secret}");
    }
}

/// Checks every file under a directory, as it is on the disk.
pub fn assert_silent_disk(directory: &Path) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            assert_silent_disk(&path);
        } else if path.is_file() {
            assert_silent(fs::read(&path).expect("a file"), &path.display().to_string());
        }
    }
}

/// Checks all values of a run, uncompressed.
pub fn assert_silent_run(directory: &Path) {
    let store = Store::read(directory).expect("a run");
    assert_silent(store.meta().settings.to_string(), "the settings");
    for (name, bytes) in store.named_from("").expect("named values") {
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
    watched_with(arguments, here, code, &[])
}

/// The same with variables of the environment.
pub fn watched_with(
    arguments: &[&str],
    here: &Path,
    code: i32,
    variables: &[(&str, &str)],
) -> String {
    let mut child = command(arguments)
        .current_dir(here)
        .envs(variables.iter().copied())
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
fn a_crawl_logs_in_and_its_store_does_not_know_the_password() {
    let here = folder("login");
    let site = Server::start("members").expect("a fixture can be served");
    let url = site.url();
    assert!(url.contains("k9%2Fzwhisperz@"), "{url}");
    let first =
        ["crawl", &url, "--out", "run", "--tabs", "2", "--max-actions", "1", "--screenshots"];
    watched(&first, &here, 4);
    let resume = ["crawl", "--resume", "run", "--max-actions", "none", "--json"];
    let refused = command(&resume).current_dir(&here).output();
    let refused = given(refused.expect("argiope can be run"));
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert!(refused.err.contains("set ARGIOPE_LOGIN=USER:PASSWORD"), "{}", refused.err);
    let out = watched_with(&resume, &here, 0, &[LOGIN]);
    assert!(out.contains("\"states\":3,\"transitions\":4"), "{out}");
    assert!(out.contains(&format!("\"url\":\"http://{}/\"", site.address())), "{out}");
    let run = here.join("run");
    assert_silent_run(&run);
    assert_silent_disk(&run);
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
        .env(LOGIN.0, LOGIN.1)
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
    let ring = |more: &[&str], variables: &[(&str, &str)]| {
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
        watched_with(&arguments, &here, 0, variables)
    };
    let out = ring(&["crawl", &url, "--json", "--out", "run"], &[]);
    assert!(out.contains("\"states\":3,\"transitions\":4"), "{out}");
    assert_silent_run(&here.join("run"));

    // The ring ends before the crawl does. Its next processes do not have the login, and say so
    // until a client gives it again.
    let slow = Server::start("toggles").expect("a fixture can be served");
    let slow_url = format!("{}?switches=4&wait=100", slow.url());
    let id = ring(&["crawl", &slow_url, "--detach"], &[LOGIN]);
    let status = ring(&["status"], &[]);
    assert!(status.contains("its tabs wait for the login"), "{status}");
    let out = ring(&["attach", id.trim(), "--json", "--out", "attached"], &[LOGIN]);
    assert!(out.contains("\"states\":16,\"transitions\":64"), "{out}");
    for status in [ring(&["status"], &[]), ring(&["status", "--json"], &[])] {
        assert!(status.contains(&format!("http://{}/", site.address())), "{status}");
    }
    assert_silent_disk(&here);
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
