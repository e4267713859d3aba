//! The border of an application: which addresses belong to it, and what may cross to others. All
//! tabs of a crawl in one process share one border. It decides and counts; the [door](crate::door)
//! and the tab carry that out. Must not know of states or jobs.

mod pattern;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

pub(crate) use pattern::divide_authority;
pub use pattern::{UrlParts, UrlPattern};

use crate::outsider::OutsiderCache;

/// The most outside servers whose scripts, styles, fonts and images a crawl loads. Each is found by
/// a request that is refused, and costs a load.
const MOST_OUTSIDERS: usize = 64;
/// The most hosts whose blocked requests are counted by name.
const MOST_BLOCKED_HOSTS: usize = 100;
/// The longest name of a host.
const LONGEST_HOST: usize = 255;
/// Where requests are counted that find no other place.
const OTHER_HOSTS: &str = "(other hosts)";

/// What becomes of scripts, styles, fonts and images of other origins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThirdParty {
    /// They are loaded.
    #[default]
    Allow,
    /// No request leaves the scope.
    Block,
}

/// Which addresses belong to a crawl, and what its requests may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlBounds {
    pub(crate) own: Option<UrlParts>,
    pub(crate) include: Vec<UrlPattern>,
    pub(crate) exclude: Vec<UrlPattern>,
    /// What becomes of resources of other origins.
    pub third_party: ThirdParty,
    /// Only requests that change nothing reach the server.
    pub is_safe: bool,
}

impl CrawlBounds {
    /// The bounds of one origin.
    pub fn of_origin(origin: &str) -> Self {
        Self {
            own: UrlParts::of(origin),
            include: Vec::new(),
            exclude: Vec::new(),
            third_party: ThirdParty::Allow,
            is_safe: false,
        }
    }

    /// Adds patterns, or a sentence that says what is wrong with one of them.
    pub fn with_patterns(mut self, include: &[String], exclude: &[String]) -> Result<Self, String> {
        let Some(own) = &self.own else { return Ok(self) };
        let read = |option: &str, texts: &[String]| {
            let patterns = texts.iter().map(|text| UrlPattern::read(text, own));
            patterns.collect::<Result<Vec<_>, _>>().map_err(|wrong| format!("{option}: {wrong}"))
        };
        let (include, exclude) = (read("--include", include)?, read("--exclude", exclude)?);
        (self.include, self.exclude) = (include, exclude);
        Ok(self)
    }

    /// Whether a document at an address belongs to the application. An origin with patterns of
    /// its own belongs to it where one matches, the application's own without any as a whole.
    pub fn contains(&self, url: &str) -> bool {
        let Some(url) = UrlParts::of(url) else { return false };
        let is_inside = (self.is_own(&url) && self.takes_whole_origin())
            || self.include.iter().any(|pattern| pattern.matches(&url));
        is_inside && !self.excludes(&url)
    }

