//! Standard error, which messages, log lines and at most one progress bar share. Whatever is
//! written here stands above the bar, and text from outside cannot steer the terminal.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use argiope_runtime::address::without_logins;
use indicatif::ProgressBar;

use crate::format::harmless;

/// The bar that is shown now.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Keeps what is written from now on above this bar.
pub fn show(bar: &ProgressBar) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
}

/// Removes the bar, if one is shown.
pub fn clear() {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// Writes something while the bar is out of the way.
pub fn aside<R>(write: impl FnOnce() -> R) -> R {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Writes one message, as one line, without the logins of addresses in it.
pub fn message(text: &str) {
    // A closed standard error is no reason to fail.
    let text = harmless(&without_logins(text));
    aside(|| _ = writeln!(std::io::stderr().lock(), "argiope: {text}"));
}
