//! Crawlers at work. Each thread has a browser of its own, and some of the tabs: what one tab does wakes nobody who works for
//! another one (decision 22).

use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use argiope_browser::agent::{AgentSettings, Blank};
use argiope_browser::tab::Tab;
use argiope_controller::job::{Ahead, CrawlerId, Job, JobId};
use argiope_controller::outcome::Outcome;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinSet, LocalSet};

use crate::browsers::{BrowserFactory, Browsers, NoTab};
use crate::crawler::{Crawler, JobReport};
use crate::page_index::SharedPageIndex;
use crate::settings::{CrawlSettings, Scope};
use crate::store::Store;

/// How often the memory of a browser is looked at.
const WEIGHING: Duration = Duration::from_secs(5);

/// What crawlers tell whoever gives them jobs.
pub enum WorkerEvent {
    /// It has a tab and stands nowhere.
    Ready(CrawlerId),
    /// How its jobs ended, those that it began.
    Done(CrawlerId, Vec<(JobId, JobReport)>),
    /// There is no tab to be had.
    Broken(NoTab),
    /// One of them panicked; what it had begun is never told of.
    Panicked,
}

/// Jobs on their way to a crawler.
pub type Jobs = (Job, Vec<Ahead>);

/// What every crawler is given.
#[derive(Clone)]
pub struct CrawlContext {
    /// Where the application is.
    pub url: Arc<str>,
    /// How its pages are looked at.
    pub agent: AgentSettings,
    /// What crawlers know together.
    pub knowledge: SharedPageIndex,
    /// What was found.
    pub store: Arc<Store>,
    /// A picture of every state.
    pub screenshots: bool,
}

impl CrawlContext {
    /// A crawler with a tab.
    pub fn crawler(&self, tab: Tab) -> Crawler {
        let details = Rc::new(self.store.clone());
        Crawler::new(tab, self.url.clone(), self.knowledge.clone(), details, self.screenshots)
    }
}

/// How pages of an application are looked at.
pub fn agent(
    settings: &CrawlSettings,
    secret: String,
    scope: Scope,
    masks: Vec<Blank>,
) -> AgentSettings {
    AgentSettings {
        seed: settings.seed as u32,
        cap: settings.settle_ms,
        freeze: settings.freeze_time,
        ignore: settings.ignore.join(","),
        masks,
        ..AgentSettings::new(secret, scope.origin, scope.site)
    }
}

/// Called on any thread.
pub type EventSink = Arc<dyn Fn(WorkerEvent) + Send + Sync>;
/// A crawler that is to begin, and where its jobs come out.
pub type JobReceiver = (CrawlerId, mpsc::UnboundedReceiver<Jobs>);

/// The threads that crawlers of one crawl work on, each with a browser: this one, and others if there are several tabs and cores.
pub struct WorkerPool {
    browsers: Rc<Browsers>,
    desks: Vec<BrowserThread>,
    tabs: u32,
}

impl WorkerPool {
    /// This thread has its browser; those of the others are started meanwhile.
    pub fn gather(browsers: Rc<Browsers>, tabs: u32) -> std::io::Result<Self> {
        let threads =
            std::thread::available_parallelism().map_or(1, NonZero::get).min(tabs as usize);
        let desk = |number| {
            BrowserThread::open(
                browsers.fleet().clone(),
                share(tabs as usize, threads, number) as u32,
            )
        };
        let desks = (1..threads).map(desk).collect::<Result<_, _>>()?;
        Ok(Self { browsers, desks, tabs })
    }

    /// Opens the tabs of this thread but the first, and waits for those of the others. One that cannot be opened now is
    /// opened when it is needed.
    pub async fn open_ahead(&mut self) {
        let here = share(self.tabs as usize, self.desks.len() + 1, 0) as u32;
        self.browsers.clone().open_ahead(here.saturating_sub(1)).await;
        for desk in &mut self.desks {
            let _ = (&mut desk.ready).await;
        }
    }

    /// Lets all crawlers begin. The first of them may have a tab already.
    pub fn begin(
        mut self,
        office: &CrawlContext,
        tell: &EventSink,
        first: Option<Crawler>,
        hired: Vec<JobReceiver>,
    ) -> RunningPool {
        let threads = self.desks.len() + 1;
        let mut shares: Vec<Vec<JobReceiver>> = (0..threads).map(|_| Vec::new()).collect();
        for (at, hired) in hired.into_iter().enumerate() {
            shares[at % threads].push(hired);
        }
        let (working, over) = watch::channel(());
        let mut shares = shares.into_iter();
        let mut next = || Start {
            office: office.clone(),
            tell: tell.clone(),
            hired: shares.next().unwrap_or_default(),
            over: over.clone(),
        };
        let here = tokio::task::spawn_local(work_all(self.browsers, first, next()));
        for desk in &mut self.desks {
            if let Some(start) = desk.start.take() {
                // One that has ended has panicked, and said so.
                let _ = start.send(next());
            }
        }
        RunningPool { working, here, desks: self.desks }
    }
}

/// How many of some things are one's own, if each takes one in turn.
fn share(all: usize, takers: usize, number: usize) -> usize {
    (all + takers - 1 - number) / takers
}

