//! The settings of a crawl, checked. The store keeps them, so that a resumed crawl continues as it
//! began.

use argiope_browser::{Access, CrawlBounds, ThirdParty};
use argiope_controller::settings::{CrawlLimits, StopAt};
use argiope_explore::brakes::Brakes;
use argiope_explore::identity;
use argiope_explore::quoted::Quoted;
use argiope_explore::strategies;
use serde::{Deserialize, Serialize};

use crate::address::PlainUrl;
use crate::inputs::InputRule;
use crate::login::LoginSettings;

/// The settings that decide what a crawl does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CrawlSettings {
    /// The address of the application.
    pub url: PlainUrl,
    /// Further addresses with which the crawl begins.
    #[serde(default)]
    pub seeds: Vec<PlainUrl>,
    /// How the crawl logs in, without any secret.
    #[serde(default)]
    pub login: LoginSettings,
    /// The secrets of the login. They are never stored, and sent apart from the settings.
    #[serde(skip)]
    pub access: Access,
    /// The strategy's name.
    pub strategy: String,
    /// The identity's name.
    pub identity: String,
    /// The number of tabs.
    pub tabs: u32,
    /// The seed of all random choices.
    pub seed: u64,
    /// Let pages draw real random numbers instead of numbers that follow from the seed.
    #[serde(default)]
    pub real_random: bool,
    /// Stop after this many states.
    pub max_states: Option<usize>,
    /// Execute at most this many actions.
    pub max_actions: Option<u64>,
    /// Explore no state deeper than this.
    pub max_depth: Option<u32>,
    /// How much is to be executed.
    #[serde(default)]
    pub stop_at: StopAt,
    /// Take a screenshot of every state.
    pub screenshots: bool,
    /// The fixed time of the page's clock, in milliseconds since 1970.
    pub freeze_time: Option<i64>,
    /// Selectors of elements that do not belong to the application.
    pub ignore: Vec<String>,
    /// Texts of dangerous actions that are performed.
    pub allow: Vec<String>,
    /// Texts of further actions that are left alone.
    pub avoid: Vec<String>,
    /// Selectors of elements that are left alone.
    pub avoid_selectors: Vec<String>,
    /// Values for fields of forms, in the order of their file. The first rule that fits a field
    /// decides.
    #[serde(default)]
    pub inputs: Vec<InputRule>,
    /// How long a page may take to settle, in milliseconds.
    pub settle_ms: u32,
    /// The memory of a browser at which it is replaced, in megabytes.
    pub browser_mb: u32,
    /// Patterns of addresses whose documents belong to the application.
    #[serde(default)]
    pub include: Vec<String>,
    /// Patterns of addresses from which nothing is requested.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// What becomes of scripts, styles, fonts and images of other origins.
    #[serde(default)]
    pub third_party: ThirdParty,
    /// Only requests that change nothing reach the server.
    #[serde(default)]
    pub safe: bool,
}

impl CrawlSettings {
    /// The default crawl of an address, which may have a login.
    pub fn new(url: impl AsRef<str>) -> Self {
        let (url, http) = PlainUrl::divide(url.as_ref());
        Self {
            url,
            seeds: Vec::new(),
            login: LoginSettings { http: http.is_some(), ..LoginSettings::default() },
            access: Access { http, ..Access::default() },
            strategy: strategies::DEFAULT.to_owned(),
            identity: identity::DEFAULT.to_owned(),
            tabs: 1,
            seed: 1,
            real_random: false,
            max_states: None,
            max_actions: None,
            max_depth: None,
            stop_at: StopAt::All,
            screenshots: false,
            freeze_time: None,
            ignore: Vec::new(),
            allow: Vec::new(),
            avoid: Vec::new(),
            avoid_selectors: Vec::new(),
            inputs: Vec::new(),
            // A hard cap, by requirement.
            settle_ms: 10_000,
            // A guess: two tabs of a large application take about 600 MB.
            browser_mb: 3_000,
            include: Vec::new(),
            exclude: Vec::new(),
            third_party: ThirdParty::Allow,
            safe: false,
        }
    }

