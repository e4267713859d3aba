//! The driver of a crawl on one machine: it carries out the effects of the controller. It knows
//! clocks, disks and browsers; it must not decide what to do next.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use argiope_browser::{Border, LaunchError, LaunchSettings};
use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput, StoppedBy};
use argiope_controller::job::{CrawlerId, Job, JobId};
use argiope_controller::journal::Fact;
use argiope_controller::knowledge::Contradiction;
use argiope_controller::outcome::{Outcome, Sighting};
use argiope_controller::settings::{ControllerSettings, StopAt};
use argiope_controller::spent::Spent;
use argiope_explore::id::StateKey;
use argiope_explore::identity;
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use tokio::sync::{Notify, mpsc};

use crate::address::PlainUrl;
use crate::browsers::{BrowserFactory, Browsers, NoTab};
use crate::crawler::{Crawler, EntryLoad, JobReport};
use crate::executor::{
    CrawlContext, PoolEvent, PoolEvents, TabTask, WorkerPool, agent_settings, drive_tab,
};
use crate::inputs;
use crate::learned;
use crate::login::session::LoginSession;
use crate::numbers::UniqueNumbers;
use crate::pace::Pace;
use crate::page_index::{PageIndex, SharedPageIndex};
use crate::probe::{self, NoPage};
use crate::selectors;
use crate::settings::CrawlSettings;
use crate::store::{Batch, FoundPage, Store, StoreError, StoreWriter, WriterEvent};
use details::{LocalDetails, pages_of};
use jobs::{AssignedJobs, LocalJobs};

mod details;
mod jobs;
mod seeds;

pub use crate::summary::{CrawlProgress, CrawlSummary};

/// How many jobs of one tab may be done but not yet on disk. With the job under way these are the
/// jobs in flight: the most that a killed crawl repeats. Measured: a busy disk takes 20 ms for a
/// commit, in which a tab does about twenty jobs; with a lower bound it would wait for the disk.
pub const UNWRITTEN: usize = 32;
/// How many jobs beyond one a tab may be assigned. Measured on ten switches: 15 and 31 are no
/// faster.
pub const AHEAD: usize = 7;
/// A driver that panics on one thread ends the crawl on all of them; the store stays consistent.
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
    /// The system refuses another thread.
    #[error("cannot start a thread for another browser: {0}")]
    NoThread(std::io::Error),
    /// A fault of argiope.
    #[error("a crawler panicked, which is a fault of argiope")]
    Panicked,
    /// No login leads into the application any more, or its data cannot be put back.
    #[error("{0}")]
    Login(String),
    /// The settings name something that does not exist.
    #[error("{0}")]
    Settings(String),
}

/// What a crawl needs.
pub struct CrawlPlan {
    /// The store of the run: empty, or that of the crawl to resume.
    pub store: Store,
    /// What the user asked for.
    pub settings: CrawlSettings,
    /// How browsers are started.
    pub browser: LaunchSettings,
    /// The name of the agent in the page; the page must not be able to guess it.
    pub secret: String,
    /// Stops the crawl at once.
    pub interrupt: Arc<Notify>,
    /// When to stop the crawl.
    pub deadline: Option<Instant>,
}

/// The driver's end of one tab.
struct Lane {
    jobs: mpsc::UnboundedSender<AssignedJobs>,
    /// Tickets of batches that are not on disk yet.
    unwritten: Vec<u64>,
    /// Jobs that wait for the disk.
    waiting: Option<AssignedJobs>,
}

impl Lane {
    /// Sends the waiting jobs to the tab, if enough of what the tab did before is on disk.
    fn send_waiting(&mut self) {
        let room = |(_, ahead): &mut AssignedJobs| self.unwritten.len() + ahead.len() < UNWRITTEN;
        if let Some(jobs) = self.waiting.take_if(room) {
            // The pool has reported a tab that is gone.
            let _ = self.jobs.send(jobs);
        }
    }
}

struct Driver {
    controller: Controller,
    writer: StoreWriter,
    details: Arc<LocalDetails>,
    lanes: BTreeMap<CrawlerId, Lane>,
    pages: SharedPageIndex,
    border: Arc<Border>,
    pace: Pace,
    /// Seeds that were not loaded yet, with the reason.
    seeds_left: BTreeMap<String, String>,
    started: Instant,
    before: Spent,
    over: Option<(bool, Option<StoppedBy>)>,
    trouble: Option<CrawlError>,
}

/// The driver as the threads share it. The thread that reports also carries out what follows, so
/// that no other thread has to wake. Lock order: driver, then page index, then details; no lock is
/// held while anything is awaited.
struct SharedDriver {
    driver: Mutex<Driver>,
    /// Notified when the crawl is over.
    over: Notify,
}

