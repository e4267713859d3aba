//! The `argiope-lab` command, which `argiope bench` starts. Each bench has its file in `commands`.

mod baseline;
mod commands;
mod machine;
mod parallel;

use std::process::ExitCode;

use argiope::failure::{self, CommandFailure};
use argiope::{arguments, interrupt, logging};
use tracing::Level;

use commands::LabArgs;

fn main() -> ExitCode {
    interrupt::install();
    // A panic is a bug and has been reported on standard error; it ends in a documented code too.
    match std::panic::catch_unwind(|| arguments::parse().and_then(run)) {
        Ok(outcome) => failure::exit_code(outcome),
        Err(_) => ExitCode::from(failure::FAILED),
    }
}

fn run(args: LabArgs) -> Result<(), CommandFailure> {
    logging::start(args.log, Level::WARN)?;
    commands::run(args.bench)
}
