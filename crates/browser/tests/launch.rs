//! A real browser is started, spoken to and ended.

mod real;

use argiope_browser::Browser;
use serde_json::{Value, json};

#[tokio::test]
async fn a_launched_browser_evaluates() {
    let browser = Browser::launch(&real::settings()).await.unwrap();
    let tab = browser.new_tab_session().await.unwrap();
    let answer: Value = browser
        .connection()
        .call_as(Some(&tab.session), "Runtime.evaluate", &json!({"expression": "1 + 1"}))
        .await
        .unwrap();
    assert_eq!(answer["result"]["value"], 2);
    browser.close().await;
}
