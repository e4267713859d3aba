//! Watching over navigations: each is held up and asked about, because nothing else stops a redirect that leaves the
//! application. Every request of the page then goes by way of the browser's main thread, so it begins only when a page
//! is left for the first time (see `agent/hooks.js`); many applications never are.

use serde::Deserialize;
use serde_json::json;

use super::{ANSWER, Tab, TabError};
use crate::agent::AgentSettings;
use crate::connection::{CallError, ProtocolConnection, SessionId};

/// Puts the agent into every document to come; gives the browser's name for it.
pub(super) fn install(
    connection: &ProtocolConnection,
    session: &SessionId,
    settings: &AgentSettings,
) -> impl Future<Output = Result<String, CallError>> + use<> {
    #[derive(Deserialize)]
    struct Added {
        identifier: String,
    }
    let source = json!({"source": settings.script()});
    let call = connection.call(Some(session), "Page.addScriptToEvaluateOnNewDocument", &source);
    async move { Ok(call.read_within::<Added>(ANSWER).await?.identifier) }
}

impl Tab {
    /// From now on navigations are watched; the one that was held goes on.
    pub(super) async fn guard(&mut self) -> Result<(), TabError> {
        self.settings.guarded = true;
        let (connection, session) = (self.browser.connection(), &self.opened.session);
        let documents = json!({"patterns": [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}]});
        let watched = connection.call(Some(session), "Fetch.enable", &documents);
        let old = json!({"identifier": self.script});
        let removed =
            connection.call(Some(session), "Page.removeScriptToEvaluateOnNewDocument", &old);
        let script = install(connection, session, &self.settings);
        watched.within(ANSWER).await?;
        removed.within(ANSWER).await?;
        self.script = script.await?;
        // The page may be gone as soon as it goes on, before it can answer.
        let _: Option<bool> = self.ask_once("guard()", 1).await?;
        Ok(())
    }
}
