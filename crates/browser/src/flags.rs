//! The command line of the browser, and why each part of it is there. A pure function of its settings.

use std::ffi::OsString;
use std::path::Path;

/// What varies.
#[derive(Clone, Debug)]
pub struct FlagSettings<'a> {
    /// The browser is the headless shell, which has no window to hide.
    pub headless_shell: bool,
    /// The profile directory.
    pub profile: &'a Path,
    /// Off only where the browser refuses to start with it.
    pub sandbox: bool,
    /// Width and height of the window in pixels.
    pub window: (u32, u32),
    /// How much a page's script may keep, in megabytes.
    pub script_heap_mb: u32,
    /// Added at the end, so that they win.
    pub extra: &'a [OsString],
}

/// Same for every browser.
const ALWAYS: &[&str] = &[
    "--remote-debugging-pipe",
    // Nothing but the page: no first-run pages, updates, accounts, extensions, questions, sound.
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-breakpad",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    // Tabs that nobody looks at work as if somebody did.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    // The same pages everywhere.
    "--force-color-profile=srgb",
    "--lang=en-US",
    "--disable-gpu",
    // A container's /dev/shm is often too small for a page.
    "--disable-dev-shm-usage",
    "--disable-quic",
];

/// Features that make a navigation dear or do something nobody asked for.
const DISABLED_FEATURES: &[&str] =
    &["RenderDocument", "BackForwardCache", "PaintHolding", "Translate", "MediaRouter", "OptimizationHints"];

/// The arguments to start the browser with.
pub fn arguments(settings: &FlagSettings<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    arguments.push(format!("--disable-features={}", DISABLED_FEATURES.join(",")).into());
    arguments.push(format!("--js-flags=--max-old-space-size={}", settings.script_heap_mb).into());
    arguments.push(format!("--window-size={},{}", settings.window.0, settings.window.1).into());
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(settings.profile);
    arguments.push(profile);
    if !settings.headless_shell {
        arguments.push("--headless=new".into());
    }
    if !settings.sandbox {
        arguments.push("--no-sandbox".into());
    }
    arguments.extend(settings.extra.iter().cloned());
    arguments
}
