//! The pure machines of a cluster: a member of a ring, the coordinator of a star, a node. Certified
//! processes send them anything that decodes, in any order, between any of their timers. None may
//! panic, their counts stay right, and what they send and keep is what others accept.

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{PeerEffect, PeerInput, PeerTimer, ToCrawler};
use argiope_controller::peer::settings::PeerSettings;
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{
    CoordinatorEffect, CoordinatorInput, CoordinatorTimer,
};
use argiope_controller::star::node::{NodeEffect, NodeInput, Performed};
use argiope_controller::star::{Coordinator, StarNode};
use argiope_explore::id::ActionSignature;
use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use argiope_runtime::cluster::protocol::{Between, FromCrawler, ToTabs, decode, encode};
use serde::{Deserialize, Serialize};

use super::FuzzTarget;
use crate::frames;
use crate::reached::{Reached, bucket};
use crate::world::{self, CRAWL, Incident, KEYS, RecordedRing, RecordedStar};

pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "machines",
    about: "peers, coordinators and nodes survive any messages of certified processes",
    framed: true,
    tokens: &[],
    run,
    seeds,
};

/// What a machine is, and how it starts. The first entry of an input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MachineSetup {
    /// Which machine.
    pub start: Start,
    /// Chooses the scheme of a ring, or the division of a star.
    pub scheme: u8,
    /// Chooses the failover policy.
    pub recovery: u8,
    /// Chooses the number of replicas, or of shares.
    pub backups: u8,
    /// The seed, which also chooses the strategy.
    pub seed: u64,
    /// What it has kept in an earlier life.
    pub kept: Vec<Fact>,
}

impl MachineSetup {
    /// A machine that has kept nothing.
    pub fn new(start: Start) -> Self {
        Self { start, scheme: 0, recovery: 0, backups: 0, seed: 0, kept: Vec::new() }
    }
}

/// A machine, and how it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Start {
    /// A controller alone in its ring.
    Alone,
    /// One of three founders of a ring.
    Founders,
    /// A controller that joins a ring.
    Newcomer,
    /// A controller that restarts and joins a ring.
    Returning,
    /// A controller that restarts and finds no ring.
    Reviving,
    /// The coordinator of a star.
    Coordinator,
    /// A node of a star.
    Node,
}

/// One input of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MachineStep {
    /// How much later than the one before it comes, in microseconds.
    pub after: u32,
    /// The input.
    pub event: MachineEvent,
}

/// What happens to a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there are few of them at a time")]
pub enum MachineEvent {
    /// A message of another controller.
    Controller(u8, Between),
    /// A message of a crawler process.
    Crawler(FromCrawler),
    /// One of its timers fires.
    Timer(u16),
    /// It is told to leave.
    Leave,
    /// A controller that may be in another ring is there.
    Meet(u8),
    /// A message of a controller to a tab: for nodes.
    Tab(ToTabs),
    /// The URL is loaded: for nodes.
    Loaded(Sighting),
    /// A job ends: for nodes.
    Performed(NodeOutcome),
    /// A node is reminded, is renamed, or could not begin.
    Nudge(u8),
}

/// How a job of a node ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeOutcome {
    kind: u8,
    went_right: u32,
    at: Sighting,
    once: bool,
    reason: JobFailure,
}

impl NodeOutcome {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let Outcome::Done { at, once, .. } = outcome else { unreachable!("all jobs succeed") };
        let (at, once) = (at.clone(), *once);
        Self { kind: 0, went_right: 0, at, once, reason: JobFailure::Hung }
    }

    fn outcome(self) -> Outcome {
        let Self { kind, went_right, at, once, reason } = self;
        match kind % 3 {
            0 => Outcome::Done { at, notes: Vec::new(), once },
            1 => Outcome::Elsewhere { went_right, at },
            _ => Outcome::Failed { went_right, reason },
        }
    }
}

/// The most effects of one input of a node: a message must not be an amplifier.
const MOST_EFFECTS: usize = 64;

