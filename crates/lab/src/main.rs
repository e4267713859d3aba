//! The `argiope-lab` command, which `argiope bench` starts. Each bench has its file in `commands`.

mod commands;
mod machine;
mod parallel;

use std::process::ExitCode;

use argiope::failure;
use argiope::{arguments, interrupt};

fn main() -> ExitCode {
    interrupt::install();
    // A panic is a bug and has been reported on standard error; it ends in a documented code too.
    match std::panic::catch_unwind(|| arguments::parse().and_then(commands::run)) {
        Ok(outcome) => failure::exit_code(outcome),
        Err(_) => ExitCode::from(failure::FAILED),
    }
}
