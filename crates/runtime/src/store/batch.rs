//! A batch of changes, and the transaction that writes it. A batch is on disk wholly or not at all.
//! Waiting batches share a transaction, because the commit is what costs.

use argiope_controller::journal::Fact;
use argiope_explore::id::StateKey;
use redb::{Database, ReadableTable, Table, TableDefinition, WriteTransaction};

use super::detail::{ContentHash, FoundPage, StateDetail};
use super::packed::{encode, pack};
use super::{BLOBS, FACTS, KEPT, NAMED, STATES};

/// Changes that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Appended to the journal in this order.
    pub facts: Vec<Fact>,
    /// States found, with their pages. A state that comes again replaces its page.
    pub states: Vec<(StateKey, FoundPage)>,
    /// Other bytes, each kept once under its [`ContentHash`].
    pub blobs: Vec<Vec<u8>>,
    /// Small values by name, replacing earlier ones.
    pub named: Vec<(String, Vec<u8>)>,
    /// What a controller of a cluster keeps, and of which crawl; appended in this order.
    pub kept: Vec<KeptFact>,
}

/// A fact and its crawl, as they are stored. The controller that keeps a fact needs the bytes too,
/// so the fact is encoded once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFact(Vec<u8>);

impl KeptFact {
    /// Encodes a fact about a crawl.
    pub fn new(crawl: u64, fact: &Fact) -> Self {
        Self(encode(&(crawl, fact)))
    }

    /// The stored bytes, which are equal for equal facts about the same crawl.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Batch {
    /// A batch of facts alone.
    pub fn of_facts(facts: Vec<Fact>) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Roughly how many bytes it holds.
    pub(super) fn weight(&self) -> usize {
        let weight = |fact: &Fact| match fact {
            Fact::State { offers, route, .. } => {
                64 + offers.len() * 16 + route.as_ref().map_or(0, |route| route.len() * 48)
            }
            Fact::Parts { parts, .. } => 64 + parts.parts.len() * 16 + parts.actions.len() * 32,
            _ => 128,
        };
        let found = |(_, found): &(StateKey, FoundPage)| {
            found.source.len()
                + found.page.nodes.len() * 256
                + found.offers.len() * 256
                + found.unperformed.listed.len() * 128
                + found.screenshot.as_ref().map_or(0, Vec::len)
        };
        self.facts.iter().map(weight).sum::<usize>()
            + self.states.iter().map(found).sum::<usize>()
            + self.blobs.iter().map(Vec::len).sum::<usize>()
            + self.named.iter().map(|(name, bytes)| name.len() + bytes.len()).sum::<usize>()
            + self.kept.iter().map(|fact| fact.bytes().len()).sum::<usize>()
    }
}

/// Writes the batches in order, in one transaction that is on disk when this returns.
pub(super) fn commit(database: &Database, batches: &[Batch]) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    write(&transaction, batches)?;
    Ok(transaction.commit()?)
}

/// Opens only the tables that it writes to: opening a table for writing costs time.
fn write(transaction: &WriteTransaction, batches: &[Batch]) -> Result<(), redb::Error> {
    append(transaction, FACTS, batches.iter().flat_map(|batch| &batch.facts).map(encode))?;
    append(transaction, KEPT, batches.iter().flat_map(|batch| &batch.kept).map(KeptFact::bytes))?;
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

/// Appends encoded facts to one of the two journals.
fn append<T: AsRef<[u8]>>(
    transaction: &WriteTransaction,
    journal: TableDefinition<'_, u64, &'static [u8]>,
    facts: impl Iterator<Item = T>,
) -> Result<(), redb::Error> {
    let mut facts = facts.peekable();
    if facts.peek().is_some() {
        let mut journal = transaction.open_table(journal)?;
        let next = journal.last()?.map_or(0, |(sequence, _)| sequence.value() + 1);
        for (sequence, fact) in (next..).zip(facts) {
            journal.insert(sequence, fact.as_ref())?;
        }
    }
    Ok(())
}

/// Stores the blobs of a found state, and gives what is kept of the state itself.
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
        unperformed: found.unperformed.clone(),
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
