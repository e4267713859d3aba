//! The progress of a crawl on standard error: one changing line on a terminal, elsewhere one line
//! every ten seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use argiope::format::{self, count};
use argiope::terminal;
use argiope_runtime::crawl::CrawlProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time from one line to the next where standard error is no terminal.
const INTERVAL: Duration = Duration::from_secs(10);
/// The transitions after which the remaining time is estimated.
const ESTIMATE_AFTER: usize = 20;

/// Prints the progress of a crawl.
pub struct ProgressPrinter {
    display: Display,
    /// The transitions that were known when this process began or resumed the crawl.
    before: Option<usize>,
    /// Whether a warning is due that pages do not run in a sandbox.
    warn_unsandboxed: bool,
}

enum Display {
    Quiet,
    Live(ProgressBar),
    Lines { last: Instant },
}

impl ProgressPrinter {
    /// Chooses the display by what standard error is.
    pub fn new(quiet: bool, warn_unsandboxed: bool) -> Self {
        let display = if quiet {
            Display::Quiet
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .expect("the template is valid"),
            );
            bar.set_message("starting the browser");
            bar.enable_steady_tick(Duration::from_millis(200));
            terminal::show(&bar);
            Display::Live(bar)
        } else {
            Display::Lines { last: Instant::now() }
        };
        Self { display, before: None, warn_unsandboxed }
    }

    /// Shows the present progress.
    pub fn show(&mut self, progress: &CrawlProgress) {
        let before = *self.before.get_or_insert(progress.transitions);
        // Not before the first page: a crawl that cannot begin needs no warning.
        let warn = std::mem::take(&mut self.warn_unsandboxed);
        if warn && !matches!(self.display, Display::Quiet) {
            terminal::message("running as root, so the browser's sandbox is off");
        }
        match &mut self.display {
            Display::Quiet => {}
            Display::Live(bar) => bar.set_message(line(progress, before)),
            Display::Lines { last } => {
                if last.elapsed() >= INTERVAL {
                    *last += INTERVAL;
                    terminal::message(&line(progress, before));
                }
            }
        }
    }

    /// Removes the changing line.
    pub fn end(self) {
        if let Display::Live(_) = self.display {
            terminal::clear();
        }
    }
}

/// The most important figures come first: a narrow terminal cuts the end off.
fn line(progress: &CrawlProgress, before: usize) -> String {
    let CrawlProgress { states, transitions, unexplored, resets, actions_now, elapsed, .. } =
        progress;
    let seconds = elapsed.as_secs_f64().max(0.001);
    let done = transitions.saturating_sub(before);
    let left = if done >= ESTIMATE_AFTER && *unexplored > 0 {
        // An estimate for the known actions; new states add more.
        let left = Duration::from_secs_f64(*unexplored as f64 * seconds / done as f64);
        format!(" (about {})", format::time(left))
    } else {
        String::new()
    };
    format!(
        "{}, {transitions} of {} actions, {unexplored} unexplored{left}, {:.1} actions/s, {}",
        count(*states as u64, "state"),
        transitions + unexplored,
        *actions_now as f64 / seconds,
        count(*resets, "reset"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_what_is_executed_and_what_is_left() {
        let progress = CrawlProgress {
            states: 12,
            transitions: 140,
            unexplored: 60,
            actions: 250,
            resets: 1,
            actions_now: 150,
            elapsed: Duration::from_secs(10),
        };
        let expected =
            "12 states, 140 of 200 actions, 60 unexplored (about 6.0 s), 15.0 actions/s, 1 reset";
        assert_eq!(line(&progress, 40), expected);
        assert_eq!(line(&progress, 130), expected.replace(" (about 6.0 s)", ""));
    }
}