impl SharedDriver {
    fn lock(&self) -> MutexGuard<'_, Driver> {
        self.driver.lock().expect(UNBROKEN)
    }

    fn update(&self, event: impl FnOnce(&mut Driver)) {
        let mut driver = self.lock();
        // What comes later is done again when the crawl is resumed.
        if driver.is_over() {
            return;
        }
        event(&mut driver);
        if driver.is_over() {
            self.over.notify_one();
        }
    }

    fn on_ready(&self, crawler: CrawlerId) {
        let ready = ControllerInput::Ready { crawler, at: None, spent: Spent::default() };
        self.update(|driver| driver.handle(ready, Vec::new()));
    }

    fn on_done(&self, crawler: CrawlerId, reports: Vec<(JobId, JobReport)>) {
        self.update(|driver| {
            for (job, report) in reports {
                driver.on_report(crawler, job, report);
            }
        });
    }

    fn on_trouble(&self, trouble: CrawlError) {
        self.update(|driver| driver.trouble = Some(trouble));
    }

    fn on_pool_event(&self, event: PoolEvent) {
        self.on_trouble(match event {
            PoolEvent::NotStarted(error) | PoolEvent::NotReplaced(error) => {
                NoTab::from(error).into()
            }
            PoolEvent::Panicked => CrawlError::Panicked,
        });
    }
}

/// Crawls until nothing is left, a limit is reached or the crawl is stopped. Must run in a
/// `LocalSet`.
pub async fn crawl(
    plan: CrawlPlan,
    mut watch: impl FnMut(&CrawlProgress),
) -> Result<CrawlSummary, CrawlError> {
    let (interrupt, deadline) = (plan.interrupt.clone(), plan.deadline);
    let Prepared { mut driver, mut context, browsers, url, seeds, tabs, mut writes } =
        prepare(plan).await?;
    let sandboxed = browsers.present().await?.is_sandboxed;
    let factory = browsers.factory().clone();
    let mut pool = WorkerPool::start(browsers.clone(), tabs).map_err(CrawlError::NoThread)?;
    let mut first = None;
    if driver.controller.graph().is_none() {
        // Before any deadline: a crawl without its first page would have nothing to resume.
        let (begun, ()) =
            tokio::join!(driver.begin(&browsers, &mut context, &url), pool.open_ahead());
        first = Some(begun?);
        driver.expect_seeds(&seeds);
        // The time of the first looks is not the crawl's.
        driver.started = Instant::now();
    }
    if !driver.seeds_left.is_empty() {
        first =
            Some(driver.load_seeds(&browsers, &context, (&url, seeds.as_slice()), first).await?);
    }
    drop(browsers);
    let assigned: Vec<_> = (0..tabs).map(|tab| driver.add_lane(CrawlerId(tab.into()))).collect();
    let mut first = first.map(|FirstTab { crawler, at, found, resets }| {
        let spent = Spent { actions: 0, resets };
        driver.handle(ControllerInput::Ready { crawler: CrawlerId(0), at, spent }, found);
        crawler
    });
    let shared = Arc::new(SharedDriver { driver: Mutex::new(driver), over: Notify::new() });
    let tasks = assigned.into_iter().map(|(id, assigned)| {
        let jobs = LocalJobs::new(id, assigned, shared.clone(), context.session.clone());
        tab_task(context.clone(), first.take(), jobs)
    });
    let tasks = tasks.collect();
    let events: PoolEvents = Arc::new({
        let shared = shared.clone();
        move |event| shared.on_pool_event(event)
    });
    let running = pool.run(tasks, &events);
    wait_until_over(&shared, &mut writes, &interrupt, deadline, &mut watch).await;
    let (progress, summary) = {
        let driver = shared.lock();
        (driver.progress(), driver.summary())
    };
    watch(&progress);
    running.close().await;
    drop(events);
    let shared = Arc::into_inner(shared).expect("all tabs have ended");
    shared.driver.into_inner().expect(UNBROKEN).finish()?;
    Ok(CrawlSummary { progress, browsers_replaced: factory.replaced(), sandboxed, ..summary })
}

/// The tab with which a crawl begins.
struct FirstTab {
    crawler: Crawler,
    /// Where it stands, if its first job can begin there.
    at: Option<Sighting>,
    found: Vec<(StateKey, FoundPage)>,
    /// The loads that it took.
    resets: u64,
}

