//! A tab whose network goes away under the page.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use argiope_browser::Browser;
use argiope_browser::agent::{AgentSettings, Step};
use argiope_browser::tab::{Tab, TabError};
use argiope_explore::page::Kind;
use serde_json::json;

use crate::real::{Place, settings};

const PAGE: &str = "<!doctype html><title>asks</title><button>nothing</button><script>
    const button = document.querySelector('button');
    button.onclick = async () => { await fetch('/answer'); button.textContent = 'answered'; };
</script>";

/// Answers everything with the page, as long as the test lives.
fn serve() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let lines = BufReader::new(&stream).lines();
                lines.map_while(Result::ok).find(String::is_empty);
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html";
                let _ = write!(&stream, "{head}\r\ncontent-length: {}\r\n\r\n{PAGE}", PAGE.len());
            });
        }
    });
    url
}

#[tokio::test]
async fn what_a_page_does_without_a_network_is_not_taken_for_the_application() {
    let place = Place::new("offline");
    let browser = Arc::new(Browser::launch(&settings(&place.0)).await.unwrap());
    let opened = browser.new_tab_session().await.unwrap();
    let url = serve();
    let agent = AgentSettings {
        secret: "secret".to_owned(),
        origin: url.clone(),
        site: "127.0.0.1".to_owned(),
        seed: 1,
        horizon: 1_000,
        cap: 10_000,
        freeze: None,
        ignore: String::new(),
        masks: Vec::new(),
        endless: Vec::new(),
        guarded: false,
    };
    let mut tab = Tab::within(browser.clone(), opened.clone(), agent).await.unwrap();
    let network = async |offline: bool| {
        let conditions =
            json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        for (method, parameters) in
            [("Network.enable", json!({})), ("Network.emulateNetworkConditions", conditions)]
        {
            let call = browser.connection().call(Some(&opened.session), method, &parameters);
            call.within(Duration::from_secs(20)).await.unwrap();
        }
    };

    let before = tab.load(&url).await.unwrap();
    let button =
        tab.look().await.unwrap().page.offers.into_iter().find(|offer| offer.kind == Kind::Click).unwrap();
    let click = Step {
        kind: Kind::Click,
        place: button.place,
        argument: String::new(),
        trusted: false,
        expect: None,
    };
    network(true).await;
    assert_eq!(tab.run(std::slice::from_ref(&click)).await.unwrap_err(), TabError::Disturbed);
    assert_eq!(tab.load(&url).await.unwrap_err(), TabError::Disturbed);
    network(false).await;
    assert_eq!(tab.load(&url).await.unwrap().raw, before.raw);
    assert_ne!(tab.run(&[click]).await.unwrap().raw, before.raw);
}
