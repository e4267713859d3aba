//! A crawler: one tab that performs jobs and reports how they ended. It must not know why a job
//! was assigned.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argiope_browser::agent::{PathStep, Raw};
use argiope_browser::note::Noted;
use argiope_browser::tab::{Tab, TabError, TabPosition};
use argiope_controller::job::{Job, Transition};
use argiope_controller::outcome::{JobFailure, Note, Offered, Outcome, Sighting};
use argiope_controller::spent::Spent;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::page::{Kind, Page};

use crate::address::without_logins;
use crate::executor::CrawlContext;
use crate::learned;
use crate::numbers;
use crate::page_index::{ActionHandle, KnownPage, PageActions, PlacedAction, Suspicion};
use crate::store::{FoundPage, OfferDetail};

/// The time that an application gets to end after a dangerous action, before a load says whether it
/// has. A guess: most servers close their port within it.
const AFTER_DANGER: Duration = Duration::from_secs(1);
/// How many loads must fail until the application counts as ended: one that restarts comes back.
const LOADS_AFTER_DANGER: u32 = 3;

/// What a job has cost.
#[derive(Debug, Default)]
pub struct JobCost {
    /// Actions executed, and loads.
    pub spent: Spent,
    /// How many of those loads were not of the URL.
    pub entry_loads: u64,
    /// The time of the others, from which the cost of a reset is computed.
    pub loading: Duration,
    /// The time of those actions.
    pub acting: Duration,
}

/// How a job ended, with everything to keep.
#[derive(Debug)]
pub struct JobReport {
    /// For the controller.
    pub outcome: Outcome,
    /// What it cost.
    pub cost: JobCost,
    /// States that this crawler has looked at for the first time.
    pub found: Vec<(StateKey, FoundPage)>,
    /// Loads of addresses that led to states.
    pub entered: Vec<EntryLoad>,
    /// Whether something to keep was learned: which actions need trusted input, what is volatile.
    pub learned: bool,
}

impl JobReport {
    /// The report of a job that was not begun because its browser was replaced.
    pub fn lost() -> Self {
        Self {
            outcome: Outcome::Failed { went_right: 0, reason: JobFailure::Lost },
            cost: JobCost::default(),
            found: Vec::new(),
            entered: Vec::new(),
            learned: false,
        }
    }
}

/// What is known of states, from any crawler.
pub trait Details {
    /// The first page of a state: its raw hash, and what can be done there.
    fn offers(&self, key: StateKey) -> Option<(Raw, Vec<OfferDetail>)>;
    /// Its page, as the first crawler saw it.
    fn page(&self, key: StateKey) -> Option<Page>;
    /// Its address, as the first crawler saw it.
    fn address(&self, _: StateKey) -> Option<String> {
        None
    }
    /// The state of a page that a crawler of another process has looked at; its offers are then
    /// known. It may ask the cluster. On one machine all crawlers share one page index.
    fn which(&self, _: Raw) -> Pin<Box<dyn Future<Output = Option<StateKey>> + '_>> {
        Box::pin(std::future::ready(None))
    }
}

mod batch;
mod entering;
mod seeding;
mod session;

pub use entering::EntryLoad;

/// One tab with what it has to report.
pub struct Crawler {
    tab: Tab,
    context: CrawlContext,
    /// Where the tab stands.
    at: Option<KnownPage>,
    cost: JobCost,
    found: Vec<(StateKey, FoundPage)>,
    entered: Vec<EntryLoad>,
    learned: bool,
    /// How many endless addresses the tab and the page index had when they last agreed.
    endless: usize,
    /// How many blocked hosts the page index knows.
    blocked: usize,
    /// The number of the tab's session with the application.
    generation: u64,
}

/// Steps of a job that were performed in one call: where the tab stood, and where it arrived.
struct PerformedSteps {
    before: KnownPage,
    steps: Vec<PathStep>,
    arrival: TabPosition,
}