/// A crawl that can begin: the store is read and the first browser runs.
struct Prepared {
    driver: Driver,
    context: CrawlContext,
    browsers: Rc<Browsers>,
    url: PlainUrl,
    seeds: Vec<PlainUrl>,
    tabs: u32,
    /// What the store's writer reports.
    writes: mpsc::UnboundedReceiver<WriterEvent>,
}

async fn prepare(plan: CrawlPlan) -> Result<Prepared, CrawlError> {
    let CrawlPlan { store, settings, browser, secret, .. } = plan;
    let identity = identity::find(&settings.identity).ok_or_else(|| {
        CrawlError::Settings(format!("there is no identity {:?}", settings.identity))
    })?;
    let learned = learned::load(&store)?;
    let blanks = probe::blanks(&learned.masks);
    let agent = agent_settings(&settings, secret, blanks).map_err(CrawlError::Settings)?;
    agent.border.add_blocked(learned.blocked.clone());
    let factory = Arc::new(BrowserFactory::new(browser, u64::from(settings.browser_mb) << 20));
    factory.serve(agent.border.clone());
    let browsers = Rc::new(Browsers::launch(factory.clone()).await?);
    if settings.screenshots {
        factory.make_frames();
    }
    let browser = browsers.present().await?;
    let session = LoginSession::new(&settings).map_err(CrawlError::Settings)?;
    selectors::check_all(&browser, &settings).await.map_err(CrawlError::Settings)?;
    inputs::check_selectors(&browser, &settings.inputs).await.map_err(CrawlError::Settings)?;
    drop(browser);
    let reset_cost = if settings.tabs > 1 { learned.reset_cost } else { learned::RESET_COST };
    let controller = resume(&store, &settings, reset_cost)?;
    let mut pages = PageIndex::new(identity, settings.brakes());
    pages.divides = settings.stop_at != StopAt::All;
    pages.numbers = UniqueNumbers::beginning(&settings.seed.to_string());
    let pages = SharedPageIndex::new(pages);
    let (written, writes) = mpsc::unbounded_channel();
    let writer = store.writer(move |progress| {
        // The driver may have ended already.
        let _ = written.send(progress);
    })?;
    let details = Arc::new(LocalDetails::new(store));
    let driver = Driver {
        before: controller.known().spent(),
        controller,
        writer,
        details: details.clone(),
        lanes: BTreeMap::new(),
        pages: pages.clone(),
        border: agent.border.clone(),
        pace: Pace::new(learned.reset_cost),
        seeds_left: learned.seeds_left.clone(),
        started: Instant::now(),
        over: None,
        trouble: None,
    };
    {
        let mut pages = pages.lock();
        learned.into_page_index(&mut pages);
        pages.own_addresses.mark_tried(&settings.url);
        pages.own_addresses.set_reset_cost(reset_cost);
    }
    let context = CrawlContext {
        session: Arc::new(session),
        agent,
        pages,
        details,
        // The driver loads them.
        seeds: Arc::default(),
        screenshots: settings.screenshots,
    };
    let CrawlSettings { url, seeds, tabs, .. } = settings;
    Ok(Prepared { driver, context, browsers, url, seeds, tabs, writes })
}

fn tab_task(context: CrawlContext, mut first: Option<Crawler>, mut jobs: LocalJobs) -> TabTask {
    Box::new(move |browsers| {
        Box::pin(async move { drive_tab(&browsers, &context, &mut first, &mut jobs).await })
    })
}

/// Waits for the end of the crawl; meanwhile releases jobs that wait for the disk, and shows
/// progress.
async fn wait_until_over(
    shared: &SharedDriver,
    writes: &mut mpsc::UnboundedReceiver<WriterEvent>,
    interrupt: &Notify,
    deadline: Option<Instant>,
    watch: &mut impl FnMut(&CrawlProgress),
) {
    let end = deadline.unwrap_or_else(Instant::now).into();
    let mut tick = tokio::time::interval(TICK);
    while !shared.lock().is_over() {
        tokio::select! {
            biased;
            () = interrupt.notified() => shared.lock().stop(StoppedBy::Interrupt),
            Some(event) = writes.recv() => shared.lock().on_write(event),
            () = shared.over.notified() => {}
            _ = tick.tick() => {
                let progress = shared.lock().progress();
                watch(&progress);
            }
            () = tokio::time::sleep_until(end), if deadline.is_some() => {
                shared.lock().stop(StoppedBy::MaxTime);
            }
        }
    }
}

/// The controller that wrote the store's facts; a new one if there are none.
pub fn restore(
    store: &Store,
    settings: &CrawlSettings,
    reset_cost: f64,
) -> Result<Controller, CrawlError> {
    with_facts(store, settings, reset_cost, |settings, facts| Controller::restore(settings, facts))
}

