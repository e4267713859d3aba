//! Where the tabs of a crawler process put what they have to send, and what the controller that
//! the process is attached to has been sent already. Shared by the tabs of all threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argiope_controller::journal::ContentId;
use argiope_controller::peer::message::LeaseRef;
use argiope_controller::spent::{Spent, WriterId};
use argiope_explore::id::StateKey;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::protocol::{Blob, CrawlId, FromCrawler, ProcessSpent};

/// The most messages that wait to be sent, and the most bytes of their contents. A tab whose
/// message does not fit waits: the controller is behind.
const MESSAGES: usize = 1024;
const BYTES: u32 = 64 << 20;
/// The bytes that a message counts beside its contents.
const REST: usize = 1 << 10;

/// A handle on the outbox of the process.
#[derive(Clone)]
pub struct Outbox {
    outgoing: mpsc::Sender<(FromCrawler, OwnedSemaphorePermit)>,
    free_bytes: Arc<Semaphore>,
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
    /// An outbox, and the end where its messages come out.
    pub fn new(writer: WriterId) -> (Self, OutgoingMessages) {
        let (outgoing, outgo) = mpsc::channel(MESSAGES);
        let free_bytes = Arc::new(Semaphore::new(BYTES as usize));
        let outbox = Self { outgoing, free_bytes, writer, sent: Arc::default() };
        (outbox, OutgoingMessages(outgo))
    }

    fn lock(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message; waits while the controller is behind.
    pub async fn send(&self, message: FromCrawler) {
        let weight = u32::try_from(weight(&message)).unwrap_or(BYTES).min(BYTES);
        // The queue is closed only when the process ends.
        if let Ok(room) = self.free_bytes.clone().acquire_many_owned(weight).await {
            let _ = self.outgoing.send((message, room)).await;
        }
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

/// The end of the outbox where its messages come out.
pub struct OutgoingMessages(mpsc::Receiver<(FromCrawler, OwnedSemaphorePermit)>);

impl OutgoingMessages {
    /// The next message. Can be dropped while it waits.
    pub async fn recv(&mut self) -> Option<FromCrawler> {
        self.0.recv().await.map(|(message, _)| message)
    }

    /// The next message, if there is one.
    pub fn try_recv(&mut self) -> Option<FromCrawler> {
        self.0.try_recv().ok().map(|(message, _)| message)
    }
}

/// Roughly how many bytes a message holds.
fn weight(message: &FromCrawler) -> usize {
    let blobs = match message {
        FromCrawler::Report(.., blobs)
        | FromCrawler::Blobs(blobs)
        | FromCrawler::NodeReport(.., blobs) => blobs.as_slice(),
        FromCrawler::Tabs(_)
        | FromCrawler::Returned(..)
        | FromCrawler::Want(..)
        | FromCrawler::Page(..)
        | FromCrawler::Which(..)
        | FromCrawler::Probed(..)
        | FromCrawler::Volatile(..)
        | FromCrawler::Trouble(..)
        | FromCrawler::Leaving => &[],
    };
    REST + blobs.iter().map(|blob| blob.bytes.len()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn tabs_wait_when_a_controller_that_is_behind_would_cost_too_many_bytes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let (outbox, mut outgo) = Outbox::new(WriterId(1));
            let blob = Blob { content: ContentId(1), bytes: vec![7; 4 << 20] };
            let message = FromCrawler::Blobs(vec![blob]);
            let mut sent = 0;
            let pause = Duration::from_millis(50);
            while tokio::time::timeout(pause, outbox.send(message.clone())).await.is_ok() {
                sent += 1;
                assert!(sent < 100, "no tab waits");
            }
            assert_eq!(sent, 15, "64 MB without one message's share");
            assert!(outgo.recv().await == Some(message.clone()));
            // There is room for one again.
            outbox.send(message).await;
            assert_eq!(std::iter::from_fn(|| outgo.try_recv()).count(), 15);
            assert_eq!(outbox.free_bytes.available_permits(), BYTES as usize);
        });
    }
}
