//! One tab with the page agent in it: loads, performs paths, looks. One round trip per step, and a whole
//! known path in one call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::Instant;

use crate::agent::{AgentSettings, Answered, Asked, Look, PathStep, Point, Raw};
use crate::browser::{Browser, OpenedTab};
use crate::connection::CallError;
use crate::note::Noted;

mod guard;
mod input;
mod watch;

use watch::TabWatch;

/// How long a call that the page takes no part in may take.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a page may be late beyond the time it has to settle, before it counts as hung.
const GRACE: Duration = Duration::from_secs(2);

/// Why a tab could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TabError {
    /// The page did not answer before the deadline. The tab is of no more use.
    #[error("the page did not answer in time")]
    Hung,
    /// The page's process died. The tab is of no more use.
    #[error("the page's process died")]
    Crashed,
    /// The browser is gone.
    #[error("the browser has gone")]
    Lost,
    /// The machine's network changed under the page: what the page made of it says nothing about the application.
    #[error("the network changed")]
    Disturbed,
    /// The page waits for a frame, and this tab makes none: it needs one that does.
    #[error("the page needs frames")]
    NeedsFrames,
    /// The document went before it could say how many of several steps were done.
    #[error("the page went before it could answer")]
    AnswerLost,
    /// The page could not be loaded; the browser's reason, for example `net::ERR_NAME_NOT_RESOLVED`.
    #[error("{0}")]
    NotLoaded(String),
    /// The page answered something else than the agent does.
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

/// Where a tab stands after a load or a path.
#[derive(Clone, Debug, Default)]
pub struct TabPosition {
    /// How many steps were performed; the last of them may have led elsewhere than expected.
    pub done: usize,
    /// The page.
    pub raw: Raw,
    /// Whether it settled in time, in every step.
    pub settled: bool,
    /// What happened in the last step that was performed.
    pub notes: Vec<Noted>,
    /// What happened in the steps before it that were performed for the first time, for each of them.
    pub passed: Vec<Vec<Noted>>,
    /// The last step followed a link that nothing handled; its address.
    pub link: Option<String>,
    /// The next step's element is not there.
    pub missing: bool,
}

/// A tab.
pub struct Tab {
    browser: Arc<Browser>,
    opened: OpenedTab,
    settings: AgentSettings,
    outside: Arc<Mutex<Outside>>,
    events: tokio::task::JoinHandle<()>,
    pointed: bool,
    lacks_frames: bool,
    /// The agent's script, as the browser names it.
    script: String,
}

/// What the event task and the tab tell each other.
#[derive(Default)]
struct Outside {
    notes: Vec<Noted>,
    /// We navigate: redirects may lead anywhere.
    loading: bool,
    /// A request failed because the machine's network changed, not for anything the application did.
    disturbed: bool,
}

impl Tab {
    /// Opens a tab with the agent in it.
    pub async fn open(browser: Arc<Browser>, settings: AgentSettings) -> Result<Self, TabError> {
        let opened = browser.new_tab(settings.frames).await?;
        Self::within(browser, opened, settings).await
    }

    /// Puts the agent into an empty tab, which makes frames or does not as the settings say.
    pub async fn within(
        browser: Arc<Browser>,
        opened: OpenedTab,
        settings: AgentSettings,
    ) -> Result<Self, TabError> {
        let connection = browser.connection();
        let session = Some(&opened.session);
        let calls = [
            ("Page.enable", json!({})),
            ("Log.enable", json!({})),
            ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
            // Browsers with a window of their own take some of its height: the same page, the same states.
            (
                "Emulation.setDeviceMetricsOverride",
                json!({"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false}),
            ),
            ("Page.setDownloadBehavior", json!({"behavior": "deny"})),
        ];
        let replies: Vec<_> =
            calls.iter().map(|(method, params)| connection.call(session, method, params)).collect();
        let script = guard::install(connection, &opened.session, &settings);
        for reply in replies {
            reply.within(ANSWER).await?;
        }
        let script = script.await?;
        let outside = Arc::new(Mutex::new(Outside::default()));
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
            script,
        })
    }

    /// Whether a page waited for a frame that was not made.
    pub fn lacks_frames(&self) -> bool {
        self.lacks_frames
    }

    fn needs_frames(&mut self) -> TabError {
        self.lacks_frames = true;
        TabError::NeedsFrames
    }

    /// The browser it is in.
    pub fn browser(&self) -> &Arc<Browser> {
        &self.browser
    }

    /// Forgets everything the page kept and loads the address; once more if the network changed meanwhile.
    pub async fn load(&mut self, url: &str) -> Result<TabPosition, TabError> {
        match self.load_once(url).await {
            Err(TabError::Disturbed) => self.load_once(url).await,
            loaded => loaded,
        }
    }

