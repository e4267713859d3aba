//! A ring of processes, with handles to inject faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_controller::journal::Fact;
use argiope_controller::outcome::Note;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_runtime::store::Store;
use argiope_sites::Server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The longest time that a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// States and transitions by their keys, which are equal in every crawl.
pub type Model = BTreeSet<(StateKey, Option<(ActionSignature, StateKey, Vec<Note>)>)>;

/// What a run directory holds.
pub fn model(directory: &Path) -> Model {
    let store = Store::read(directory).expect("a run");
    let mut model = Model::new();
    for record in store.facts().expect("records") {
        match record.expect("a record") {
            Fact::State { key, .. } => model.insert((key, None)),
            Fact::Transition { from, action, to, notes, .. } => {
                model.insert((from, Some((action, to, notes))))
            }
            _ => false,
        };
    }
    model
}

/// The model of an undisturbed crawl on one machine.
pub fn alone(url: &str, directory: &Path) -> Model {
    alone_from(&[url], directory)
}

/// The same of a crawl that begins at several addresses.
pub fn alone_from(urls: &[&str], directory: &Path) -> Model {
    let mut command = argiope(&["crawl", "--quiet"]);
    let out = command.args(urls).arg("--out").arg(directory).output();
    let out = out.expect("argiope can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    model(directory)
}

pub fn argiope(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argiope"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Processes inherit this variable, browsers too: its value is the folder of their ring.
const MARK: &str = "ARGIOPE_TEST_RING";

/// The command lines of the processes that belong to a ring.
fn processes_of(folder: &Path) -> Vec<String> {
    let mark = format!("{MARK}={}", folder.display());
    let has_mark = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").expect("Linux").flatten().map(|entry| entry.path());
    let command = |process: PathBuf| fs::read_to_string(process.join("cmdline")).ok();
    processes.filter(has_mark).filter_map(command).map(|line| line.replace('\0', " ")).collect()
}

/// A folder of its own for a test.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cluster").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A process that ends with its test.
pub struct Started(pub Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One process of the ring.
pub struct Process {
    child: Started,
    /// Where it listens, if it is a controller.
    pub address: String,
    /// Its number: its directory is named by it.
    pub number: u32,
}

impl Process {
    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child.0);
        kill_process(pid, signal).expect("the process is there");
    }

    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends it at once.
    pub fn kill(mut self) {
        self.child.0.kill().expect("the process is there");
        self.child.0.wait().expect("it ends");
    }

    /// Tells it to leave, and waits until it has.
    pub fn leave(mut self) {
        self.signal(Signal::TERM);
        let code = wait(&mut self.child.0, PATIENCE);
        assert_eq!(code, Some(0), "it leaves in order");
    }

    /// Waits until it ends by itself.
    pub fn ends(mut self) -> Option<i32> {
        wait(&mut self.child.0, PATIENCE)
    }
}

pub fn wait(child: &mut Child, patience: Duration) -> Option<i32> {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().expect("the process can be asked") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not end");
}

/// A ring.
pub struct Ring {
    pub folder: PathBuf,
    pub controllers: Vec<Process>,
    pub crawlers: Vec<Process>,
    /// The application.
    pub url: String,
    /// Serves it, if it is this ring's alone.
    server: Option<Server>,
    next: u32,
    traces: Vec<PathBuf>,
}

impl Ring {
    /// Starts controllers and crawlers for an application.
    pub fn new(name: &str, controllers: usize, crawlers: usize, query: &str) -> Self {
        let server = Server::start("toggles").expect("the fixture can be served");
        let url = format!("{}{query}", server.url());
        Self { server: Some(server), ..Self::of(name, controllers, crawlers, url) }
    }

    /// For an application that is served elsewhere.
    pub fn of(name: &str, controllers: usize, crawlers: usize, url: String) -> Self {
        let mut ring = Self {
            folder: folder(name),
            controllers: Vec::new(),
            crawlers: Vec::new(),
            url,
            server: None,
            next: 0,
            traces: Vec::new(),
        };
        for _ in 0..controllers {
            ring.add_controller();
        }
        for _ in 0..crawlers {
            ring.add_crawler();
        }
        ring.wait_for("all are connected", |status| {
            let members = status["controllers"].as_array().map_or(0, Vec::len);
            members == controllers && tabs(status) == crawlers as u64
        });
        ring
    }

    /// What an undisturbed crawl on one machine finds.
    pub fn expected(&self) -> Model {
        alone(&self.url, &self.folder.join("alone"))
    }

    pub fn add_controller(&mut self) {
        self.next += 1;
        let controller = self.controller(self.next, "127.0.0.1:0", "exec \"$@\"");
        self.controllers.push(controller);
    }

    /// A controller with the directory of that number, started by a line of shell.
    pub fn controller(&mut self, number: u32, listen: &str, line: &str) -> Process {
        let data = self.folder.join(format!("controller-{number}"));
        let trace = self.folder.join(format!("trace-{number}-{}", self.traces.len()));
        let mut command = Command::new("sh");
        command.args([
            "-c",
            line,
            "sh",
            env!("CARGO_BIN_EXE_argiope"),
            "controller",
            "--listen",
            listen,
        ]);
        command.arg("--data").arg(data).arg("--trace").arg(&trace).env(MARK, &self.folder);
        for other in &self.controllers {
            command.args(["--join", &other.address]);
        }
        self.traces.push(trace);
        let log = self.log(&format!("controller-{number}"));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let mut address = String::new();
        let out = child.stdout.take().expect("there is an output");
        BufReader::new(out).read_line(&mut address).expect("it says where it listens");
        assert!(!address.is_empty(), "a controller does not start: see {}", self.folder.display());
        Process { child: Started(child), address: address.trim().to_owned(), number }
    }

    /// The actions that crawlers performed, as the application's server counts them.
    pub fn clicks(&self) -> u64 {
        self.server.as_ref().expect("the ring has a server").requests("/allowed")
    }

    /// Ends a controller and starts it again a moment later, with its directory and address.
    pub fn restart(&mut self, index: usize, end: impl FnOnce(Process), pause: Duration) {
        let ended = self.controllers.remove(index);
        let (number, address) = (ended.number, ended.address.clone());
        end(ended);
        std::thread::sleep(pause);
        let again = self.controller(number, &address, "exec \"$@\"");
        self.controllers.insert(index, again);
    }

    /// Waits until all controllers are members of the rings of all crawls, or the crawls are over.
    pub fn wait_until_inside(&self) {
        let controllers = self.controllers.len();
        self.wait_for("all controllers are inside", |status| {
            let is_inside = |share: &Value| share["inside"] == true || share["finished"] == true;
            let inside = |one: &&Value| {
                one["silent_ms"] == 0
                    && one["shares"]
                        .as_array()
                        .is_some_and(|all| !all.is_empty() && all.iter().all(is_inside))
            };
            let all = status["controllers"].as_array();
            all.is_some_and(|all| all.iter().filter(inside).count() == controllers)
        });
    }

    /// Waits as an operator does until the ring can lose another controller.
    pub fn wait_until_ready(&self) {
        let addresses: Vec<&str> =
            self.controllers.iter().map(|one| one.address.as_str()).collect();
        let out = argiope(&["status", "--wait", "90s", "--cluster", &addresses.join(",")]).output();
        let out = out.expect("argiope can be run");
        let said = [out.stdout, out.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(out.status.success(), "{said}; see {}", self.folder.display());
    }

    /// Whether the first crawl is over.
    pub fn is_over(&self) -> bool {
        self.status().is_some_and(|status| status["crawls"][0]["finished"] == true)
    }

    /// The memory of each controller, in bytes.
    pub fn memory(&self) -> Vec<u64> {
        let resident = |one: &Process| {
            let status = fs::read_to_string(format!("/proc/{}/status", one.child.0.id()));
            let status = status.expect("the controller runs");
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
            1024 * kilobytes.and_then(|size| size.parse::<u64>().ok()).expect("a size")
        };
        self.controllers.iter().map(resident).collect()
    }

    /// Ends all processes, and waits until none of them and no browser is left.
    pub fn end(mut self) {
        self.crawlers.drain(..).for_each(Process::kill);
        self.controllers.drain(..).for_each(Process::kill);
        let until = Instant::now() + PATIENCE;
        while !processes_of(&self.folder).is_empty() {
            assert!(Instant::now() < until, "still there: {:?}", processes_of(&self.folder));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The bytes that each controller keeps.
    pub fn data_sizes(&self) -> Vec<u64> {
        let size = |one: &Process| {
            let folder = self.folder.join(format!("controller-{}", one.number));
            let files = fs::read_dir(folder).expect("the controller has a directory");
            files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len()).sum()
        };
        self.controllers.iter().map(size).collect()
    }

    /// Starts a controller that is to join the ring and must not; its exit code and its log.
    pub fn controller_refused(&mut self, line: &str) -> (Option<i32>, String) {
        let refused = self.controller(99, "127.0.0.1:0", line);
        let code = refused.ends();
        let log = fs::read_to_string(self.folder.join("controller-99.log")).expect("a log");
        (code, log)
    }

    fn log(&self, name: &str) -> fs::File {
        let path = self.folder.join(format!("{name}.log"));
        fs::File::options().append(true).create(true).open(path).expect("a log")
    }

    pub fn add_crawler(&mut self) {
        let addresses: Vec<&str> =
            self.controllers.iter().map(|one| one.address.as_str()).collect();
        let mut order = addresses.clone();
        order.rotate_left(self.crawlers.len() % addresses.len());
        self.next += 1;
        let log = self.log(&format!("crawler-{}", self.next));
        let child = argiope(&["crawler", "--tabs", "1", "--controller", &order.join(",")])
            .env(MARK, &self.folder)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("a crawler starts");
        self.crawlers.push(Process {
            child: Started(child),
            address: String::new(),
            number: self.next,
        });
    }

    /// The status of the ring, from the first controller that answers.
    pub fn status(&self) -> Option<Value> {
        self.controllers.iter().find_map(|one| {
            let out = argiope(&["status", "--json", "--cluster", &one.address]).output().ok()?;
            serde_json::from_slice(&out.stdout).ok()
        })
    }

    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        self.wait_for_within(PATIENCE, what, is_so);
    }

    pub fn wait_for_within(&self, patience: Duration, what: &str, is_so: impl Fn(&Value) -> bool) {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if self.status().is_some_and(|status| is_so(&status)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("not so: {what}; see {}: {:?}", self.folder.display(), self.status());
    }

    /// Waits until this many transitions are executed, or the crawl is over.
    pub fn wait_until(&self, transitions: u64) {
        self.wait_for(&format!("{transitions} transitions"), |status| {
            let crawl = &status["crawls"][0];
            crawl["transitions"].as_u64() >= Some(transitions) || crawl["finished"] == true
        });
    }

    /// Begins the crawl of the ring's application.
    pub fn crawl(&self, more: &[&str]) -> Crawl {
        self.crawl_of(&self.url, "run", more)
    }

    /// Begins a crawl.
    pub fn crawl_of(&self, url: &str, name: &str, more: &[&str]) -> Crawl {
        let addresses: Vec<&str> =
            self.controllers.iter().map(|one| one.address.as_str()).collect();
        let out = self.folder.join(name);
        let child =
            argiope(&["crawl", url, "--quiet", "--json", "--cluster", &addresses.join(",")])
                .env(MARK, &self.folder)
                .args(more)
                .arg("--out")
                .arg(&out)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("a crawl starts");
        Crawl { child: Started(child), out }
    }

    /// Attaches to a crawl, and waits for its end.
    pub fn attach(&self, id: &str, name: &str) -> (Value, Model) {
        let out = self.folder.join(name);
        let child = argiope(&["attach", id, "--quiet", "--json", "--cluster"])
            .arg(&self.controllers[0].address)
            .arg("--out")
            .arg(&out)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a client starts");
        Crawl { child: Started(child), out }.end()
    }

    /// The number of trace lines of one kind so far.
    pub fn count(&self, noted: &str) -> usize {
        self.events().iter().filter(|(_, what, _)| what == noted).count()
    }

    /// The lines of all traces: the time, the kind, and the action.
    fn events(&self) -> Vec<(u128, String, String)> {
        let mut events = Vec::new();
        for path in &self.traces {
            let text = fs::read_to_string(path).expect("a trace");
            events.extend(text.lines().filter_map(|line| {
                let mut words = line.splitn(3, ' ');
                let time: u128 = words.next()?.parse().ok()?;
                Some((time, words.next()?.to_owned(), words.next()?.to_owned()))
            }));
        }
        events
    }

    /// Counts tasks that were assigned again after they were executed and acknowledged, from the
    /// traces of all controllers.
    pub fn needless(&self) -> Vec<String> {
        let mut events = self.events();
        assert!(!events.is_empty(), "nothing was noted");
        events.sort();
        let mut executed = BTreeMap::new();
        let mut needless = Vec::new();
        for (time, what, which) in events {
            match (what.as_str(), executed.get(&which)) {
                ("executed", None) => _ = executed.insert(which, time),
                ("assigned", Some(done)) => {
                    let late = (time - done) / 1000;
                    needless.push(format!(
                        "{which} at {time}, {late} ms late: see {}",
                        self.folder.display()
                    ));
                }
                _ => {}
            }
        }
        needless
    }
}

fn tabs(status: &Value) -> u64 {
    let controllers = status["controllers"].as_array();
    controllers.map_or(0, |all| all.iter().filter_map(|one| one["tabs"].as_u64()).sum())
}

/// A crawl that is followed.
pub struct Crawl {
    child: Started,
    out: PathBuf,
}

impl Crawl {
    /// Kills the client; its run directory.
    pub fn kill(mut self) -> PathBuf {
        self.child.0.kill().expect("the client is there");
        self.child.0.wait().expect("it ends");
        self.out
    }

    /// Waits for the end; the summary and the model.
    pub fn end(self) -> (Value, Model) {
        self.end_within(PATIENCE)
    }

    /// The same, with another patience.
    pub fn end_within(mut self, patience: Duration) -> (Value, Model) {
        let code = wait(&mut self.child.0, patience);
        let (mut out, mut err) = (String::new(), String::new());
        self.child.0.stdout.take().expect("an output").read_to_string(&mut out).expect("text");
        self.child.0.stderr.take().expect("an output").read_to_string(&mut err).expect("text");
        assert!(matches!(code, Some(0 | 5)), "{code:?} {err}{out}");
        let summary: Value = serde_json::from_str(&out).expect("a summary");
        let seeds_left = summary["seeds_left"].as_array().is_some_and(|left| !left.is_empty());
        let given_up = summary["failed"].as_u64() > Some(0) || seeds_left;
        assert_eq!(code == Some(5), given_up, "{err}{out}");
        (summary, model(&self.out))
    }
}
