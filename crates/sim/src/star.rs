//! A simulated star: crawlers around one coordinator, with the work divided in advance (the static
//! scheme). Coordinator and nodes are the real ones; the network and the application are simulated.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{
    Coordinator, CoordinatorEffect, CoordinatorInput, CoordinatorTimeouts, CoordinatorTimer,
};
use argiope_controller::star::division::DivisionPlan;
use argiope_controller::star::node::{NodeEffect, NodeInput, Performed, StarNode};
use argiope_controller::star::{NodeReport, ToNode};

use crate::cluster::scenario::{FaultEvent, Scenario};
use crate::counts::Counts;
use crate::crawl::signature_of;
use crate::crawler::{SimulatedCrawler, World};
use crate::environment::Environment;
use crate::event_loop::{self, EventQueue, Simulation};

/// How long the coordinator waits for crawlers that are expected, in task timeouts.
const GATHER: u64 = 8;

/// The second copy of a duplicated message arrives this number of latencies after the first.
const DUPLICATE_DELAY: u64 = 20;

/// How often a node is reminded where messages may be lost, in task timeouts.
const REMINDER: u64 = 2;

/// What the time of a crawler went into, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeBreakdown {
    /// Actions and loads.
    pub acting: u64,
    /// Waiting for messages in transit.
    pub network: u64,
    /// Waiting for messages in the coordinator's queue.
    pub coordinator: u64,
    /// Waiting until other crawlers find work.
    pub idle: u64,
}

#[derive(Clone)]
pub(crate) enum StarEvent {
    /// A node's report arrives at the coordinator's queue.
    ReportArrived(NodeReport),
    /// The coordinator takes a report from its queue.
    ReportDequeued(NodeReport),
    CoordinatorTimer(CoordinatorTimer),
    /// A message of the coordinator arrives at a node.
    NodeMessage(CrawlerId, ToNode),
    /// A crawler ends its task.
    TaskEnded(CrawlerId),
    /// A node's reminder is due.
    NodeReminder(CrawlerId),
}

/// Faults of a star beyond crawlers that come and go.
#[derive(Clone, Debug, Default)]
pub struct StarFaults {
    /// The number of messages in a thousand that are lost; the same number is duplicated.
    pub messages: usize,
    /// The shares of all transitions after which the coordinator restarts from what it recorded.
    pub restarts: Vec<f64>,
}

struct StarCrawler {
    node: StarNode,
    simulated: SimulatedCrawler,
    /// The present task; `Some(None)` loads the URL.
    task: Option<Option<Job>>,
    waiting_since: u64,
    /// The share of the present wait that messages were in transit, or queued at the coordinator.
    network: u64,
    coordinator: u64,
    time: TimeBreakdown,
}

/// A simulation in progress.
pub struct Star<'a> {
    env: Environment<'a, StarEvent>,
    coordinator: Coordinator,
    /// When the coordinator's queue is empty, in nanoseconds.
    busy_until: u64,
    crawlers: BTreeMap<CrawlerId, StarCrawler>,
    faults: StarFaults,
    plan: DivisionPlan,
    /// The facts that the coordinator wrote, if it may restart.
    facts: Vec<Fact>,
    is_finished: bool,
}

impl<'a> Star<'a> {
    /// Starts a crawl.
    ///
    /// # Panics
    ///
    /// If the scenario names no division of the work.
    pub fn new(world: &'a World<'a>, scenario: Scenario) -> Self {
        Self::with_faults(world, scenario, StarFaults::default())
    }

    /// Starts a crawl in which messages are lost or the coordinator restarts.
    ///
    /// # Panics
    ///
    /// If the scenario names no division of the work.
    pub fn with_faults(world: &'a World<'a>, scenario: Scenario, faults: StarFaults) -> Self {
        let division = scenario.division.expect("the scenario of a star names a division");
        let plan = DivisionPlan { division, shares: scenario.crawlers };
        let mut star = Self {
            coordinator: Coordinator::new(plan, timeouts(&scenario)),
            env: Environment::new(world, scenario, 0x57A2),
            busy_until: 0,
            crawlers: BTreeMap::new(),
            faults,
            plan,
            facts: Vec::new(),
            is_finished: false,
        };
        star.tell_coordinator(CoordinatorInput::Start);
        for _ in 0..star.env.scenario.crawlers {
            star.add_crawler();
        }
        star
    }

    /// Runs the crawl to its end.
    pub fn run(&mut self) {
        event_loop::run(self);
    }

