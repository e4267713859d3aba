//! How a crawl is going, on standard error: one line that changes on a terminal, one line every ten
//! seconds elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use argiope::format::count;
use argiope_runtime::crawl::CrawlProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use argiope::format;

/// How often there is a line where nobody watches.
const EVERY: Duration = Duration::from_secs(10);
/// Before so much was done, how long the rest takes is anybody's guess.
const ENOUGH: usize = 20;

/// Tells people how a crawl is going.
pub struct ProgressPrinter {
    how: How,
    /// How far the crawl was when this process took it up.
    before: Option<usize>,
    /// Whether people must be told that pages do not run in a sandbox.
    unprotected: bool,
}

enum How {
    Quiet,
    Live(ProgressBar),
    Lines { last: Instant },
}

impl ProgressPrinter {
    /// In the way that fits where standard error goes.
    pub fn new(quiet: bool, unprotected: bool) -> Self {
        let how = if quiet {
            How::Quiet
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .expect("the template is valid"),
            );
            bar.set_message("starting the browser");
            bar.enable_steady_tick(Duration::from_millis(200));
            How::Live(bar)
        } else {
            How::Lines { last: Instant::now() }
        };
        Self { how, before: None, unprotected }
    }

    /// The crawl is here now.
    pub fn see(&mut self, progress: &CrawlProgress) {
        let before = *self.before.get_or_insert(progress.transitions);
        // Only now: where there is nothing to crawl, there is nothing to say about it.
        if std::mem::take(&mut self.unprotected) {
            self.say("running as root, so the browser's sandbox is off");
        }
        match &mut self.how {
            How::Quiet => {}
            How::Live(bar) => bar.set_message(line(progress, before)),
            How::Lines { last } => {
                if last.elapsed() >= EVERY {
                    *last += EVERY;
                    eprintln!("argiope: {}", line(progress, before));
                }
            }
        }
    }

    fn say(&self, sentence: &str) {
        match &self.how {
            How::Quiet => {}
            How::Live(bar) => bar.suspend(|| eprintln!("argiope: {sentence}")),
            How::Lines { .. } => eprintln!("argiope: {sentence}"),
        }
    }

    /// Takes the line away.
    pub fn end(self) {
        if let How::Live(bar) = self.how {
            bar.finish_and_clear();
        }
    }
}

/// What matters most comes first, since a narrow terminal cuts the end off.
fn line(progress: &CrawlProgress, before: usize) -> String {
    let CrawlProgress { states, transitions, unexplored, resets, actions_now, elapsed, .. } =
        progress;
    let seconds = elapsed.as_secs_f64().max(0.001);
    let done = transitions.saturating_sub(before);
    let left = if done >= ENOUGH && *unexplored > 0 {
        // For what is known now; new states bring more.
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
    fn the_line_tells_what_is_done_and_what_is_left() {
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
