//! Reading a command line: help and version end the process, a mistake becomes one line.

use clap::Parser;
use clap::error::ErrorKind;

use crate::failure::CommandFailure;

/// Reads the command line. Prints help and version, and ends the process after them.
pub fn parse<A: Parser>() -> Result<A, CommandFailure> {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    A::try_parse().map_err(|error| match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => CommandFailure::Input(one_line(&error.render().to_string())),
    })
}

/// Reduces the parser's message to one line, without the usage.
fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(|line| !line.is_empty())
        .collect();
    let line = lines.join(" ").replace(" tip: ", "; ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_takes_one_line() {
        let message = "error: unexpected argument '--sed' found\n\n  tip: a similar argument exists: '--seed'\n\n\
                       Usage: argiope simulate\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(message),
            "unexpected argument '--sed' found; a similar argument exists: '--seed'"
        );
    }
}
