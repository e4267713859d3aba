//! One tab of a crawler process: performs tasks, reports, and asks again when nobody answers. Whom it works for may change
//! at any time; what it has done and could not say is said to the next one. In a star it finds its tasks itself (`star`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use argiope_browser::agent::Raw;
use argiope_controller::job::Route;
use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::ContentId;
use argiope_controller::outcome::{JobFailure, Sighting};
use argiope_controller::peer::message::{LeaseRef, Task, TaskReport, ToCrawler};
use argiope_controller::spent::Spent;
use argiope_controller::star::{StarNode, ToNode};
use argiope_explore::id::StateKey;
use argiope_explore::page::Page;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::contents;
use super::protocol::{Blob, CrawlId, FromCrawler, SeenPage, TabTimes};
use super::worker::AttachedCrawl;
use crate::browsers::Browsers;
use crate::crawler::{Crawler, Details, JobReport};
use crate::store::{FoundPage, StateDetail};

mod star;

/// A tab that was told nothing for so long says again where it is; each time after twice as long.
const PATIENCE: Duration = Duration::from_secs(3);
/// It doubles no more often than this.
const MOST_DOUBLINGS: u32 = 4;
/// So long a tab waits to be told what states are like that it is to walk through.
const LIKE: Duration = Duration::from_secs(5);
/// Before another tab is wanted from a browser that gave none.
const PAUSE: Duration = Duration::from_secs(1);
/// So long a tab waits to be told which state a page is, before it looks itself.
const WHICH: Duration = Duration::from_millis(200);
/// So many bytes of contents are kept at hand; those beyond are asked for again.
const MOST_BYTES: usize = 64 << 20;

/// What states of a crawl are like, as far as this process was told or has found out.
pub struct Archive {
    id: CrawlId,
    /// To ask what others know of pages; in a star nobody is asked.
    asks: Option<Outbox>,
    kept: RefCell<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Who waits to be told which state a page is, by its raw hash.
    asked: BTreeMap<u128, Vec<oneshot::Sender<Option<StateKey>>>>,
    names: BTreeMap<StateKey, ContentId>,
    blobs: BTreeMap<ContentId, Rc<[u8]>>,
    oldest: VecDeque<ContentId>,
    bytes: usize,
}

impl Archive {
    /// An empty one.
    pub fn new(id: CrawlId, asks: Option<Outbox>) -> Self {
        Self { id, asks, kept: RefCell::default() }
    }

    /// Somebody said which state a page is, or that nobody knows.
    pub fn answered(&self, raw: u128, page: Option<(StateKey, Blob)>) {
        let state = page.map(|(state, blob)| {
            self.name(state, blob.content);
            self.keep(blob);
            state
        });
        let waiting = self.kept.borrow_mut().asked.remove(&raw).unwrap_or_default();
        for tab in waiting {
            // One that does not wait any more looks itself.
            let _ = tab.send(state);
        }
    }

    /// Takes in bytes that somebody sent.
    pub fn keep(&self, blob: Blob) {
        let mut kept = self.kept.borrow_mut();
        if !contents::is_true(&blob) || kept.blobs.contains_key(&blob.content) {
            return;
        }
        kept.bytes += blob.bytes.len();
        kept.oldest.push_back(blob.content);
        kept.blobs.insert(blob.content, blob.bytes.into());
        while kept.bytes > MOST_BYTES && kept.oldest.len() > 1 {
            let gone = kept.oldest.pop_front().and_then(|content| kept.blobs.remove(&content));
            kept.bytes -= gone.map_or(0, |bytes| bytes.len());
        }
    }

    /// Takes in what a state is like; the first to say so is believed.
    fn name(&self, key: StateKey, content: ContentId) -> ContentId {
        *self.kept.borrow_mut().names.entry(key).or_insert(content)
    }

