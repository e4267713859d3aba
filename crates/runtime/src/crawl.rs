//! The driver of a crawl on one machine: carries out what the controller asks for. It knows clocks, disks
//! and browsers; what to do next it does not.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use argiope_browser::{LaunchError, LaunchSettings};
use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{CrawlerId, JobId};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::Sighting;
use argiope_controller::settings::ControllerSettings;
use argiope_controller::spent::Spent;
use argiope_explore::id::StateKey;
use argiope_explore::identity;
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use tokio::sync::{Notify, mpsc};

use crate::browsers::{BrowserFactory, Browsers, NoTab};
use crate::crawler::{Crawler, JobReport};
use crate::learned;
use crate::pace::Pace;
use crate::page_index::{PageIndex, SharedPageIndex};
use crate::probe::{self, NoLook, NoPage};
use crate::selectors;
use crate::settings::{CrawlSettings, Scope};
use crate::store::{Batch, FoundPage, Store, StoreError, StoreWriter, WriterEvent};
use crate::work::{CrawlContext, EventSink, JobReceiver, Jobs, WorkerEvent, WorkerPool, agent};

pub use crate::summary::{CrawlProgress, CrawlSummary};

/// How many jobs of one tab may be done but not yet on disk. Together with the one under way these are the
/// jobs in flight: the most that a kill makes a crawl do again. Measured: a busy disk takes 20 ms for a commit,
/// in which a tab does about twenty jobs; with fewer it would wait for the disk.
pub const UNWRITTEN: usize = 32;
/// How many jobs a tab may be given beyond one. Measured on ten switches: with 15 and with 31 it was no faster.
pub const AHEAD: usize = 7;
/// A driver that panicked on one thread ends the crawl on all of them: what is in the store is whole.
const UNBROKEN: &str = "no thread has panicked";
const TICK: Duration = Duration::from_millis(250);

/// Why a crawl ended without a summary. What was found before is in the store.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The address cannot be crawled.
    #[error(transparent)]
    NoPage(#[from] NoPage),
    /// The browser does not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// There is no tab.
    #[error(transparent)]
    NoTab(#[from] NoTab),
    /// The disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The machine gives no more threads.
    #[error("no thread for another browser: {0}")]
    NoThread(std::io::Error),
    /// A fault of argiope.
    #[error("a crawler panicked, which is a fault of argiope")]
    Panicked,
    /// The settings name something that is not there.
    #[error("{0}")]
    Settings(String),
}

/// What a crawl needs.
pub struct CrawlPlan {
    /// Where everything is kept; empty, or that of the crawl to be resumed.
    pub store: Store,
    /// What was asked for.
    pub settings: CrawlSettings,
    /// How browsers are started.
    pub browser: LaunchSettings,
    /// The name of the agent in the page; nobody else should be able to guess it.
    pub secret: String,
    /// To stop at once.
    pub interrupt: Arc<Notify>,
    /// To stop then.
    pub deadline: Option<Instant>,
}

struct Hand {
    jobs: mpsc::UnboundedSender<Jobs>,
    /// Tickets of batches that are not on disk yet.
    unwritten: Vec<u64>,
    /// Jobs that are to be begun, or wait for the disk.
    waiting: Option<Jobs>,
}

impl Hand {
    /// Begins with the jobs that wait, if enough of what was done before is on disk.
    fn go_on(&mut self) {
        let room = |(_, ahead): &mut Jobs| self.unwritten.len() + ahead.len() < UNWRITTEN;
        if let Some(jobs) = self.waiting.take_if(room) {
            // A crawler that is gone has said so.
            let _ = self.jobs.send(jobs);
        }
    }
}

struct Driver {
    controller: Controller,
    writer: StoreWriter,
    hands: BTreeMap<CrawlerId, Hand>,
    knowledge: SharedPageIndex,
    pace: Pace,
    started: Instant,
    before: Spent,
    over: Option<(bool, Option<StoppedBy>)>,
    trouble: Option<CrawlError>,
}

/// The driver, as the threads share it: whoever has something to tell carries out by itself what follows from that, so that no
/// thread has to be woken for it.
struct Shared {
    driver: Mutex<Driver>,
    /// Told when the crawl is over.
    over: Notify,
}

impl Shared {
    fn driver(&self) -> MutexGuard<'_, Driver> {
        self.driver.lock().expect(UNBROKEN)
    }

    fn tell(&self, telling: WorkerEvent) {
        let mut driver = self.driver();
        // What comes later is done again when the crawl is resumed.
        if driver.is_over() {
            return;
        }
        driver.told(telling);
        if driver.is_over() {
            self.over.notify_one();
        }
    }
}

