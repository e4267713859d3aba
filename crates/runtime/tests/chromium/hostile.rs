//! Pages that want to break the crawler. None may crash it, hang it, leave the scope, or give a
//! wrong model without a word.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argiope_controller::journal::Fact;
use argiope_controller::outcome::Note;
use argiope_runtime::crawl::{CrawlError, CrawlSummary};
use argiope_runtime::settings::CrawlSettings;

use crate::other::processes_with;
use crate::real::{Place, records, run};
use crate::served::{Answer, Served};

/// Four numbers in a ring, and two ways from each: 4 states, 8 transitions. `TRICK` runs before
/// the page's own script, which uses none of what tricks replace.
const RING: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>ring</title>
<p id="number">0</p>
<button id="next">next</button>
<button id="back">back</button>
<script>
  const text = document.getElementById('number');
  const [next, back] = [document.getElementById('next'), document.getElementById('back')];
  const shown = text.firstChild;
  let at = 0;
  const words = { 0: 'zero', 1: 'one', 2: 'two', 3: 'three' };
  shown.nodeValue = words[at];
  next.onclick = () => { at = (at + 1) % 4; shown.nodeValue = words[at]; };
  back.addEventListener('click', () => { at = (at + 3) % 4; shown.nodeValue = words[at]; });
</script>
<script>TRICK</script>
</html>
"#;

/// How a crawl of a page ended, and what it recorded.
struct Crawled {
    summary: Result<CrawlSummary, CrawlError>,
    facts: Vec<Fact>,
    took: Duration,
}

impl Crawled {
    fn of(settings: &CrawlSettings) -> Self {
        let place = Place::new();
        let began = Instant::now();
        let summary = run(settings, &place.path("run"));
        let took = began.elapsed();
        assert!(processes_with(place.profiles()).is_empty(), "browsers are left");
        Self { summary, facts: records(&place.path("run")), took }
    }

    /// Of a page that some path serves.
    fn page(page: String) -> Self {
        let served = Served::start(move |_| Answer::page(page.clone()));
        // Large pages take their time on a busy machine.
        Self::of(&CrawlSettings { settle_ms: 30_000, ..CrawlSettings::new(served.url("")) })
    }

    fn summary(&self) -> &CrawlSummary {
        self.summary.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    /// States and transitions.
    fn counts(&self) -> (usize, usize) {
        let progress = &self.summary().progress;
        (progress.states, progress.transitions)
    }

    /// Whether the crawl says that something was wrong.
    fn has_complained(&self) -> bool {
        self.summary.as_ref().map_or(true, |summary| !summary.complete)
    }
}

/// Pages that replace what the agent uses: their model is right all the same.
const HARMLESS: &[(&str, &str)] = &[
    ("the array iterator", "Array.prototype[Symbol.iterator] = function* () {};"),
    (
        "the steps of all iterators",
        "for (const one of [[], new Map(), new Set(), '']) {
           Object.getPrototypeOf(one[Symbol.iterator]()).next = () => ({ done: true });
         }",
    ),
    (
        "all methods of arrays",
        "for (const name of Object.getOwnPropertyNames(Array.prototype)) {
           if (name !== 'constructor' && name !== 'length') {
             Object.defineProperty(Array.prototype, name, { value: () => [], configurable: true });
           }
         }",
    ),
    (
        "all methods of maps and sets",
        "for (const { prototype } of [Map, Set, WeakMap, WeakSet]) {
           for (const name of Object.getOwnPropertyNames(prototype)) {
             if (name !== 'constructor') {
               Object.defineProperty(prototype, name, { value: () => undefined, configurable: true });
             }
           }
         }",
    ),
    (
        "promises",
        "Promise.prototype.then = () => {}; Promise.resolve = () => {}; window.Promise = null;",
    ),
    (
        "functions of objects",
        "for (const name of Object.getOwnPropertyNames(Object)) {
           if (typeof Object[name] === 'function') Object[name] = () => null;
         }
         for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = () => null;",
    ),
    (
        "text as JSON",
        "JSON.stringify = () => '{}'; JSON.parse = () => null;
         Object.prototype.toJSON = () => 'wrong';",
    ),
    (
        "what a tree says of itself",
        "const wrong = (owner, name, value) =>
           Object.defineProperty(owner, name, { get: () => value, configurable: true });
         wrong(Element.prototype, 'outerHTML', 'wrong');
         wrong(Element.prototype, 'localName', 'script');
         wrong(Element.prototype, 'attributes', []);
         wrong(Element.prototype, 'children', []);
         wrong(Node.prototype, 'firstChild', null);
         wrong(Node.prototype, 'nextSibling', null);
         wrong(Node.prototype, 'nodeType', 8);
         wrong(Document.prototype, 'title', 'wrong');
         wrong(CharacterData.prototype, 'data', 'wrong');",
    ),
    (
        "what finds elements",
        "for (const name of ['querySelector', 'querySelectorAll', 'getElementsByTagName']) {
           Document.prototype[name] = () => [];
           Element.prototype[name] = () => [];
         }
         for (const name of ['matches', 'closest', 'checkVisibility', 'getBoundingClientRect']) {
           Element.prototype[name] = () => null;
         }
         window.getComputedStyle = () => ({});",
    ),
    (
        "what all objects inherit",
        "for (const name of ['get', 'set', 'value', 'writable', 'notes', 'linked', 'capture']) {
           Object.defineProperty(Object.prototype, name, {
             configurable: true, enumerable: false, get() { return undefined; }, set() {},
           });
         }",
    ),
    (
        "listeners",
        "EventTarget.prototype.addEventListener = () => {};
         EventTarget.prototype.dispatchEvent = () => false;",
    ),
];

