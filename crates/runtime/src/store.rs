//! Everything a crawl must not forget, in one directory per run: an append-only journal of facts,
//! what is known of each state, page sources and snapshots (each once), and the settings.
//! Crash-safe: what was acknowledged is there after a kill, and what is there is a prefix of what
//! was appended. Knows neither what the facts mean nor what the settings say.

mod batch;
pub(crate) mod byte_buf;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
mod detail;
mod error;
mod meta;
mod overlay;
pub(crate) mod packed;
mod run_dir;
mod writer;

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use argiope_controller::journal::Fact;
use argiope_controller::journal::encoding::{EncodedFact, FactError};
use argiope_explore::id::StateKey;
use argiope_explore::page::Page;
use redb::{
    Builder, Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable,
    TableDefinition,
};

pub use batch::{Batch, KeptFact};
pub use detail::{
    ContentHash, FoundPage, OfferDetail, StateDetail, UnperformedAction, UnperformedActions,
    WhyUnperformed,
};
pub use error::StoreError;
pub use meta::Meta;
pub use writer::{StoreWriter, WriterEvent};

/// The version of the tables and of the encoding of [`StateDetail`] and [`Page`]. A change that old
/// bytes do not survive raises it. A fact has a version of its own, by its kind.
pub const FORMAT: u32 = 4;

/// The database in a run's directory.
pub const FILE: &str = "argiope.redb";

/// Measured: a quarter of it slows commits of states, four times as much gains nothing and costs 66
/// MB.
const CACHE_BYTES: usize = 16 << 20;

// Names are bytes: the database trusts that text is valid UTF-8, even in a damaged file.
const META: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("meta");
const FACTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("facts");
const STATES: TableDefinition<'_, u128, &[u8]> = TableDefinition::new("states");
const BLOBS: TableDefinition<'_, u128, &[u8]> = TableDefinition::new("blobs");
/// Facts by crawl; only in the store of a controller of a cluster.
const KEPT: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("kept-facts");
const NAMED: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("named");

/// The store of one run. Dropping it closes it; a [`StoreWriter`] keeps it open.
pub struct Store {
    path: PathBuf,
    database: Arc<Database>,
    meta: Meta,
    writable: bool,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Store {
    /// Begins a run in a directory that does not exist or is empty.
    pub fn create(directory: &Path, settings: &serde_json::Value) -> Result<Self, StoreError> {
        let path = directory.join(FILE);
        let file = run_dir::claim(directory, &path)?;
        let mut builder = builder();
        // A database that needs recovery has seen a commit, so there is a run: do not touch it.
        builder.set_repair_callback(redb::RepairSession::abort);
        let database = match builder.create_file(file) {
            Err(redb::DatabaseError::RepairAborted) => {
                return Err(StoreError::HoldsRun(directory.to_owned()));
            }
            other => other.map_err(|error| StoreError::database(&path, error))?,
        };
        let meta = meta::begin(&database, &path, settings)?;
        run_dir::persist(directory)?;
        Ok(Self { path, database: Arc::new(database), meta, writable: true })
    }

    /// Opens the run in a directory for writing. A run that cannot be read is not touched, so it
    /// is read first: the database changes some bytes as soon as it opens a file for writing.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let Self { path, meta, .. } = Self::read(directory)?;
        let database = guarded(|| builder().open(&path))
            .map_err(|error| StoreError::database(&path, error))?;
        Ok(Self { path, database: Arc::new(database), meta, writable: true })
    }

    /// Opens the run in a directory for reading, and changes no byte of it. Several readers share
    /// it, but not with a writer. A store of another format is refused.
    pub fn read(directory: &Path) -> Result<Self, StoreError> {
        let path = run_dir::find(directory)?;
        let file = File::open(&path).map_err(|error| StoreError::io(&path, error))?;
        let database = verified(file).map_err(|error| StoreError::database(&path, error))?;
        let meta = meta::check(&database, &path)?;
        Ok(Self { path, database: Arc::new(database), meta, writable: false })
    }

    /// The same store, for reading only, also on another thread.
    pub fn reader(&self) -> Self {
        let Self { path, database, meta, .. } = self;
        Self { path: path.clone(), database: database.clone(), meta: meta.clone(), writable: false }
    }

