//! Addresses without user names and passwords. An address with a login (`http://user:secret@host/`)
//! is divided where it enters argiope. What remains can be shown, logged, sent and stored.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use argiope_browser::Login;
use serde::{Deserialize, Serialize};

use crate::settings::Scope;

/// An address without a login. No value of this type has one, wherever it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct PlainUrl(String);

impl PlainUrl {
    /// Divides an address into what can be shown and its login.
    pub fn divide(url: &str) -> (Self, Option<Login>) {
        let Some((start, end)) = user_info(url) else { return (Self(url.to_owned()), None) };
        // Without the `@` at the end.
        let (user, secret) =
            url[start..end - 1].split_once(':').unwrap_or((&url[start..end - 1], ""));
        let plain = Self(format!("{}{}", &url[..start], &url[end..]));
        let login = plain.login(&decoded(user), &decoded(secret));
        (plain, login)
    }

    /// A login for the origin of the address; `None` if the address has no origin, or if there is
    /// neither a name nor a password.
    pub fn login(&self, user: &str, secret: &str) -> Option<Login> {
        let scope = Scope::of(self).ok().filter(|_| !(user.is_empty() && secret.is_empty()))?;
        Some(Login::new(scope.origin, user, secret))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for PlainUrl {
    fn from(url: String) -> Self {
        Self::divide(&url).0
    }
}

impl From<PlainUrl> for String {
    fn from(url: PlainUrl) -> Self {
        url.0
    }
}

impl Deref for PlainUrl {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlainUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where the login of an address is, with its `@`. Browsers read backslashes as slashes, and any
/// number of them; so does this.
fn user_info(url: &str) -> Option<(usize, usize)> {
    let is_slash = |one: char| one == '/' || one == '\\';
    let rest = url.find("://").map_or(0, |at| at + "://".len());
    let start = rest + url[rest..].find(|one| !is_slash(one))?;
    let authority = url[start..].find(|one| is_slash(one) || "?#".contains(one));
    let authority = authority.map_or(url.len(), |length| start + length);
    let end = start + url[start..authority].rfind('@')? + 1;
    Some((start, end))
}

/// A text without the logins of all addresses in it.
pub fn without_logins(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        plain.push_str(before);
        let ends = |one: char| one.is_whitespace() || "/\\?#\"'<>".contains(one);
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        rest = &after[authority.rfind('@').map_or(0, |at| at + 1)..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// A text without percent-encoding. What is not encoded correctly stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        if first == b'%'
            && let (Some(high), Some(low)) = (digit(0), digit(1))
        {
            bytes.push((high * 16 + low) as u8);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(url: &str) -> (String, Option<(String, String)>) {
        let (plain, login) = PlainUrl::divide(url);
        let revealed = login.as_ref().map(Login::reveal);
        (plain.0, revealed.map(|(user, secret)| (user.to_owned(), secret.to_owned())))
    }

    fn check(url: &str, plain: &str, login: Option<(&str, &str)>) {
        let login = login.map(|(user, secret)| (user.to_owned(), secret.to_owned()));
        assert_eq!(divided(url), (plain.to_owned(), login), "{url}");
    }

    #[test]
    fn an_address_is_divided_as_a_browser_divides_it() {
        check("http://host/a@b?c@d#e@f", "http://host/a@b?c@d#e@f", None);
        check("http://ada:secret@host:80/a", "http://host:80/a", Some(("ada", "secret")));
        check("http://ada@host", "http://host", Some(("ada", "")));
        check("http://:secret@host", "http://host", Some(("", "secret")));
        check("http://@host", "http://host", None);
        check("http://a:b:c@d@host/", "http://host/", Some(("a", "b:c@d")));
        check("http://a%40b:%2f%3F%zz%4@host/", "http://host/", Some(("a@b", "/?%zz%4")));
        check("http://ada:secret@host\\a@b", "http://host\\a@b", Some(("ada", "secret")));
        // Not addresses, which are refused later: the errors must not repeat the login.
        check("ada:secret@host/a", "host/a", None);
        check("http:///ada:secret@host/", "http:///host/", None);
        check("http://", "http://", None);
        check("", "", None);
    }

    #[test]
    fn no_plain_address_has_a_login_wherever_it_comes_from() {
        let json: PlainUrl = serde_json::from_str("\"http://ada:secret@host/\"").unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), "\"http://host/\"");
        let bytes = postcard::to_allocvec("http://ada:secret@host/").unwrap();
        assert_eq!(postcard::from_bytes::<PlainUrl>(&bytes).unwrap().as_str(), "http://host/");
        assert_eq!(format!("{json} {json:?}"), "http://host/ PlainUrl(\"http://host/\")");
    }

    #[test]
    fn texts_lose_the_logins_of_all_addresses() {
        for (text, plain) in [
            ("nothing here", "nothing here"),
            ("mail ada@host or see http://host/a@b", "mail ada@host or see http://host/a@b"),
            ("a http://ada:se@cret@host/x b https://c:d@e", "a http://host/x b https://e"),
            ("'http://ada:secret@host'", "'http://host'"),
            ("http://ada:secret@", "http://"),
        ] {
            assert_eq!(without_logins(text), plain);
        }
    }
}
