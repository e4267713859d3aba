//! A tab between a page and the network: connections that fail, documents that are left.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use argiope_browser::Browser;
use argiope_browser::agent::{AgentSettings, PathStep, Raw};
use argiope_browser::browser::OpenedTab;
use argiope_browser::note::Noted;
use argiope_browser::tab::{Tab, TabError};
use argiope_explore::page::Kind;
use serde_json::json;

use crate::real::{Place, settings};
use crate::socket;

const ASKS: &str = "<!doctype html><title>asks</title><button>nothing</button><script>
    const button = document.querySelector('button');
    button.onclick = async () => { await fetch('/answer'); button.textContent = 'answered'; };
</script>";

const FORM: &str = "<!doctype html><title>form</title><form method=post action=/elsewhere>
    <input name=size value=3><button name=colour value=red formaction=/sent>send</button></form>";

/// The same sent by a script, without a button.
const SCRIPT: &str =
    "<!doctype html><title>script</title><form method=post action=/sent><input name=size value=3></form>
    <button onclick='document.forms[0].submit()'>send</button>";

/// The first click opens a dialog, the second changes the page, the third begins a slow request.
const COUNTS: &str = "<!doctype html><title>counts</title><button>0</button><script>
    const button = document.querySelector('button');
    button.onclick = () => {
        button.textContent = Number(button.textContent) + 1;
        if (button.textContent === '1') alert('one');
        if (button.textContent === '3') fetch('/slow');
    };
</script>";

/// Waits for an answer that takes longer than the test gives it.
const POLLS: &str = "<!doctype html><title>polls</title><p>text</p><script>fetch('/slow')</script>";

/// Serves one page, and at other addresses a page that echoes the request, until the test ends.
pub fn serve(page: &'static str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(&stream, page));
        }
    });
    url
}

fn answer(stream: &TcpStream, page: &str) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    // A browser may close the connection early.
    let _ = reader.read_line(&mut first);
    let mut key = None;
    for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("sec-websocket-key")
        {
            key = Some(value.to_owned());
        }
        if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
    }
    if let Some(key) = key {
        return socket::echo(reader, &key);
    }
    if first.starts_with("GET /events") {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
        thread::sleep(Duration::from_millis(60));
        let _ = write!(&*stream, "{head}\r\n\r\ndata: one\n\n");
        return thread::sleep(Duration::from_secs(3));
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let asked = format!("{}: {}", first.trim_end(), String::from_utf8_lossy(&body));
    if first.starts_with("GET /slow") {
        thread::sleep(Duration::from_secs(3));
    }
    let said = if first.starts_with("GET / ") { page } else { &asked };
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html";
    let _ = write!(&*stream, "{head}\r\ncontent-length: {}\r\n\r\n{said}", said.len());
}

async fn open(place: &Place, url: &str) -> (Arc<Browser>, OpenedTab, Tab) {
    let browser = Arc::new(Browser::launch(&settings(&place.0)).await.unwrap());
    let opened = browser.new_tab(true).await.unwrap();
    let agent = AgentSettings::new("secret", url, "127.0.0.1");
    let tab = Tab::within(browser.clone(), opened.clone(), agent).await.unwrap();
    (browser, opened, tab)
}

/// A click on the page's button.
pub async fn click(tab: &mut Tab) -> PathStep {
    let offers = tab.look().await.unwrap().page.offers;
    let button = offers.into_iter().find(|offer| offer.kind == Kind::Click).unwrap();
    PathStep {
        kind: Kind::Click,
        place: button.place,
        argument: String::new(),
        number: None,
        trusted: false,
        expect: None,
        first: false,
    }
}

#[tokio::test]
async fn a_page_without_a_network_is_not_mistaken_for_the_application() {
    let place = Place::new("offline");
    let url = serve(ASKS);
    let (browser, opened, mut tab) = open(&place, &url).await;
    let network = async |offline: bool| {
        let conditions = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        for (method, parameters) in
            [("Network.enable", json!({})), ("Network.emulateNetworkConditions", conditions)]
        {
            let session = Some(&opened.session);
            let reply = browser.connection.call_method(session, method, &parameters, |_| Ok(()));
            reply.within(Duration::from_secs(20)).await.unwrap();
        }
    };

    let before = tab.load(&url).await.unwrap();
    let click = click(&mut tab).await;
    network(true).await;
    assert_eq!(tab.run(std::slice::from_ref(&click)).await.unwrap_err(), TabError::Disturbed);
    assert_eq!(tab.load(&url).await.unwrap_err(), TabError::Disturbed);
    network(false).await;
    assert_eq!(tab.load(&url).await.unwrap().raw, before.raw);
    assert_ne!(tab.run(&[click]).await.unwrap().raw, before.raw);
}

