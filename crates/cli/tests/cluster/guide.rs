//! Executes docs/guide/cluster.md: a shell runs the commands of the page, on machines that have the
//! addresses and the files of the page. Only this is put in place of what the page says:
//!
//! - `https://app.example/` is the address of a fixture, which is served by HTTP.
//! - `ID` is the id that the command before has printed.
//! - `scp` copies to the directory that is the file system of the other machine.
//! - Ctrl-C ends `argiope attach ID`, as the page says, so that there is a crawl left to stop.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_sites::Server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::machines::{Network, OPERATOR};
use crate::ring::{Model, PATIENCE, Started, folder, model, wait};
use crate::stories::assert_equal;

const PAGE: &str = include_str!("../../../../docs/guide/cluster.md");

/// Gives a process the files of a machine: `$MACHINE` has its /etc and its /var/lib. What else is
/// there is a link to the files of this machine, which are moved out of the way.
const VIEW: &str = r#"
set -e
mount -t tmpfs tmpfs /media
mkdir /media/etc /media/lib
mount --rbind /etc /media/etc
mount --rbind /var/lib /media/lib
mount --bind "$MACHINE/etc" /etc
mount --bind "$MACHINE/var/lib" /var/lib
exec sh -c "exec $1"
"#;

/// Stands for scp: `scp [-r] FROM… HOST:PATH`.
const SCP: &str = r#"#!/bin/sh
set -e
[ "$1" != -r ] || shift
for last; do :; done
while [ "$#" -gt 1 ]; do
  cp -r "$1" "$MACHINES/${last%%:*}${last#*:}"
  shift
done
"#;

/// The section with a title, or what is before the first one.
fn section(title: &str) -> &'static str {
    let begin = if title.is_empty() {
        Some(PAGE)
    } else {
        PAGE.split_once(&format!("\n## {title}\n")).map(|parts| parts.1)
    };
    let section = begin.unwrap_or_else(|| panic!("the page has no section {title:?}"));
    section.split("\n## ").next().expect("a first part")
}

/// The commands of a section, in order: the lines of its blocks of shell.
fn commands(title: &str) -> Vec<String> {
    let blocks = section(title).split("```sh\n").skip(1);
    let text: String = blocks.map(|rest| rest.split("```").next().expect("a first part")).collect();
    let text = text.replace("\\\n", " ");
    text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// The names in backquotes.
fn names(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.map(|name| name.trim_end_matches("[]").to_owned()).collect()
}

/// The word after an option.
fn value<'a>(command: &'a str, option: &str) -> Option<&'a str> {
    command.split_whitespace().skip_while(|word| *word != option).nth(1)
}

/// A command that runs until it is told to end.
struct Running {
    machine: u32,
    command: String,
    child: Started,
}

impl Running {
    /// Sends SIGTERM, and expects that the process ends in order.
    fn leave(mut self) {
        kill_process(Pid::from_child(&self.child.0), Signal::TERM).expect("the process is there");
        let code = wait(&mut self.child.0, PATIENCE);
        assert_eq!(code, Some(0), "on {}: {}", self.machine, self.command);
    }
}

/// A machine with argiope on the path, and a directory to work in.
struct Operator {
    folder: PathBuf,
    directory: PathBuf,
}

impl Operator {
    fn new(folder: PathBuf) -> Self {
        let (bin, directory) = (folder.join("bin"), folder.join("operator"));
        fs::create_dir(&bin).expect("a directory");
        symlink(env!("CARGO_BIN_EXE_argiope"), bin.join("argiope")).expect("a link");
        fs::write(bin.join("scp"), SCP).expect("a program");
        fs::set_permissions(bin.join("scp"), fs::Permissions::from_mode(0o755)).expect("a program");
        fs::create_dir(&directory).expect("a directory");
        Self { folder, directory }
    }

    fn with_paths(&self, mut command: Command) -> Command {
        let path = std::env::var("PATH").expect("there is a path");
        command.env("PATH", format!("{}:{path}", self.folder.join("bin").display()));
        command.env("MACHINES", &self.folder);
        command
    }

