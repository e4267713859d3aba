//! Calls of the page agent.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{GRACE, Tab, TabError};
use crate::connection::{CallError, Reply};

/// The agent's answer when it needs a frame before it can go on.
const FRAME: &str = "\"frame\"";

impl Tab {
    /// Calls the agent, waiting for the next document if this one goes.
    pub(super) async fn ask<T: DeserializeOwned>(&mut self, call: &str, steps: usize) -> Result<T, TabError> {
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

    /// Calls the agent; nothing if the document went before it answered.
    pub(super) async fn ask_once<T: DeserializeOwned>(
        &mut self,
        call: &str,
        steps: usize,
    ) -> Result<Option<T>, TabError> {
        let deadline = Instant::now() + self.patience(steps);
        let mut reply = self.evaluate(call);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = match reply.within(left).await {
                Err(CallError::Protocol { message, .. }) if is_gone(&message) => return Ok(None),
                answer => answer?,
            };
            match value(&answer)? {
                Some(value) if value.get() == FRAME => {
                    // The agent listens again before the frame is there.
                    reply = self.evaluate("resume()");
                    self.frames.order().await;
                }
                value => return value.map(|value| parse(value.get())).transpose(),
            }
        }
    }

    fn evaluate(&self, call: &str) -> Reply {
        let expression = format!("window[{:?}].{call}", self.settings.secret);
        let wanted = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        self.browser.connection().call(Some(&self.opened.session), "Runtime.evaluate", &wanted)
    }

    fn patience(&self, steps: usize) -> Duration {
        let cap = Duration::from_millis(self.settings.cap.into());
        cap + GRACE + Duration::from_millis(100) * u32::try_from(steps).unwrap_or(u32::MAX).min(1000)
    }
}

/// What an evaluation gave, if it did not throw.
fn value(answer: &RawValue) -> Result<Option<&RawValue>, TabError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Evaluated<'a> {
        #[serde(borrow)]
        result: Outcome<'a>,
        exception_details: Option<Thrown>,
    }
    #[derive(Deserialize)]
    struct Outcome<'a> {
        #[serde(borrow)]
        value: Option<&'a RawValue>,
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
    let evaluated: Evaluated<'_> = parse(answer.get())?;
    match evaluated.exception_details {
        None => Ok(evaluated.result.value),
        Some(thrown) => {
            let words = thrown.exception.and_then(|described| described.description);
            Err(TabError::Confused(words.unwrap_or(thrown.text)))
        }
    }
}

pub(super) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, TabError> {
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
