//! One tab with the page agent in it: loads, performs paths, looks. One agent call performs all
//! steps up to the next trusted one; a trusted step takes several calls. Knows nothing of jobs,
//! states or crawls.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::access::SavedState;
use crate::agent::{AgentSettings, Look, PathStep, Point, Raw, RunAnswer};
use crate::browser::{Browser, OpenedTab};
use crate::cdp::{self, CookieParam, ProtocolCall};
use crate::connection::{CallError, LoggedContent, PendingReply};
use crate::note::Noted;

mod guard;
mod input;
mod limits;
mod logging_in;
mod refresh;
mod requests;
mod watch;
mod workers;

pub use logging_in::LogInError;
use watch::TabWatch;

/// How long a call that does not depend on the page may take.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a call may exceed the time to settle before the tab counts as hung.
const GRACE: Duration = Duration::from_secs(2);

/// Why a tab failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TabError {
    /// The page did not answer before the deadline. The tab is unusable.
    #[error("the page did not answer before the deadline")]
    Hung,
    /// The page's process died. The tab is unusable.
    #[error("the page's process died")]
    Crashed,
    /// The browser has ended.
    #[error("the browser has ended")]
    Lost,
    /// The machine's network changed: what the page showed then says nothing about the application.
    #[error("the machine's network changed while the page used it")]
    Disturbed,
    /// The page waits for a frame, and this tab makes none: it needs a tab that does.
    #[error("the page needs a tab that makes frames")]
    NeedsFrames,
    /// The page wants something of a server outside that may be loaded: it needs a tab that does.
    #[error("the page needs a tab that loads from another origin")]
    NeedsOutsiders,
    /// A load left the application; the address to which it led, or its server.
    #[error("it leads out of the scope, to {0}")]
    OutOfScope(String),
    /// The document was replaced before it could answer how many of several steps were performed.
    #[error("the page was replaced before it could answer")]
    AnswerLost,
    /// The page could not be loaded; the browser's reason, for example
    /// `net::ERR_NAME_NOT_RESOLVED`.
    #[error("{0}")]
    NotLoaded(String),
    /// The page does not show what every page shows while its session lasts.
    #[error("the page is not one that the application shows after a login")]
    LoggedOut,
    /// The answer is not one that the agent gives.
    #[error("the page gave a wrong answer: {0}")]
    Confused(String),
}

impl From<CallError> for TabError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Deadline => Self::Hung,
            CallError::Crashed | CallError::SessionGone => Self::Crashed,
            CallError::ConnectionClosed(_) => Self::Lost,
            CallError::Protocol { message, .. } => Self::Confused(message),
            CallError::Malformed(message) => Self::Confused(message),
        }
    }
}

/// The position of a tab after a load or a path.
#[derive(Clone, Debug, Default)]
pub struct TabPosition {
    /// The number of steps performed; the last of them may have led to an unexpected page.
    pub done: usize,
    /// The raw hash of the page.
    pub raw: Raw,
    /// Whether the page settled in time in every step.
    pub settled: bool,
    /// The notes of the last step.
    pub notes: Vec<Noted>,
    /// The notes of each first-time step before the last.
    pub passed: Vec<Vec<Noted>>,
    /// The address of the link that the last step followed, if no script handled the click.
    pub link: Option<String>,
    /// Whether the element of the next step is missing.
    pub missing: bool,
    /// Built-in functions that the page has replaced and that may have deceived the agent.
    pub tampered: Vec<String>,
    /// Whether the page lacks what every page shows while its session lasts.
    pub outside: bool,
}

/// A tab with the page agent in it. Dropping it closes the tab.
pub struct Tab {
    browser: Arc<Browser>,
    opened: OpenedTab,
    settings: AgentSettings,
    outside: Arc<Mutex<Outside>>,
    events: tokio::task::JoinHandle<()>,
    pointed: bool,
    lacks_frames: bool,
    /// How many servers outside have their requests held.
    held: usize,
    /// The page wanted something of others: they are held from the next load on.
    lacks_outsiders: bool,
    /// The browser's name of the agent's script.
    script: String,
}

