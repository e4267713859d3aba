//! Checks the selectors of `--ignore`, `--avoid` and `--logged-in` in the browser that will use
//! them.

use std::time::Duration;

use argiope_browser::cdp::Evaluate;
use argiope_browser::{Browser, CallError};
use argiope_explore::quoted::Quoted;
use serde_json::json;

use crate::settings::CrawlSettings;

/// A browser that does not answer within this time is gone.
const ANSWER: Duration = Duration::from_secs(10);

/// Why selectors cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SelectorError {
    /// It is not a selector.
    #[error("{} is not a CSS selector", Quoted(.0))]
    Invalid(String),
    /// The browser does not answer.
    #[error("the browser does not answer: {0}")]
    Mute(#[from] CallError),
}

/// Checks all selectors of a crawl. A sentence says which is wrong.
pub async fn check_all(browser: &Browser, settings: &CrawlSettings) -> Result<(), String> {
    let ignored = check(browser, &settings.ignore).await;
    ignored.map_err(|error| format!("--ignore: {error}"))?;
    let avoided = check(browser, &settings.avoid_selectors).await;
    avoided.map_err(|error| format!("--avoid: {error}"))?;
    let logged_in = check(browser, settings.login.logged_in.as_slice()).await;
    logged_in.map_err(|error| format!("--logged-in: {error}"))
}

/// Checks each selector by itself: joined by commas, two mistakes could cancel out.
pub async fn check(browser: &Browser, selectors: &[String]) -> Result<(), SelectorError> {
    if selectors.is_empty() {
        return Ok(());
    }
    let tab = browser.new_tab(true).await?;
    for selector in selectors {
        let expression = format!("document.documentElement.matches({})", json!(selector));
        let evaluate = Evaluate { silent: true, ..Evaluate::new(&expression) };
        let reply = browser.connection.call(Some(&tab.session), &evaluate);
        if reply.within(ANSWER).await?.exception()?.is_some() {
            return Err(SelectorError::Invalid(selector.clone()));
        }
    }
    browser.close_context(&tab.context).within(ANSWER).await?;
    Ok(())
}