    /// What was written when the run began.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The facts in their order, read one by one.
    pub fn facts(
        &self,
    ) -> Result<impl Iterator<Item = Result<Fact, StoreError>> + use<>, StoreError> {
        let mut next = 0;
        self.entries(FACTS, move |sequence, bytes| {
            if sequence != next {
                return Err(StoreError::Damaged(format!("fact {next} is missing")));
            }
            next += 1;
            let what = format_args!("fact {sequence}");
            decode_fact(packed::decode(bytes, &what)?, &what)
        })
    }

    /// How many facts there are.
    pub fn length(&self) -> Result<u64, StoreError> {
        let journal = self.table(FACTS)?;
        let last = journal.last().map_err(|error| self.error(error))?;
        Ok(last.map_or(0, |(sequence, _)| sequence.value() + 1))
    }

    /// What is known of each state, in the order of their keys.
    pub fn states(
        &self,
    ) -> Result<impl Iterator<Item = Result<(StateKey, StateDetail), StoreError>> + use<>, StoreError>
    {
        self.entries(STATES, |key, bytes| {
            let key = StateKey(key);
            Ok((key, decode_detail(key, bytes)?))
        })
    }

    /// What is known of a state.
    pub fn detail(&self, key: StateKey) -> Result<Option<StateDetail>, StoreError> {
        self.get(STATES, key.0)?.map(|packed| decode_detail(key, &packed)).transpose()
    }

    /// The bytes of that name.
    pub fn blob(&self, hash: ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(packed) = self.get(BLOBS, hash.0)? else { return Ok(None) };
        let bytes = packed::unpack(&packed, packed::MOST_BYTES, &format!("blob {hash:?}"))?;
        if ContentHash::of(&bytes) != hash {
            return Err(StoreError::Damaged(format!(
                "blob {hash:?} has other bytes than its name says"
            )));
        }
        Ok(Some(bytes))
    }

    /// The snapshot of that name.
    pub fn page(&self, hash: ContentHash) -> Result<Option<Page>, StoreError> {
        let Some(bytes) = self.blob(hash)? else { return Ok(None) };
        packed::decode(&bytes, &format!("snapshot {hash:?}")).map(Some)
    }

    /// The facts that a controller of a cluster has kept, with the crawls that they are about, in
    /// the order in which they were appended.
    pub fn kept(&self, mut each: impl FnMut(u64, Fact)) -> Result<(), StoreError> {
        let kept = match self.begin()?.open_table(KEPT) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(()),
            other => other.map_err(|error| self.error(error))?,
        };
        for entry in kept.range::<u64>(..).map_err(|error| self.error(error))? {
            let (sequence, bytes) = entry.map_err(|error| self.error(error))?;
            let what = format!("kept fact {}", sequence.value());
            let (crawl, encoded): (u64, EncodedFact<'_>) = packed::decode(bytes.value(), &what)?;
            each(crawl, decode_fact(encoded, &what)?);
        }
        Ok(())
    }

    /// Whether there are bytes of that name.
    pub fn has_blob(&self, hash: ContentHash) -> Result<bool, StoreError> {
        let blobs = self.table(BLOBS)?;
        Ok(blobs.get(hash.0).map_err(|error| self.error(error))?.is_some())
    }

    /// All values whose names begin with this, in the order of the names.
    pub fn named_from(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let named = self.table(NAMED)?;
        let mut found = Vec::new();
        for entry in named.range(prefix.as_bytes()..).map_err(|error| self.error(error))? {
            let (name, bytes) = entry.map_err(|error| self.error(error))?;
            let Some(rest) = name.value().strip_prefix(prefix.as_bytes()) else { break };
            found.push((String::from_utf8_lossy(rest).into_owned(), bytes.value().to_vec()));
        }
        Ok(found)
    }

    /// The value of a name.
    pub fn named(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(NAMED, name.as_bytes())
    }

