//! `argiope local-cluster`: a ring and its crawlers as processes of this machine, for as long as one command takes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use argiope_runtime::cluster::client::Client;
use argiope_wire::Role;

use crate::cluster::{Security, block_on, chance};
use crate::failure::Failure;
use crate::processes::{Folder, How, Processes, argiope};

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

pub fn run(args: &Args) -> Result<(), Failure> {
    let name = args.command.first().map_or("", String::as_str);
    if !["crawl", "status", "attach"].contains(&name) {
        return Err(Failure::Input(format!("{name:?} is no command for a ring: crawl, status or attach is")));
    }
    let (data, temporary) = match &args.data {
        Some(data) => (data.clone(), None),
        None => {
            let folder = Folder::new()?;
            (folder.0.clone(), Some(folder))
        }
    };
    let how = How { verbose: args.verbose, ..How::default() };
    let mut ring = Processes::start(&data, args.controllers as usize, how)?;
    for _ in 0..args.crawlers {
        ring.add_crawler()?;
    }
    wait_for_crawlers(&ring.addresses, args.crawlers)?;
    let ended = argiope(&[])?
        .args(&args.command)
        .args(["--cluster", &ring.addresses.join(",")])
        .status()
        .map_err(|error| Failure::Failed(format!("the command does not start: {error}")))?;
    drop(ring);
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
