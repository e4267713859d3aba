//! The routes of fixtures that need only a few.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::json;

use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::site::Site;

/// `/report.csv`: a download, not a page.
pub(super) fn dialogs(request: &SiteRequest) -> Option<SiteReply> {
    let report = || {
        SiteReply::new("text/csv", &b"spider,webs\nargiope,1\n"[..])
            .header("content-disposition", "attachment; filename=\"report.csv\"")
    };
    (request.path == "/report.csv").then(report)
}

/// `/items?page=N`: twenty items of the list, and none after the fifth page.
pub(super) fn endless(request: &SiteRequest) -> Option<SiteReply> {
    if request.path != "/items" {
        return None;
    }
    let page: u32 = request.parameter("page")?.parse().ok()?;
    let items = if (1..=5).contains(&page) { (page - 1) * 20 + 1..page * 20 + 1 } else { 0..0 };
    Some(SiteReply::json(
        &json!({ "items": items.map(|item| format!("item {item}")).collect::<Vec<_>>() }),
    ))
}

/// `/draw`: heads and tails in turn, for all clients together. A reset does not affect it.
pub(super) fn nondeterministic(request: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    let side = || if memory.next().is_multiple_of(2) { "heads" } else { "tails" };
    (request.path == "/draw").then(|| SiteReply::text(side()))
}

/// `/rows`: how many rows there are, and those that any client has visited. `/visit?row=3`.
pub(super) fn visited(request: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    const ROWS: u64 = 12;
    let row = match request.path.as_str() {
        "/rows" => None,
        "/visit" => Some(request.parameter("row")?.parse().ok().filter(|row| *row <= ROWS)?),
        _ => return None,
    };
    Some(SiteReply::json(&json!({ "rows": ROWS, "visited": memory.visited(row) })))
}

/// Every path without a full stop is a client-side route and serves the first page.
pub(super) fn router(request: &SiteRequest, site: Site) -> Option<SiteReply> {
    if request.path.contains('.') { None } else { site.file("index.html") }
}

/// None, one or two advertisements before the buttons, in turn, for all clients together.
pub(super) fn shifted(
    request: &SiteRequest,
    memory: &ServerMemory,
    site: Site,
) -> Option<SiteReply> {
    let ads = || "<button class=\"ad\">buy this</button>".repeat(memory.next() as usize % 3);
    (request.path == "/").then(|| filled(site, "ads", &ads())).flatten()
}

/// Slow replies, and a slow script.
pub(super) fn slow_fetch(request: &SiteRequest, site: Site) -> Option<SiteReply> {
    Some(match request.path.as_str() {
        "/customer" => SiteReply::json(&json!({ "id": 7, "name": "Ada" })).after(150),
        "/orders" if request.parameter("customer") == Some("7") => {
            SiteReply::json(&json!({ "orders": ["tea", "honey"] })).after(300)
        }
        "/order" => {
            let name = request.parameter("name").unwrap_or_default().to_string();
            let price = if name == "tea" { 4 } else { 9 };
            SiteReply::json(&json!({ "name": name, "price": price })).after(200)
        }
        "/extra.js" => site.file("extra.js")?.after(200),
        _ => return None,
    })
}

/// `/allowed?after=50`: a reply after that many milliseconds. Values above 1,000 are ignored.
pub(super) fn toggles(request: &SiteRequest) -> Option<SiteReply> {
    let wait = || request.parameter("after")?.parse().ok().filter(|wait: &u64| *wait <= 1_000);
    (request.path == "/allowed").then(|| SiteReply::text("yes").after(wait().unwrap_or_default()))
}

/// The first page tells whether the visitor returns, by a cookie that scripts cannot read.
pub(super) fn storage(request: &SiteRequest, site: Site) -> Option<SiteReply> {
    if request.path != "/" {
        return None;
    }
    let visit = if request.cookie("visited").is_some() { "welcome back" } else { "first visit" };
    let page = filled(site, "visit", visit)?;
    Some(page.header("set-cookie", "visited=1; HttpOnly; SameSite=Lax; Max-Age=86400"))
}

/// Text that differs on every load, and a counter of requests.
pub(super) fn volatile(
    request: &SiteRequest,
    memory: &ServerMemory,
    site: Site,
) -> Option<SiteReply> {
    match request.path.as_str() {
        "/" => filled(site, "nonce", &format!("{:016x}", chance())),
        "/served" => Some(SiteReply::text(format!("{} requests served", memory.next()))),
        _ => None,
    }
}

/// `/copy`: a number that the server returns only once.
pub(super) fn volatile_late(request: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    (request.path == "/copy").then(|| SiteReply::text(format!("copy {}", memory.next())))
}

/// The first page with `{{name}}` replaced by its value.
fn filled(site: Site, name: &str, value: &str) -> Option<SiteReply> {
    let page = site.file("index.html")?;
    let text = String::from_utf8(page.body.into_owned()).ok()?;
    Some(SiteReply::html(text.replace(&format!("{{{{{name}}}}}"), value)))
}

/// A random number: the standard library seeds every hasher anew.
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
    fn the_number_of_advertisements_changes_with_each_load() {
        let memory = ServerMemory::default();
        let site = Site::find("shifted").unwrap();
        let ads = || body(shifted(&at("/", ""), &memory, site)).matches("class=\"ad\"").count();
        assert_eq!([ads(), ads(), ads(), ads()], [0, 1, 2, 0]);
    }

    #[test]
    fn heads_and_tails_alternate() {
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