/// The first navigation is held until argiope watches, and then repeated.
#[tokio::test]
async fn a_form_is_sent_the_first_time_as_it_is_the_second() {
    sent_twice("form", FORM, "POST /sent HTTP/1.1: size=3&amp;colour=red").await;
}

#[tokio::test]
async fn a_form_that_a_script_sends_is_sent_the_first_time_as_it_is_the_second() {
    sent_twice("script", SCRIPT, "POST /sent HTTP/1.1: size=3").await;
}

async fn sent_twice(name: &str, page: &'static str, expected: &str) {
    let place = Place::new(name);
    let url = serve(page);
    let (_browser, _, mut tab) = open(&place, &url).await;
    let mut sent = Vec::new();
    // How soon the page is replaced differs.
    for _ in 0..10 {
        tab.load(&url).await.unwrap();
        let click = click(&mut tab).await;
        let arrival = tab.run(&[click]).await.unwrap();
        sent.push((arrival.done, arrival.notes, tab.look().await.unwrap().source));
    }
    assert!(sent[0].2.contains(expected), "{}", sent[0].2);
    assert_eq!(sent[0].1, [Noted::Route(format!("{url}/sent"))]);
    sent.dedup();
    assert_eq!(sent.len(), 1, "{sent:?}");
}

/// The pages that clicks lead to, one at a time.
async fn raws(tab: &mut Tab, url: &str, step: &PathStep, many: usize) -> Vec<Raw> {
    tab.load(url).await.unwrap();
    let mut raws = Vec::new();
    for _ in 0..many {
        raws.push(tab.run(std::slice::from_ref(step)).await.unwrap().raw);
    }
    raws
}

#[tokio::test]
async fn the_notes_of_a_first_time_step_belong_to_that_step() {
    let place = Place::new("counts");
    let url = serve(COUNTS);
    let (_browser, _, mut tab) = open(&place, &url).await;
    tab.load(&url).await.unwrap();
    let click = click(&mut tab).await;
    let raws = raws(&mut tab, &url, &click, 2).await;
    let step =
        |at: usize, first| PathStep { expect: raws.get(at).copied(), first, ..click.clone() };

    tab.load(&url).await.unwrap();
    let known = tab.run(&[step(0, false), step(1, false)]).await.unwrap();
    assert_eq!(
        (known.done, known.notes.len(), known.passed.len()),
        (2, 0, 0),
        "known steps have no notes"
    );

    tab.load(&url).await.unwrap();
    let arrival = tab.run(&[step(0, true), step(1, true)]).await.unwrap();
    assert_eq!((arrival.done, arrival.raw), (2, raws[1]));
    let asked = Noted::Dialog("alert".to_owned(), "one".to_owned());
    assert_eq!((arrival.passed, arrival.notes), (vec![vec![asked]], Vec::new()));
}

#[tokio::test]
async fn steps_that_take_long_do_not_share_a_call() {
    let place = Place::new("slow");
    let url = serve(COUNTS);
    let (_browser, _, mut tab) = open(&place, &url).await;
    tab.load(&url).await.unwrap();
    let click = click(&mut tab).await;
    let raws = raws(&mut tab, &url, &click, 4).await;
    let steps: Vec<PathStep> = raws
        .iter()
        .map(|&raw| PathStep { expect: Some(raw), first: true, ..click.clone() })
        .collect();
    tab.load(&url).await.unwrap();
    assert_eq!(tab.run(&steps).await.unwrap().done, 3);
    assert_eq!(tab.run(&steps[3..]).await.unwrap().raw, raws[3]);
}

#[tokio::test]
async fn no_document_and_no_tab_waits_for_an_address_that_is_known_to_be_endless() {
    let place = Place::new("polls");
    let url = serve(POLLS);
    let browser = Arc::new(Browser::launch(&settings(&place.0)).await.unwrap());
    let agent = AgentSettings { cap: 500, ..AgentSettings::new("secret", &url, "127.0.0.1") };
    let mut tab = Tab::open(browser.clone(), agent.clone()).await.unwrap();
    assert!(!tab.load(&url).await.unwrap().settled);
    assert_eq!(tab.endless(), [format!("{url}/slow")]);
    assert!(tab.load(&url).await.unwrap().settled, "after a reload it is still known");

    let mut other = Tab::open(browser, agent).await.unwrap();
    let learned = tab.endless().to_vec();
    other.learn_endless(&learned).await.unwrap();
    assert!(other.load(&url).await.unwrap().settled, "another tab was told");
    let many: Vec<String> = (0..300).map(|at| format!("{url}/{at}")).collect();
    other.learn_endless(&many).await.unwrap();
    other.learn_endless(&["x".repeat(2000)]).await.unwrap();
    assert_eq!(other.endless().len(), 100, "a page may make up addresses");
}
