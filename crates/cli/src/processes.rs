//! A ring of argiope's own processes on this machine, and what they need: all of it is gone when this is.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::Client;
use argiope_wire::Role;

use crate::cluster::{Security, block_on, chance};
use crate::failure::CommandFailure;
use crate::logging::LogFormat;

/// So long a process may take to leave in order before it is ended.
const LEAVES: Duration = Duration::from_secs(5);
/// So long a ring may take to come together.
const LONGEST_START: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(50);

/// A directory that is removed.
pub struct TempDir(pub PathBuf);

impl TempDir {
    /// A new one among the temporary files.
    pub fn new() -> Result<Self, CommandFailure> {
        let path = std::env::temp_dir().join(format!("argiope-ring-{:016x}", chance()? as u64));
        std::fs::create_dir(&path)
            .map_err(|error| CommandFailure::Failed(format!("{}: {error}", path.display())))?;
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
        let mut command = match wrapper.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(self.program);
                command
            }
            None => Command::new(self.program),
        };
        if let Some(format) = self.log {
            command.args(["--log-format", format.name()]);
        }
        command
    }
}

/// Controllers, and crawlers for them.
pub struct ClusterProcesses<'a> {
    options: ClusterOptions<'a>,
    /// The processes, controllers first.
    pub children: Vec<Child>,
    /// Where the controllers listen.
    pub addresses: Vec<String>,
}

impl<'a> ClusterProcesses<'a> {
    /// A ring of controllers, each with a directory of its own in this one.
    pub fn start(
        folder: &Path,
        controllers: usize,
        options: ClusterOptions<'a>,
    ) -> Result<Self, CommandFailure> {
        let mut ring = Self { options, children: Vec::new(), addresses: Vec::new() };
        for number in 0..controllers {
            let mut command = options.command(options.wrapper);
            command
                .args(["controller", "--listen", "127.0.0.1:0", "--data"])
                .arg(folder.join(number.to_string()));
            if let Some(first) = ring.addresses.first() {
                command.args(["--join", first]);
            }
            if options.is_traced {
                command.arg("--trace").arg(folder.join(format!("{number}.trace")));
            }
            let mut child = ring.spawn(&mut command, Stdio::piped())?;
            let mut line = String::new();
            let heard = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
            ring.children.push(child);
            if !matches!(heard, Some(Ok(read)) if read > 0) {
                return Err(CommandFailure::Failed("a controller does not start".to_owned()));
            }
            ring.addresses.push(line.trim().to_owned());
        }
        Ok(ring)
    }

    /// A crawler with a browser and one tab. Each has another controller for its home.
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

    /// Waits until all controllers know each other, and so many crawlers are there.
    pub fn wait_for_crawlers(&self, crawlers: u32) -> Result<(), CommandFailure> {
        let switch = client()?;
        let until = Instant::now() + LONGEST_START;
        let ready = block_on(async {
            while Instant::now() < until {
                let status = match Client::dial(&switch, &self.addresses[0]).await {
                    Ok(mut client) => client.status().await,
                    Err(error) => Err(error),
                };
                if status.is_ok_and(|status| {
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
            Err(CommandFailure::Failed("the ring does not come together".to_owned()))
        }
    }

    /// They leave when their standard input ends, that is when this process ends, however it does.
    fn spawn(&self, command: &mut Command, out: Stdio) -> Result<Child, CommandFailure> {
        let err = if self.options.log.is_some() { Stdio::inherit() } else { Stdio::null() };
        let child =
            command.arg("--with-parent").stdin(Stdio::piped()).stdout(out).stderr(err).spawn();
        child.map_err(|error| {
            CommandFailure::Failed(format!("{:?} does not start: {error}", command.get_program()))
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
            while waited < LEAVES && !matches!(child.try_wait(), Ok(Some(_))) {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What connections to such a ring need.
pub fn client() -> Result<Switch, CommandFailure> {
    let security = Security { certs: None, cluster_name: "argiope".to_owned() };
    security.switch(Role::Client, chance()?, None)
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
