//! `argiope identities`: lists the identities, or explains one.

use argiope_explore::identity;

use crate::args::identity_names;
use crate::commands::describe::{explain, list};
use argiope::failure::CommandFailure;
use argiope::output;

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope identities\n  argiope identities structure")]
pub struct IdentitiesArgs {
    /// Explain this identity
    #[arg(value_name = "NAME", value_parser = identity_names(), hide_possible_values = true)]
    name: Option<String>,
}

/// Prints the list, or an explanation.
pub fn run(args: &IdentitiesArgs) -> Result<(), CommandFailure> {
    match args.name.as_deref().and_then(identity::find) {
        Some(described) => {
            output::print(&explain(described.name, described.summary, described.help))
        }
        None => output::print(&list(identity::ALL.iter().map(|known| (known.name, known.summary)))),
    }
}
