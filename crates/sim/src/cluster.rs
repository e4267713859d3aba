//! A ring of controllers and their crawlers, simulated: discrete events, one trace per seed. The controllers are the
//! real ones; messages, time, failures and the application are made up.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::Fact;
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{
    Envelope, LeaseRef, PeerEffect, PeerInput, PeerMessage, PeerTimer, Task, TaskReport, ToCrawler,
};
use argiope_controller::peer::place;
use argiope_controller::spent::Spent;
use argiope_explore::chance::Chance;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::{Key, RingMember};

use crate::crawler::World;

pub mod checks;
pub mod clock;
mod crawling;
mod happening;
pub mod scenario;
pub mod spec;

use clock::Clock;
use crawling::Crawling;
use scenario::{Happening, Scenario};

/// A simulation is given up after so many events for each transition of the application.
const EVENTS_PER_TRANSITION: u64 = 3_000;

/// Something that happens.
enum Event {
    /// A message arrives at a controller.
    Arrives(usize, Key, Envelope),
    /// A controller has worked through what came before and takes a message in.
    Takes(usize, PeerInput),
    /// A controller's timer goes off.
    Woken(usize, PeerTimer),
    /// A crawler is told something.
    Told(CrawlerId, ToCrawler),
    /// A crawler is done with a task.
    Performed(CrawlerId, u64),
    /// A crawler says where it is.
    Reports(CrawlerId),
    /// A crawler has waited long enough for an answer to this report.
    Waited(CrawlerId, u64),
    /// A crawler's word arrives at a controller.
    Reported(usize, FromCrawler),
    /// A controller fails by chance.
    Fails(usize),
    /// A frozen controller goes on.
    Thaws(usize),
    /// A controller's disk has kept what was written.
    Syncs(usize),
    /// A controller that failed comes back.
    Returns(usize),
    /// Two parts of the ring hear each other again.
    Heals,
}

/// What a crawler sends.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
enum FromCrawler {
    Report(TaskReport),
    Returned(LeaseRef),
}

/// A controller.
struct Node {
    key: Key,
    peer: Peer,
    up: bool,
    /// What it will take in when it is thawed.
    frozen: Option<Vec<Event>>,
    /// Everything takes it so many times as long.
    slowness: u64,
    /// What its disk has kept, and what is not on it yet, if it may come back.
    disk: Vec<Fact>,
    unsynced: Vec<Fact>,
    /// In which part of a ring that fell apart it is.
    part: u8,
    /// When it is done with what came before, in nanoseconds.
    busy_until: u64,
}

impl Node {
    fn new(key: Key, peer: Peer) -> Self {
        Self {
            key,
            peer,
            up: true,
            frozen: None,
            slowness: 1,
            disk: Vec::new(),
            unsynced: Vec::new(),
            part: 0,
            busy_until: 0,
        }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Messages by kind.
    pub messages: BTreeMap<&'static str, u64>,
    /// How far from the crawler the tasks were, in actions; those that began with a reset apart.
    pub depths: Vec<u64>,
    /// Tasks that began with a reset.
    pub by_reset: u64,
    /// What crawlers executed.
    pub spent: Spent,
    /// Transitions executed as a task more than once.
    pub reexecuted: u64,
    /// Tasks that were given out though what they ask for was done and acknowledged.
    pub needless: u64,
    /// Controllers that failed.
    pub failures: u64,
    /// The time that crawlers spent on what had been executed before, in microseconds.
    pub again: u64,
    /// The time that copies took until they were confirmed, in microseconds.
    pub copying: u64,
    /// The time that crawlers waited, in microseconds.
    pub idle: u64,
    /// The time when the crawl was over, in microseconds.
    pub ended: u64,
}

impl Counts {
    /// A crawler begins with a job, or loads the URL. Gives what that costs, in actions.
    pub(crate) fn begin(&mut self, job: Option<&Job>, reset_cost: f64) -> f64 {
        let Some(job) = job else { return reset_cost };
        let depth = job.walk.len();
        if job.reset {
            self.by_reset += 1;
        } else {
            self.depths.resize(self.depths.len().max(depth + 1), 0);
            self.depths[depth] += 1;
        }
        (if job.reset { reset_cost } else { 0.0 }) + depth as f64 + 1.0
    }

