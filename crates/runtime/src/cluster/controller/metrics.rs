//! Metrics of a controller in the text format of Prometheus, and whether it is alive.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::protocol::CrawlTally;
use super::dispatcher::Dispatcher;

/// A controller without a heartbeat for this long is not well.
const UNWELL: Duration = Duration::from_secs(3);

/// The metrics of a controller, as of its last heartbeat.
#[derive(Debug, Default)]
pub struct Metrics {
    last: Mutex<Option<(Instant, String)>>,
}

impl Metrics {
    /// The metrics as text.
    pub fn text(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|(_, text)| text.clone()).unwrap_or_default()
    }

    /// Whether the last heartbeat is recent.
    pub fn is_well(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|(at, _)| at.elapsed() < UNWELL)
    }

    fn set(&self, text: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), text));
    }
}

/// Its name, its kind, and how it is read from a tally.
type Number = (&'static str, &'static str, fn(&CrawlTally) -> u64);

const SHARE: &[Number] = &[
    ("argiope_states", "gauge", |tally| tally.states),
    ("argiope_transitions", "gauge", |tally| tally.transitions),
    ("argiope_candidates_left", "gauge", |tally| tally.left),
    ("argiope_jobs_under_way", "gauge", |tally| tally.leases),
    ("argiope_copies", "gauge", |tally| tally.copies),
    ("argiope_replicas", "gauge", |tally| tally.replicas.into()),
    ("argiope_crawlers", "gauge", |tally| tally.crawlers.into()),
    ("argiope_actions_total", "counter", |tally| tally.spent.actions),
    ("argiope_resets_total", "counter", |tally| tally.spent.resets),
    ("argiope_finished", "gauge", |tally| tally.finished.into()),
];

impl Dispatcher {
    /// Publishes the metrics of this controller.
    pub(super) fn publish_metrics(&self) {
        let Some(metrics) = &self.metrics else { return };
        let mut text = String::new();
        let mut add = |name: &str, kind: &str, value: u64| {
            _ = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
        };
        let linked =
            self.membership.members.keys().filter(|&&key| self.link_to(key).is_some()).count();
        add("argiope_controllers_connected", "gauge", linked as u64);
        add("argiope_tabs", "gauge", self.tabs().into());
        add("argiope_jobs_total", "counter", self.jobs);
        add(
            "argiope_writes_waiting",
            "gauge",
            self.disk.appended.saturating_sub(self.disk.durable),
        );
        let dropped = self.links.values().map(|link| link.dropped).sum::<u64>() + self.dropped;
        add("argiope_frames_dropped_total", "counter", dropped);
        add("argiope_messages_refused_total", "counter", self.refusals.count);
        let shares = self.tallies();
        for (name, kind, of) in SHARE {
            _ = writeln!(text, "# TYPE {name} {kind}");
            for (id, tally) in &shares {
                _ = writeln!(text, "{name}{{crawl=\"{id}\"}} {}", of(tally));
            }
        }
        metrics.set(text);
    }
}
