//! Logins: how a crawl gets into an application. The settings name where secrets are; [`Access`]
//! has the secrets themselves and is never stored. Reading them again gives them again, so that a
//! resumed crawl needs nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use argiope_browser::Login;
use argiope_browser::access::{Access, SavedCookie, SavedState, WITH_THE_SESSION, host_of};
use argiope_explore::quoted::Quoted;
use serde::{Deserialize, Serialize};

use crate::settings::Scope;

pub mod before_reset;
pub mod reference;
pub mod session;

mod recorder;
mod steps;
mod storage_state;

use before_reset::BeforeReset;
use reference::References;

/// The largest file that is read: recordings and storage states are far smaller.
const LARGEST_FILE: u64 = 16 << 20;
/// Headers that the browser itself decides about.
const REFUSED_HEADERS: [&str; 6] =
    ["host", "content-length", "connection", "transfer-encoding", "cookie", "upgrade"];

/// How a crawl logs in: where its secrets are, and no secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LoginSettings {
    /// The application demands a user name and a password by HTTP.
    pub http: bool,
    /// The file with cookies and values of a session.
    pub storage_state: Option<PathBuf>,
    /// The file with the steps of a login.
    pub script: Option<PathBuf>,
    /// Headers of every request to the application.
    pub headers: Vec<NamedReference>,
    /// Cookies that every reset sets.
    pub cookies: Vec<NamedReference>,
    /// A selector of what every page shows while the session lasts.
    pub logged_in: Option<String>,
    /// What puts the server's data back before each reset.
    pub before_reset: Option<String>,
}

/// A header or a cookie, and where its value is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedReference {
    /// Its name.
    pub name: String,
    /// The text with references; `None` if the value itself was given, which is not stored.
    pub reference: Option<String>,
}

/// Values that were given in arguments, with their names. They are never stored.
#[derive(Clone, Default)]
pub struct GivenSecrets(Vec<(String, String)>);

/// What was read, and what people should know about it.
pub struct ReadAccess {
    /// The secrets.
    pub access: Access,
    /// Sentences.
    pub notes: Vec<String>,
}

impl LoginSettings {
    /// Whether a crawl cannot go on without secrets.
    pub fn needs_access(&self) -> bool {
        self.http
            || self.storage_state.is_some()
            || self.script.is_some()
            || !self.headers.is_empty()
            || !self.cookies.is_empty()
    }

    /// Takes headers as typed, `Name: value`. They replace those of before.
    pub fn set_headers(
        &mut self,
        typed: &[String],
        given: &mut GivenSecrets,
    ) -> Result<(), String> {
        let headers = typed.iter().map(|header| {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                "--header: write 'Name: value', with a colon after the name".to_owned()
            })?;
            let (name, value) = (name.trim(), value.trim());
            if !is_token(name) {
                return Err(format!("--header: {} is not the name of a header", Quoted(name)));
            }
            if REFUSED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(format!("--header: the browser itself sets {name}"));
            }
            NamedReference::of(name, value, given).map_err(|why| format!("--header {name}: {why}"))
        });
        self.headers = headers.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Takes cookies as typed, `name=value`. They replace those of before.
    pub fn set_cookies(
        &mut self,
        typed: &[String],
        given: &mut GivenSecrets,
    ) -> Result<(), String> {
        let cookies = typed.iter().map(|cookie| {
            let (name, value) =
                cookie.split_once('=').ok_or_else(|| "--cookie: write name=value".to_owned())?;
            if !is_token(name) {
                return Err(format!("--cookie: {} is not the name of a cookie", Quoted(name)));
            }
            NamedReference::of(name, value, given).map_err(|why| format!("--cookie {name}: {why}"))
        });
        self.cookies = cookies.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Reads all secrets for the application at an address. A sentence says what is wrong.
    pub fn read(
        &self,
        url: &str,
        http: Option<Login>,
        given: &GivenSecrets,
    ) -> Result<ReadAccess, String> {
        let scope = Scope::of(url)?;
        let mut notes = Vec::new();
        if let Some(text) = &self.before_reset {
            BeforeReset::read(text)?;
        }
        let mut saved = SavedState::default();
        if let Some(path) = &self.storage_state {
            let text = read_file(path, "--storage-state")?;
            let (state, note) = storage_state::read(&text, &scope)
                .map_err(|why| format!("--storage-state: {} {why}", path.display()))?;
            saved = state;
            notes.extend(note.map(|note| format!("{}: {note}", path.display())));
        }
        for cookie in &self.cookies {
            let value = cookie.value(given, "--cookie")?;
            if value.chars().any(|one| one.is_control() || one == ';') {
                return Err(format!(
                    "--cookie {}: its value has a character that none may have",
                    cookie.name
                ));
            }
            saved.cookies.push(SavedCookie {
                name: cookie.name.clone(),
                value,
                domain: host_of(&scope.origin).to_owned(),
                path: "/".to_owned(),
                expires: WITH_THE_SESSION,
                secure: scope.origin.starts_with("https:"),
                ..SavedCookie::default()
            });
        }
        let script = match &self.script {
            None => None,
            Some(path) => {
                let text = read_file(path, "--login")?;
                let script = steps::read(&text, path, &scope)
                    .map_err(|why| format!("--login: {}: {why}", path.display()))?;
                Some(script)
            }
        };
        let mut headers = Vec::new();
        for header in &self.headers {
            let value = header.value(given, "--header")?;
            if value.chars().any(char::is_control) {
                return Err(format!("--header {}: its value has more than one line", header.name));
            }
            headers.push((header.name.clone(), value));
        }
        Ok(ReadAccess { access: Access { http, headers, saved, script }, notes })
    }
}

