//! `argiope completions`: a completion script for a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use argiope::failure::CommandFailure;
use argiope::output;

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope completions bash > argiope.bash")]
pub struct CompletionsArgs {
    /// Print the script for this shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result<(), CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "argiope", &mut script);
    output::print_bytes(&script)
}
