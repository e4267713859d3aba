//! Patterns of addresses, as `--include` and `--exclude` have them, and addresses as patterns see
//! them. A pattern is a plain text with `*` for any text; it is never a regular expression, so no
//! pattern takes long.

use std::fmt;

use argiope_explore::quoted::Quoted;

/// The longest pattern, in bytes.
const LONGEST_PATTERN: usize = 1000;

/// An address, divided. Host and scheme are in lower case; the path has its query, no fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlParts {
    /// `http` or `https`; sockets have that of the server behind them.
    pub scheme: &'static str,
    /// The host.
    pub host: String,
    /// The port, also where the address leaves it out.
    pub port: u16,
    /// Path and query.
    pub path: String,
}

impl UrlParts {
    /// Divides an address that a browser wrote; `None` if it is not one of a web server.
    pub fn of(url: &str) -> Option<Self> {
        let url = url.strip_prefix("blob:").unwrap_or(url);
        let (scheme, rest) = url.split_once("://")?;
        let (scheme, usual) = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => ("http", 80),
            "https" | "wss" => ("https", 443),
            _ => return None,
        };
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = divide_authority(authority, usual)?;
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Some(Self { scheme, host, port, path })
    }

    /// Scheme, host and port, as a browser writes them.
    pub fn origin(&self) -> String {
        match (self.scheme, self.port) {
            ("http", 80) | ("https", 443) => format!("{}://{}", self.scheme, self.host),
            _ => format!("{}://{}:{}", self.scheme, self.host, self.port),
        }
    }
}

/// Divides `host:port`. An address of version 6 keeps its brackets.
pub(crate) fn divide_authority(authority: &str, usual: u16) -> Option<(String, u16)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    let is_host =
        |one: char| one.is_ascii_alphanumeric() || "-._[]:%".contains(one) || !one.is_ascii();
    let valid = !host.is_empty() && host.chars().all(is_host);
    valid.then(|| (host.to_lowercase(), port))
}

/// A pattern of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    scheme: &'static str,
    host: String,
    /// Whether it is about the hosts below this one.
    subdomains: bool,
    port: u16,
    /// The texts between the stars.
    path: Vec<String>,
}

impl UrlPattern {
    /// Reads a pattern; one that begins with `/` is about the application's own origin.
    pub fn read(text: &str, own: &UrlParts) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("the pattern {} {why}", Quoted(text)));
        if text.len() > LONGEST_PATTERN {
            return wrong("is too long");
        }
        if text.chars().any(|one| one.is_control() || one.is_whitespace() || one == '\\') {
            return wrong("has a space, a backslash or a control character");
        }
        if text.contains('#') {
            return wrong("has a fragment: leave out # and what follows it");
        }
        if text.starts_with('/') && !text.starts_with("//") {
            let own = UrlParts { path: text.to_owned(), ..own.clone() };
            return Ok(Self::of(own, false));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return wrong("must begin with /, http:// or https://");
        };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return wrong("must begin with /, http:// or https://");
        }
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return wrong("has a user name or a password: leave them out");
        }
        let subdomains = authority.starts_with("*.");
        if authority.trim_start_matches("*.").contains('*') {
            return wrong("has * in its host: only *. at the beginning of a host is possible");
        }
        let whole = !rest.contains(['/', '?']);
        let rest = rest.strip_prefix("*.").unwrap_or(rest);
        match UrlParts::of(&format!("{scheme}://{rest}")) {
            Some(parts) if whole => {
                Ok(Self::of(UrlParts { path: "/*".into(), ..parts }, subdomains))
            }
            Some(parts) => Ok(Self::of(parts, subdomains)),
            None => wrong("has no valid host or port"),
        }
    }

    fn of(parts: UrlParts, subdomains: bool) -> Self {
        let UrlParts { scheme, host, port, path } = parts;
        let path = plain(&path).split('*').map(str::to_owned).collect();
        Self { scheme, host, subdomains, port, path }
    }

    /// The pattern of a whole origin.
    pub(crate) fn of_origin(origin: &UrlParts) -> Self {
        Self::of(UrlParts { path: "/*".to_owned(), ..origin.clone() }, false)
    }

    /// `http` or `https`.
    pub(crate) fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Whether an address matches.
    pub fn matches(&self, url: &UrlParts) -> bool {
        url.scheme == self.scheme
            && self.is_at(&url.host, url.port)
            && matches_stars(&self.path, &plain(&url.path))
    }

    /// Whether it is about a server.
    pub fn is_at(&self, host: &str, port: u16) -> bool {
        let is_host = if self.subdomains {
            host.strip_suffix(self.host.as_str())
                .is_some_and(|below| below.len() > 1 && below.ends_with('.'))
        } else {
            host == self.host
        };
        is_host && port == self.port
    }

    /// The servers that it is about, as a browser's list of exceptions from its proxy has them.
    pub fn servers(&self) -> String {
        let star = if self.subdomains { "*." } else { "" };
        format!("{star}{}:{}", self.host, self.port)
    }

    /// The same as a regular expression for the page agent, about addresses without a fragment.
    pub fn expression(&self) -> String {
        let host = escaped(&self.host);
        let host = if self.subdomains { format!("[^/]+\\.{host}") } else { host };
        let usual = if self.scheme == "http" { 80 } else { 443 };
        let port = if self.port == usual { String::new() } else { format!(":{}", self.port) };
        let path: Vec<String> = self.path.iter().map(|text| escaped(text)).collect();
        format!("^{}://{host}{port}{}$", self.scheme, path.join("[^]*"))
    }

    /// The same as the protocol writes a pattern of requests: `?` is any character there.
    pub fn wildcard(&self) -> String {
        let usual = if self.scheme == "http" { 80 } else { 443 };
        let port = if self.port == usual { String::new() } else { format!(":{}", self.port) };
        let star = if self.subdomains { "*." } else { "" };
        let path = self.path.join("*").replace('\\', "\\\\").replace('?', "\\?");
        format!("{}://{star}{}{port}{path}", self.scheme, self.host)
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.servers(), self.path.join("*"))
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        if one.is_ascii_punctuation() && !"-_/:,;&=%@!~<>\"'`#".contains(one) {
            escaped.push('\\');
        }
        escaped.push(one);
    }
    escaped
}

