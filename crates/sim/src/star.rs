//! A star of crawlers around one coordinator, simulated: the static scheme. Discrete events, one trace per seed.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{self, Coordinator, Timer};
use argiope_controller::star::division::Plan;
use argiope_controller::star::node::{self, Node, Performed};
use argiope_controller::star::{Tell, ToNode};
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};

use crate::cluster::Counts;
use crate::cluster::clock::Clock;
use crate::cluster::scenario::{Happening, Scenario};
use crate::crawler::{SimulatedCrawler, World};

/// The coordinator waits for so many tasks for crawlers that should be there.
const GATHER: u64 = 8;

/// What the time of a crawler went into, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// Actions and loads.
    pub acting: u64,
    /// Waiting for messages that are on their way.
    pub network: u64,
    /// Waiting for the coordinator to get round to it.
    pub coordinator: u64,
    /// Waiting for somebody to find something.
    pub idle: u64,
}

enum Event {
    /// A crawler's word arrives at the coordinator.
    Told(Tell),
    /// The coordinator has worked through what came before and takes it in.
    Takes(Tell),
    /// The coordinator's timer goes off.
    Woken(Timer),
    /// The coordinator's word arrives at a crawler.
    Received(CrawlerId, ToNode),
    /// A crawler is done with what it was doing.
    Performed(CrawlerId),
}

struct Crawling {
    node: Node,
    simulated: SimulatedCrawler,
    /// What it is doing; to load the URL, if it is no job.
    doing: Option<Option<Job>>,
    /// Since when it has had nothing to do, and what of that it is known to have waited for.
    waits_since: u64,
    network: u64,
    coordinator: u64,
    time: Breakdown,
}

/// A simulation in progress.
pub struct Star<'a> {
    world: &'a World<'a>,
    scenario: Scenario,
    clock: Clock<Event>,
    coordinator: Coordinator,
    /// When the coordinator is done with what came before, in nanoseconds.
    busy_until: u64,
    crawlers: BTreeMap<CrawlerId, Crawling>,
    next_crawler: u64,
    chance: Chance,
    executed: BTreeSet<(StateKey, ActionSignature)>,
    happenings: Vec<(f64, Happening)>,
    counts: Counts,
    finished: bool,
}

impl<'a> Star<'a> {
    /// Begins.
    ///
    /// # Panics
    ///
    /// If the scenario is not one of a star.
    pub fn new(world: &'a World<'a>, scenario: Scenario) -> Self {
        let division = scenario.division.expect("a star divides its work");
        let plan = Plan { division, shares: scenario.crawlers };
        let mut happenings = scenario.happenings.clone();
        happenings.sort_by(|a, b| b.0.total_cmp(&a.0));
        let task = scenario.times.task;
        let times = coordinator::Times { task, gather: GATHER * task };
        let mut star = Self {
            world,
            clock: Clock::default(),
            coordinator: Coordinator::new(plan, times),
            busy_until: 0,
            crawlers: BTreeMap::new(),
            next_crawler: 0,
            chance: Chance::new(&[scenario.seed, 0x57A2]),
            executed: BTreeSet::new(),
            happenings,
            counts: Counts::default(),
            finished: false,
            scenario,
        };
        star.coordinate(coordinator::Input::Start);
        for _ in 0..star.scenario.crawlers {
            star.add_crawler();
        }
        star
    }

    /// To the end.
    pub fn run(&mut self) {
        while !self.finished && self.step() {}
    }

