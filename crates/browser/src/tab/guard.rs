//! Watches navigations: the browser holds each document request until argiope has seen its address.
//! The door stops a redirect that leaves the application, too, but the page would be lost with it.
//! Every request of the page then passes the browser's main thread, so watching begins only when a
//! page is left for the first time (see `agent/world.js`); many applications never leave theirs.
//! What else the browser holds: see `limits.rs`.

use super::{ANSWER, Tab, TabError, limits};
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

/// Whether navigations must be watched from the first load on: the browser asks for a login only
/// where it holds requests, and the agent is no guard.
pub(super) fn is_always_needed(settings: &AgentSettings) -> bool {
    let bounds = &settings.border.bounds;
    settings.login.is_some()
        || !settings.headers.is_empty()
        || bounds.has_patterns()
        || bounds.is_safe
}

/// Lets the browser hold the requests that argiope must see, and ask for a login if there is one;
/// `None` if there are no such requests.
pub(super) fn watch(
    connection: &ProtocolConnection,
    session: &SessionId,
    settings: &AgentSettings,
) -> Option<PendingReply<()>> {
    let held = limits::held_requests(settings);
    let patterns = held.iter().map(|(address, kind)| cdp::RequestPattern {
        url_pattern: address,
        resource_type: *kind,
        request_stage: "Request",
    });
    let patterns: Vec<_> = patterns.collect();
    let handle_auth_requests = settings.login.is_some();
    let enable = cdp::EnableFetch { patterns: &patterns, handle_auth_requests };
    (!patterns.is_empty()).then(|| connection.call(Some(session), &enable))
}

impl Tab {
    /// Watches navigations from now on, and releases the one that the agent holds.
    pub(super) async fn guard(&mut self) -> Result<(), TabError> {
        self.settings.guarded = true;
        let watched = watch(&self.browser.connection, &self.opened.session, &self.settings);
        self.reinstall().await?;
        if let Some(watched) = watched {
            watched.within(ANSWER).await?;
        }
        // The navigation may replace the page before it can answer.
        let _: Option<bool> = self.ask_once("guard()", 1).await?;
        Ok(())
    }

    /// The first load of the probe is over: from the next one on the page draws the numbers of the
    /// crawl, and navigations are watched only when the page is left.
    pub async fn end_probe(&mut self) -> Result<(), TabError> {
        self.settings.probing = false;
        if !is_always_needed(&self.settings) {
            self.settings.guarded = false;
            self.call(&cdp::DisableFetch {}).within(ANSWER).await?;
            let held = watch(&self.browser.connection, &self.opened.session, &self.settings);
            if let Some(held) = held {
                held.within(ANSWER).await?;
            }
        }
        self.reinstall().await
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
        let expression = self.settings.call_if_there(&format!("learn({list})"));
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
