//! An application with a login of its own, in each form that a login can have; and what goes wrong.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use argiope_sites::Server;

use crate::login::{assert_silent_disk, assert_silent_run, watched_with};
use crate::{Given, command, folder, given};

/// Where the password comes from.
const PASSWORD: (&str, &str) = ("FIXTURE_PASSWORD", "k9/zwhisperz");
/// What a complete crawl of the fixture finds.
const MODEL: &str = "\"states\":5,\"transitions\":7";

const STEPS: &str = r##"
steps = [
  { open = "/login" },
  { fill = { selector = "#name", value = "ada" } },
  { fill = { selector = "#password", value = "${env:FIXTURE_PASSWORD}" } },
  { click = "button" },
]
"##;

/// A recording as Chrome's Recorder writes it, with a reference instead of the password.
fn recording(address: SocketAddr) -> String {
    r##"{"title":"login","steps":[
      {"type":"setViewport","width":1280,"height":800,"deviceScaleFactor":1,"isMobile":false},
      {"type":"navigate","url":"http://ADDRESS/login","assertedEvents":[{"type":"navigation"}]},
      {"type":"click","target":"main","selectors":[["aria/Name"],["#name"]],"offsetX":9,"offsetY":9},
      {"type":"change","value":"ada","selectors":[["aria/Name"]],"target":"main"},
      {"type":"keyDown","key":"Tab","target":"main"},
      {"type":"keyUp","key":"Tab","target":"main"},
      {"type":"change","value":"${env:FIXTURE_PASSWORD}","selectors":[["#password"]]},
      {"type":"keyDown","key":"Enter","target":"main"},
      {"type":"keyUp","key":"Enter","target":"main"},
      {"type":"waitForElement","selectors":["#user"]}
    ]}"##
        .replace("ADDRESS", &address.to_string())
}

/// The cookie of a new session, by a request of our own.
fn session_of(address: SocketAddr) -> String {
    let form = "name=ada&password=k9%2Fzwhisperz";
    let mut stream = TcpStream::connect(address).expect("the server answers");
    let length = form.len();
    write!(
        stream,
        "POST /sign-in HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{form}"
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, rest) = answer.split_once("session=").expect("a cookie");
    rest.split(';').next().expect("a value").to_owned()
}

/// Uses up one request of a session.
fn use_session(address: SocketAddr, value: &str) {
    let mut stream = TcpStream::connect(address).expect("the server answers");
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nCookie: session={value}\r\n");
    write!(stream, "{request}Connection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn check(name: &str, arguments: impl Fn(&Path, SocketAddr) -> Vec<String>) {
    let here = folder(name);
    let site = Server::start("session").expect("a fixture can be served");
    let address = site.address();
    let more = arguments(&here, address);
    let url = format!("http://{address}/");
    let first = ["crawl", &url, "--logged-in", "#user", "--out", "run", "--json", "--screenshots"];
    let all: Vec<&str> = first.into_iter().chain(more.iter().map(String::as_str)).collect();
    let out = watched_with(&all, &here, 0, &[PASSWORD]);
    assert!(out.contains(MODEL), "{out}");
    assert!(site.requests("/sign-in") > 1, "the first session ends before the crawl does");
    assert_silent_run(&here.join("run"));
    assert_silent_disk(&here);
}

#[test]
fn steps_in_toml_log_in_and_the_password_is_nowhere() {
    check("form-toml", |here, _| {
        fs::write(here.join("login.toml"), STEPS).expect("a file");
        vec!["--login".into(), "login.toml".into()]
    });
}

#[test]
fn a_recording_logs_in_and_the_password_is_nowhere() {
    check("form-recorder", |here, address| {
        fs::write(here.join("login.json"), recording(address)).expect("a file");
        vec!["--login".into(), "login.json".into()]
    });
}

#[test]
fn a_session_that_ends_stops_the_crawl_which_resumes_with_another() {
    let here = folder("form-storage");
    let site = Server::start("session").expect("a fixture can be served");
    let address = site.address();
    let save = || {
        let value = session_of(address);
        // Six of its twelve requests are left: fewer than the crawl needs.
        (0..6).for_each(|_| use_session(address, &value));
        let cookie = format!(
            r#"{{"name":"session","value":"{value}","domain":"127.0.0.1","path":"/","expires":-1,
            "httpOnly":true,"secure":false,"sameSite":"Lax"}}"#
        );
        let state = format!(r#"{{"cookies":[{cookie}],"origins":[]}}"#);
        fs::write(here.join("state.json"), state).expect("a file");
    };
    let url = format!("http://{address}/");
    let run = |arguments: &[&str]| -> Given {
        given(command(arguments).current_dir(&here).output().expect("argiope can be run"))
    };
    save();
    let options = ["--storage-state", "state.json", "--logged-in", "#user", "--tabs", "1"];
    let mut end = run(&[&["crawl", &url, "--out", "run", "--json"][..], &options].concat());
    let mut times = 0;
    while end.code == Some(1) && times < 9 {
        assert!(end.err.contains("nothing on http://"), "{}", end.err);
        assert!(end.err.contains("matches --logged-in \"#user\""), "{}", end.err);
        assert!(end.err.contains("to resume: "), "{}", end.err);
        save();
        end = run(&["crawl", "--resume", "run", "--json"]);
        times += 1;
    }
    assert_eq!(end.code, Some(0), "{}", end.err);
    assert!(times > 0 && end.out.contains(MODEL), "{times} sessions, {}", end.out);
}