/// Crawls until there is nothing left, a limit is reached or somebody stops it. Must run in a `LocalSet`.
pub async fn crawl(
    plan: CrawlPlan,
    mut watch: impl FnMut(&CrawlProgress),
) -> Result<CrawlSummary, CrawlError> {
    let CrawlPlan { store, settings, browser, secret, interrupt, deadline } = plan;
    let identity = identity::find(&settings.identity).ok_or_else(|| {
        CrawlError::Settings(format!("there is no identity {:?}", settings.identity))
    })?;
    let scope = Scope::of(&settings.url).map_err(CrawlError::Settings)?;
    let learned = learned::load(&store)?;
    let fleet = Arc::new(BrowserFactory::new(browser, u64::from(settings.browser_mb) << 20));
    let browsers = Rc::new(Browsers::launch(fleet.clone()).await?);
    if settings.screenshots {
        fleet.make_frames();
    }
    let sandboxed = browsers.present().await?.is_sandboxed();
    let usable = selectors::check(&*browsers.present().await?, &settings.ignore).await;
    usable.map_err(|error| CrawlError::Settings(format!("--ignore: {error}")))?;
    let controller = restore(&store, &settings, learned.reset_cost)?;
    let scope = Scope { origin: learned.origin.clone().unwrap_or(scope.origin), ..scope };
    let agent = agent(&settings, secret, scope, probe::blanks(&learned.masks));
    let knowledge = SharedPageIndex::new(PageIndex::new(identity));
    let fresh = controller.graph().is_none();
    let (written, mut writings) = mpsc::unbounded_channel();
    let writer = store.writer(move |progress| {
        // The driver may have ended already.
        let _ = written.send(progress);
    })?;
    let before = controller.known().spent();
    let mut driver = Driver {
        controller,
        writer,
        hands: BTreeMap::new(),
        knowledge: knowledge.clone(),
        pace: Pace::new(learned.reset_cost),
        started: Instant::now(),
        before,
        over: None,
        trouble: None,
    };
    learned.into_knowledge(&mut knowledge.lock());
    let (url, store) = (settings.url.as_str().into(), Arc::new(store));
    let mut office =
        CrawlContext { url, agent, knowledge, store, screenshots: settings.screenshots };
    let until = deadline.map_or_else(far, tokio::time::Instant::from_std);
    let mut crew =
        WorkerPool::gather(browsers.clone(), settings.tabs).map_err(CrawlError::NoThread)?;
    let mut first = None;
    if fresh {
        // Whatever the time: a crawl without its first page would have nothing to resume.
        let (begun, ()) = tokio::join!(driver.begin(&browsers, &mut office), crew.open_ahead());
        first = Some(begun?);
        // The price of the first looks is not the crawl's.
        driver.started = Instant::now();
    }
    drop(browsers);
    let hired = (0..settings.tabs).map(|tab| driver.hire(CrawlerId(tab.into()))).collect();
    let first = first.map(|(crawler, at, found)| {
        let spent = Spent { actions: 0, resets: 3 };
        driver.handle(ControllerInput::Ready { crawler: CrawlerId(0), at: Some(at), spent }, found);
        crawler
    });
    let shared = Arc::new(Shared { driver: Mutex::new(driver), over: Notify::new() });
    let tell: EventSink = Arc::new({
        let shared = shared.clone();
        move |telling| shared.tell(telling)
    });
    let working = crew.begin(&office, &tell, first, hired);
    let mut tick = tokio::time::interval(TICK);
    while !shared.driver().is_over() {
        tokio::select! {
            biased;
            () = interrupt.notified() => shared.driver().stop(StoppedBy::Interrupt),
            Some(progress) = writings.recv() => shared.driver().written(progress),
            () = shared.over.notified() => {}
            _ = tick.tick() => {
                let progress = shared.driver().progress();
                watch(&progress);
            }
            () = tokio::time::sleep_until(until) => shared.driver().stop(StoppedBy::MaxTime),
        }
    }
    let (progress, summary) = {
        let driver = shared.driver();
        (driver.progress(), driver.summary())
    };
    watch(&progress);
    working.end().await;
    drop(tell);
    let shared = Arc::into_inner(shared).expect("nobody works any more");
    shared.driver.into_inner().expect(UNBROKEN).finish()?;
    Ok(CrawlSummary { progress, browsers_replaced: fleet.replaced(), sandboxed, ..summary })
}