    /// Takes in a page that was looked at. Says so if it is the first of its state.
    pub fn take_in(&self, state: StateKey, found: &FoundPage) -> Option<SeenPage> {
        if self.kept.borrow().names.contains_key(&state) {
            return None;
        }
        let blob = contents::wrap(found);
        let content = self.name(state, blob.content);
        self.keep(blob);
        Some(SeenPage { raw: found.raw, state, content })
    }

    fn name_of(&self, key: StateKey) -> Option<ContentId> {
        self.kept.borrow().names.get(&key).copied()
    }

    fn blob(&self, content: ContentId) -> Option<Blob> {
        self.kept.borrow().blobs.get(&content).map(|bytes| Blob { content, bytes: bytes.to_vec() })
    }

    fn found(&self, key: StateKey) -> Option<FoundPage> {
        contents::unwrap(&self.blob(self.name_of(key)?)?.bytes)
    }
}

impl Details for Archive {
    fn detail(&self, key: StateKey) -> Option<StateDetail> {
        self.found(key).map(|found| contents::detail(&found))
    }

    fn page(&self, key: StateKey) -> Option<Page> {
        self.found(key).map(|found| found.page)
    }

    fn which(&self, raw: Raw) -> Pin<Box<dyn Future<Output = Option<StateKey>> + '_>> {
        Box::pin(async move {
            let outbox = self.asks.as_ref()?;
            let (answer, answered) = oneshot::channel();
            let first = {
                let mut kept = self.kept.borrow_mut();
                let waiting = kept.asked.entry(raw.0).or_default();
                waiting.retain(|tab| !tab.is_closed());
                waiting.push(answer);
                waiting.len() == 1
            };
            if first {
                outbox.send(FromCrawler::Which(self.id, raw.0)).await;
            }
            let told = timeout(WHICH, answered).await;
            if told.is_err() {
                // Nobody waits any longer, whichever tab asked.
                self.kept.borrow_mut().asked.remove(&raw.0);
            }
            told.ok()?.ok()?
        })
    }
}

/// What a tab works for.
#[derive(Clone)]
pub struct Attached {
    /// Which crawl.
    pub id: CrawlId,
    /// What the tab is called there.
    pub crawler: CrawlerId,
    /// What is known of it.
    pub crawl: Rc<AttachedCrawl>,
}

/// Something for a tab.
pub struct TabMessage {
    /// What the tab was called then.
    pub crawler: CrawlerId,
    /// What it is told.
    pub told: TabInstruction,
}

/// What a tab is told.
pub enum TabInstruction {
    /// By controllers that share a crawl.
    Ring(ToCrawler),
    /// By the coordinator of a star.
    Star(ToNode),
}

/// Where all tabs of a process put what they have to say.
#[derive(Clone)]
pub struct Outbox {
    outgoing: mpsc::Sender<FromCrawler>,
    shared: Rc<RefCell<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// The contents that the present home has.
    sent: BTreeSet<ContentId>,
    /// The states that it was told what they offer. If it is forgotten, a tab is sent to look.
    told: BTreeSet<StateKey>,
    /// What tabs have begun, by their number.
    under_way: BTreeMap<u32, (CrawlId, LeaseRef)>,
}

impl Outbox {
    /// An empty one.
    pub fn new(outgoing: mpsc::Sender<FromCrawler>) -> Self {
        Self { outgoing, shared: Rc::default() }
    }

    /// The present home has these contents: it sent them.
    pub fn note_sent(&self, content: ContentId) {
        self.shared.borrow_mut().sent.insert(content);
    }

    /// Says something; waits while the home does not keep up.
    pub async fn send(&self, message: FromCrawler) {
        // If nobody takes it, the process ends.
        let _ = self.outgoing.send(message).await;
    }

    /// There is a new home, which has nothing.
    pub fn forget_sent(&self) {
        let mut shared = self.shared.borrow_mut();
        shared.sent.clear();
        shared.told.clear();
    }

    /// What tabs have begun.
    pub fn under_way(&self) -> Vec<(CrawlId, LeaseRef)> {
        self.shared.borrow().under_way.values().copied().collect()
    }