/// The same, to go on with the crawl: it tries again what was given up.
fn resume(
    store: &Store,
    settings: &CrawlSettings,
    reset_cost: f64,
) -> Result<Controller, CrawlError> {
    with_facts(store, settings, reset_cost, |settings, facts| Controller::resume(settings, facts))
}

fn with_facts(
    store: &Store,
    settings: &CrawlSettings,
    reset_cost: f64,
    make: impl FnOnce(
        ControllerSettings,
        &mut dyn Iterator<Item = Fact>,
    ) -> Result<Controller, Contradiction>,
) -> Result<Controller, CrawlError> {
    let strategy = strategies::find(&settings.strategy).ok_or_else(|| {
        CrawlError::Settings(format!("there is no strategy {:?}", settings.strategy))
    })?;
    let exploring = StrategySettings { reset_cost, seed: settings.seed };
    let (limits, stop_at) = (settings.limits(), settings.stop_at);
    let controlling = ControllerSettings { strategy, exploring, limits, ahead: AHEAD, stop_at };
    let mut unread = None;
    let mut facts =
        store.facts()?.map_while(|fact| fact.map_err(|error| unread = Some(error)).ok());
    let controller = make(controlling, &mut facts);
    if let Some(error) = unread {
        return Err(error.into());
    }
    controller
        .map_err(|wrong| StoreError::Damaged(format!("fact {}: {}", wrong.at, wrong.what)).into())
}

impl Driver {
    /// Loads the first page twice to find out whether it can be crawled and what changes by itself.
    /// Returns a crawler that stands on it.
    async fn begin(
        &mut self,
        browsers: &Browsers,
        context: &mut CrawlContext,
        url: &str,
    ) -> Result<FirstTab, CrawlError> {
        let (first, second, mut tab) =
            probe::looks(browsers, &mut context.agent, &context.session, url).await?;
        learned::add_bounded(&mut self.pages.lock().endless, context.agent.endless.clone());
        let masks = probe::volatile(self.pages.lock().identity(), &first, &second);
        if !masks.is_empty() {
            context.agent.masks = probe::blanks(&masks);
            self.pages.lock().masks = masks;
            tab = browsers.tab(context.agent.clone()).await?;
        }
        let named = learned::first(&self.pages.lock(), &context.agent.origin);
        self.writer.append(Batch { named, ..Batch::default() })?;
        let mut crawler = Crawler::new(tab, context.clone());
        let mut loaded = crawler.load().await;
        if loaded.is_err() && browsers.discard(crawler.tab()) {
            crawler = context.open(browsers).await?;
            loaded = crawler.load().await;
        }
        if let Some(trouble) = context.session.trouble() {
            return Err(CrawlError::Login(trouble));
        }
        let (sighting, found) = loaded.map_err(NoTab::Tab)?;
        for (_, page) in &found {
            // The URL may lead to an address that reads differently.
            self.pages.lock().own_addresses.mark_tried(&page.url);
        }
        Ok(FirstTab { crawler, at: Some(sighting), found, resets: 3 })
    }

    /// Adds a tab; returns the end where its jobs come out.
    fn add_lane(&mut self, id: CrawlerId) -> (CrawlerId, mpsc::UnboundedReceiver<AssignedJobs>) {
        let (jobs, assigned) = mpsc::unbounded_channel();
        self.lanes.insert(id, Lane { jobs, unwritten: Vec::new(), waiting: None });
        (id, assigned)
    }

    fn is_over(&self) -> bool {
        self.over.is_some() || self.trouble.is_some()
    }

    fn on_report(&mut self, crawler: CrawlerId, job: JobId, report: JobReport) {
        let JobReport { outcome, cost, found, entered, learned } = report;
        let reset_cost = self.pace.measured(&cost);
        // With one tab the order of states is repeatable: no measured time decides it.
        if let Some(cost) = reset_cost.filter(|_| self.lanes.len() > 1) {
            self.handle(ControllerInput::ResetCost(cost), Vec::new());
            self.pages.lock().own_addresses.set_reset_cost(cost);
        }
        for EntryLoad { state, address, loading } in entered {
            let cost = self.pace.measured_entry(state, loading);
            let cost = cost.filter(|_| self.lanes.len() > 1);
            let at = Sighting::known(state);
            let entered = ControllerInput::Entered { at, address, seed: false, cost };
            self.handle(entered, Vec::new());
        }
        if learned || reset_cost.is_some() {
            let mut named = learned::learned(&self.pages.lock(), self.pace.reset_cost());
            named.push(learned::blocked(&self.border.blocked()));
            self.append(Batch { named, ..Batch::default() });
        }
        log_outcome(crawler, job, &outcome);
        let finished = ControllerInput::Finished { crawler, job, outcome, spent: cost.spent };
        self.carry_out(Some(crawler), finished, found);
    }