/// What ends a job early.
enum Stop {
    Elsewhere(Sighting),
    Failed(JobFailure),
}

impl From<TabError> for Stop {
    fn from(error: TabError) -> Self {
        Self::Failed(match error {
            TabError::Hung | TabError::Confused(_) => JobFailure::Hung,
            TabError::Crashed => JobFailure::Crashed,
            TabError::Lost | TabError::Disturbed | TabError::AnswerLost => JobFailure::Lost,
            TabError::NotLoaded(_) => JobFailure::NotLoaded,
            TabError::NeedsFrames | TabError::NeedsOutsiders | TabError::LoggedOut => {
                JobFailure::Exchanged
            }
            TabError::OutOfScope(_) => JobFailure::OutOfScope,
        })
    }
}

impl Crawler {
    /// Takes over a tab in which nothing is loaded.
    pub fn new(tab: Tab, context: CrawlContext) -> Self {
        let cost = JobCost::default();
        let (endless, generation) = (tab.endless().len(), 0);
        Self {
            tab,
            context,
            at: None,
            cost,
            found: Vec::new(),
            entered: Vec::new(),
            learned: false,
            endless,
            blocked: 0,
            generation,
        }
    }

    /// The actions that the tab's present state offers.
    pub fn offers(&self) -> Option<Vec<Offered>> {
        self.at.as_ref().map(|at| at.actions.offers())
    }

    /// Whether the actions of a state can be found on its page without a look.
    pub fn knows(&self, key: StateKey) -> bool {
        self.context.pages.lock().actions_of(key).is_some()
            || self.context.details.offers(key).is_some()
    }

    /// The tab.
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// Loads the URL, for a crawl that begins.
    pub async fn load(&mut self) -> Result<(Sighting, Vec<(StateKey, FoundPage)>), TabError> {
        self.learn_endless().await?;
        let arrival = self.enter().await?;
        self.share_endless();
        self.share_doubts(&arrival);
        let sighting = self.sighting(&arrival).await?;
        Ok((sighting, std::mem::take(&mut self.found)))
    }

    fn report(&mut self, ended: Result<Outcome, Stop>, went_right: u32) -> JobReport {
        let outcome = match ended {
            Ok(outcome) => outcome,
            Err(Stop::Elsewhere(at)) => Outcome::Elsewhere { went_right, at },
            Err(Stop::Failed(reason)) => {
                self.at = None;
                if reason == JobFailure::Exchanged && self.tab.must_be_exchanged() {
                    // Another tab performs the job again, and counts then.
                    self.cost.spent.actions = 0;
                }
                Outcome::Failed { went_right, reason }
            }
        };
        JobReport {
            outcome,
            cost: std::mem::take(&mut self.cost),
            found: std::mem::take(&mut self.found),
            entered: std::mem::take(&mut self.entered),
            learned: std::mem::take(&mut self.learned),
        }
    }

    /// Performs a job, or the rest of it if some steps are performed already.
    async fn follow(
        &mut self,
        job: &Job,
        mut performed: Option<PerformedSteps>,
        went_right: &mut u32,
    ) -> Result<Outcome, Stop> {
        let mut done = 0;
        loop {
            let PerformedSteps { before, steps, arrival } = match performed.take() {
                Some(part) => part,
                None => self.perform_next(job, done, went_right).await?,
            };
            done += arrival.done;
            *went_right = u32::try_from(done.min(job.walk.len())).unwrap_or(u32::MAX);
            if arrival.missing || arrival.done == 0 {
                return Err(Stop::Failed(JobFailure::Missing));
            }
            if done > job.walk.len() {
                return self.conclude(job, before, steps, arrival).await;
            }
            // The last step of a call must lead to the state on the walk, by any page of it. It may
            // need trusted input, which another crawler has found out and this one has not.
            *went_right -= 1;
            let Transition { from, action, to: expected } = job.walk[done - 1];
            let last = &steps[arrival.done - 1];
            let arrival = if last.expect == Some(arrival.raw) {
                arrival
            } else {
                let raw_before = raw_before(&before, &steps, arrival.done);
                self.retry_trusted(self.placed(from, action), last, raw_before, arrival).await?
            };
            self.arrive(&arrival, expected).await?;
            *went_right += 1;
        }
    }

