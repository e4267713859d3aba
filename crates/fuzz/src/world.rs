//! A small honest world: an application of nine states, a ring and a star that crawl it, and what
//! one machine of each receives. It makes the valid inputs that mutations begin with.

use std::collections::BTreeMap;

use argiope_controller::Controller;
use argiope_controller::input::{ControllerEffect, ControllerInput};
use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{Note, Offered, Outcome, Sighting};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{
    Envelope, PeerEffect, PeerInput, PeerTimer, TaskReport, ToCrawler,
};
use argiope_controller::peer::schemes;
use argiope_controller::peer::settings::{PeerSettings, PeerTimeouts, Recovery};
use argiope_controller::settings::{ControllerSettings, CrawlLimits, StopAt};
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{
    CoordinatorEffect, CoordinatorInput, CoordinatorTimeouts, CoordinatorTimer,
};
use argiope_controller::star::division::{self, DivisionPlan};
use argiope_controller::star::node::{NodeEffect, NodeInput, Performed};
use argiope_controller::star::{Coordinator, NodeReport, StarNode, ToNode};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use argiope_ring::Key;
use argiope_runtime::cluster::protocol::{Between, CrawlId, FromCrawler, TabTimes, ToTabs};

use crate::targets::machines::{MachineEvent, MachineSetup, MachineStep, NodeOutcome, Start};

/// The crawl.
pub const CRAWL: CrawlId = CrawlId(1);
/// The controllers of a ring. The first one is the machine under test.
pub const KEYS: [Key; 4] = [Key(1 << 126), Key(3 << 125), Key(7 << 124), Key(1 << 120)];
/// The number of states of the application.
const STATES: u128 = 9;
/// A plain link that most states offer.
pub const LINK: ActionSignature = ActionSignature(100);
/// The time of a message and of an action, in microseconds.
const DELAY: u64 = 2_000;
const ACTION: u64 = 9_000;

/// The settings of a ring; each number chooses one of those that there are.
pub fn peer_settings(scheme: u8, recovery: u8, backups: u8, seed: u64) -> PeerSettings {
    let strategy =
        strategies::FOR_PARTIAL_GRAPHS[seed as usize % strategies::FOR_PARTIAL_GRAPHS.len()];
    PeerSettings {
        scheme: &schemes::ALL[scheme as usize % schemes::ALL.len()],
        strategy: strategies::find(strategy).expect("it is registered"),
        exploring: StrategySettings { reset_cost: 2.0, seed },
        seeds: [].into(),
        recovery: match recovery % 4 {
            0 => Recovery::Redundancy,
            1 => Recovery::Retry,
            2 => Recovery::Combined { period: None },
            _ => Recovery::Adaptive,
        },
        backups: backups as usize % 3,
        successors: 3,
        times: PeerTimeouts::default(),
    }
}

/// The timeouts of a star.
pub const STAR_TIMES: CoordinatorTimeouts = CoordinatorTimeouts { task: 1_000_000, gather: 20_000 };

fn key(number: u128) -> StateKey {
    StateKey((number % STATES + 1) * (u128::MAX / (STATES + 1)))
}

fn sighting(number: u128) -> Sighting {
    let actions = (0..3).map(|action| ActionSignature((number % 3) as u64 * 10 + action));
    let mut offers: Vec<Offered> = actions.map(|action| Offered { action, once: false }).collect();
    if number.is_multiple_of(2) {
        offers.push(Offered { action: LINK, once: true });
    }
    Sighting::described(key(number), offers)
}

fn number_of(state: StateKey) -> u128 {
    (state.0 / (u128::MAX / (STATES + 1))).saturating_sub(1)
}

/// Performs a job: where its candidate leads.
fn perform(job: &Job) -> Outcome {
    let from = number_of(job.state);
    let to = if job.action == LINK { 8 } else { from * 2 + u128::from(job.action.0) + 1 };
    let notes = if from == 3 { vec![Note::Unsettled] } else { Vec::new() };
    Outcome::Done { at: sighting(to), notes, once: job.action == LINK || job.action.0 == 12 }
}

