//! A progress bar on standard error for work that takes longer than two seconds. Where standard
//! error is no terminal, a line every thirty seconds.

use std::io::IsTerminal;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal;

/// The time after which the bar is shown.
const SHOW_AFTER: Duration = Duration::from_secs(2);
/// The time between lines where there is no terminal.
const INTERVAL: Duration = Duration::from_secs(30);

/// The progress of some work, which threads may share.
pub struct WorkProgress {
    bar: ProgressBar,
    started: Instant,
    shown: Once,
    /// When the last line was written, where there is no terminal.
    line: Mutex<Instant>,
}

impl WorkProgress {
    /// Begins with nothing done of `total`.
    pub fn new(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:40} {percent:>3} %  about {eta} left  {msg}");
        bar.set_style(style.expect("the template is valid"));
        let now = Instant::now();
        Self { bar, started: now, shown: Once::new(), line: Mutex::new(now) }
    }

    /// Names the present step.
    pub fn set_step(&self, name: &str) {
        self.bar.set_message(name.to_owned());
    }

    /// Adds to what is done.
    pub fn advance(&self, done: u64) {
        self.bar.inc(done);
        if !std::io::stderr().is_terminal() {
            self.line();
        } else if self.started.elapsed() >= SHOW_AFTER {
            self.shown.call_once(|| {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                terminal::show(&self.bar);
            });
        }
    }

    fn line(&self) {
        let mut last = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < INTERVAL {
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
