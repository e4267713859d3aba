//! Standard output and files. A closed pipe is no failure, and files are written atomically.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::CommandFailure;

/// Prints text to standard output and flushes it for readers of a pipe.
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

/// Makes a directory for results. Commands call it before the work, so that a bad path fails early.
pub fn directory(path: &Path) -> Result<(), CommandFailure> {
    fs::create_dir_all(path).map_err(|error| {
        CommandFailure::Input(format!("cannot make the directory {}: {error}", path.display()))
    })
}

/// Writes a file under a temporary name, then renames it: readers never see half of it.
pub fn file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), CommandFailure> {
    let unfinished = path.with_extension("tmp");
    fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, path)).map_err(|error| {
        CommandFailure::Failed(format!("cannot write {}: {error}", path.display()))
    })
}