#[test]
fn a_cookie_is_set_at_each_reset_and_its_value_is_not_stored() {
    let here = folder("form-cookie");
    let site = Server::start("session").expect("a fixture can be served");
    let address = site.address();
    let url = format!("http://{address}/");
    let value = session_of(address);
    let cookie = "session=${env:SESSION}";
    let line = ["crawl", &url, "--cookie", cookie, "--max-states", "2", "--out", "run", "--quiet"];
    let end = command(&line).current_dir(&here).env("SESSION", &value).output();
    let end = given(end.expect("argiope can be run"));
    assert_eq!(end.code, Some(4), "{}", end.err);
    let states = command(&["states", "run"]).current_dir(&here).output();
    let states = given(states.expect("argiope can be run")).out;
    assert!(states.contains("Home") && !states.contains("Sign in"), "{states}");
    let end = command(&["crawl", "--resume", "run"]).current_dir(&here).output();
    let end = given(end.expect("argiope can be run"));
    assert_eq!(end.code, Some(2));
    assert!(end.err.contains("the environment has no variable SESSION"), "{}", end.err);
}

#[test]
fn a_ring_logs_in_and_no_disk_has_the_password() {
    let here = folder("form-ring");
    let site = Server::start("session").expect("a fixture can be served");
    let url = format!("http://{}/", site.address());
    fs::write(here.join("login.toml"), STEPS).expect("a file");
    let line = [
        "local-cluster",
        "--verbose",
        "--controllers",
        "3",
        "--crawlers",
        "2",
        "--data",
        "ring",
        "--",
        "crawl",
        &url,
        "--login",
        "login.toml",
        "--logged-in",
        "#user",
        "--json",
        "--out",
        "run",
    ];
    let out = watched_with(&line, &here, 0, &[PASSWORD]);
    assert!(out.contains(MODEL), "{out}");
    assert!(site.requests("/sign-in") >= 2, "each crawler process logs in");
    assert_silent_run(&here.join("run"));
    assert_silent_disk(&here);
}

#[test]
fn what_is_wrong_with_a_login_is_said_in_one_line() {
    let here = folder("form-wrong");
    let site = Server::start("session").expect("a fixture can be served");
    let url = format!("http://{}/", site.address());
    let write = |name: &str, text: &str| fs::write(here.join(name), text).expect("a file");
    let quick = recording(site.address()).replace("\"title\"", "\"timeout\":200,\"title\"");
    write("bad.json", &quick.replace("\"keyDown\"", "\"pinch\""));
    write("late.json", &quick.replace("#password", "#no-such"));
    write("wrong.json", &quick.replace("${env:FIXTURE_PASSWORD}", "zwhisperz"));
    write("good.json", &quick);
    write("good.toml", STEPS);
    write("state.json", r#"{"cookies":[{"name":1}]}"#);
    let unset = "the environment has no variable FIXTURE_PASSWORD";
    for (arguments, password, expected) in [
        (&["--login", "bad.json"][..], true, "step 5 (\"pinch\"): argiope knows no such step"),
        (&["--login", "late.json"], true, "step 7 (change \"#no-such\"): no element in sight"),
        (&["--login", "wrong.json", "--logged-in", "#user"], true, "the login failed 3 times"),
        (&["--login", "good.toml"], false, unset),
        (&["--login", "none.toml"], true, "cannot read"),
        (&["--login", "good.json", "--logged-in", "#no-such"], true, "--logged-in \"#no-such\""),
        (&["--login", "good.toml", "--logged-in", "##"], true, "is not a CSS selector"),
        (&["--logged-in", "#user"], true, "there is no --login to begin another"),
        (&["--storage-state", "state.json"], true, "is not a storage state as Playwright writes"),
        (&["--header", "nothing"], true, "a colon after the name"),
        (&["--cookie", "nothing"], true, "write name=value"),
        (&["--before-reset", "sh -c 'exit 7'"], true, "ended with exit status: 7"),
        (&["--before-reset", "true", "--tabs", "2"], true, "use --tabs 1"),
    ] {
        let mut line = vec!["crawl", &url, "--quiet", "--out", "run"];
        line.extend(arguments);
        let mut command = command(&line);
        command.current_dir(&here).envs(password.then_some(PASSWORD));
        let end = given(command.output().expect("argiope can be run"));
        assert_eq!((end.code, end.out.as_str()), (Some(2), ""), "{arguments:?}: {}", end.err);
        assert!(end.err.contains(expected), "'{expected}' is not in: {}", end.err);
        assert_eq!(end.err.lines().count(), 1, "{}", end.err);
        assert!(!end.err.contains("zwhisperz"), "{}", end.err);
        assert!(!here.join("run").exists(), "nothing is left");
    }
}
