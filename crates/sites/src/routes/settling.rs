//! The routes of fixtures that are not settled when their document is loaded.

use serde_json::json;

use crate::reply::{SiteReply, SiteRequest};

/// `/poll` and `/watch`: long polls without news.
pub(super) fn long_poll(request: &SiteRequest) -> Option<SiteReply> {
    let is_poll = ["/poll", "/watch"].contains(&request.path.as_str());
    is_poll.then(|| SiteReply::text("").never())
}

/// `/items`: a slow list.
pub(super) fn splash(request: &SiteRequest) -> Option<SiteReply> {
    (request.path == "/items").then(|| SiteReply::json(&json!(["tea", "honey"])).after(300))
}

/// `/header`: a page that a header refreshes. `/arrived-…`: where refreshes lead.
pub(super) fn refresh(request: &SiteRequest) -> Option<SiteReply> {
    if request.path == "/header" {
        let page = SiteReply::html(titled("a moment please"));
        return Some(page.header("refresh", "2; url=/arrived-by-header"));
    }
    let by = request.path.strip_prefix("/arrived-by-")?;
    Some(SiteReply::html(titled(&format!("arrived by {by}"))))
}

/// `/notes`, `/upload`: what users have uploaded, in a sandbox.
pub(super) fn sandboxed(request: &SiteRequest) -> Option<SiteReply> {
    let page = "<!doctype html><title>uploaded</title><p>No script runs here.</p>\
                <script>document.title = 'a script ran'</script>\
                <a href='/notes'>notes</a> <button onclick='document.title++'>press</button>";
    let reply = match request.path.as_str() {
        "/notes" => SiteReply::text("Tea, honey."),
        "/upload" => SiteReply::html(page),
        _ => return None,
    };
    Some(reply.header("content-security-policy", "sandbox"))
}

/// `/events`: an event stream that brings one message, a little late, and is not opened again.
pub(super) fn streams(request: &SiteRequest) -> Option<SiteReply> {
    let news = "retry: 86400000\ndata: tea is ready\n\n";
    let reply = || SiteReply::new("text/event-stream", news.as_bytes()).after(60);
    (request.path == "/events").then(reply)
}

/// Every other path is a page with its path as its title.
pub(super) fn windows(request: &SiteRequest) -> Option<SiteReply> {
    let name = request.path.strip_prefix('/').filter(|name| !name.is_empty())?;
    Some(SiteReply::html(titled(name)))
}

fn titled(title: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1></html>"
    )
}
