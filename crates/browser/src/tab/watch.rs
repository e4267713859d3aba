//! The event task of a tab. It answers what cannot wait until the tab's present call ends:
//! navigations, dialogs, downloads.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::requests::{self, Verdict};
use super::{Outside, refresh};
use crate::agent::AgentSettings;
use crate::border::UrlParts;
use crate::browser::OpenedTab;
use crate::cdp::events::{
    AuthDemand, HeldRequest, LogEntry, NavigatedFrame, OpenDialog, PausedRequest,
    ScheduledNavigation, TabEvent, tab_event,
};
use crate::cdp::{self, HeaderEntry, ProtocolCall};
use crate::connection::ProtocolConnection;
use crate::events::Events;
use crate::login::Login;
use crate::note::Noted;
use crate::outsider;

/// What the event task needs to answer.
#[derive(Clone)]
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
            TabEvent::RequestPaused(request) => self.on_request_paused(request),
            TabEvent::AuthRequired(demand) => self.on_auth_required(demand),
            TabEvent::DialogOpening(dialog) => self.on_dialog_opening(dialog),
            TabEvent::DownloadBegins(download) => {
                self.note(Noted::Download(download.url));
                self.stay();
            }
            TabEvent::Logged(entry) => self.on_logged(&entry),
            TabEvent::NavigationScheduled(navigation) => self.on_scheduled(navigation),
            TabEvent::Navigated(frame) => self.on_navigated(frame),
            TabEvent::Attached(started) => self.on_attached(started),
        }
    }

    /// The same task for what the tab has started.
    pub(super) fn boxed(self, events: Events) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.run(events))
    }

    /// Sends a call whose answer does not matter.
    pub(super) fn send<C: ProtocolCall>(&self, call: &C) {
        drop(self.connection.call(Some(&self.opened.session), call));
    }

    /// Tells the agent that the page is not left after all.
    fn stay(&self) {
        let expression = self.settings.call_if_there("stayed()");
        self.send(&cdp::Evaluate::new(&expression));
    }

    pub(super) fn outside(&self) -> MutexGuard<'_, Outside> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, noted: Noted) {
        self.outside().note(noted);
    }

    /// The browser is about to request something, perhaps after a redirect.
    fn on_request_paused(&self, paused: PausedRequest) {
        let is_document = paused.resource_type == "Document";
        let is_main = is_document && paused.frame_id == self.opened.target.0;
        match requests::judge(&self.settings.border.bounds, &paused) {
            Verdict::Pass => self.let_pass(&paused),
            Verdict::Load => self.load_outside(paused),
            verdict if is_main => self.refuse_document(&paused, verdict),
            verdict => {
                if verdict == Verdict::Unsafe {
                    let PausedRequest { request: HeldRequest { method, url, .. }, .. } = paused;
                    self.note(Noted::Unsafe(method, url));
                } else {
                    self.count_blocked(&paused.request.url);
                }
                let request_id = &paused.request_id;
                self.send(&cdp::FailRequest { request_id, error_reason: "BlockedByClient" });
            }
        }
    }

    /// Lets a request go on, with the headers that the application's origin gets.
    fn let_pass(&self, paused: &PausedRequest) {
        let PausedRequest { request_id, request, .. } = paused;
        let is_own = self.settings.border.bounds.is_at_own_origin(&request.url);
        match with_headers(request, &self.settings.headers, is_own) {
            Some(headers) => {
                self.send(&cdp::ContinueWithHeaders { request_id, headers: &headers });
            }
            None => self.send(&cdp::ContinueRequest { request_id }),
        }
    }

    /// Refuses to replace the page. Only this error lets the browser keep the present one.
    fn refuse_document(&self, paused: &PausedRequest, verdict: Verdict) {
        let HeldRequest { url, method, .. } = &paused.request;
        let mut outside = self.outside();
        if verdict == Verdict::Unsafe {
            outside.note(Noted::Unsafe(method.clone(), url.clone()));
        } else if outside.loading {
            outside.left = Some(url.clone());
        } else {
            outside.note(Noted::OutOfScope(url.clone()));
        }
        drop(outside);
        let request_id = &paused.request_id;
        self.send(&cdp::FailRequest { request_id, error_reason: "Aborted" });
        self.stay();
    }

    fn count_blocked(&self, url: &str) {
        if let Some(url) = UrlParts::of(url) {
            self.settings.border.count_blocked(&url.host);
        }
    }

    /// Loads a resource of another origin for the page.
    fn load_outside(&self, mut paused: PausedRequest) {
        // A redirect may have brought them here.
        paused.request.headers.retain(|name, _| !is_given(&self.settings.headers, name));
        let (border, connection) = (self.settings.border.clone(), self.connection.clone());
        let session = self.opened.session.clone();
        tokio::spawn(async move {
            let PausedRequest { request_id, request: HeldRequest { url, headers, .. }, .. } =
                paused;
            let request_id = &request_id;
            // The answers do not matter: the page may be gone.
            match outsider::load(&border, &url, &headers).await {
                Ok(answer) => drop(
                    connection.call(Some(&session), &requests::fulfilled(&answer).call(request_id)),
                ),
                Err(error) => {
                    tracing::debug!(url, %error, "a resource of another origin cannot be loaded");
                    let failed = cdp::FailRequest { request_id, error_reason: "ConnectionFailed" };
                    drop(connection.call(Some(&session), &failed));
                }
            }
        });
    }

    /// The main document is another one now. A refresh belonged to the one before. Only the browser
    /// surely says so: the document that is left may go before it can answer.
    fn on_navigated(&self, frame: NavigatedFrame) {
        if frame.id != self.opened.target.0 {
            return;
        }
        let url = frame.unreachable_url.unwrap_or(frame.url);
        let is_outside =
            UrlParts::of(&url).is_some() && !self.settings.border.bounds.contains(&url);
        let mut outside = self.outside();
        outside.refresh = None;
        if !outside.loading {
            outside.note(Noted::Route(url.clone()));
        }
        outside.left = is_outside.then_some(url);
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
        let expression = self.settings.call_if_there(&format!("refuse({url})"));
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

/// The headers of a request with those that only the application's origin gets; `None` if they stay
/// as they are. A request that a redirect takes elsewhere loses what it was given before.
fn with_headers<'a>(
    request: &'a HeldRequest,
    given: &'a [(String, String)],
    is_inside: bool,
) -> Option<Vec<HeaderEntry<'a>>> {
    let is_given = |name: &str| is_given(given, name);
    if given.is_empty() || (!is_inside && !request.headers.keys().any(|name| is_given(name))) {
        return None;
    }
    let entry = |(name, value): (&'a String, &'a String)| HeaderEntry { name, value };
    let own = request.headers.iter().filter(|(name, _)| !is_given(name)).map(entry);
    let added = given.iter().filter(|_| is_inside).map(|(name, value)| entry((name, value)));
    Some(own.chain(added).collect())
}

/// Whether a header is one that only the application's origin gets.
fn is_given(given: &[(String, String)], name: &str) -> bool {
    given.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_to_the_origin_alone() {
        let given = [("X-Token".to_owned(), "whisper".to_owned())];
        let check = |headers: &[(&str, &str)], is_inside: bool| {
            let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let request = HeldRequest {
                url: String::new(),
                method: "GET".into(),
                headers: headers.collect(),
            };
            let shown = |entry: &HeaderEntry<'_>| format!("{}: {}", entry.name, entry.value);
            let sent = with_headers(&request, &given, is_inside);
            sent.map(|sent| sent.iter().map(shown).collect::<Vec<_>>().join(", "))
        };
        let added = Some("Accept: a, X-Token: whisper".to_owned());
        assert_eq!(check(&[("Accept", "a")], true), added);
        assert_eq!(check(&[("Accept", "a"), ("x-token", "old")], true), added);
        assert_eq!(check(&[("Accept", "a")], false), None);
        let taken = check(&[("Accept", "a"), ("x-token", "whisper")], false);
        assert_eq!(taken, Some("Accept: a".to_owned()));
    }

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
