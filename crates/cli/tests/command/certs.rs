//! Authorities and certificates, as an operator makes them.

use std::fs;
use std::path::Path;

use crate::{Given, command, folder, given};

fn certs(here: &Path, line: &str) -> Given {
    let words: Vec<&str> = ["certs"].into_iter().chain(line.split_whitespace()).collect();
    given(command(&words).current_dir(here).output().expect("argiope can be run"))
}

/// Runs a command that must succeed.
fn made(here: &Path, line: &str) -> String {
    let Given { code, out, err } = certs(here, line);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{line}");
    out
}

/// Runs a command that must be refused with this line.
fn refused(here: &Path, line: &str, expected: &str) {
    let Given { code, out, err } = certs(here, line);
    let expected = format!("argiope: {expected}\n");
    assert_eq!((code, out.as_str(), err), (Some(2), "", expected), "{line}");
}

/// The value of a line of `certs show`.
fn value<'a>(text: &'a str, label: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.trim().strip_prefix(label));
    lines.next().unwrap_or_else(|| panic!("no {label}: {text}")).trim()
}

#[test]
fn certificates_say_what_they_are_for_and_how_long() {
    let here = folder("certs-shown");
    let init = made(&here, "init authority");
    let name = init.split(" is in ").next().expect("a name");
    let digits = name.strip_prefix("argiope authority ").expect("a name");
    let (a, b) = digits.split_once('-').expect("two groups");
    assert!([a, b].iter().all(|part| part.len() == 4), "{name}");
    assert_eq!(value(&made(&here, "show authority"), "name"), name);
    let until = init.split("valid until ").nth(1).and_then(|rest| rest.lines().next());
    assert_eq!(Some(value(&made(&here, "show authority"), "valid until")), until);

    let issued = made(
        &here,
        "issue one --role controller --role crawler --host 10.0.0.1 --host one.example \
         --authority authority --out one",
    );
    let shown = made(&here, "show one");
    assert_eq!(issued, format!("the certificate is in one\n{shown}"));
    assert_eq!(value(&shown, "name"), "one");
    assert_eq!(value(&shown, "roles"), "controller, crawler, client");
    assert_eq!(value(&shown, "hosts"), "10.0.0.1, one.example");
    assert_eq!(value(&shown, "authority"), name);
    let years = |label: &str| value(&shown, label)[..4].parse::<u32>().expect("a year");
    assert!(value(&shown, "valid until").ends_with(" UTC"));
    assert!((1..=2).contains(&(years("valid until") - years("valid from"))), "{shown}");

    let shown = made(&here, "issue me --role client --authority authority --out me");
    assert_eq!((value(&shown, "roles"), value(&shown, "hosts")), ("client", "none"));
}

#[test]
fn issuing_overwrites_nothing_and_renewing_keeps_what_was_said() {
    let here = folder("certs-renewed");
    made(&here, "init authority");
    let issue = "issue one --role controller --host 10.0.0.1 --authority authority --out one";
    let shown = made(&here, issue);
    let files = || {
        ["ca.pem", "node.key", "node.pem"].map(|file| fs::read(here.join("one").join(file)).ok())
    };
    let before = files();
    refused(
        &here,
        issue,
        "one/ca.pem exists already; choose another --out, or renew the certificate there with \
         'argiope certs renew one --authority authority'",
    );
    refused(&here, "init authority", "authority/ca.pem exists already; choose another directory");
    assert_eq!(files(), before);
    let renewed = made(&here, "renew one --authority authority");
    for label in ["name", "roles", "hosts", "authority"] {
        assert_eq!(value(&renewed, label), value(&shown, label));
    }
    let after = files();
    assert_eq!(after[0], before[0]);
    assert!(after[1] != before[1] && after[2] != before[2] && after.iter().all(Option::is_some));
    assert_eq!(fs::read_dir(here.join("one")).expect("a directory").count(), 3);
}

#[test]
fn what_is_missing_is_named() {
    let here = folder("certs-refused");
    made(&here, "init authority");
    refused(
        &here,
        "issue one --authority authority --out one",
        "a certificate needs a role: controller, crawler or client; give --role controller, \
         --role crawler or --role client, or several roles: --role controller,crawler",
    );
    refused(
        &here,
        "issue one --role controller --authority authority --out one",
        "a controller needs a host: the address or the name that others dial; give --host ADDRESS",
    );
    refused(
        &here,
        "issue one --role controller --host 10.0.0.1:7400 --authority authority --out one",
        "invalid host \"10.0.0.1:7400\": use an IP address or a host name, without a port",
    );
    refused(
        &here,
        "issue one --role client --host controller.argiope --authority authority --out one",
        "invalid host \"controller.argiope\": names below \"argiope\" stand for roles",
    );
    refused(&here, "show one", "cannot read one/node.pem: No such file or directory (os error 2)");
    assert!(!here.join("one").exists());
}

#[test]
fn a_process_does_not_begin_with_a_certificate_that_others_refuse() {
    let here = folder("certs-unfit");
    made(&here, "init authority");
    made(&here, "issue me --role client --authority authority --out me");
    made(&here, "issue one --role controller --host 10.0.0.1 --authority authority --out one");
    let begins = |line: &str, expected: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let end = given(command(&words).current_dir(&here).output().expect("argiope can be run"));
        assert_eq!((end.code, end.err), (Some(2), format!("argiope: {expected}\n")), "{line}");
    };
    begins(
        "controller --listen 127.0.0.1:0 --data data --certs me",
        "the certificate in me (\"me\") has the role client; this process is a controller: \
         issue one with 'argiope certs issue NAME --role controller'",
    );
    begins(
        "controller --listen 127.0.0.1:0 --data data --certs one",
        "the certificate in one (\"one\") names the host 10.0.0.1, and others are to dial \
         \"127.0.0.1\": give --advertise with a host that it names, or issue one with \
         --host 127.0.0.1",
    );
    assert!(!here.join("data").exists());
    fs::remove_file(here.join("me/node.key")).expect("removed");
    begins(
        "status --cluster 127.0.0.1:1 --certs me",
        "cannot read me/node.key: No such file or directory (os error 2)",
    );
}
