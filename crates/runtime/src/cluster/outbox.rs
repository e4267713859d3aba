//! Where the tabs of a crawler process put what they have to send, and what the controller that
//! the process is attached to has been sent already. Shared by the tabs of all threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argiope_controller::journal::ContentId;
use argiope_controller::peer::message::LeaseRef;
use argiope_controller::spent::{Spent, WriterId};
use argiope_explore::id::StateKey;
use tokio::sync::mpsc;

use super::protocol::{Blob, CrawlId, FromCrawler, ProcessSpent};

/// A handle on the outbox of the process.
#[derive(Clone)]
pub struct Outbox {
    outgoing: mpsc::Sender<FromCrawler>,
    /// The name under which controllers count what this process spends.
    writer: WriterId,
    /// A leaf in the lock order: nothing else is locked or awaited under it.
    sent: Arc<Mutex<Sent>>,
}

#[derive(Default)]
struct Sent {
    /// The contents that the present controller has.
    contents: BTreeSet<ContentId>,
    /// The states whose actions it was sent. If it forgets them, it sends a tab to look.
    offers: BTreeSet<(CrawlId, StateKey)>,
    /// The tasks that tabs have begun, by the tab's number.
    under_way: BTreeMap<u32, (CrawlId, LeaseRef)>,
    /// What this process has spent on each crawl.
    spent: BTreeMap<CrawlId, Spent>,
}

impl Outbox {
    /// An outbox that fills a queue.
    pub fn new(outgoing: mpsc::Sender<FromCrawler>, writer: WriterId) -> Self {
        Self { outgoing, writer, sent: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message; waits while the controller is behind.
    pub async fn send(&self, message: FromCrawler) {
        // The queue is closed only when the process ends.
        let _ = self.outgoing.send(message).await;
    }

    /// The present controller has this content: it sent it.
    pub fn note_sent(&self, content: ContentId) {
        self.lock().contents.insert(content);
    }

    /// The process is attached to another controller, which has nothing.
    pub fn forget_sent(&self) {
        let mut sent = self.lock();
        sent.contents.clear();
        sent.offers.clear();
    }

    /// Keeps of some contents those that the present controller lacks, and counts them as sent.
    pub fn unsent(&self, mut blobs: Vec<Blob>) -> Vec<Blob> {
        let mut sent = self.lock();
        blobs.retain(|blob| sent.contents.insert(blob.content));
        blobs
    }

    /// Counts the actions of a state as sent. Returns whether they were not sent before.
    pub fn note_offers(&self, crawl: CrawlId, state: StateKey) -> bool {
        self.lock().offers.insert((crawl, state))
    }

    /// A tab has spent something. Returns what the process has spent on the crawl.
    pub fn spend(&self, crawl: CrawlId, spent: Spent) -> ProcessSpent {
        let mut sent = self.lock();
        let total = sent.spent.entry(crawl).or_default();
        *total = total.plus(spent);
        (self.writer, *total)
    }

    /// A tab begins a task.
    pub fn begin(&self, tab: u32, crawl: CrawlId, task: LeaseRef) {
        self.lock().under_way.insert(tab, (crawl, task));
    }

    /// A tab has ended its task.
    pub fn end(&self, tab: u32) {
        self.lock().under_way.remove(&tab);
    }

    /// The tasks that tabs have begun and not ended.
    pub fn under_way(&self) -> Vec<(CrawlId, LeaseRef)> {
        self.lock().under_way.values().copied().collect()
    }
}
