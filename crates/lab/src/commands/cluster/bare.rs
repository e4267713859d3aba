//! What the browsers of many crawlers do without any crawler: each has one page, whose script clicks its own switches. No
//! crawler with such a browser can be faster.

use std::time::{Duration, Instant};

use argiope_browser::{Browser, CallError, LaunchSettings, OpenedTab};
use serde::Deserialize;
use serde_json::json;

use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::{browser, output};

use crate::machine;

/// So long they click.
const TIME: Duration = Duration::from_secs(10);
/// So long a page may take to answer besides.
const PATIENCE: Duration = Duration::from_secs(30);

/// Clicks one switch after the other, each as soon as the one before has done what it does; how many there were.
const CLICKS: &str = "async (milliseconds) => {
  const [buttons, shown] = [document.querySelectorAll('button'), document.getElementById('on')];
  const until = performance.now() + milliseconds;
  let clicks = 0;
  while (performance.now() < until) {
    const changed = new Promise((resolve) => {
      const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
      observer.observe(shown, { childList: true });
    });
    buttons[clicks++ % buttons.length].click();
    await changed;
  }
  return clicks;
}";

/// With so many browsers at a time.
pub fn run(pages: &[u32], url: &str) -> Result<(), CommandFailure> {
    output::print(
        "The same browsers without a crawler, their pages click by themselves:\n\
         browsers  clicks/s  speed-up  per browser  cores busy  processor time of a click\n",
    )?;
    let mut one: Option<f64> = None;
    for &many in pages {
        let (clicks, took, busy) = block_on(click(url, many))??;
        let speed = clicks as f64 / took.as_secs_f64();
        let speedup = speed / *one.get_or_insert(speed / f64::from(pages[0]));
        output::print(&format!(
            "{many:>8}{speed:>10.1}{speedup:>10.2}{:>13.2}{:>12.2}{:>24.1} ms\n",
            speedup / f64::from(many),
            busy / took.as_secs_f64(),
            busy * 1e3 / clicks as f64,
        ))?;
    }
    output::print("\n")
}

/// How many clicks there were, how long that took, and the seconds that cores were busy meanwhile, on the whole machine.
async fn click(url: &str, pages: u32) -> Result<(u64, Duration, f64), CommandFailure> {
    #[derive(Deserialize)]
    struct Evaluated {
        result: Counted,
    }
    #[derive(Deserialize)]
    struct Counted {
        value: u64,
    }
    let failed = |error: CallError| CommandFailure::Failed(format!("the browser failed: {error}"));
    let executable = browser::find(None)?;
    let mut browsers = Vec::new();
    for _ in 0..pages {
        let settings = LaunchSettings::new(executable.clone(), std::env::temp_dir());
        let browser = Browser::launch(&settings).await;
        let browser = browser.map_err(|error| CommandFailure::Failed(error.to_string()))?;
        let opened = browser.new_tab(false).await.map_err(failed)?;
        load(&browser, &opened, url).await.map_err(failed)?;
        browsers.push((browser, opened));
    }
    let (started, busy) = (Instant::now(), machine::busy_seconds());
    let clicks = format!("({CLICKS})({})", TIME.as_millis());
    let wanted = json!({"expression": clicks, "awaitPromise": true, "returnByValue": true});
    let calls = browsers.iter().map(|(browser, opened)| {
        browser.connection().call(Some(&opened.session), "Runtime.evaluate", &wanted)
    });
    let mut all = 0;
    for call in calls.collect::<Vec<_>>() {
        let counted: Evaluated = call.read_within(TIME + PATIENCE).await.map_err(failed)?;
        all += counted.result.value;
    }
    let measured = (all, started.elapsed(), machine::busy_seconds() - busy);
    for (browser, _) in browsers {
        browser.close().await;
    }
    Ok(measured)
}

/// Loads the page, and waits until its switches are there.
async fn load(browser: &Browser, opened: &OpenedTab, url: &str) -> Result<(), CallError> {
    let (connection, session) = (browser.connection(), Some(&opened.session));
    connection.call(session, "Page.navigate", &json!({"url": url})).within(PATIENCE).await?;
    let loaded = "new Promise((resolve) => document.readyState === 'complete' ? resolve() : addEventListener('load', resolve))";
    let wanted = json!({"expression": loaded, "awaitPromise": true});
    connection.call(session, "Runtime.evaluate", &wanted).within(PATIENCE).await?;
    Ok(())
}