/// Pages that may deceive the agent: the crawl says so.
const DECEIVING: &[(&str, &str)] = &[
    (
        "an iterator that stays",
        "Object.defineProperty(Array.prototype, Symbol.iterator, {
           value: function* () {}, configurable: false, writable: false,
         });",
    ),
    (
        "a tree that says nothing, and stays",
        "Object.defineProperty(Element.prototype, 'outerHTML', { get: () => '', configurable: false });",
    ),
    ("addresses", "window.URL = class { hostname = 'elsewhere'; origin = 'elsewhere'; };"),
    ("patterns", "RegExp.prototype.exec = () => null;"),
];

#[test]
fn pages_that_replace_built_in_functions_give_the_right_model() {
    for (what, trick) in HARMLESS {
        let crawled = Crawled::page(RING.replace("TRICK", trick));
        let summary = crawled.summary();
        assert_eq!(crawled.counts(), (4, 8), "{what}: {summary:?}");
        assert!(summary.complete, "{what}: {summary:?}");
    }
}

#[test]
fn pages_that_may_have_deceived_the_agent_are_reported() {
    for (what, trick) in DECEIVING {
        let crawled = Crawled::page(RING.replace("TRICK", trick));
        assert!(crawled.has_complained(), "{what}: {:?}", crawled.summary);
        if let Ok(summary) = &crawled.summary {
            assert!(!summary.doubts.tampered.is_empty(), "{what}: {summary:?}");
            let is_noted = |fact: &Fact| matches!(fact, Fact::Transition { notes, .. } if notes.contains(&Note::Tampered));
            assert!(
                summary.progress.transitions == 0 || crawled.facts.iter().any(is_noted),
                "{what}: no transition has a note"
            );
        }
    }
}

#[test]
fn a_page_that_looks_for_the_agent_changes_nothing() {
    // It finds whatever a window of a frame without a script does not have, and attacks it.
    let trick = r"
      const attack = (owner, key, deep) => {
        const value = owner[key];
        try { owner[key] = () => 'mine'; } catch {}
        try { delete owner[key]; } catch {}
        try { Object.defineProperty(owner, key, { value: () => 'mine' }); } catch {}
        if (typeof value !== 'function' && typeof value !== 'object') return;
        for (const guess of [undefined, '', 'key', key, 0, true, null]) {
          let got;
          try { got = value(guess); } catch {}
          if (got && deep) for (const name of Reflect.ownKeys(got)) attack(got, name, false);
        }
        for (const name of Reflect.ownKeys(value)) attack(value, name, false);
      };
      const known = new Set('text next back at words shown attack known'.split(' '));
      for (const key of Object.getOwnPropertyNames(window)) {
        const property = Object.getOwnPropertyDescriptor(window, key);
        if (!property.configurable && !property.writable && !known.has(key) && !/^[A-Z]/.test(key)
            && !['window', 'document', 'location', 'top', 'undefined'].includes(key)) {
          attack(window, key, true);
        }
      }";
    let crawled = Crawled::page(RING.replace("TRICK", trick));
    assert_eq!(crawled.counts(), (4, 8));
    assert!(crawled.summary().complete, "{:?}", crawled.summary());
}

#[test]
fn a_page_of_two_hundred_thousand_elements_is_cut_and_said_to_be() {
    let trick = "document.body.insertAdjacentHTML('beforeend', '<i></i>'.repeat(200000));";
    let crawled = Crawled::page(RING.replace("TRICK", trick));
    // A machine that is too slow for it says that the page cannot be loaded.
    assert!(crawled.has_complained(), "{:?}", crawled.summary);
    if let Ok(summary) = &crawled.summary {
        assert!(summary.doubts.truncated, "{summary:?}");
        assert!(summary.failed() > 0 || crawled.counts() == (4, 8), "{summary:?}");
    }
}

#[test]
fn seventy_megabytes_of_text_are_cut_and_said_to_be() {
    // Hidden: the browser itself takes minutes to break so much text into lines.
    let trick = "const long = document.createElement('p'); long.hidden = true;
                 long.append('lorem ipsum '.repeat(70 * 1024 * 1024 / 12));
                 document.body.append(long);";
    let crawled = Crawled::page(RING.replace("TRICK", trick));
    assert!(crawled.has_complained(), "{:?}", crawled.summary);
    if let Ok(summary) = &crawled.summary {
        assert!(summary.doubts.truncated, "{summary:?}");
        assert!(summary.failed() > 0 || crawled.counts() == (4, 8), "{summary:?}");
    }
}