    /// A shell in the directory.
    fn shell(&self, line: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).stdin(Stdio::null()).current_dir(&self.directory);
        self.with_paths(shell)
    }

    /// Runs a command to its end; its standard output.
    fn run(&self, command: &str, expected: i32) -> String {
        let mut shell = self.shell(command);
        let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = Started(child.expect("a shell starts"));
        let code = wait(&mut child.0, PATIENCE);
        let (mut out, mut err) = (String::new(), String::new());
        child.0.stdout.take().expect("an output").read_to_string(&mut out).expect("text");
        child.0.stderr.take().expect("an output").read_to_string(&mut err).expect("text");
        assert_eq!(code, Some(expected), "{command}\n{out}{err}");
        out
    }

    /// Runs a command and presses Ctrl-C as soon as it takes that.
    fn interrupt(&self, command: &str) {
        let mut shell = self.shell(&format!("exec {command}"));
        let child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = Started(child.expect("a shell starts"));
        let until = Instant::now() + PATIENCE;
        while !catches_ctrl_c(child.0.id()) {
            let code = child.0.try_wait().expect("it can be asked");
            assert!(code.is_none() && Instant::now() < until, "{command}: {code:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill_process(Pid::from_child(&child.0), Signal::INT).expect("the process is there");
        assert_eq!(wait(&mut child.0, PATIENCE), Some(3), "{command}");
    }
}

/// Prepares the files of a machine: `/etc/argiope`, and links to the files of this machine.
fn prepare_files(root: &Path) {
    for (path, moved) in [("etc", "/media/etc"), ("var/lib", "/media/lib")] {
        fs::create_dir_all(root.join(path)).expect("a directory");
        for entry in fs::read_dir(Path::new("/").join(path)).expect("a directory") {
            let name = entry.expect("an entry").file_name();
            if name != "argiope" {
                let link = root.join(path).join(&name);
                symlink(Path::new(moved).join(&name), link).expect("a link");
            }
        }
    }
    fs::create_dir(root.join("etc/argiope")).expect("a directory");
}

/// The reader of the page, and what runs so far.
struct Reader<'a> {
    network: &'a Network,
    operator: Operator,
    /// The application.
    url: String,
    /// The id of the last crawl that was detached.
    id: Option<String>,
    running: Vec<Running>,
}

impl<'a> Reader<'a> {
    fn new(network: &'a Network, folder: PathBuf, url: String) -> Self {
        for machine in 1..=3 {
            prepare_files(&folder.join(network.address(machine).to_string()));
        }
        Self { network, operator: Operator::new(folder), url, id: None, running: Vec::new() }
    }

    /// Executes a command of the page where the page says.
    fn execute(&mut self, command: &str) {
        let mut command = command.replace("https://app.example/", &format!("'{}'", self.url));
        if let Some(id) = &self.id {
            command = command.replace(" ID ", &format!(" {id} "));
        }
        println!("{command}");
        if command.starts_with("argiope controller ") {
            self.start_controller(&command);
        } else if command.starts_with("argiope crawler ") {
            for machine in 1..=3 {
                self.start(machine, &command, Stdio::null());
            }
        } else if command.starts_with("argiope attach ") && !command.contains(" --stop") {
            self.operator.interrupt(&command);
        } else {
            let stops = command.contains(" --stop");
            let out = self.operator.run(&command, if stops { 4 } else { 0 });
            if command.contains(" --detach ") {
                self.id = Some(out.trim().to_owned());
            }
        }
    }

    /// Starts a command on a machine that runs on.
    fn start(&mut self, machine: u32, command: &str, out: Stdio) -> &mut Child {
        let address = self.network.address(machine).to_string();
        let log = self.operator.folder.join(format!("{address}.log"));
        let log = fs::File::options().append(true).create(true).open(log).expect("a log");
        let mut shell = self.operator.with_paths(self.network.on(machine, "unshare"));
        shell.args(["--mount", "sh", "-c", VIEW, "sh", command]);
        shell.env("MACHINE", self.operator.folder.join(address)).stdout(out).stderr(log);
        let child = Started(shell.spawn().expect("a shell starts"));
        self.running.push(Running { machine, command: command.to_owned(), child });
        &mut self.running.last_mut().expect("it was added").child.0
    }

    /// Starts a controller on the machine whose address it listens at; it prints that address.
    fn start_controller(&mut self, command: &str) {
        let listen = value(command, "--listen").expect("it listens").to_owned();
        let host = listen.parse::<SocketAddr>().expect("an address").ip();
        let machine = (1..=3).find(|&one| self.network.address(one) == host);
        let child = self.start(machine.expect("one of the three"), command, Stdio::piped());
        let mut line = String::new();
        let out = child.stdout.take().expect("there is an output");
        BufReader::new(out).read_line(&mut line).expect("it prints its address");
        assert_eq!(line.trim(), listen, "{command}: see {}", self.operator.folder.display());
    }

