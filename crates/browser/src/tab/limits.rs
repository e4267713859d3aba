//! What may leave a tab: which requests the browser holds for that, and what the door has refused.
//! The door is what nothing gets around; held requests are for what argiope answers itself, and for
//! reasons that name an address.

use super::{ANSWER, Tab, TabError, guard};
use crate::agent::AgentSettings;
use crate::door::RefusedBecause;
use crate::note::Noted;

/// How often a page is loaded again because it wants something of a server that was not known.
pub(super) const MOST_RELOADS: usize = 8;

/// The requests that the browser holds: addresses, and of which kind.
pub(super) fn held_requests(settings: &AgentSettings) -> Vec<(String, Option<&'static str>)> {
    let bounds = &settings.border.bounds;
    // A redirect must not take a header to another origin: with headers every request is held.
    if bounds.is_safe || !settings.headers.is_empty() {
        return vec![("*".to_owned(), None)];
    }
    let documents = settings.guarded.then(|| ("*".to_owned(), Some("Document")));
    let excluded = bounds.excluded_wildcards().into_iter().map(|address| (address, None));
    let outsiders = settings.border.outsiders().into_iter().flat_map(|(host, port)| {
        [("http", 80), ("https", 443)].map(|(scheme, usual)| {
            let port = if port == usual { String::new() } else { format!(":{port}") };
            (format!("{scheme}://{host}{port}/*"), None)
        })
    });
    documents.into_iter().chain(excluded).chain(outsiders).collect()
}

impl Tab {
    /// Holds the requests to all servers outside that are known by now.
    pub(super) async fn hold_outsiders(&mut self) -> Result<(), TabError> {
        let known = self.settings.border.count_outsiders();
        if known == self.held {
            return Ok(());
        }
        let held = guard::watch(&self.browser.connection, &self.opened.session, &self.settings);
        if let Some(held) = held {
            held.within(ANSWER).await?;
        }
        self.held = known;
        Ok(())
    }

    /// Why a load failed: perhaps because it led out of the application.
    pub(super) async fn not_loaded(&mut self, reason: String) -> TabError {
        // The browser's event came before its answer, but its task may not have run yet.
        tokio::task::yield_now().await;
        if let Some(url) = self.outside().left.take() {
            return TabError::OutOfScope(url);
        }
        let refusals = self.opened.door.as_ref().map(|door| door.take_refusals());
        let mut refused = None;
        for refusal in refusals.unwrap_or_default() {
            self.settings.border.count_blocked(&refusal.host);
            refused = Some(refusal.address);
        }
        refused.map_or(TabError::NotLoaded(reason), TabError::OutOfScope)
    }

    /// Takes in what was refused since the last time. Fails if the page is outside, or if another
    /// tab must show what this one has refused.
    pub(super) async fn check_limits(&mut self) -> Result<(), TabError> {
        // As above.
        tokio::task::yield_now().await;
        if let Some(url) = self.outside().left.take() {
            return Err(TabError::OutOfScope(url));
        }
        let Some(door) = &self.opened.door else { return Ok(()) };
        let border = self.settings.border.clone();
        for refusal in door.take_refusals() {
            match refusal.reason {
                RefusedBecause::Outside => {
                    border.count_blocked(&refusal.host);
                    // Another tab may have learned of it before.
                    let is_held = self.held == border.count_outsiders();
                    self.lacks_outsiders |= border.learn_outsider(&refusal.host, refusal.port)
                        || !is_held && border.is_outsider(&refusal.host, refusal.port);
                }
                RefusedBecause::Unsafe => {
                    self.note(Noted::Unsafe(refusal.method, refusal.address));
                }
            }
        }
        // A load is repeated; a step may have shown what another tab would not.
        if self.lacks_outsiders && !self.outside().loading {
            return Err(TabError::NeedsOutsiders);
        }
        Ok(())
    }

    fn note(&self, noted: Noted) {
        self.outside().note(noted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::CrawlBounds;

    fn held(bounds: CrawlBounds, guarded: bool) -> Vec<String> {
        let settings = AgentSettings {
            guarded,
            ..AgentSettings::new("s", "http://app.test", "app.test").within(bounds)
        };
        settings.border.learn_outsider("cdn.test", 443);
        settings.border.learn_outsider("other.test", 8080);
        let held = held_requests(&settings);
        held.iter().map(|(address, kind)| format!("{address} {}", kind.unwrap_or("any"))).collect()
    }

    #[test]
    fn no_request_of_the_application_is_held_before_the_page_is_left() {
        let outsiders = [
            "http://cdn.test:443/* any",
            "https://cdn.test/* any",
            "http://other.test:8080/* any",
            "https://other.test:8080/* any",
        ];
        let own = CrawlBounds::of_origin("http://app.test");
        assert_eq!(held(own.clone(), false), outsiders);
        assert_eq!(held(own.clone(), true), [&["* Document"], &outsiders[..]].concat());
        let excluded = own.clone().with_patterns(&[], &["/out?x*".to_owned()]).unwrap();
        assert_eq!(held(excluded, false)[0], "http://app.test/out\\?x* any");
        assert_eq!(held(CrawlBounds { is_safe: true, ..own }, false), ["* any"]);
        let headers = [("X-Token".to_owned(), "whisper".to_owned())];
        let settings = AgentSettings {
            headers: headers.into(),
            ..AgentSettings::new("s", "http://app.test", "app.test")
        };
        assert_eq!(held_requests(&settings), [("*".to_owned(), None)]);
    }
}