/// A crew at work.
pub struct RunningPool {
    working: watch::Sender<()>,
    here: tokio::task::JoinHandle<()>,
    desks: Vec<BrowserThread>,
}

impl RunningPool {
    /// Ends the work at once, and all browsers.
    pub async fn end(self) {
        drop(self.working);
        let _ = self.here.await;
        drop(self.desks);
    }
}

/// What the crawlers of a thread begin with.
struct Start {
    office: CrawlContext,
    tell: EventSink,
    hired: Vec<JobReceiver>,
    /// Closed when the crawl is over.
    over: watch::Receiver<()>,
}

/// Lets crawlers work in the tabs of one browser until the crawl is over; then nothing of them is left.
async fn work_all(browsers: Rc<Browsers>, mut first: Option<Crawler>, start: Start) {
    let Start { office, tell, hired, mut over } = start;
    let mut tasks = JoinSet::new();
    for (id, jobs) in hired {
        tasks.spawn_local(work(
            id,
            first.take(),
            browsers.clone(),
            office.clone(),
            jobs,
            tell.clone(),
        ));
    }
    let mut weighing = tokio::time::interval_at(tokio::time::Instant::now() + WEIGHING, WEIGHING);
    loop {
        tokio::select! {
            changed = over.changed() => if changed.is_err() { break },
            Some(Err(_)) = tasks.join_next() => tell(WorkerEvent::Panicked),
            _ = weighing.tick() => if let Err(error) = browsers.watch_memory().await {
                tell(WorkerEvent::Broken(error.into()));
            },
        }
    }
    // The tasks end by this; their tabs go with them.
    tasks.shutdown().await;
    if let Some(browsers) = Rc::into_inner(browsers) {
        browsers.close().await;
    }
}

/// A crawler at work: takes jobs, gives reports, and gets itself a new tab when the old one is of no use.
async fn work(
    id: CrawlerId,
    mut crawler: Option<Crawler>,
    browsers: Rc<Browsers>,
    office: CrawlContext,
    mut jobs: mpsc::UnboundedReceiver<Jobs>,
    tell: EventSink,
) {
    loop {
        let mut worker = match crawler.take() {
            Some(worker) => worker,
            None => match browsers.tab(office.agent.clone()).await {
                Ok(tab) => {
                    tell(WorkerEvent::Ready(id));
                    office.crawler(tab)
                }
                Err(error) => return tell(WorkerEvent::Broken(error)),
            },
        };
        while let Some((job, ahead)) = jobs.recv().await {
            let reports = if browsers.is_present(worker.tab().browser()) {
                worker.perform_all(&job, &ahead).await
            } else {
                // The browser was replaced; it ends with its last tab, and the job is given again.
                vec![JobReport::lost()]
            };
            let failed =
                reports.iter().any(|report| matches!(report.outcome, Outcome::Failed { .. }));
            let ids = [job.id].into_iter().chain(ahead.iter().map(|ahead| ahead.job.id));
            tell(WorkerEvent::Done(id, ids.zip(reports).collect()));
            if failed {
                browsers.discard(worker.tab());
                break;
            }
        }
        if jobs.is_closed() {
            return;
        }
    }
}

/// A thread with a browser. It ends when this is dropped, and everything that it has started with it.
struct BrowserThread {
    ready: oneshot::Receiver<()>,
    start: Option<oneshot::Sender<Start>>,
    thread: Option<JoinHandle<()>>,
}

impl BrowserThread {
    /// Starts the browser and opens so many tabs in it.
    fn open(fleet: Arc<BrowserFactory>, tabs: u32) -> std::io::Result<Self> {
        let (announce, ready) = oneshot::channel();
        let (start, begun) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("tabs".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, run_thread(fleet, tabs, announce, begun));
        })?;
        Ok(Self { ready, start: Some(start), thread: Some(thread) })
    }
}

impl Drop for BrowserThread {
    fn drop(&mut self) {
        self.start = None;
        if let Some(thread) = self.thread.take() {
            // A panic was said where it happened.
            let _ = thread.join();
        }
    }
}

async fn run_thread(
    fleet: Arc<BrowserFactory>,
    tabs: u32,
    ready: oneshot::Sender<()>,
    begun: oneshot::Receiver<Start>,
) {
    let browsers = Browsers::launch(fleet).await.map(Rc::new);
    if let Ok(browsers) = &browsers {
        browsers.clone().open_ahead(tabs).await;
    }
    let _ = ready.send(());
    match (begun.await, browsers) {
        (Ok(start), Ok(browsers)) => work_all(browsers, None, start).await,
        (Ok(start), Err(error)) => (start.tell)(WorkerEvent::Broken(error.into())),
        (Err(_), browsers) => {
            if let Some(browsers) = browsers.ok().and_then(Rc::into_inner) {
                browsers.close().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tab_is_on_one_thread() {
        for (tabs, threads) in [(1, 1), (2, 2), (8, 2), (7, 3), (5, 4)] {
            let shares: Vec<usize> =
                (0..threads).map(|number| share(tabs, threads, number)).collect();
            let taken = |number: usize| (0..tabs).filter(|tab| tab % threads == number).count();
            assert_eq!(shares, (0..threads).map(taken).collect::<Vec<_>>());
        }
    }
}