    /// The contents that the present home does not have; it will.
    fn unsent(&self, mut blobs: Vec<Blob>) -> Vec<Blob> {
        blobs.retain(|blob| self.shared.borrow_mut().sent.insert(blob.content));
        blobs
    }

    async fn report(
        &self,
        crawl: CrawlId,
        report: TaskReport,
        (spent, times): (Spent, TabTimes),
        blobs: Vec<Blob>,
    ) {
        let blobs = self.unsent(blobs);
        self.send(FromCrawler::Report(crawl, report, spent, times, blobs)).await;
    }
}

/// What a tab is given for good.
pub struct TabContext {
    /// Where tabs come from.
    pub browsers: Rc<Browsers>,
    /// For what it has to say.
    pub outbox: Outbox,
    /// Its number.
    pub number: u32,
}

/// What a tab has under way for a crawl, whoever its home is.
struct Session {
    id: CrawlId,
    crawler: Option<Crawler>,
    report: TaskReport,
    spent: Spent,
    times: TabTimes,
    route: Option<Route>,
    /// The page where it stands, if this tab has looked at it first.
    seen: Option<SeenPage>,
    /// Finds its own work, if the crawl's is divided in advance.
    node: Option<StarNode>,
}

/// Works for whoever the tab is attached to, until the process ends.
pub async fn run(
    office: TabContext,
    mut attachments: watch::Receiver<Option<Attached>>,
    mut given: mpsc::Receiver<TabMessage>,
) {
    let mut session: Option<Session> = None;
    loop {
        let attached = attachments.borrow_and_update().clone();
        let Some(attached) = attached else {
            if attachments.changed().await.is_err() {
                return;
            }
            continue;
        };
        let mut present = match session.take().filter(|session| session.id == attached.id) {
            Some(mut session) => {
                // What it said last may not have been heard.
                session.report.crawler = attached.crawler;
                session.report.again = true;
                session
            }
            None => Session {
                id: attached.id,
                crawler: None,
                report: TaskReport::new(attached.crawler, 0),
                spent: Spent::default(),
                times: TabTimes::default(),
                route: None,
                seen: None,
                node: None,
            },
        };
        let serving = async {
            match attached.crawl.spec.order.division() {
                Some(_) => star::serve(&office, &attached, &mut present, &mut given).await,
                None => serve(&office, &attached, &mut present, &mut given).await,
            }
        };
        tokio::select! {
            () = serving => {}
            changed = attachments.changed() => if changed.is_err() { return },
        }
        session = Some(present);
    }
}

/// Reports and performs, without end.
async fn serve(
    office: &TabContext,
    attached: &Attached,
    session: &mut Session,
    given: &mut mpsc::Receiver<TabMessage>,
) {
    let mut in_vain = 0;
    loop {
        session.report.number += 1;
        let archive = &attached.crawl.archive;
        let page = session.report.at.as_ref().and_then(|at| archive.name_of(at.key));
        let blobs = page.and_then(|content| archive.blob(content)).into_iter().collect();
        let spent = (std::mem::take(&mut session.spent), std::mem::take(&mut session.times));
        let said = Instant::now();
        office.outbox.report(attached.id, session.report.clone(), spent, blobs).await;
        if let Some(seen) = session.seen.take() {
            office.outbox.send(FromCrawler::Page(attached.id, seen)).await;
        }
        let patience = PATIENCE * 2u32.pow(in_vain.min(MOST_DOUBLINGS));
        let Ok(task) = timeout(patience, next_task(office, attached, session, given)).await else {
            session.report.again = true;
            in_vain += 1;
            continue;
        };
        in_vain = 0;
        session.times.asking +=
            microseconds(said.elapsed()).filter(|&time| time <= TabTimes::IDLE).unwrap_or_default();
        let began = Instant::now();
        office.outbox.shared.borrow_mut().under_way.insert(office.number, (attached.id, task.id));
        perform(office, attached, session, task, given).await;
        session.times.acting += microseconds(began.elapsed()).unwrap_or_default();
        office.outbox.shared.borrow_mut().under_way.remove(&office.number);
    }
}

