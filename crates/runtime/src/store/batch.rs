//! What is written together, and the one transaction that writes it. A batch is on disk wholly or not at
//! all; several waiting ones share a transaction, since what costs is the transaction's end.

use argiope_controller::record::Record;
use argiope_explore::id::StateKey;
use redb::{Database, ReadableTable, Table, WriteTransaction};

use super::detail::{ContentHash, FoundPage, StateDetail};
use super::packed::{encode, pack};
use super::{BLOBS, JOURNAL, KEPT, NAMED, STATES};

/// Things that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Appended to the journal in this order.
    pub records: Vec<Record>,
    /// States found, with what is known of them. A state told of again replaces what was known.
    pub states: Vec<(StateKey, FoundPage)>,
    /// Other bytes, each kept once under its [`ContentHash`].
    pub blobs: Vec<Vec<u8>>,
    /// Small things under a name, replacing what the name stood for.
    pub named: Vec<(String, Vec<u8>)>,
    /// What a controller of a ring keeps, appended in this order.
    pub kept: Vec<Vec<u8>>,
}

impl Batch {
    /// A batch of records alone.
    pub fn of_records(records: Vec<Record>) -> Self {
        Self { records, ..Self::default() }
    }

    /// About how many bytes it holds, without looking into each of its parts.
    pub(super) fn weight(&self) -> usize {
        let record = |record: &Record| match record {
            Record::State { actions, .. } => 64 + actions.len() * 16,
            _ => 128,
        };
        let found = |(_, found): &(StateKey, FoundPage)| {
            found.source.len()
                + found.page.nodes.len() * 256
                + found.offers.len() * 256
                + found.screenshot.as_ref().map_or(0, Vec::len)
        };
        self.records.iter().map(record).sum::<usize>()
            + self.states.iter().map(found).sum::<usize>()
            + self.blobs.iter().map(Vec::len).sum::<usize>()
            + self.named.iter().map(|(name, bytes)| name.len() + bytes.len()).sum::<usize>()
            + self.kept.iter().map(|bytes| 64 + bytes.len()).sum::<usize>()
    }
}

/// Writes the batches in order, in one transaction that is on disk when this returns.
pub(super) fn commit(database: &Database, batches: &[Batch]) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    write(&transaction, batches)?;
    Ok(transaction.commit()?)
}

/// Tables are opened only if something goes into them: opening one for writing is not free.
fn write(transaction: &WriteTransaction, batches: &[Batch]) -> Result<(), redb::Error> {
    if batches.iter().any(|batch| !batch.records.is_empty()) {
        let mut journal = transaction.open_table(JOURNAL)?;
        let next = journal.last()?.map_or(0, |(sequence, _)| sequence.value() + 1);
        for (sequence, record) in (next..).zip(batches.iter().flat_map(|batch| &batch.records)) {
            journal.insert(sequence, encode(record).as_slice())?;
        }
    }
    if batches.iter().any(|batch| !batch.kept.is_empty()) {
        let mut kept = transaction.open_table(KEPT)?;
        let next = kept.last()?.map_or(0, |(sequence, _)| sequence.value() + 1);
        for (sequence, bytes) in (next..).zip(batches.iter().flat_map(|batch| &batch.kept)) {
            kept.insert(sequence, bytes.as_slice())?;
        }
    }
    if batches.iter().any(|batch| !batch.states.is_empty() || !batch.blobs.is_empty()) {
        let mut states = transaction.open_table(STATES)?;
        let mut blobs = transaction.open_table(BLOBS)?;
        for (key, found) in batches.iter().flat_map(|batch| &batch.states) {
            let detail = keep(&mut blobs, found)?;
            states.insert(key.0, pack(&encode(&detail)).as_slice())?;
        }
        for bytes in batches.iter().flat_map(|batch| &batch.blobs) {
            keep_once(&mut blobs, bytes)?;
        }
    }
    if batches.iter().any(|batch| !batch.named.is_empty()) {
        let mut named = transaction.open_table(NAMED)?;
        for (name, bytes) in batches.iter().flat_map(|batch| &batch.named) {
            named.insert(name.as_bytes(), bytes.as_slice())?;
        }
    }
    Ok(())
}

/// Stores what a found state brings along, and says what is to be kept of the state itself.
fn keep(
    blobs: &mut Table<'_, u128, &'static [u8]>,
    found: &FoundPage,
) -> Result<StateDetail, redb::Error> {
    Ok(StateDetail {
        url: found.url.clone(),
        title: found.title.clone(),
        found_at: found.found_at,
        raw: found.raw,
        source: keep_once(blobs, &found.source)?,
        page: keep_once(blobs, &encode(&found.page))?,
        screenshot: match &found.screenshot {
            Some(picture) => Some(keep_once(blobs, picture)?),
            None => None,
        },
        offers: found.offers.clone(),
    })
}

/// Stores bytes unless they are there.
fn keep_once(
    blobs: &mut Table<'_, u128, &'static [u8]>,
    bytes: &[u8],
) -> Result<ContentHash, redb::Error> {
    let hash = ContentHash::of(bytes);
    if blobs.get(hash.0)?.is_none() {
        blobs.insert(hash.0, pack(bytes).as_slice())?;
    }
    Ok(hash)
}
