//! Browsers without a crawler: a script in each page clicks its own switches. No crawler with such
//! a browser can be faster.

use std::time::{Duration, Instant};

use argiope_browser::cdp::{Evaluate, Navigate};
use argiope_browser::{Browser, CallError, LaunchSettings, OpenedTab};

use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::{browser, output};

use crate::machine;

/// The time that pages click.
const TIME: Duration = Duration::from_secs(10);
/// The time that a page may take to answer beyond that.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Clicks the switches in turn, each as soon as the last click took effect. Returns the clicks.
const CLICK_LOOP: &str = "async (milliseconds) => {
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

/// Measures each number of browsers at once.
pub fn run(pages: &[u32], url: &str) -> Result<(), CommandFailure> {
    output::print(
        "The same browsers without a crawler; a script in each page clicks:\n\
         browsers  clicks/s  speed-up  per browser  cores busy  CPU time per click\n",
    )?;
    let mut one: Option<f64> = None;
    for &many in pages {
        let (clicks, took, busy) = block_on(click(url, many))??;
        let speed = clicks as f64 / took.as_secs_f64();
        let speedup = speed / *one.get_or_insert(speed / f64::from(pages[0]));
        output::print(&format!(
            "{many:>8}{speed:>10.1}{speedup:>10.2}{:>13.2}{:>12.2}{:>17.1} ms\n",
            speedup / f64::from(many),
            busy / took.as_secs_f64(),
            busy * 1e3 / clicks as f64,
        ))?;
    }
    output::print("\n")
}

/// Returns the clicks, the time taken, and the busy seconds of all cores.
async fn click(url: &str, pages: u32) -> Result<(u64, Duration, f64), CommandFailure> {
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
    let clicks = format!("({CLICK_LOOP})({})", TIME.as_millis());
    let calls = browsers.iter().map(|(browser, opened)| {
        browser.connection.call(Some(&opened.session), &Evaluate::value(&clicks))
    });
    let mut all = 0;
    for call in calls.collect::<Vec<_>>() {
        let counted = call.within(TIME + TIMEOUT).await.map_err(failed)?;
        all += counted.value::<u64>().map_err(failed)?.unwrap_or_default();
    }
    let measured = (all, started.elapsed(), machine::busy_seconds() - busy);
    for (browser, _) in browsers {
        browser.close().await;
    }
    Ok(measured)
}

/// Loads the page and waits until its switches exist.
async fn load(browser: &Browser, opened: &OpenedTab, url: &str) -> Result<(), CallError> {
    let (connection, session) = (&browser.connection, Some(&opened.session));
    connection.call(session, &Navigate { url }).within(TIMEOUT).await?;
    let loaded = "new Promise((resolve) => document.readyState === 'complete' ? resolve() : addEventListener('load', resolve))";
    connection.call(session, &Evaluate::value(loaded)).within(TIMEOUT).await?;
    Ok(())
}
