//! `argiope crawler`: browsers for a cluster.

use std::path::PathBuf;

use argiope_browser::LaunchSettings;
use argiope_runtime::cluster::worker::{self, CrawlerPlan, WorkerError};
use argiope_runtime::settings::CrawlSettings;
use argiope_wire::Role;

use argiope::cluster::{Security, block_on, leave_with_parent, random_number};
use argiope::failure::CommandFailure;
use argiope::{browser, interrupt, threads};

const AFTER_HELP: &str = "\
Examples (two tabs for the cluster of a controller on this machine):
  argiope crawler --controller 127.0.0.1:7401 --tabs 2

It dials the controllers in order and works for the first that answers; it needs no open port. \
When it loses that controller, it dials another one of the cluster. On SIGTERM or Ctrl-C it \
returns its unfinished jobs and ends.

Exit codes: 0 left in order, 1 no controller answers or the browser does not start, 2 bad input.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CrawlerArgs {
    /// Work for the cluster with a controller at ADDR
    #[arg(long, value_name = "ADDR", value_delimiter = ',', required = true)]
    controller: Vec<String>,
    /// Work with N tabs [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    tabs: Option<u32>,
    /// Run this browser [default: $ARGIOPE_BROWSER, then a Chromium or Chrome on the path]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    #[command(flatten)]
    security: Security,
    /// Leave when standard input ends
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// Works until it is told to leave.
pub fn run(args: &CrawlerArgs) -> Result<(), CommandFailure> {
    // Listens first: a crawler also leaves in order while it starts.
    let leave = interrupt::listen();
    let executable = browser::find(args.browser.as_deref())?;
    if args.with_parent {
        leave_with_parent(leave.clone());
    }
    let plan = CrawlerPlan {
        switch: args.security.switch(Role::Crawler, random_number()?, None)?,
        controllers: args.controller.clone(),
        tabs: args.tabs.unwrap_or(threads::cores().clamp(1, 64) as u32),
        browser: LaunchSettings::new(executable, std::env::temp_dir()),
        browser_mb: CrawlSettings::new("").browser_mb,
        secret: format!("a{:032x}", random_number()?),
        leave,
    };
    let ended = block_on(worker::run(plan))?;
    ended.map_err(|error| match error {
        WorkerError::Refused(_) => CommandFailure::Input(error.to_string()),
        WorkerError::Launch(_)
        | WorkerError::NoThread(_)
        | WorkerError::Panicked
        | WorkerError::Alone(_) => CommandFailure::Failed(error.to_string()),
    })
}
