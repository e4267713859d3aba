//! The errors of a store, each as one sentence for a person. Translates the database's errors,
//! which do not leave the store.

use std::io;
use std::path::{Path, PathBuf};

use super::FORMAT;

/// Why a store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory holds other files, and no run.
    #[error("{} exists, is not empty and holds no run; nothing was touched", .0.display())]
    Occupied(PathBuf),
    /// The directory holds a run already.
    #[error("{} holds a run already; use --resume to go on with it, or another directory", .0.display())]
    HoldsRun(PathBuf),
    /// The directory holds no run.
    #[error("{} holds no run", .0.display())]
    NoRun(PathBuf),
    /// A process died while it created the run.
    #[error("the run in {} was not created completely; start it again there", .0.display())]
    Unfinished(PathBuf),
    /// The path is that of a file.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The file is not a store.
    #[error("{} is not a store of argiope", .0.display())]
    NotAStore(PathBuf),
    /// Written by an argiope that writes another format.
    #[error(
        "{} was written by argiope {argiope} in store format {format}, but this argiope reads format \
         {FORMAT}: export it with the argiope that wrote it ('argiope export DIR'), or crawl again",
        .path.display()
    )]
    OtherVersion {
        /// The store.
        path: PathBuf,
        /// Which argiope wrote it.
        argiope: String,
        /// The format it wrote.
        format: String,
    },
    /// A fact of a kind or version that this argiope does not know.
    #[error("{0}")]
    NewerFact(String),
    /// Another process holds it.
    #[error("{} is in use by another argiope", .0.display())]
    InUse(PathBuf),
    /// Its content contradicts itself.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The disk or a quota is full.
    #[error("the disk is full: {0}; what was stored so far is intact")]
    DiskFull(io::Error),
    /// Any other error of the file system.
    #[error("{}: {error}", .path.display())]
    Io {
        /// What it was about.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// An earlier write failed, and was reported then.
    #[error("the store takes nothing more, since an earlier write failed")]
    Stopped,
    /// The store was opened for reading.
    #[error("the store was opened for reading only")]
    ReadOnly,
}

impl StoreError {
    /// What the file system said about a path.
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            // A quota or a limit on the size of files acts as a full disk.
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::DiskFull(error),
            _ => Self::Io { path: path.to_owned(), error },
        }
    }

    /// What the database said about its file.
    pub(super) fn database(path: &Path, error: impl Into<redb::Error>) -> Self {
        use redb::Error;
        match error.into() {
            Error::DatabaseAlreadyOpen => Self::InUse(path.to_owned()),
            Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Self::NotAStore(path.to_owned())
            }
            Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Self::Damaged(format!("{} is too short", path.display()))
            }
            Error::Io(error) => Self::io(path, error),
            Error::PreviousIo => Self::Stopped,
            Error::UpgradeRequired(version) => Self::Damaged(format!(
                "{} has database file version {version}, which this argiope cannot read",
                path.display()
            )),
            other => Self::Damaged(other.to_string()),
        }
    }
}
