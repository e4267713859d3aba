//! A star of crawlers around one coordinator, simulated: the static scheme. Discrete events, one trace per seed.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{self, Coordinator, CoordinatorTimer};
use argiope_controller::star::division::DivisionPlan;
use argiope_controller::star::node::{self, Performed, StarNode};
use argiope_controller::star::{NodeReport, ToNode};
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};

use crate::cluster::Counts;
use crate::cluster::clock::Clock;
use crate::cluster::scenario::{Happening, Scenario};
use crate::crawler::{SimulatedCrawler, World};

/// The coordinator waits for so many tasks for crawlers that should be there.
const GATHER: u64 = 8;

/// What arrives twice takes so many times as long the second time.
const LATE: u64 = 20;

/// A crawler whose messages may get lost is reminded after so many tasks.
const REMINDED: u64 = 2;

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
    Told(NodeReport),
    /// The coordinator has worked through what came before and takes it in.
    Takes(NodeReport),
    /// The coordinator's timer goes off.
    Woken(CoordinatorTimer),
    /// The coordinator's word arrives at a crawler.
    Received(CrawlerId, ToNode),
    /// A crawler is done with what it was doing.
    Performed(CrawlerId),
    /// A crawler notices that time has passed.
    Reminded(CrawlerId),
}

/// What befalls a star beside its crawlers.
#[derive(Clone, Debug, Default)]
pub struct StarFaults {
    /// So many of a thousand messages get lost, and as many arrive twice.
    pub messages: usize,
    /// The coordinator ends and begins again with what it kept, each time after such a part of all transitions.
    pub restarts: Vec<f64>,
}

