//! Tests on a disk that fails, or fills up, before any of its operations. Data that was not synced
//! may survive in full, partly or not at all. In each case the facts are a prefix of what was
//! appended, nothing acknowledged is missing, and the run can be resumed.

use std::io;
use std::sync::{Arc, Mutex, mpsc};

use argiope_controller::journal::Fact;
use argiope_controller::outcome::Offered;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use redb::{Database, StorageBackend};
use serde_json::json;

use super::*;

/// What the disk says once it is cut off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    Power,
    Full,
}

#[derive(Debug, Default)]
struct Disk {
    /// What is read back while the disk works.
    live: Vec<u8>,
    /// What was there at the last sync.
    synced: Vec<u8>,
    /// What has been done since.
    pending: Vec<Change>,
    operations: u64,
    cut: Option<(u64, Cut)>,
}

#[derive(Clone, Debug)]
enum Change {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl Change {
    fn apply(&self, image: &mut Vec<u8>) {
        match self {
            Change::Length(length) => image.resize(*length, 0),
            Change::Bytes(offset, bytes) => {
                let end = offset + bytes.len();
                image.resize(image.len().max(end), 0);
                image[*offset..end].copy_from_slice(bytes);
            }
        }
    }
}

impl Disk {
    fn operation(&mut self) -> io::Result<()> {
        self.operations += 1;
        match self.cut {
            Some((at, Cut::Power)) if self.operations > at => Err(io::Error::other("no power")),
            Some((at, Cut::Full)) if self.operations > at => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn change(&mut self, change: Change) -> io::Result<()> {
        self.operation()?;
        change.apply(&mut self.live);
        self.pending.push(change);
        Ok(())
    }

    /// What the disk holds after the power came back. The first survivor keeps nothing that was not
    /// synced, the second one everything, the others some of it, torn at sectors.
    fn image(&self, survivor: u64) -> Vec<u8> {
        let mut image = self.synced.clone();
        let mut chance = Chance::new(&[survivor]);
        for change in &self.pending {
            match (survivor, change) {
                (0, _) => {}
                (1, _) => change.apply(&mut image),
                (_, Change::Bytes(offset, bytes)) => {
                    for (index, sector) in bytes.chunks(512).enumerate() {
                        if chance.below(2) == 0 {
                            Change::Bytes(offset + index * 512, sector.to_vec()).apply(&mut image);
                        }
                    }
                }
                (_, Change::Length(_)) => {
                    if chance.below(2) == 0 {
                        change.apply(&mut image);
                    }
                }
            }
        }
        image
    }
}

#[derive(Clone, Debug, Default)]
struct Backend(Arc<Mutex<Disk>>);

impl Backend {
    fn cut_at(operation: u64, cut: Cut) -> Self {
        Self(Arc::new(Mutex::new(Disk { cut: Some((operation, cut)), ..Disk::default() })))
    }

    fn holding(image: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Disk { live: image.clone(), synced: image, ..Disk::default() })))
    }

    /// What the disk holds after the power came back.
    fn image(&self, survivor: u64) -> Vec<u8> {
        self.0.lock().unwrap().image(survivor)
    }

    fn database(&self) -> Result<Database, StoreError> {
        builder()
            .create_with_backend(self.clone())
            .map_err(|error| StoreError::database(Path::new("disk"), error))
    }

    fn create(&self) -> Result<Store, StoreError> {
        let (database, path) = (self.database()?, PathBuf::from("disk"));
        let meta = meta::begin(&database, &path, &json!({ "seed": 1 }))?;
        Ok(Store { path, database: Arc::new(database), meta, writable: true })
    }

