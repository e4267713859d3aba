//! A crawler: one tab that performs jobs and says how they ended. Knows nothing of why a job was given.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argiope_browser::agent::{PathStep, Raw};
use argiope_browser::note::Noted;
use argiope_browser::tab::{Tab, TabError, TabPosition};
use argiope_controller::job::{Job, Transition};
use argiope_controller::outcome::{JobFailure, Note, Offered, Outcome, Sighting};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::identity::learn_value_masks;
use argiope_explore::page::{Kind, Page};

use crate::page_index::{Known, PageActions, SharedPageIndex, Sight};
use crate::store::{FoundPage, StateDetail, Store};

/// What a crawler did.
#[derive(Debug, Default)]
pub struct JobCost {
    /// Actions executed.
    pub actions: u64,
    /// Loads of the URL.
    pub resets: u64,
    /// The time in those loads, for the price of a reset.
    pub loading: Duration,
    /// The time in actions.
    pub acting: Duration,
}

/// How a job ended, with everything to be kept.
#[derive(Debug)]
pub struct JobReport {
    /// For the controller.
    pub outcome: Outcome,
    /// What it cost.
    pub spent: JobCost,
    /// States that were looked at for the first time by this crawler.
    pub found: Vec<(StateKey, FoundPage)>,
    /// Whether something was learned that should be kept: how actions are done, what is volatile.
    pub learned: bool,
}

impl JobReport {
    /// Of a job that was not begun because the browser is gone or is to go.
    pub fn lost() -> Self {
        Self {
            outcome: Outcome::Failed { went_right: 0, reason: JobFailure::Lost },
            spent: JobCost::default(),
            found: Vec::new(),
            learned: false,
        }
    }
}

/// What was found out about states, by whichever crawler.
pub trait Details {
    /// What is known of a state.
    fn detail(&self, key: StateKey) -> Option<StateDetail>;
    /// Its page as it was when it was found.
    fn page(&self, key: StateKey) -> Option<Page>;
    /// The state that a page is, if somebody else has looked at it; then there is a detail of the state. Takes a moment.
    fn which(&self, raw: Raw) -> Pin<Box<dyn Future<Output = Option<StateKey>> + '_>>;
}

impl Details for Store {
    fn detail(&self, key: StateKey) -> Option<StateDetail> {
        Store::detail(self, key).ok()?
    }

    fn page(&self, key: StateKey) -> Option<Page> {
        let detail = Store::detail(self, key).ok()??;
        Store::page(self, detail.page).ok()?
    }

    /// Nobody else is there.
    fn which(&self, _: Raw) -> Pin<Box<dyn Future<Output = Option<StateKey>> + '_>> {
        Box::pin(std::future::ready(None))
    }
}

mod together;

/// One tab at work.
pub struct Crawler {
    tab: Tab,
    url: Arc<str>,
    knowledge: SharedPageIndex,
    details: Arc<dyn Details + Send + Sync>,
    screenshots: bool,
    /// Where the tab stands.
    at: Option<Known>,
    spent: JobCost,
    found: Vec<(StateKey, FoundPage)>,
    learned: bool,
}

/// A part of a job that was performed in one call: where the tab stood, what it did, where it came to.
struct Part {
    before: Known,
    steps: Vec<PathStep>,
    arrival: TabPosition,
}

/// What is thought of a page that should have been another.
enum Suspicion {
    /// It is another.
    None,
    /// It may have volatile parts.
    First,
    /// It has.
    Confirmed,
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
            TabError::NeedsFrames => JobFailure::Exchanged,
        })
    }
}

impl Crawler {
    /// Takes over a tab in which nothing is loaded.
    pub fn new(
        tab: Tab,
        url: Arc<str>,
        knowledge: SharedPageIndex,
        details: Arc<dyn Details + Send + Sync>,
        screenshots: bool,
    ) -> Self {
        Self {
            tab,
            url,
            knowledge,
            details,
            screenshots,
            at: None,
            spent: JobCost::default(),
            found: Vec::new(),
            learned: false,
        }
    }

    /// What the state offers that the tab stands in.
    pub fn offers(&self) -> Option<Vec<Offered>> {
        self.at.as_ref().map(|at| at.sheet.offers())
    }

    /// Whether it can be told what to do in a state without having been there.
    pub fn knows(&self, key: StateKey) -> bool {
        self.knowledge.lock().sheet(key).is_some() || self.details.detail(key).is_some()
    }