    async fn load_once(&mut self, url: &str) -> Result<TabPosition, TabError> {
        if self.pointed {
            self.point_away();
            self.pointed = false;
        }
        self.forget(url).await?;
        self.outside().loading = true;
        self.outside().disturbed = false;
        let loaded = self.navigate(url).await;
        let settled = match loaded {
            Ok(()) => self.settle().await,
            Err(error) => Err(error),
        };
        self.outside().loading = false;
        settled
    }

    /// Cookies and storage.
    async fn forget(&self, url: &str) -> Result<(), TabError> {
        let session = Some(&self.opened.session);
        let connection = self.browser.connection();
        let clear = format!("window[{:?}]?.clear()", self.settings.secret);
        let in_page = connection.call(session, "Runtime.evaluate", &json!({"expression": clear}));
        let cookies = connection.call(
            None,
            "Storage.clearCookies",
            &json!({"browserContextId": self.opened.context}),
        );
        let kinds = "local_storage,indexeddb,cache_storage,service_workers,file_systems,websql";
        let stored = json!({"origin": self.settings.origin, "storageTypes": kinds});
        let stored = connection.call(session, "Storage.clearDataForOrigin", &stored);
        in_page.within(ANSWER).await?;
        cookies.within(ANSWER).await?;
        stored.within(ANSWER).await?;
        // From one fragment to another a page is not loaded anew.
        if url.contains('#') {
            self.navigate("about:blank").await?;
        }
        Ok(())
    }

