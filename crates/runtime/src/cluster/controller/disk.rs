//! The disk of a controller: what is written, what is durable, and what waits for that.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::Arc;

use argiope_controller::journal::{ContentId, Fact};

use super::super::contents;
use super::super::protocol::{Blob, CrawlId};
use super::effects::Outgoing;
use crate::store::{Batch, ContentHash, KeptFact, Store, StoreError, StoreWriter, WriterEvent};

/// The most effects that wait for the disk, and the most bytes of their messages. A disk that is
/// stuck loses acknowledgements beyond that; their receivers ask again.
const OUTGOING: usize = 16_384;
const OUTGOING_BYTES: usize = 64 << 20;

/// The store and its writer.
pub struct ControllerDisk {
    pub store: Store,
    pub writer: StoreWriter,
    /// The last ticket that was given, and the last that is on disk.
    pub appended: u64,
    pub durable: u64,
    /// Effects that wait until a ticket is on disk, and the bytes of their messages.
    outgoing: VecDeque<(u64, Outgoing)>,
    outgoing_bytes: usize,
    /// Hashes of the facts that were written. Controllers send each other facts again whenever a
    /// range moves; a fact is written once.
    kept: BTreeMap<CrawlId, WrittenFacts>,
    hashing: FactHashing,
    /// Contents that are not on disk yet.
    recent: BTreeMap<ContentId, (u64, Arc<[u8]>)>,
}

impl ControllerDisk {
    /// Starts the writer of a store.
    pub fn open(
        store: Store,
        on_write: impl Fn(WriterEvent) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let writer = store.writer(on_write)?;
        Ok(Self {
            store,
            writer,
            appended: 0,
            durable: 0,
            outgoing: VecDeque::new(),
            outgoing_bytes: 0,
            kept: BTreeMap::new(),
            hashing: FactHashing::default(),
            recent: BTreeMap::new(),
        })
    }

    /// Whether everything that was appended is on disk.
    pub fn is_durable(&self) -> bool {
        self.appended <= self.durable
    }

    /// Everything up to this ticket is on disk.
    pub fn on_durable(&mut self, ticket: u64) {
        self.durable = ticket;
        self.recent.retain(|_, (written, _)| *written > ticket);
    }

    /// The next effect that waits for nothing any more.
    pub fn next_released(&mut self) -> Option<Outgoing> {
        let is_due = self.outgoing.front().is_some_and(|&(ticket, _)| ticket <= self.durable);
        let (_, outgoing) = if is_due { self.outgoing.pop_front()? } else { return None };
        self.outgoing_bytes -= outgoing.weight();
        Some(outgoing)
    }

    /// Whether no effect waits for the disk.
    pub fn holds_nothing(&self) -> bool {
        self.outgoing.is_empty()
    }

    /// Lets an effect wait until everything that was appended is on disk. Returns whether there is
    /// room; what is not a message always has some.
    pub fn hold(&mut self, outgoing: Outgoing) -> bool {
        let weight = outgoing.weight();
        let is_full =
            self.outgoing.len() >= OUTGOING || self.outgoing_bytes + weight > OUTGOING_BYTES;
        if is_full && outgoing.is_retried() {
            return false;
        }
        self.outgoing_bytes += weight;
        self.outgoing.push_back((self.appended, outgoing));
        true
    }

    /// Writes a batch. If the writer has stopped, it has reported why, and the controller ends.
    pub fn append(&mut self, batch: Batch) {
        if let Ok(ticket) = self.writer.append(batch) {
            self.appended = ticket;
        }
    }

    /// Writes the facts about a crawl that were not written before.
    pub fn keep(&mut self, crawl: CrawlId, facts: impl IntoIterator<Item = Fact>) {
        let written = self.kept.entry(crawl).or_default();
        let encoded = facts.into_iter().map(|fact| KeptFact::new(crawl.0, &fact));
        let kept: Vec<KeptFact> =
            encoded.filter(|fact| written.insert(self.hashing.hash(fact))).collect();
        if !kept.is_empty() {
            self.append(Batch { kept, ..Batch::default() });
        }
    }

    /// The facts about a crawl that are on disk.
    pub fn kept_of(&self, crawl: CrawlId) -> Result<Vec<Fact>, StoreError> {
        let mut facts = Vec::new();
        self.store.kept(|id, fact| {
            if id == crawl.0 {
                facts.push(fact);
            }
        })?;
        Ok(facts)
    }

    /// These facts about a crawl were written by an earlier process.
    pub fn recall_kept(&mut self, crawl: CrawlId, facts: &[Fact]) {
        let encoded = facts.iter().map(|fact| KeptFact::new(crawl.0, fact));
        self.kept.insert(crawl, encoded.map(|fact| self.hashing.hash(&fact)).collect());
    }