/// The facts of a crawl on one machine.
pub fn lone_journal() -> Vec<Fact> {
    let mut controller = Controller::new(ControllerSettings {
        strategy: strategies::find("greedy").expect("it is registered"),
        exploring: StrategySettings { reset_cost: 2.0, seed: 1 },
        limits: CrawlLimits::default(),
        ahead: 0,
        stop_at: StopAt::All,
    });
    let crawler = CrawlerId(0);
    let (mut effects, mut facts) = (Vec::new(), Vec::new());
    let spent = Spent { actions: 1, resets: 1 };
    controller
        .handle(ControllerInput::Ready { crawler, at: Some(sighting(0)), spent }, &mut effects);
    while !effects.is_empty() {
        for effect in std::mem::take(&mut effects) {
            match effect {
                ControllerEffect::Keep(fact) => facts.push(fact),
                ControllerEffect::Assign { job, .. } => {
                    let outcome = perform(&job);
                    let finished =
                        ControllerInput::Finished { crawler, job: job.id, outcome, spent };
                    controller.handle(finished, &mut effects);
                }
                ControllerEffect::Rest { .. } | ControllerEffect::Finished { .. } => {}
            }
        }
    }
    facts
}

/// What happens in a ring while it crawls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Incident {
    /// Nothing.
    None,
    /// The second controller leaves.
    Leave,
    /// The second controller fails.
    Fail,
    /// The first controller joins late.
    Join,
}

enum Delivery {
    Message(usize, Key, Envelope),
    Report(usize, TaskReport),
    Timer(usize, PeerTimer),
    Happens,
}

/// A ring of three that crawls the application.
pub struct RecordedRing {
    peers: Vec<Peer>,
    failed: Option<usize>,
    queue: BTreeMap<(u64, u64), Delivery>,
    next: u64,
    now: u64,
    last: u64,
    /// The timers of the first controller that have not fired.
    pending: Vec<PeerTimer>,
    /// What the first controller received.
    pub steps: Vec<MachineStep>,
    /// What the first controller kept.
    pub facts: Vec<Fact>,
}

impl RecordedRing {
    /// Runs until nothing happens, or for a number of inputs of the first controller.
    pub fn run(setup: &MachineSetup, incident: Incident, most: usize) -> Self {
        let settings = peer_settings(setup.scheme, setup.recovery, setup.backups, setup.seed);
        let founders = if incident == Incident::Join { &KEYS[1..3] } else { &KEYS[..3] };
        let peers = KEYS[..3].iter().map(|&me| match founders.contains(&me) {
            true => Peer::founder(settings.clone(), me, founders),
            false => Peer::newcomer(settings.clone(), me),
        });
        let mut ring = Self {
            peers: peers.collect(),
            failed: None,
            queue: BTreeMap::new(),
            next: 0,
            now: 1,
            last: 1,
            pending: Vec::new(),
            steps: Vec::new(),
            facts: Vec::new(),
        };
        for (at, me) in KEYS[..3].iter().enumerate() {
            // The machine under test starts by itself, as its setup says.
            let input =
                if founders.contains(me) { PeerInput::Start } else { PeerInput::Join(KEYS[1]) };
            ring.give(at, input);
        }
        for crawler in 0..3 {
            let report = TaskReport::new(CrawlerId(crawler), 1);
            ring.after(ACTION, Delivery::Report(crawler as usize, report));
        }
        ring.after(6 * ACTION, Delivery::Happens);
        while ring.steps.len() < most
            && let Some(((now, _), delivery)) = ring.queue.pop_first()
        {
            ring.now = now;
            ring.deliver(delivery, incident);
        }
        ring
    }

    fn after(&mut self, delay: u64, delivery: Delivery) {
        self.next += 1;
        self.queue.insert((self.now + delay, self.next), delivery);
    }

