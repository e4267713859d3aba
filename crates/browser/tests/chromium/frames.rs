//! Frames are made to order, and tabs order them without regard to each other.

use std::sync::Arc;

use argiope_browser::Browser;
use argiope_browser::agent::AgentSettings;
use argiope_browser::tab::Tab;

use crate::real::{Place, settings};

/// A page that has something new in every frame.
const RESTLESS: &str = "data:text/html,<p>restless<script>\
    let n = 0; new MutationObserver(() => {}).observe(document, {childList: true, subtree: true});\
    new ResizeObserver(() => document.body.append(n++)).observe(document.querySelector('p'));</script>";

fn agent() -> AgentSettings {
    AgentSettings {
        secret: "frames".to_owned(),
        origin: "data:".to_owned(),
        site: String::new(),
        seed: 1,
        horizon: 5_000,
        cap: 10_000,
        freeze: None,
        ignore: String::new(),
        masks: Vec::new(),
        endless: Vec::new(),
    }
}

async fn many_frames(browser: Arc<Browser>) {
    let mut tab = Tab::open(browser, agent()).await.unwrap();
    for _ in 0..20 {
        assert!(tab.load(RESTLESS).await.unwrap().settled);
        let picture = tab.screenshot().await.unwrap();
        assert!(picture.starts_with(b"\x89PNG"));
    }
}

#[tokio::test]
async fn tabs_may_order_frames_at_the_same_time() {
    let place = Place::new("frames");
    let browser = Arc::new(Browser::launch(&settings(&place.0)).await.unwrap());
    tokio::join!(many_frames(browser.clone()), many_frames(browser.clone()), many_frames(browser.clone()));
    assert!(browser.connection().closed().is_none());
}