/// What the tab and its event task share.
#[derive(Default)]
struct Outside {
    notes: Vec<Noted>,
    /// Argiope navigates: a redirect out of the application is a failure, not a note.
    loading: bool,
    /// The address to which the main document has left the application.
    left: Option<String>,
    /// A request failed because the machine's network changed.
    disturbed: bool,
    /// The page will be refreshed soon, to this address.
    refresh: Option<String>,
    /// The last requests that needed a login.
    demanded: VecDeque<String>,
}

/// How many notes of one step are kept.
const MOST_NOTES: usize = 100;
/// How many requests that needed a login a tab remembers.
const DEMANDED: usize = 64;

impl Outside {
    /// Adds a note; a page can ask for more than a report holds.
    fn note(&mut self, noted: Noted) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(noted);
        }
    }

    /// Whether this request needs a login for the first time.
    fn is_first_demand(&mut self, request: &str) -> bool {
        if self.demanded.iter().any(|before| before == request) {
            return false;
        }
        if self.demanded.len() >= DEMANDED {
            self.demanded.pop_front();
        }
        self.demanded.push_back(request.to_owned());
        true
    }
}

impl Tab {
    /// Opens a tab with the agent in it.
    pub async fn open(browser: Arc<Browser>, settings: AgentSettings) -> Result<Self, TabError> {
        let opened = browser.new_bounded_tab(settings.frames, &settings.border).await?;
        Self::within(browser, opened, settings).await
    }

    /// Puts the agent into an empty tab. The tab must make frames exactly if the settings say so.
    pub async fn within(
        browser: Arc<Browser>,
        opened: OpenedTab,
        mut settings: AgentSettings,
    ) -> Result<Self, TabError> {
        let connection = &browser.connection;
        settings.guarded |= guard::is_always_needed(&settings);
        let held = settings.border.count_outsiders();
        connection.limit_log(&opened.session, usual_log(&settings));
        let session = Some(&opened.session);
        // Windows take some of the height: with a fixed viewport every browser shows the same page.
        let viewport = cdp::SetDeviceMetrics {
            width: 1280,
            height: 800,
            device_scale_factor: 1,
            mobile: false,
        };
        let replies = [
            connection.call(session, &cdp::EnablePage {}),
            connection.call(session, &cdp::EnableLog {}),
            connection.call(session, &cdp::SetFocusEmulation { enabled: true }),
            connection.call(session, &viewport),
            connection.call(session, &cdp::SetDownloadBehavior { behavior: "deny" }),
        ];
        let watched = guard::watch(connection, &opened.session, &settings);
        let script = guard::install(connection, &opened.session, &settings);
        let attached = workers::hold(connection, &opened.session, &settings);
        for reply in replies.into_iter().chain(watched).chain(attached) {
            reply.within(ANSWER).await?;
        }
        let script = script.within(ANSWER).await?;
        let outside = Arc::<Mutex<Outside>>::default();
        let events = connection.events(&opened.session).ok_or(TabError::Crashed)?;
        let watch = TabWatch {
            connection: connection.clone(),
            opened: opened.clone(),
            settings: settings.clone(),
            outside: outside.clone(),
        };
        let events = tokio::spawn(watch.run(events));
        Ok(Self {
            browser,
            opened,
            settings,
            outside,
            events,
            pointed: false,
            lacks_frames: false,
            held,
            lacks_outsiders: false,
            script,
        })
    }

    /// Whether a page waited for a frame that this tab does not make.
    pub fn lacks_frames(&self) -> bool {
        self.lacks_frames
    }

    /// Whether another tab must take over: one that makes frames, or that loads from others.
    pub fn must_be_exchanged(&self) -> bool {
        self.lacks_frames || self.lacks_outsiders
    }

    fn needs_frames(&mut self) -> TabError {
        self.lacks_frames = true;
        TabError::NeedsFrames
    }

    /// The browser of the tab.
    pub fn browser(&self) -> &Arc<Browser> {
        &self.browser
    }

    /// From now on a reset restores this state.
    pub fn restore(&mut self, saved: Arc<SavedState>) {
        self.settings.saved = saved;
    }

