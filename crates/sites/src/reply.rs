//! A request as the routes of a fixture see it, and their answer. Knows nothing of the server, so that
//! a route can be tried without one.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longer than any browser waits: an answer after this time is an answer that never comes.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

/// What the routes may know of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteRequest {
    /// The path, from its first slash on.
    pub(crate) path: String,
    /// What follows the question mark, as it was sent.
    pub(crate) query: String,
    /// The cookie header, as it was sent.
    pub(crate) cookies: String,
}

impl SiteRequest {
    /// The value of a parameter of the query. Nothing is decoded: our pages send plain values.
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

/// What one running server remembers between requests.
#[derive(Debug, Default)]
pub(crate) struct ServerMemory {
    count: AtomicU64,
}

impl ServerMemory {
    /// Counts one more; the first is 0.
    pub(crate) fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

/// An answer, and how long it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SiteReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Cow<'static, [u8]>,
    pub(crate) delay: Duration,
}

impl SiteReply {
    /// A body of a type.
    pub(crate) fn new(content_type: &str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        let headers = vec![("content-type", content_type.to_string())];
        Self { status: 200, headers, body: body.into(), delay: Duration::ZERO }
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

    /// The way to another address.
    pub(crate) fn redirect(to: &str) -> Self {
        Self::text("").status(302).header("location", to)
    }

    /// The same with another status.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with one more header.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// The same, some milliseconds later.
    pub(crate) fn after(mut self, milliseconds: u64) -> Self {
        self.delay = Duration::from_millis(milliseconds);
        self
    }

    /// The same, but it never comes.
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
        let ask = SiteRequest {
            query: "pages=9&page=2".into(),
            cookies: "a=1; seen=yes".into(),
            ..SiteRequest::default()
        };
        assert_eq!(ask.parameter("page"), Some("2"));
        assert_eq!(ask.parameter("pag"), None);
        assert_eq!(ask.cookie("seen"), Some("yes"));
        assert_eq!(ask.cookie("see"), None);
    }
}
