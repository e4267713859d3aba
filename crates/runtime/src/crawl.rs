//! The driver of a crawl on one machine: carries out what the controller asks for. It knows clocks, disks
//! and browsers; what to do next it does not.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argiope_browser::agent::AgentSettings;
use argiope_browser::{LaunchError, LaunchSettings};
use argiope_controller::Controller;
use argiope_controller::input::{Effect, Input, StoppedBy};
use argiope_controller::job::{Ahead, CrawlerId, Job, JobId};
use argiope_controller::record::Record;
use argiope_controller::settings::Settings as Controlling;
use argiope_controller::spent::Spent;
use argiope_explore::id::StateKey;
use argiope_explore::identity;
use argiope_explore::strategies;
use argiope_explore::strategy::Settings as Exploring;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use crate::browsers::{Browsers, NoTab};
use crate::crawler::{Crawler, Report};
use crate::knowledge::Knowledge;
use crate::pace::Pace;
use crate::probe::{self, NoLook, NoPage};
use crate::remembered;
use crate::selectors;
use crate::settings::{CrawlSettings, Scope};
use crate::store::{Batch, Found, Progress as Written, Store, StoreError, Writer};
use crate::work::{Office, Told, agent, work};

pub use crate::summary::{Progress, Summary};

/// How many jobs of one tab may be done but not yet on disk. Together with the one under way these are the
/// jobs in flight: the most that a kill makes a crawl do again. Measured: a busy disk takes 20 ms for a commit,
/// in which a tab does about twenty jobs; with fewer it would wait for the disk.
pub const UNWRITTEN: usize = 32;
/// How many jobs a tab may be given beyond one. Measured on ten switches: with 15 and with 31 it was no faster.
pub const AHEAD: usize = 7;
const TICK: Duration = Duration::from_millis(250);
const WEIGHING: Duration = Duration::from_secs(5);

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
    /// The settings name something that is not there.
    #[error("{0}")]
    Settings(String),
}

/// What a crawl needs.
pub struct Plan {
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
    jobs: mpsc::UnboundedSender<(Job, Vec<Ahead>)>,
    task: JoinHandle<()>,
    /// Tickets of batches that are not on disk yet.
    unwritten: Vec<u64>,
    /// Jobs that are to be begun, or wait for the disk.
    waiting: Option<(Job, Vec<Ahead>)>,
}

impl Hand {
    /// Begins with the jobs that wait, if enough of what was done before is on disk.
    fn go_on(&mut self) {
        let room = |(_, ahead): &mut (Job, Vec<Ahead>)| self.unwritten.len() + ahead.len() < UNWRITTEN;
        if let Some(jobs) = self.waiting.take_if(room) {
            // A crawler that is gone has said so.
            let _ = self.jobs.send(jobs);
        }
    }
}

struct Driver {
    controller: Controller,
    writer: Writer,
    hands: BTreeMap<CrawlerId, Hand>,
    knowledge: Rc<RefCell<Knowledge>>,
    pace: Pace,
    started: Instant,
    before: Spent,
    over: Option<(bool, Option<StoppedBy>)>,
    trouble: Option<CrawlError>,
}