/// A path in which no letter, digit or mark that needs no encoding is encoded: `/%61dmin` and
/// `/admin` are the same page for most servers, and must be for a pattern.
fn plain(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.map(char::from) {
            Some(one) if one.is_ascii_alphanumeric() || "-._~".contains(one) => {
                plain.push(one);
                rest = &rest[at + 3..];
            }
            _ => {
                plain.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Whether a text is these pieces with any text between them. Each piece is taken where it comes
/// first, so the time is at most the product of both lengths.
fn matches_stars(pieces: &[String], text: &str) -> bool {
    let Some((first, pieces)) = pieces.split_first() else { return text.is_empty() };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        match rest.find(piece.as_str()) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> UrlParts {
        UrlParts::of("http://app.test:8080/start").unwrap()
    }

    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let pattern = UrlPattern::read(pattern, &own()).unwrap();
        let matches = |url: &&&str| UrlParts::of(url).is_some_and(|url| pattern.matches(&url));
        for url in matching {
            assert!(matches(&url), "{pattern} must match {url}");
        }
        for url in others {
            assert!(!matches(&url), "{pattern} must not match {url}");
        }
    }

    #[test]
    fn an_address_is_divided_as_a_browser_divides_it() {
        let parts = |url| UrlParts::of(url).map(|url| (url.origin(), url.path));
        let both = |origin: &str, path: &str| Some((origin.to_owned(), path.to_owned()));
        assert_eq!(parts("HTTP://App.test:80?a#b"), both("http://app.test", "/?a"));
        assert_eq!(parts("wss://u:p@[::1]:9/x"), both("https://[::1]:9", "/x"));
        assert_eq!(parts("blob:https://a.test/1-2"), both("https://a.test", "/1-2"));
        for none in ["about:blank", "data:text/html,x", "http://", "http://a:b/", "ftp://a/"] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    #[test]
    fn a_star_is_any_text_and_everything_else_is_itself() {
        check(
            "/admin*",
            &["http://app.test:8080/admin", "http://app.test:8080/%61dmin/x?y#z"],
            &["http://app.test/admin", "https://app.test:8080/admin", "http://app.test:8080/a"],
        );
        check(
            "/a*b*c?d",
            &["http://app.test:8080/abc?d", "http://app.test:8080/axxbyyc?d"],
            &["http://app.test:8080/ac?bd", "http://app.test:8080/abcxd"],
        );
        check("/only", &["http://app.test:8080/only"], &["http://app.test:8080/only/more"]);
    }

    #[test]
    fn a_pattern_may_name_another_server_and_the_hosts_below_it() {
        check(
            "https://*.example.com/docs/*",
            &["https://a.example.com/docs/x", "https://a.b.example.com/docs/"],
            &[
                "https://example.com/docs/x",
                "https://badexample.com/docs/x",
                "https://a.example.com/x",
            ],
        );
        check(
            "https://cdn.test",
            &["https://cdn.test/x", "https://cdn.test"],
            &["http://cdn.test/"],
        );
        let pattern = UrlPattern::read("https://*.a.test:9/x?y*", &own()).unwrap();
        assert_eq!(pattern.servers(), "*.a.test:9");
        assert_eq!(pattern.wildcard(), "https://*.a.test:9/x\\?y*");
        assert_eq!(pattern.expression(), "^https://[^/]+\\.a\\.test:9/x\\?y[^]*$");
    }

    #[test]
    fn a_bad_pattern_says_what_is_wrong() {
        for (bad, why) in [
            ("admin", "must begin with"),
            ("ftp://a/", "must begin with"),
            ("//a/b", "must begin with"),
            ("", "must begin with"),
            ("http://u:p@a/", "password"),
            ("http://a.*.test/", "in its host"),
            ("http://*/", "in its host"),
            ("http://:80/", "no valid host"),
            ("http://a:99999/", "no valid host"),
            ("/a b", "a space"),
            ("/a#b", "fragment"),
        ] {
            let error = UrlPattern::read(bad, &own()).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn many_stars_take_no_long_time() {
        let pattern = UrlPattern::read(&format!("/{}b", "*a".repeat(400)), &own()).unwrap();
        let url = UrlParts { path: format!("/{}", "a".repeat(100_000)), ..own() };
        assert!(!pattern.matches(&url));
    }
}