    fn inject_due_faults(&mut self) {
        while let Some(fault) = self.env.take_due_fault() {
            match fault {
                FaultEvent::AddCrawler => self.add_crawler(),
                FaultEvent::LoseCrawler => self.env.lose_crawler(&mut self.crawlers),
                // The other faults are those of a ring.
                _ => {}
            }
        }
        let (progress, before) = (self.env.progress(), self.faults.restarts.len());
        self.faults.restarts.retain(|&share| share > progress);
        if self.faults.restarts.len() < before && !self.is_finished {
            let timeouts = timeouts(&self.env.scenario);
            self.coordinator = Coordinator::restored(self.plan, timeouts, &self.facts);
            self.tell_coordinator(CoordinatorInput::Start);
        }
    }

    fn tell_coordinator(&mut self, input: CoordinatorInput) {
        let mut effects = Vec::new();
        self.coordinator.handle(self.env.now(), input, &mut effects);
        for effect in effects {
            match effect {
                CoordinatorEffect::Answer(crawler, message) => {
                    self.send("news", crawler, &StarEvent::NodeMessage(crawler, message));
                }
                CoordinatorEffect::Wake(timer, time) => {
                    self.env.events.schedule(time, StarEvent::CoordinatorTimer(timer));
                }
                CoordinatorEffect::Keep(fact) => {
                    if !self.faults.restarts.is_empty() {
                        self.facts.push(fact);
                    }
                }
                CoordinatorEffect::Finished => {
                    self.is_finished = true;
                    self.env.counts.ended_at = self.env.now();
                    let crawlers: Vec<CrawlerId> = self.crawlers.keys().copied().collect();
                    crawlers.into_iter().for_each(|crawler| self.end_wait(crawler));
                }
            }
        }
    }

    fn tell_node(&mut self, crawler: CrawlerId, input: NodeInput) {
        let mut effects = Vec::new();
        let Some(star_crawler) = self.crawlers.get_mut(&crawler) else { return };
        star_crawler.node.handle(input, &mut effects);
        for effect in effects {
            match effect {
                NodeEffect::Load => self.begin(crawler, None),
                NodeEffect::Perform(job) => self.begin(crawler, Some(job)),
                NodeEffect::Send(report) => {
                    self.send("told", crawler, &StarEvent::ReportArrived(report));
                }
                NodeEffect::Finished => {}
            }
        }
    }

    /// Sends a message between the coordinator and a crawler. It may be lost or duplicated.
    fn send(&mut self, kind: &'static str, crawler: CrawlerId, delivery: &StarEvent) {
        self.env.counts.add_message(kind);
        let latency = self.env.draw_latency();
        if let Some(crawler) = self.crawlers.get_mut(&crawler) {
            crawler.network += latency;
        }
        let faulty = self.faults.messages;
        let copies = match faulty {
            0 => 1,
            _ => match self.env.chance.below(1000) {
                drawn if drawn < faulty => 0,
                drawn if drawn < 2 * faulty => 2,
                _ => 1,
            },
        };
        for copy in 0..copies {
            let delay = latency + copy * DUPLICATE_DELAY * latency;
            self.env.events.schedule(delay, delivery.clone());
        }
    }

    fn add_crawler(&mut self) {
        let (crawler, simulated) = self.env.new_crawler();
        let scenario = &self.env.scenario;
        let node = StarNode::new(crawler, scenario.strategy, scenario.strategy_settings());
        let star_crawler = StarCrawler {
            node,
            simulated,
            task: None,
            waiting_since: self.env.now(),
            network: 0,
            coordinator: 0,
            time: TimeBreakdown::default(),
        };
        self.crawlers.insert(crawler, star_crawler);
        if self.faults.messages > 0 || !self.faults.restarts.is_empty() {
            self.schedule_reminder(crawler);
        }
        self.tell_node(crawler, NodeInput::Start);
    }

    fn schedule_reminder(&mut self, crawler: CrawlerId) {
        let delay = REMINDER * self.env.scenario.timeouts.task;
        self.env.events.schedule(delay, StarEvent::NodeReminder(crawler));
    }

    fn begin(&mut self, crawler: CrawlerId, job: Option<Job>) {
        self.end_wait(crawler);
        let time = self.env.begin_task(job.as_ref(), StarEvent::TaskEnded(crawler));
        let Some(crawler) = self.crawlers.get_mut(&crawler) else { return };
        crawler.task = Some(job);
        crawler.time.acting += time;
    }

