//! A progress bar on standard error, for work that takes longer than two seconds; a line now and then where standard
//! error is not a terminal.

use std::io::IsTerminal;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal;

/// Shorter work is done before anybody wonders.
const PATIENCE: Duration = Duration::from_secs(2);
/// From one line to the next where there is no terminal.
const LINES: Duration = Duration::from_secs(30);

/// How far some work has come. Threads may share it.
pub struct WorkProgress {
    bar: ProgressBar,
    started: Instant,
    shown: Once,
    /// When the last line was written, where there is no terminal.
    line: Mutex<Instant>,
}

impl WorkProgress {
    /// At zero of `total`.
    pub fn new(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:40} {percent:>3} %  about {eta} left  {msg}");
        bar.set_style(style.expect("the template is valid"));
        let now = Instant::now();
        Self { bar, started: now, shown: Once::new(), line: Mutex::new(now) }
    }

    /// Says what is being done.
    pub fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Counts what has been done since the last call.
    pub fn advance(&self, done: u64) {
        self.bar.inc(done);
        if !std::io::stderr().is_terminal() {
            self.line();
        } else if self.started.elapsed() >= PATIENCE {
            self.shown.call_once(|| {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                terminal::show(&self.bar);
            });
        }
    }

    fn line(&self) {
        let mut last = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < LINES {
            return;
        }
        *last = Instant::now();
        let percent = 100 * self.bar.position() / self.bar.length().unwrap_or(1).max(1);
        terminal::message(&format!("{percent} %, {}", self.bar.message()));
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        terminal::clear();
    }
}