    /// Clears all cookies and the storage of the application's origin, restores the saved state,
    /// then loads the address. Retries once if the network changed, and whenever the page wants
    /// something of a server that is not known yet.
    pub async fn load(&mut self, url: &str) -> Result<TabPosition, TabError> {
        let mut loaded = self.load_once(url).await;
        if matches!(loaded, Err(TabError::Disturbed)) {
            loaded = self.load_once(url).await;
        }
        for _ in 0..limits::MOST_RELOADS {
            if loaded.is_err() || !std::mem::take(&mut self.lacks_outsiders) {
                break;
            }
            loaded = self.load_once(url).await;
        }
        self.lacks_outsiders = false;
        loaded
    }

    async fn load_once(&mut self, url: &str) -> Result<TabPosition, TabError> {
        if self.pointed {
            self.point_away();
            self.pointed = false;
        }
        self.outside().loading = true;
        let loaded = self.forget_and_load(url).await;
        self.outside().loading = false;
        loaded
    }

    async fn forget_and_load(&mut self, url: &str) -> Result<TabPosition, TabError> {
        self.forget(url).await?;
        self.hold_outsiders().await?;
        {
            let mut outside = self.outside();
            outside.disturbed = false;
            (outside.refresh, outside.left) = (None, None);
        }
        match self.navigate_restored(url).await {
            Ok(()) => {
                // A page into which a password was typed is left.
                self.limit_log(usual_log(&self.settings));
                self.settle().await
            }
            Err(TabError::NotLoaded(reason)) => Err(self.not_loaded(reason).await),
            Err(error) => Err(error),
        }
    }

    /// Removes cookies and storage, and sets the cookies of the saved state.
    async fn forget(&self, url: &str) -> Result<(), TabError> {
        let clear = self.settings.call_if_there("clear()");
        let in_page = self.call(&cdp::Evaluate::new(&clear));
        let cookies = cdp::ClearCookies { browser_context_id: &self.opened.context };
        let cookies = self.browser.connection.call(None, &cookies);
        let restored = self.set_cookies();
        // The next document clears and restores values itself, where there are some.
        let storage_types = if self.settings.saved.has_items() {
            "indexeddb,cache_storage,service_workers,file_systems,websql"
        } else {
            "local_storage,indexeddb,cache_storage,service_workers,file_systems,websql"
        };
        let origin = &self.settings.origin;
        let stored = self.call(&cdp::ClearOriginData { origin, storage_types });
        in_page.within(ANSWER).await?;
        cookies.within(ANSWER).await?;
        stored.within(ANSWER).await?;
        if let Some(restored) = restored {
            restored.within(ANSWER).await?;
        }
        // The browser does not load a page again for another fragment.
        if url.contains('#') {
            self.navigate("about:blank").await?;
        }
        Ok(())
    }

    /// Sets the cookies of the saved state, if it has any.
    fn set_cookies(&self) -> Option<PendingReply<()>> {
        let cookies: Vec<_> = self.settings.saved.cookies.iter().map(CookieParam::of).collect();
        let browser_context_id = &self.opened.context;
        let set = cdp::SetCookies { cookies: &cookies, browser_context_id };
        (!cookies.is_empty()).then(|| self.browser.connection.call(None, &set))
    }

    /// Loads an address. The first document restores the saved values before its own scripts run;
    /// documents that replace it keep what the first one made of them.
    async fn navigate_restored(&self, url: &str) -> Result<(), TabError> {
        if !self.settings.saved.has_items() {
            return self.navigate(url).await;
        }
        let source = self.settings.saved.script(&self.settings.origin);
        let added = self.call(&cdp::AddSecretScript { source: &source });
        let navigated = self.navigate(url).await;
        let identifier = added.within(ANSWER).await?;
        drop(self.call(&cdp::RemoveScript { identifier: &identifier }));
        navigated
    }

