//! `argiope bench`: becomes the lab, which is a separate program.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use argiope::failure::CommandFailure;
use argiope::logging::LogArgs;
use argiope::processes;

/// The lab's executable, which lies beside this one.
const LAB: &str = "argiope-lab";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct BenchArgs {
    /// Pass these to the lab; `argiope bench --help` lists them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Replaces this process by the lab. Returns only if that fails.
pub fn run(args: &BenchArgs, log: LogArgs) -> Result<(), CommandFailure> {
    let lab = processes::beside(LAB)?;
    let error = Command::new(&lab)
        .args(["--log-format", log.log_format.name()])
        .args(&args.arguments)
        .exec();
    Err(CommandFailure::Failed(format!(
        "cannot start the lab {}: {error}; build it with `cargo build --release -p argiope-lab`",
        lab.display()
    )))
}
