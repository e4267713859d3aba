//! What lets a browser into an application: passwords, headers, cookies, stored values and the
//! steps of a login. It is in memory only, and nothing prints it: a value leaves through the
//! browser, or through a message that names it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::login::Login;

/// Everything that lets a browser into one application, with all secrets in it.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// For HTTP authentication.
    pub http: Option<Login>,
    /// Headers of every request to the application's origin.
    pub headers: Vec<(String, String)>,
    /// What a reset restores before anything else happens.
    pub saved: SavedState,
    /// The steps of a login.
    pub script: Option<LoginScript>,
}

impl Access {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let http = if self.http.is_some() { "a login" } else { "no login" };
        let steps = self.script.as_ref().map_or(0, |script| script.steps.len());
        write!(f, "{http}, {} headers, {:?}, {steps} steps", self.headers.len(), self.saved)
    }
}

/// What a browser keeps of a session: the form of Playwright's storage state, and the values of
/// `sessionStorage`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    /// Cookies.
    pub cookies: Vec<SavedCookie>,
    /// The names and values of the origin's `localStorage`.
    pub local: Vec<(String, String)>,
    /// The names and values of the origin's `sessionStorage`.
    pub session: Vec<(String, String)>,
}

impl SavedState {
    /// Adds what another state has.
    pub fn extend(&mut self, other: Self) {
        self.cookies.extend(other.cookies);
        self.local.extend(other.local);
        self.session.extend(other.session);
    }

    /// Whether a document must restore values before its own scripts run.
    pub(crate) fn has_items(&self) -> bool {
        !(self.local.is_empty() && self.session.is_empty())
    }

    /// The script that restores the values in a document of the origin.
    pub(crate) fn script(&self, origin: &str) -> String {
        let values = serde_json::json!([origin, self.local, self.session]);
        format!(
            "(([origin, local, session]) => {{
  if (window.top !== window || location.origin !== origin) return;
  for (const [area, items] of [[localStorage, local], [sessionStorage, session]]) {{
    area.clear();
    for (const [name, value] of items) area.setItem(name, value);
  }}
}})({values});"
        )
    }
}

impl fmt::Debug for SavedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.local.len() + self.session.len();
        write!(f, "{} cookies, {values} values", self.cookies.len())
    }
}

/// A cookie with all of its attributes.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host that gets it; with a leading dot, also the hosts under it.
    pub domain: String,
    /// The path under which it is sent.
    pub path: String,
    /// When it expires, in seconds since 1970; -1 with the session.
    #[serde(default = "with_the_session")]
    pub expires: f64,
    /// Scripts cannot read it.
    #[serde(default)]
    pub http_only: bool,
    /// It is sent by https only.
    #[serde(default)]
    pub secure: bool,
    /// `Strict`, `Lax` or `None`.
    #[serde(default)]
    pub same_site: Option<String>,
}

/// No time at which a cookie expires.
pub const WITH_THE_SESSION: f64 = -1.0;

fn with_the_session() -> f64 {
    WITH_THE_SESSION
}

impl SavedCookie {
    /// Whether a browser sends it to this host.
    pub fn is_for(&self, host: &str) -> bool {
        let domain = self.domain.to_ascii_lowercase();
        match domain.strip_prefix('.') {
            None => domain == host,
            Some(parent) => {
                host == parent
                    || host.strip_suffix(parent).is_some_and(|under| under.ends_with('.'))
            }
        }
    }
}

impl fmt::Debug for SavedCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a cookie for {}", self.domain)
    }
}

/// The host of an origin, which cookies are for: they know no ports.
pub fn host_of(origin: &str) -> &str {
    let rest = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    match rest.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => rest,
    }
}

/// The steps of a login.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoginScript {
    /// What to do, in order.
    pub steps: Vec<LoginStep>,
}

impl fmt::Debug for LoginScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a login of {} steps", self.steps.len())
    }
}

/// One step of a login.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct LoginStep {
    /// Its number in the file, from 1 on.
    pub number: u32,
    /// What it is called in messages, without any value.
    pub name: String,
    /// How long to wait for its element, in milliseconds.
    pub wait_ms: u32,
    /// What it does.
    pub act: LoginAct,
}

/// Alternatives that lead to one element: each is a list of selectors, one inside the other.
pub type ElementSelectors = Vec<Vec<String>>;

/// What a step of a login does.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub enum LoginAct {
    /// Loads an address.
    Open(String),
    /// Types or chooses a value in a field.
    Fill(ElementSelectors, String),
    /// Clicks an element.
    Click(ElementSelectors),
    /// Clicks an element twice.
    DoubleClick(ElementSelectors),
    /// Moves the pointer to an element.
    Hover(ElementSelectors),
    /// Presses and releases a key.
    Press(String),
    /// Presses a key.
    KeyDown(String),
    /// Releases a key.
    KeyUp(String),
    /// Waits until an element is there.
    WaitFor(ElementSelectors),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_prints_a_secret() {
        let whisper = || "whisper".to_owned();
        let cookie = SavedCookie { name: whisper(), value: whisper(), ..SavedCookie::default() };
        let act = LoginAct::Fill(Vec::new(), whisper());
        let access = Access {
            http: Some(Login::new("http://app.test", "ada", "whisper")),
            headers: vec![(whisper(), whisper())],
            saved: SavedState {
                cookies: vec![cookie],
                local: vec![(whisper(), whisper())],
                session: Vec::new(),
            },
            script: Some(LoginScript {
                steps: vec![LoginStep { number: 1, name: "fill".to_owned(), wait_ms: 1, act }],
            }),
        };
        let debug =
            format!("{access:?} {:?} {:?} {:?}", access.saved, access.saved.cookies, access.script);
        assert!(!debug.contains("whisper"), "{debug}");
        assert!(!access.is_empty() && Access::default().is_empty());
    }

    #[test]
    fn a_cookie_is_for_the_hosts_that_a_browser_sends_it_to() {
        let is_for = |domain: &str, host| {
            SavedCookie { domain: domain.to_owned(), ..SavedCookie::default() }.is_for(host)
        };
        assert!(is_for("app.test", "app.test") && is_for("App.test", "app.test"));
        assert!(is_for(".app.test", "app.test") && is_for(".app.test", "www.app.test"));
        assert!(!is_for("app.test", "www.app.test") && !is_for(".app.test", "notapp.test"));
        assert!(!is_for("www.app.test", "app.test") && !is_for("", "app.test"));
        assert_eq!((host_of("http://app.test:80"), host_of("http://[::1]")), ("app.test", "[::1]"));
    }

    #[test]
    fn values_are_restored_in_documents_of_the_origin_alone() {
        let local = vec![("to\"ken".to_owned(), "</script>".to_owned())];
        let saved = SavedState { local, ..SavedState::default() };
        let script = saved.script("http://app.test");
        assert!(script.contains(r#"["http://app.test",[["to\"ken","</script>"]],[]]"#), "{script}");
        assert!(saved.has_items() && !SavedState::default().has_items());
    }
}
