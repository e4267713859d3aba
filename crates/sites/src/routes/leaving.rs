//! The routes of fixtures that lead to another host: to another name of this machine.

use crate::reply::{ServerMemory, SiteReply, SiteRequest};

/// `/leave?to=ADDRESS&status=NUMBER`: a redirect. `/reporting?to=ADDRESS`: a page that breaks its
/// own policy, which names where the browser reports that.
pub(super) fn answer(request: &SiteRequest) -> Option<SiteReply> {
    let to = request.parameter("to")?;
    match request.path.as_str() {
        "/leave" => {
            let status = request.parameter("status").and_then(|status| status.parse().ok());
            Some(SiteReply::redirect(to).status(status.unwrap_or(302)))
        }
        "/reporting" => {
            let page = "<!doctype html><title>reporting</title><img src=\"/forbidden.png\">";
            let policy = format!("default-src 'none'; report-uri {to}");
            Some(SiteReply::html(page).header("content-security-policy", &policy))
        }
        _ => None,
    }
}

/// `/`: every fourth load is redirected to another host, whose pages are all of the other paths.
pub(super) fn astray(request: &SiteRequest, memory: &ServerMemory) -> Option<SiteReply> {
    if request.path != "/" {
        let page = "<!doctype html><title>elsewhere</title><h1>Another host</h1>\
                    <form method=\"post\" action=\"/pressed\"><button>Press me</button></form>";
        return Some(SiteReply::html(page));
    }
    let port = request.host.rsplit_once(':').map_or("80", |(_, port)| port);
    (memory.next() % 4 == 3)
        .then(|| SiteReply::redirect(&format!("http://localhost:{port}/elsewhere")))
}
