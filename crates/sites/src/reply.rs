//! A request as the routes of a fixture see it, and their reply. Knows nothing of the server, so
//! that a route can be tested without one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// Longer than any browser waits, so a reply after this time never arrives.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

/// The request data that routes use.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteRequest {
    /// The path, with its first slash.
    pub(crate) path: String,
    /// The query after the question mark, undecoded.
    pub(crate) query: String,
    /// The host and the port to which it was sent.
    pub(crate) host: String,
    /// The cookie header, undecoded.
    pub(crate) cookies: String,
    /// The body of a form, undecoded.
    pub(crate) form: String,
}

impl SiteRequest {
    /// The value of a parameter of the query, undecoded: the fixtures send plain values.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        named(&self.query, '&', name)
    }

    /// The value of a cookie.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        named(&self.cookies, ';', name)
    }
}

fn named<'a>(pairs: &'a str, separator: char, name: &str) -> Option<&'a str> {
    let mut pairs = pairs.split(separator).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// The memory of one running server between requests.
#[derive(Debug, Default)]
pub(crate) struct ServerMemory {
    count: AtomicU64,
    visited: Mutex<BTreeSet<u64>>,
    /// Notified when the server stops by itself.
    pub(crate) stopped: Notify,
    names: Mutex<BTreeSet<String>>,
    /// How many more requests each session lasts.
    sessions: Mutex<Vec<u64>>,
}

impl ServerMemory {
    /// Increments the counter and returns its value before. The first is 0.
    pub(crate) fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Remembers a name; false if it is known.
    pub(crate) fn add_name(&self, name: &str) -> bool {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned())
    }

    /// What was visited so far. Visits it as well, if it is given.
    pub(crate) fn visited(&self, visit: Option<u64>) -> Vec<u64> {
        let mut visited = self.visited.lock().unwrap_or_else(PoisonError::into_inner);
        visited.extend(visit);
        visited.iter().copied().collect()
    }
}

impl ServerMemory {
    /// Begins a session that lasts for some requests. Returns its number.
    pub(crate) fn begin_session(&self, lasts: u64) -> usize {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(lasts);
        sessions.len() - 1
    }

    /// Counts a request of a session. Returns whether the session is still there.
    pub(crate) fn use_session(&self, id: usize) -> bool {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left) = sessions.get_mut(id).filter(|left| **left > 0) else { return false };
        *left -= 1;
        true
    }
}

/// A reply and its delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SiteReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Cow<'static, [u8]>,
    pub(crate) delay: Duration,
    /// Whether the server stops after this reply.
    pub(crate) stops: bool,
}

impl SiteReply {
    /// A body with a content type.
    pub(crate) fn new(content_type: &str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        let headers = vec![("content-type", content_type.to_string())];
        Self { status: 200, headers, body: body.into(), delay: Duration::ZERO, stops: false }
    }

    /// An HTML page.
    pub(crate) fn html(body: impl Into<String>) -> Self {
        Self::new("text/html; charset=utf-8", body.into().into_bytes())
    }

    /// A line of text.
    pub(crate) fn text(body: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", body.into().into_bytes())
    }

    /// A JSON value.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json", value.to_string().into_bytes())
    }

    /// A redirect to another address.
    pub(crate) fn redirect(to: &str) -> Self {
        Self::text("").status(302).header("location", to)
    }

    /// Sets the status.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Delays the reply.
    pub(crate) fn after(mut self, milliseconds: u64) -> Self {
        self.delay = Duration::from_millis(milliseconds);
        self
    }

    /// Stops the server after the reply.
    pub(crate) fn stopping(mut self) -> Self {
        self.stops = true;
        self
    }

    /// Delays the reply forever.
    pub(crate) fn never(mut self) -> Self {
        self.delay = NEVER;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_cookies_are_found_by_their_whole_name() {
        let request = SiteRequest {
            query: "pages=9&page=2".into(),
            cookies: "a=1; seen=yes".into(),
            ..SiteRequest::default()
        };
        assert_eq!(request.parameter("page"), Some("2"));
        assert_eq!(request.parameter("pag"), None);
        assert_eq!(request.cookie("seen"), Some("yes"));
        assert_eq!(request.cookie("see"), None);
    }
}
