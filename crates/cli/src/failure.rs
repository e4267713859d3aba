//! How a command can fail, and the exit codes, which `argiope --help` documents.

use std::io;
use std::process::ExitCode;

use argiope_runtime::store::StoreError;

use crate::terminal;

/// The command failed.
pub const FAILED: u8 = 1;
/// The input is wrong, or the given directory cannot be used.
pub const BAD_INPUT: u8 = 2;
/// Ctrl-C.
pub const INTERRUPTED: u8 = 3;
/// A limit was reached before the work was complete.
pub const LIMIT: u8 = 4;

/// The crawl ended, but some actions were given up.
pub const GIVEN_UP: u8 = 5;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum CommandFailure {
    /// The input is wrong; the text says what and how to correct it.
    Input(String),
    /// Something else failed; the text says what.
    Failed(String),
    /// The command has printed its result and ends with this code.
    Ended(u8),
    /// The reader of the output has closed it (`argiope … | head`), which is no failure.
    OutputClosed,
}

impl CommandFailure {
    /// Classifies a failed write to standard output.
    pub fn of_output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

/// Most errors of the store are about the directory that was given.
impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        use StoreError::{
            Damaged, DiskFull, HoldsRun, InUse, Io, NewerFact, NoRun, NotADirectory, NotAStore,
            Occupied, OtherVersion, ReadOnly, Stopped, Unfinished,
        };
        match error {
            Occupied(_)
            | HoldsRun(_)
            | NoRun(_)
            | Unfinished(_)
            | NotADirectory(_)
            | NotAStore(_)
            | OtherVersion { .. }
            | NewerFact(_)
            | InUse(_)
            | Io { .. } => Self::Input(error.to_string()),
            Damaged(_) | DiskFull(_) | Stopped | ReadOnly => Self::Failed(error.to_string()),
        }
    }
}

/// Prints a failure as one line and returns the exit code.
pub fn exit_code(outcome: Result<(), CommandFailure>) -> ExitCode {
    let (message, code) = match outcome {
        Ok(()) | Err(CommandFailure::OutputClosed) => return ExitCode::SUCCESS,
        Err(CommandFailure::Ended(code)) => return ExitCode::from(code),
        Err(CommandFailure::Input(message)) => (message, BAD_INPUT),
        Err(CommandFailure::Failed(message)) => (message, FAILED),
    };
    terminal::message(&message);
    ExitCode::from(code)
}
