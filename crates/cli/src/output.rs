//! Standard output and files. A closed pipe is no mistake, and a file is there whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::CommandFailure;

/// Prints text to standard output and flushes it, so that a reader of a pipe sees it at once.
pub fn print(text: &str) -> Result<(), CommandFailure> {
    print_bytes(text.as_bytes())
}

/// Prints bytes to standard output.
pub fn print_bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(|error| CommandFailure::of_output(&error))
}

/// Makes a folder that results are to be written to. Done before the work, so that a bad path is
/// known before an hour has been spent.
pub fn folder(path: &Path) -> Result<(), CommandFailure> {
    fs::create_dir_all(path).map_err(|error| {
        CommandFailure::Input(format!("cannot make the folder {}: {error}", path.display()))
    })
}

/// Writes a file under another name first, so that nobody ever sees half of it.
pub fn file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), CommandFailure> {
    let unfinished = path.with_extension("part");
    fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, path)).map_err(|error| {
        CommandFailure::Failed(format!("cannot write {}: {error}", path.display()))
    })
}