    /// All messages but those that keep the ring together.
    pub fn total(&self) -> u64 {
        self.messages.iter().filter(|&(&kind, _)| kind != "ring").map(|(_, count)| count).sum()
    }
}

/// A simulation in progress.
pub struct Cluster<'a> {
    world: &'a World<'a>,
    scenario: Scenario,
    clock: Clock<Event>,
    nodes: Vec<Node>,
    places: BTreeMap<Key, usize>,
    crawlers: BTreeMap<CrawlerId, Crawling>,
    next_crawler: u64,
    chance: Chance,
    executed: BTreeSet<(StateKey, ActionSignature)>,
    /// The transitions that count, wherever they are to be kept.
    acknowledged: BTreeSet<(StateKey, ActionSignature)>,
    /// When copies were sent off, by their sender and number.
    copies: BTreeMap<(usize, u64), u64>,
    transitions: usize,
    happenings: Vec<(f64, Happening)>,
    /// A controller has failed before all neighbours knew each other, or one came or left before it was noticed.
    hurried: bool,
    counts: Counts,
    events: u64,
    /// Who said first that the crawl is over.
    finished_by: Option<usize>,
    /// A check that failed.
    wrong: Option<String>,
    /// Whether what happens is put into words.
    traced: bool,
    trace: Vec<String>,
}

impl<'a> Cluster<'a> {
    /// Begins.
    pub fn new(world: &'a World<'a>, scenario: Scenario) -> Self {
        let mut chance = Chance::new(&[scenario.seed, 0xC105]);
        let many = scenario.controllers.max(1);
        let turn = u128::from(chance.word()) << 64;
        // Evenly spread, so that each has its share.
        let key =
            |at: usize| Key((u128::MAX / many as u128).wrapping_mul(at as u128).wrapping_add(turn));
        let keys: Vec<Key> = (0..many).map(key).collect();
        let settings = scenario.settings();
        let node = |&key: &Key| Node::new(key, Peer::founder(settings, key, &keys));
        let mut happenings = scenario.happenings.clone();
        happenings.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut cluster = Self {
            world,
            clock: Clock::default(),
            nodes: keys.iter().map(node).collect(),
            places: keys.iter().copied().zip(0..).collect(),
            crawlers: BTreeMap::new(),
            next_crawler: 0,
            chance,
            executed: BTreeSet::new(),
            acknowledged: BTreeSet::new(),
            copies: BTreeMap::new(),
            transitions: world.transitions(),
            happenings,
            hurried: false,
            counts: Counts::default(),
            events: 0,
            finished_by: None,
            wrong: None,
            traced: false,
            trace: Vec::new(),
            scenario,
        };
        for at in 0..many {
            cluster.tell(at, PeerInput::Start);
            cluster.schedule_failure(at);
            cluster.schedule_sync(at);
        }
        for _ in 0..cluster.scenario.crawlers {
            cluster.add_crawler();
        }
        cluster
    }

    /// Lets the next thing happen; false when the crawl is over.
    pub fn step(&mut self) -> bool {
        let limit = EVENTS_PER_TRANSITION * self.transitions as u64 + 1_000_000;
        if self.finished_by.is_some() || self.wrong.is_some() {
            return false;
        }
        self.events += 1;
        let Some(event) = self.clock.advance().filter(|_| self.events < limit) else {
            self.wrong = Some("it does not end".to_owned());
            return false;
        };
        if self.traced {
            self.trace.extend(self.in_words(&event));
        }
        self.happen(event);
        while let Some(&(share, happening)) = self.happenings.last()
            && self.executed.len() as f64 >= share * self.transitions as f64
        {
            self.happenings.pop();
            if self.traced {
                self.trace
                    .push(format!("{:>10.3} ms  {happening:?}", self.clock.now() as f64 / 1e3));
            }
            self.befall(happening);
        }
        true
    }

    /// Lets the next thing happen and says what it was, if it is about more than keeping the ring together.
    pub fn step_in_words(&mut self) -> Option<Vec<String>> {
        self.traced = true;
        let more = self.step();
        let words = std::mem::take(&mut self.trace);
        (more || !words.is_empty()).then_some(words)
    }

    fn in_words(&self, event: &Event) -> Option<String> {
        let name = |at: usize| format!("controller {at}");
        let from = |key: &Key| self.places.get(key).map_or_else(String::new, |&at| name(at));
        let what = match event {
            Event::Arrives(_, _, Envelope { message: PeerMessage::Ring(_), .. })
            | Event::Woken(_, PeerTimer::Stabilise | PeerTimer::Fingers | PeerTimer::Silent(_))
            | Event::Waited(..)
            | Event::Syncs(_)
            | Event::Takes(..) => return None,
            Event::Arrives(at, key, envelope) => {
                format!("{} hears from {}: {:?}", name(*at), from(key), envelope.message)
            }
            Event::Woken(at, timer) => format!("{} is reminded of {timer:?}", name(*at)),
            Event::Told(crawler, told) => format!("crawler {} is told: {told:?}", crawler.0),
            Event::Performed(crawler, _) => format!("crawler {} is done with its task", crawler.0),
            Event::Reports(crawler) => format!("crawler {} reports", crawler.0),
            Event::Reported(at, said) => format!("{} hears from a crawler: {said:?}", name(*at)),
            Event::Fails(at) => format!("{} fails", name(*at)),
            Event::Thaws(at) => format!("{} goes on", name(*at)),
            Event::Returns(at) => format!("{} comes back with what its disk has kept", name(*at)),
            Event::Heals => "both parts hear each other again".to_owned(),
        };
        Some(format!("{:>10.3} ms  {what}", self.clock.now() as f64 / 1e3))
    }