/// The controller that wrote the store's facts; one that has not begun if there are none.
pub fn restore(
    store: &Store,
    settings: &CrawlSettings,
    reset_cost: f64,
) -> Result<Controller, CrawlError> {
    let strategy = strategies::find(&settings.strategy).ok_or_else(|| {
        CrawlError::Settings(format!("there is no strategy {:?}", settings.strategy))
    })?;
    let exploring = StrategySettings { reset_cost, seed: settings.seed };
    let controlling =
        ControllerSettings { strategy, exploring, limits: settings.limits(), ahead: AHEAD };
    let mut unread = None;
    let facts = store.facts()?.map_while(|fact| fact.map_err(|error| unread = Some(error)).ok());
    let controller = Controller::restore(controlling, facts);
    if let Some(error) = unread {
        return Err(error.into());
    }
    controller
        .map_err(|wrong| StoreError::Damaged(format!("fact {}: {}", wrong.at, wrong.what)).into())
}

fn far() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_secs(100 * 365 * 24 * 3600)
}

impl From<NoLook> for CrawlError {
    fn from(error: NoLook) -> Self {
        match error {
            NoLook::NoPage(error) => error.into(),
            NoLook::NoTab(error) => error.into(),
        }
    }
}

impl Driver {
    /// Loads the first page twice: is it one, and what of it changes by itself? Then there is a crawler that stands on it.
    async fn begin(
        &mut self,
        browsers: &Browsers,
        office: &mut CrawlContext,
    ) -> Result<(Crawler, Sighting, Vec<(StateKey, FoundPage)>), CrawlError> {
        let (first, second, mut tab) =
            probe::looks(browsers, &mut office.agent, &office.url).await?;
        let masks = probe::volatile(self.knowledge.lock().identity(), &first, &second);
        if !masks.is_empty() {
            office.agent.masks = probe::blanks(&masks);
            self.knowledge.lock().masks = masks;
            tab = browsers.tab(office.agent.clone()).await?;
        }
        let named = learned::first(&self.knowledge.lock(), &office.agent.origin);
        self.writer.append(Batch { named, ..Batch::default() })?;
        let mut crawler = office.crawler(tab);
        let mut loaded = crawler.load().await;
        if loaded.is_err() && browsers.discard(crawler.tab()) {
            crawler = office.crawler(browsers.tab(office.agent.clone()).await?);
            loaded = crawler.load().await;
        }
        let (sighting, found) = loaded.map_err(NoTab::Tab)?;
        Ok((crawler, sighting, found))
    }

    /// A new crawler; where its jobs come out.
    fn hire(&mut self, id: CrawlerId) -> JobReceiver {
        let (jobs, given) = mpsc::unbounded_channel();
        self.hands.insert(id, Hand { jobs, unwritten: Vec::new(), waiting: None });
        (id, given)
    }

    fn is_over(&self) -> bool {
        self.over.is_some() || self.trouble.is_some()
    }

    fn told(&mut self, telling: WorkerEvent) {
        match telling {
            WorkerEvent::Ready(crawler) => {
                self.handle(
                    ControllerInput::Ready { crawler, at: None, spent: Spent::default() },
                    Vec::new(),
                );
            }
            WorkerEvent::Done(crawler, reports) => {
                for (job, report) in reports {
                    self.finished(crawler, job, report);
                }
            }
            WorkerEvent::Broken(error) => self.trouble = Some(error.into()),
            WorkerEvent::Panicked => self.trouble = Some(CrawlError::Panicked),
        }
    }

    fn finished(&mut self, crawler: CrawlerId, job: JobId, report: JobReport) {
        let JobReport { outcome, spent, found, learned } = report;
        if let Some(cost) = self.pace.measured(&spent) {
            self.handle(ControllerInput::ResetCost(cost), Vec::new());
        }
        if learned || self.pace.has_changed() {
            self.keep_knowledge();
        }
        let spent = Spent { actions: spent.actions, resets: spent.resets };
        self.carry_out(
            Some(crawler),
            ControllerInput::Finished { crawler, job, outcome, spent },
            found,
        );
    }

