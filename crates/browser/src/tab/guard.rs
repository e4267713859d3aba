//! Watches navigations: the browser holds each document request until argiope has seen its address,
//! because nothing else stops a redirect that leaves the application. Every request of the page
//! then passes the browser's main thread, so watching begins only when a page is left for the first
//! time (see `agent/world.js`); many applications never leave theirs.

use super::{ANSWER, Tab, TabError};
use crate::agent::AgentSettings;
use crate::cdp;
use crate::connection::{PendingReply, ProtocolConnection, SessionId};

/// The most addresses that a tab keeps. Each costs a page the whole time to settle, once.
const MOST_ENDLESS: usize = 100;
/// The longest address that a tab keeps, in bytes.
const LONGEST_ADDRESS: usize = 1000;

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
        self.reinstall().await?;
        watched.within(ANSWER).await?;
        // The navigation may replace the page before it can answer.
        let _: Option<bool> = self.ask_once("guard()", 1).await?;
        Ok(())
    }
    /// Gives documents to come the present settings: an agent keeps those of its installation.
    async fn reinstall(&mut self) -> Result<(), TabError> {
        let removed = self.call(&cdp::RemoveScript { identifier: &self.script });
        let script = install(&self.browser.connection, &self.opened.session, &self.settings);
        removed.within(ANSWER).await?;
        self.script = script.within(ANSWER).await?;
        Ok(())
    }

    /// Learns addresses whose requests do not end: neither this document nor later ones wait for
    /// them.
    pub async fn learn_endless(&mut self, addresses: &[String]) -> Result<(), TabError> {
        if !self.add_endless(addresses) {
            return Ok(());
        }
        self.reinstall().await?;
        let list = serde_json::to_string(&self.settings.endless)
            .map_err(|error| TabError::Confused(error.to_string()))?;
        let expression = format!("window[{:?}]?.learn({list})", self.settings.secret);
        drop(self.call(&cdp::Evaluate::new(&expression)));
        Ok(())
    }

    /// The page's own agent has found addresses whose requests do not end.
    pub(super) async fn on_endless(&mut self, addresses: &[String]) -> Result<(), TabError> {
        if self.add_endless(addresses) { self.reinstall().await } else { Ok(()) }
    }

    /// Whether any of the addresses is new and is kept.
    fn add_endless(&mut self, addresses: &[String]) -> bool {
        let before = self.settings.endless.len();
        for address in addresses {
            let endless = &mut self.settings.endless;
            if endless.len() < MOST_ENDLESS
                && address.len() <= LONGEST_ADDRESS
                && !endless.contains(address)
            {
                endless.push(address.clone());
            }
        }
        self.settings.endless.len() > before
    }
}
