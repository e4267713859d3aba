//! The `argiope` command. Each command has its file in `commands`; what they share with the lab
//! (where models come from, how failures end, how output is written) is in the library.

mod args;
mod commands;
mod duration;
mod metrics;
mod recorded;
mod state_names;

use std::process::ExitCode;

use argiope::failure::{self, CommandFailure};
use argiope::{arguments, interrupt, logging};
use tracing::Level;

use args::{Cli, Command};

fn main() -> ExitCode {
    interrupt::install();
    // A panic is a bug, which the panic hook has reported. It ends in a documented code too.
    let outcome = std::panic::catch_unwind(|| arguments::parse().and_then(run));
    match outcome {
        Ok(outcome) => failure::exit_code(outcome),
        Err(_) => ExitCode::from(failure::FAILED),
    }
}

fn run(cli: Cli) -> Result<(), CommandFailure> {
    logging::start(cli.log, log_level(&cli.command))?;
    match cli.command {
        Command::Crawl(args) => commands::crawl::run(&args),
        Command::Attach(args) => commands::crawl::attach(&args),
        Command::Controller(args) => commands::controller::run(&args),
        Command::Crawler(args) => commands::crawler::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::LocalCluster(args) => commands::local_cluster::run(&args, cli.log),
        Command::Certs(args) => commands::certs::run(&args),
        Command::States(args) => commands::states::run(&args),
        Command::Ledger(args) => commands::ledger::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Simulate(args) => commands::simulate::run(&args),
        Command::Bound(args) => commands::bound::run(&args),
        Command::Model(args) => commands::model::run(&args),
        Command::Bench(args) => commands::bench::run(&args, cli.log),
        Command::Identities(args) => commands::identities::run(&args),
        Command::Sites(args) => commands::sites::run(&args),
        Command::Strategies(args) => commands::strategies::run(&args),
        Command::Testbeds(args) => commands::testbeds::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man => commands::man::run(),
    }
}

/// The lowest level that is logged by default. Processes that serve a cluster report what happens
/// to it; the others have their own output.
fn log_level(command: &Command) -> Level {
    match command {
        Command::Controller(_) | Command::Crawler(_) | Command::LocalCluster(_) => Level::INFO,
        _ => Level::WARN,
    }
}