    fn keep_knowledge(&mut self) {
        let named = learned::learned(&self.knowledge.lock(), self.pace.reset_cost());
        self.append(Batch { named, ..Batch::default() });
    }

    fn handle(&mut self, input: ControllerInput, found: Vec<(StateKey, FoundPage)>) {
        self.carry_out(None, input, found);
    }

    /// Hands an input to the controller and carries out what it asks for: first what is to be kept.
    fn carry_out(
        &mut self,
        crawler: Option<CrawlerId>,
        input: ControllerInput,
        mut found: Vec<(StateKey, FoundPage)>,
    ) {
        let mut effects = Vec::new();
        self.controller.handle(input, &mut effects);
        for (state, _) in found.iter().filter(|(state, _)| self.controller.knows(*state)) {
            self.knowledge.lock().told(*state);
        }
        let mut batch = Batch::default();
        let mut rest = Vec::new();
        for effect in effects {
            match effect {
                ControllerEffect::Keep(fact) => batch.facts.push(fact),
                other => rest.push(other),
            }
        }
        let elapsed = u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX);
        for fact in &batch.facts {
            if let Fact::State { key, .. } = fact
                && let Some(at) = found.iter().position(|(state, _)| state == key)
            {
                let (key, found) = found.swap_remove(at);
                batch.states.push((key, FoundPage { found_at: elapsed, ..found }));
            }
        }
        if batch != Batch::default() {
            let ticket = self.append(batch);
            if let (Some(hand), Some(ticket)) =
                (crawler.and_then(|id| self.hands.get_mut(&id)), ticket)
            {
                hand.unwritten.push(ticket);
            }
        }
        for effect in rest {
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    self.assign(crawler, (job, ahead))
                }
                ControllerEffect::Finished { complete, stopped_by } => {
                    self.over = Some((complete, stopped_by))
                }
                // A crawler without a job waits by itself.
                ControllerEffect::Rest { .. } | ControllerEffect::Keep(_) => {}
            }
        }
    }

    fn append(&mut self, batch: Batch) -> Option<u64> {
        match self.writer.append(batch) {
            Ok(ticket) => Some(ticket),
            // The writer has reported why; see `written`.
            Err(StoreError::Stopped) => None,
            Err(error) => {
                self.trouble = Some(error.into());
                None
            }
        }
    }

    /// Jobs are handed out as soon as enough of what their crawler did before is on disk.
    fn assign(&mut self, crawler: CrawlerId, jobs: Jobs) {
        let Some(hand) = self.hands.get_mut(&crawler) else { return };
        hand.waiting = Some(jobs);
        hand.go_on();
    }

    fn written(&mut self, progress: WriterEvent) {
        match progress {
            WriterEvent::Failed(error) => self.trouble = Some(error.into()),
            WriterEvent::Durable(ticket) => {
                for hand in self.hands.values_mut() {
                    hand.unwritten.retain(|&other| other > ticket);
                    hand.go_on();
                }
            }
        }
    }

    /// At once: what is under way is done again when the crawl is resumed.
    fn stop(&mut self, by: StoppedBy) {
        self.handle(ControllerInput::Stop(by), Vec::new());
        self.over.get_or_insert((false, Some(by)));
    }

    fn progress(&self) -> CrawlProgress {
        let so_far = CrawlProgress::of(&self.controller);
        CrawlProgress {
            actions_now: so_far.actions - self.before.actions,
            elapsed: self.started.elapsed(),
            ..so_far
        }
    }

    fn summary(&self) -> CrawlSummary {
        let (complete, stopped_by) = self.over.unwrap_or((false, Some(StoppedBy::Trouble)));
        let summary = CrawlSummary::of(&self.controller, complete, stopped_by);
        CrawlSummary { reset_cost: self.pace.reset_cost(), ..summary }
    }

    /// Waits for the disk.
    fn finish(self) -> Result<(), CrawlError> {
        let closed = self.writer.close();
        match self.trouble {
            Some(trouble) => Err(trouble),
            None => Ok(closed?),
        }
    }
}
