//! The same seed with one tab gives the same states in the same order, whatever the load of the
//! machine and the delays of the network.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use argiope_controller::journal::Fact;
use argiope_explore::id::StateKey;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;

use crate::real::{Place, records, run};
use crate::served::{Answer, Served};

/// Three hundred numbers, and four ways from each. An action asks the server for three things at
/// once, whose answers come in any order, and appends each as it arrives. Rows slide in, ids are
/// made up, and a tip is drawn, so that the states depend on the numbers drawn before.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>wheel</title>
<style>
  li { transition: opacity 80ms; opacity: 1; }
  li.new { opacity: 0.2; }
</style>
<h1 id="number">0</h1>
<p id="tip"></p>
<ul id="rows"></ul>
<p id="ways"></p>
<script>
  const at = (id) => document.getElementById(id);
  let number = 0;
  function add(text) {
    const row = document.createElement('li');
    row.id = crypto.randomUUID();
    row.className = 'new';
    row.textContent = text;
    at('rows').append(row);
    row.addEventListener('transitionend', () => { row.title = 'shown'; }, { once: true });
    requestAnimationFrame(() => { row.className = ''; });
  }
  function request(address) {
    const request = new XMLHttpRequest();
    request.onload = () => add(request.responseText);
    request.open('GET', address);
    request.send();
  }
  function go(to) {
    number = to % 300;
    at('number').textContent = number;
    at('tip').textContent = ['knit', 'sew', 'weave'][Math.floor(Math.random() * 3)];
    at('rows').replaceChildren();
    fetch(`part?a=${number}`).then((answer) => answer.text()).then(add);
    request(`part?b=${number}`);
    fetch(`part?c=${number}`).then((answer) => answer.text()).then(add);
    setTimeout(() => add(`later ${number}`), 40);
    const ways = [['one', number + 1], ['seven', number + 7], ['twice', 2 * number], ['back', number + 299]];
    at('ways').replaceChildren(...ways.map(([name, to]) => {
      const button = document.createElement('button');
      button.textContent = name;
      button.addEventListener('click', () => go(to));
      return button;
    }));
  }
  go(1);
</script>
</html>
"#;

/// A random number: the standard library seeds every hasher anew.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn serve() -> Served {
    Served::start(|path| match path.strip_prefix("/part?") {
        Some(part) => {
            thread::sleep(Duration::from_millis(chance() % 12));
            Answer::of_type("text/plain", part)
        }
        None => Answer::page(PAGE),
    })
}

/// The facts of a crawl in their order, and the texts of its states.
struct Journal {
    facts: Vec<Fact>,
    texts: BTreeMap<StateKey, String>,
}

impl Journal {
    fn read(directory: &Path) -> Self {
        let store = Store::read(directory).unwrap();
        let text = |key| {
            let page = store.page(store.detail(key).unwrap()?.page).unwrap()?;
            let texts = page.nodes.iter().map(|node| node.text.trim());
            Some(texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" | "))
        };
        let keys = store.states().unwrap().map(|state| state.unwrap().0);
        let texts = keys.filter_map(|key| Some((key, text(key)?))).collect();
        Self { facts: records(directory), texts }
    }

    fn states(&self) -> Vec<StateKey> {
        let key = |fact: &Fact| match fact {
            Fact::State { key, .. } => Some(*key),
            _ => None,
        };
        self.facts.iter().filter_map(key).collect()
    }

    /// A fact, and what its state shows.
    fn shown(&self, at: usize) -> String {
        let fact = &self.facts[at];
        match fact {
            Fact::State { key, .. } => format!("{key:?} {:?}", self.texts.get(key)),
            other => format!("{other:?}"),
        }
    }
}

/// Crawls while some threads are busy.
fn crawled(settings: &CrawlSettings, busy: usize) -> Journal {
    let place = Place::new();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let ended = run(settings, &place.path("run"));
        over.store(true, Ordering::Relaxed);
        ended.unwrap();
    });
    Journal::read(&place.path("run"))
}

fn settings(served: &Served) -> CrawlSettings {
    CrawlSettings { max_actions: Some(120), ..CrawlSettings::new(served.url("")) }
}

#[test]
fn two_crawls_with_one_tab_and_one_seed_record_the_same_facts_in_the_same_order() {
    let served = serve();
    let settings = settings(&served);
    let quiet = crawled(&settings, 0);
    let loaded = crawled(&settings, 3);
    let states = quiet.states().len();
    assert!(states > 40, "only {states} states");
    let mut both = quiet.facts.iter().zip(&loaded.facts);
    if let Some(at) = both.position(|(one, other)| one != other) {
        panic!("fact {at}: {} and {}", quiet.shown(at), loaded.shown(at));
    }
    assert_eq!(quiet.facts.len(), loaded.facts.len());
}

#[test]
fn another_seed_or_real_chance_draws_other_numbers() {
    let served = serve();
    let few = CrawlSettings { max_actions: Some(30), ..settings(&served) };
    let states = |settings: &CrawlSettings| crawled(settings, 0).states();
    let usual = states(&few);
    assert_ne!(usual, states(&CrawlSettings { seed: 2, ..few.clone() }));
    assert_ne!(usual, states(&CrawlSettings { real_random: true, ..few.clone() }));
}

/// Each button asks a worker for a number: one of a file, and one whose address is random.
const WORKERS: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>workers</title>
<p id="file">nothing</p>
<p id="blob">nothing</p>
<button onclick="ask('file', 'draw.js')">ask the file</button>
<button onclick="ask('blob', made)">ask the blob</button>
<script>
  const code = 'onmessage = () => postMessage(`${Math.random()} ${crypto.randomUUID()}`);';
  const made = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  function ask(name, address) {
    const worker = new Worker(address);
    worker.onmessage = (event) => { document.getElementById(name).textContent = event.data; };
    worker.postMessage('draw');
  }
</script>
</html>
"#;

#[test]
fn workers_draw_the_same_numbers_in_every_crawl() {
    let served = Served::start(|path| match path {
        "/draw.js" => {
            let code = "onmessage = () => postMessage(`${Math.random()} ${crypto.randomUUID()}`);";
            Answer::of_type("text/javascript", code)
        }
        _ => Answer::page(WORKERS),
    });
    let settings = CrawlSettings { max_actions: Some(20), ..CrawlSettings::new(served.url("")) };
    let drawn = |settings: &CrawlSettings| {
        let texts = crawled(settings, 0).texts.into_values().collect::<Vec<_>>().join(" | ");
        let drawn = texts.split(" | ").filter(|text| text.starts_with("0."));
        drawn.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let usual = drawn(&settings);
    assert_eq!(usual.len(), 2, "each worker draws: {usual:?}");
    assert_eq!(usual, drawn(&settings));
    assert!(usual.is_disjoint(&drawn(&CrawlSettings { seed: 2, ..settings })));
}
