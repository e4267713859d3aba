//! How a controller is, for monitoring: numbers in the text format of Prometheus, and whether it is alive.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::protocol::CrawlTally;
use super::Node;

/// A controller whose heart has not beaten for so long is not well.
const UNWELL: Duration = Duration::from_secs(3);

/// What a controller says of itself, as of its last beat.
#[derive(Debug, Default)]
pub struct Metrics {
    last: Mutex<Option<(Instant, String)>>,
}

impl Metrics {
    /// The numbers.
    pub fn text(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|(_, text)| text.clone()).unwrap_or_default()
    }

    /// Whether it has said something lately.
    pub fn is_well(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|(at, _)| at.elapsed() < UNWELL)
    }

    fn set(&self, text: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), text));
    }
}

/// Name, what it is, and how it is read from a share.
type Number = (&'static str, &'static str, fn(&CrawlTally) -> u64);

const SHARE: &[Number] = &[
    ("argiope_states", "gauge", |tally| tally.states),
    ("argiope_transitions", "gauge", |tally| tally.transitions),
    ("argiope_candidates_left", "gauge", |tally| tally.left),
    ("argiope_jobs_under_way", "gauge", |tally| tally.leases),
    ("argiope_copies", "gauge", |tally| tally.copies),
    ("argiope_crawlers", "gauge", |tally| tally.crawlers.into()),
    ("argiope_actions_total", "counter", |tally| tally.spent.actions),
    ("argiope_resets_total", "counter", |tally| tally.spent.resets),
    ("argiope_finished", "gauge", |tally| tally.finished.into()),
];

impl Node<'_> {
    /// Says how this controller is.
    pub(super) fn note_metrics(&self) {
        let Some(metrics) = &self.metrics else { return };
        let mut text = String::new();
        let mut say = |name: &str, kind: &str, value: u64| {
            _ = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
        };
        let linked = self.members.keys().filter(|&&key| self.link_to(key).is_some()).count();
        say("argiope_controllers_connected", "gauge", linked as u64);
        say("argiope_tabs", "gauge", self.tabs().into());
        say("argiope_jobs_total", "counter", self.jobs);
        say("argiope_writes_waiting", "gauge", self.appended - self.durable.min(self.appended));
        let dropped = self.links.values().map(|link| link.dropped).sum::<u64>() + self.dropped;
        say("argiope_frames_dropped_total", "counter", dropped);
        let shares: Vec<_> = self
            .shares
            .iter()
            .map(|(id, share)| (id, share.tally(self.crawlers_of(*id))))
            .collect();
        for (name, kind, of) in SHARE {
            _ = writeln!(text, "# TYPE {name} {kind}");
            for (id, tally) in &shares {
                _ = writeln!(text, "{name}{{crawl=\"{id}\"}} {}", of(tally));
            }
        }
        metrics.set(text);
    }
}
