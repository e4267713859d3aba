//! The event task of a tab. It answers what cannot wait until the tab's present call ends:
//! navigations, dialogs, downloads.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Outside, refresh};
use crate::agent::AgentSettings;
use crate::browser::OpenedTab;
use crate::cdp::events::{
    AuthDemand, LogEntry, OpenDialog, PausedRequest, ScheduledNavigation, TabEvent, tab_event,
};
use crate::cdp::{self, ProtocolCall};
use crate::connection::ProtocolConnection;
use crate::events::Events;
use crate::login::Login;
use crate::note::Noted;

/// What the event task needs to answer.
pub(super) struct TabWatch {
    pub connection: ProtocolConnection,
    pub opened: OpenedTab,
    pub settings: AgentSettings,
    pub outside: Arc<Mutex<Outside>>,
}

impl TabWatch {
    pub async fn run(self, mut events: Events) {
        while let Some(event) = events.next().await {
            match tab_event(&event) {
                Ok(Some(event)) => self.on_event(event),
                Ok(None) => {}
                Err(error) => tracing::debug!(method = %event.method, %error, "unreadable event"),
            }
        }
    }

    fn on_event(&self, event: TabEvent) {
        match event {
            TabEvent::RequestPaused(request) => self.on_request_paused(&request),
            TabEvent::AuthRequired(demand) => self.on_auth_required(demand),
            TabEvent::DialogOpening(dialog) => self.on_dialog_opening(dialog),
            TabEvent::DownloadBegins(download) => {
                self.note(Noted::Download(download.url));
                self.stay();
            }
            TabEvent::Logged(entry) => self.on_logged(&entry),
            TabEvent::NavigationScheduled(navigation) => self.on_scheduled(navigation),
            // A refresh belongs to the document before.
            TabEvent::Navigated(frame) => {
                if frame.id == self.opened.target.0 {
                    self.outside.lock().unwrap_or_else(PoisonError::into_inner).refresh = None;
                }
            }
        }
    }

    /// Sends a call whose answer does not matter.
    fn send<C: ProtocolCall>(&self, call: &C) {
        drop(self.connection.call(Some(&self.opened.session), call));
    }

    /// Tells the agent that the page is not left after all.
    fn stay(&self) {
        let expression = format!("window[{:?}]?.stayed()", self.settings.secret);
        self.send(&cdp::Evaluate::new(&expression));
    }

    fn note(&self, noted: Noted) {
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if outside.notes.len() < 100 {
            outside.notes.push(noted);
        }
    }

    /// The browser is about to request a document, perhaps after a redirect.
    fn on_request_paused(&self, paused: &PausedRequest) {
        let PausedRequest { request_id, frame_id, request } = paused;
        let loading = self.outside.lock().unwrap_or_else(PoisonError::into_inner).loading;
        let is_main = *frame_id == self.opened.target.0;
        if is_main && !loading && !is_same_origin(&request.url, &self.settings.origin) {
            self.note(Noted::OutOfScope(request.url.clone()));
            self.send(&cdp::FailRequest { request_id, error_reason: "Aborted" });
            self.stay();
        } else {
            self.send(&cdp::ContinueRequest { request_id });
        }
    }

    /// A server demands a login. Only the application's own server gets it, and only once for each
    /// request: a wrong password must not be repeated without end.
    fn on_auth_required(&self, AuthDemand { request_id, auth_challenge }: AuthDemand) {
        let is_ours = |login: &&Login| {
            auth_challenge.source != "Proxy" && login.is_for(&auth_challenge.origin)
        };
        let login = self.settings.login.as_ref().filter(is_ours);
        let login = login.filter(|_| {
            let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
            outside.is_first_demand(&request_id)
        });
        let answer = match login.map(Login::reveal) {
            Some((user, secret)) => cdp::AuthAnswer {
                response: "ProvideCredentials",
                username: Some(user),
                password: Some(secret),
            },
            None => cdp::AuthAnswer { response: "CancelAuth", username: None, password: None },
        };
        let request_id = &request_id;
        self.send(&cdp::ContinueWithAuth { request_id, auth_challenge_response: answer });
    }

    /// The page will be refreshed. The browser must not do it in the middle of a step: the tab does
    /// it when the page has settled, if it is soon.
    fn on_scheduled(&self, navigation: ScheduledNavigation) {
        if navigation.frame_id != self.opened.target.0 || !navigation.is_refresh() {
            return;
        }
        let url = serde_json::Value::from(navigation.url.as_str());
        let expression = format!("window[{:?}]?.refuse({url})", self.settings.secret);
        self.send(&cdp::Evaluate::new(&expression));
        if navigation.delay <= refresh::LONGEST_DELAY {
            let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
            outside.refresh = Some(navigation.url);
        }
    }

    /// The browser drops all connections when an interface of the machine comes or goes (a
    /// container, a tunnel), and the page learns only that its request failed.
    fn on_logged(&self, entry: &LogEntry) {
        if disturbs(entry, &self.settings.site) {
            self.outside.lock().unwrap_or_else(PoisonError::into_inner).disturbed = true;
        }
    }

    /// Answers dialogs that the agent does not, such as the one before a page is left.
    fn on_dialog_opening(&self, OpenDialog { kind, message }: OpenDialog) {
        self.note(Noted::Dialog(kind, message));
        self.send(&cdp::HandleDialog { accept: true });
    }
}

/// Whether a request of the application itself failed because of the machine's network. Outside
/// hosts do not count: a machine without a network can crawl what it serves itself.
fn disturbs(entry: &LogEntry, site: &str) -> bool {
    let host =
        entry.url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#', ':']).next());
    let is_inside =
        |host: &str| host == site || host.strip_suffix(site).is_some_and(|sub| sub.ends_with('.'));
    entry.source == "network" && is_disturbance(&entry.text) && host.is_some_and(is_inside)
}

/// Whether the browser says that a request failed because of the machine's network.
pub(super) fn is_disturbance(text: &str) -> bool {
    ["ERR_NETWORK_CHANGED", "ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_IO_SUSPENDED"]
        .iter()
        .any(|reason| text.contains(&format!("net::{reason}")))
}

fn is_same_origin(url: &str, origin: &str) -> bool {
    url.strip_prefix(origin)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_network_under_the_application_itself_disturbs() {
        let disturbs = |source: &str, text: &str, url: &str| {
            let entry = LogEntry { source: source.into(), text: text.into(), url: url.into() };
            disturbs(&entry, "app.test")
        };
        let changed = "Failed to load resource: net::ERR_NETWORK_CHANGED";
        assert!(disturbs("network", changed, "http://app.test:8080/api"));
        assert!(disturbs("network", changed, "https://api.app.test/"));
        assert!(!disturbs("network", changed, "https://fonts.test/a.css"));
        assert!(!disturbs("network", changed, "https://notapp.test/"));
        assert!(!disturbs(
            "network",
            "the server responded with a status of 404",
            "http://app.test/"
        ));
        assert!(!disturbs("javascript", changed, "http://app.test/"));
    }
}
