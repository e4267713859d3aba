//! Values for forms: every given value is tried, the browser's complaints and the application's are
//! found, and values that must be unique are.

use std::collections::BTreeSet;

use argiope_runtime::inputs;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;
use argiope_sites::{Server, Site};

use crate::real::{Place, run};

/// The texts and complaints of all stored states.
fn shown(directory: &std::path::Path) -> BTreeSet<String> {
    let store = Store::read(directory).unwrap();
    let mut texts = BTreeSet::new();
    for state in store.states().unwrap() {
        let (_, detail) = state.unwrap();
        for node in store.page(detail.page).unwrap().unwrap().nodes {
            let complaint = node.attribute(".invalid").map(|mistake| {
                format!("{}: {mistake}", node.attribute("name").unwrap_or_default())
            });
            texts.extend(complaint);
            texts.insert(node.text.trim().to_owned());
        }
    }
    texts
}

#[test]
fn every_given_value_is_tried_and_every_complaint_is_found() {
    let server = Server::start("form").unwrap();
    let place = Place::new();
    let file = Site::find("form").and_then(|site| site.text("inputs.toml")).unwrap();
    let mut settings = CrawlSettings::new(server.url());
    settings.inputs = inputs::parse("inputs.toml", file).unwrap();
    settings.tabs = 2;
    let directory = place.path("run");
    let summary = run(&settings, &directory).unwrap();
    assert!(summary.complete, "{summary:?}");
    let seen = [
        ("text", ["Ada%20Lovelace", "x", "root"]),
        ("email", ["ada%40example.com", "no%20address", "taken%40example.com"]),
        ("url", ["https%3A%2F%2Fexample.com%2Fa", "example", "http%3A%2F%2Fplain.example%2F"]),
        ("tel", ["5550123", "12", "00000"]),
        ("number", ["3", "11", "7"]),
        ("range", ["0", "5", "10"]),
        ("color", ["%23ff0000", "%2300ff00", "%23000001"]),
        ("date", ["2024-02-29", "2023-12-31", "2024-12-25"]),
        ("textarea", ["a%20short%20message", "", "AAAA"]),
        ("select", ["red", "green", "blue"]),
        ("radio", ["s", "m", "l"]),
        ("file", ["a.png", "b.txt", "c.pdf"]),
    ];
    assert_eq!(settings.inputs.len(), seen.len());
    for (field, values) in seen {
        for value in values {
            let path = format!("/seen/{field}/{value}");
            assert!(server.requests(&path) > 0, "{path} was not tried");
        }
    }
    // Without a rule: argiope's own values.
    for path in ["/seen/password/Argiope-1", "/seen/note/argiope", "/seen/terms/true"] {
        assert!(server.requests(path) > 0, "{path} was not tried");
    }
    let shown = shown(&directory);
    let complaints = [
        "text: value missing",
        "text: pattern mismatch",
        "email: value missing",
        "email: type mismatch",
        "url: type mismatch",
        "tel: pattern mismatch",
        "number: range overflow",
        "date: range underflow",
        "textarea: value missing",
        "select: value missing",
        "radio: value missing",
        "file: value missing",
        "terms: value missing",
        "this name is reserved",
        "this address has an account",
        "only encrypted sites",
        "no such line",
        "seven is sold out",
        "too loud",
        "too dark",
        "a holiday",
        "please do not shout",
        "no blue wool today",
        "no large ones left",
        "that is not a picture",
    ];
    for complaint in complaints {
        assert!(shown.contains(complaint), "{complaint} was not found");
    }
}

#[test]
fn accounts_are_new_also_when_the_crawl_is_resumed() {
    let server = Server::start("accounts").unwrap();
    let place = Place::new();
    let directory = place.path("run");
    let mut settings = CrawlSettings { max_actions: Some(2), ..CrawlSettings::new(server.url()) };
    let stopped = run(&settings, &directory).unwrap();
    assert!(!stopped.complete, "{stopped:?}");
    settings.max_actions = None;
    let summary = run(&settings, &directory).unwrap();
    assert!(summary.complete, "{summary:?}");
    assert_eq!(summary.progress.states, 4, "{summary:?}");
    let shown = shown(&directory);
    assert!(shown.iter().any(|text| text.starts_with("Hello argiope{n},")), "{shown:?}");
    assert!(!shown.iter().any(|text| text.contains("has an account already")), "{shown:?}");
}
