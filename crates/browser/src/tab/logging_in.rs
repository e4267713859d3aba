//! Logs in: performs the steps of a login in the tab, and takes over what the browser then keeps.
//! The log shows no content of this session meanwhile: a password is typed.

use std::time::Duration;

use argiope_explore::page::Kind;
use argiope_explore::quoted::Quoted;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::{ANSWER, Point, Tab, TabError, is_gone, limits};
use crate::access::{ElementSelectors, LoginAct, LoginScript, LoginStep, SavedState, host_of};
use crate::cdp;
use crate::connection::{CallError, LoggedContent};

/// What finds elements in the page.
const PAGE: &str = include_str!("login_page.js");
/// Between two attempts to find an element.
const POLL: Duration = Duration::from_millis(50);

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LogInError {
    /// The tab failed.
    #[error(transparent)]
    Tab(#[from] TabError),
    /// A step failed; which, and why. It has no value.
    #[error("{0}")]
    Step(String),
}

impl From<CallError> for LogInError {
    fn from(error: CallError) -> Self {
        Self::Tab(error.into())
    }
}

/// What the page says of an element.
#[derive(Debug, Default, Deserialize)]
struct FoundElement {
    found: bool,
    /// The browser is to type the value.
    typed: bool,
    x: f64,
    y: f64,
    /// A selector that is none.
    wrong: String,
}

impl Tab {
    /// Performs the steps of a login, beginning with what the tab restores, and returns what the
    /// browser then keeps for the application's host.
    pub async fn log_in(
        &mut self,
        url: &str,
        script: &LoginScript,
    ) -> Result<SavedState, LogInError> {
        self.limit_log(LoggedContent::Nothing);
        let ended = self.perform_login(url, script).await;
        let mut outside = self.outside();
        outside.loading = false;
        outside.notes.clear();
        drop(outside);
        ended
    }

    /// The log shows nothing of the login page: `load` lifts this when the page is left.
    pub(super) fn limit_log(&self, content: LoggedContent) {
        self.browser.connection.limit_log(&self.opened.session, content);
    }

    async fn perform_login(
        &mut self,
        url: &str,
        script: &LoginScript,
    ) -> Result<SavedState, LogInError> {
        let (first, steps) = match script.steps.split_first() {
            Some((LoginStep { act: LoginAct::Open(first), .. }, steps)) => (first.as_str(), steps),
            _ => (url, &script.steps[..]),
        };
        self.open_login_page(url, first).await?;
        for step in steps {
            self.perform_login_step(step).await?;
            self.settle().await?;
        }
        self.wait_until_inside(script).await?;
        if !self.is_at_origin().await? {
            self.open_next_page(url).await?;
            self.settle().await?;
        }
        self.take_state().await
    }

    /// Loads the first page of a login at an address, again if it wants something of a server that
    /// is not known yet. A login may lead over other origins, within the scope of the crawl.
    async fn open_login_page(&mut self, url: &str, first: &str) -> Result<(), LogInError> {
        self.lacks_outsiders = false;
        for _ in 0..=limits::MOST_RELOADS {
            self.forget(url).await?;
            self.hold_outsiders().await?;
            {
                let mut outside = self.outside();
                (outside.loading, outside.left) = (true, None);
            }
            match self.navigate_restored(first).await {
                Err(TabError::NotLoaded(reason)) => {
                    return Err(self.not_loaded(reason).await.into());
                }
                opened => opened?,
            }
            self.settle().await?;
            if !std::mem::take(&mut self.lacks_outsiders) {
                break;
            }
        }
        Ok(())
    }

    /// Loads another page of a login.
    async fn open_next_page(&mut self, url: &str) -> Result<(), TabError> {
        match self.navigate(url).await {
            Err(TabError::NotLoaded(reason)) => Err(self.not_loaded(reason).await),
            opened => opened,
        }
    }

    async fn perform_login_step(&mut self, step: &LoginStep) -> Result<(), LogInError> {
        match &step.act {
            LoginAct::Open(url) => Ok(self.open_next_page(url).await?),
            LoginAct::Fill(selectors, value) => {
                let element = self.find_element(step, selectors, "fill", value).await?;
                if element.typed {
                    self.call(&cdp::InsertText { text: value }).within(ANSWER).await?;
                }
                Ok(())
            }
            LoginAct::Click(selectors) => self.point(step, selectors, Kind::Click).await,
            LoginAct::DoubleClick(selectors) => {
                self.point(step, selectors, Kind::DoubleClick).await
            }
            LoginAct::Hover(selectors) => {
                if !self.settings.frames {
                    return Err(self.needs_frames().into());
                }
                self.point(step, selectors, Kind::Hover).await
            }
            LoginAct::Press(key) => Ok(self.press_key(key).await?),
            LoginAct::KeyDown(key) => Ok(self.send_key("keyDown", key).await?),
            LoginAct::KeyUp(key) => Ok(self.send_key("keyUp", key).await?),
            LoginAct::WaitFor(selectors) => {
                self.find_element(step, selectors, "find", "").await.map(|_| ())
            }
        }
    }

    async fn point(
        &mut self,
        step: &LoginStep,
        selectors: &ElementSelectors,
        kind: Kind,
    ) -> Result<(), LogInError> {
        let FoundElement { x, y, .. } = self.find_element(step, selectors, "aim", "").await?;
        self.pointed = true;
        Ok(self.use_mouse(kind, Point { x, y }).await?)
    }

    /// Waits for the element of a step.
    async fn find_element(
        &mut self,
        step: &LoginStep,
        selectors: &ElementSelectors,
        act: &str,
        value: &str,
    ) -> Result<FoundElement, LogInError> {
        let failed =
            |why: String| LogInError::Step(format!("step {} ({}): {why}", step.number, step.name));
        let request = json!({ "selectors": selectors, "act": act, "value": value });
        let expression = format!("({PAGE})({request})");
        let wait = Duration::from_millis(step.wait_ms.into());
        let deadline = Instant::now() + wait;
        loop {
            let element: FoundElement = self.evaluate(&expression).await?.unwrap_or_default();
            if element.found {
                return Ok(element);
            }
            if !element.wrong.is_empty() {
                return Err(failed(format!("{} is not a selector", Quoted(&element.wrong))));
            }
            if Instant::now() > deadline {
                let seconds = wait.as_secs_f64();
                return Err(failed(format!("no element in sight matches after {seconds} s")));
            }
            tokio::time::sleep(POLL).await;
            self.settle().await?;
        }
    }

    /// Evaluates an expression of argiope in the page; `None` if the document was replaced.
    async fn evaluate<T: serde::de::DeserializeOwned>(
        &self,
        expression: &str,
    ) -> Result<Option<T>, TabError> {
        let reply = self.call(&cdp::Evaluate::value(expression)).within(ANSWER).await;
        let evaluation = match reply {
            Err(CallError::Protocol { message, .. }) if is_gone(&message) => return Ok(None),
            reply => reply?,
        };
        if evaluation.exception()?.is_some() {
            // Its text may repeat what the page was told.
            return Err(TabError::Confused("a script of the login failed".to_owned()));
        }
        Ok(evaluation.value()?)
    }

    /// Waits until the page shows what every page shows while a session lasts.
    async fn wait_until_inside(&mut self, script: &LoginScript) -> Result<(), LogInError> {
        let longest = script.steps.iter().map(|step| step.wait_ms).max().unwrap_or_default();
        let deadline = Instant::now() + Duration::from_millis(longest.into());
        while self.settle().await?.outside {
            if Instant::now() > deadline {
                let selector = Quoted(&self.settings.inside).to_string();
                let why = format!("after the last step nothing matches --logged-in {selector}");
                return Err(LogInError::Step(why));
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    async fn is_at_origin(&self) -> Result<bool, TabError> {
        let origin: Option<String> = self.evaluate("location.origin").await?;
        Ok(origin.is_some_and(|origin| origin == self.settings.origin))
    }

    /// What the browser keeps of the session. Other hosts' cookies are theirs.
    async fn take_state(&self) -> Result<SavedState, LogInError> {
        let context = cdp::GetCookies { browser_context_id: &self.opened.context };
        let mut cookies = self.browser.connection.call(None, &context).within(ANSWER).await?;
        let host = host_of(&self.settings.origin);
        cookies.retain(|cookie| cookie.is_for(host));
        let items = "[Object.entries(localStorage), Object.entries(sessionStorage)]";
        let (local, session) = self.evaluate(items).await?.unwrap_or_default();
        Ok(SavedState { cookies, local, session })
    }
}