    /// Performs as much of a job as goes into one call.
    async fn perform_next(
        &mut self,
        job: &Job,
        done: usize,
        went_right: &mut u32,
    ) -> Result<PerformedSteps, Stop> {
        let before = self.at.clone().ok_or(Stop::Failed(JobFailure::Lost))?;
        let mut steps = self.steps(&before, job, done)?;
        if self.context.pages.lock().risky.contains(&(job.state, job.action)) {
            steps.truncate(1);
        }
        let with_candidate = done + steps.len() > job.walk.len();
        match self.run(&steps).await {
            Err(stop) if with_candidate && !self.tab.must_be_exchanged() => {
                // Which step failed is unknown. The walk went right before, so the candidate is
                // blamed; the next attempt performs each step by itself.
                *went_right = u32::try_from(job.walk.len()).unwrap_or(u32::MAX);
                self.context.pages.lock().risky.insert((job.state, job.action));
                Err(stop)
            }
            arrival => Ok(PerformedSteps { before, steps, arrival: arrival? }),
        }
    }

    /// The steps of the rest of a job: the first on the present page, the others on the first page
    /// of their state.
    fn steps(&self, before: &KnownPage, job: &Job, done: usize) -> Result<Vec<PathStep>, Stop> {
        let mut steps = Vec::with_capacity(job.walk.len() - done + 1);
        let mut actions = before.actions.clone();
        for step in &job.walk[done..] {
            let next = self.actions_of(step.to).ok_or(Stop::Failed(JobFailure::Missing))?;
            steps.push(self.step(&actions, step.action, Some(&next))?);
            actions = next;
        }
        steps.push(PathStep { first: true, ..self.step(&actions, job.action, None)? });
        Ok(steps)
    }

    fn step(
        &self,
        actions: &PageActions,
        action: ActionSignature,
        next: Option<&PageActions>,
    ) -> Result<PathStep, Stop> {
        let handle = actions.handle(action).ok_or(Stop::Failed(JobFailure::Missing))?;
        Ok(PathStep {
            kind: handle.kind,
            place: handle.place.clone().into(),
            argument: handle.argument.clone().into(),
            number: None,
            trusted: self.context.pages.lock().trusted.get(&handle.placed()) == Some(&true),
            expect: next.map(|actions| actions.raw),
            first: false,
        })
    }

    /// The actions of a state, from memory or from the store.
    fn actions_of(&self, key: StateKey) -> Option<Arc<PageActions>> {
        if let Some(actions) = self.context.pages.lock().actions_of(key) {
            return Some(actions.clone());
        }
        let (raw, offers) = self.context.details.offers(key)?;
        Some(self.context.pages.lock().recall(key, raw, &offers))
    }

    async fn reset(&mut self) -> Result<TabPosition, Stop> {
        self.at = None;
        let began = Instant::now();
        self.cost.spent.resets += 1;
        self.learn_endless().await?;
        let arrival = self.enter().await?;
        self.share_endless();
        self.share_blocked();
        self.share_doubts(&arrival);
        self.cost.loading += began.elapsed();
        Ok(arrival)
    }

    async fn run(&mut self, steps: &[PathStep]) -> Result<TabPosition, Stop> {
        let arrival = self.timed(steps).await;
        // How many of the failed steps were begun is unknown: all count.
        self.cost.spent.actions +=
            arrival.as_ref().map_or(steps.len(), |arrival| arrival.done) as u64;
        Ok(arrival?)
    }

