//! What cannot be crawled: one line that says what it is, exit code 2, and nothing is left behind.

use std::fs;

use argiope_sites::Server;

use crate::{argiope, command, folder, given};

/// Crawls an address into a directory that does not exist, and expects that to be refused.
fn refused(url: &str, more: &[&str], expected: &str) {
    let here =
        folder(&format!("refused-{}", url.replace(|one: char| !one.is_ascii_alphanumeric(), "-")));
    let mut arguments = vec!["crawl", url, "--out", "a/run"];
    arguments.extend(more);
    let end = given(command(&arguments).current_dir(&here).output().expect("argiope can be run"));
    assert_eq!((end.code, end.out.as_str()), (Some(2), ""), "{url}: {}", end.err);
    assert_eq!(end.err.lines().count(), 1, "{}", end.err);
    assert!(
        end.err.starts_with("argiope: ") && end.err.contains(expected),
        "'{expected}' is not in: {}",
        end.err
    );
    assert!(!here.join("a").exists(), "{url}: something was left behind");
}

#[test]
fn an_address_without_an_application_is_refused_in_one_line() {
    let site = Server::start("broken").expect("a fixture can be served");
    for (path, expected) in [
        ("missing", "/missing answered with status 404"),
        ("error", "/error answered with status 500"),
        ("empty", "/empty is an empty page"),
        ("loop", "/loop cannot be loaded: it redirects in a loop"),
        ("pdf", "/pdf is not a web page"),
        ("download", "/download is not a web page"),
    ] {
        refused(&format!("{}{path}", site.url()), &[], expected);
    }
    let secure = site.url().replace("http:", "https:");
    refused(&secure, &[], "cannot be loaded: it does not speak https");
    refused(&site.url(), &["--ignore", "p", "--ignore", "p[["], "\"p[[\" is not a CSS selector");
}

#[test]
fn a_first_load_that_leaves_the_scope_is_refused_with_the_line_to_type() {
    let site = Server::start("broken").expect("a fixture can be served");
    let there = format!("http://localhost:{}/there?a=1&b=2", site.address().port());
    let line = format!(
        "leads out of the scope, to {there}; to crawl that: \
         argiope crawl '{there}' --out a/run --tabs 1"
    );
    refused(&format!("{}elsewhere", site.url()), &["--tabs", "1"], &line);
    assert_eq!(site.requests("/there"), 0);
}

#[test]
fn a_safe_crawl_cannot_log_in_by_a_form() {
    refused("http://127.0.0.1:2/", &["--safe", "--login", "login.toml"], "--safe would stop");
}

#[test]
fn a_bad_pattern_is_refused_in_one_line() {
    for (option, pattern, expected) in [
        (
            "--include",
            "docs",
            "--include: the pattern \"docs\" must begin with /, http:// or https://",
        ),
        (
            "--exclude",
            "http://a.*.test/",
            "--exclude: the pattern \"http://a.*.test/\" has * in its host",
        ),
        ("--exclude", "/*", "leave the address \"http://127.0.0.1:1/\" itself out"),
        ("--include", "/docs/*", "leave the address \"http://127.0.0.1:1/\" itself out"),
        ("--third-party", "some", "write 'allow' or 'block'"),
    ] {
        refused("http://127.0.0.1:1/", &[option, pattern], expected);
    }
}

#[test]
fn a_file_of_inputs_with_a_mistake_is_refused_with_its_line() {
    let site = Server::start("wizard").expect("a fixture can be served");
    let files = folder("refused-inputs-files");
    let refused = |text: &str, expected: &str| {
        let file = files.join("inputs.toml");
        fs::write(&file, text).expect("the file can be written");
        refused(&site.url(), &["--inputs", file.to_str().expect("a plain path")], expected);
    };
    refused("[[field]]\nname = \"a\"\nvalues = []\n", "inputs.toml:3: values is an empty list");
    refused("[[field]]\nlable = \"a\"\n", "inputs.toml:2: unknown field `lable`");
    refused("[[field]]\nname = \"a\"\nvalues = [1]\n", "inputs.toml:3: invalid type: integer");
    // Only the browser knows what is a selector.
    let selector = "\n[[field]]\nselector = \"p[[\"\nvalues = [\"a\"]\n";
    refused(selector, "inputs.toml:2: \"p[[\" is not a CSS selector");
    let nowhere = ["--inputs", "no-such.toml"];
    crate::refused::refused(&site.url(), &nowhere, "cannot read no-such.toml: No such file");
}