/// Crawls until there is nothing left, a limit is reached or somebody stops it. Must run in a `LocalSet`.
pub async fn crawl(plan: Plan, mut watch: impl FnMut(&Progress)) -> Result<Summary, CrawlError> {
    let Plan { store, settings, browser, secret, interrupt, deadline } = plan;
    let identity = identity::find(&settings.identity)
        .ok_or_else(|| CrawlError::Settings(format!("there is no identity {:?}", settings.identity)))?;
    let scope = Scope::of(&settings.url).map_err(CrawlError::Settings)?;
    let learned = remembered::load(&store)?;
    let browsers = Rc::new(Browsers::launch(browser, u64::from(settings.browser_mb) << 20).await?);
    if settings.screenshots {
        browsers.make_frames();
    }
    let sandboxed = browsers.present().await?.is_sandboxed();
    let usable = selectors::check(&*browsers.present().await?, &settings.ignore).await;
    usable.map_err(|error| CrawlError::Settings(format!("--ignore: {error}")))?;
    let controller = restore(&store, &settings, learned.reset_cost)?;
    let scope = Scope { origin: learned.origin.clone().unwrap_or(scope.origin), ..scope };
    let mut agent = agent(&settings, secret, scope, probe::blanks(&learned.masks));
    let knowledge = Rc::new(RefCell::new(Knowledge::new(identity)));
    let fresh = controller.graph().is_none();
    let store = Rc::new(store);
    let (told, mut tellings) = mpsc::unbounded_channel();
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
    let url: Rc<str> = settings.url.as_str().into();
    learned.into_knowledge(&mut knowledge.borrow_mut());
    let office =
        Office { browsers: browsers.clone(), url, knowledge, store, screenshots: settings.screenshots };
    let until = deadline.map_or_else(far, tokio::time::Instant::from_std);
    if fresh {
        // Whatever the time: a crawl without its first page would have nothing to resume.
        let others = tokio::task::spawn_local(browsers.clone().open_ahead(settings.tabs.saturating_sub(1)));
        let begun = driver.begin(&office, &mut agent, &told).await;
        if begun.is_err() {
            others.abort();
        }
        begun?;
        // A tab that could not be opened ahead is opened when it is needed.
        let _ = others.await;
        // The price of the first looks is not the crawl's.
        driver.started = Instant::now();
    }
    for number in driver.hands.len() as u64..u64::from(settings.tabs) {
        driver.hire(CrawlerId(number), None, office.clone(), agent.clone(), told.clone());
    }
    let mut tick = tokio::time::interval(TICK);
    let mut weighed = Instant::now();
    while driver.over.is_none() && driver.trouble.is_none() {
        tokio::select! {
            biased;
            () = interrupt.notified() => driver.stop(StoppedBy::Interrupt),
            Some(progress) = writings.recv() => driver.written(progress),
            Some(telling) = tellings.recv() => driver.told(telling),
            _ = tick.tick() => {
                watch(&driver.progress());
                if weighed.elapsed() > WEIGHING {
                    weighed = Instant::now();
                    browsers.watch_memory().await?;
                }
            }
            () = tokio::time::sleep_until(until) => driver.stop(StoppedBy::MaxTime),
        }
    }
    watch(&driver.progress());
    driver.finish(office, browsers, sandboxed).await
}

