//! The command line of the browser, with the reason for each flag. A pure function of its settings.

use std::ffi::OsString;
use std::path::Path;

use crate::browser::LaunchSettings;

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
    // WebRTC would send datagrams past the door of its tab. Browsers read one flag or the other.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
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

/// The arguments to start the browser with. Those of the settings come last and win. The sandbox is
/// off only where the browser refuses to start with it.
pub fn arguments(settings: &LaunchSettings, profile: &Path, sandbox: bool) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    arguments.push(format!("--js-flags=--max-old-space-size={}", settings.script_heap_mb).into());
    arguments.push(format!("--window-size={},{}", settings.window.0, settings.window.1).into());
    let mut data = OsString::from("--user-data-dir=");
    data.push(profile);
    arguments.push(data);
    // The headless shell has no window to hide.
    if !settings.executable.is_headless_shell() {
        arguments.push("--headless=new".into());
    }
    if !sandbox {
        arguments.push(NO_SANDBOX.into());
    }
    // The browser reads only the last list of features, so all lists are joined.
    let mut disabled = OsString::from(DISABLE_FEATURES);
    disabled.push(DISABLED.join(","));
    for argument in &settings.extra {
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
    use crate::find::Executable;

    fn with(sandbox: bool, headless_shell: bool, extra: &[&str]) -> Vec<String> {
        let name = if headless_shell { "chromium-headless-shell" } else { "chromium" };
        let executable = Executable { path: name.into(), version: "156".to_owned() };
        let mut settings = LaunchSettings::new(executable, "/".into());
        settings.extra = extra.iter().map(OsString::from).collect();
        let arguments = arguments(&settings, Path::new("/p"), sandbox).into_iter();
        arguments.map(|argument| argument.into_string().unwrap()).collect()
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
