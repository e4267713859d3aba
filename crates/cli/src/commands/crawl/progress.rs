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
    /// Warnings that are due.
    warnings: Vec<&'static str>,
}

/// What the user is told when a crawl begins.
pub fn warnings(is_safe: bool, is_sandboxed: bool) -> Vec<&'static str> {
    let unsafe_crawl = "actions may change data of the application; with --safe only requests that \
                        change nothing reach it";
    let unsandboxed = "running as root, so the browser's sandbox is off";
    let due = [(!is_safe, unsafe_crawl), (!is_sandboxed, unsandboxed)];
    due.into_iter().filter(|(is_due, _)| *is_due).map(|(_, warning)| warning).collect()
}

enum Display {
    Quiet,
    Live(ProgressBar),
    Lines { last: Instant },
}

impl ProgressPrinter {
    /// Chooses the display by what standard error is.
    pub fn new(quiet: bool, warnings: Vec<&'static str>) -> Self {
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
        Self { display, before: None, warnings }
    }

    /// Shows the present progress.
    pub fn show(&mut self, progress: &CrawlProgress) {
        let before = *self.before.get_or_insert(progress.transitions);
        // Not before the first page: a crawl that cannot begin needs no warning.
        let due = std::mem::take(&mut self.warnings);
        if !matches!(self.display, Display::Quiet) {
            due.into_iter().for_each(terminal::message);
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