    /// Whether nothing may be requested from an address.
    pub(crate) fn excludes(&self, url: &UrlParts) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(url))
    }

    /// Whether the application's own server answers an address. None answers what a page has made.
    pub(crate) fn is_at_own_origin(&self, url: &str) -> bool {
        let is_made = url.starts_with("blob:");
        !is_made && UrlParts::of(url).is_some_and(|url| self.is_own(&url))
    }

    fn is_own(&self, url: &UrlParts) -> bool {
        self.own.as_ref().is_some_and(|own| {
            (own.scheme, &own.host, own.port) == (url.scheme, &url.host, url.port)
        })
    }

    fn takes_whole_origin(&self) -> bool {
        let Some(own) = &self.own else { return false };
        !self.include.iter().any(|pattern| pattern.is_at(&own.host, own.port))
    }

    /// Whether a server belongs to the application.
    pub fn has_server(&self, host: &str, port: u16) -> bool {
        let is_own = |own: &UrlParts| own.host == host && own.port == port;
        self.own.as_ref().is_some_and(is_own)
            || self.include.iter().any(|pattern| pattern.is_at(host, port))
    }

    /// Whether a server of the application speaks TLS.
    pub(crate) fn is_encrypted(&self, host: &str, port: u16) -> bool {
        let is_own = |own: &UrlParts| own.host == host && own.port == port;
        let own = self.own.as_ref().filter(|own| is_own(own)).map(|own| own.scheme);
        let included = || {
            let pattern = self.include.iter().find(|pattern| pattern.is_at(host, port));
            pattern.map(UrlPattern::scheme)
        };
        own.or_else(included) == Some("https")
    }

    /// Whether documents must be checked from the first load on, because the origin alone does not
    /// decide.
    pub fn has_patterns(&self) -> bool {
        !self.include.is_empty() || !self.exclude.is_empty()
    }

    /// The servers that a browser reaches without the door, as it reads a list of exceptions. A
    /// browser would reach loopback directly if the list did not say otherwise. Safe crawls have no
    /// exception: the door reads every request.
    pub(crate) fn exceptions(&self) -> String {
        let own = self.own.iter().map(|own| format!("{}:{}", own.host, own.port));
        let servers = own.chain(self.include.iter().map(UrlPattern::servers));
        let servers = servers.filter(|_| !self.is_safe);
        ["<-loopback>".to_owned()].into_iter().chain(servers).collect::<Vec<_>>().join(";")
    }

    /// Regular expressions of addresses inside, for the page agent.
    pub(crate) fn included_expressions(&self) -> Vec<String> {
        let own = self.own.iter().filter(|_| self.takes_whole_origin());
        let own = own.map(|own| UrlPattern::of_origin(own).expression());
        own.chain(self.include.iter().map(UrlPattern::expression)).collect()
    }

    /// Regular expressions of addresses that are excluded, for the page agent.
    pub(crate) fn excluded_expressions(&self) -> Vec<String> {
        self.exclude.iter().map(UrlPattern::expression).collect()
    }

    /// Excluded addresses, as the protocol writes patterns of requests.
    pub(crate) fn excluded_wildcards(&self) -> Vec<String> {
        self.exclude.iter().map(UrlPattern::wildcard).collect()
    }

    /// The host of the application.
    pub(crate) fn own_host(&self) -> Option<(&str, u16)> {
        self.own.as_ref().map(|own| (own.host.as_str(), own.port))
    }
}

/// Whether a request with this method changes nothing, as the protocol of the web has it.
pub fn is_safe_method(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].contains(&method)
}

/// The bounds of a crawl with what its tabs have found out about the world outside.
#[derive(Debug)]
pub struct Border {
    /// What belongs to the application.
    pub bounds: CrawlBounds,
    found: Mutex<Found>,
    pub(crate) cache: OutsiderCache,
}

#[derive(Debug, Default)]
struct Found {
    /// Servers outside whose requests the tabs hold, to load what may be loaded.
    outsiders: BTreeSet<(String, u16)>,
    /// Blocked requests by host.
    blocked: BTreeMap<String, u64>,
}

