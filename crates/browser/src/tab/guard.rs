//! Watches navigations: the browser holds each document request until argiope has seen its address,
//! because nothing else stops a redirect that leaves the application. Every request of the page
//! then passes the browser's main thread, so watching begins only when a page is left for the first
//! time (see `agent/world.js`); many applications never leave theirs.

use super::{ANSWER, Tab, TabError};
use crate::agent::AgentSettings;
use crate::cdp;
use crate::connection::{PendingReply, ProtocolConnection, SessionId};

/// Puts the agent into every document to come. The answer is the browser's name of the script.
pub(super) fn install(
    connection: &ProtocolConnection,
    session: &SessionId,
    settings: &AgentSettings,
) -> PendingReply<String> {
    connection.call(Some(session), &cdp::AddScript { source: &settings.script() })
}

/// Lets the browser hold requests for documents, and ask for a login if there is one.
pub(super) fn watch(
    connection: &ProtocolConnection,
    session: &SessionId,
    settings: &AgentSettings,
) -> PendingReply<()> {
    let documents = cdp::RequestPattern {
        url_pattern: "*",
        resource_type: "Document",
        request_stage: "Request",
    };
    let handle_auth_requests = settings.login.is_some();
    connection
        .call(Some(session), &cdp::EnableFetch { patterns: &[documents], handle_auth_requests })
}

impl Tab {
    /// Watches navigations from now on, and releases the one that the agent holds.
    pub(super) async fn guard(&mut self) -> Result<(), TabError> {
        self.settings.guarded = true;
        let watched = watch(&self.browser.connection, &self.opened.session, &self.settings);
        let removed = self.call(&cdp::RemoveScript { identifier: &self.script });
        let script = install(&self.browser.connection, &self.opened.session, &self.settings);
        watched.within(ANSWER).await?;
        removed.within(ANSWER).await?;
        self.script = script.within(ANSWER).await?;
        // The navigation may replace the page before it can answer.
        let _: Option<bool> = self.ask_once("guard()", 1).await?;
        Ok(())
    }
}
