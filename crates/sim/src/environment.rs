//! What surrounds the machines in a simulated ring or star: the application, the network, time,
//! chance, scheduled faults and counters. It does not know which machines there are.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::outcome::Outcome;
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};

use crate::cluster::scenario::{FaultEvent, Scenario};
use crate::counts::Counts;
use crate::crawler::{SimulatedCrawler, World};
use crate::event_loop::EventQueue;

/// A simulation is given up after this number of events for each transition of the application,
/// and a million more.
const EVENTS_PER_TRANSITION: u64 = 3_000;

pub(crate) struct Environment<'a, E> {
    pub world: &'a World<'a>,
    pub scenario: Scenario,
    pub events: EventQueue<E>,
    pub chance: Chance,
    pub counts: Counts,
    /// The transitions that crawlers executed as a task.
    pub executed: BTreeSet<(StateKey, ActionSignature)>,
    /// Faults to come, the next one last, each with the share of the transitions that it waits for.
    faults: Vec<(f64, FaultEvent)>,
    next_crawler: u64,
}

impl<'a, E> Environment<'a, E> {
    /// The environment of a scenario. The salt keeps the draws of different simulations apart.
    pub fn new(world: &'a World<'a>, scenario: Scenario, salt: u64) -> Self {
        let mut faults = scenario.scheduled_faults.clone();
        faults.sort_by(|a, b| b.0.total_cmp(&a.0));
        let limit = EVENTS_PER_TRANSITION * world.transitions() as u64 + 1_000_000;
        Self {
            world,
            events: EventQueue::with_limit(limit),
            chance: Chance::new(&[scenario.seed, salt]),
            counts: Counts::default(),
            executed: BTreeSet::new(),
            faults,
            next_crawler: 0,
            scenario,
        }
    }

    /// The present time, in microseconds.
    pub fn now(&self) -> u64 {
        self.events.now()
    }

    /// The share of the application's transitions that are executed.
    pub fn progress(&self) -> f64 {
        self.executed.len() as f64 / self.world.transitions() as f64
    }

    /// Takes the next scheduled fault, if the crawl has got as far.
    pub fn take_due_fault(&mut self) -> Option<FaultEvent> {
        let (executed, transitions) = (self.executed.len() as f64, self.world.transitions() as f64);
        let is_due = |&mut (share, _): &mut (f64, _)| executed >= share * transitions;
        self.faults.pop_if(is_due).map(|(_, fault)| fault)
    }

    /// Sends a message: counts it, and delivers it after a latency.
    pub fn send(&mut self, kind: &'static str, delivery: E) {
        self.counts.add_message(kind);
        let latency = self.draw_latency();
        self.events.schedule(latency, delivery);
    }

    /// The time that a message takes.
    pub fn draw_latency(&mut self) -> u64 {
        self.scenario.latency.draw(&mut self.chance)
    }

    /// Queues a message at a process that is busy until `busy_until` (in nanoseconds), and moves
    /// that time by the processing of this message. Returns the microseconds until the process has
    /// handled it.
    pub fn queue_message(&self, busy_until: &mut u64, slowness: u64) -> u64 {
        let now = self.now() * 1000;
        *busy_until = now.max(*busy_until) + self.scenario.processing_time * slowness;
        (*busy_until - now) / 1000
    }

    /// A crawler that was not there before.
    pub fn new_crawler(&mut self) -> (CrawlerId, SimulatedCrawler) {
        let number = self.next_crawler;
        self.next_crawler += 1;
        (CrawlerId(number), SimulatedCrawler::new(&[self.scenario.seed, 0xC4A3, number]))
    }

    /// A crawler fails, unless it is the last one.
    pub fn lose_crawler<C>(&mut self, crawlers: &mut BTreeMap<CrawlerId, C>) {
        if crawlers.len() > 1 {
            let lost = self.chance.below(crawlers.len());
            let crawler = *crawlers.keys().nth(lost).expect("the index is below the length");
            crawlers.remove(&crawler);
        }
    }

    /// A crawler begins a job, or loads the URL. Schedules the end and returns the time it takes.
    pub fn begin_task(&mut self, job: Option<&Job>, end: E) -> u64 {
        self.counts.add_task(job);
        let time = self.task_time(job);
        self.events.schedule(time, end);
        time
    }

    fn task_time(&self, job: Option<&Job>) -> u64 {
        let reset = if job.is_none_or(|job| job.reset) { self.scenario.reset_cost } else { 0.0 };
        let cost = job.map_or(reset, |job| reset + job.walk.len() as f64 + 1.0);
        (cost * self.scenario.action_time as f64) as u64
    }

    /// Performs a job and counts what it costs.
    pub fn perform(&mut self, crawler: &mut SimulatedCrawler, job: &Job) -> (Outcome, Spent) {
        let (outcome, spent) = crawler.perform(self.world, job);
        self.counts.spent = self.counts.spent.plus(spent);
        let is_done = matches!(outcome, Outcome::Done { .. });
        if is_done && !self.executed.insert((job.state, job.action)) {
            self.counts.reexecuted += 1;
            self.counts.reexecution_time += self.task_time(Some(job));
        }
        (outcome, spent)
    }
}
