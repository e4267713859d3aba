//! The routes of the fixture with a login of its own, and the check of HTTP logins.

use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::site::Site;

/// How many requests a session lasts.
const LASTS: u64 = 12;
/// What the form must send.
const FORM: &str = "name=ada&password=k9%2Fzwhisperz";
/// The challenge of a digest. Without `qop` the answer depends on the address alone.
const CHALLENGE: &str = "Digest realm=\"members\", nonce=\"b3f0c1d2\", algorithm=MD5";
/// The addresses of the members, and the right answers for them.
const ANSWERS: [(&str, &str); 3] = [
    ("/", "ee5604aef46ca8ca4cf32de95170c19e"),
    ("/second.html", "3c6b16c97efb6ba2b5e11a76325a4784"),
    ("/greeting.txt", "d32b1acfb1e0abf7bedf62ecf880b40d"),
];

/// `/sign-in` begins a session; the pages send visitors without one to `/login`.
pub(super) fn session(
    request: &SiteRequest,
    memory: &ServerMemory,
    site: Site,
) -> Option<SiteReply> {
    let page = match request.path.as_str() {
        "/login" => return site.file("login.html"),
        "/sign-in" if request.form == FORM => {
            let cookie = format!("session={}; Path=/; HttpOnly", memory.begin_session(LASTS));
            return Some(SiteReply::redirect("/").header("set-cookie", &cookie));
        }
        "/sign-in" => return Some(SiteReply::redirect("/login")),
        "/" => "index.html",
        "/second" => "second.html",
        "/print" => "print.html",
        "/greeting" => "",
        _ => return None,
    };
    let id = request.cookie("session").and_then(|id| id.parse().ok());
    match (id.is_some_and(|id| memory.use_session(id)), page) {
        (true, "") => Some(SiteReply::text("Good morning.")),
        (true, page) => site.file(page),
        (false, "") => Some(SiteReply::text("no session").status(401)),
        (false, _) => Some(SiteReply::redirect("/login")),
    }
}

/// The challenge for a request without the right `Authorization`; `None` if it is right.
pub(crate) fn challenge(
    site: Site,
    path: &str,
    authorization: Option<&str>,
) -> Option<&'static str> {
    let (_, header) = site.login()?;
    if site.name() != "members-digest" {
        return (authorization != Some(header)).then_some("Basic realm=\"members\"");
    }
    let right = ANSWERS.iter().find(|(address, _)| *address == path).map(|(_, answer)| *answer);
    let is_right = |sent: &str| {
        let part = |name: &str, value: &str| sent.contains(&format!("{name}=\"{value}\""));
        sent.starts_with(header)
            && part("uri", path)
            && right.is_some_and(|right| part("response", right))
    };
    (!authorization.is_some_and(is_right)).then_some(CHALLENGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, form: &str, cookies: &str) -> SiteRequest {
        SiteRequest {
            path: path.into(),
            form: form.into(),
            cookies: cookies.into(),
            ..SiteRequest::default()
        }
    }

    #[test]
    fn a_session_lasts_for_twelve_requests() {
        let (memory, site) = (ServerMemory::default(), Site::find("session").unwrap());
        let answer = |path: &str, form: &str, cookies: &str| {
            session(&request(path, form, cookies), &memory, site).unwrap()
        };
        assert_eq!(answer("/", "", "").status, 302);
        let refused = answer("/sign-in", "name=ada&password=wrong", "");
        assert!(refused.headers.contains(&("location", "/login".to_owned())));
        let begun = answer("/sign-in", FORM, "");
        assert!(
            begun
                .headers
                .iter()
                .any(|(name, value)| *name == "set-cookie" && value.starts_with("session=0;"))
        );
        let lasted = (0..2 * LASTS).filter(|_| answer("/second", "", "session=0").status == 200);
        assert_eq!(lasted.count() as u64, LASTS);
        assert_eq!(answer("/greeting", "", "session=0").status, 401);
    }

    #[test]
    fn a_digest_needs_the_right_answer_for_its_address() {
        let site = Site::find("members-digest").unwrap();
        let sent = |uri: &str, response: &str| {
            format!(
                "Digest username=\"ada\", realm=\"members\", uri=\"{uri}\", response=\"{response}\""
            )
        };
        let check = |path: &str, sent: &str| challenge(site, path, Some(sent)).is_none();
        let (root, second) = (ANSWERS[0].1, ANSWERS[1].1);
        assert!(
            check("/", &sent("/", root)) && check("/second.html", &sent("/second.html", second))
        );
        assert!(!check("/", &sent("/", second)) && !check("/", "Digest"));
        assert_eq!(challenge(site, "/", None), Some(CHALLENGE));
        assert_eq!(challenge(Site::find("toggles").unwrap(), "/", None), None);
    }
}