    /// A crawl has ended: no more facts are written.
    pub fn forget_kept(&mut self, crawl: CrawlId) {
        self.kept.remove(&crawl);
    }

    /// Writes a named value.
    pub fn name(&mut self, name: &str, bytes: Vec<u8>) {
        self.append(Batch { named: vec![(name.to_owned(), bytes)], ..Batch::default() });
    }

    /// The bytes of a content, if they are here.
    pub fn blob(&self, content: ContentId) -> Option<Blob> {
        let bytes = match self.recent.get(&content) {
            Some((_, bytes)) => bytes.to_vec(),
            None => self.store.blob(ContentHash(content.0)).ok()??,
        };
        Some(Blob { content, bytes })
    }

    /// Reads some contents later, without the dispatcher.
    pub fn reader(&self, contents: &[ContentId]) -> ContentReader {
        let recent = contents.iter().filter_map(|content| {
            self.recent.get(content).map(|(_, bytes)| (*content, bytes.clone()))
        });
        ContentReader { store: self.store.reader(), recent: recent.collect() }
    }

    /// Keeps contents, if they are what their names say.
    pub fn keep_blobs(&mut self, blobs: Vec<Blob>) {
        let new = blobs.into_iter().filter(|blob| {
            contents::is_true(blob)
                && !self.recent.contains_key(&blob.content)
                && !self.store.has_blob(ContentHash(blob.content.0)).unwrap_or(false)
        });
        let new: Vec<Blob> = new.collect();
        if new.is_empty() {
            return;
        }
        self.append(Batch {
            blobs: new.iter().map(|blob| blob.bytes.clone()).collect(),
            ..Batch::default()
        });
        for blob in new {
            self.recent.insert(blob.content, (self.appended, blob.bytes.into()));
        }
    }
}

/// The hashes of facts that were written.
type WrittenFacts = HashSet<u128, BuildHasherDefault<FirstBytes>>;

/// Hashes what is a hash already: its first bytes.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let first = bytes.first_chunk().copied().expect("a hash has 16 bytes");
        self.0 = u64::from_le_bytes(first);
    }
}

/// Reads contents for an answer that is sent piece by piece.
pub struct ContentReader {
    store: Store,
    /// Those that were not on disk when the answer began.
    recent: BTreeMap<ContentId, Arc<[u8]>>,
}

impl ContentReader {
    /// The bytes of a content, if they are here.
    pub fn blob(&self, content: ContentId) -> Option<Blob> {
        let bytes = match self.recent.get(&content) {
            Some(bytes) => bytes.to_vec(),
            None => self.store.blob(ContentHash(content.0)).ok()??,
        };
        Some(Blob { content, bytes })
    }
}

/// Hashes facts. The hash is this process's own, so that no sender can make facts that share one.
#[derive(Default)]
struct FactHashing {
    low: RandomState,
    high: RandomState,
}

impl FactHashing {
    fn hash(&self, fact: &KeptFact) -> u128 {
        let half = |half: &RandomState| u128::from(half.hash_one(fact.bytes()));
        half(&self.high) << 64 | half(&self.low)
    }
}

#[cfg(test)]
mod tests {
    use argiope_controller::peer::message::{Envelope, PeerMessage};
    use argiope_ring::Key;

    use super::*;

    #[test]
    fn a_stuck_disk_holds_a_bounded_number_of_messages_back() {
        let directory = std::env::temp_dir().join(format!("argiope-held-{}", std::process::id()));
        let store = Store::create(&directory, &serde_json::json!({})).unwrap();
        let mut disk = ControllerDisk::open(store, |_| {}).unwrap();
        // A ticket that the disk never reaches.
        disk.appended = 1;
        let send = |facts: usize| {
            let facts =
                vec![Fact::PlainLink { action: argiope_explore::id::ActionSignature(1) }; facts];
            let envelope = Envelope::new(None, PeerMessage::Replicate(1, facts));
            Outgoing::Send(CrawlId(1), Key(1), Box::new(envelope))
        };
        let held = (0..1_000).take_while(|_| disk.hold(send(1_000))).count();
        assert!((200..400).contains(&held), "{held} messages of a quarter of a megabyte");
        assert!(disk.hold(Outgoing::Left(CrawlId(1))), "it has no sender that retries");
        while disk.hold(send(0)) {}
        assert!(disk.outgoing.len() <= OUTGOING && disk.outgoing_bytes <= OUTGOING_BYTES + 256);
        assert!(disk.next_released().is_none());
        disk.on_durable(1);
        assert!(std::iter::from_fn(|| disk.next_released()).count() > held);
        assert_eq!((disk.outgoing_bytes, disk.holds_nothing()), (0, true));
        drop(disk);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
