//! The file of `--storage-state`: cookies and local storage in the form that Playwright writes.
//! What belongs to other hosts stays out of the browser. No error repeats a value.

use argiope_browser::access::{SavedCookie, SavedState, host_of};
use serde::Deserialize;

use crate::settings::Scope;

#[derive(Deserialize)]
struct StateFile {
    #[serde(default)]
    cookies: Vec<SavedCookie>,
    #[serde(default)]
    origins: Vec<OriginValues>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OriginValues {
    origin: String,
    #[serde(default)]
    local_storage: Vec<StoredItem>,
    #[serde(default, rename = "indexedDB")]
    indexed_db: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct StoredItem {
    name: String,
    value: String,
}

/// Reads what the file has for the application, and a sentence if it has more.
pub fn read(text: &str, scope: &Scope) -> Result<(SavedState, Option<String>), String> {
    let file: StateFile = serde_json::from_str(text).map_err(|error| {
        format!(
            "is not a storage state as Playwright writes it: line {}, column {}",
            error.line(),
            error.column()
        )
    })?;
    for cookie in &file.cookies {
        check(cookie)?;
    }
    let all = file.cookies.len() + file.origins.len();
    let cookies: Vec<_> =
        file.cookies.into_iter().filter(|cookie| cookie.is_for(host_of(&scope.origin))).collect();
    let is_own = |values: &OriginValues| {
        Scope::of(&values.origin).is_ok_and(|other| other.origin == scope.origin)
    };
    let own: Vec<_> = file.origins.into_iter().filter(is_own).collect();
    let rest = all - cookies.len() - own.len();
    if own.iter().any(|values| !values.indexed_db.is_empty()) {
        return Err("has IndexedDB, which is not restored: save it without".to_owned());
    }
    if cookies.is_empty() && own.is_empty() {
        return Err(format!("has nothing for {}", scope.origin));
    }
    let items = own.into_iter().flat_map(|values| values.local_storage);
    let local = items.map(|item| (item.name, item.value)).collect();
    let note =
        (rest > 0).then(|| format!("left out what is not for {}: {rest} entries", scope.origin));
    Ok((SavedState { cookies, local, session: Vec::new() }, note))
}

fn check(cookie: &SavedCookie) -> Result<(), String> {
    let wrong = if cookie.name.is_empty() || cookie.domain.is_empty() {
        "no name or no domain"
    } else if !cookie.path.starts_with('/') {
        "a path that does not begin with a slash"
    } else if cookie.same_site.as_deref().is_some_and(|it| !["Strict", "Lax", "None"].contains(&it))
    {
        "a sameSite that is none of Strict, Lax and None"
    } else if !cookie.expires.is_finite() {
        "a time of expiry that is no number"
    } else {
        return Ok(());
    };
    Err(format!("has a cookie with {wrong}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(SavedState, Option<String>), String> {
        read(text, &Scope::of("http://app.test:8080/").unwrap())
    }

    const COOKIE: &str = r#"{"name":"id","value":"whisper","domain":"app.test","path":"/",
        "expires":-1,"httpOnly":true,"secure":false,"sameSite":"Lax"}"#;

    #[test]
    fn cookies_and_values_of_the_origin_are_taken() {
        let other = COOKIE.replace("app.test", "idp.test");
        let text = format!(
            r#"{{"cookies":[{COOKIE},{other}],"origins":[
                {{"origin":"http://app.test:8080","localStorage":[{{"name":"a","value":"b"}}]}},
                {{"origin":"http://app.test","localStorage":[{{"name":"c","value":"d"}}]}}]}}"#
        );
        let (state, note) = check(&text).unwrap();
        assert_eq!(state.cookies.len(), 1);
        let cookie = &state.cookies[0];
        assert!(cookie.http_only && !cookie.secure && cookie.expires < 0.0);
        assert_eq!(cookie.same_site.as_deref(), Some("Lax"));
        assert_eq!(state.local, [("a".to_owned(), "b".to_owned())]);
        assert!(note.unwrap().ends_with("2 entries"));
    }

    #[test]
    fn a_bad_file_is_refused_without_repeating_a_value() {
        let with =
            |from: &str, to: &str| format!(r#"{{"cookies":[{}]}}"#, COOKIE.replace(from, to));
        for (text, expected) in [
            (r#"{"cookies":["whisper"]}"#.to_owned(), "line 1, column 21"),
            ("[".to_owned(), "line 1"),
            ("{}".to_owned(), "has nothing for http://app.test:8080"),
            (with("app.test", "other.test"), "has nothing for"),
            (with("\"path\":\"/\"", "\"path\":\"x\""), "does not begin with a slash"),
            (with("Lax", "whisper"), "none of Strict, Lax and None"),
            (with("\"id\"", "\"\""), "no name or no domain"),
            (
                r#"{"origins":[{"origin":"http://app.test:8080","indexedDB":[{}]}]}"#.to_owned(),
                "IndexedDB",
            ),
        ] {
            let error = check(&text).err().unwrap();
            assert!(error.contains(expected) && !error.contains("whisper"), "{error}");
        }
    }
}
