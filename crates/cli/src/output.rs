//! Standard output and files. A closed pipe is no failure, and files are written atomically.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use argiope_runtime::private;

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

/// The same for what an application showed: only the owner may read the file.
pub fn private_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), CommandFailure> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    // Left over from an export that was killed.
    let _ = fs::remove_file(&unfinished);
    let written = private::file().write(true).create_new(true).open(&unfinished);
    let written = written.and_then(|mut file| file.write_all(content.as_ref()));
    written.and_then(|()| fs::rename(&unfinished, path)).map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        CommandFailure::Failed(format!("cannot write {}: {error}", path.display()))
    })
}
