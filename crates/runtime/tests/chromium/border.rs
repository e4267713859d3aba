//! Nothing leaves the scope of a crawl. Another origin records everything that reaches it, over
//! TCP and UDP, while pages try to reach it in many ways.

use std::collections::BTreeSet;

use argiope_browser::ThirdParty;
use argiope_controller::journal::Fact;
use argiope_controller::outcome::Note;
use argiope_explore::page::Hindrance;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{Store, UnperformedAction, WhyUnperformed};
use argiope_sites::Server;

use crate::real::{Place, model, records, run};
use crate::recorder::{Recorder, requests};

/// Crawls the ways out towards a recorder; what reached it, and the blocked hosts.
fn leave(third_party: ThirdParty) -> (Recorder, BTreeSet<String>) {
    let (server, recorder, place) =
        (Server::start("leaving").unwrap(), Recorder::start(), Place::new());
    let url = format!("{}?port={}", server.url(), recorder.port());
    let settings = CrawlSettings { tabs: 2, third_party, ..CrawlSettings::new(url) };
    let summary = run(&settings, &place.path("run")).unwrap();
    let found = model(&records(&place.path("run")));
    assert!(summary.complete, "{summary:?}");
    assert_eq!((found.states.len(), found.transitions.len()), (62, 122), "{summary:?}");
    assert!(summary.blocked["localhost"] > 30, "{:?}", summary.blocked);
    (recorder, summary.blocked.into_keys().collect())
}

#[test]
fn another_origin_sees_only_scripts_styles_fonts_and_images() {
    let (recorder, hosts) = leave(ThirdParty::Allow);
    let heard = recorder.heard();
    let paths = |request: &String| request.split(' ').nth(1).unwrap_or(request).to_owned();
    let reached: BTreeSet<String> = heard.iter().map(paths).collect();
    let resources = ["font.woff", "image.svg", "module.js", "script.js", "style.css", "worker.js"];
    let expected = resources.map(|name| format!("/resource/{name}"));
    assert_eq!(reached, expected.into(), "{heard:#?}");
    assert!(heard.iter().all(|request| request.starts_with("GET ")), "{heard:#?}");
    assert_eq!(recorder.datagrams(), 0);
    assert_eq!(hosts, ["localhost".to_owned()].into());
}

#[test]
fn with_third_parties_blocked_another_origin_sees_no_connection() {
    let (recorder, _) = leave(ThirdParty::Block);
    assert_eq!(
        (recorder.heard(), recorder.connections(), recorder.datagrams()),
        (Vec::new(), 0, 0)
    );
}

#[test]
fn a_load_that_is_redirected_to_another_host_is_a_failure_and_no_state() {
    for tabs in [1, 2, 8] {
        let (server, place) = (Server::start("astray").unwrap(), Place::new());
        let settings = CrawlSettings { tabs, ..CrawlSettings::new(server.url()) };
        let summary = run(&settings, &place.path("run")).unwrap();
        assert!(summary.complete, "{summary:?}");
        assert_eq!(server.requests("/elsewhere") + server.requests("/pressed"), 0);
        assert!(server.requests("/") >= 8, "the page was loaded too seldom to be redirected");
        assert!(summary.blocked["localhost"] > 0, "{:?}", summary.blocked);
    }
}

#[test]
fn a_first_load_that_leads_elsewhere_ends_the_crawl_with_the_address() {
    let (server, place) = (Server::start("broken").unwrap(), Place::new());
    let settings = CrawlSettings::new(format!("{}elsewhere", server.url()));
    let error = run(&settings, &place.path("run")).unwrap_err().to_string();
    let there = format!("http://localhost:{}/there?a=1&b=2", server.address().port());
    assert!(error.ends_with(&format!("leads out of the scope, to {there}")), "{error}");
    assert_eq!(server.requests("/there"), 0);
}

#[test]
fn only_included_pages_are_crawled_and_nothing_excluded_is_requested() {
    let (server, place) = (Server::start("links").unwrap(), Place::new());
    let exclude = vec!["/b.html".to_owned()];
    let settings = CrawlSettings { exclude, ..CrawlSettings::new(server.url()) };
    let summary = run(&settings, &place.path("run")).unwrap();
    assert!(summary.complete, "{summary:?}");
    assert_eq!(server.requests("/b.html"), 0);
    assert!(server.requests("/a.html") > 0);
    // The excluded link was seen, and the store says why no crawler followed it.
    let store = Store::read(&place.path("run")).unwrap();
    let details = store.states().unwrap().map(|state| state.unwrap().1);
    let listed: Vec<_> = details.flat_map(|detail| detail.unperformed.listed).collect();
    let is_listed = |action: &UnperformedAction| {
        action.label.ends_with("/b.html")
            && action.why == WhyUnperformed::Withheld(Hindrance::OutOfScope)
    };
    assert!(listed.iter().any(is_listed), "{listed:#?}");

    let place = Place::new();
    let include = vec!["/".to_owned(), "/a.html".to_owned()];
    let before = server.requests("/c.html");
    let settings = CrawlSettings { include, ..CrawlSettings::new(server.url()) };
    run(&settings, &place.path("run")).unwrap();
    assert_eq!((server.requests("/b.html"), server.requests("/c.html")), (0, before));
}

#[test]
fn a_safe_crawl_sends_only_requests_that_change_nothing() {
    let (recorder, place) = (Recorder::serving(include_str!("writing.html")), Place::new());
    let settings = CrawlSettings { safe: true, tabs: 2, ..CrawlSettings::new(recorder.url()) };
    let summary = run(&settings, &place.path("run")).unwrap();
    assert!(summary.complete, "{summary:?}");
    let heard = recorder.heard();
    let is_safe = |request: &&String| {
        ["GET ", "HEAD ", "OPTIONS "].iter().any(|safe| request.starts_with(safe))
    };
    let (safe, others): (Vec<&String>, Vec<&String>) = heard.iter().partition(is_safe);
    assert!(others.is_empty(), "{others:#?}");
    assert!(safe.iter().all(|request| !request.contains("upgrade: websocket")), "{safe:#?}");
    // What reads still reads, from wherever it asks.
    for path in ["/page-reads", "/frame-reads", "/worker-reads", "/service-reads"] {
        assert!(requests(&heard, path) > 0, "{path} is not among {heard:#?}");
    }
    // Every way to write was tried, in an action that says so, and leads on.
    let stopped: BTreeSet<String> = records(&place.path("run"))
        .iter()
        .filter_map(|fact| match fact {
            Fact::Transition { notes, .. } => Some(notes.clone()),
            _ => None,
        })
        .flatten()
        .filter_map(|note| match note {
            Note::Unsafe(method, url) => Some(format!("{method} {}", url.rsplit('/').next()?)),
            _ => None,
        })
        .collect();
    for expected in [
        "POST page-fetch",
        "PUT page-put",
        "POST page-request",
        "POST page-beacon",
        "POST page-form",
        "POST frame-form",
        "POST frame-fetch",
        "POST worker-fetch",
    ] {
        assert!(stopped.contains(expected), "{expected} is not among {stopped:#?}");
    }
    assert!(stopped.iter().any(|stopped| stopped.starts_with("SOCKET ")), "{stopped:#?}");
    assert!(stopped.iter().all(|stopped| !stopped.contains("secret")), "{stopped:#?}");
    assert!(summary.curbed > 0);
}