impl NamedReference {
    fn of(name: &str, value: &str, given: &mut GivenSecrets) -> Result<Self, String> {
        let references = References::in_text(value)?;
        let name = name.to_owned();
        if references.is_empty() {
            given.0.push((name.clone(), reference::unescaped(value)));
            return Ok(Self { name, reference: None });
        }
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        Ok(Self { name, reference: Some(references.with_paths_under(&here)) })
    }

    fn value(&self, given: &GivenSecrets, option: &str) -> Result<String, String> {
        let name = &self.name;
        match &self.reference {
            Some(text) => References::in_text(text)
                .and_then(|references| references.read(Path::new("")))
                .map_err(|why| format!("{option} {name}: {why}")),
            None => {
                let value = given.0.iter().find(|(given, _)| given == name);
                value.map(|(_, value)| value.clone()).ok_or_else(|| {
                    format!(
                        "the value of {option} {name} is not stored: give the option again, or \
                         write its value as ${{env:NAME}} or ${{file:PATH}}"
                    )
                })
            }
        }
    }
}

/// Whether a text can be the name of a header or of a cookie.
fn is_token(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain)
}

/// The text of a file that an option names.
fn read_file(path: &Path, option: &str) -> Result<String, String> {
    let cannot =
        |why: &dyn std::fmt::Display| format!("{option}: cannot read {}: {why}", path.display());
    let length = fs::metadata(path).map_err(|error| cannot(&error))?.len();
    if length > LARGEST_FILE {
        return Err(cannot(&"it is larger than 16 MB"));
    }
    let bytes = fs::read(path).map_err(|error| cannot(&error))?;
    String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(
        headers: &[&str],
        cookies: &[&str],
    ) -> Result<(LoginSettings, GivenSecrets), String> {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let mut given = GivenSecrets::default();
        let mut settings = LoginSettings::default();
        settings.set_headers(&texts(headers), &mut given)?;
        settings.set_cookies(&texts(cookies), &mut given)?;
        Ok((settings, given))
    }

    #[test]
    fn a_given_value_is_used_and_not_stored() {
        let (settings, given) = settings(&["X-Token: whisper"], &["id=whisper=2"]).unwrap();
        let stored = serde_json::to_string(&settings).unwrap();
        assert!(!stored.contains("whisper") && !format!("{settings:?}").contains("whisper"));
        let access = settings.read("http://app.test:8080/", None, &given).unwrap().access;
        assert_eq!(access.headers, [("X-Token".to_owned(), "whisper".to_owned())]);
        let cookie = &access.saved.cookies[0];
        assert_eq!((&*cookie.value, &*cookie.domain), ("whisper=2", "app.test"));
        let again: LoginSettings = serde_json::from_str(&stored).unwrap();
        let missing = again.read("http://app.test/", None, &GivenSecrets::default()).err().unwrap();
        assert!(missing.contains("--cookie id is not stored"), "{missing}");
        assert!(settings.needs_access() && !LoginSettings::default().needs_access());
    }

    #[test]
    fn a_reference_is_stored_and_read_each_time() {
        let path = std::env::temp_dir().join(format!("argiope-secret-{}", std::process::id()));
        fs::write(&path, "whisper\n").unwrap();
        let header = format!("Authorization: Bearer ${{file:{}}}", path.display());
        let (settings, given) = settings(&[&header], &[]).unwrap();
        let stored = serde_json::to_string(&settings).unwrap();
        assert!(stored.contains("${file:") && !stored.contains("whisper"), "{stored}");
        let read = || settings.read("http://app.test/", None, &given);
        assert_eq!(read().unwrap().access.headers[0].1, "Bearer whisper");
        fs::write(&path, "louder").unwrap();
        assert_eq!(read().unwrap().access.headers[0].1, "Bearer louder");
        fs::write(&path, "two\nlines").unwrap();
        assert!(read().err().unwrap().contains("more than one line"));
        fs::remove_file(&path).unwrap();
        let gone = read().err().unwrap();
        assert!(gone.contains("--header Authorization: cannot read"), "{gone}");
    }

    #[test]
    fn what_is_not_a_header_or_a_cookie_is_refused_without_its_value() {
        for (headers, cookies, expected) in [
            (&["no colon whisper"][..], &[][..], "a colon after the name"),
            (&["a b: whisper"], &[], "is not the name of a header"),
            (&["Cookie: whisper"], &[], "the browser itself sets Cookie"),
            (&["X: ${envv:whisper}"], &[], "is no reference"),
            (&[], &["whisper"], "write name=value"),
            (&[], &["a;b=whisper"], "is not the name of a cookie"),
        ] {
            let error = settings(headers, cookies).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