    fn record(&mut self, event: MachineEvent) {
        let after = u32::try_from(self.now - self.last).unwrap_or(u32::MAX);
        self.last = self.now;
        self.steps.push(MachineStep { after, event });
    }

    fn deliver(&mut self, delivery: Delivery, incident: Incident) {
        let input = match delivery {
            Delivery::Happens if incident == Incident::Leave => (1, PeerInput::Leave),
            Delivery::Happens => {
                self.failed = (incident == Incident::Fail).then_some(1);
                return;
            }
            Delivery::Message(to, from, envelope) => {
                if to == 0 {
                    let other = KEYS.iter().position(|&known| known == from).unwrap_or(1);
                    let message = Between::Peer(CRAWL, envelope.clone(), Vec::new());
                    self.record(MachineEvent::Controller(other as u8 - 1, message));
                }
                (to, PeerInput::Message(from, envelope))
            }
            Delivery::Report(to, report) => {
                if to == 0 {
                    let spent = (argiope_controller::spent::WriterId(1), Spent::default());
                    let message = FromCrawler::Report(
                        CRAWL,
                        report.clone(),
                        spent,
                        TabTimes::default(),
                        Vec::new(),
                    );
                    self.record(MachineEvent::Crawler(message));
                }
                (to, PeerInput::Report(report))
            }
            Delivery::Timer(to, timer) => {
                if to == 0 {
                    let at = self.pending.iter().position(|known| *known == timer);
                    let at = at.expect("it was set");
                    self.pending.remove(at);
                    self.record(MachineEvent::Timer(at as u16));
                }
                (to, PeerInput::Timer(timer))
            }
        };
        self.give(input.0, input.1);
    }

    fn give(&mut self, to: usize, input: PeerInput) {
        if self.failed == Some(to) {
            return;
        }
        let mut effects = Vec::new();
        self.peers[to].handle(self.now, input, &mut effects);
        let from = KEYS[to];
        for effect in effects {
            match effect {
                PeerEffect::Send(receiver, envelope) => {
                    if let Some(at) = KEYS[..3].iter().position(|&known| known == receiver) {
                        self.after(DELAY, Delivery::Message(at, from, envelope));
                    }
                }
                PeerEffect::Broadcast(hints) => {
                    for at in (0..3).filter(|&at| at != to) {
                        let message = argiope_controller::peer::message::PeerMessage::Learned;
                        let envelope =
                            Envelope { hints: hints.clone(), ..Envelope::new(None, message) };
                        self.after(DELAY, Delivery::Message(at, from, envelope));
                    }
                }
                PeerEffect::Tell(crawler, ToCrawler::Task(task)) => {
                    let report = match &task.job {
                        Some(job) => TaskReport::of(
                            crawler,
                            task.number + 1,
                            &task,
                            (perform(job), Spent::default()),
                            None,
                        ),
                        None => TaskReport {
                            task: Some(task.id),
                            at: Some(sighting(0)),
                            route: Some([].into()),
                            ..TaskReport::new(crawler, task.number + 1)
                        },
                    };
                    self.after(ACTION, Delivery::Report(crawler.0 as usize % 3, report));
                }
                PeerEffect::Wake(timer, after) => {
                    if to == 0 {
                        self.pending.push(timer);
                    }
                    self.after(after, Delivery::Timer(to, timer));
                }
                PeerEffect::Keep(fact) if to == 0 => self.facts.push(fact),
                PeerEffect::Keep(_)
                | PeerEffect::Tell(..)
                | PeerEffect::Executed(_)
                | PeerEffect::Left
                | PeerEffect::Finished(_) => {}
            }
        }
    }
}

/// The facts that a member of a ring keeps.
pub fn ring_journal() -> Vec<Fact> {
    let setup = MachineSetup { scheme: 6, backups: 1, ..MachineSetup::new(Start::Founders) };
    RecordedRing::run(&setup, Incident::None, 400).facts
}

