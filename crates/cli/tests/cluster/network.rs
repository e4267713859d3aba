//! A real network between machines: namespaces with an address each, certificates, and a network
//! partition.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_sites::Server;
use serde_json::Value;

use crate::ring::{alone, argiope, folder, model};
use crate::stories::assert_equal;

/// Three machines on one switch.
struct Net {
    /// The prefix of all names.
    mark: String,
    children: Vec<Child>,
}

fn ip(arguments: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(arguments.split_whitespace()).stderr(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Net {
    /// Makes it; none where namespaces are not allowed.
    fn new() -> Option<Self> {
        let mark = format!("ar{}", std::process::id() % 10_000);
        let net = Self { mark: mark.clone(), children: Vec::new() };
        let made = ip(&format!("link add {mark}sw type bridge"))
            && ip(&format!("addr add 10.213.7.254/24 dev {mark}sw"))
            && ip(&format!("link set {mark}sw up"))
            && (1..=3).all(|one| {
                ip(&format!("netns add {mark}n{one}"))
                    && ip(&format!(
                        "link add {mark}v{one} type veth peer name e0 netns {mark}n{one}"
                    ))
                    && ip(&format!("link set {mark}v{one} master {mark}sw up"))
                    && ip(&format!("netns exec {mark}n{one} ip addr add 10.213.7.{one}/24 dev e0"))
                    && ip(&format!("netns exec {mark}n{one} ip link set e0 up"))
                    && ip(&format!("netns exec {mark}n{one} ip link set lo up"))
            });
        made.then_some(net)
    }

    /// Disconnects a machine, or connects it again.
    fn cable(&self, machine: u32, plugged: bool) {
        let how = if plugged { "up" } else { "down" };
        assert!(ip(&format!("link set {}v{machine} {how}", self.mark)));
    }

    /// A command on a machine.
    fn on(&self, machine: u32, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args([
            "netns",
            "exec",
            &format!("{}n{machine}", self.mark),
            env!("CARGO_BIN_EXE_argiope"),
        ]);
        command.args(arguments).stdin(Stdio::null());
        command
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        for one in 1..=3 {
            ip(&format!("netns del {}n{one}", self.mark));
        }
        ip(&format!("link del {}sw", self.mark));
    }
}

/// The controllers' addresses.
const ALL: &str = "10.213.7.1:7400,10.213.7.2:7400,10.213.7.3:7400";
const FIRST: &str = "10.213.7.1:7400";

/// The directory of the test.
struct Files(PathBuf);

impl Files {
    fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    /// Makes an authority with certificates of these names.
    fn issue(&self, authority: &str, names: &[&str]) {
        let certs = |arguments: &[&str]| {
            let run = argiope(&["certs"]).args(arguments).stdout(Stdio::null()).status();
            assert!(run.is_ok_and(|code| code.success()));
        };
        let authority = self.at(authority);
        certs(&["init", &authority]);
        for name in names {
            certs(&["issue", name, "--authority", &authority, "--out", &self.at(name)]);
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
fn start_controllers(net: &mut Net, files: &Files) {
    for (machine, name) in (1..).zip(["one", "two", "three"]) {
        let listen = format!("10.213.7.{machine}:7400");
        let log = std::fs::File::create(files.at(&format!("{name}.log"))).expect("a log");
        let mut child = net
            .on(machine, &["controller", "--listen", &listen, "--join", FIRST])
            .args(["--certs", &files.at(name), "--data", &files.at(&format!("data-{name}"))])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("a controller starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("there is an output");
        BufReader::new(out).read_line(&mut line).expect("it prints its address");
        assert_eq!(line.trim(), listen);
        net.children.push(child);
    }
}

#[test]
fn a_cut_network_heals_and_the_model_is_the_same() {
    let Some(mut net) = Net::new() else {
        // Not by a macro: the test harness would hide its output.
        let why = "SKIPPED: a partitioned network needs namespaces (root and iproute2)\n";
        std::io::stderr().write_all(why.as_bytes()).expect("standard error is open");
        return;
    };
    let files = Files(folder("network"));
    files.issue("authority", &["one", "two", "three", "me"]);
    start_controllers(&mut net, &files);
    // The application and the crawlers are on this machine, which the switch reaches too.
    let server = Server::start("toggles").expect("the fixture can be served");
    let url = format!("{}?switches=6&wait=50", server.url());
    let expected = alone(&url, &files.0.join("alone"));
    let me = files.at("me");
    for _ in 0..2 {
        let crawler = argiope(&["crawler", "--tabs", "1", "--controller", ALL, "--certs", &me])
            .stderr(Stdio::null())
            .spawn();
        net.children.push(crawler.expect("a crawler starts"));
    }
    files.wait_for("three controllers and two crawlers", |status| {
        let controllers = status["controllers"].as_array();
        let tabs = |one: &Value| one["tabs"].as_u64();
        controllers
            .is_some_and(|all| all.len() == 3 && all.iter().filter_map(tabs).sum::<u64>() == 2)
    });
    // A client without a certificate of this authority is refused.
    files.issue("other-authority", &["stranger"]);
    let stranger =
        argiope(&["status", "--cluster", FIRST, "--certs", &files.at("stranger")]).output();
    assert_eq!(stranger.expect("argiope can be run").status.code(), Some(1));

    let out = files.at("run");
    let mut crawl =
        argiope(&["crawl", &url, "--quiet", "--cluster", ALL, "--certs", &me, "--out", &out])
            .stdout(Stdio::null())
            .spawn()
            .expect("a crawl starts");
    files.wait_for("some transitions", |status| {
        status["crawls"][0]["transitions"].as_u64() >= Some(80)
    });
    net.cable(3, false);
    std::thread::sleep(Duration::from_secs(5));
    net.cable(3, true);
    let until = Instant::now() + Duration::from_secs(90);
    let code = loop {
        if let Some(status) = crawl.try_wait().expect("it can be asked") {
            break status.code();
        }
        assert!(Instant::now() < until, "it does not end: {:?}", files.status());
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(code, Some(0));
    assert_equal(&model(&files.0.join("run")), &expected);
}
