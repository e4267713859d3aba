//! `argiope testbeds`: what the test-beds say of themselves.

use argiope_sim::testbeds;

use crate::commands::describe::{explain, list};
use argiope::failure::CommandFailure;
use argiope::{names, output};

/// As typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope testbeds\n  argiope testbeds bebop-like")]
pub struct TestbedsArgs {
    /// Explain this test-bed: what is known of the application it imitates, and what is guessed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &TestbedsArgs) -> Result<(), CommandFailure> {
    let all = testbeds::ALL.iter();
    let Some(name) = &args.name else {
        return output::print(&list(all.map(|described| (described.name, described.summary))));
    };
    // What follows a colon or a bracket is a parameter.
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