    /// To the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// The application.
    pub fn world(&self) -> &World<'a> {
        self.world
    }

    /// What was asked for.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What time it is, in microseconds.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// What crawlers have executed as a task, and where.
    pub fn executed(&self) -> &BTreeSet<(StateKey, ActionSignature)> {
        &self.executed
    }

    /// What was counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What went wrong, if anything did.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// Whether some controllers may take others for dead that are not.
    pub fn was_deceived(&self) -> bool {
        let deceives = |happening: &Happening| {
            matches!(happening, Happening::Freeze(_) | Happening::Part(_) | Happening::Slow(_))
        };
        self.scenario.happenings.iter().any(|(_, happening)| deceives(happening))
    }

    /// Whether somebody may have taken over from a controller that failed without knowing of a newcomer between them,
    /// of whom only that controller knew.
    pub fn was_hurried(&self) -> bool {
        self.hurried
    }

    /// Whether somebody has not noticed yet that its neighbour has failed.
    fn mourns(&self) -> bool {
        let next = |peer: &Peer| peer.member().successors().first().copied();
        let before = |peer: &Peer| peer.member().predecessor();
        let is_down = |key: Key| self.places.get(&key).is_some_and(|&at| !self.nodes[at].up);
        self.peers()
            .any(|peer| next(peer).is_some_and(is_down) || before(peer).is_some_and(is_down))
    }

    /// Whether all neighbours on the ring know each other.
    fn is_settled(&self) -> bool {
        let mut ring: Vec<&RingMember> =
            self.peers().map(Peer::member).filter(|member| member.is_inside()).collect();
        ring.sort_by_key(|member| member.key());
        let pairs = (0..ring.len()).map(|at| (ring[at], ring[(at + 1) % ring.len()]));
        pairs.filter(|(member, next)| member.key() != next.key()).all(|(member, next)| {
            member.successors().first() == Some(&next.key())
                && next.predecessor() == Some(member.key())
        })
    }

    /// The controllers that are up.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.nodes.iter().filter(|node| node.up).map(|node| &node.peer)
    }

    /// The controllers that had a part in the crawl when it was found to be over, those that have failed since apart.
    pub fn finishers(&self) -> Vec<&Peer> {
        let keys = self.finished_by.map_or(&[][..], |at| self.nodes[at].peer.finishers());
        let nodes = keys.iter().filter_map(|key| self.places.get(key)).map(|&at| &self.nodes[at]);
        nodes.filter(|node| node.up).map(|node| &node.peer).collect()
    }

    fn happen(&mut self, event: Event) {
        let at = match &event {
            Event::Arrives(at, ..)
            | Event::Takes(at, _)
            | Event::Woken(at, _)
            | Event::Reported(at, _) => Some(*at),
            _ => None,
        };
        if let Some(at) = at {
            let node = &mut self.nodes[at];
            if !node.up {
                return;
            }
            if let Some(frozen) = &mut node.frozen {
                frozen.push(event);
                return;
            }
        }
        match event {
            Event::Arrives(at, from, envelope) => {
                let apart = self
                    .places
                    .get(&from)
                    .is_some_and(|&other| self.nodes[other].part != self.nodes[at].part);
                if !apart {
                    self.enqueue(at, PeerInput::Received(from, envelope));
                }
            }
            Event::Reported(at, FromCrawler::Report(report)) => {
                self.enqueue(at, PeerInput::Report(report))
            }
            Event::Reported(at, FromCrawler::Returned(answer)) => {
                self.enqueue(at, PeerInput::Returned(answer));
            }
            Event::Takes(at, input) => {
                self.note_copied(at, &input);
                self.tell(at, input);
            }
            Event::Woken(at, timer) => self.tell(at, PeerInput::Woken(timer)),
            Event::Told(crawler, told) => self.told(crawler, told),
            Event::Performed(crawler, number) => self.performed(crawler, number),
            Event::Reports(crawler) => self.send_report(crawler),
            Event::Waited(crawler, number) => self.waited(crawler, number),
            Event::Fails(at) => {
                self.fail(at);
            }
            Event::Thaws(at) => self.thaw(at),
            Event::Syncs(at) => self.sync(at),
            Event::Returns(at) => self.return_from_disk(at),
            Event::Heals => self.nodes.iter_mut().for_each(|node| node.part = 0),
        }
    }

    /// A message waits until a controller has worked through those before it. Those that keep the ring together go
    /// first: a controller that is behind with its work must not be taken for dead.
    fn enqueue(&mut self, at: usize, input: PeerInput) {
        let now = self.clock.now() * 1000;
        let node = &mut self.nodes[at];
        node.busy_until = node.busy_until.max(now) + self.scenario.processing * node.slowness;
        let first = matches!(&input, PeerInput::Received(_, envelope) if matches!(envelope.message, PeerMessage::Ring(_)));
        if first || self.scenario.processing == 0 {
            self.happen(Event::Takes(at, input));
            return;
        }
        let wait = (node.busy_until - now) / 1000;
        self.clock.after(wait, Event::Takes(at, input));
    }

    /// Measures how long a copy took, if it is confirmed.
    fn note_copied(&mut self, at: usize, input: &PeerInput) {
        if let PeerInput::Received(_, Envelope { message: PeerMessage::Taken(number), .. }) = input
            && let Some(since) = self.copies.remove(&(at, *number))
        {
            self.counts.copying += self.clock.now() - since;
        }
    }

    fn tell(&mut self, at: usize, input: PeerInput) {
        let about_the_ring = match &input {
            PeerInput::Received(_, envelope) => matches!(envelope.message, PeerMessage::Ring(_)),
            PeerInput::Woken(PeerTimer::Stabilise | PeerTimer::Fingers | PeerTimer::Silent(_)) => {
                true
            }
            PeerInput::Start | PeerInput::Join(_) | PeerInput::Meet(_) | PeerInput::Leave => true,
            PeerInput::Woken(_)
            | PeerInput::Report(_)
            | PeerInput::Returned(_)
            | PeerInput::Lost(_)
            | PeerInput::Want(..) => false,
        };
        let mut effects = Vec::new();
        self.nodes[at].peer.handle(self.clock.now(), input, &mut effects);
        for effect in effects {
            self.carry_out(at, effect);
        }
        if self.scenario.checked
            && let Some(wrong) = checks::always(self, about_the_ring)
        {
            self.wrong.get_or_insert(wrong);
        }
    }

    fn carry_out(&mut self, at: usize, effect: PeerEffect) {
        match effect {
            PeerEffect::Send(to, envelope) => {
                self.count(envelope.message.kind());
                if let PeerMessage::Copy(number, _) = envelope.message {
                    self.copies.entry((at, number)).or_insert(self.clock.now());
                }
                if let Some(&other) = self.places.get(&to) {
                    let time =
                        self.scenario.latency.draw(&mut self.chance) * self.nodes[other].slowness;
                    self.clock.after(time, Event::Arrives(other, self.nodes[at].key, envelope));
                }
            }
            PeerEffect::Broadcast(hints) => {
                let from = self.nodes[at].key;
                let others: Vec<usize> = (0..self.nodes.len())
                    .filter(|&other| other != at && self.nodes[other].up)
                    .collect();
                for other in others {
                    self.count("learned");
                    let initial = self.nodes[at].peer.known().graph().initial();
                    let hints = hints.clone();
                    let envelope =
                        Envelope { initial, hints, ..Envelope::new(None, PeerMessage::Learned) };
                    // For comparison only: as if everybody knew at once.
                    self.clock.after(0, Event::Takes(other, PeerInput::Received(from, envelope)));
                }
            }
            PeerEffect::Tell(crawler, told) => {
                // One that is to look at a state goes over what was done.
                if let ToCrawler::Task(Task { job: Some(job), look: false, .. }) = &told {
                    self.counts.needless +=
                        u64::from(self.acknowledged.contains(&(job.state, job.action)));
                }
                self.count("job");
                let time = self.scenario.latency.draw(&mut self.chance);
                self.clock.after(time, Event::Told(crawler, told));
            }
            PeerEffect::Keep(fact) => {
                if self.scenario.has_disks() {
                    self.nodes[at].unsynced.push(fact);
                }
            }
            PeerEffect::Executed(step) => {
                self.acknowledged.insert((step.from, step.action));
            }
            PeerEffect::Wake(timer, time) => self.clock.after(time, Event::Woken(at, timer)),
            PeerEffect::Left => self.depart(at),
            PeerEffect::Finished => {
                self.counts.ended = self.clock.now();
                self.finished_by.get_or_insert(at);
            }
        }
    }

    fn count(&mut self, kind: &'static str) {
        *self.counts.messages.entry(kind).or_default() += 1;
    }

    /// The controller that owns a state, as one sees it from outside.
    fn owner(&self, state: StateKey) -> Option<usize> {
        let up = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.up && node.peer.member().is_inside());
        up.min_by_key(|(_, node)| place(state).distance(node.key)).map(|(at, _)| at)
    }
}
