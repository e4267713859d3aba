//! A real network between machines: namespaces with an address each, certificates, and a cable that
//! is pulled.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_sites::Server;

use crate::ring::{alone, argiope, folder, model};
use crate::stories::assert_equal;

/// Three machines on one switch.
struct Net {
    /// Of the names of everything.
    mark: String,
    children: Vec<Child>,
}

fn ip(arguments: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(arguments.split_whitespace()).stderr(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Net {
    /// None where that cannot be had.
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

    /// Pulls the cable of a machine, or plugs it in again.
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

#[test]
fn a_cut_network_heals_and_the_model_is_the_same() {
    let Some(mut net) = Net::new() else {
        // Not by a macro, which would be kept from people if the test passes.
        let why = "SKIPPED: a partitioned network needs namespaces (root and iproute2)\n";
        std::io::stderr().write_all(why.as_bytes()).expect("standard error is open");
        return;
    };
    let folder = folder("network");
    let at = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let certs = |arguments: &[&str]| {
        assert!(
            argiope(&["certs"])
                .args(arguments)
                .stdout(Stdio::null())
                .status()
                .is_ok_and(|code| code.success())
        );
    };
    certs(&["init", &at("authority")]);
    for name in ["one", "two", "three", "me"] {
        certs(&["issue", name, "--authority", &at("authority"), "--out", &at(name)]);
    }
    for (machine, name) in (1..).zip(["one", "two", "three"]) {
        let listen = format!("10.213.7.{machine}:7400");
        let log = std::fs::File::create(folder.join(format!("{name}.log"))).expect("a log");
        let mut child = net
            .on(
                machine,
                &[
                    "controller",
                    "--listen",
                    &listen,
                    "--join",
                    "10.213.7.1:7400",
                    "--certs",
                    &at(name),
                ],
            )
            .args(["--data", &at(&format!("data-{name}"))])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("a controller starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("there is an output");
        BufReader::new(out).read_line(&mut line).expect("it says where it listens");
        assert_eq!(line.trim(), listen);
        net.children.push(child);
    }
    // The application and the crawlers are on this machine, which the switch reaches too.
    let server = Server::start("toggles").expect("the fixture can be served");
    let url = format!("{}?switches=6&wait=50", server.url());
    let expected = alone(&url, &folder.join("alone"));
    let all = "10.213.7.1:7400,10.213.7.2:7400,10.213.7.3:7400";
    for _ in 0..2 {
        let crawler =
            argiope(&["crawler", "--tabs", "1", "--controller", all, "--certs", &at("me")])
                .stderr(Stdio::null())
                .spawn();
        net.children.push(crawler.expect("a crawler starts"));
    }
    let status = || {
        let out =
            argiope(&["status", "--json", "--cluster", "10.213.7.1:7400", "--certs", &at("me")])
                .output();
        serde_json::from_slice::<serde_json::Value>(&out.expect("argiope can be run").stdout).ok()
    };
    let wait_for = |what: &str, is_so: &dyn Fn(&serde_json::Value) -> bool| {
        let until = Instant::now() + Duration::from_secs(60);
        while !status().is_some_and(|status| is_so(&status)) {
            assert!(Instant::now() < until, "not so: {what}: {:?}", status());
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    wait_for("three controllers and two crawlers", &|status| {
        let controllers = status["controllers"].as_array();
        let tabs = |one: &serde_json::Value| one["tabs"].as_u64();
        controllers
            .is_some_and(|all| all.len() == 3 && all.iter().filter_map(tabs).sum::<u64>() == 2)
    });
    // A client without a certificate of this authority is refused.
    certs(&["init", &at("other-authority")]);
    certs(&["issue", "stranger", "--authority", &at("other-authority"), "--out", &at("stranger")]);
    let stranger =
        argiope(&["status", "--cluster", "10.213.7.1:7400", "--certs", &at("stranger")]).output();
    assert_eq!(stranger.expect("argiope can be run").status.code(), Some(1));

    let out = at("run");
    let mut crawl =
        argiope(&["crawl", &url, "--quiet", "--cluster", all, "--certs", &at("me"), "--out", &out])
            .stdout(Stdio::null())
            .spawn()
            .expect("a crawl starts");
    wait_for("some transitions", &|status| status["crawls"][0]["transitions"].as_u64() >= Some(80));
    net.cable(3, false);
    std::thread::sleep(Duration::from_secs(5));
    net.cable(3, true);
    let until = Instant::now() + Duration::from_secs(90);
    let code = loop {
        if let Some(status) = crawl.try_wait().expect("it can be asked") {
            break status.code();
        }
        assert!(Instant::now() < until, "it does not end: {:?}", status());
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(code, Some(0));
    assert_equal(&model(&folder.join("run")), &expected);
}