    async fn timed(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        self.learn_endless().await?;
        let began = Instant::now();
        let numbered = self.numbered(steps);
        let arrival = self.tab.run(numbered.as_deref().unwrap_or(steps)).await;
        self.cost.acting += began.elapsed();
        self.share_endless();
        self.share_blocked();
        if let Ok(arrival) = &arrival {
            self.share_doubts(arrival);
        }
        arrival
    }

    /// Remembers that the page may have deceived the agent.
    fn share_doubts(&mut self, arrival: &TabPosition) {
        if !arrival.tampered.is_empty() {
            let names = arrival.tampered.iter().cloned();
            self.learned |= self.context.pages.lock().doubts.add_tampered(names);
        }
    }

    /// The steps with a new number for each value that must be unique; `None` if there is none.
    fn numbered(&mut self, steps: &[PathStep]) -> Option<Vec<PathStep>> {
        if !steps.iter().any(numbers::needs_number) {
            return None;
        }
        let mut steps = steps.to_vec();
        let mut pages = self.context.pages.lock();
        for step in steps.iter_mut().filter(|step| numbers::needs_number(step)) {
            let (number, news) = pages.numbers.issue();
            step.number = Some(number);
            self.learned |= news;
        }
        Some(steps)
    }

    /// Takes over the endless addresses that other tabs have found.
    async fn learn_endless(&mut self) -> Result<(), TabError> {
        let news: Vec<String> = {
            let pages = self.context.pages.lock();
            if pages.endless.len() == self.endless {
                return Ok(());
            }
            pages.endless.iter().cloned().collect()
        };
        self.tab.learn_endless(&news).await?;
        self.endless = news.len();
        Ok(())
    }

    /// Tells other tabs the endless addresses that this one has found.
    fn share_endless(&mut self) {
        if self.tab.endless().len() <= self.endless {
            return;
        }
        let mut pages = self.context.pages.lock();
        learned::add_bounded(&mut pages.endless, self.tab.endless().iter().cloned());
        self.endless = pages.endless.len();
        self.learned = true;
    }

    /// Tells other processes the hosts outside whose requests were blocked.
    fn share_blocked(&mut self) {
        let blocked = self.context.agent.border.count_blocked_hosts();
        if blocked != self.blocked {
            self.blocked = blocked;
            let hosts = self.context.agent.border.blocked().into_keys();
            learned::add_bounded(&mut self.context.pages.lock().blocked, hosts);
            self.learned = true;
        }
    }

    /// The candidate is executed: finds out where it led.
    async fn conclude(
        &mut self,
        job: &Job,
        before: KnownPage,
        steps: Vec<PathStep>,
        arrival: TabPosition,
    ) -> Result<Outcome, Stop> {
        let raw_before = raw_before(&before, &steps, steps.len());
        let step = &steps[steps.len() - 1];
        let placed = self.placed(job.state, job.action);
        let arrival = self.retry_trusted(placed, step, raw_before, arrival).await?;
        let sighting = self.sighting_after_action(&arrival).await?;
        let once = arrival.link.is_some() && step.kind == Kind::Click;
        let mut notes = notes_of(&arrival);
        if self.is_allowed(job) {
            notes.push(Note::Allowed);
            if !self.still_loads().await {
                notes.push(Note::Ended);
            }
        }
        Ok(Outcome::Done { at: sighting, notes, once })
    }

    /// Where the executed candidate has led, unless it has ended the session.
    async fn sighting_after_action(&mut self, arrival: &TabPosition) -> Result<Sighting, Stop> {
        match self.sighting(arrival).await {
            Err(TabError::LoggedOut) => {
                let has_ended = self.has_session_ended(arrival.raw).await?;
                let reason = if has_ended { JobFailure::LoggedOut } else { JobFailure::Exchanged };
                Err(Stop::Failed(reason))
            }
            sighting => Ok(sighting?),
        }
    }