    fn status(&self) -> Value {
        let status = "argiope status --cluster 10.0.0.1:7400 --certs certs-me --json";
        serde_json::from_str(&self.operator.run(status, 0)).expect("an object")
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&[Value]) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(self.status()["controllers"].as_array().expect("a list")) {
            assert!(Instant::now() < until, "not so: {what}: {}", self.status());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Compares the fields of the status with those that the page lists.
    fn check_fields(&self) {
        let status = self.status();
        let page = section("What to watch");
        let listed = |list: &str| {
            let line = page.lines().find(|line| line.starts_with(&format!("| {list} |")));
            names(line.and_then(|line| line.split('|').nth(2)).expect("a row of the table"))
        };
        let is = |entry: &Value| -> BTreeSet<String> {
            entry.as_object().expect("an object").keys().cloned().collect()
        };
        let figures = listed("figures");
        let with_figures = |list: &str| &listed(list) | &figures;
        assert_eq!(is(&status), names("`controllers[]` `crawls[]` `ready`"));
        assert_eq!(is(&status["controllers"][0]), listed("`controllers[]`"));
        assert_eq!(is(&status["controllers"][0]["shares"][0]), with_figures("`shares[]`"));
        assert_eq!(is(&status["crawls"][0]), with_figures("`crawls[]`"));
    }

    /// Stops a controller as the section on upgrades says, and starts it again with metrics.
    fn upgrade_with_metrics(&mut self, machine: u32) {
        let listens = |one: &Running| one.machine == machine && one.command.contains("--listen");
        let index = self.running.iter().position(listens).expect("it runs");
        let stopped = self.running.remove(index);
        let metrics = "--metrics 127.0.0.1:9400";
        assert!(section("What to watch").contains(metrics));
        let command = format!("{} {metrics}", stopped.command);
        stopped.leave();
        self.start_controller(&command);
        for command in commands("Upgrade") {
            self.execute(&command);
        }
        self.wait_for("all have their shares", |all| {
            let heard =
                |one: &&Value| one["silent_ms"] == 0 && one["shares"] != serde_json::json!([]);
            all.iter().filter(heard).count() == 3
        });
        let (health, metrics) = self.network.at(machine, || (get("/health"), get("/metrics")));
        assert!(health.starts_with("HTTP/1.0 200 OK"), "{health}");
        assert!(metrics.contains("\n# TYPE argiope_"), "{metrics}");
    }
}

/// What a controller answers at the page's address of metrics.
fn get(path: &str) -> String {
    let mut stream = TcpStream::connect("127.0.0.1:9400").expect("metrics are served");
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").expect("it can be asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// Whether a process has a handler for Ctrl-C.
fn catches_ctrl_c(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The shell that becomes the command may have one, too.
    status.starts_with("Name:\targiope\n") && caught.is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn one_machine_works_by_the_commands_of_the_guide() {
    let operator = Operator::new(folder("guide-one"));
    operator.run("argiope crawl --demo --quiet --out alone", 0);
    let outputs: Vec<String> =
        commands("").iter().map(|command| operator.run(command, 0)).collect();
    let [_, status] = &outputs[..] else { panic!("not two commands: {outputs:?}") };
    assert!(status.starts_with("3 controllers\n"), "{status}");
    let directory = &operator.directory;
    assert_equal(&model(&directory.join("ring-run")), &model(&directory.join("alone")));
}

#[test]
fn three_machines_work_by_the_commands_of_the_guide() {
    let Some(network) = Network::new("guide", "10.0.0") else { return };
    network.at(OPERATOR, || follow_the_guide(&network));
}

fn follow_the_guide(network: &Network) {
    let address = SocketAddr::new(network.address(OPERATOR), 0);
    let server = Server::start_on("toggles", address).expect("the fixture can be served");
    let url = format!("{}?switches=6&wait=100", server.url());
    let mut reader = Reader::new(network, folder("guide"), url.clone());
    reader.operator.run(&format!("argiope crawl '{url}' --quiet --tabs 8 --out alone"), 0);
    let operator = reader.operator.directory.clone();
    let expected = model(&operator.join("alone"));

    for command in commands("Three machines from nothing") {
        if command.starts_with("argiope status ") {
            let tabs = 3 * std::thread::available_parallelism().map_or(1, |cores| cores.get());
            reader.wait_for("all are connected", |all| {
                let found: u64 = all.iter().filter_map(|one| one["tabs"].as_u64()).sum();
                all.len() == 3 && found == tabs as u64
            });
            let text = reader.operator.run(&command, 0);
            assert!(text.starts_with("3 controllers\n"), "{text}");
        }
        reader.execute(&command);
    }
    assert_equal(&model(&operator.join("run")), &expected);
    let runs = fs::read_dir(operator.join("out")).expect("the run of the crawl that was stopped");
    let runs: Vec<PathBuf> = runs.map(|run| run.expect("an entry").path()).collect();
    let [stopped] = &runs[..] else { panic!("not one run: {runs:?}") };
    let stopped: Model = model(stopped);
    assert!(stopped.is_subset(&expected) && stopped.len() < expected.len());

    reader.check_fields();
    for command in commands("Certificates") {
        reader.execute(&command);
    }
    let copied = operator.parent().expect("a folder").join("10.0.0.1/etc/argiope/certs/node.pem");
    assert_eq!(fs::read(copied).ok(), fs::read(operator.join("certs-one/node.pem")).ok());
    // The controllers that run use it: the next one to start dials all of them.
    reader.upgrade_with_metrics(3);
    // Crawlers first: one that loses its last controller does not end in order.
    while let Some(last) = reader.running.iter().rposition(|one| one.command.contains(" crawler "))
    {
        reader.running.remove(last).leave();
    }
    reader.running.drain(..).rev().for_each(Running::leave);
}