/// A star of two nodes that crawls the application.
#[derive(Default)]
pub struct RecordedStar {
    /// What the coordinator received.
    pub reports: Vec<MachineStep>,
    /// What the first node received.
    pub news: Vec<MachineStep>,
    /// What the coordinator kept.
    pub facts: Vec<Fact>,
}

impl RecordedStar {
    /// Runs until the crawl is over.
    pub fn run(setup: &MachineSetup) -> Self {
        let mut star = Self::default();
        let plan = star_plan(setup);
        let mut coordinator = Coordinator::new(plan, STAR_TIMES);
        let strategy = strategies::find("greedy").expect("it is registered");
        let exploring = StrategySettings { reset_cost: 2.0, seed: setup.seed };
        let mut nodes: Vec<StarNode> =
            (0..2).map(|id| StarNode::new(CrawlerId(id), strategy, exploring)).collect();
        let mut waiting: Vec<(usize, NodeInput)> =
            vec![(0, NodeInput::Start), (1, NodeInput::Start)];
        let mut reports: Vec<NodeReport> = Vec::new();
        let mut now = 1;
        for _ in 0..10_000 {
            now += ACTION;
            if let Some((at, input)) = (!waiting.is_empty()).then(|| waiting.remove(0)) {
                let mut effects = Vec::new();
                nodes[at].handle(input, &mut effects);
                for effect in effects {
                    match effect {
                        NodeEffect::Load => {
                            let input = NodeInput::Loaded(sighting(0), None);
                            star.hear(at, MachineEvent::Loaded(sighting(0)));
                            waiting.push((at, input));
                        }
                        NodeEffect::Perform(job) => {
                            let outcome = perform(&job);
                            star.hear(at, MachineEvent::Performed(NodeOutcome::of(&outcome)));
                            let spent = Spent { actions: 1, resets: 0 };
                            let performed = Performed { outcome, spent, content: None };
                            waiting.push((at, NodeInput::Performed(performed)));
                        }
                        NodeEffect::Send(report) => reports.push(report),
                        NodeEffect::Finished => return star,
                    }
                }
                continue;
            }
            let input = match (!reports.is_empty()).then(|| reports.remove(0)) {
                Some(report) => {
                    let message = Between::NodeReport(CRAWL, report.clone(), Vec::new());
                    let event = MachineEvent::Controller(0, message);
                    star.reports.push(MachineStep { after: ACTION as u32, event });
                    CoordinatorInput::Report(report)
                }
                None => CoordinatorInput::Timer(CoordinatorTimer::Gather),
            };
            let mut effects = Vec::new();
            coordinator.handle(now, input, &mut effects);
            for effect in effects {
                match effect {
                    CoordinatorEffect::Keep(fact) => star.facts.push(fact),
                    CoordinatorEffect::Answer(crawler, news) => {
                        star.answer(crawler, news, &mut waiting);
                    }
                    CoordinatorEffect::Wake(..) | CoordinatorEffect::Finished => {}
                }
            }
        }
        star
    }

    fn answer(&mut self, to: CrawlerId, news: ToNode, waiting: &mut Vec<(usize, NodeInput)>) {
        let message = ToTabs::News(CRAWL, to, news.clone());
        self.hear(to.0 as usize, MachineEvent::Tab(message));
        waiting.push((to.0 as usize, NodeInput::Message(news)));
    }

    fn hear(&mut self, at: usize, event: MachineEvent) {
        if at == 0 {
            self.news.push(MachineStep { after: ACTION as u32, event });
        }
    }
}

/// The division of a star, by its setup.
pub fn star_plan(setup: &MachineSetup) -> DivisionPlan {
    let (_, division) = division::ALL[setup.scheme as usize % division::ALL.len()];
    DivisionPlan { division, shares: 1 + setup.backups as usize % 3 }
}

/// The facts that a coordinator keeps.
pub fn star_journal() -> Vec<Fact> {
    let setup = MachineSetup { backups: 1, ..MachineSetup::new(Start::Coordinator) };
    RecordedStar::run(&setup).facts
}