    /// Sets the value of a name.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.commit(&[Batch { named: vec![(name.to_owned(), bytes.to_vec())], ..Batch::default() }])
    }

    /// Writes batches in order, in one transaction that is on disk when this returns. A crawl uses
    /// a [`StoreWriter`] instead.
    pub fn commit(&self, batches: &[Batch]) -> Result<(), StoreError> {
        if !self.writable {
            return Err(StoreError::ReadOnly);
        }
        batch::commit(&self.database, batches).map_err(|error| self.error(error))
    }

    /// Starts the writing thread. It calls `report` after each commit; `report` must neither append
    /// nor wait.
    pub fn writer(
        &self,
        report: impl Fn(WriterEvent) + Send + 'static,
    ) -> Result<StoreWriter, StoreError> {
        if !self.writable {
            return Err(StoreError::ReadOnly);
        }
        StoreWriter::start(self.database.clone(), &self.path, Box::new(report))
    }

    fn begin(&self) -> Result<ReadTransaction, StoreError> {
        self.database.begin_read().map_err(|error| self.error(error))
    }

    fn table<K: redb::Key + 'static>(
        &self,
        table: TableDefinition<'_, K, &'static [u8]>,
    ) -> Result<ReadOnlyTable<K, &'static [u8]>, StoreError> {
        self.begin()?.open_table(table).map_err(|error| self.error(error))
    }

    /// The value of a key.
    fn get<K: redb::Key + 'static>(
        &self,
        table: TableDefinition<'_, K, &'static [u8]>,
        key: K::SelfType<'_>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.table(table)?.get(key).map_err(|error| self.error(error))?;
        Ok(value.map(|bytes| bytes.value().to_vec()))
    }

    /// A whole table, one entry at a time: half a million facts do not fit into the memory that
    /// argiope allows itself. Ends after the first error.
    fn entries<K, T, F>(
        &self,
        table: TableDefinition<'static, K, &'static [u8]>,
        mut read: F,
    ) -> Result<impl Iterator<Item = Result<T, StoreError>> + use<K, T, F>, StoreError>
    where
        K: for<'a> redb::Key<SelfType<'a> = K> + 'static,
        F: FnMut(K, &[u8]) -> Result<T, StoreError>,
    {
        let range = self.table(table)?.range_owned::<K>(..).map_err(|error| self.error(error))?;
        let path = self.path.clone();
        let mut has_failed = false;
        Ok(range.map_while(move |entry| {
            if has_failed {
                return None;
            }
            let entry = entry.map_err(|error| StoreError::database(&path, error));
            let read = entry.and_then(|(key, value)| read(key.value(), value.value()));
            has_failed = read.is_err();
            Some(read)
        }))
    }

    fn error(&self, error: impl Into<redb::Error>) -> StoreError {
        StoreError::database(&self.path, error)
    }
}

/// A fact out of its stored form.
fn decode_fact(encoded: EncodedFact<'_>, what: &dyn fmt::Display) -> Result<Fact, StoreError> {
    encoded.decode().map_err(|error| match error {
        FactError::Damaged(_) | FactError::Malformed { .. } => {
            StoreError::Damaged(format!("{what}: {error}"))
        }
        FactError::UnknownKind(_) | FactError::UnknownVersion { .. } => {
            StoreError::NewerFact(format!("{what}: {error}"))
        }
    })
}

/// A state's detail out of its stored bytes.
fn decode_detail(key: StateKey, packed: &[u8]) -> Result<StateDetail, StoreError> {
    let what = format!("state {key:?}");
    packed::decode(&packed::unpack(packed, packed::MOST_BYTES, &what)?, &what)
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Opens a database for reading and checks every page of it. The database checks itself only after
/// a crash. It trusts a file that was closed in order, and panics later if a byte has changed.
fn verified(file: File) -> Result<Database, redb::Error> {
    let recovered = Rc::new(Cell::new(false));
    let mut builder = builder();
    let seen = recovered.clone();
    builder.set_repair_callback(move |_| seen.set(true));
    guarded(|| {
        let mut database = builder.create_with_backend(overlay::Overlay::new(file)?)?;
        if !recovered.get() && !database.check_integrity()? {
            return Err(redb::DatabaseError::Storage(redb::StorageError::Corrupted(
                "a checksum is wrong".to_owned(),
            )));
        }
        Ok(database)
    })
}

/// Runs a database operation. The database asserts its invariants; a damaged file must end in an
/// error all the same.
fn guarded<T, E: Into<redb::Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, redb::Error> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(Into::into),
        Err(_) => Err(redb::Error::Corrupted("its parts contradict each other".to_owned())),
    }
}