#[test]
fn a_million_listeners_take_little_time() {
    // The browser itself compares each with all others of one target and one type.
    let trick = "for (let i = 0; i < 10000; i++) {
                   for (let k = 0; k < 100; k++) text.addEventListener('x' + i, () => {});
                 }
                 for (let i = 0; i < 2000; i++) window.addEventListener('click', () => {});";
    let crawled = Crawled::page(RING.replace("TRICK", trick));
    if !crawled.has_complained() {
        assert_eq!(crawled.counts(), (4, 8));
    }
    assert!(crawled.took < Duration::from_secs(120), "{:?}", crawled.took);
}

#[test]
fn a_page_that_navigates_to_itself_without_end_cannot_be_crawled() {
    let count = Arc::new(AtomicUsize::new(0));
    let served = Served::start({
        let count = count.clone();
        move |_| {
            let next = count.fetch_add(1, Ordering::Relaxed);
            Answer::page(format!("<p>page</p><script>location.href = '?{next}'</script>"))
        }
    });
    let settings = CrawlSettings { settle_ms: 1_000, ..CrawlSettings::new(served.url("")) };
    let crawled = Crawled::of(&settings);
    assert!(crawled.has_complained(), "{:?}", crawled.summary);
    assert!(crawled.took < Duration::from_secs(60), "{:?}", crawled.took);
}

#[test]
fn an_action_that_leads_to_endless_navigation_is_given_up_and_the_rest_is_crawled() {
    let count = Arc::new(AtomicUsize::new(0));
    let served = Served::start(move |path| {
        if path.starts_with("/spin") {
            let next = count.fetch_add(1, Ordering::Relaxed);
            return Answer::page(format!(
                "<p>spin</p><script>location.href = '/spin?{next}'</script>"
            ));
        }
        let button = "const spin = document.createElement('button'); spin.textContent = 'spin';
                      spin.onclick = () => { location.href = '/spin'; }; document.body.append(spin);";
        Answer::page(RING.replace("TRICK", button))
    });
    let settings = CrawlSettings { settle_ms: 1_000, ..CrawlSettings::new(served.url("")) };
    let crawled = Crawled::of(&settings);
    assert!(crawled.has_complained(), "{:?}", crawled.summary);
    let summary = crawled.summary();
    assert!(summary.progress.states >= 4 && summary.progress.transitions >= 8, "{summary:?}");
    assert!(summary.failed() > 0, "{summary:?}");
}

#[test]
fn a_storm_of_popups_opens_one_window_of_the_application_and_none_elsewhere() {
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let elsewhere = Served::start({
        let asked = asked.clone();
        move |path| {
            asked.lock().unwrap().insert(path.to_owned());
            Answer::page("<p>elsewhere</p>")
        }
    });
    let storm = format!(
        "const storm = document.createElement('button'); storm.textContent = 'storm';
         storm.onclick = () => {{
           for (let i = 0; i < 1000; i++) {{
             window.open('{}' + i); window.open('about:blank', 'w' + i);
             const link = Object.assign(document.createElement('a'), {{ href: '{0}l' + i, target: '_blank' }});
             link.click();
           }}
         }};
         document.body.append(storm);
         setInterval(() => window.open('{0}timer'), 10);",
        elsewhere.url("")
    );
    let crawled = Crawled::page(RING.replace("TRICK", &storm));
    assert_eq!(crawled.counts(), (4, 12), "{:?}", crawled.summary());
    assert_eq!(*asked.lock().unwrap(), BTreeSet::new(), "the crawl has left its scope");
    let most = |fact: &Fact| match fact {
        Fact::Transition { notes, .. } => notes.len(),
        _ => 0,
    };
    let most = crawled.facts.iter().map(most).max();
    assert!(most.is_some_and(|most| most > 0 && most <= 200), "{most:?} notes");
}

#[test]
fn a_service_worker_that_answers_with_other_pages_does_not_outlive_a_reset() {
    let served = Served::start(|path| {
        if path.starts_with("/worker.js") {
            let worker = "self.addEventListener('install', () => self.skipWaiting());
                          self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
                          self.addEventListener('fetch', (event) => event.respondWith(
                            new Response('<p>hijacked</p><button>' + Math.random() + '</button>',
                              { headers: { 'content-type': 'text/html' } })));";
            return Answer::of_type("text/javascript", worker);
        }
        Answer::page(RING.replace("TRICK", "navigator.serviceWorker.register('/worker.js');"))
    });
    let crawled = Crawled::of(&CrawlSettings::new(served.url("")));
    assert_eq!(crawled.counts(), (4, 8), "{:?}", crawled.summary());
    assert!(crawled.summary().complete, "{:?}", crawled.summary());
}