/// The controller that wrote the store's records; one that has not begun if there are none.
pub fn restore(store: &Store, settings: &CrawlSettings, reset_cost: f64) -> Result<Controller, CrawlError> {
    let strategy = strategies::find(&settings.strategy)
        .ok_or_else(|| CrawlError::Settings(format!("there is no strategy {:?}", settings.strategy)))?;
    let exploring = Exploring { reset_cost, seed: settings.seed };
    let controlling = Controlling { strategy, exploring, limits: settings.limits(), ahead: AHEAD };
    let mut unread = None;
    let records = store.records()?.map_while(|record| record.map_err(|error| unread = Some(error)).ok());
    let controller = Controller::restore(controlling, records);
    if let Some(error) = unread {
        return Err(error.into());
    }
    controller.map_err(|wrong| StoreError::Damaged(format!("record {}: {}", wrong.at, wrong.what)).into())
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
    /// Loads the first page twice: is it one, and what of it changes by itself?
    async fn begin(
        &mut self,
        office: &Office,
        agent: &mut AgentSettings,
        told: &mpsc::UnboundedSender<Told>,
    ) -> Result<(), CrawlError> {
        let (first, second, mut tab) = probe::looks(&office.browsers, agent, &office.url).await?;
        let masks = probe::volatile(self.knowledge.borrow().identity(), &first, &second);
        if !masks.is_empty() {
            agent.masks = probe::blanks(&masks);
            self.knowledge.borrow_mut().masks = masks;
            tab = office.browsers.tab(agent.clone()).await?;
        }
        let named = remembered::first(&self.knowledge.borrow(), &agent.origin);
        self.writer.append(Batch { named, ..Batch::default() })?;
        let mut crawler = office.crawler(tab);
        let mut loaded = crawler.load().await;
        if loaded.is_err() && office.browsers.discard(crawler.tab()) {
            crawler = office.crawler(office.browsers.tab(agent.clone()).await?);
            loaded = crawler.load().await;
        }
        let (sighting, found) = loaded.map_err(NoTab::Tab)?;
        let id = CrawlerId(0);
        self.hire(id, Some(crawler), office.clone(), agent.clone(), told.clone());
        let spent = Spent { actions: 0, resets: 3 };
        self.handle(Input::Ready { crawler: id, at: Some(sighting), spent }, found);
        Ok(())
    }

    /// A new crawler; it gets itself a tab if it has none.
    fn hire(
        &mut self,
        id: CrawlerId,
        crawler: Option<Crawler>,
        office: Office,
        agent: AgentSettings,
        told: mpsc::UnboundedSender<Told>,
    ) {
        let (jobs, given) = mpsc::unbounded_channel();
        let task = tokio::task::spawn_local(work(id, crawler, office, agent, given, told));
        self.hands.insert(id, Hand { jobs, task, unwritten: Vec::new(), waiting: None });
    }

    fn told(&mut self, telling: Told) {
        match telling {
            Told::Ready(crawler) => {
                self.handle(Input::Ready { crawler, at: None, spent: Spent::default() }, Vec::new());
            }
            Told::Done(crawler, reports) => {
                for (job, report) in reports {
                    self.finished(crawler, job, report);
                }
            }
            Told::Broken(error) => self.trouble = Some(error.into()),
        }
    }

    fn finished(&mut self, crawler: CrawlerId, job: JobId, report: Report) {
        let Report { outcome, spent, found, learned } = report;
        if let Some(cost) = self.pace.measured(&spent) {
            self.handle(Input::ResetCost(cost), Vec::new());
        }
        if learned || self.pace.has_changed() {
            self.keep_knowledge();
        }
        let spent = Spent { actions: spent.actions, resets: spent.resets };
        self.carry_out(Some(crawler), Input::Finished { crawler, job, outcome, spent }, found);
    }

    fn keep_knowledge(&mut self) {
        let named = remembered::learned(&self.knowledge.borrow(), self.pace.reset_cost());
        self.append(Batch { named, ..Batch::default() });
    }

    fn handle(&mut self, input: Input, found: Vec<(StateKey, Found)>) {
        self.carry_out(None, input, found);
    }

    /// Hands an input to the controller and carries out what it asks for: first what is to be kept.
    fn carry_out(&mut self, crawler: Option<CrawlerId>, input: Input, mut found: Vec<(StateKey, Found)>) {
        let mut effects = Vec::new();
        self.controller.handle(input, &mut effects);
        let mut batch = Batch::default();
        let mut rest = Vec::new();
        for effect in effects {
            match effect {
                Effect::Keep(record) => batch.records.push(record),
                other => rest.push(other),
            }
        }
        let elapsed = u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX);
        for record in &batch.records {
            if let Record::State { key, .. } = record
                && let Some(at) = found.iter().position(|(state, _)| state == key)
            {
                let (key, found) = found.swap_remove(at);
                batch.states.push((key, Found { found_at: elapsed, ..found }));
            }
        }
        if batch != Batch::default() {
            let ticket = self.append(batch);
            if let (Some(hand), Some(ticket)) = (crawler.and_then(|id| self.hands.get_mut(&id)), ticket) {
                hand.unwritten.push(ticket);
            }
        }
        for effect in rest {
            match effect {
                Effect::Assign { crawler, job, ahead } => self.assign(crawler, (job, ahead)),
                Effect::Finished { complete, stopped_by } => self.over = Some((complete, stopped_by)),
                // A crawler without a job waits by itself.
                Effect::Rest { .. } | Effect::Keep(_) => {}
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
    fn assign(&mut self, crawler: CrawlerId, jobs: (Job, Vec<Ahead>)) {
        let Some(hand) = self.hands.get_mut(&crawler) else { return };
        hand.waiting = Some(jobs);
        hand.go_on();
    }

    fn written(&mut self, progress: Written) {
        match progress {
            Written::Failed(error) => self.trouble = Some(error.into()),
            Written::Durable(ticket) => {
                for hand in self.hands.values_mut() {
                    hand.unwritten.retain(|&other| other > ticket);
                    hand.go_on();
                }
            }
        }
    }

    /// At once: what is under way is done again when the crawl is resumed.
    fn stop(&mut self, by: StoppedBy) {
        self.handle(Input::Stop(by), Vec::new());
        self.over.get_or_insert((false, Some(by)));
    }

    fn progress(&self) -> Progress {
        let so_far = Progress::of(&self.controller);
        Progress {
            actions_now: so_far.actions - self.before.actions,
            elapsed: self.started.elapsed(),
            ..so_far
        }
    }

    async fn finish(
        self,
        office: Office,
        browsers: Rc<Browsers>,
        sandboxed: bool,
    ) -> Result<Summary, CrawlError> {
        let progress = self.progress();
        let (complete, stopped_by) = self.over.unwrap_or((false, Some(StoppedBy::Trouble)));
        let summary = Summary::of(&self.controller, complete, stopped_by);
        for hand in self.hands.into_values() {
            hand.task.abort();
            // The task ends by this; its tab goes with it.
            let _ = hand.task.await;
        }
        let closed = self.writer.close();
        drop(office);
        let browsers_replaced = browsers.replaced();
        if let Ok(browsers) = Rc::try_unwrap(browsers) {
            browsers.close().await;
        }
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        closed?;
        Ok(Summary { progress, reset_cost: self.pace.reset_cost(), browsers_replaced, sandboxed, ..summary })
    }
}
