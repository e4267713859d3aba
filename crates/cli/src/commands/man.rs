//! `argiope man`: the manual in roff, a page for each command, one after the other.

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::Cli;
use argiope::failure::CommandFailure;
use argiope::output;

pub fn run() -> Result<(), CommandFailure> {
    let mut command = Cli::command();
    // Gives the commands below their full names.
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