    fn open(&self) -> Result<Store, StoreError> {
        let (database, path) = (self.database()?, PathBuf::from("disk"));
        let meta = meta::check(&database, &path)?;
        Ok(Store { path, database: Arc::new(database), meta, writable: true })
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().live.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.0.lock().unwrap();
        let bytes = disk.live.get(offset as usize..offset as usize + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.lock().unwrap().change(Change::Length(length as usize))
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().change(Change::Bytes(offset as usize, bytes.to_vec()))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        disk.operation()?;
        let pending = std::mem::take(&mut disk.pending);
        pending.iter().for_each(|change| change.apply(&mut disk.synced));
        Ok(())
    }
}

/// A small crawl: as many batches as here, three of four with a new state and its page.
const BATCHES: u64 = 12;

fn key(number: u64) -> StateKey {
    StateKey(u128::from(number) << 90 | 7)
}

fn source(number: u64) -> Vec<u8> {
    // Not to be compressed away, and large enough for the file to grow.
    let mut chance = Chance::new(&[number]);
    (0..9000 * number).map(|_| chance.below(256) as u8).collect()
}

fn batch(number: u64) -> Batch {
    let action = ActionSignature(number);
    let offered = |action| Offered { action, once: false };
    let records = vec![
        Fact::State {
            key: key(number),
            offers: (0..9).map(|more| ActionSignature(number + more)).map(offered).collect(),
            route: None,
            content: None,
        },
        Fact::Transition { from: key(0), action, to: key(number), notes: vec![] },
    ];
    let mut batch = Batch::of_facts(records);
    if !number.is_multiple_of(4) {
        let found =
            FoundPage { raw: number.into(), source: source(number), ..FoundPage::default() };
        batch.states.push((key(number), found));
    }
    batch
}

/// Appends batch after batch, each once the previous one is acknowledged. Gives how many were, and
/// why it ended early.
fn crawl(store: &Store, from: u64) -> (u64, Option<StoreError>) {
    let (tell, told) = mpsc::channel();
    let writer = store.writer(move |progress| tell.send(progress).unwrap()).unwrap();
    for number in from..BATCHES {
        let ticket = writer.append(batch(number)).unwrap();
        match told.recv().unwrap() {
            WriterEvent::Durable(durable) => assert_eq!(durable, ticket),
            WriterEvent::Failed(error) => {
                assert!(matches!(writer.append(batch(number)), Err(StoreError::Stopped)));
                assert!(matches!(writer.close(), Err(StoreError::Stopped)));
                assert!(told.recv().is_err(), "a failure is reported once");
                return (number, Some(error));
            }
        }
    }
    writer.close().unwrap();
    (BATCHES, None)
}

/// Checks that a store holds the first batches wholly and nothing else; gives how many.
fn check(store: &Store) -> u64 {
    let records: Vec<Fact> = store.facts().unwrap().map(Result::unwrap).collect();
    let batches = records.len() as u64 / 2;
    let expected: Vec<Batch> = (0..batches).map(batch).collect();
    assert_eq!(records, expected.iter().flat_map(|batch| batch.facts.clone()).collect::<Vec<_>>());
    let states: usize = expected.iter().map(|batch| batch.states.len()).sum();
    assert_eq!(store.states().unwrap().count(), states);
    for (key, found) in expected.iter().flat_map(|batch| &batch.states) {
        let detail = store.detail(*key).unwrap().expect("a state is there with its record");
        assert_eq!(detail.raw, found.raw);
        assert_eq!(store.blob(detail.source).unwrap().as_ref(), Some(&found.source));
        assert_eq!(store.page(detail.page).unwrap().as_ref(), Some(&found.page));
    }
    batches
}

/// Runs the crawl on a disk that fails after some operations, then on what survives. Gives whether
/// the crawl came to its end before.
fn survive(operation: u64, cut: Cut, survivors: std::ops::Range<u64>) -> bool {
    let disk = Backend::cut_at(operation, cut);
    let (acknowledged, complete) = match disk.create() {
        Ok(store) => {
            let (acknowledged, failure) = crawl(&store, 0);
            let as_expected = matches!(
                (&failure, cut),
                (None, _)
                    | (Some(StoreError::DiskFull(_)), Cut::Full)
                    | (Some(StoreError::Io { .. }), Cut::Power)
            );
            assert!(as_expected, "operation {operation}: {failure:?}");
            (Some(acknowledged), failure.is_none())
        }
        Err(_) => (None, false),
    };
    for survivor in survivors {
        let image = disk.image(survivor);
        let place = format!("operation {operation}, survivor {survivor}");
        if acknowledged.is_none() {
            // The run had not begun: it can begin now, unless it began unacknowledged.
            // `run_dir::claim` empties a file whose first bytes were never written.
            let cut_short = image.iter().take(8).all(|byte| *byte == 0);
            let again = Backend::holding(if cut_short { Vec::new() } else { image }).create();
            assert!(matches!(again, Ok(_) | Err(StoreError::HoldsRun(_))), "{place}: {again:?}");
            continue;
        }
        let store =
            Backend::holding(image).open().unwrap_or_else(|error| panic!("{place}: {error}"));
        let there = check(&store);
        assert!(Some(there) >= acknowledged, "{place}: {there} of {acknowledged:?}");
        assert_eq!(crawl(&store, there).0, BATCHES, "{place}");
        assert_eq!(check(&store), BATCHES, "{place}");
    }
    complete
}

#[test]
fn power_cut_before_any_operation_loses_nothing_acknowledged() {
    let end = (0..).find(|operation| survive(*operation, Cut::Power, 0..5)).unwrap();
    assert!(end > 100, "{end} operations are too few to mean anything");
}

#[test]
fn disk_full_at_any_operation_ends_the_run_and_it_goes_on_once_there_is_room() {
    // The machine did not go down, so that everything written is there.
    let end = (0..).find(|operation| survive(*operation, Cut::Full, 1..2)).unwrap();
    assert!(end > 100, "{end} operations are too few to mean anything");
}

#[test]
fn records_acknowledged_before_a_failure_can_be_read_in_the_same_process() {
    let whole = Backend::default();
    crawl(&whole.create().unwrap(), 0);
    let half = whole.0.lock().unwrap().operations / 2;
    let store = Backend::cut_at(half, Cut::Full).create().unwrap();
    let (acknowledged, failure) = crawl(&store, 0);
    assert!(failure.is_some() && acknowledged > 0);
    let mut read = Vec::new();
    for record in store.facts().unwrap() {
        read.push(record.unwrap());
    }
    assert_eq!(read.len() as u64, acknowledged * 2);
}
