//! `argiope crawler`: browsers for a ring.

use std::path::PathBuf;

use argiope_browser::LaunchSettings;
use argiope_runtime::cluster::worker::{self, CrawlerPlan, WorkerError};
use argiope_runtime::settings::CrawlSettings;
use argiope_wire::Role;

use argiope::cluster::{Security, block_on, chance, leave_with_parent};
use argiope::failure::CommandFailure;
use argiope::{browser, interrupt, threads};

const AFTER_HELP: &str = "\
Two tabs for the ring that a controller on this machine is in:
  argiope crawler --controller 127.0.0.1:7401 --tabs 2

It dials the first of the controllers that answers and works for whatever is crawled there; it needs no open port \
itself. When that controller is gone it dials another one of the ring. SIGTERM or Ctrl-C lets it give back what it \
has under way and end.

Exit codes: 0 left in order, 1 no controller can be reached or the browser does not start, 2 bad input.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CrawlerArgs {
    /// Where controllers of the ring listen
    #[arg(long, value_name = "ADDR", value_delimiter = ',', required = true)]
    controller: Vec<String>,
    /// How many tabs work at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    tabs: Option<u32>,
    /// The browser [default: $ARGIOPE_BROWSER, then the first Chromium or Chrome on the path]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    #[command(flatten)]
    security: Security,
    /// Leave when standard input ends
    #[arg(long, hide = true)]
    with_parent: bool,
}

pub fn run(args: &CrawlerArgs) -> Result<(), CommandFailure> {
    // Also one that is told to leave while it starts leaves in order.
    let leave = interrupt::listen();
    let executable = browser::find(args.browser.as_deref())?;
    if args.with_parent {
        leave_with_parent(leave.clone());
    }
    let plan = CrawlerPlan {
        switch: args.security.switch(Role::Crawler, chance()?, None)?,
        controllers: args.controller.clone(),
        tabs: args.tabs.unwrap_or(threads::cores().clamp(1, 64) as u32),
        browser: LaunchSettings::new(executable, std::env::temp_dir()),
        browser_mb: CrawlSettings::new(String::new()).browser_mb,
        secret: format!("a{:032x}", chance()?),
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