    /// Adds further addresses with which the crawl begins; each counts once.
    pub fn add_seeds<'a>(
        &mut self,
        seeds: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), String> {
        for seed in seeds {
            let (seed, login) = PlainUrl::divide(seed);
            if login.is_some() {
                let seed = Quoted(&seed);
                return Err(format!("{seed} has a login: write it into the first address alone"));
            }
            Scope::of(&seed)?;
            let is_known = |known: &PlainUrl| with_path(known) == with_path(&seed);
            if !is_known(&self.url) && !self.seeds.iter().any(is_known) {
                self.seeds.push(seed);
            }
        }
        Ok(())
    }

    /// Which actions are left alone.
    pub fn brakes(&self) -> Brakes {
        Brakes::new(&self.allow, &self.avoid)
    }

    /// What belongs to the crawl and what may leave it, or a sentence that says why the address or
    /// a pattern is wrong.
    pub fn bounds(&self) -> Result<CrawlBounds, String> {
        let bounds = CrawlBounds::of_origin(&Scope::of(&self.url)?.origin);
        let mut bounds = bounds.with_patterns(&self.include, &self.exclude)?;
        if !bounds.contains(&self.url) {
            let url = Quoted(&self.url);
            return Err(format!("--include and --exclude leave the address {url} itself out"));
        }
        let brakes = self.brakes();
        for seed in &self.seeds {
            let origin = Scope::of(seed)?.origin;
            if !bounds.contains(seed) {
                let (seed, url) = (Quoted(seed), Quoted(&self.url));
                return Err(format!(
                    "{seed} is not in the scope of the first address, {url}: to crawl both, \
                     add --include '{origin}/*', and the same with the first address' origin"
                ));
            }
            if let Some(danger) = brakes.danger([], [seed.as_str()], []) {
                let (seed, why) = (Quoted(seed), danger.in_words());
                return Err(format!(
                    "{seed} is left alone ({why}): leave it out, or change --allow or --avoid"
                ));
            }
        }
        (bounds.third_party, bounds.is_safe) = (self.third_party, self.safe);
        Ok(bounds)
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

/// An address of an origin with the slash that browsers add.
fn with_path(url: &str) -> String {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    if authority.contains(['/', '?', '#']) { url.to_owned() } else { format!("{url}/") }
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
    fn seeds_count_once_and_lie_in_the_scope() {
        let mut settings = CrawlSettings::new("http://host");
        let seeds = ["http://host/", "http://host/a", "http://host/a", "http://host/#b"];
        settings.add_seeds(seeds).unwrap();
        let added: Vec<&str> = settings.seeds.iter().map(|seed| seed.as_str()).collect();
        assert_eq!(added, ["http://host/a", "http://host/#b"]);
        assert!(settings.bounds().is_ok());
        let wrong = settings.add_seeds(["http://ada:secret@host/c"]).unwrap_err();
        assert!(!wrong.contains("secret") && wrong.contains("first address alone"), "{wrong}");
        let dangerous = "http://host/users/logout";
        let mut braked = settings.clone();
        braked.add_seeds([dangerous]).unwrap();
        let wrong = braked.bounds().unwrap_err();
        assert!(wrong.contains(dangerous) && wrong.contains("(logs out)"), "{wrong}");
        braked.allow.push("log out".to_owned());
        braked.allow.push("/logout".to_owned());
        assert!(braked.bounds().is_ok());
        settings.add_seeds(["http://other/"]).unwrap();
        let wrong = settings.bounds().unwrap_err();
        assert!(wrong.contains("--include 'http://other/*'"), "{wrong}");
    }

    #[test]
    fn a_password_is_in_no_error_and_in_no_stored_settings() {
        let wrong = Scope::of("http://ada:se/cret@host/").unwrap_err();
        assert!(!wrong.contains("cret"), "{wrong}");
        assert!(Scope::of("http://[::1]:8080/a@b").is_ok());
        let settings = CrawlSettings::new("http://lovelace:secret@host/");
        assert!(settings.access.http.is_some() && settings.login.http);
        let stored = serde_json::to_string(&settings).unwrap();
        let shown = format!("{stored} {settings:?}");
        assert!(!shown.contains("secret") && !shown.contains("lovelace"), "{shown}");
        let again: CrawlSettings = serde_json::from_str(&stored).unwrap();
        assert_eq!((again.url.as_str(), again.access.http), ("http://host/", None));
        assert!(again.login.http, "it says that there is one");
    }
}
