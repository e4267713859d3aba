//! Crawlers of a simulated ring: they perform tasks, report, and retry reports without an answer.

use argiope_controller::job::Route;
use argiope_controller::job::{CrawlerId, Transition};
use argiope_controller::peer::message::{
    Done, Envelope, PeerInput, PeerMessage, Task, TaskReport, ToCrawler,
};

use super::{Cluster, RingEvent, live_nodes};
use crate::crawler::SimulatedCrawler;

/// A crawler retries a report after this number of action times and one answer timeout. It waits
/// twice as long after each retry, so that retries do not overload a controller with a long queue.
const PATIENCE: u64 = 20;
/// The wait doubles at most this number of times.
const MAX_DOUBLINGS: u32 = 5;

pub(super) struct RingCrawler {
    simulated: SimulatedCrawler,
    /// The controller that it is attached to.
    pub(super) home: usize,
    /// What it reported last.
    report: TaskReport,
    task: Option<Task>,
    idle_since: u64,
    /// How often it has retried the report.
    retries: u32,
    /// It works for another crawl.
    is_away: bool,
}

impl RingCrawler {
    /// It works for another crawl. Returns that it abandons its task, if it has one.
    pub(super) fn detach(&mut self) -> Option<PeerInput> {
        self.is_away = true;
        // What it was told before counts no more.
        self.report = TaskReport::new(self.report.crawler, self.report.number + 1);
        self.task.take().map(|task| PeerInput::CrawlerLoss(task.id))
    }
}

impl Cluster<'_> {
    /// A crawler starts and attaches itself to a controller.
    pub(super) fn add_crawler(&mut self) {
        let (crawler, simulated) = self.env.new_crawler();
        let live = live_nodes(&self.nodes);
        let ring_crawler = RingCrawler {
            simulated,
            home: live[crawler.0 as usize % live.len()],
            report: TaskReport::new(crawler, 0),
            task: None,
            idle_since: self.env.now(),
            retries: 0,
            is_away: false,
        };
        self.crawlers.insert(crawler, ring_crawler);
        self.send_report(crawler);
    }

    /// The crawlers of a controller that left the ring attach themselves to another one. The
    /// controller still forwards what arrives.
    pub(super) fn detach_crawlers(&mut self, node: usize) {
        let Some(other) = live_nodes(&self.nodes).into_iter().find(|&other| other != node) else {
            return;
        };
        for crawler in self.crawlers.values_mut().filter(|crawler| crawler.home == node) {
            crawler.home = other;
        }
    }

    /// A crawler works for this crawl again, and does not know where it is.
    pub(super) fn attach_crawler(&mut self, crawler: CrawlerId) {
        if let Some(attached) = self.crawlers.get_mut(&crawler) {
            attached.is_away = false;
            self.send_report(crawler);
        }
    }

    /// Acknowledges a task before the owner of the new state has kept that state. Returns false if
    /// there is nothing to acknowledge.
    fn acknowledge_early(&mut self, crawler: CrawlerId) -> bool {
        let report = self.crawlers.get(&crawler).map(|crawler| &crawler.report);
        let Some(TaskReport {
            at: Some(at), task: Some(task), executed: Some((from, action)), ..
        }) = report
        else {
            return false;
        };
        let step = Transition { from: *from, action: *action, to: at.key };
        let by = task.by;
        let done =
            Done { task: *task, step, once: false, notes: Vec::new(), new: false, kept_by: by };
        let envelope = Envelope::new(None, PeerMessage::Done(done));
        if let Some(&node) = self.node_of.get(&by) {
            let latency = self.env.draw_latency();
            let input = PeerInput::Message(by, envelope);
            self.env.events.schedule(latency, RingEvent::InputArrived(node, input));
        }
        true
    }

    /// Sends the report, and waits for an answer.
    pub(super) fn send_report(&mut self, crawler: CrawlerId) {
        let Some(sender) = self.crawlers.get_mut(&crawler) else { return };
        let live = live_nodes(&self.nodes);
        if live.is_empty() {
            let wait = self.env.scenario.timeouts.stabilise;
            self.env.events.schedule(wait, RingEvent::ReportDue(crawler));
            return;
        }
        if !self.nodes[sender.home].is_up {
            sender.home = live[self.env.chance.below(live.len())];
        }
        sender.report.number += 1;
        let report = sender.report.clone();
        let (home, doublings) = (sender.home, sender.retries.min(MAX_DOUBLINGS));
        let node = match &report.at {
            Some(at) if self.env.scenario.scheme.direct => self.owner(at.key).unwrap_or(home),
            _ => home,
        };
        let overdue = RingEvent::AnswerOverdue(crawler, report.number);
        self.env.send("reached", RingEvent::InputArrived(node, PeerInput::Report(report)));
        let scenario = &self.env.scenario;
        let patience = PATIENCE * scenario.action_time + scenario.timeouts.answer;
        self.env.events.schedule(patience << doublings, overdue);
    }

    pub(super) fn on_answer_overdue(&mut self, crawler: CrawlerId, number: u64) {
        let Some(sender) = self.crawlers.get_mut(&crawler) else { return };
        let waits = sender.report.number == number && sender.task.is_none() && !sender.is_away;
        if waits && self.finished_by.is_none() {
            sender.report.again = true;
            sender.retries += 1;
            self.send_report(crawler);
        }
    }

    /// A crawler begins a task that answers its last report, and returns any other task.
    pub(super) fn on_crawler_message(&mut self, crawler: CrawlerId, message: ToCrawler) {
        let ToCrawler::Task(task) = message else { return };
        let Some(receiver) = self.crawlers.get_mut(&crawler) else { return };
        let number = receiver.report.number;
        if task.number != number || receiver.task.is_some() || receiver.is_away {
            if let Some(&node) = self.node_of.get(&task.id.by) {
                let returned = PeerInput::TaskReturn(task.id);
                self.env.send("returned", RingEvent::InputArrived(node, returned));
            }
            return;
        }
        self.env.counts.idle_time += self.env.now() - receiver.idle_since;
        self.env.begin_task(task.job.as_ref(), RingEvent::TaskEnded(crawler, number));
        receiver.task = Some(task);
        receiver.retries = 0;
    }

    pub(super) fn on_task_ended(&mut self, crawler: CrawlerId, number: u64) {
        let Some(worker) = self.crawlers.get_mut(&crawler) else { return };
        if worker.report.number != number {
            return;
        }
        let Some(task) = worker.task.take() else { return };
        worker.idle_since = self.env.now();
        worker.report = match &task.job {
            None => {
                self.env.counts.spent.resets += 1;
                TaskReport {
                    task: Some(task.id),
                    at: Some(worker.simulated.load(self.env.world)),
                    route: Some(Route::default()),
                    ..TaskReport::new(crawler, number)
                }
            }
            Some(job) => {
                let ended = self.env.perform(&mut worker.simulated, job);
                TaskReport::of(crawler, number, &task, ended, worker.report.route.as_ref())
            }
        };
        if self.env.scenario.acknowledges_early && self.acknowledge_early(crawler) {
            let delay = self.env.scenario.action_time;
            self.env.events.schedule(delay, RingEvent::ReportDue(crawler));
        } else {
            self.send_report(crawler);
        }
    }
}