    fn handle(&mut self, input: ControllerInput, found: Vec<(StateKey, FoundPage)>) {
        self.carry_out(None, input, found);
    }

    /// Gives an input to the controller and carries out the effects: first what must be kept.
    fn carry_out(
        &mut self,
        crawler: Option<CrawlerId>,
        input: ControllerInput,
        mut found: Vec<(StateKey, FoundPage)>,
    ) {
        let mut effects = Vec::new();
        self.controller.handle(input, &mut effects);
        for (state, _) in found.iter().filter(|(state, _)| self.controller.knows(*state)) {
            self.pages.lock().mark_reported(*state);
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
            let pages = pages_of(&batch.states);
            if let Some(ticket) = self.append(batch) {
                self.details.keep(ticket, pages);
                if let Some(lane) = crawler.and_then(|id| self.lanes.get_mut(&id)) {
                    lane.unwritten.push(ticket);
                }
            }
        }
        for effect in rest {
            match effect {
                ControllerEffect::Assign { crawler, job, ahead } => {
                    log_job(crawler, &job);
                    self.share_entries(
                        [&job].into_iter().chain(ahead.iter().map(|next| &next.job)),
                    );
                    // As soon as enough of what the crawler did before is on disk.
                    if let Some(lane) = self.lanes.get_mut(&crawler) {
                        lane.waiting = Some((job, ahead));
                        lane.send_waiting();
                    }
                }
                ControllerEffect::Finished { complete, stopped_by } => {
                    self.over = Some((complete, stopped_by));
                }
                // A tab without a job waits by itself.
                ControllerEffect::Rest { .. } | ControllerEffect::Keep(_) => {}
            }
        }
    }

    /// Tells the tabs which address each of these jobs begins with, if that is not the URL.
    fn share_entries<'a>(&self, jobs: impl Iterator<Item = &'a Job>) {
        for job in jobs.filter(|job| job.reset) {
            let start = job.start();
            let address = self.controller.entry_address(start);
            self.pages.lock().own_addresses.set_entry(start, address);
        }
    }

    fn append(&mut self, batch: Batch) -> Option<u64> {
        match self.writer.append(batch) {
            Ok(ticket) => Some(ticket),
            // The writer has reported why; see `on_write`.
            Err(StoreError::Stopped) => None,
            Err(error) => {
                self.trouble = Some(error.into());
                None
            }
        }
    }

    fn on_write(&mut self, event: WriterEvent) {
        match event {
            WriterEvent::Failed(error) => self.trouble = Some(error.into()),
            WriterEvent::Durable(ticket) => {
                self.details.on_durable(ticket);
                for lane in self.lanes.values_mut() {
                    lane.unwritten.retain(|&other| other > ticket);
                    lane.send_waiting();
                }
            }
        }
    }

    /// Stops at once: a resumed crawl repeats what is under way.
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
        let summary = summary.with_doubts(self.pages.lock().doubts.clone());
        let summary = summary.with_seeds_left(self.seeds_left.clone());
        let blocked = self.border.blocked();
        CrawlSummary { reset_cost: self.pace.reset_cost(), blocked, ..summary }
    }

    /// Writes what was blocked, and waits for the disk.
    fn finish(mut self) -> Result<(), CrawlError> {
        let named = vec![learned::blocked(&self.border.blocked())];
        self.append(Batch { named, ..Batch::default() });
        let closed = self.writer.close();
        match self.trouble {
            Some(trouble) => Err(trouble),
            None => Ok(closed?),
        }
    }
}

fn log_job(crawler: CrawlerId, job: &Job) {
    let Job { id, reset, walk, state, action } = job;
    let (tab, id, start, steps) = (crawler.0, id.0, job.start(), walk.len());
    tracing::debug!(tab, job = id, reset, ?start, steps, ?state, ?action, "assigned");
}

fn log_outcome(crawler: CrawlerId, job: JobId, outcome: &Outcome) {
    let (tab, job) = (crawler.0, job.0);
    match outcome {
        Outcome::Done { at, .. } => tracing::debug!(tab, job, at = ?at.key, "executed"),
        Outcome::Elsewhere { went_right, at } => {
            tracing::debug!(tab, job, steps = went_right, at = ?at.key, "ended elsewhere");
        }
        Outcome::Failed { went_right, reason } => {
            let why = reason.in_words();
            tracing::debug!(tab, job, steps = went_right, why, "failed");
        }
    }
}