    /// Lets the next thing happen; false when nothing will happen any more.
    fn step(&mut self) -> bool {
        let Some(event) = self.clock.advance() else { return false };
        self.happen(event);
        while let Some(&(share, happening)) = self.happenings.last()
            && self.executed.len() as f64 >= share * self.world.transitions() as f64
        {
            self.happenings.pop();
            match happening {
                Happening::AddCrawler => self.add_crawler(),
                Happening::LoseCrawler if self.crawlers.len() > 1 => {
                    let at = self.chance.below(self.crawlers.len());
                    let crawler = *self.crawlers.keys().nth(at).expect("there are more than one");
                    self.crawlers.remove(&crawler);
                }
                // There is no ring that anything could happen to.
                _ => {}
            }
        }
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Told(tell) => {
                let now = self.clock.now() * 1000;
                self.busy_until = self.busy_until.max(now) + self.scenario.processing;
                let wait = (self.busy_until - now) / 1000;
                if let Some(crawling) = self.crawlers.get_mut(&tell.crawler) {
                    crawling.coordinator += wait;
                }
                self.clock.after(wait, Event::Takes(tell));
            }
            Event::Takes(tell) => self.coordinate(coordinator::Input::Told(tell)),
            Event::Woken(timer) => self.coordinate(coordinator::Input::Woken(timer)),
            Event::Received(crawler, told) => self.tell(crawler, node::Input::Received(told)),
            Event::Performed(crawler) => self.performed(crawler),
        }
    }

    fn coordinate(&mut self, input: coordinator::Input) {
        let mut effects = Vec::new();
        self.coordinator.handle(self.clock.now(), input, &mut effects);
        for effect in effects {
            match effect {
                coordinator::Effect::Answer(crawler, told) => {
                    self.count("news");
                    let time = self.scenario.latency.draw(&mut self.chance);
                    if let Some(crawling) = self.crawlers.get_mut(&crawler) {
                        crawling.network += time;
                    }
                    self.clock.after(time, Event::Received(crawler, told));
                }
                coordinator::Effect::Wake(timer, time) => self.clock.after(time, Event::Woken(timer)),
                // The simulated coordinator does not fail.
                coordinator::Effect::Keep(_) => {}
                coordinator::Effect::Finished => {
                    self.finished = true;
                    self.counts.ended = self.clock.now();
                    let crawlers: Vec<CrawlerId> = self.crawlers.keys().copied().collect();
                    crawlers.into_iter().for_each(|crawler| self.waited(crawler));
                }
            }
        }
    }

    fn count(&mut self, kind: &'static str) {
        *self.counts.messages.entry(kind).or_default() += 1;
    }

    fn add_crawler(&mut self) {
        let number = self.next_crawler;
        self.next_crawler += 1;
        let crawler = CrawlerId(number);
        let scenario = &self.scenario;
        let node = Node::new(crawler, scenario.strategy, scenario.exploring());
        let simulated = SimulatedCrawler::new(&[scenario.seed, 0xC4A3, number]);
        let waits_since = self.clock.now();
        let crawling = Crawling {
            node,
            simulated,
            doing: None,
            waits_since,
            network: 0,
            coordinator: 0,
            time: Breakdown::default(),
        };
        self.crawlers.insert(crawler, crawling);
        self.tell(crawler, node::Input::Start);
    }

    fn tell(&mut self, crawler: CrawlerId, input: node::Input) {
        let mut effects = Vec::new();
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        crawling.node.handle(input, &mut effects);
        for effect in effects {
            match effect {
                node::Effect::Load => self.begin(crawler, None),
                node::Effect::Perform(job) => self.begin(crawler, Some(job)),
                node::Effect::Send(tell) => {
                    self.count("told");
                    let time = self.scenario.latency.draw(&mut self.chance);
                    if let Some(crawling) = self.crawlers.get_mut(&crawler) {
                        crawling.network += time;
                    }
                    self.clock.after(time, Event::Told(tell));
                }
                node::Effect::Finished => {}
            }
        }
    }

    fn begin(&mut self, crawler: CrawlerId, job: Option<Job>) {
        self.waited(crawler);
        let cost = self.counts.begin(job.as_ref(), self.scenario.reset_cost);
        let time = (cost * self.scenario.action as f64) as u64;
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        crawling.doing = Some(job);
        crawling.time.acting += time;
        self.clock.after(time, Event::Performed(crawler));
    }

    /// A crawler has waited until now.
    fn waited(&mut self, crawler: CrawlerId) {
        let now = self.clock.now();
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        if crawling.doing.is_some() {
            return;
        }
        let waited = now - crawling.waits_since;
        let network = crawling.network.min(waited);
        let coordinator = crawling.coordinator.min(waited - network);
        crawling.time.network += network;
        crawling.time.coordinator += coordinator;
        crawling.time.idle += waited - network - coordinator;
        crawling.waits_since = now;
        self.counts.idle += waited;
    }

    fn performed(&mut self, crawler: CrawlerId) {
        let now = self.clock.now();
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        let Some(doing) = crawling.doing.take() else { return };
        // What it waits for from now on was not on its way before.
        (crawling.waits_since, crawling.network, crawling.coordinator) = (now, 0, 0);
        let input = match doing {
            None => {
                self.counts.spent = self.counts.spent.plus(Spent { actions: 0, resets: 1 });
                node::Input::Loaded(crawling.simulated.load(self.world), None)
            }
            Some(job) => {
                let (outcome, spent) = crawling.simulated.perform(self.world, &job);
                self.counts.spent = self.counts.spent.plus(spent);
                if !self.executed.insert((job.state, job.action)) {
                    self.counts.reexecuted += 1;
                }
                node::Input::Performed(Performed { outcome, spent, content: None, notes: None })
            }
        };
        self.tell(crawler, input);
    }

    /// What was asked for.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The application.
    pub fn world(&self) -> &World<'a> {
        self.world
    }

    /// What was counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the time of each crawler went into.
    pub fn times(&self) -> Vec<Breakdown> {
        self.crawlers.values().map(|crawling| crawling.time).collect()
    }

    /// What is wrong in the end, if anything: it did not end, or the model is not the application.
    pub fn wrong(&self) -> Option<String> {
        if !self.finished {
            return Some("it does not end".to_owned());
        }
        let states = self.coordinator.states();
        if states.len() != self.world.states() {
            return Some(format!("{} of {} states were found", states.len(), self.world.states()));
        }
        for found in states {
            for &(action, to) in self.world.from(self.world.state(found.key)) {
                let (action, to) = (crate::crawl::signature_of(action), crate::crawl::key_of(to));
                let target = self.coordinator.target(found.key, action);
                if target != Some(to) {
                    return Some(format!("{action:?} of {:?} leads to {target:?}, not to {to:?}", found.key));
                }
            }
        }
        None
    }
}
