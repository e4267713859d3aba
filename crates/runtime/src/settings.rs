//! The settings of a crawl, checked. The store keeps them, so that a resumed crawl continues as it
//! began.

use argiope_browser::Login;
use argiope_controller::settings::CrawlLimits;
use argiope_explore::identity;
use argiope_explore::strategies;
use serde::{Deserialize, Serialize};

use crate::address::PlainUrl;

/// The settings that decide what a crawl does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CrawlSettings {
    /// The address of the application.
    pub url: PlainUrl,
    /// The login that the application demands. It is stored and sent apart from the settings.
    #[serde(skip)]
    pub login: Option<Login>,
    /// The strategy's name.
    pub strategy: String,
    /// The identity's name.
    pub identity: String,
    /// The number of tabs.
    pub tabs: u32,
    /// The seed of all random choices.
    pub seed: u64,
    /// Stop after this many states.
    pub max_states: Option<usize>,
    /// Execute at most this many actions.
    pub max_actions: Option<u64>,
    /// Explore no state deeper than this.
    pub max_depth: Option<u32>,
    /// Take a screenshot of every state.
    pub screenshots: bool,
    /// The fixed time of the page's clock, in milliseconds since 1970.
    pub freeze_time: Option<i64>,
    /// Selectors of elements that do not belong to the application.
    pub ignore: Vec<String>,
    /// How long a page may take to settle, in milliseconds.
    pub settle_ms: u32,
    /// The memory of a browser at which it is replaced, in megabytes.
    pub browser_mb: u32,
}

impl CrawlSettings {
    /// The default crawl of an address, which may have a login.
    pub fn new(url: impl AsRef<str>) -> Self {
        let (url, login) = PlainUrl::divide(url.as_ref());
        Self {
            url,
            login,
            strategy: strategies::DEFAULT.to_owned(),
            identity: identity::DEFAULT.to_owned(),
            tabs: 1,
            seed: 1,
            max_states: None,
            max_actions: None,
            max_depth: None,
            screenshots: false,
            freeze_time: None,
            ignore: Vec::new(),
            // A hard cap, by requirement.
            settle_ms: 10_000,
            // A guess: two tabs of a large application take about 600 MB.
            browser_mb: 3_000,
        }
    }

    /// The limits, for the controller.
    pub fn limits(&self) -> CrawlLimits {
        CrawlLimits {
            max_states: self.max_states,
            max_actions: self.max_actions,
            max_depth: self.max_depth,
        }
    }
}

/// What of an address decides which pages belong to the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Scheme, host and port.
    pub origin: String,
    /// The host, without a leading `www.`. A page settles after its requests to this host and its
    /// subdomains.
    pub site: String,
}

impl Scope {
    /// The scope of an address, or a sentence that says why a browser cannot crawl it.
    pub fn of(url: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(format!("{url:?} has no scheme: write http:// or https:// before it"));
        };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(format!("only http and https addresses can be crawled, not {scheme:?}"));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = match host_and_port.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|digit| digit.is_ascii_digit()) => host,
            // The beginning of a password, which the error must not repeat.
            Some(_) if !host_and_port.ends_with(']') && rest.contains('@') => {
                return Err("the address has no valid port; in a user name or a password, \
                            write %2F for /, %3F for ? and %23 for #"
                    .to_owned());
            }
            _ => host_and_port,
        };
        if host.is_empty() || url.chars().any(|one| one.is_control() || one.is_whitespace()) {
            return Err(format!("{url:?} is not a web address"));
        }
        let host = host.to_ascii_lowercase();
        let origin =
            format!("{}://{}", scheme.to_ascii_lowercase(), host_and_port.to_ascii_lowercase());
        let usual = if scheme.eq_ignore_ascii_case("http") { ":80" } else { ":443" };
        Ok(Self {
            origin: origin.strip_suffix(usual).unwrap_or(&origin).to_owned(),
            site: host.strip_prefix("www.").unwrap_or(&host).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Scope;
    use crate::settings::CrawlSettings;

    #[test]
    fn an_address_has_an_origin_and_a_site() {
        let scope = |url| Scope::of(url).map(|scope| (scope.origin, scope.site));
        let both = |origin: &str, site: &str| Ok((origin.to_owned(), site.to_owned()));
        assert_eq!(
            scope("http://127.0.0.1:8080/a?b#c"),
            both("http://127.0.0.1:8080", "127.0.0.1")
        );
        assert_eq!(
            scope("HTTPS://WWW.Example.com:443"),
            both("https://www.example.com", "example.com")
        );
        assert_eq!(
            scope("http://user:secret@example.com/"),
            both("http://example.com", "example.com")
        );
        for bad in [
            "example.com",
            "ftp://example.com/",
            "http:///x",
            "http://",
            "http://a b/",
            "javascript://x",
        ] {
            assert!(Scope::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_is_in_no_error_and_in_no_stored_settings() {
        let wrong = Scope::of("http://ada:se/cret@host/").unwrap_err();
        assert!(!wrong.contains("cret"), "{wrong}");
        assert!(Scope::of("http://[::1]:8080/a@b").is_ok());
        let settings = CrawlSettings::new("http://lovelace:secret@host/");
        assert!(settings.login.is_some());
        let stored = serde_json::to_string(&settings).unwrap();
        let shown = format!("{stored} {settings:?}");
        assert!(!shown.contains("secret") && !shown.contains("lovelace"), "{shown}");
        let again: CrawlSettings = serde_json::from_str(&stored).unwrap();
        assert_eq!((again.url.as_str(), again.login), ("http://host/", None));
    }
}
