//! How a command can fail, and the exit code that each way ends in. The codes are documented in
//! `argiope --help`.

use std::io;
use std::process::ExitCode;

use crate::terminal;

/// Something went wrong that is not the user's doing.
pub const FAILED: u8 = 1;
/// The input is wrong; nothing was written.
pub const BAD_INPUT: u8 = 2;
/// Ctrl-C.
pub const INTERRUPTED: u8 = 3;
/// A limit was reached before everything was done.
pub const LIMIT: u8 = 4;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum CommandFailure {
    /// The input is wrong, in words for the person who gave it.
    Input(String),
    /// Something else failed, in words.
    Failed(String),
    /// The command did what it could and has said so; only the code is left to give.
    Ended(u8),
    /// Nobody reads the output any more (`argiope … | head`), which is no mistake.
    NoReader,
}

impl CommandFailure {
    /// What a failed write to standard output means.
    pub fn of_output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NoReader,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

/// Says what went wrong, in one line, and gives the code to end with.
pub fn exit_code(outcome: Result<(), CommandFailure>) -> ExitCode {
    let (message, code) = match outcome {
        Ok(()) | Err(CommandFailure::NoReader) => return ExitCode::SUCCESS,
        Err(CommandFailure::Ended(code)) => return ExitCode::from(code),
        Err(CommandFailure::Input(message)) => (message, BAD_INPUT),
        Err(CommandFailure::Failed(message)) => (message, FAILED),
    };
    terminal::message(&message);
    ExitCode::from(code)
}
