//! A cluster of processes on this machine. They end, and their directory is removed, when these
//! values are dropped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::Client;
use argiope_runtime::private;
use argiope_wire::Role;

use crate::cluster::{Security, block_on, random_number};
use crate::failure::CommandFailure;
use crate::logging::LogFormat;

/// The time that a process has to leave in order before it is killed.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that a cluster has to become ready.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// The time between two checks.
const STEP: Duration = Duration::from_millis(50);

/// A temporary directory, removed when it is dropped.
pub struct TempDir(pub PathBuf);

impl TempDir {
    /// Makes a new one, which only its owner may read.
    pub fn new() -> Result<Self, CommandFailure> {
        let path = std::env::temp_dir().join(format!("argiope-{:016x}", random_number()? as u64));
        private::create_dir(&path).map_err(|error| {
            CommandFailure::Failed(format!("cannot make the directory {}: {error}", path.display()))
        })?;
        Ok(Self(path))
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How the processes of a cluster are started.
#[derive(Clone, Copy)]
pub struct ClusterOptions<'a> {
    /// The executable of argiope.
    pub program: &'a Path,
    /// The command that starts each controller, with its arguments (such as `taskset -c 0`).
    pub wrapper: &'a [&'a str],
    /// Whether their standard error is shown, and in which format. Otherwise it is discarded.
    pub log: Option<LogFormat>,
    /// Whether controllers write a trace of their tasks, to `N.trace` beside their directory `N`.
    pub is_traced: bool,
}

impl<'a> ClusterOptions<'a> {
    /// Quiet, without a wrapper and without traces.
    pub fn new(program: &'a Path) -> Self {
        Self { program, wrapper: &[], log: None, is_traced: false }
    }

    /// The program, by way of a wrapper if there is one.
    fn command(&self, wrapper: &[&str]) -> Command {
        let mut words = wrapper.iter().map(Path::new).chain([self.program]);
        let mut command = Command::new(words.next().expect("the program is a word"));
        command.args(words);
        if let Some(format) = self.log {
            command.args(["--log-format", format.name()]);
        }
        command
    }
}

/// The controllers and crawlers of a cluster.
pub struct ClusterProcesses<'a> {
    options: ClusterOptions<'a>,
    /// The processes, controllers first.
    pub children: Vec<Child>,
    /// The addresses of the controllers.
    pub addresses: Vec<String>,
}

impl<'a> ClusterProcesses<'a> {
    /// Starts controllers, each with its own directory below `directory`.
    pub fn start(
        directory: &Path,
        controllers: usize,
        options: ClusterOptions<'a>,
    ) -> Result<Self, CommandFailure> {
        let mut cluster = Self { options, children: Vec::new(), addresses: Vec::new() };
        for number in 0..controllers {
            let mut command = options.command(options.wrapper);
            command
                .args(["controller", "--listen", "127.0.0.1:0", "--data"])
                .arg(directory.join(number.to_string()));
            if let Some(first) = cluster.addresses.first() {
                command.args(["--join", first]);
            }
            if options.is_traced {
                command.arg("--trace").arg(directory.join(format!("{number}.trace")));
            }
            let mut child = cluster.spawn(&mut command, Stdio::piped())?;
            let mut line = String::new();
            let heard = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
            cluster.children.push(child);
            if !matches!(heard, Some(Ok(read)) if read > 0) {
                return Err(CommandFailure::Failed(
                    "cannot start a controller: it printed no address".to_owned(),
                ));
            }
            cluster.addresses.push(line.trim().to_owned());
        }
        Ok(cluster)
    }

    /// Starts a crawler with one tab. Crawlers dial different controllers first.
    pub fn add_crawler(&mut self) -> Result<(), CommandFailure> {
        let mut order = self.addresses.clone();
        let before = self.children.len().saturating_sub(order.len());
        let first = before % order.len();
        order.rotate_left(first);
        let mut command = self.options.command(&[]);
        command.args(["crawler", "--tabs", "1", "--controller", &order.join(",")]);
        let child = self.spawn(&mut command, Stdio::null())?;
        self.children.push(child);
        Ok(())
    }

    /// Waits until all controllers know each other and this many crawlers are connected.
    pub fn wait_for_crawlers(&self, crawlers: u32) -> Result<(), CommandFailure> {
        let switch = client()?;
        let until = Instant::now() + START_TIMEOUT;
        let ready = block_on(async {
            while Instant::now() < until {
                let status =
                    async { Client::dial(&switch, &self.addresses[0]).await?.status().await };
                if status.await.is_ok_and(|status| {
                    status.members.len() == self.addresses.len()
                        && status.members.iter().map(|member| member.tabs).sum::<u32>() >= crawlers
                }) {
                    return true;
                }
                tokio::time::sleep(STEP).await;
            }
            false
        })?;
        if ready {
            Ok(())
        } else {
            Err(CommandFailure::Failed("the cluster is not ready after two minutes".to_owned()))
        }
    }

    /// Starts a process that leaves when its standard input ends, so also when this process is
    /// killed.
    fn spawn(&self, command: &mut Command, out: Stdio) -> Result<Child, CommandFailure> {
        let err = if self.options.log.is_some() { Stdio::inherit() } else { Stdio::null() };
        let child =
            command.arg("--with-parent").stdin(Stdio::piped()).stdout(out).stderr(err).spawn();
        child.map_err(|error| {
            CommandFailure::Failed(format!("cannot start {:?}: {error}", command.get_program()))
        })
    }
}

impl Drop for ClusterProcesses<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.stdin.take());
        }
        for child in &mut self.children {
            let mut waited = Duration::ZERO;
            while waited < LEAVE_TIMEOUT && !matches!(child.try_wait(), Ok(Some(_))) {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Prepares client connections to such a cluster.
pub fn client() -> Result<Switch, CommandFailure> {
    let security = Security { certs: None, cluster_name: "argiope".to_owned() };
    security.switch(Role::Client, random_number()?, None)
}

/// This executable.
pub fn own_executable() -> Result<PathBuf, CommandFailure> {
    std::env::current_exe().map_err(|error| {
        CommandFailure::Failed(format!("cannot locate its own executable: {error}"))
    })
}

/// The executable of this name in the directory of this one.
pub fn beside(name: &str) -> Result<PathBuf, CommandFailure> {
    Ok(own_executable()?.with_file_name(name))
}
