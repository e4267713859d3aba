//! The browser's processes: started in a group of their own, watched, and ended together.
//!
//! When argiope dies, however it dies, its browser must end. Three mechanisms ensure it:
//! - The browser ends by itself when its protocol pipe is closed, unless it hangs.
//! - A guard, a shell that leads the process group, waits for the end of a pipe whose other end
//!   only argiope holds, then kills the group. Unlike the kernel's parent-death signal, this
//!   reaches through wrapper scripts and does not depend on the thread that started the browser.
//! - The next argiope sweeps what is left (see [`crate::sweep`]).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use crate::procfs;

/// How much of the browser's standard error is kept for error messages, in bytes.
const KEPT_STDERR: usize = 4096;
/// Names of sockets are short: a browser whose temporary directory has a longer name does not
/// start.
const LONGEST_TEMPORARY: usize = 60;
/// The size of the pipe from the browser: the largest that the kernel allows by default.
const PIPE_SIZE: usize = 1 << 20;
/// How often to check whether killed processes are gone, and how long to wait between two checks.
const CHECKS: u32 = 200;
const POLL: Duration = Duration::from_millis(5);

/// A running browser: a guard, the browser itself, and all the processes that it starts.
#[derive(Debug)]
pub struct BrowserProcess {
    guard: Guard,
    browser: Child,
    group: Pid,
    /// Never written to: the guard waits for its end.
    _alive: PipeWriter,
    stderr: StderrTail,
    reading: JoinHandle<()>,
}

impl BrowserProcess {
    /// Starts the browser; returns it with argiope's ends of the protocol pipes. Needs a tokio
    /// runtime, where a task reads its standard error.
    pub fn start(
        program: &Path,
        arguments: &[OsString],
        profile: &Path,
    ) -> io::Result<(Self, PipeReader, PipeWriter)> {
        let (waits, alive) = io::pipe()?;
        let guard = Command::new("/bin/sh")
            .args(["-c", "read -r _; kill -KILL 0"])
            .stdin(waits)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&guard);
        let guard = Guard(guard);
        let (browser_reads, to_browser) = io::pipe()?;
        let (from_browser, browser_writes) = io::pipe()?;
        // Page sources are long: a larger pipe passes them in fewer turns. A refusal does no harm.
        let _ = rustix::pipe::fcntl_setpipe_size(&from_browser, PIPE_SIZE);
        let (stderr, browser_stderr) = io::pipe()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(browser_stderr)
            .process_group(group.as_raw_nonzero().get());
        // Variables of argiope are not for the browser: one may hold a password.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"ARGIOPE_") {
                command.env_remove(name);
            }
        }
        if profile.as_os_str().len() <= LONGEST_TEMPORARY {
            // What a killed browser leaves in its temporary directory is removed with the profile.
            command.env("TMPDIR", profile);
        }
        let mappings = vec![
            FdMapping { parent_fd: browser_reads.into(), child_fd: 3 },
            FdMapping { parent_fd: browser_writes.into(), child_fd: 4 },
        ];
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        let stderr = pipe::Receiver::from_owned_fd(stderr.into())?;
        let browser = command.spawn()?;
        let tail = StderrTail::default();
        let reading = tokio::spawn(keep_tail(tail.clone(), stderr));
        let process = Self { guard, browser, group, _alive: alive, stderr: tail, reading };
        Ok((process, from_browser, to_browser))
    }

    /// The exit status of the browser, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.browser.try_wait().ok().flatten()
    }

    /// Waits until the browser has closed its standard error, but not longer than the given time.
    pub async fn wait_for_stderr(&mut self, limit: Duration) {
        // After a failure the tail is what was read so far.
        let _ = tokio::time::timeout(limit, &mut self.reading).await;
    }

    /// The end of its standard error, fit to print.
    pub fn stderr_tail(&self) -> String {
        let mut bytes = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(bytes.make_contiguous()).into_owned();
        let printable = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
        text.trim().chars().map(printable).collect()
    }

    /// The memory of all its processes together, in bytes, without what they share.
    pub fn memory(&self) -> u64 {
        self.members().into_iter().filter_map(procfs::memory).sum()
    }

    /// The ids of all its processes, including the guard.
    pub fn members(&self) -> Vec<u32> {
        let group = self.group.as_raw_nonzero().get().cast_unsigned();
        let of_group =
            |pid: &u32| procfs::stat(*pid).is_some_and(|stat| stat.group == group && !stat.zombie);
        procfs::processes().into_iter().filter(of_group).collect()
    }
}

impl Drop for BrowserProcess {
    /// Kills all processes and waits until they are gone, for about a second. A process in the
    /// middle of a disk operation cannot be killed; the sweep of a later start removes what it
    /// leaves.
    fn drop(&mut self) {
        // Fails if all processes have ended already.
        let _ = kill_process_group(self.group, Signal::KILL);
        let _ = self.guard.0.wait();
        let _ = self.browser.wait();
        for _ in 0..CHECKS {
            if test_kill_process_group(self.group).is_err() || self.members().is_empty() {
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// The process of the guard. It ends even if the browser does not start.
#[derive(Debug)]
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The end of the browser's standard error.
type StderrTail = Arc<Mutex<VecDeque<u8>>>;

async fn keep_tail(tail: StderrTail, mut stderr: pipe::Receiver) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let mut bytes = tail.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(&buffer[..length]);
        let surplus = bytes.len().saturating_sub(KEPT_STDERR);
        bytes.drain(..surplus);
    }
}