    /// The tab.
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// Loads the URL, for a crawl that begins.
    pub async fn load(&mut self) -> Result<(Sighting, Vec<(StateKey, FoundPage)>), TabError> {
        let arrival = self.tab.load(&self.url).await?;
        let sighting = self.sighting(&arrival).await?;
        Ok((sighting, std::mem::take(&mut self.found)))
    }

    fn report(&mut self, ended: Result<Outcome, Stop>, went_right: u32) -> JobReport {
        let outcome = match ended {
            Ok(outcome) => outcome,
            Err(Stop::Elsewhere(at)) => Outcome::Elsewhere { went_right, at },
            Err(Stop::Failed(reason)) => {
                self.at = None;
                if reason == JobFailure::Exchanged {
                    // It is all done again in another tab, and counts then.
                    self.spent.actions = 0;
                }
                Outcome::Failed { went_right, reason }
            }
        };
        JobReport {
            outcome,
            spent: std::mem::take(&mut self.spent),
            found: std::mem::take(&mut self.found),
            learned: std::mem::take(&mut self.learned),
        }
    }

    /// Sees to it that the tab stands where a job begins.
    async fn set_out(&mut self, job: &Job) -> Result<(), Stop> {
        let start = job.walk.first().map_or(job.state, |step| step.from);
        if job.reset || self.at.is_none() {
            let arrival = self.reset().await?;
            self.arrive(&arrival, start).await?;
        }
        if self.at.as_ref().is_none_or(|at| at.key != start) {
            return Err(self.elsewhere());
        }
        Ok(())
    }

    /// Performs the rest of a job of which a part was performed, or all of it.
    async fn follow(
        &mut self,
        job: &Job,
        mut performed: Option<Part>,
        went_right: &mut u32,
    ) -> Result<Outcome, Stop> {
        let mut done = 0;
        loop {
            let Part { before, steps, arrival } = match performed.take() {
                Some(part) => part,
                None => self.next_part(job, done, went_right).await?,
            };
            done += arrival.done;
            *went_right = u32::try_from(done.min(job.walk.len())).unwrap_or(u32::MAX);
            if arrival.missing || arrival.done == 0 {
                return Err(Stop::Failed(JobFailure::Missing));
            }
            if done > job.walk.len() {
                return self.conclude(job, before, steps, arrival).await;
            }
            // The last step of a part must lead to the state that the walk says, by whichever page. Who executed it first
            // may know how it must be done when this crawler does not.
            *went_right -= 1;
            let Transition { action, to: expected, .. } = job.walk[done - 1];
            let last = &steps[arrival.done - 1];
            let arrival = if last.expect == Some(arrival.raw) {
                arrival
            } else {
                let raw_before = raw_before(&before, &steps, arrival.done);
                self.assure(action, last, raw_before, arrival).await?
            };
            self.arrive(&arrival, expected).await?;
            *went_right += 1;
        }
    }

    /// As much of a job as goes into one call.
    async fn next_part(
        &mut self,
        job: &Job,
        done: usize,
        went_right: &mut u32,
    ) -> Result<Part, Stop> {
        let before = self.at.clone().ok_or(Stop::Failed(JobFailure::Lost))?;
        let mut steps = self.steps(&before, job, done)?;
        if self.knowledge.lock().risky.contains(&(job.state, job.action)) {
            steps.truncate(1);
        }
        let with_candidate = done + steps.len() > job.walk.len();
        match self.run(&steps).await {
            Err(stop) if with_candidate && !self.tab.lacks_frames() => {
                // Which step it was is not known. The walk went right before, so it is taken to be the
                // candidate; the next time each is done by itself.
                *went_right = u32::try_from(job.walk.len()).unwrap_or(u32::MAX);
                self.knowledge.lock().risky.insert((job.state, job.action));
                Err(stop)
            }
            arrival => Ok(Part { before, steps, arrival: arrival? }),
        }
    }

    /// The rest of a job as the tab is told it: on the present page for the first step, on each state's
    /// first page for those after it.
    fn steps(&self, before: &Known, job: &Job, done: usize) -> Result<Vec<PathStep>, Stop> {
        let mut steps = Vec::with_capacity(job.walk.len() - done + 1);
        let mut sheet = before.sheet.clone();
        for step in &job.walk[done..] {
            let next = self.sheet(step.to).ok_or(Stop::Failed(JobFailure::Missing))?;
            steps.push(self.step(&sheet, step.action, Some(&next))?);
            sheet = next;
        }
        steps.push(PathStep { first: true, ..self.step(&sheet, job.action, None)? });
        Ok(steps)
    }