struct Crawling {
    node: StarNode,
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
    troubles: StarFaults,
    plan: DivisionPlan,
    /// What the coordinator has kept, if it may need it.
    kept: Vec<Fact>,
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
        Self::with_troubles(world, scenario, StarFaults::default())
    }

    /// Begins where more happens than that crawlers come and go.
    ///
    /// # Panics
    ///
    /// If the scenario is not one of a star.
    pub fn with_troubles(world: &'a World<'a>, scenario: Scenario, troubles: StarFaults) -> Self {
        let division = scenario.division.expect("a star divides its work");
        let plan = DivisionPlan { division, shares: scenario.crawlers };
        let mut happenings = scenario.happenings.clone();
        happenings.sort_by(|a, b| b.0.total_cmp(&a.0));
        let times = times(&scenario);
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
            troubles,
            plan,
            kept: Vec::new(),
            counts: Counts::default(),
            finished: false,
            scenario,
        };
        star.coordinate(coordinator::CoordinatorInput::Start);
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
        self.restart_if_due();
        true
    }

    fn restart_if_due(&mut self) {
        let share = self.executed.len() as f64 / self.world.transitions() as f64;
        let before = self.troubles.restarts.len();
        self.troubles.restarts.retain(|&at| at > share);
        if self.troubles.restarts.len() < before && !self.finished {
            self.coordinator = Coordinator::restored(self.plan, times(&self.scenario), &self.kept);
            self.coordinate(coordinator::CoordinatorInput::Start);
        }
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
            Event::Takes(tell) => self.coordinate(coordinator::CoordinatorInput::Told(tell)),
            Event::Woken(timer) => self.coordinate(coordinator::CoordinatorInput::Woken(timer)),
            Event::Received(crawler, told) => self.tell(crawler, node::NodeInput::Received(told)),
            Event::Performed(crawler) => self.performed(crawler),
            Event::Reminded(crawler) => {
                if self.crawlers.contains_key(&crawler) {
                    self.tell(crawler, node::NodeInput::Remind);
                    self.clock.after(REMINDED * self.scenario.times.task, Event::Reminded(crawler));
                }
            }
        }
    }

    fn coordinate(&mut self, input: coordinator::CoordinatorInput) {
        let mut effects = Vec::new();
        self.coordinator.handle(self.clock.now(), input, &mut effects);
        for effect in effects {
            match effect {
                coordinator::CoordinatorEffect::Answer(crawler, told) => {
                    self.count("news");
                    let time = self.scenario.latency.draw(&mut self.chance);
                    if let Some(crawling) = self.crawlers.get_mut(&crawler) {
                        crawling.network += time;
                    }
                    for copy in 0..self.arrivals() {
                        self.clock.after(
                            time + copy * LATE * time,
                            Event::Received(crawler, told.clone()),
                        );
                    }
                }
                coordinator::CoordinatorEffect::Wake(timer, time) => {
                    self.clock.after(time, Event::Woken(timer))
                }
                coordinator::CoordinatorEffect::Keep(part)
                    if !self.troubles.restarts.is_empty() =>
                {
                    self.kept.push(part)
                }
                coordinator::CoordinatorEffect::Keep(_) => {}
                coordinator::CoordinatorEffect::Finished => {
                    self.finished = true;
                    self.counts.ended = self.clock.now();
                    let crawlers: Vec<CrawlerId> = self.crawlers.keys().copied().collect();
                    crawlers.into_iter().for_each(|crawler| self.waited(crawler));
                }
            }
        }
    }

    /// How often a message arrives.
    fn arrivals(&mut self) -> u64 {
        let troubles = self.troubles.messages;
        if troubles == 0 {
            return 1;
        }
        match self.chance.below(1000) {
            drawn if drawn < troubles => 0,
            drawn if drawn < 2 * troubles => 2,
            _ => 1,
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
        let node = StarNode::new(crawler, scenario.strategy, scenario.exploring());
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
        if self.troubles.messages > 0 || !self.troubles.restarts.is_empty() {
            self.clock.after(REMINDED * self.scenario.times.task, Event::Reminded(crawler));
        }
        self.tell(crawler, node::NodeInput::Start);
    }

    fn tell(&mut self, crawler: CrawlerId, input: node::NodeInput) {
        let mut effects = Vec::new();
        let Some(crawling) = self.crawlers.get_mut(&crawler) else { return };
        crawling.node.handle(input, &mut effects);
        for effect in effects {
            match effect {
                node::NodeEffect::Load => self.begin(crawler, None),
                node::NodeEffect::Perform(job) => self.begin(crawler, Some(job)),
                node::NodeEffect::Send(tell) => {
                    self.count("told");
                    let time = self.scenario.latency.draw(&mut self.chance);
                    if let Some(crawling) = self.crawlers.get_mut(&crawler) {
                        crawling.network += time;
                    }
                    for copy in 0..self.arrivals() {
                        self.clock.after(time + copy * LATE * time, Event::Told(tell.clone()));
                    }
                }
                node::NodeEffect::Finished => {}
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
                node::NodeInput::Loaded(crawling.simulated.load(self.world), None)
            }
            Some(job) => {
                let (outcome, spent) = crawling.simulated.perform(self.world, &job);
                self.counts.spent = self.counts.spent.plus(spent);
                if !self.executed.insert((job.state, job.action)) {
                    self.counts.reexecuted += 1;
                }
                node::NodeInput::Performed(Performed { outcome, spent, content: None })
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

    /// How often plain links were followed more than once.
    pub fn followed_again(&self) -> usize {
        let links = self.links();
        links.values().map(|followed| followed.saturating_sub(1)).sum()
    }

    /// The plain links that are offered, and from how many states each was followed.
    fn links(&self) -> BTreeMap<u32, usize> {
        let mut links = BTreeMap::new();
        for found in self.coordinator.states() {
            for &(action, _) in self.world.from(self.world.state(found.key)) {
                if self.world.is_link(action) {
                    let target =
                        self.coordinator.target(found.key, crate::crawl::signature_of(action));
                    *links.entry(action).or_default() += usize::from(target.is_some());
                }
            }
        }
        links
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
                let link = self.world.is_link(action);
                let (action, to) = (crate::crawl::signature_of(action), crate::crawl::key_of(to));
                let target = self.coordinator.target(found.key, action);
                if target != Some(to) && !(link && target.is_none()) {
                    return Some(format!(
                        "{action:?} of {:?} leads to {target:?}, not to {to:?}",
                        found.key
                    ));
                }
            }
        }
        let missed = self.links().into_iter().find(|&(_, followed)| followed == 0);
        missed.map(|(link, _)| format!("the plain link {link} was not followed"))
    }
}

fn times(scenario: &Scenario) -> coordinator::CoordinatorTimeouts {
    let task = scenario.times.task;
    coordinator::CoordinatorTimeouts { task, gather: GATHER * task }
}