    /// Accounts for the time that a crawler without a task has waited until now.
    fn end_wait(&mut self, crawler: CrawlerId) {
        let now = self.env.now();
        let Some(crawler) = self.crawlers.get_mut(&crawler) else { return };
        if crawler.task.is_some() {
            return;
        }
        let waited = now - crawler.waiting_since;
        let network = crawler.network.min(waited);
        let coordinator = crawler.coordinator.min(waited - network);
        crawler.time.network += network;
        crawler.time.coordinator += coordinator;
        crawler.time.idle += waited - network - coordinator;
        crawler.waiting_since = now;
        self.env.counts.idle_time += waited;
    }

    fn on_report_arrived(&mut self, report: NodeReport) {
        let wait = self.env.queue_message(&mut self.busy_until, 1);
        if let Some(crawler) = self.crawlers.get_mut(&report.crawler) {
            crawler.coordinator += wait;
        }
        self.env.events.schedule(wait, StarEvent::ReportDequeued(report));
    }

    fn on_task_ended(&mut self, crawler: CrawlerId) {
        let now = self.env.now();
        let Some(star_crawler) = self.crawlers.get_mut(&crawler) else { return };
        let Some(task) = star_crawler.task.take() else { return };
        // A message that was in transit before the wait began does not explain the wait.
        (star_crawler.waiting_since, star_crawler.network, star_crawler.coordinator) = (now, 0, 0);
        let input = match task {
            None => {
                let load = Spent { actions: 0, resets: 1 };
                self.env.counts.spent = self.env.counts.spent.plus(load);
                NodeInput::Loaded(star_crawler.simulated.load(self.env.world), None)
            }
            Some(job) => {
                let (outcome, spent) = self.env.perform(&mut star_crawler.simulated, &job);
                NodeInput::Performed(Performed { outcome, spent, content: None })
            }
        };
        self.tell_node(crawler, input);
    }

    fn on_node_reminder(&mut self, crawler: CrawlerId) {
        if self.crawlers.contains_key(&crawler) {
            self.tell_node(crawler, NodeInput::Remind);
            self.schedule_reminder(crawler);
        }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.env.scenario
    }

    /// The application.
    pub fn world(&self) -> &World<'a> {
        self.env.world
    }

    /// What the crawl has cost so far.
    pub fn counts(&self) -> &Counts {
        &self.env.counts
    }

    /// What the time of each crawler went into.
    pub fn crawler_times(&self) -> Vec<TimeBreakdown> {
        self.crawlers.values().map(|crawler| crawler.time).collect()
    }

    /// How often a plain link was followed after it had been followed from another state.
    pub fn refollowed_links(&self) -> usize {
        let mut followed = BTreeSet::new();
        let links = self.found().into_values().flatten().map(|(action, _)| action);
        links.filter(|&it| self.env.world.is_link(it) && !followed.insert(it)).count()
    }

    /// The transitions that the coordinator knows, by state, in the application's own numbers.
    fn found(&self) -> BTreeMap<u32, BTreeSet<(u32, u32)>> {
        let world = self.env.world;
        let executed = |key, action| {
            let target = self.coordinator.target(key, signature_of(action))?;
            Some((action, world.state(target)))
        };
        let found = self.coordinator.states().iter().map(|found| {
            let state = world.state(found.key);
            let actions = world.from(state).iter().map(|&(action, _)| action);
            (state, actions.filter_map(|action| executed(found.key, action)).collect())
        });
        found.collect()
    }

    /// The first way in which the finished crawl is wrong: it did not end, or the model differs
    /// from the application.
    pub fn violation(&self) -> Option<String> {
        if !self.is_finished {
            return Some("it does not end".to_owned());
        }
        self.env.world.difference(&self.found())
    }
}

impl Simulation for Star<'_> {
    type Event = StarEvent;

    fn events(&mut self) -> &mut EventQueue<StarEvent> {
        &mut self.env.events
    }

    fn is_over(&self) -> bool {
        self.is_finished
    }

    fn on_event(&mut self, event: StarEvent) {
        match event {
            StarEvent::ReportArrived(report) => self.on_report_arrived(report),
            StarEvent::ReportDequeued(report) => {
                self.tell_coordinator(CoordinatorInput::Told(report));
            }
            StarEvent::CoordinatorTimer(timer) => {
                self.tell_coordinator(CoordinatorInput::Woken(timer));
            }
            StarEvent::NodeMessage(crawler, message) => {
                self.tell_node(crawler, NodeInput::Received(message));
            }
            StarEvent::TaskEnded(crawler) => self.on_task_ended(crawler),
            StarEvent::NodeReminder(crawler) => self.on_node_reminder(crawler),
        }
        self.inject_due_faults();
    }
}

fn timeouts(scenario: &Scenario) -> CoordinatorTimeouts {
    let task = scenario.timeouts.task;
    CoordinatorTimeouts { task, gather: GATHER * task }
}
