//! A real network between machines, with certificates, and a network partition.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use argiope_sites::Server;
use serde_json::Value;

use crate::machines::{Network, OPERATOR};
use crate::ring::{Started, alone, argiope, folder, model};
use crate::stories::assert_equal;

/// The controllers' addresses.
const ALL: &str = "10.213.7.1:7400,10.213.7.2:7400,10.213.7.3:7400";
const FIRST: &str = "10.213.7.1:7400";

/// The directory of the test.
struct Files(PathBuf);

impl Files {
    fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    /// Makes an authority with certificates of these names, each with its roles and its host.
    fn issue(&self, authority: &str, names: &[(&str, &str, &str)]) {
        let certs = |arguments: &[&str]| {
            let run = argiope(&["certs"]).args(arguments).stdout(Stdio::null()).status();
            assert!(run.is_ok_and(|code| code.success()));
        };
        let authority = self.at(authority);
        certs(&["init", &authority]);
        for (name, roles, host) in names {
            certs(
                &["issue", name, "--authority", &authority, "--out", &self.at(name)]
                    .iter()
                    .copied()
                    .chain(["--role", roles, "--host", host])
                    .collect::<Vec<_>>(),
            );
        }
    }

    /// The status of the cluster, if the first controller answers.
    fn status(&self) -> Option<Value> {
        let certs = self.at("me");
        let out = argiope(&["status", "--json", "--cluster", FIRST, "--certs", &certs]).output();
        serde_json::from_slice(&out.expect("argiope can be run").stdout).ok()
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.status().is_some_and(|status| is_so(&status)) {
            assert!(Instant::now() < until, "not so: {what}: {:?}", self.status());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Starts a controller on each machine.
fn start_controllers(network: &Network, files: &Files, started: &mut Vec<Started>) {
    for (machine, name) in (1..).zip(["one", "two", "three"]) {
        let listen = format!("{}:7400", network.address(machine));
        let log = std::fs::File::create(files.at(&format!("{name}.log"))).expect("a log");
        let mut child = network
            .on(machine, env!("CARGO_BIN_EXE_argiope"))
            .args(["controller", "--listen", &listen, "--join", FIRST])
            .args(["--certs", &files.at(name), "--data", &files.at(&format!("data-{name}"))])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("a controller starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("there is an output");
        started.push(Started(child));
        BufReader::new(out).read_line(&mut line).expect("it prints its address");
        assert_eq!(line.trim(), listen);
    }
}

#[test]
fn a_cut_network_heals_and_the_model_is_the_same() {
    let Some(network) = Network::new("network", "10.213.7") else { return };
    let files = Files(folder("network"));
    files.issue(
        "authority",
        &[
            ("one", "controller", "10.213.7.1"),
            ("two", "controller", "10.213.7.2"),
            ("three", "controller", "10.213.7.3"),
            ("me", "crawler,client", "localhost"),
        ],
    );
    let mut started = Vec::new();
    start_controllers(&network, &files, &mut started);
    // The application, the crawlers and the client are on the operator's machine.
    network.at(OPERATOR, || cut_and_heal(&network, &files, &mut started));
}

fn cut_and_heal(network: &Network, files: &Files, started: &mut Vec<Started>) {
    let server = Server::start("toggles").expect("the fixture can be served");
    let url = format!("{}?switches=6&wait=50", server.url());
    let expected = alone(&url, &files.0.join("alone"));
    let me = files.at("me");
    for _ in 0..2 {
        let crawler = argiope(&["crawler", "--tabs", "1", "--controller", ALL, "--certs", &me])
            .stderr(Stdio::null())
            .spawn();
        started.push(Started(crawler.expect("a crawler starts")));
    }
    files.wait_for("three controllers and two crawlers", |status| {
        let controllers = status["controllers"].as_array();
        let tabs = |one: &Value| one["tabs"].as_u64();
        controllers
            .is_some_and(|all| all.len() == 3 && all.iter().filter_map(tabs).sum::<u64>() == 2)
    });
    // A client without a certificate of this authority is refused.
    files.issue("other-authority", &[("stranger", "client", "localhost")]);
    let stranger =
        argiope(&["status", "--cluster", FIRST, "--certs", &files.at("stranger")]).output();
    let stranger = stranger.expect("argiope can be run");
    assert_eq!(stranger.status.code(), Some(1));
    let said = String::from_utf8_lossy(&stranger.stderr).into_owned();
    assert!(said.contains("; this side expects one from \"argiope authority "), "{said}");

    let out = files.at("run");
    let crawl =
        argiope(&["crawl", &url, "--quiet", "--cluster", ALL, "--certs", &me, "--out", &out])
            .stdout(Stdio::null())
            .spawn()
            .expect("a crawl starts");
    let mut crawl = Started(crawl);
    files.wait_for("some transitions", |status| {
        status["crawls"][0]["transitions"].as_u64() >= Some(80)
    });
    network.cable(3, false);
    std::thread::sleep(Duration::from_secs(5));
    network.cable(3, true);
    let until = Instant::now() + Duration::from_secs(90);
    let code = loop {
        if let Some(status) = crawl.0.try_wait().expect("it can be asked") {
            break status.code();
        }
        assert!(Instant::now() < until, "it does not end: {:?}", files.status());
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(code, Some(0));
    assert_equal(&model(&files.0.join("run")), &expected);
}
