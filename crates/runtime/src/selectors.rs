//! Whether selectors that a person gave can be understood, asked of the browser that will use them.

use std::time::Duration;

use argiope_browser::cdp::Evaluate;
use argiope_browser::{Browser, CallError};
use argiope_explore::quoted::Quoted;
use serde_json::json;

/// A question about a selector takes no time; a browser that does not answer is gone.
const ANSWER: Duration = Duration::from_secs(10);

/// Why selectors cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SelectorError {
    /// It means nothing.
    #[error("{} is not a CSS selector", Quoted(.0))]
    Invalid(String),
    /// The browser did not say.
    #[error("the browser does not answer: {0}")]
    Mute(#[from] CallError),
}

/// Checks each selector by itself, since a comma between two may hide a mistake.
pub async fn check(browser: &Browser, selectors: &[String]) -> Result<(), SelectorError> {
    if selectors.is_empty() {
        return Ok(());
    }
    let tab = browser.new_tab_session().await?;
    for selector in selectors {
        let expression = format!("document.documentElement.matches({})", json!(selector));
        let evaluate = Evaluate { silent: true, ..Evaluate::new(&expression) };
        let reply = browser.connection().call(Some(&tab.session), &evaluate);
        if reply.within(ANSWER).await?.has_thrown()? {
            return Err(SelectorError::Invalid(selector.clone()));
        }
    }
    browser.close_context(&tab.context).await?;
    Ok(())
}
