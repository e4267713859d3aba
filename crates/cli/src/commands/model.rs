//! `argiope model`: an application as a model file, to read, to change, or for another program.

use argiope::failure::CommandFailure;
use argiope::output;
use argiope::source::Source;

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  argiope model --testbed hypercube:3
  argiope model --testbed filetree > tree.json")]
pub struct ModelArgs {
    #[command(flatten)]
    source: Source,
}

/// Prints the model.
pub fn run(args: &ModelArgs) -> Result<(), CommandFailure> {
    let mut app = args.source.load()?;
    app.model.reset_cost = app.reset_cost;
    output::print(&app.model.to_json())
}