fn run(input: &[u8]) -> Reached {
    let mut reached = Reached::default();
    let entries = frames::split(input);
    let mut entries = entries.iter();
    let setup = entries.next().and_then(|entry| decode::<MachineSetup>(entry));
    let Some(setup) = setup else {
        reached.refuse("setup");
        return reached;
    };
    reached.accept((setup.start, setup.scheme % 8, setup.recovery % 4));
    let mut machine = Machine::new(&setup);
    for entry in entries {
        let Some(step) = decode::<MachineStep>(entry) else {
            reached.refuse("step");
            continue;
        };
        reached.accept(kind(&step.event));
        machine.step(step, &mut reached);
    }
    reached
}

/// The kind of an event, by its first two tags.
fn kind(event: &MachineEvent) -> String {
    match event {
        MachineEvent::Controller(_, Between::Peer(_, envelope, _)) => {
            format!("{} {}", envelope.message.kind(), envelope.key.is_some())
        }
        other => format!("{other:?}").chars().take(24).collect(),
    }
}

#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
enum Machine {
    Peer(PeerUnderTest),
    Coordinator(Coordinator, u64, Vec<CoordinatorTimer>),
    Node(NodeUnderTest),
}

impl Machine {
    fn new(setup: &MachineSetup) -> Self {
        match setup.start {
            Start::Coordinator => {
                let plan = world::star_plan(setup);
                let machine = Coordinator::restored(plan, world::STAR_TIMES, &setup.kept);
                let mut machine = Self::Coordinator(machine, 1, Vec::new());
                machine.coordinate(CoordinatorInput::Start, &mut Reached::default());
                machine
            }
            Start::Node => Self::Node(NodeUnderTest::new(setup)),
            _ => Self::Peer(PeerUnderTest::new(setup)),
        }
    }

    fn step(&mut self, step: MachineStep, reached: &mut Reached) {
        match self {
            Self::Peer(peer) => peer.step(step, reached),
            Self::Node(node) => node.step(step.event, reached),
            Self::Coordinator(_, now, timers) => {
                *now += u64::from(step.after);
                let input = match step.event {
                    MachineEvent::Controller(_, Between::NodeReport(_, report, _))
                    | MachineEvent::Crawler(FromCrawler::NodeReport(_, report, ..)) => {
                        CoordinatorInput::Report(report)
                    }
                    MachineEvent::Controller(_, Between::Gone(_, crawler)) => {
                        CoordinatorInput::NodeLoss(crawler)
                    }
                    MachineEvent::Timer(at) if !timers.is_empty() => {
                        CoordinatorInput::Timer(timers.remove(at as usize % timers.len()))
                    }
                    _ => return,
                };
                self.coordinate(input, reached);
            }
        }
    }

    fn coordinate(&mut self, input: CoordinatorInput, reached: &mut Reached) {
        let Self::Coordinator(machine, now, timers) = self else { return };
        let mut effects = Vec::new();
        machine.handle(*now, input, &mut effects);
        for effect in effects {
            match effect {
                CoordinatorEffect::Keep(fact) => check_fact(&fact),
                CoordinatorEffect::Answer(crawler, news) => {
                    check_message(&ToTabs::News(CRAWL, crawler, news));
                }
                CoordinatorEffect::Wake(timer, _) => timers.push(timer),
                CoordinatorEffect::Finished => reached.note("finished"),
            }
        }
        for fact in machine.facts() {
            check_fact(&fact);
        }
        reached.note(("star", bucket(machine.states().len()), bucket(machine.left())));
        reached.note(("star nodes", machine.at_work().min(4), bucket(machine.transitions())));
    }
}

/// What a machine keeps must be what every reader accepts.
fn check_fact(fact: &Fact) {
    assert_eq!(decode::<Fact>(&encode(fact)).as_ref(), Some(fact), "it keeps what readers refuse");
}

/// What a machine sends must be what every receiver accepts.
fn check_message<T>(message: &T)
where
    T: Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(
        decode::<T>(&encode(message)).as_ref(),
        Some(message),
        "it sends what receivers refuse"
    );
}

struct PeerUnderTest {
    peer: Peer,
    now: u64,
    timers: Vec<PeerTimer>,
}