impl Border {
    /// A border that nothing has crossed.
    pub fn new(bounds: CrawlBounds) -> Self {
        Self { bounds, found: Mutex::default(), cache: OutsiderCache::default() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what earlier processes of the crawl have refused.
    pub fn add_blocked(&self, earlier: BTreeMap<String, u64>) {
        let mut found = self.found();
        for (host, count) in earlier {
            if found.blocked.len() <= MOST_BLOCKED_HOSTS {
                *found.blocked.entry(host).or_default() += count;
            }
        }
    }

    /// A request to a host was refused. Names of hosts come from pages: they are bounded in number
    /// and length.
    pub fn count_blocked(&self, host: &str) {
        let mut found = self.found();
        let is_full =
            found.blocked.len() >= MOST_BLOCKED_HOSTS && !found.blocked.contains_key(host);
        let host = if is_full || host.len() > LONGEST_HOST { OTHER_HOSTS } else { host };
        *found.blocked.entry(host.to_owned()).or_default() += 1;
    }

    /// The refused requests by host.
    pub fn blocked(&self) -> BTreeMap<String, u64> {
        self.found().blocked.clone()
    }

    /// The number of hosts in that list.
    pub fn count_blocked_hosts(&self) -> usize {
        self.found().blocked.len()
    }

    /// A page wants something of a server outside. Says whether tabs must hold its requests from
    /// now on, to load what may be loaded.
    pub(crate) fn learn_outsider(&self, host: &str, port: u16) -> bool {
        let mut found = self.found();
        self.bounds.third_party == ThirdParty::Allow
            && host.len() <= LONGEST_HOST
            && found.outsiders.len() < MOST_OUTSIDERS
            && found.outsiders.insert((host.to_owned(), port))
    }

    /// Whether tabs hold the requests to a server outside.
    pub(crate) fn is_outsider(&self, host: &str, port: u16) -> bool {
        self.found().outsiders.contains(&(host.to_owned(), port))
    }

    /// Servers outside whose requests the tabs hold. The list only grows.
    pub(crate) fn outsiders(&self) -> Vec<(String, u16)> {
        self.found().outsiders.iter().cloned().collect()
    }

    /// How long that list is.
    pub(crate) fn count_outsiders(&self) -> usize {
        self.found().outsiders.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(include: &[&str], exclude: &[&str]) -> CrawlBounds {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let origin = CrawlBounds::of_origin("http://app.test:8080");
        origin.with_patterns(&owned(include), &owned(exclude)).unwrap()
    }

    #[test]
    fn the_own_origin_is_inside_and_nothing_else() {
        let bounds = bounds(&[], &[]);
        for inside in
            ["http://app.test:8080", "http://app.test:8080/a?b", "http://APP.test:8080/#c"]
        {
            assert!(bounds.contains(inside), "{inside}");
        }
        for outside in [
            "https://app.test:8080/",
            "http://app.test/",
            "http://app.test:80801/",
            "http://app.test:8080.evil.test/",
            "http://app.test:8080@evil.test/",
            "http://sub.app.test:8080/",
            "about:blank",
            "data:text/html,x",
        ] {
            assert!(!bounds.contains(outside), "{outside}");
        }
        assert!(bounds.has_server("app.test", 8080) && !bounds.has_server("app.test", 80));
        assert_eq!(bounds.exceptions(), "<-loopback>;app.test:8080");
        let safe = CrawlBounds { is_safe: true, ..bounds };
        assert_eq!(safe.exceptions(), "<-loopback>");
    }

    #[test]
    fn patterns_add_origins_narrow_the_own_one_and_take_away() {
        let wider = bounds(&["https://docs.test/guide/*"], &["/logout*"]);
        assert!(
            wider.contains("http://app.test:8080/a") && wider.contains("https://docs.test/guide/a")
        );
        assert!(
            !wider.contains("https://docs.test/")
                && !wider.contains("http://app.test:8080/logout?x")
        );
        let narrower = bounds(&["/docs/*"], &["/docs/old/*"]);
        assert!(narrower.contains("http://app.test:8080/docs/a"));
        assert!(
            !narrower.contains("http://app.test:8080/")
                && !narrower.contains("http://app.test:8080/docs/old/a")
        );
        let wrong = CrawlBounds::of_origin("http://a").with_patterns(&[], &["b".to_owned()]);
        assert!(wrong.unwrap_err().starts_with("--exclude: the pattern \"b\""));
    }

    #[test]
    fn names_of_hosts_are_bounded_in_number_and_length() {
        let border = Border::new(bounds(&[], &[]));
        for number in 0..300 {
            border.count_blocked(&format!("host{number}"));
            border.learn_outsider(&format!("host{number}"), 80);
        }
        border.count_blocked(&"x".repeat(1000));
        let blocked = border.blocked();
        assert_eq!(blocked.len(), MOST_BLOCKED_HOSTS + 1);
        assert_eq!(blocked.values().sum::<u64>(), 301);
        assert_eq!(border.count_outsiders(), MOST_OUTSIDERS);
        let block = CrawlBounds { third_party: ThirdParty::Block, ..bounds(&[], &[]) };
        assert!(!Border::new(block).learn_outsider("host", 80));
    }
}
