//! Machines on one switch: network namespaces with an address each. Nothing outside them changes,
//! so their addresses may be those of this machine's own network.

use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// The machine that has the switch: the operator, the clients and the application are there.
pub const OPERATOR: u32 = 254;

/// Three machines and the operator's.
pub struct Network {
    /// The beginning of the names of all namespaces.
    mark: String,
    /// The first three numbers of all addresses.
    prefix: &'static str,
}

fn ip(arguments: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(arguments.split_whitespace()).stderr(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Network {
    /// Makes it, for the test of that name. Where namespaces are not allowed it says so, and there
    /// is none.
    pub fn new(name: &str, prefix: &'static str) -> Option<Self> {
        let mark = format!("argiope-{}-{name}", std::process::id());
        let network = Self { mark, prefix };
        if ip(&format!("netns add {}", network.namespace(OPERATOR))) {
            assert!(network.connect(), "namespaces are allowed, but a bridge or its ports are not");
            return Some(network);
        }
        // Not by a macro: the test harness would hide its output. `./test` says it once more.
        let why = format!("SKIPPED: the test {name} needs namespaces (root and iproute2)\n");
        std::io::stderr().write_all(why.as_bytes()).expect("standard error is open");
        None
    }

    fn connect(&self) -> bool {
        let operator = self.namespace(OPERATOR);
        ip(&format!("-n {operator} link set lo up"))
            && ip(&format!("-n {operator} link add switch type bridge"))
            && ip(&format!("-n {operator} addr add {}/24 dev switch", self.address(OPERATOR)))
            && ip(&format!("-n {operator} link set switch up"))
            && (1..=3).all(|one| {
                let machine = self.namespace(one);
                ip(&format!("netns add {machine}"))
                    && ip(&format!(
                        "-n {operator} link add port{one} type veth peer name e0 netns {machine}"
                    ))
                    && ip(&format!("-n {operator} link set port{one} master switch up"))
                    && ip(&format!("-n {machine} addr add {}/24 dev e0", self.address(one)))
                    && ip(&format!("-n {machine} link set e0 up"))
                    && ip(&format!("-n {machine} link set lo up"))
            })
    }

    fn namespace(&self, machine: u32) -> String {
        format!("{}-{machine}", self.mark)
    }

    /// The address of a machine.
    pub fn address(&self, machine: u32) -> IpAddr {
        format!("{}.{machine}", self.prefix).parse().expect("an address")
    }

    /// Disconnects a machine, or connects it again.
    pub fn cable(&self, machine: u32, plugged: bool) {
        let how = if plugged { "up" } else { "down" };
        let operator = self.namespace(OPERATOR);
        assert!(ip(&format!("-n {operator} link set port{machine} {how}")));
    }

    /// A program on a machine.
    pub fn on(&self, machine: u32, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(machine), program]);
        command.stdin(Stdio::null());
        command
    }

    /// Does something on a machine: what it listens at, dials and starts is there. It has a thread
    /// of its own, because a thread stays where it is.
    pub fn at<T: Send>(&self, machine: u32, act: impl FnOnce() -> T + Send) -> T {
        let namespace = format!("/run/netns/{}", self.namespace(machine));
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let namespace = File::open(namespace).expect("the namespace is there");
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
                    .expect("a thread may enter it");
                act()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for machine in [1, 2, 3, OPERATOR] {
            ip(&format!("netns del {}", self.namespace(machine)));
        }
    }
}