#[test]
fn an_address_that_leads_nowhere_is_refused_in_one_line() {
    refused("example.com/app", &[], "has no scheme: write http:// or https:// before it");
    refused("ftp://127.0.0.1/", &[], "only http and https addresses can be crawled");
    // No server listens there: the port was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr());
    let gone = format!("http://{}/", port.expect("a port is free"));
    refused(&gone, &[], "cannot be loaded: the connection was refused: is the server running?");
    refused("http://no-such-host.invalid/", &[], "cannot be loaded: there is no");
}

#[test]
fn work_divided_in_advance_has_no_recovery_and_nothing_else_has_a_division() {
    let refused = |more: &str, expected: &str| {
        let more: Vec<&str> = more.split(' ').collect();
        refused("http://127.0.0.1:1/", &more, expected);
    };
    let ring = "--cluster 127.0.0.1:1";
    refused(
        &format!("{ring} --scheme static --recovery retry"),
        "--recovery cannot be used with --scheme static",
    );
    refused(
        &format!("{ring} --scheme static --backups 2"),
        "--backups cannot be used with --scheme static",
    );
    refused(
        &format!("{ring} --scheme gossip --division hash"),
        "--division requires --scheme static",
    );
    refused("--division hash", "--division requires --cluster");
}

#[test]
fn limits_need_a_client_that_follows_the_crawl() {
    for limit in ["--max-states", "--max-actions"] {
        let more = ["--cluster", "127.0.0.1:1", "--detach", limit, "9"];
        refused("http://127.0.0.1:1/", &more, "--detach cannot be used with a limit");
    }
}

#[test]
fn only_what_the_crawl_made_is_taken_away() {
    let here = folder("refused-kept");
    let site = Server::start("broken").expect("a fixture can be served");
    fs::create_dir(here.join("mine")).expect("a folder for the test");
    let line = format!("crawl {}missing --out {}", site.url(), here.join("mine").display());
    assert_eq!(argiope(&line).code, Some(2));
    let left = fs::read_dir(here.join("mine")).expect("the folder is still there").count();
    assert_eq!(left, 0);

    fs::write(here.join("mine/notes.txt"), "mine").expect("a file for the test");
    let end = argiope(&line);
    assert_eq!(end.code, Some(2));
    assert!(end.err.contains("is not empty and holds no run; nothing was touched"), "{}", end.err);
    assert_eq!(fs::read_to_string(here.join("mine/notes.txt")).expect("it is still there"), "mine");
}

#[test]
fn directories_without_a_run_are_refused() {
    let here = folder("refused-directories");
    let shown = here.display();
    for line in ["crawl --resume", "states", "explain", "export --format model"] {
        let end = argiope(&format!("{line} {shown}"));
        assert_eq!(
            (end.code, end.err),
            (Some(2), format!("argiope: {shown} holds no run\n")),
            "{line}"
        );
    }
    fs::write(here.join("argiope.redb"), "something else altogether").expect("a file for the test");
    let end = argiope(&format!("states {shown}"));
    let expected = format!("argiope: {shown}/argiope.redb is not a store of argiope\n");
    assert_eq!((end.code, end.err), (Some(2), expected));
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    for (line, expected) in [
        ("crawl", "<URL|--seeds <FILE>|--resume <DIR>|--demo>"),
        ("crawl --demo http://127.0.0.1/", "cannot be used with"),
        ("crawl --demo --max-time 90", "write a duration such as 90s, 10m or 1h30m"),
        ("crawl --demo --max-states 0", "it must be at least 1"),
        ("crawl --demo --tabs 0", "--tabs"),
        ("crawl --demo --freeze-time=soon", "write a moment such as"),
        ("crawl --demo --identity contents", "a similar value exists: 'content'"),
        ("crawl --demo --strategy adaptiv", "a similar value exists: 'adaptive'"),
        ("crawl --resume x --seed 3", "cannot be used with"),
        (
            "crawl --demo --browser /nonexistent/chromium",
            "/nonexistent/chromium cannot be run as a browser",
        ),
        ("sites dem", "did you mean demo, deep?"),
        ("export x --format source", "--state <STATE>"),
    ] {
        let end = argiope(line);
        assert_eq!((end.code, end.out.as_str()), (Some(2), ""), "{line}: {}", end.err);
        assert_eq!(end.err.lines().count(), 1, "{}", end.err);
        assert!(end.err.contains(expected), "{line}: '{expected}' is not in: {}", end.err);
    }
}
