//! The routes of the fixtures that need only one or two.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::json;

use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::site::Site;

/// `/report.csv` is a download, not a page.
pub(super) fn dialogs(ask: &SiteRequest) -> Option<SiteReply> {
    let report = || {
        SiteReply::new("text/csv", &b"spider,webs\nargiope,1\n"[..])
            .header("content-disposition", "attachment; filename=\"report.csv\"")
    };
    (ask.path == "/report.csv").then(report)
}

/// `/items?page=N`: twenty items of the list; nothing after the fifth page.
pub(super) fn endless(ask: &SiteRequest) -> Option<SiteReply> {
    if ask.path != "/items" {
        return None;
    }
    let page: u32 = ask.parameter("page")?.parse().ok()?;
    let items = if (1..=5).contains(&page) { (page - 1) * 20 + 1..page * 20 + 1 } else { 0..0 };
    Some(SiteReply::json(
        &json!({ "items": items.map(|item| format!("item {item}")).collect::<Vec<_>>() }),
    ))
}

/// `/draw`: heads and tails in turn, whoever asks. Nothing that a reset clears decides it.
pub(super) fn nondeterministic(ask: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    let side = || if memory.next().is_multiple_of(2) { "heads" } else { "tails" };
    (ask.path == "/draw").then(|| SiteReply::text(side()))
}

/// Every path without a full stop is a client-side route, so a page can be loaded where it is.
pub(super) fn router(ask: &SiteRequest, site: Site) -> Option<SiteReply> {
    if ask.path.contains('.') { None } else { site.file("index.html") }
}

/// Answers that take their time, and a script that does.
pub(super) fn slow_fetch(ask: &SiteRequest) -> Option<SiteReply> {
    Some(match ask.path.as_str() {
        "/customer" => SiteReply::json(&json!({ "id": 7, "name": "Ada" })).after(150),
        "/orders" if ask.parameter("customer") == Some("7") => {
            SiteReply::json(&json!({ "orders": ["tea", "honey"] })).after(300)
        }
        "/order" => {
            let name = ask.parameter("name").unwrap_or_default().to_string();
            let price = if name == "tea" { 4 } else { 9 };
            SiteReply::json(&json!({ "name": name, "price": price })).after(200)
        }
        "/extra.js" => site_file("slow-fetch", "extra.js")?.after(200),
        _ => return None,
    })
}

/// `/allowed?after=50`: so many milliseconds later, at most a second.
pub(super) fn toggles(ask: &SiteRequest) -> Option<SiteReply> {
    let wait = || ask.parameter("after")?.parse().ok().filter(|wait: &u64| *wait <= 1_000);
    (ask.path == "/allowed").then(|| SiteReply::text("yes").after(wait().unwrap_or_default()))
}

fn site_file(site: &str, name: &str) -> Option<SiteReply> {
    Site::find(site)?.file(name)
}

/// The first page says whether the visitor was here before, by a cookie that scripts cannot see.
pub(super) fn storage(ask: &SiteRequest, site: Site) -> Option<SiteReply> {
    if ask.path != "/" {
        return None;
    }
    let visit = if ask.cookie("visited").is_some() { "welcome back" } else { "first visit" };
    let page = filled(site, &[("visit", visit)])?;
    Some(page.header("set-cookie", "visited=1; HttpOnly; SameSite=Lax; Max-Age=86400"))
}

/// Text that is different on every load, and a counter of requests.
pub(super) fn volatile(ask: &SiteRequest, memory: &ServerMemory, site: Site) -> Option<SiteReply> {
    match ask.path.as_str() {
        "/" => filled(site, &[("nonce", &format!("{:016x}", chance()))]),
        "/served" => Some(SiteReply::text(format!("{} requests served", memory.next()))),
        _ => None,
    }
}

/// `/copy`: a number that is never given again.
pub(super) fn volatile_late(ask: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    (ask.path == "/copy").then(|| SiteReply::text(format!("copy {}", memory.next())))
}

/// The first page with its blanks filled in: `{{name}}` becomes the value.
fn filled(site: Site, blanks: &[(&str, &str)]) -> Option<SiteReply> {
    let page = site.file("index.html")?;
    let mut text = String::from_utf8(page.body.into_owned()).ok()?;
    for (name, value) in blanks {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    Some(SiteReply::html(text))
}

/// A number that nobody can foretell; the standard library seeds every hasher anew.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(reply: Option<SiteReply>) -> String {
        String::from_utf8(reply.unwrap().body.into_owned()).unwrap()
    }

    fn at(path: &str, query: &str) -> SiteRequest {
        SiteRequest { path: path.into(), query: query.into(), ..SiteRequest::default() }
    }

    #[test]
    fn the_list_ends_after_five_pages() {
        assert!(body(endless(&at("/items", "page=5"))).contains("\"item 100\""));
        assert_eq!(body(endless(&at("/items", "page=6"))), r#"{"items":[]}"#);
        assert_eq!(body(endless(&at("/items", "page=4294967295"))), r#"{"items":[]}"#);
        assert_eq!(body(endless(&at("/items", "page=0"))), r#"{"items":[]}"#);
    }

    #[test]
    fn heads_and_tails_come_in_turn() {
        let memory = ServerMemory::default();
        let drawn: Vec<_> =
            (0..4).map(|_| body(nondeterministic(&at("/draw", ""), &memory))).collect();
        assert_eq!(drawn, ["heads", "tails", "heads", "tails"]);
    }

    #[test]
    fn two_loads_of_the_volatile_page_differ() {
        let (site, memory) = (Site::find("volatile").unwrap(), ServerMemory::default());
        let load = || body(volatile(&at("/", ""), &memory, site));
        assert_ne!(load(), load());
        assert!(!load().contains("{{"));
    }

    #[test]
    fn a_visitor_with_the_cookie_is_welcomed_back() {
        let site = Site::find("storage").unwrap();
        assert!(body(storage(&at("/", ""), site)).contains("first visit"));
        let again = SiteRequest { cookies: "visited=1".into(), ..at("/", "") };
        assert!(body(storage(&again, site)).contains("welcome back"));
    }
}