impl PeerUnderTest {
    fn new(setup: &MachineSetup) -> Self {
        let settings =
            world::peer_settings(setup.scheme, setup.recovery, setup.backups, setup.seed);
        // One of the two is a link that states offer by themselves.
        let seeds = [ActionSignature(7), world::LINK].into();
        let settings = PeerSettings { seeds, ..settings };
        let me = KEYS[0];
        let (peer, input) = match setup.start {
            Start::Founders => (Peer::founder(settings, me, &KEYS[..3]), PeerInput::Start),
            Start::Newcomer => (Peer::newcomer(settings, me), PeerInput::Join(KEYS[1])),
            Start::Returning => {
                (Peer::returning(settings, me, &setup.kept), PeerInput::Join(KEYS[1]))
            }
            Start::Reviving => (Peer::reviving(settings, me, &setup.kept), PeerInput::Start),
            _ => (Peer::founder(settings, me, &[me]), PeerInput::Start),
        };
        let mut machine = Self { peer, now: 1, timers: Vec::new() };
        machine.handle(input, &mut Reached::default());
        machine
    }

    fn step(&mut self, step: MachineStep, reached: &mut Reached) {
        self.now += u64::from(step.after);
        let input = match step.event {
            MachineEvent::Controller(other, message) => {
                let from = KEYS[1 + other as usize % (KEYS.len() - 1)];
                match message {
                    Between::Peer(_, envelope, _) => PeerInput::Message(from, envelope),
                    Between::Returned(_, task) => PeerInput::TaskReturn(task),
                    _ => return,
                }
            }
            MachineEvent::Crawler(FromCrawler::Report(_, report, ..)) => PeerInput::Report(report),
            MachineEvent::Crawler(FromCrawler::Returned(_, task)) => PeerInput::TaskReturn(task),
            MachineEvent::Crawler(FromCrawler::Want(_, crawler, state)) => {
                PeerInput::Want(crawler, state)
            }
            MachineEvent::Timer(at) if !self.timers.is_empty() => {
                PeerInput::Timer(self.timers.remove(at as usize % self.timers.len()))
            }
            MachineEvent::Leave => PeerInput::Leave,
            MachineEvent::Meet(other) => {
                PeerInput::Meet(KEYS[1 + other as usize % (KEYS.len() - 1)])
            }
            _ => return,
        };
        self.handle(input, reached);
    }

    fn handle(&mut self, input: PeerInput, reached: &mut Reached) {
        let mut effects = Vec::new();
        self.peer.handle(self.now, input, &mut effects);
        let known = self.peer.known();
        let states = known.graph().all().count();
        reached.note(("effects", bucket(effects.len())));
        for effect in effects {
            match effect {
                PeerEffect::Send(to, envelope) => {
                    assert_ne!(to, KEYS[0], "it sends a message to itself");
                    reached.note(("sends", envelope.message.kind()));
                    check_message(&Between::Peer(CRAWL, envelope, Vec::new()));
                }
                PeerEffect::Keep(fact) => {
                    reached.note(("keeps", std::mem::discriminant(&fact)));
                    check_fact(&fact);
                }
                PeerEffect::Tell(crawler, told) => {
                    reached.note(("tells", matches!(told, ToCrawler::Task(_))));
                    check_message(&ToTabs::ForTab(CRAWL, crawler, told, Vec::new()));
                }
                PeerEffect::Wake(timer, _) => {
                    self.timers.push(timer);
                    reached.note(("timer", std::mem::discriminant(&timer)));
                }
                PeerEffect::Broadcast(_) => reached.note("broadcast"),
                PeerEffect::Executed(_) => reached.note("executed"),
                PeerEffect::Left => reached.note("left"),
                PeerEffect::Finished(_) => reached.note("finished"),
            }
        }
        let free: usize = known.ownership().own().map(|(_, state)| known.free_in(state)).sum();
        assert_eq!(known.ownership().free(), free, "it counts its candidates wrong");
        let own = known.ownership().own_states();
        reached.note((bucket(states), bucket(own), bucket(free), self.peer.under_way().min(3)));
        reached.note((self.peer.member().is_inside(), self.peer.member().successors().len()));
    }
}

struct NodeUnderTest {
    node: StarNode,
    /// It loads the URL, or performs a job.
    loads: bool,
    performs: bool,
}