    async fn navigate(&self, url: &str) -> Result<(), TabError> {
        let limit = Duration::from_millis(self.settings.cap.into()) + ANSWER;
        let reply = self.call(&cdp::Navigate { url }).within(limit).await;
        match reply {
            Ok(None) => Ok(()),
            Ok(Some(reason)) if watch::is_disturbance(&reason) => Err(TabError::Disturbed),
            Ok(Some(reason)) => Err(TabError::NotLoaded(reason)),
            Err(CallError::Deadline) => Err(TabError::NotLoaded("net::ERR_TIMED_OUT".to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the page has settled, also where one document replaces another.
    pub async fn settle(&mut self) -> Result<TabPosition, TabError> {
        let position = self.settle_document().await?;
        self.follow_refreshes(position).await
    }

    async fn settle_document(&mut self) -> Result<TabPosition, TabError> {
        let mut answer: RunAnswer = self.ask("settle()", 1).await?;
        if answer.held {
            self.guard().await?;
            answer = self.ask("settle()", 1).await?;
        }
        self.position(answer).await
    }

    /// Addresses whose requests do not end, as far as this tab knows. New ones come last.
    pub fn endless(&self) -> &[String] {
        &self.settings.endless
    }

    async fn position(&mut self, answer: RunAnswer) -> Result<TabPosition, TabError> {
        if answer.unframed {
            return Err(self.needs_frames());
        }
        if self.outside().disturbed {
            return Err(TabError::Disturbed);
        }
        self.check_limits().await?;
        // Later pages do not wait for an address that kept a page busy until the deadline.
        self.on_endless(&answer.endless).await?;
        let read = |notes: &Vec<Vec<String>>| {
            notes.iter().filter_map(|texts| Noted::read(texts)).collect()
        };
        let mut notes: Vec<Noted> = read(&answer.notes);
        notes.append(&mut self.outside().notes);
        Ok(TabPosition {
            done: answer.done,
            raw: answer.raw,
            settled: answer.settled,
            notes,
            passed: answer.passed.iter().map(read).collect(),
            link: answer.link,
            missing: answer.missing,
            tampered: answer.tampered,
            outside: answer.outside,
        })
    }

    /// Performs the steps in as few round trips as possible, until one leads to an unexpected page.
    /// May end after any first-time step.
    pub async fn run(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        let mut total = TabPosition { settled: true, ..TabPosition::default() };
        self.hold_outsiders().await?;
        while total.done < steps.len() {
            let rest = &steps[total.done..];
            let next = if rest[0].trusted {
                self.run_trusted(&rest[0]).await?
            } else {
                self.run_untrusted(rest).await?
            };
            let last = total.done + next.done;
            let passed = [total.passed, next.passed].concat();
            total =
                TabPosition { done: last, settled: total.settled && next.settled, passed, ..next };
            let strayed =
                last > 0 && steps[last - 1].expect.is_some_and(|expected| expected != total.raw);
            // Stop after a first-time step: the caller reads its notes from the position.
            if total.missing || strayed || next.done == 0 || steps[last - 1].first {
                break;
            }
        }
        Ok(total)
    }

    /// Performs the steps before the next trusted one in one call of the agent.
    async fn run_untrusted(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        let untrusted = steps.iter().take_while(|step| !step.trusted).count();
        let asked = &steps[..untrusted];
        let text =
            serde_json::to_string(asked).map_err(|error| TabError::Confused(error.to_string()))?;
        let answer: RunAnswer = match self.ask_once(&format!("run({text})"), asked.len()).await? {
            Some(answer) => answer,
            // A new document replaced the page before it could answer.
            None if asked.len() == 1 => {
                RunAnswer { done: 1, leaving: true, ..RunAnswer::default() }
            }
            None => return self.infer_position(asked).await,
        };
        let before_last = asked[..answer.done.saturating_sub(1).min(asked.len())].iter();
        let passed = before_last.filter(|step| step.first).count();
        if answer.done > asked.len() || answer.passed.len() != passed {
            return Err(TabError::Confused("it performed other steps than asked for".to_owned()));
        }
        let leaving = answer.leaving;
        if answer.held {
            self.guard().await?;
        }
        let mut position = self.position(answer).await?;
        // A step may also have inserted a refresh.
        if leaving || self.outside().refresh.is_some() {
            let there = self.settle().await?;
            position.raw = there.raw;
            position.settled = there.settled;
            position.outside = there.outside;
            position.notes.extend(there.notes);
            position.tampered = there.tampered;
        }
        Ok(position)
    }

    /// Infers from the present page which of the steps led to it, after one replaced the document.
    async fn infer_position(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        let there = self.settle().await?;
        let mut leading = (0..steps.len()).filter(|&at| steps[at].expect == Some(there.raw));
        let last = leading.next().ok_or(TabError::AnswerLost)?;
        let first_times = steps[..=last].iter().any(|step| step.first);
        if first_times || leading.next().is_some() {
            return Err(TabError::AnswerLost);
        }
        Ok(TabPosition { done: last + 1, ..there })
    }

    /// Looks at the page.
    pub async fn look(&mut self) -> Result<Look, TabError> {
        /// See `agent/look.js`.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum LookAnswer {
            Text(String),
            Objects(Box<Look>),
        }
        match self.ask("look()", 1).await? {
            LookAnswer::Text(text) => {
                serde_json::from_str(&text).map_err(|error| TabError::Confused(error.to_string()))
            }
            LookAnswer::Objects(look) => Ok(*look),
        }
    }

    /// Takes a picture of what is in view, as PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, TabError> {
        let capture = cdp::CaptureScreenshot { format: "png", optimize_for_speed: true };
        let screenshot = self.call(&capture).within(ANSWER).await?;
        base64::engine::general_purpose::STANDARD
            .decode(screenshot)
            .map_err(|error| TabError::Confused(error.to_string()))
    }

    /// Sends a call to the tab's session.
    fn call<C: ProtocolCall>(&self, call: &C) -> PendingReply<C::Answer> {
        self.browser.connection.call(Some(&self.opened.session), call)
    }

    /// Calls the agent; calls again in the next document where one replaces this one.
    async fn ask<T: DeserializeOwned>(&self, call: &str, steps: usize) -> Result<T, TabError> {
        let deadline = Instant::now() + self.limit(steps);
        loop {
            if let Some(answer) = self.ask_once(call, steps).await? {
                return Ok(answer);
            }
            if Instant::now() > deadline {
                return Err(TabError::Hung);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// How long a call of the agent may take.
    fn limit(&self, steps: usize) -> Duration {
        let cap = Duration::from_millis(self.settings.cap.into());
        cap + GRACE
            + Duration::from_millis(100) * u32::try_from(steps).unwrap_or(u32::MAX).min(1000)
    }

    /// Calls the agent; `None` if the document was replaced before it answered.
    async fn ask_once<T: DeserializeOwned>(
        &self,
        call: &str,
        steps: usize,
    ) -> Result<Option<T>, TabError> {
        let expression = self.settings.call(call);
        let reply = self.call(&cdp::Evaluate::value(&expression)).within(self.limit(steps)).await;
        let evaluation = match reply {
            Err(CallError::Protocol { message, .. }) if is_gone(&message) => return Ok(None),
            reply => reply?,
        };
        match evaluation.exception()? {
            Some(exception) => Err(TabError::Confused(exception)),
            None => Ok(evaluation.value()?),
        }
    }

    fn outside(&self) -> std::sync::MutexGuard<'_, Outside> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.events.abort();
        // A page whose script never ends would not close. The answers do not matter.
        drop(self.call(&cdp::TerminateExecution {}));
        drop(self.browser.close_context(&self.opened.context));
    }
}

/// What the log may show of a tab outside of a login.
fn usual_log(settings: &AgentSettings) -> LoggedContent {
    if settings.headers.is_empty() { LoggedContent::All } else { LoggedContent::NoRequests }
}

/// Whether the browser says that a document was replaced while a call was under way.
fn is_gone(message: &str) -> bool {
    [
        "navigated or closed",
        "context was destroyed",
        "Cannot find context",
        "Cannot find default execution context",
        "Promise was collected",
    ]
    .iter()
    .any(|text| message.contains(text))
}
