//! `argiope local-cluster`: a ring and its crawlers as processes of this machine, for as long as one command takes.

use std::path::PathBuf;
use std::process::Command;

use argiope::failure::CommandFailure;
use argiope::logging::LogArgs;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, own_executable};

const AFTER_HELP: &str = "\
Examples:
  argiope local-cluster --controllers 3 --crawlers 2 -- crawl --demo --out ring-run
  argiope local-cluster -- status

What comes after `--` is a command of argiope: crawl, status or attach; `--cluster` with the address of a controller is \
added to it. The controllers keep what they have in a directory for temporary files, or in --data DIR, where a second \
call goes on with it.

The exit code is the command's.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct LocalClusterArgs {
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

pub fn run(args: &LocalClusterArgs, log: LogArgs) -> Result<(), CommandFailure> {
    let name = args.command.first().map_or("", String::as_str);
    if !["crawl", "status", "attach"].contains(&name) {
        return Err(CommandFailure::Input(format!(
            "{name:?} is no command for a ring: crawl, status or attach is"
        )));
    }
    let (data, temporary) = match &args.data {
        Some(data) => (data.clone(), None),
        None => {
            let folder = TempDir::new()?;
            (folder.0.clone(), Some(folder))
        }
    };
    let program = own_executable()?;
    let options = ClusterOptions {
        log: args.verbose.then_some(log.log_format),
        ..ClusterOptions::new(&program)
    };
    let mut ring = ClusterProcesses::start(&data, args.controllers as usize, options)?;
    for _ in 0..args.crawlers {
        ring.add_crawler()?;
    }
    ring.wait_for_crawlers(args.crawlers)?;
    let ended = Command::new(&program)
        .args(&args.command)
        .args(["--cluster", &ring.addresses.join(",")])
        .status()
        .map_err(|error| CommandFailure::Failed(format!("the command does not start: {error}")))?;
    drop(ring);
    drop(temporary);
    match ended.code() {
        Some(0) => Ok(()),
        code => {
            Err(CommandFailure::Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
    }
}
