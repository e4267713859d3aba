//! What is written once, when a run begins: the version and format, the run's identity and its
//! settings. It is text, so that any other version of argiope can name what it found.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use redb::{Database, ReadableDatabase};

use super::error::StoreError;
use super::{BLOBS, FACTS, FORMAT, META, NAMED, STATES};

/// What was written when the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The version of the argiope that began it.
    pub argiope: String,
    /// The run's identity, given to no other run.
    pub run: u128,
    /// The crawl's settings, as they were given.
    pub settings: serde_json::Value,
}

/// Writes the first transaction, which makes a run of an empty database.
pub(super) fn begin(
    database: &Database,
    path: &Path,
    settings: &serde_json::Value,
) -> Result<Meta, StoreError> {
    let meta = Meta {
        argiope: env!("CARGO_PKG_VERSION").to_owned(),
        run: identity(),
        settings: settings.clone(),
    };
    let write = || -> Result<bool, redb::Error> {
        let transaction = database.begin_write()?;
        if transaction.list_tables()?.next().is_some() {
            transaction.abort()?;
            return Ok(false);
        }
        {
            let mut table = transaction.open_table(META)?;
            table.insert(b"format".as_slice(), FORMAT.to_string().as_bytes())?;
            table.insert(b"argiope".as_slice(), meta.argiope.as_bytes())?;
            table.insert(b"run".as_slice(), format!("{:032x}", meta.run).as_bytes())?;
            table.insert(b"settings".as_slice(), settings.to_string().as_bytes())?;
        }
        // All tables are there from the start, so that a reader need not ask.
        transaction.open_table(FACTS)?;
        transaction.open_table(STATES)?;
        transaction.open_table(BLOBS)?;
        transaction.open_table(NAMED)?;
        transaction.commit()?;
        Ok(true)
    };
    if write().map_err(|error| StoreError::database(path, error))? {
        return Ok(meta);
    }
    // Distinguish a run from a foreign database.
    check(database, path)?;
    Err(StoreError::HoldsRun(path.parent().map_or_else(PathBuf::new, Path::to_owned)))
}

/// Reads what was written when the run began. Refuses every format but the present one.
pub(super) fn check(database: &Database, path: &Path) -> Result<Meta, StoreError> {
    let transaction = database.begin_read().map_err(|error| StoreError::database(path, error))?;
    let table = match transaction.open_table(META) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => {
            let any = transaction
                .list_tables()
                .map_err(|error| StoreError::database(path, error))?
                .next();
            return Err(match any {
                Some(_) => StoreError::NotAStore(path.to_owned()),
                None => {
                    StoreError::Unfinished(path.parent().map_or_else(PathBuf::new, Path::to_owned))
                }
            });
        }
        Err(redb::TableError::Storage(error)) => return Err(StoreError::database(path, error)),
        Err(_) => return Err(StoreError::NotAStore(path.to_owned())),
    };
    let text = |name: &str| -> Result<String, StoreError> {
        let value =
            table.get(name.as_bytes()).map_err(|error| StoreError::database(path, error))?;
        let value = value.ok_or_else(|| StoreError::NotAStore(path.to_owned()))?;
        String::from_utf8(value.value().to_vec())
            .map_err(|_| StoreError::Damaged(format!("its {name} is not text")))
    };
    let (format, argiope) = (text("format")?, text("argiope")?);
    if format != FORMAT.to_string() {
        return Err(StoreError::OtherVersion { path: path.to_owned(), argiope, format });
    }
    let run = u128::from_str_radix(&text("run")?, 16)
        .map_err(|_| StoreError::Damaged("the run's identity is not a number".to_owned()))?;
    let settings = serde_json::from_str(&text("settings")?)
        .map_err(|error| StoreError::Damaged(format!("the settings cannot be read: {error}")))?;
    Ok(Meta { argiope, run, settings })
}

/// A random number: the standard library seeds its hashers randomly.
fn identity() -> u128 {
    let now = SystemTime::now();
    let half = || u128::from(RandomState::new().hash_one((now, std::process::id())));
    half() << 64 | half()
}