    fn step(
        &self,
        sheet: &PageActions,
        action: ActionSignature,
        next: Option<&PageActions>,
    ) -> Result<PathStep, Stop> {
        let spot = sheet.spot(action).ok_or(Stop::Failed(JobFailure::Missing))?;
        Ok(PathStep {
            kind: spot.kind,
            place: spot.place.clone().into(),
            argument: spot.argument.clone().into(),
            trusted: self.knowledge.lock().trusted.get(&action).copied().unwrap_or(false),
            expect: next.map(|sheet| sheet.raw),
            first: false,
        })
    }

    /// Where the actions of a state are, from memory or from the store.
    fn sheet(&self, key: StateKey) -> Option<Arc<PageActions>> {
        if let Some(sheet) = self.knowledge.lock().sheet(key) {
            return Some(sheet.clone());
        }
        let detail = self.details.detail(key)?;
        Some(self.knowledge.lock().recall(key, &detail))
    }

    async fn reset(&mut self) -> Result<TabPosition, Stop> {
        self.at = None;
        let began = Instant::now();
        self.spent.resets += 1;
        let arrival = self.tab.load(&self.url).await?;
        self.spent.loading += began.elapsed();
        Ok(arrival)
    }

    async fn run(&mut self, steps: &[PathStep]) -> Result<TabPosition, Stop> {
        let arrival = self.timed(steps).await;
        // Of steps that failed it is not known how many were begun.
        self.spent.actions += arrival.as_ref().map_or(steps.len(), |arrival| arrival.done) as u64;
        Ok(arrival?)
    }

    async fn timed(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        let began = Instant::now();
        let arrival = self.tab.run(steps).await;
        self.spent.acting += began.elapsed();
        arrival
    }

    /// The candidate was executed: where did it lead?
    async fn conclude(
        &mut self,
        job: &Job,
        before: Known,
        steps: Vec<PathStep>,
        arrival: TabPosition,
    ) -> Result<Outcome, Stop> {
        let raw_before = raw_before(&before, &steps, steps.len());
        let step = &steps[steps.len() - 1];
        let arrival = self.assure(job.action, step, raw_before, arrival).await?;
        let sighting = self.sighting(&arrival).await?;
        let once = arrival.link.is_some() && step.kind == Kind::Click;
        Ok(Outcome::Done { at: sighting, notes: notes_of(&arrival), once })
    }

