//! A crawl in a process of its own, which can be killed: the test starts itself again as that
//! process. And questions about processes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_runtime::settings::CrawlSettings;

use crate::real::run_with;

const SETTINGS: &str = "ARGIOPE_TEST_SETTINGS";
const DIRECTORY: &str = "ARGIOPE_TEST_DIRECTORY";
const BROWSER: &str = "ARGIOPE_TEST_BROWSER";
/// Far more than it ever takes; a test that fails should say so.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the crawl for which a test has started this process, if there is one. Prints how it ended
/// and how much memory it took.
pub fn is_the_other_process() -> bool {
    let Some(settings) = std::env::var_os(SETTINGS) else { return false };
    let settings: CrawlSettings = serde_json::from_str(settings.to_str().unwrap()).unwrap();
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let browser = std::env::var_os(BROWSER).map(PathBuf::from);
    // On lines of their own, whatever the test harness has printed before.
    match run_with(&settings, &directory, browser.as_deref(), |_| ()) {
        Ok(summary) => println!("\nended complete={}", summary.complete),
        Err(error) => println!("\nended {error}"),
    }
    println!("\npeak {}", peak_kilobytes());
    true
}

/// The most memory that this process ever had.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// The other process; it does not outlive the test, however that ends.
pub struct Other(Child);

impl Other {
    /// Starts it out of the named test, by way of a shell line that ends in `exec "$@"`.
    pub fn start(
        test: &str,
        settings: &CrawlSettings,
        directory: &Path,
        line: &str,
        browser: Option<&Path>,
    ) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", line, "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(SETTINGS, serde_json::to_string(settings).unwrap())
            .env(DIRECTORY, directory)
            .stdout(Stdio::piped());
        if let Some(browser) = browser {
            command.env(BROWSER, browser);
        }
        Self(command.spawn().unwrap())
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Kills it at once and waits until nothing that it started runs any more.
    pub fn kill_and_check(&mut self, profiles: &Path) {
        let mut processes = descendants(self.0.id());
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        let killed = Instant::now();
        loop {
            // One that was about to be started when we looked is found by its command line.
            processes.extend(processes_with(profiles));
            processes.retain(|pid| !has_ended(*pid));
            if processes.is_empty() {
                return;
            }
            assert!(killed.elapsed() < PATIENCE, "{processes:?} still run");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end; how the crawl ended and how much memory it took, in kilobytes.
    pub fn finish(mut self) -> (String, u64) {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let lines: Vec<String> = lines.collect();
        self.0.wait().unwrap();
        let said =
            |what: &str| lines.iter().find_map(|line| line.strip_prefix(what)).map(str::to_owned);
        let ended = said("ended ").unwrap_or_else(|| panic!("it says how it ended: {lines:?}"));
        (ended, said("peak ").unwrap().parse().unwrap())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // There is nothing to kill if it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn processes() -> Vec<u32> {
    let names = std::fs::read_dir("/proc").unwrap().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn command_line(pid: u32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())
        .into_owned()
}

/// The processes whose command line names a directory, but for this one.
pub fn processes_with(directory: &Path) -> BTreeSet<u32> {
    let text = directory.to_str().unwrap();
    let holds = |pid: &u32| *pid != std::process::id() && command_line(*pid).contains(text);
    processes().into_iter().filter(holds).collect()
}

/// The main processes of the browsers whose profile is in a directory.
pub fn browsers_in(directory: &Path) -> Vec<u32> {
    let itself = |pid: &u32| {
        let line = command_line(*pid);
        line.contains("--remote-debugging-pipe") && !line.contains("--type=")
    };
    processes_with(directory).into_iter().filter(itself).collect()
}

/// All processes that a process started, and theirs.
fn descendants(of: u32) -> BTreeSet<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let parents: Vec<(u32, u32)> =
        processes().into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = BTreeSet::new();
    let mut open = vec![of];
    while let Some(pid) = open.pop() {
        let children = parents.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child);
        open.extend(children.filter(|child| found.insert(*child)));
    }
    found
}

/// Whether a process is gone, or dead and not yet waited for by its parent.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ")
}

/// Kills a process; says whether there was one.
pub fn kill(pid: u32) -> bool {
    Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success()
}