    /// Repeats an action without effect with trusted input (the browser's own), and remembers
    /// whether that made a difference.
    async fn retry_trusted(
        &mut self,
        action: PlacedAction,
        step: &PathStep,
        raw_before: Option<Raw>,
        arrival: TabPosition,
    ) -> Result<TabPosition, TabError> {
        if !self.is_undecided(action) {
            return Ok(arrival);
        }
        let nothing =
            raw_before == Some(arrival.raw) && arrival.notes.is_empty() && arrival.settled;
        if !nothing {
            self.context.pages.lock().trusted.insert(action, false);
            return Ok(arrival);
        }
        if !can_be_trusted(step.kind) {
            return Ok(arrival);
        }
        let again = PathStep { trusted: true, ..step.clone() };
        // The same action in another way: it counts once, as the controller expects.
        let real = self.timed(std::slice::from_ref(&again)).await?;
        let differs = !real.missing && (Some(real.raw) != raw_before || !real.notes.is_empty());
        self.context.pages.lock().trusted.insert(action, differs);
        self.learned |= differs;
        Ok(real)
    }

    fn is_undecided(&self, action: PlacedAction) -> bool {
        !self.context.pages.lock().trusted.contains_key(&action)
    }

    /// Whether the application can be loaded after a dangerous action. The tab then stands nowhere.
    async fn still_loads(&mut self) -> bool {
        for _ in 0..LOADS_AFTER_DANGER {
            tokio::time::sleep(AFTER_DANGER).await;
            match self.reset().await {
                Err(Stop::Failed(JobFailure::NotLoaded)) => {}
                // Another failure is not the application's.
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }

    /// Whether a job's action is dangerous, and the crawl was told to perform it.
    fn is_allowed(&self, job: &Job) -> bool {
        let actions = self.actions_of(job.state);
        actions.and_then(|actions| Some(actions.handle(job.action)?.allowed)).unwrap_or(false)
    }

    /// An action where it is on the page of its state.
    fn placed(&self, state: StateKey, action: ActionSignature) -> PlacedAction {
        let actions = self.actions_of(state);
        let handle = actions.as_ref().and_then(|actions| actions.handle(action));
        handle.map_or((action, 0), ActionHandle::placed)
    }

    /// The state that the tab stands in. Looks at the page if it is unknown.
    async fn sighting(&mut self, arrival: &TabPosition) -> Result<Sighting, TabError> {
        let met = self.context.pages.lock().page(arrival.raw).cloned();
        let known = match met {
            Some(known) => Some(known),
            None => self.known_elsewhere(arrival.raw).await,
        };
        if let Some(known) = known {
            let key = known.key;
            self.at = Some(known);
            return Ok(Sighting::known(key));
        }
        if arrival.outside && !self.context.session.is_inside(arrival.raw) {
            return Err(TabError::LoggedOut);
        }
        self.look_anew().await
    }

    /// A page that a crawler of another process has looked at.
    async fn known_elsewhere(&self, raw: Raw) -> Option<KnownPage> {
        let key = self.context.details.which(raw).await?;
        let actions = self.actions_of(key).filter(|actions| actions.raw == raw)?;
        Some(KnownPage { key, actions })
    }

    /// Looks at the page, and adds it to what is found.
    async fn look_anew(&mut self) -> Result<Sighting, TabError> {
        let mut look = self.tab.look().await?;
        look.page = look.page.checked().map_err(|error| TabError::Confused(error.to_string()))?;
        if look.truncated {
            let mut pages = self.context.pages.lock();
            self.learned |= !std::mem::replace(&mut pages.doubts.truncated, true);
        }
        let details = &self.context.details;
        let (known, mut found) =
            self.context.pages.lock().recognise(look, |key| details.offers(key).is_some());
        if self.context.screenshots {
            found.screenshot = self.tab.screenshot().await.ok();
        }
        let offers = Some(found.offers.iter().map(OfferDetail::offered).collect());
        let (key, parts) = (known.key, found.parts.take().map(Box::new));
        self.at = Some(known);
        self.found.push((key, found));
        Ok(Sighting { key, offers, parts })
    }

    /// Checks that the tab stands in the expected state.
    async fn arrive(&mut self, arrival: &TabPosition, expected: StateKey) -> Result<(), Stop> {
        let sighting = match self.sighting(arrival).await {
            Err(TabError::LoggedOut) => {
                // Not the fault of the candidate: the next tab logs in, or knows the page.
                self.has_session_ended(arrival.raw).await?;
                return Err(Stop::Failed(JobFailure::Exchanged));
            }
            sighting => sighting?,
        };
        if sighting.key == expected {
            // The state came back: the page that differed from it is another state.
            let mut pages = self.context.pages.lock();
            if pages.suspects.remove(&expected).is_some() {
                pages.cleared.insert(expected);
            }
            return Ok(());
        }
        match self.suspect(expected, &sighting) {
            Suspicion::None => Err(Stop::Elsewhere(sighting)),
            // The controller tries again with another tab. The state may well have come back, so
            // this must not count as a sign that it has not.
            Suspicion::First => Err(Stop::Failed(JobFailure::Exchanged)),
            Suspicion::Confirmed => {
                let sighting = self.look_anew().await?;
                if sighting.key == expected { Ok(()) } else { Err(Stop::Elsewhere(sighting)) }
            }
        }
    }

    /// Whether the page of a state that this job has found is the expected state.
    fn suspect(&mut self, expected: StateKey, sighting: &Sighting) -> Suspicion {
        let Some((_, now)) = self.found.last().filter(|(key, _)| *key == sighting.key) else {
            return Suspicion::None;
        };
        let Some(before) = self.context.details.page(expected) else { return Suspicion::None };
        let mut pages = self.context.pages.lock();
        let suspicion = pages.suspect(expected, &before, (sighting.key, &now.page));
        if suspicion == Suspicion::None {
            return suspicion;
        }
        // The page is not a state of its own.
        if let Some(at) = &self.at {
            pages.forget(at);
        }
        self.learned = true;
        self.found.pop();
        suspicion
    }

    /// The tab stands in another state than that in which the job begins.
    fn elsewhere(&self) -> Stop {
        match &self.at {
            Some(known) => Stop::Elsewhere(Sighting::known(known.key)),
            None => Stop::Failed(JobFailure::Lost),
        }
    }
}

/// The page before the last of the steps that are done.
fn raw_before(before: &KnownPage, steps: &[PathStep], done: usize) -> Option<Raw> {
    if done > 1 { steps[done - 2].expect } else { Some(before.actions.raw) }
}

/// The kinds for which trusted input can make a difference.
fn can_be_trusted(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Click
            | Kind::DoubleClick
            | Kind::ContextMenu
            | Kind::Hover
            | Kind::Check
            | Kind::Key
            | Kind::Focus
    )
}

fn noted(noted: Noted) -> Note {
    match noted {
        Noted::Dialog(kind, message) => Note::Dialog(kind, message),
        Noted::Window(url) => Note::Window(plain(&url)),
        Noted::Download(url) => Note::Download(plain(&url)),
        Noted::OutOfScope(url) => Note::OutOfScope(plain(&url)),
        Noted::Route(url) => Note::Route(plain(&url)),
        Noted::Unsafe(method, url) => Note::Unsafe(method, without_query(&url)),
    }
}

/// Notes are shown and exported: a login that a page writes into an address is left out.
fn plain(url: &str) -> String {
    without_logins(url).into_owned()
}

/// A query or a fragment may hold a secret.
fn without_query(url: &str) -> String {
    let url = plain(url);
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn notes_of(arrival: &TabPosition) -> Vec<Note> {
    let mut notes: Vec<Note> = arrival.notes.iter().cloned().map(noted).collect();
    if !arrival.settled {
        notes.push(Note::Unsettled);
    }
    if !arrival.tampered.is_empty() {
        notes.push(Note::Tampered);
    }
    notes
}
