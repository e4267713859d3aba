//! What a crawler process knows of the states of one crawl: names of contents and their bytes, as
//! the cluster has sent them or tabs have found them. Shared by the tabs of all threads.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use argiope_browser::agent::Raw;
use argiope_controller::journal::ContentId;
use argiope_explore::id::StateKey;
use argiope_explore::page::Page;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::contents;
use super::outbox::Outbox;
use super::protocol::{Blob, CrawlId, FromCrawler, SeenPage};
use crate::address::without_logins;
use crate::crawler::Details;
use crate::store::{FoundPage, OfferDetail};

/// How long a tab waits to hear which state a page is, before it looks itself.
const PAGE_ANSWER: Duration = Duration::from_millis(200);
/// How many bytes of contents are kept in memory; evicted contents are asked for again.
const MOST_BYTES: usize = 64 << 20;

/// The archive of one crawl.
pub struct Archive {
    id: CrawlId,
    /// Asks the cluster which state a page is. A star has no such question.
    questions: Option<Outbox>,
    /// A leaf in the lock order: nothing else is locked, compressed or awaited under it.
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Tabs that wait to hear which state a page is, by the page's raw hash.
    waiting: BTreeMap<u128, Vec<oneshot::Sender<Option<StateKey>>>>,
    names: BTreeMap<StateKey, ContentId>,
    blobs: BTreeMap<ContentId, Arc<[u8]>>,
    oldest: VecDeque<ContentId>,
    bytes: usize,
}

impl Kept {
    fn keep(&mut self, content: ContentId, bytes: Vec<u8>) {
        if self.blobs.contains_key(&content) {
            return;
        }
        self.bytes += bytes.len();
        self.oldest.push_back(content);
        self.blobs.insert(content, bytes.into());
        while self.bytes > MOST_BYTES && self.oldest.len() > 1 {
            let evicted = self.oldest.pop_front().and_then(|content| self.blobs.remove(&content));
            self.bytes -= evicted.map_or(0, |bytes| bytes.len());
        }
    }
}

impl Archive {
    /// An empty archive.
    pub fn new(id: CrawlId, questions: Option<Outbox>) -> Self {
        Self { id, questions, kept: Mutex::default() }
    }

    /// Everything in it can be fetched again, so that a panic elsewhere does no harm.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controller answers which state a page is; `None` if no crawler has looked at it.
    pub fn on_page(&self, raw: u128, page: Option<(StateKey, Blob)>) {
        let state = page.map(|(state, blob)| {
            self.name(state, blob.content);
            self.keep(blob);
            state
        });
        let waiting = self.lock().waiting.remove(&raw).unwrap_or_default();
        for tab in waiting {
            // A tab that waits no longer looks itself.
            let _ = tab.send(state);
        }
    }

    /// Keeps bytes that another process sent, if they are what their name says.
    pub fn keep(&self, blob: Blob) {
        if contents::is_true(&blob) {
            self.lock().keep(blob.content, blob.bytes);
        }
    }

    /// Keeps the content of a state; the first content wins.
    pub fn name(&self, key: StateKey, content: ContentId) {
        self.lock().names.entry(key).or_insert(content);
    }

    /// Keeps a page that a tab has looked at. Returns it if it is the first of its state.
    pub fn add_found(&self, state: StateKey, found: &FoundPage) -> Option<SeenPage> {
        if self.lock().names.contains_key(&state) {
            return None;
        }
        let blob = contents::wrap(found);
        let mut kept = self.lock();
        if kept.names.contains_key(&state) {
            return None;
        }
        kept.names.insert(state, blob.content);
        kept.keep(blob.content, blob.bytes);
        Some(SeenPage { raw: found.raw, state, content: blob.content })
    }

    /// The name of a state's content.
    pub fn name_of(&self, key: StateKey) -> Option<ContentId> {
        self.lock().names.get(&key).copied()
    }

