//! What a simulated crawl costs.

use std::collections::BTreeMap;

use argiope_controller::job::Job;
use argiope_controller::spent::Spent;

/// What was counted in a simulated crawl. Times are in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Messages by kind.
    pub messages: BTreeMap<&'static str, u64>,
    /// Tasks by the number of actions between the crawler and the task. Tasks that begin with a
    /// reset are not among them.
    pub depths: Vec<u64>,
    /// Tasks that began with a reset.
    pub by_reset: u64,
    /// What crawlers executed.
    pub spent: Spent,
    /// Transitions that a task executed after another task had.
    pub reexecuted: u64,
    /// Tasks that were assigned although their transition was executed and acknowledged.
    pub redundant_tasks: u64,
    /// Controllers that failed.
    pub failures: u64,
    /// The time that crawlers spent on transitions that had been executed before.
    pub reexecution_time: u64,
    /// The time from sending a replica to its acknowledgement, summed over replicas.
    pub replication_time: u64,
    /// The time that crawlers waited for work.
    pub idle_time: u64,
    /// The time at which the crawl was over.
    pub ended_at: u64,
}

impl Counts {
    /// Counts a task that begins; without a job the crawler loads the URL.
    pub(crate) fn add_task(&mut self, job: Option<&Job>) {
        let Some(job) = job else { return };
        let depth = job.walk.len();
        if job.reset {
            self.by_reset += 1;
        } else {
            self.depths.resize(self.depths.len().max(depth + 1), 0);
            self.depths[depth] += 1;
        }
    }

    /// Counts a message.
    pub(crate) fn add_message(&mut self, kind: &'static str) {
        *self.messages.entry(kind).or_default() += 1;
    }

    /// All messages but those that maintain the ring.
    pub fn total_messages(&self) -> u64 {
        self.messages.iter().filter(|&(&kind, _)| kind != "ring").map(|(_, count)| count).sum()
    }
}
