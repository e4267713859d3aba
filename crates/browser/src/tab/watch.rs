//! What happens to a tab while it is busy with something else, and must be answered: navigations, dialogs,
//! downloads.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::json;

use super::Outside;
use crate::agent::AgentSettings;
use crate::browser::OpenedTab;
use crate::connection::ProtocolConnection;
use crate::events::{Event, Events};
use crate::note::Noted;

/// What must be answered while the tab is busy: dialogs, navigations, downloads.
pub(super) struct TabWatch {
    pub connection: ProtocolConnection,
    pub opened: OpenedTab,
    pub settings: AgentSettings,
    pub outside: Arc<Mutex<Outside>>,
}

impl TabWatch {
    pub async fn run(self, mut events: Events) {
        while let Some(event) = events.next().await {
            // An event that cannot be read is the browser's fault and concerns nobody here.
            let _ = self.heard(&event);
        }
    }

    fn heard(&self, event: &Event) -> Result<(), serde_json::Error> {
        match &*event.method {
            "Fetch.requestPaused" => self.request(&event.read()?),
            "Page.javascriptDialogOpening" => self.dialog(event.read()?),
            "Page.downloadWillBegin" => {
                #[derive(Deserialize)]
                struct Download {
                    url: String,
                }
                self.note(Noted::Download(event.read::<Download>()?.url));
                self.stayed();
            }
            "Log.entryAdded" => self.logged(&event.read::<Logged>()?.entry),
            _ => {}
        }
        Ok(())
    }

    fn send(&self, method: &str, params: &serde_json::Value) {
        drop(self.connection.call(Some(&self.opened.session), method, params));
    }

    /// Tells the agent that the page is not left after all.
    fn stayed(&self) {
        let expression = format!("window[{:?}]?.stayed()", self.settings.secret);
        self.send("Runtime.evaluate", &json!({"expression": expression}));
    }

    fn note(&self, noted: Noted) {
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if outside.notes.len() < 100 {
            outside.notes.push(noted);
        }
    }

    /// A document is about to be fetched, perhaps after a redirect.
    fn request(&self, paused: &Paused) {
        let loading = self.outside.lock().unwrap_or_else(PoisonError::into_inner).loading;
        let main = paused.frame_id == self.opened.target.0;
        if main && !loading && !same_origin(&paused.request.url, &self.settings.origin) {
            self.note(Noted::OutOfScope(paused.request.url.clone()));
            let refuse = json!({"requestId": paused.request_id, "errorReason": "Aborted"});
            self.send("Fetch.failRequest", &refuse);
            self.stayed();
        } else {
            self.send("Fetch.continueRequest", &json!({"requestId": paused.request_id}));
        }
    }

    /// The browser drops connections when an interface of the machine comes or goes (a container, a tunnel), also those
    /// that do not go over it, and tells the page no more than that its request failed.
    fn logged(&self, entry: &Entry) {
        if entry.disturbs(&self.settings.site) {
            self.outside.lock().unwrap_or_else(PoisonError::into_inner).disturbed = true;
        }
    }

    /// Those that the agent does not answer itself, such as the one before a page is left.
    fn dialog(&self, Dialog { kind, message }: Dialog) {
        self.note(Noted::Dialog(kind, message));
        self.send("Page.handleJavaScriptDialog", &json!({"accept": true}));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    frame_id: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    url: String,
}

#[derive(Deserialize)]
struct Logged {
    entry: Entry,
}

#[derive(Deserialize)]
struct Entry {
    source: String,
    text: String,
    #[serde(default)]
    url: String,
}

impl Entry {
    /// Whether a request of the application itself failed for the machine's network. That outside hosts cannot be reached
    /// may well be how things are: a machine without a network crawls what it serves itself.
    fn disturbs(&self, site: &str) -> bool {
        let host = self
            .url
            .split_once("://")
            .and_then(|(_, rest)| rest.split(['/', '?', '#', ':']).next());
        let inside = |host: &str| {
            host == site || host.strip_suffix(site).is_some_and(|sub| sub.ends_with('.'))
        };
        self.source == "network" && is_disturbance(&self.text) && host.is_some_and(inside)
    }
}

#[derive(Deserialize)]
struct Dialog {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

/// Whether the browser says that a request failed for the machine's network alone.
pub(super) fn is_disturbance(text: &str) -> bool {
    ["ERR_NETWORK_CHANGED", "ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_IO_SUSPENDED"]
        .iter()
        .any(|reason| text.contains(&format!("net::{reason}")))
}

fn same_origin(url: &str, origin: &str) -> bool {
    url.strip_prefix(origin)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_network_under_the_application_itself_disturbs() {
        let disturbs = |source: &str, text: &str, url: &str| {
            let entry = Entry { source: source.into(), text: text.into(), url: url.into() };
            entry.disturbs("app.test")
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