    /// The bytes of a content, if they are here.
    pub fn blob(&self, content: ContentId) -> Option<Blob> {
        let bytes = self.lock().blobs.get(&content).cloned();
        bytes.map(|bytes| Blob { content, bytes: bytes.to_vec() })
    }

    fn found(&self, key: StateKey) -> Option<FoundPage> {
        let bytes = {
            let kept = self.lock();
            kept.blobs.get(kept.names.get(&key)?)?.clone()
        };
        contents::unwrap(&bytes)
    }
}

impl Details for Archive {
    fn offers(&self, key: StateKey) -> Option<(Raw, Vec<OfferDetail>)> {
        self.found(key).map(|found| (Raw(found.raw), found.offers))
    }

    fn page(&self, key: StateKey) -> Option<Page> {
        self.found(key).map(|found| found.page)
    }

    fn address(&self, key: StateKey) -> Option<String> {
        self.found(key).map(|found| without_logins(&found.url).into_owned())
    }

    fn which(&self, raw: Raw) -> Pin<Box<dyn Future<Output = Option<StateKey>> + '_>> {
        Box::pin(async move {
            let outbox = self.questions.as_ref()?;
            let (answer, answered) = oneshot::channel();
            let first = {
                let mut kept = self.lock();
                let waiting = kept.waiting.entry(raw.0).or_default();
                waiting.retain(|tab| !tab.is_closed());
                waiting.push(answer);
                waiting.len() == 1
            };
            if first {
                outbox.send(FromCrawler::Which(self.id, raw.0)).await;
            }
            let answer = timeout(PAGE_ANSWER, answered).await;
            if answer.is_err() {
                // The question was asked too long ago for any tab to wait for its answer.
                self.lock().waiting.remove(&raw.0);
            }
            answer.ok()?.ok()?
        })
    }
}

#[cfg(test)]
mod tests {
    use argiope_controller::spent::WriterId;

    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime")
            .block_on(work)
    }

    #[test]
    fn two_tabs_that_see_a_page_ask_once_and_both_are_answered() {
        let (outbox, mut outgo) = Outbox::new(WriterId(1));
        let archive = Archive::new(CrawlId(1), Some(outbox));
        let found = FoundPage { raw: 5, ..FoundPage::default() };
        let answers = block_on(async {
            let home = async {
                let asked = outgo.recv().await;
                assert_eq!(asked, Some(FromCrawler::Which(CrawlId(1), 5)));
                archive.on_page(5, Some((StateKey(7), contents::wrap(&found))));
            };
            tokio::join!(archive.which(Raw(5)), archive.which(Raw(5)), home)
        });
        assert_eq!(answers, (Some(StateKey(7)), Some(StateKey(7)), ()));
        assert!(outgo.try_recv().is_none(), "it was asked twice");
        assert_eq!(archive.name_of(StateKey(7)), Some(contents::wrap(&found).content));
    }

    #[test]
    fn a_page_without_an_answer_is_looked_at() {
        let (outbox, mut outgo) = Outbox::new(WriterId(1));
        let archive = Archive::new(CrawlId(1), Some(outbox));
        // First there is no answer; then the answer is that the page is unknown.
        assert_eq!(block_on(archive.which(Raw(5))), None);
        let answers = async {
            outgo.recv().await;
            outgo.recv().await;
            archive.on_page(5, None);
        };
        assert_eq!(block_on(async { tokio::join!(archive.which(Raw(5)), answers) }).0, None);
        // A star has no such question.
        assert_eq!(block_on(Archive::new(CrawlId(1), None).which(Raw(5))), None);
    }

    #[test]
    fn only_the_first_page_of_a_state_is_announced() {
        let archive = Archive::new(CrawlId(1), None);
        let found = |raw| FoundPage { raw, ..FoundPage::default() };
        let first = archive.add_found(StateKey(7), &found(5));
        assert_eq!(first.map(|seen| seen.raw), Some(5));
        assert_eq!(archive.add_found(StateKey(7), &found(6)), None);
    }
}