/// The next task that is meant for what this tab said last; others are given back.
async fn next_task(
    office: &TabContext,
    attached: &Attached,
    session: &Session,
    given: &mut mpsc::Receiver<TabMessage>,
) -> Task {
    loop {
        let Some(TabMessage { crawler, told }) = given.recv().await else {
            // The process ends.
            return std::future::pending().await;
        };
        let TabInstruction::Ring(told) = told else { continue };
        match told {
            ToCrawler::Task(task)
                if crawler == attached.crawler && task.number == session.report.number =>
            {
                return task;
            }
            ToCrawler::Task(task) => {
                office.outbox.send(FromCrawler::Returned(attached.id, task.id)).await;
            }
            ToCrawler::Like(state, content) => learn(attached, state, content),
            // Its home will attach it elsewhere.
            ToCrawler::Finished => {}
        }
    }
}

fn microseconds(time: Duration) -> Option<u64> {
    u64::try_from(time.as_micros()).ok()
}

fn learn(attached: &Attached, state: StateKey, content: Option<ContentId>) {
    if let Some(content) = content {
        attached.crawl.archive.name(state, content);
    }
}

/// The tab's crawler, with a new tab if the browser was replaced; nothing if there is none to be had at the moment.
async fn take_crawler(
    office: &TabContext,
    attached: &Attached,
    session: &mut Session,
) -> Option<Crawler> {
    match session.crawler.take() {
        Some(crawler) if office.browsers.is_present(crawler.tab().browser()) => {
            return Some(crawler);
        }
        _ => {}
    }
    if attached.crawl.spec.order.settings.screenshots {
        office.browsers.fleet().make_frames();
    }
    let Ok(tab) = office.browsers.tab(attached.crawl.agent.clone()).await else {
        tokio::time::sleep(PAUSE).await;
        return None;
    };
    let AttachedCrawl { spec, knowledge, archive, .. } = &*attached.crawl;
    let settings = &spec.order.settings;
    let url = settings.url.as_str().into();
    Some(Crawler::new(tab, url, knowledge.clone(), archive.clone(), settings.screenshots))
}

/// Says what was found to change in single states, if something was.
async fn tell_volatile(office: &TabContext, attached: &Attached) {
    let masks = attached.crawl.knowledge.lock().state_masks.clone();
    if !masks.is_empty() {
        office.outbox.send(FromCrawler::Volatile(attached.id, masks)).await;
    }
}

/// Performs a task; what there is to say of it is in the session afterwards. Can be abandoned.
async fn perform(
    office: &TabContext,
    attached: &Attached,
    session: &mut Session,
    task: Task,
    given: &mut mpsc::Receiver<TabMessage>,
) {
    let number = session.report.number;
    let lost = |failed| TaskReport {
        task: Some(task.id),
        failed: Some(failed),
        ..TaskReport::new(attached.crawler, number)
    };
    let Some(mut crawler) = take_crawler(office, attached, session).await else {
        session.report = lost(JobFailure::Lost);
        session.route = None;
        return;
    };
    let mut report =
        TaskReport { task: Some(task.id), ..TaskReport::new(attached.crawler, number) };
    let found = match &task.job {
        None => match crawler.load().await {
            Ok((sighting, found)) => {
                session.spent.resets += 1;
                report.at = Some(sighting);
                report.route = Some(Route::default());
                found
            }
            Err(_) => {
                let exchanged = office.browsers.discard(crawler.tab());
                session.report =
                    lost(if exchanged { JobFailure::Exchanged } else { JobFailure::NotLoaded });
                session.route = None;
                return;
            }
        },
        Some(job) => {
            if !know_the_way(office, attached, job, &crawler, given).await {
                session.crawler = Some(crawler);
                session.report = lost(JobFailure::Lost);
                session.route = None;
                return;
            }
            let JobReport { outcome, spent, found, learned } = crawler.perform(job).await;
            let spent = Spent { actions: spent.actions, resets: spent.resets };
            session.spent = session.spent.plus(spent);
            if learned {
                tell_volatile(office, attached).await;
            }
            let ended = (outcome, spent);
            report = TaskReport::of(attached.crawler, number, &task, ended, session.route.as_ref());
            found
        }
    };
    let seen = attached.crawl.take_in(&found);
    if let Some(Sighting { key, offers }) = &mut report.at {
        // What it is like goes with the report.
        session.seen = seen.into_iter().find(|seen| seen.state == *key);
        let untold = office.outbox.shared.borrow_mut().told.insert(*key);
        *offers = crawler.offers().filter(|_| untold || task.look);
        report.content = attached.crawl.archive.name_of(*key);
    }
    session.route.clone_from(&report.route);
    if report.failed.is_none() || report.at.is_some() {
        session.crawler = Some(crawler);
    } else {
        office.browsers.discard(crawler.tab());
    }
    session.report = report;
}

