//! A progress bar on standard error, for work that takes longer than two seconds. There is none when
//! standard error is not a terminal.

use std::io::IsTerminal;
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work is done before anybody wonders.
const PATIENCE: Duration = Duration::from_secs(2);

/// How far some work has come. Threads may share it.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: Once,
}

impl Progress {
    /// At zero of `total`.
    pub fn new(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  about {eta} left  {msg}");
        bar.set_style(style.expect("the template is valid"));
        Self { bar, started: Instant::now(), shown: Once::new() }
    }

    /// Says what is being done.
    pub fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Does something that may print, with the bar out of the way.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// Counts what has been done since the last call.
    pub fn advance(&self, done: u64) {
        self.bar.inc(done);
        if self.started.elapsed() >= PATIENCE && std::io::stderr().is_terminal() {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
