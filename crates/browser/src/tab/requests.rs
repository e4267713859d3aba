//! Judges the requests that the browser holds. Pure: the event task carries the verdicts out.

use base64::Engine as _;

use crate::border::{CrawlBounds, ThirdParty, UrlParts, is_safe_method};
use crate::cdp;
use crate::cdp::events::PausedRequest;
use crate::outsider::OutsiderAnswer;

/// The kinds of resources that pages may load from other origins.
const RESOURCES: [&str; 4] = ["Script", "Stylesheet", "Font", "Image"];

/// What becomes of a held request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The browser sends it.
    Pass,
    /// Argiope loads the resource for the page.
    Load,
    /// It is refused: its address does not belong to the application.
    Outside,
    /// It is refused: it may change something, and the crawl is a safe one.
    Unsafe,
}

/// Judges a request.
pub(super) fn judge(bounds: &CrawlBounds, paused: &PausedRequest) -> Verdict {
    let (request, kind) = (&paused.request, paused.resource_type.as_str());
    let Some(url) = UrlParts::of(&request.url) else { return Verdict::Pass };
    if kind == "Document" && !bounds.contains(&request.url) || bounds.excludes(&url) {
        return Verdict::Outside;
    }
    if bounds.has_server(&url.host, url.port) {
        let is_safe = !bounds.is_safe || is_safe_method(&request.method);
        return if is_safe { Verdict::Pass } else { Verdict::Unsafe };
    }
    let is_resource = request.method == "GET" && RESOURCES.contains(&kind);
    if is_resource && bounds.third_party == ThirdParty::Allow {
        Verdict::Load
    } else {
        Verdict::Outside
    }
}

/// The answer to a held request, as the protocol wants it.
pub(super) struct FulfilledRequest<'a> {
    status: u16,
    headers: Vec<cdp::HeaderEntry<'a>>,
    body: String,
}

/// The answer of a server outside as that to a held request.
pub(super) fn fulfilled(answer: &OutsiderAnswer) -> FulfilledRequest<'_> {
    let headers = answer.headers.iter();
    FulfilledRequest {
        status: answer.status,
        headers: headers.map(|(name, value)| cdp::HeaderEntry { name, value }).collect(),
        body: base64::engine::general_purpose::STANDARD.encode(&answer.body),
    }
}

impl FulfilledRequest<'_> {
    /// The call that answers the request.
    pub(super) fn call<'a>(&'a self, request_id: &'a str) -> cdp::FulfillRequest<'a> {
        cdp::FulfillRequest {
            request_id,
            response_code: self.status,
            response_headers: &self.headers,
            body: &self.body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bounds: &CrawlBounds, line: &str, verdict: Verdict) {
        let [method, kind, url] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let paused = serde_json::json!({
            "requestId": "1", "frameId": "F", "resourceType": kind,
            "request": {"url": url, "method": method, "headers": {}},
        });
        let paused: PausedRequest = serde_json::from_value(paused).unwrap();
        assert_eq!(judge(bounds, &paused), verdict, "{line}");
    }

    #[test]
    fn only_resources_may_be_loaded_from_other_origins() {
        let bounds = CrawlBounds::of_origin("http://app.test");
        for inside in ["GET Document", "POST Document", "POST XHR", "POST Ping", "GET Other"] {
            check(&bounds, &format!("{inside} http://app.test/x"), Verdict::Pass);
        }
        for resource in ["Script", "Stylesheet", "Font", "Image"] {
            check(&bounds, &format!("GET {resource} https://cdn.test/x"), Verdict::Load);
            check(&bounds, &format!("POST {resource} https://cdn.test/x"), Verdict::Outside);
        }
        for other in
            ["Document", "XHR", "Fetch", "Ping", "EventSource", "Media", "Manifest", "Other"]
        {
            check(&bounds, &format!("GET {other} https://cdn.test/x"), Verdict::Outside);
        }
        check(&bounds, "GET Image data:image/png,x", Verdict::Pass);
        let block = CrawlBounds { third_party: ThirdParty::Block, ..bounds };
        check(&block, "GET Script https://cdn.test/x", Verdict::Outside);
    }

    #[test]
    fn a_safe_crawl_sends_only_what_changes_nothing() {
        let bounds = CrawlBounds { is_safe: true, ..CrawlBounds::of_origin("http://app.test") };
        for method in ["GET", "HEAD", "OPTIONS"] {
            check(&bounds, &format!("{method} Fetch http://app.test/"), Verdict::Pass);
        }
        for method in ["POST", "PUT", "PATCH", "DELETE", "PROPFIND", "get"] {
            check(&bounds, &format!("{method} Fetch http://app.test/"), Verdict::Unsafe);
            check(&bounds, &format!("{method} Document http://app.test/"), Verdict::Unsafe);
        }
    }

    #[test]
    fn nothing_is_requested_from_an_excluded_address() {
        let bounds = CrawlBounds::of_origin("http://app.test");
        let bounds = bounds.with_patterns(&[], &["/admin*".to_owned()]).unwrap();
        check(&bounds, "GET Document http://app.test/admin", Verdict::Outside);
        check(&bounds, "POST Fetch http://app.test/admin/x", Verdict::Outside);
        check(&bounds, "GET Fetch http://app.test/x", Verdict::Pass);
    }
}
