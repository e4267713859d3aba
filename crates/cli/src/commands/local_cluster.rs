//! `argiope local-cluster`: controllers and crawlers as processes of this machine, for one command.

use std::path::PathBuf;
use std::process::Command;

use argiope::failure::CommandFailure;
use argiope::logging::LogArgs;
use argiope::login;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, own_executable};

const AFTER_HELP: &str = "\
Examples:
  argiope local-cluster --controllers 3 --crawlers 2 -- crawl --demo --out ring-run
  argiope local-cluster -- status

The command after `--` is crawl, status or attach; `--cluster` with the addresses of the \
controllers is added to it. With --data the controllers keep their states, and the next call \
continues from there.

The exit code is that of the command.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct LocalClusterArgs {
    /// Start N controllers
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    controllers: u32,
    /// Start M crawlers with one tab each
    #[arg(long, value_name = "M", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    crawlers: u32,
    /// Keep the controllers' states in DIR [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Show the log lines of controllers and crawlers
    #[arg(long)]
    verbose: bool,
    /// Run this command with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Starts the cluster, runs the command, and ends the cluster.
pub fn run(args: &LocalClusterArgs, log: LogArgs) -> Result<(), CommandFailure> {
    let name = args.command.first().map_or("", String::as_str);
    if !["crawl", "status", "attach"].contains(&name) {
        return Err(CommandFailure::Input(format!(
            "{name:?} does not run on a cluster; use crawl, status or attach"
        )));
    }
    let (data, temporary) = match &args.data {
        Some(data) => (data.clone(), None),
        None => {
            let directory = TempDir::new()?;
            (directory.0.clone(), Some(directory))
        }
    };
    let program = own_executable()?;
    let options = ClusterOptions {
        log: args.verbose.then_some(log.log_format),
        ..ClusterOptions::new(&program)
    };
    let mut cluster = ClusterProcesses::start(&data, args.controllers as usize, options)?;
    for _ in 0..args.crawlers {
        cluster.add_crawler()?;
    }
    cluster.wait_for_crawlers(args.crawlers)?;
    // Other users see the arguments of a process, but not its environment.
    let mut arguments = args.command.clone();
    let login = login::take_from(&mut arguments);
    let status = Command::new(&program)
        .args(&arguments)
        .args(["--cluster", &cluster.addresses.join(",")])
        .envs(login.map(|login| (login::VARIABLE, login)))
        .status()
        .map_err(|error| CommandFailure::Failed(format!("cannot start the command: {error}")))?;
    drop(cluster);
    drop(temporary);
    match status.code() {
        Some(0) => Ok(()),
        code => {
            Err(CommandFailure::Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
    }
}