    async fn navigate(&self, url: &str) -> Result<(), TabError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Navigated {
            error_text: Option<String>,
        }
        let limit = Duration::from_millis(self.settings.cap.into()) + ANSWER;
        let call = self.browser.connection().call(
            Some(&self.opened.session),
            "Page.navigate",
            &json!({"url": url}),
        );
        match call.read_within::<Navigated>(limit).await {
            Ok(Navigated { error_text: None }) => Ok(()),
            Ok(Navigated { error_text: Some(reason) }) if watch::is_disturbance(&reason) => {
                Err(TabError::Disturbed)
            }
            Ok(Navigated { error_text: Some(reason) }) => Err(TabError::NotLoaded(reason)),
            Err(CallError::Deadline) => Err(TabError::NotLoaded("net::ERR_TIMED_OUT".to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the page has settled, also over a change of documents.
    pub async fn settle(&mut self) -> Result<TabPosition, TabError> {
        let mut answered: Answered = self.ask("settle()", 1).await?;
        if answered.held {
            self.guard().await?;
            answered = self.ask("settle()", 1).await?;
        }
        self.arrived(answered)
    }

    fn arrived(&mut self, answered: Answered) -> Result<TabPosition, TabError> {
        if answered.unframed {
            return Err(self.needs_frames());
        }
        if self.outside().disturbed {
            return Err(TabError::Disturbed);
        }
        self.learn(&answered);
        let read = |notes: &Vec<Vec<String>>| {
            notes.iter().filter_map(|words| Noted::read(words)).collect()
        };
        let mut notes: Vec<Noted> = read(&answered.notes);
        notes.append(&mut self.outside().notes);
        Ok(TabPosition {
            done: answered.done,
            raw: answered.raw,
            settled: answered.settled,
            notes,
            passed: answered.passed.iter().map(read).collect(),
            link: answered.link,
            missing: answered.missing,
        })
    }

    /// Addresses that kept a page busy are not waited for again.
    fn learn(&mut self, answered: &Answered) {
        for address in &answered.endless {
            if self.settings.endless.len() < 100 && !self.settings.endless.contains(address) {
                self.settings.endless.push(address.clone());
            }
        }
    }

    /// Performs the steps, in as few round trips as possible, until one does not lead to what it expects. It may end after any
    /// step that is done for the first time.
    pub async fn run(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        let mut total = TabPosition { settled: true, ..TabPosition::default() };
        while total.done < steps.len() {
            let rest = &steps[total.done..];
            let part = if rest[0].trusted {
                self.run_trusted(&rest[0]).await?
            } else {
                self.run_cheap(rest).await?
            };
            let last = total.done + part.done;
            let passed = [total.passed, part.passed].concat();
            total =
                TabPosition { done: last, settled: total.settled && part.settled, passed, ..part };
            let strayed =
                last > 0 && steps[last - 1].expect.is_some_and(|expected| expected != total.raw);
            // What happened in the last step is told of that step alone.
            if total.missing || strayed || part.done == 0 || steps[last - 1].first {
                break;
            }
        }
        Ok(total)
    }

    /// The steps up to the next one that needs the browser's own input, by the agent alone.
    async fn run_cheap(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
        let cheap = steps.iter().take_while(|step| !step.trusted);
        let asked: Vec<Asked<'_>> = cheap
            .map(|step| Asked {
                kind: step.kind,
                place: &step.place,
                argument: &step.argument,
                expect: step.expect,
                first: step.first,
            })
            .collect();
        let text =
            serde_json::to_string(&asked).map_err(|error| TabError::Confused(error.to_string()))?;
        let answered: Answered = match self.ask_once(&format!("run({text})"), asked.len()).await? {
            Some(answered) => answered,
            // The document went before it could answer, and a new page is there.
            None if asked.len() == 1 => Answered { done: 1, leaving: true, ..Answered::default() },
            None => return self.led_by_one_of(&steps[..asked.len()]).await,
        };
        let before_last = asked[..answered.done.saturating_sub(1).min(asked.len())].iter();
        let passed = before_last.filter(|step| step.first).count();
        if answered.done > asked.len() || answered.passed.len() != passed {
            return Err(TabError::Confused("other steps done than asked for".to_owned()));
        }
        let leaving = answered.leaving;
        if answered.held {
            self.guard().await?;
        }
        let mut arrival = self.arrived(answered)?;
        if leaving {
            let there = self.settle().await?;
            arrival.raw = there.raw;
            arrival.settled = there.settled;
            arrival.notes.extend(there.notes);
        }
        Ok(arrival)
    }

    /// One of the steps brought another document, by the page that is there it is told which.
    async fn led_by_one_of(&mut self, steps: &[PathStep]) -> Result<TabPosition, TabError> {
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
        /// As the agent tells it, see `agent/tree.js`.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Told {
            Text(String),
            Objects(Box<Look>),
        }
        match self.ask("look()", 1).await? {
            Told::Text(text) => parse(&text),
            Told::Objects(look) => Ok(*look),
        }
    }

    /// A picture of what is in view, as PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, TabError> {
        #[derive(Deserialize)]
        struct Shot {
            data: String,
        }
        let wanted = json!({"format": "png", "optimizeForSpeed": true});
        let call = self.browser.connection().call(
            Some(&self.opened.session),
            "Page.captureScreenshot",
            &wanted,
        );
        let shot: Shot = call.read_within(ANSWER).await?;
        base64::engine::general_purpose::STANDARD
            .decode(shot.data)
            .map_err(|error| TabError::Confused(error.to_string()))
    }

    /// Calls the agent, waiting for the next document if this one goes.
    async fn ask<T: DeserializeOwned>(&self, call: &str, steps: usize) -> Result<T, TabError> {
        let deadline = Instant::now() + self.patience(steps);
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

    fn patience(&self, steps: usize) -> Duration {
        let cap = Duration::from_millis(self.settings.cap.into());
        cap + GRACE
            + Duration::from_millis(100) * u32::try_from(steps).unwrap_or(u32::MAX).min(1000)
    }

    /// Calls the agent; nothing if the document went before it answered.
    async fn ask_once<T: DeserializeOwned>(
        &self,
        call: &str,
        steps: usize,
    ) -> Result<Option<T>, TabError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Evaluated<T> {
            result: Outcome<T>,
            exception_details: Option<Thrown>,
        }
        #[derive(Deserialize)]
        struct Outcome<T> {
            value: Option<T>,
        }
        #[derive(Deserialize)]
        struct Thrown {
            text: String,
            exception: Option<Described>,
        }
        #[derive(Deserialize)]
        struct Described {
            description: Option<String>,
        }
        let expression = format!("window[{:?}].{call}", self.settings.secret);
        let wanted = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let call =
            self.browser.connection().call(Some(&self.opened.session), "Runtime.evaluate", &wanted);
        match call.within(self.patience(steps)).await {
            Err(CallError::Protocol { message, .. }) if is_gone(&message) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(answer) => {
                let thrown: Evaluated<serde::de::IgnoredAny> = parse(answer.get())?;
                if let Some(thrown) = thrown.exception_details {
                    let words = thrown.exception.and_then(|described| described.description);
                    return Err(TabError::Confused(words.unwrap_or(thrown.text)));
                }
                let evaluated: Evaluated<T> = parse(answer.get())?;
                Ok(evaluated.result.value)
            }
        }
    }

    fn outside(&self) -> std::sync::MutexGuard<'_, Outside> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.events.abort();
        let connection = self.browser.connection();
        // A page that spins would not hear of its end. Nobody waits for these answers.
        drop(connection.call(Some(&self.opened.session), "Runtime.terminateExecution", &json!({})));
        self.browser.let_go(&self.opened.context);
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, TabError> {
    serde_json::from_str(text).map_err(|error| TabError::Confused(error.to_string()))
}

/// The browser's words for a document that was replaced while a call was under way.
fn is_gone(message: &str) -> bool {
    [
        "navigated or closed",
        "context was destroyed",
        "Cannot find context",
        "Cannot find default execution context",
        "Promise was collected",
    ]
    .iter()
    .any(|words| message.contains(words))
}