impl NodeUnderTest {
    fn new(setup: &MachineSetup) -> Self {
        let exploring = StrategySettings { reset_cost: 2.0, seed: setup.seed };
        let strategy = &strategies::ALL[setup.scheme as usize % strategies::ALL.len()];
        let node = StarNode::new(CrawlerId(0), strategy, exploring);
        let mut machine = Self { node, loads: false, performs: false };
        machine.handle(NodeInput::Start, &mut Reached::default());
        machine
    }

    fn step(&mut self, event: MachineEvent, reached: &mut Reached) {
        let input = match event {
            MachineEvent::Tab(ToTabs::News(_, _, news)) => NodeInput::Message(news),
            MachineEvent::Loaded(at) if self.loads => {
                self.loads = false;
                NodeInput::Loaded(at, None)
            }
            MachineEvent::Performed(outcome) if self.performs => {
                self.performs = false;
                let spent = Spent { actions: 1, resets: 0 };
                let outcome = outcome.outcome();
                NodeInput::Performed(Performed { outcome, spent, content: None })
            }
            MachineEvent::Nudge(0) if self.performs => {
                self.performs = false;
                NodeInput::NotBegun
            }
            MachineEvent::Nudge(1) if self.loads => NodeInput::NotLoaded,
            MachineEvent::Nudge(2) => {
                (self.loads, self.performs) = (false, false);
                NodeInput::Renamed(CrawlerId(1))
            }
            MachineEvent::Nudge(_) => NodeInput::Remind,
            _ => return,
        };
        self.handle(input, reached);
    }

    fn handle(&mut self, input: NodeInput, reached: &mut Reached) {
        let mut effects = Vec::new();
        self.node.handle(input, &mut effects);
        assert!(effects.len() <= MOST_EFFECTS, "one message has {} effects", effects.len());
        for effect in effects {
            match effect {
                NodeEffect::Load => self.loads = true,
                NodeEffect::Perform(job) => {
                    self.performs = true;
                    reached.note(("performs", job.reset, bucket(job.walk.len())));
                }
                NodeEffect::Send(report) => {
                    reached.note(("reports", bucket(report.found.len()), report.done));
                    check_message(&Between::NodeReport(CRAWL, report, Vec::new()));
                }
                NodeEffect::Finished => reached.note("node finished"),
            }
        }
    }
}

fn input(setup: &MachineSetup, steps: &[MachineStep]) -> Vec<u8> {
    let steps = steps.iter().map(encode);
    frames::join(&std::iter::once(encode(setup)).chain(steps).collect::<Vec<_>>())
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let stories = [
        ("ring-global", 0, 0, Incident::None),
        ("ring-local", 2, 1, Incident::None),
        ("ring-forward-local", 5, 0, Incident::None),
        ("ring-forward-global", 6, 0, Incident::None),
        ("ring-gossip", 7, 3, Incident::None),
        ("ring-joins", 6, 0, Incident::Join),
        ("ring-member-leaves", 3, 0, Incident::Leave),
        ("ring-member-fails", 6, 0, Incident::Fail),
    ];
    let mut seeds = Vec::new();
    for (name, scheme, recovery, incident) in stories {
        let start = if incident == Incident::Join { Start::Newcomer } else { Start::Founders };
        let setup = MachineSetup { scheme, recovery, backups: 1, ..MachineSetup::new(start) };
        let ring = RecordedRing::run(&setup, incident, 120);
        seeds.push((name.to_owned(), input(&setup, &ring.steps)));
    }
    for start in [Start::Returning, Start::Reviving] {
        let kept = world::ring_journal();
        let setup = MachineSetup { scheme: 6, backups: 1, kept, ..MachineSetup::new(start) };
        let timers = (0..6).map(|_| MachineStep { after: 300_000, event: MachineEvent::Timer(0) });
        let steps: Vec<MachineStep> = timers.collect();
        seeds.push((format!("{start:?}").to_lowercase(), input(&setup, &steps)));
    }
    for scheme in 0..3 {
        let star = |start| MachineSetup { scheme, backups: 1, ..MachineSetup::new(start) };
        let (coordinator, node) = (star(Start::Coordinator), star(Start::Node));
        let played = RecordedStar::run(&coordinator);
        seeds.push((format!("coordinator-{scheme}"), input(&coordinator, &played.reports)));
        seeds.push((format!("node-{scheme}"), input(&node, &played.news)));
    }
    seeds
}
