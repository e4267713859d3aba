//! `argiope testbeds`: lists the test-beds, or explains one.

use argiope_sim::testbeds;

use crate::commands::describe::{explain, list};
use argiope::failure::CommandFailure;
use argiope::{names, output};

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope testbeds\n  argiope testbeds bebop-like")]
pub struct TestbedsArgs {
    /// Explain this test-bed: what is known of its original, and what is assumed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// Prints the list, or an explanation.
pub fn run(args: &TestbedsArgs) -> Result<(), CommandFailure> {
    let all = testbeds::ALL.iter();
    let Some(name) = &args.name else {
        return output::print(&list(all.map(|described| (described.name, described.summary))));
    };
    // A colon or a bracket begins a parameter.
    let family = |name: &str| name.split([':', '[']).next().unwrap_or_default().to_owned();
    match all.clone().find(|described| family(described.name) == family(name)) {
        Some(described) => {
            output::print(&explain(described.name, described.summary, described.help))
        }
        None => Err(CommandFailure::Input(names::unknown(
            "test-bed",
            name,
            all.map(|described| described.name),
        ))),
    }
}
