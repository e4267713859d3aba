//! Frames to order. The headless shell makes none by itself: a page is laid out and painted, and its observers and
//! animations hear of it, when the agent or input needs that, and within a millisecond or two of the order. Other
//! browsers make sixty a second whether or not anybody looks.

use std::time::Duration;

use base64::Engine as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{ANSWER, Tab, TabError};
use crate::browser::{Browser, FrameLock, OpenedTab};
use crate::connection::{CallError, Connection};

/// How long a frame is waited for before the next is ordered all the same.
const OVERDUE: Duration = Duration::from_secs(1);

/// The frames of a tab.
pub(super) struct Frames {
    connection: Connection,
    opened: OpenedTab,
    /// None where frames come by themselves.
    lock: Option<FrameLock>,
    last: Option<Made>,
}

type Made = JoinHandle<Result<Box<RawValue>, CallError>>;

impl Frames {
    pub fn of(browser: &Browser, opened: &OpenedTab) -> Self {
        let lock = browser.frame_lock().cloned();
        Self { connection: browser.connection().clone(), opened: opened.clone(), lock, last: None }
    }

    /// Has a frame made, where none comes by itself. Does not wait for it.
    pub async fn order(&mut self) {
        // For the page, not for the eye.
        self.last = self.begin(json!({"noDisplayUpdates": true})).await;
    }

    /// Begins a frame after the last one, none where they come by themselves.
    async fn begin(&mut self, wanted: Value) -> Option<Made> {
        let lock = self.lock.clone()?;
        if let Some(last) = self.last.take() {
            // However it ended: it is over.
            let _ = tokio::time::timeout(OVERDUE, last).await;
        }
        let (connection, session) = (self.connection.clone(), self.opened.session.clone());
        Some(tokio::spawn(async move {
            let _alone = lock.lock_owned().await;
            let frame = connection.call(Some(&session), "HeadlessExperimental.beginFrame", &wanted);
            frame.within(ANSWER).await
        }))
    }
}

impl Tab {
    /// A picture of what is in view, as PNG.
    pub async fn screenshot(&mut self) -> Result<Vec<u8>, TabError> {
        #[derive(Deserialize)]
        struct Shot {
            #[serde(alias = "screenshotData")]
            data: String,
        }
        let format = json!({"format": "png", "optimizeForSpeed": true});
        let made = self.frames.begin(json!({"screenshot": format})).await;
        let shot = async {
            match made {
                Some(made) => made.await.unwrap_or(Err(CallError::Crashed)),
                None => {
                    let session = Some(&self.opened.session);
                    self.browser.connection().call(session, "Page.captureScreenshot", &format).await
                }
            }
        };
        let shot = tokio::time::timeout(ANSWER, shot).await.unwrap_or(Err(CallError::Deadline))?;
        let shot: Shot = super::parse(shot.get())?;
        base64::engine::general_purpose::STANDARD
            .decode(shot.data)
            .map_err(|error| TabError::Confused(error.to_string()))
    }
}
