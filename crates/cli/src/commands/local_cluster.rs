//! `argiope local-cluster`: a ring and its crawlers as processes of this machine, for as long as one command takes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argiope_runtime::cluster::client::Client;
use argiope_wire::Role;

use crate::cluster::{Security, block_on, chance};
use crate::failure::Failure;

const AFTER_HELP: &str = "\
Examples:
  argiope local-cluster --controllers 3 --crawlers 2 -- crawl --demo --out ring-run

What comes after `--` is a command of argiope: crawl, status or attach; `--cluster` with the address of a controller is \
added to it. The controllers keep what they have in a directory for temporary files, or in --data DIR, where a second \
call goes on with it.

The exit code is the command's.";

/// So long the ring may take to come together.
const LONGEST_START: Duration = Duration::from_secs(60);

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// How many controllers
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    controllers: u32,
    /// How many crawlers, with one tab each
    #[arg(long, value_name = "M", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    crawlers: u32,
    /// Where the controllers keep what they have [default: a directory that is removed afterwards]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Show what controllers and crawlers say
    #[arg(long)]
    verbose: bool,
    /// The command, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Processes that end when this one does.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        // Their standard input ends: they leave in order. Whoever does not is ended.
        for child in &mut self.0 {
            drop(child.stdin.take());
        }
        for child in &mut self.0 {
            for _ in 0..100 {
                if matches!(child.try_wait(), Ok(Some(_))) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A directory that is removed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let name = args.command.first().map_or("", String::as_str);
    if !["crawl", "status", "attach"].contains(&name) {
        return Err(Failure::Input(format!("{name:?} is no command for a ring: crawl, status or attach is")));
    }
    let mut temporary = None;
    let data = match &args.data {
        Some(data) => data.clone(),
        None => {
            let path = std::env::temp_dir().join(format!("argiope-ring-{:016x}", chance()? as u64));
            temporary.insert(Temporary(path)).0.clone()
        }
    };
    let mut children = Children(Vec::new());
    let mut addresses: Vec<String> = Vec::new();
    for number in 1..=args.controllers {
        let mut arguments = vec!["controller".to_owned(), "--listen".to_owned(), "127.0.0.1:0".to_owned()];
        arguments.extend(["--data".to_owned(), shown(&data.join(number.to_string()))]);
        if let Some(first) = addresses.first() {
            arguments.extend(["--join".to_owned(), first.clone()]);
        }
        let mut child = start(&arguments, Stdio::piped(), args.verbose)?;
        let mut line = String::new();
        let heard = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        children.0.push(child);
        if !matches!(heard, Some(Ok(read)) if read > 0) {
            return Err(Failure::Failed("a controller does not start".to_owned()));
        }
        addresses.push(line.trim().to_owned());
    }
    for number in 0..args.crawlers as usize {
        let home = &addresses[number % addresses.len()];
        let others = addresses.iter().filter(|other| *other != home).cloned();
        let all: Vec<String> = std::iter::once(home.clone()).chain(others).collect();
        let arguments = ["crawler", "--tabs", "1", "--controller", &all.join(",")].map(str::to_owned);
        children.0.push(start(&arguments, Stdio::null(), args.verbose)?);
    }
    wait_for_crawlers(&addresses, args.crawlers)?;
    let ended = Command::new(program()?)
        .args(&args.command)
        .args(["--cluster", &addresses.join(",")])
        .status()
        .map_err(|error| Failure::Failed(format!("the command does not start: {error}")))?;
    drop(children);
    drop(temporary);
    match ended.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))),
    }
}

/// Waits until all controllers know each other, and all crawlers are there.
fn wait_for_crawlers(addresses: &[String], crawlers: u32) -> Result<(), Failure> {
    let security = Security { certs: None, cluster_name: "argiope".to_owned() };
    let switch = security.switch(Role::Client, chance()?, None)?;
    let until = Instant::now() + LONGEST_START;
    let ready = block_on(async {
        while Instant::now() < until {
            let status = match Client::dial(&switch, &addresses[0]).await {
                Ok(mut client) => client.status().await,
                Err(error) => Err(error),
            };
            if status.is_ok_and(|status| {
                status.members.len() == addresses.len()
                    && status.members.iter().map(|member| member.tabs).sum::<u32>() >= crawlers
            }) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        false
    })?;
    if ready { Ok(()) } else { Err(Failure::Failed("the ring does not come together".to_owned())) }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::Failed(format!("argiope does not find itself: {error}")))
}

fn start(arguments: &[String], out: Stdio, verbose: bool) -> Result<Child, Failure> {
    Command::new(program()?)
        .args(arguments)
        .arg("--with-parent")
        .stdin(Stdio::piped())
        .stdout(out)
        .stderr(if verbose { Stdio::inherit() } else { Stdio::null() })
        .spawn()
        .map_err(|error| Failure::Failed(format!("a process of the ring does not start: {error}")))
}
