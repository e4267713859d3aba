//! `argiope man`: the manual in roff, one page after another for each command.

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::Cli;
use argiope::failure::CommandFailure;
use argiope::output;

/// Prints the manual.
pub fn run() -> Result<(), CommandFailure> {
    let mut command = Cli::command();
    // Gives subcommands their full names.
    command.build();
    let mut manual = Vec::new();
    pages(&command, "argiope", &mut manual)
        .map_err(|error| CommandFailure::Failed(format!("cannot write the manual: {error}")))?;
    output::print_bytes(&manual)
}

fn pages(command: &Command, title: &str, manual: &mut Vec<u8>) -> std::io::Result<()> {
    Man::new(command.clone()).title(title).render(manual)?;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        pages(below, &format!("{title}-{}", below.get_name()), manual)?;
    }
    Ok(())
}
