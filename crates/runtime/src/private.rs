//! Files and directories that only their owner may read: pages of an application may hold what only
//! its users may see. They get their modes when they are created, whatever the umask is, so that
//! there is no moment in which others can open them. What exists already is left as it is.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

const DIRECTORY: u32 = 0o700;
const FILE: u32 = 0o600;

/// Creates a directory, which must not exist.
pub fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(DIRECTORY).create(path)
}

/// Creates a directory with all directories above it that are missing.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY).create(path)
}

/// How to create a file that only its owner may read.
pub fn file() -> OpenOptions {
    let mut options = File::options();
    options.mode(FILE);
    options
}