/// Sees to it that the tab knows the states that it is to walk through.
async fn know_the_way(
    office: &TabContext,
    attached: &Attached,
    job: &Job,
    crawler: &Crawler,
    given: &mut mpsc::Receiver<TabMessage>,
) -> bool {
    let mut unknown: BTreeSet<StateKey> =
        job.walk.iter().map(|step| step.to).filter(|&key| !crawler.knows(key)).collect();
    for &state in &unknown {
        office.outbox.send(FromCrawler::Want(attached.id, attached.crawler, state)).await;
    }
    let learning = async {
        while !unknown.is_empty() {
            let Some(TabMessage { told, .. }) = given.recv().await else { return };
            let TabInstruction::Ring(told) = told else { continue };
            match told {
                ToCrawler::Like(state, content) => {
                    learn(attached, state, content);
                    unknown.remove(&state);
                }
                ToCrawler::Task(task) => {
                    office.outbox.send(FromCrawler::Returned(attached.id, task.id)).await;
                }
                ToCrawler::Finished => return,
            }
        }
    };
    let _ = timeout(LIKE, learning).await;
    job.walk.iter().all(|step| crawler.knows(step.to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime")
            .block_on(work)
    }

    #[test]
    fn two_tabs_that_see_a_page_ask_once_and_both_are_told() {
        let (outgoing, mut outgo) = mpsc::channel(8);
        let archive = Archive::new(CrawlId(1), Some(Outbox::new(outgoing)));
        let found = FoundPage { raw: 5, ..FoundPage::default() };
        let told = block_on(async {
            let home = async {
                let asked = outgo.recv().await;
                assert_eq!(asked, Some(FromCrawler::Which(CrawlId(1), 5)));
                archive.answered(5, Some((StateKey(7), contents::wrap(&found))));
            };
            tokio::join!(archive.which(Raw(5)), archive.which(Raw(5)), home)
        });
        assert_eq!(told, (Some(StateKey(7)), Some(StateKey(7)), ()));
        assert!(outgo.try_recv().is_err(), "it was asked twice");
        assert_eq!(archive.name_of(StateKey(7)), Some(contents::wrap(&found).content));
    }

    #[test]
    fn a_page_that_nobody_tells_of_is_looked_at() {
        let (outgoing, mut outgo) = mpsc::channel(8);
        let archive = Archive::new(CrawlId(1), Some(Outbox::new(outgoing)));
        // Nobody answers; and then somebody says that nobody knows.
        assert_eq!(block_on(archive.which(Raw(5))), None);
        let answers = async {
            outgo.recv().await;
            outgo.recv().await;
            archive.answered(5, None);
        };
        assert_eq!(block_on(async { tokio::join!(archive.which(Raw(5)), answers) }).0, None);
        // In a star nobody is asked.
        assert_eq!(block_on(Archive::new(CrawlId(1), None).which(Raw(5))), None);
    }
}