    /// An action that had no effect may need the browser's own input: that is tried, and what came of it remembered.
    async fn assure(
        &mut self,
        action: ActionSignature,
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
            self.knowledge.lock().trusted.insert(action, false);
            return Ok(arrival);
        }
        if !can_be_trusted(step.kind) {
            return Ok(arrival);
        }
        let again = PathStep { trusted: true, ..step.clone() };
        // The same action in another way: it counts once, as the controller has reckoned.
        let real = self.timed(std::slice::from_ref(&again)).await?;
        let differs = !real.missing && (Some(real.raw) != raw_before || !real.notes.is_empty());
        self.knowledge.lock().trusted.insert(action, differs);
        self.learned |= differs;
        Ok(real)
    }

    fn is_undecided(&self, action: ActionSignature) -> bool {
        !self.knowledge.lock().trusted.contains_key(&action)
    }

    /// The state that the tab stands in now, looked at if nobody knows its page.
    async fn sighting(&mut self, arrival: &TabPosition) -> Result<Sighting, TabError> {
        let met = self.knowledge.lock().page(arrival.raw).cloned();
        let known = match met {
            Some(known) => Some(known),
            None => self.heard_of(arrival.raw).await,
        };
        if let Some(known) = known {
            let key = known.key;
            self.at = Some(known);
            return Ok(Sighting { key, offers: None });
        }
        let sight = self.look().await?;
        Ok(self.take_in(sight))
    }

    /// A page that somebody else has looked at.
    async fn heard_of(&self, raw: Raw) -> Option<Known> {
        let key = self.details.which(raw).await?;
        let sheet = self.sheet(key).filter(|sheet| sheet.raw == raw)?;
        Some(Known { key, sheet })
    }

    fn take_in(&mut self, sight: Sight) -> Sighting {
        let key = sight.known.key;
        self.at = Some(sight.known);
        self.found.push((key, sight.found));
        Sighting { key, offers: Some(sight.offers) }
    }

    async fn look(&mut self) -> Result<Sight, TabError> {
        let mut look = self.tab.look().await?;
        look.page = look.page.checked().map_err(|error| TabError::Confused(error.to_string()))?;
        let details = self.details.clone();
        let known = |key| details.detail(key).is_some();
        let mut sight = self.knowledge.lock().recognise(look, known);
        if self.screenshots {
            sight.found.screenshot = self.tab.screenshot().await.ok();
        }
        Ok(sight)
    }

    /// Makes sure that the tab stands in the state expected.
    async fn arrive(&mut self, arrival: &TabPosition, expected: StateKey) -> Result<(), Stop> {
        let sighting = self.sighting(arrival).await?;
        if sighting.key == expected {
            // It was as before: what was different once is another state, not a volatile part.
            let mut knowledge = self.knowledge.lock();
            if knowledge.suspects.remove(&expected).is_some() {
                knowledge.cleared.insert(expected);
            }
            return Ok(());
        }
        match self.suspect(expected, &sighting) {
            Suspicion::None => Err(Stop::Elsewhere(sighting)),
            // Told as a failure of no consequence but that the path is tried again.
            Suspicion::First => Err(Stop::Failed(JobFailure::Missing)),
            Suspicion::Confirmed => {
                let sight = self.look().await?;
                let sighting = self.take_in(sight);
                if sighting.key == expected { Ok(()) } else { Err(Stop::Elsewhere(sighting)) }
            }
        }
    }

    /// A page that differs from the state expected only in values, and differs again when it is reached
    /// again, has volatile parts: they are learned for that state. If the values come back it is not
    /// volatile but another state.
    fn suspect(&mut self, expected: StateKey, sighting: &Sighting) -> Suspicion {
        let Some((_, now)) = self.found.last().filter(|(key, _)| *key == sighting.key) else {
            return Suspicion::None;
        };
        let Some(before) = self.details.page(expected) else { return Suspicion::None };
        let mut knowledge = self.knowledge.lock();
        if knowledge.cleared.contains(&expected) {
            return Suspicion::None;
        }
        let identity = knowledge.identity();
        let known = match knowledge.state_masks.of(expected) {
            Some(own) => knowledge.masks.and(own),
            None => knowledge.masks.clone(),
        };
        let differs = |page: &Page| {
            learn_value_masks(identity, &known, expected, &before, page)
                .filter(|masks| !masks.is_empty())
        };
        let Some(mut masks) = differs(&now.page) else { return Suspicion::None };
        let suspicion = match knowledge.suspects.get(&expected) {
            None => {
                knowledge.suspects.insert(expected, now.page.clone());
                Suspicion::First
            }
            Some(earlier) if identity.recognise(earlier, &knowledge.masks).key == sighting.key => {
                return Suspicion::None;
            }
            Some(earlier) => {
                masks.merge(&differs(earlier).unwrap_or_default());
                let global = knowledge.masks.clone();
                knowledge.state_masks.learn(identity, &global, expected, &before, &masks);
                Suspicion::Confirmed
            }
        };
        // The page is no state of its own.
        if let Some(at) = &self.at {
            knowledge.forget(at);
        }
        self.learned = true;
        self.found.pop();
        suspicion
    }

    /// The tab stands in another state than the job begins in.
    fn elsewhere(&self) -> Stop {
        match &self.at {
            Some(known) => Stop::Elsewhere(Sighting { key: known.key, offers: None }),
            None => Stop::Failed(JobFailure::Lost),
        }
    }
}

/// The page before the last of so many steps.
fn raw_before(before: &Known, steps: &[PathStep], done: usize) -> Option<Raw> {
    if done > 1 { steps[done - 2].expect } else { Some(before.sheet.raw) }
}

/// The kinds for which the browser's own input can make a difference.
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
        Noted::Window(url) => Note::Window(url),
        Noted::Download(url) => Note::Download(url),
        Noted::OutOfScope(url) => Note::OutOfScope(url),
        Noted::Route(url) => Note::Route(url),
    }
}

fn notes_of(arrival: &TabPosition) -> Vec<Note> {
    let mut notes: Vec<Note> = arrival.notes.iter().cloned().map(noted).collect();
    if !arrival.settled {
        notes.push(Note::Unsettled);
    }
    notes
}
