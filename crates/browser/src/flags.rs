//! The command line of the browser, with the reason for each flag. A pure function of its settings.

use std::ffi::OsString;
use std::path::Path;

/// What the command line depends on.
#[derive(Clone, Debug)]
pub struct FlagSettings<'a> {
    /// Whether the browser is the headless shell, which has no window to hide.
    pub headless_shell: bool,
    /// The profile directory.
    pub profile: &'a Path,
    /// Whether pages run in the sandbox; off only where the browser refuses to start with it.
    pub sandbox: bool,
    /// Width and height of the window in pixels.
    pub window: (u32, u32),
    /// The memory of a page's scripts in megabytes.
    pub script_heap_mb: u32,
    /// Further arguments, which come last and win.
    pub extra: &'a [OsString],
}

/// Turns the sandbox off.
pub const NO_SANDBOX: &str = "--no-sandbox";
const DISABLE_FEATURES: &str = "--disable-features=";

/// The same for every browser.
const ALWAYS: &[&str] = &[
    "--remote-debugging-pipe",
    // No first-run pages, updates, accounts, extensions, questions or sound.
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    // New windows are refused; the page agent notes the attempt.
    "--block-new-web-contents",
    "--disable-breakpad",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    // Tabs in the background are not throttled.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    // Pages look the same on every machine.
    "--force-color-profile=srgb",
    "--lang=en-US",
    "--disable-gpu",
    // A container's /dev/shm is often too small for a page.
    "--disable-dev-shm-usage",
    "--disable-quic",
];

/// Features that make navigations expensive or that a crawl does not need. With this list a
/// navigation of the same tab takes 43 ms of processor time instead of 54 (Chromium 156, a page of
/// 300 elements, a busy machine; `RenderDocument` makes nearly all of the difference).
///
/// Tried and left out:
/// - `--disable-frame-rate-limit`: an animation frame comes after 4 ms instead of 17, but
///   navigations take about twice the processor time;
/// - `--disable-gpu-vsync`, `--num-raster-threads=1`, `--in-process-gpu`: no measurable difference;
/// - `--disable-threaded-compositing`: pages hang;
/// - frames on request: see decision 8. Decision 21 says when a tab makes no frames at all.
const DISABLED: &[&str] = &[
    "RenderDocument",
    "BackForwardCache",
    "PaintHolding",
    "Translate",
    "MediaRouter",
    "OptimizationHints",
];

/// The arguments to start the browser with.
pub fn arguments(settings: &FlagSettings<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    arguments.push(format!("--js-flags=--max-old-space-size={}", settings.script_heap_mb).into());
    arguments.push(format!("--window-size={},{}", settings.window.0, settings.window.1).into());
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(settings.profile);
    arguments.push(profile);
    if !settings.headless_shell {
        arguments.push("--headless=new".into());
    }
    if !settings.sandbox {
        arguments.push(NO_SANDBOX.into());
    }
    // The browser reads only the last list of features, so all lists are joined.
    let mut disabled = OsString::from(DISABLE_FEATURES);
    disabled.push(DISABLED.join(","));
    for argument in settings.extra {
        match argument.to_str().and_then(|text| text.strip_prefix(DISABLE_FEATURES)) {
            Some(features) => disabled.push(format!(",{features}")),
            None => arguments.push(argument.clone()),
        }
    }
    arguments.push(disabled);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(sandbox: bool, headless_shell: bool, extra: &[&str]) -> Vec<String> {
        let extra: Vec<OsString> = extra.iter().map(OsString::from).collect();
        let profile = Path::new("/p");
        let settings = FlagSettings {
            headless_shell,
            profile,
            sandbox,
            window: (800, 600),
            script_heap_mb: 99,
            extra: &extra,
        };
        arguments(&settings).into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn the_sandbox_is_off_only_where_it_cannot_be_on() {
        assert!(!with(true, true, &[]).contains(&NO_SANDBOX.to_owned()));
        assert!(with(false, true, &[]).contains(&NO_SANDBOX.to_owned()));
    }

    #[test]
    fn only_a_browser_with_windows_gets_the_headless_flag() {
        assert!(!with(true, true, &[]).contains(&"--headless=new".to_owned()));
        assert!(with(true, false, &[]).contains(&"--headless=new".to_owned()));
    }

    #[test]
    fn features_that_the_user_disables_join_ours() {
        let arguments = with(true, true, &["--disable-features=Mine", "--other"]);
        let lists: Vec<&String> =
            arguments.iter().filter(|a| a.starts_with(DISABLE_FEATURES)).collect();
        assert_eq!(lists.len(), 1);
        assert!(lists[0].contains("RenderDocument") && lists[0].ends_with(",Mine"), "{lists:?}");
        assert!(arguments.contains(&"--other".to_owned()));
    }
}
