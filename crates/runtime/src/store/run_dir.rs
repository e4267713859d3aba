//! Claims a directory for a new run, and finds the database of an existing one. Nothing here
//! deletes a file. The only file that it overwrites is a database whose creation was cut short by a
//! kill.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::FILE;
use super::error::StoreError;
use crate::private;

/// Creates and locks the database file of a new run, and its directory if that is missing. Only
/// their owner may read them. A directory of the user keeps its mode; the file in it is private.
pub(super) fn claim(directory: &Path, path: &Path) -> Result<File, StoreError> {
    match fs::metadata(directory) {
        Ok(found) if !found.is_dir() => {
            return Err(StoreError::NotADirectory(directory.to_owned()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private::create_dir_all(directory).map_err(|error| StoreError::io(directory, error))?;
        }
        Err(error) => return Err(StoreError::io(directory, error)),
    }
    let mut alone = true;
    for entry in fs::read_dir(directory).map_err(|error| StoreError::io(directory, error))? {
        alone &= entry.map_err(|error| StoreError::io(directory, error))?.file_name() == FILE;
    }
    let there = fs::exists(path).map_err(|error| StoreError::io(path, error))?;
    if !alone && !there {
        return Err(StoreError::Occupied(directory.to_owned()));
    }
    let file = private::file().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|error| StoreError::io(path, error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => return Err(StoreError::io(path, error)),
    }
    if alone && cut_short(path, &file)? {
        file.set_len(0).map_err(|error| StoreError::io(path, error))?;
    }
    Ok(file)
}

/// The database of the run in a directory.
pub(super) fn find(directory: &Path) -> Result<PathBuf, StoreError> {
    let path = directory.join(FILE);
    match File::open(&path) {
        Ok(file) if cut_short(&path, &file)? => Err(StoreError::Unfinished(directory.to_owned())),
        Ok(_) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::NoRun(directory.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(StoreError::NotADirectory(directory.to_owned()))
        }
        Err(error) => Err(StoreError::io(&path, error)),
    }
}

/// Whether a kill cut the creation of the database short. The database library writes the first
/// bytes of the file last, so they are zero until then.
fn cut_short(path: &Path, mut file: &File) -> Result<bool, StoreError> {
    let mut first = Vec::with_capacity(16);
    file.by_ref().take(8).read_to_end(&mut first).map_err(|error| StoreError::io(path, error))?;
    Ok(first.iter().all(|byte| *byte == 0))
}

/// Syncs the directory and its parent, so that the names are as durable as the file's content.
pub(super) fn persist(directory: &Path) -> Result<(), StoreError> {
    let sync = |path: &Path| -> Result<(), StoreError> {
        File::open(path)
            .and_then(|opened| opened.sync_all())
            .map_err(|error| StoreError::io(path, error))
    };
    sync(directory)?;
    let full = fs::canonicalize(directory).map_err(|error| StoreError::io(directory, error))?;
    full.parent().map_or(Ok(()), sync)
}
