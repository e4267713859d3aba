//! Crawlers of a simulated ring: perform tasks, report, and ask again when nobody answers.

use argiope_controller::job::Route;
use argiope_controller::job::{CrawlerId, Transition};
use argiope_controller::outcome::Outcome;
use argiope_controller::peer::message::{Done, Envelope, PeerMessage, Task, TaskReport, ToCrawler};

use super::{Cluster, Event, FromCrawler};
use crate::crawler::SimulatedCrawler;

/// A crawler asks again after so many times the time of an action (and the time that members of a ring are given to
/// answer); each time that nobody answers after twice as long, so that controllers that are behind are not buried.
const PATIENCE: u64 = 20;
/// It doubles no more often than this.
const MOST_DOUBLINGS: u32 = 5;

/// A crawler.
pub(super) struct Crawling {
    simulated: SimulatedCrawler,
    /// The controller that it is attached to.
    home: usize,
    /// What it said last.
    report: TaskReport,
    /// What it is doing.
    task: Option<Task>,
    /// Since when it has had nothing to do.
    idle_since: u64,
    /// Since when it has been doing it.
    working_since: u64,
    /// How often it has asked in vain.
    in_vain: u32,
}

impl Crawling {
    /// The controller that it is attached to leaves.
    pub(super) fn leave_home(&mut self, gone: usize, other: Option<usize>) {
        if let Some(other) = other.filter(|_| self.home == gone) {
            self.home = other;
        }
    }
}

impl Cluster<'_> {
    /// A crawler comes and attaches itself to some controller.
    pub(super) fn add_crawler(&mut self) {
        let number = self.next_crawler;
        self.next_crawler += 1;
        let crawler = CrawlerId(number);
        let up: Vec<usize> = (0..self.nodes.len()).filter(|&at| self.nodes[at].up).collect();
        let home = up[number as usize % up.len()];
        let report = TaskReport::new(crawler, 0);
        let simulated = SimulatedCrawler::new(&[self.scenario.seed, 0xC4A3, number]);
        let now = self.clock.now();
        let crawling = Crawling {
            simulated,
            home,
            report,
            task: None,
            idle_since: now,
            working_since: now,
            in_vain: 0,
        };
        self.crawlers.insert(crawler, crawling);
        self.send_report(crawler);
    }

    /// Says that a task is done, whatever becomes of where it led.
    fn say_done(&mut self, crawler: CrawlerId) -> bool {
        let report = self.crawlers.get(&crawler).map(|crawling| &crawling.report);
        let Some(TaskReport {
            at: Some(at), task: Some(task), executed: Some((from, action)), ..
        }) = report
        else {
            return false;
        };
        let step = Transition { from: *from, action: *action, to: at.key };
        let done = Done {
            task: *task,
            step,
            once: false,
            notes: Vec::new(),
            new: false,
            kept_by: task.by,
        };
        let envelope = Envelope::new(None, PeerMessage::Done(done));
        let by = task.by;
        if let Some(&to) = self.places.get(&by) {
            let time = self.scenario.latency.draw(&mut self.chance);
            self.clock.after(time, Event::Arrives(to, by, envelope));
        }
        true
    }

    /// Sends what there is to say, and waits for an answer.
    pub(super) fn send_report(&mut self, crawler: CrawlerId) {
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        crawling.report.number += 1;
        let report = crawling.report.clone();
        let in_vain = crawling.in_vain.min(MOST_DOUBLINGS);
        if !self.nodes[crawling.home].up {
            let up: Vec<usize> = (0..self.nodes.len()).filter(|&at| self.nodes[at].up).collect();
            crawling.home = up[self.chance.below(up.len())];
        }
        let home = crawling.home;
        let to = match &report.at {
            Some(at) if self.scenario.scheme.direct => self.owner(at.key).unwrap_or(home),
            _ => home,
        };
        self.count("reached");
        let number = report.number;
        let time = self.scenario.latency.draw(&mut self.chance);
        self.clock.after(time, Event::Reported(to, FromCrawler::Report(report)));
        let patience = (PATIENCE * self.scenario.action + self.scenario.times.answer) << in_vain;
        self.clock.after(patience, Event::Waited(crawler, number));
    }

    pub(super) fn waited(&mut self, crawler: CrawlerId, number: u64) {
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        if crawling.report.number == number && crawling.task.is_none() && self.finished_by.is_none()
        {
            crawling.report.again = true;
            crawling.in_vain += 1;
            self.send_report(crawler);
        }
    }

    pub(super) fn told(&mut self, crawler: CrawlerId, told: ToCrawler) {
        let ToCrawler::Task(task) = told else { return };
        let now = self.clock.now();
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        if task.number != crawling.report.number || crawling.task.is_some() {
            if let Some(&by) = self.places.get(&task.id.by) {
                self.count("returned");
                let time = self.scenario.latency.draw(&mut self.chance);
                self.clock.after(time, Event::Reported(by, FromCrawler::Returned(task.id)));
            }
            return;
        }
        self.counts.idle += now - crawling.idle_since;
        let cost = self.counts.begin(task.job.as_ref(), self.scenario.reset_cost);
        let time = (cost * self.scenario.action as f64) as u64;
        crawling.task = Some(task);
        crawling.in_vain = 0;
        crawling.working_since = now;
        let number = crawling.report.number;
        self.clock.after(time, Event::Performed(crawler, number));
    }

    pub(super) fn performed(&mut self, crawler: CrawlerId, number: u64) {
        let now = self.clock.now();
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        if crawling.report.number != number {
            return;
        }
        let Some(task) = crawling.task.take() else { return };
        crawling.idle_since = now;
        let id = task.id;
        let mut report = TaskReport { task: Some(id), ..TaskReport::new(crawler, number) };
        match &task.job {
            None => {
                report.at = Some(crawling.simulated.load(self.world));
                report.route = Some(Route::default());
                self.counts.spent.resets += 1;
            }
            Some(job) => {
                let (outcome, spent) = crawling.simulated.perform(self.world, job);
                self.counts.spent = self.counts.spent.plus(spent);
                if let Outcome::Done { .. } = &outcome
                    && !self.executed.insert((job.state, job.action))
                {
                    self.counts.reexecuted += 1;
                    self.counts.again += now - crawling.working_since;
                }
                let ended = (outcome, spent);
                report =
                    TaskReport::of(crawler, number, &task, ended, crawling.report.route.as_ref());
            }
        }
        crawling.report = report;
        if self.scenario.hasty && self.say_done(crawler) {
            self.clock.after(self.scenario.action, Event::Reports(crawler));
        } else {
            self.send_report(crawler);
        }
    }

    /// A crawler fails, if more than one is left.
    pub(super) fn lose_crawler(&mut self) {
        if self.crawlers.len() > 1 {
            let at = self.chance.below(self.crawlers.len());
            let crawler = *self.crawlers.keys().nth(at).expect("there are more than one");
            self.crawlers.remove(&crawler);
        }
    }
}
