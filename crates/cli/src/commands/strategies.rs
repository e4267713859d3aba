//! `argiope strategies`: lists the strategies, or explains one.

use argiope_explore::strategies;

use crate::args::strategy_names;
use crate::commands::describe::{explain, list};
use argiope::failure::CommandFailure;
use argiope::output;

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope strategies\n  argiope strategies greedy")]
pub struct StrategiesArgs {
    /// Explain this strategy
    #[arg(value_name = "NAME", value_parser = strategy_names(&[]), hide_possible_values = true)]
    name: Option<String>,
}

/// Prints the list, or an explanation.
pub fn run(args: &StrategiesArgs) -> Result<(), CommandFailure> {
    match args.name.as_deref().and_then(strategies::find) {
        Some(described) => {
            output::print(&explain(described.name, described.summary, described.help))
        }
        None => output::print(&list(
            strategies::ALL.iter().map(|described| (described.name, described.summary)),
        )),
    }
}
