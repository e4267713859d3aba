//! A simulated ring: controllers and their crawlers. The controllers are the real ones; the
//! network, time, failures and the application are simulated.

use std::collections::{BTreeMap, BTreeSet};

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::Fact;
use argiope_controller::lifecycle::Lifecycle;
use argiope_controller::peer::message::{FinalCounts, PeerInput, ToCrawler};
use argiope_controller::peer::{Peer, place};
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::Key;

use crate::crawler::World;
use crate::environment::Environment;
use crate::event_loop::{self, EventQueue, Simulation};

pub mod checks;
mod controllers;
mod crawlers;
mod faults;
mod lifecycles;
pub mod scenario;
pub mod spec;
mod trace;

pub use crate::counts::Counts;
use crawlers::RingCrawler;
use scenario::Scenario;

/// An event of a ring. A controller is named by its index in `Cluster::nodes`.
pub(crate) enum RingEvent {
    /// A message of a controller or a crawler arrives at a controller's queue.
    InputArrived(usize, PeerInput),
    /// A controller handles an input: its queue has come to it, or a timer fires.
    InputHandled(usize, PeerInput),
    /// A controller's message arrives at a crawler.
    CrawlerMessage(CrawlerId, ToCrawler),
    /// A crawler ends the task that it was given in answer to this report.
    TaskEnded(CrawlerId, u64),
    /// A crawler sends the report that it had held back.
    ReportDue(CrawlerId),
    /// A crawler's patience for an answer to this report ends.
    AnswerOverdue(CrawlerId, u64),
    ControllerFails(usize),
    /// A frozen controller continues.
    ControllerThaws(usize),
    /// A controller's disk holds what was written.
    DiskSynced(usize),
    /// A controller that failed restarts.
    ControllerRestarts(usize),
    /// A storm goes on with this number of restarts.
    StormGoesOn(usize),
    /// A rolling restart goes on with this number of restarts, once all controllers are ready.
    /// Whether they were at the last look.
    RollingGoesOn(usize, bool),
    /// A controller decides how it takes part in the crawl.
    Heartbeat(usize),
    /// A controller receives what another one has kept, to resume the crawl.
    FactsReceived(usize, Key, Vec<Fact>),
    /// A crawler works for this crawl again.
    CrawlerAttached(CrawlerId),
    PartitionHeals,
}

/// A controller.
struct RingNode {
    key: Key,
    peer: Peer,
    lifecycle: Lifecycle,
    /// When it started, and when the others are connected to it.
    started: u64,
    connected: BTreeMap<usize, u64>,
    is_up: bool,
    /// It fails once more, and restarts after this time.
    restarts_again: Option<u64>,
    /// It failed, and restarts after the crawl has ended.
    returns: bool,
    /// The events that wait until a frozen controller continues.
    held_back: Option<Vec<RingEvent>>,
    /// The factor by which messages to it, and their processing, take longer.
    slowness: u64,
    /// What its disk holds, and what is written but not synced, if controllers may restart.
    disk: Vec<Fact>,
    unsynced: Vec<Fact>,
    /// Its side of a partitioned network.
    side: u8,
    /// When its queue is empty, in nanoseconds.
    busy_until: u64,
}

impl RingNode {
    fn new(key: Key, peer: Peer, lifecycle: Lifecycle, started: u64) -> Self {
        Self {
            key,
            peer,
            lifecycle,
            started,
            connected: BTreeMap::new(),
            is_up: true,
            restarts_again: None,
            returns: false,
            held_back: None,
            slowness: 1,
            disk: Vec::new(),
            unsynced: Vec::new(),
            side: 0,
            busy_until: 0,
        }
    }
}

/// The indexes of the controllers that are up.
fn live_nodes(nodes: &[RingNode]) -> Vec<usize> {
    (0..nodes.len()).filter(|&node| nodes[node].is_up).collect()
}

/// A simulation in progress.
pub struct Cluster<'a> {
    env: Environment<'a, RingEvent>,
    nodes: Vec<RingNode>,
    node_of: BTreeMap<Key, usize>,
    crawlers: BTreeMap<CrawlerId, RingCrawler>,
    /// The transitions whose execution a controller has acknowledged.
    acknowledged: BTreeSet<(StateKey, ActionSignature)>,
    /// When each replica was sent, by its sender and number.
    replicas_sent: BTreeMap<(usize, u64), u64>,
    /// A controller failed before all neighbours knew each other, or the ring changed before a
    /// failure was noticed.
    had_unsettled_handover: bool,
    /// The first controller that declared the crawl finished.
    finished_by: Option<usize>,
    /// The counts that it declared.
    final_counts: FinalCounts,
    /// The first check that failed.
    violation: Option<String>,
    /// The lines since the last traced step, if steps are traced.
    trace: Option<Vec<String>>,
}

impl<'a> Cluster<'a> {
    /// Starts a crawl.
    pub fn new(world: &'a World<'a>, scenario: Scenario) -> Self {
        let count = scenario.controllers.max(1);
        let crawlers = scenario.crawlers;
        let settings = scenario.peer_settings();
        let mut env = Environment::new(world, scenario, 0xC105);
        let turn = u128::from(env.chance.word()) << 64;
        // Even distances give each controller an equal share.
        let distance = u128::MAX / count as u128;
        let key = |node: usize| Key(distance.wrapping_mul(node as u128).wrapping_add(turn));
        let keys: Vec<Key> = (0..count).map(key).collect();
        let node = |&key: &Key| {
            let peer = Peer::founder(settings.clone(), key, &keys);
            RingNode::new(key, peer, Lifecycle::founder(key), 0)
        };
        let mut cluster = Self {
            env,
            nodes: keys.iter().map(node).collect(),
            node_of: keys.iter().copied().zip(0..).collect(),
            crawlers: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            replicas_sent: BTreeMap::new(),
            had_unsettled_handover: false,
            finished_by: None,
            final_counts: FinalCounts::default(),
            violation: None,
            trace: None,
        };
        for node in 0..count {
            cluster.on_input(node, PeerInput::Start);
            cluster.schedule_failure(node);
            cluster.schedule_sync(node);
        }
        for _ in 0..crawlers {
            cluster.add_crawler();
        }
        cluster
    }

    /// Handles the next event. Returns false once the crawl is over.
    pub fn step(&mut self) -> bool {
        event_loop::step(self)
    }

    /// Handles the next event and describes it, one line each for the event and the faults that
    /// follow. Maintenance of the ring is left out. Returns nothing once the crawl is over.
    pub fn step_traced(&mut self) -> Option<Vec<String>> {
        self.trace.get_or_insert_default();
        let more = self.step();
        let lines = self.trace.replace(Vec::new()).unwrap_or_default();
        (more || !lines.is_empty()).then_some(lines)
    }

    /// Runs the crawl to its end.
    pub fn run(&mut self) {
        event_loop::run(self);
    }

    /// The application.
    pub fn world(&self) -> &World<'a> {
        self.env.world
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.env.scenario
    }

    /// The transitions that crawlers executed as a task.
    pub fn executed(&self) -> &BTreeSet<(StateKey, ActionSignature)> {
        &self.env.executed
    }

    /// What the crawl has cost so far.
    pub fn counts(&self) -> &Counts {
        &self.env.counts
    }

    /// The first violation of what must hold after every step.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// The controllers that are up.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.nodes.iter().filter(|node| node.is_up).map(|node| &node.peer)
    }

    /// The controllers that took part in the crawl when it ended and are still up.
    pub fn finishers(&self) -> Vec<&Peer> {
        let keys = self.finished_by.map_or(&[][..], |node| self.nodes[node].peer.finishers());
        let nodes = keys.iter().filter_map(|key| self.node_of.get(key));
        let nodes = nodes.map(|&node| &self.nodes[node]);
        nodes.filter(|node| node.is_up).map(|node| &node.peer).collect()
    }

    /// The controller that owns a state, as an observer of the whole ring sees it.
    fn owner(&self, state: StateKey) -> Option<usize> {
        let members = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.is_up && node.peer.member().is_inside());
        members.min_by_key(|(_, node)| place(state).distance(node.key)).map(|(index, _)| index)
    }

    fn inject_due_faults(&mut self) {
        while let Some(fault) = self.env.take_due_fault() {
            self.trace_line(|_| Some(format!("fault: {fault:?}")));
            self.inject(fault);
        }
    }

    fn dispatch(&mut self, event: RingEvent) {
        if let RingEvent::InputArrived(node, _) | RingEvent::InputHandled(node, _) = &event {
            let receiver = &mut self.nodes[*node];
            if !receiver.is_up {
                return;
            }
            if let Some(held_back) = &mut receiver.held_back {
                held_back.push(event);
                return;
            }
        }
        match event {
            RingEvent::InputArrived(node, input) => self.on_input_arrived(node, input),
            RingEvent::InputHandled(node, input) => self.on_input(node, input),
            RingEvent::CrawlerMessage(crawler, told) => self.on_crawler_message(crawler, told),
            RingEvent::TaskEnded(crawler, number) => self.on_task_ended(crawler, number),
            RingEvent::ReportDue(crawler) => self.send_report(crawler),
            RingEvent::AnswerOverdue(crawler, number) => self.on_answer_overdue(crawler, number),
            RingEvent::ControllerFails(node) => {
                self.fail(node);
            }
            RingEvent::ControllerThaws(node) => self.thaw(node),
            RingEvent::DiskSynced(node) => self.on_disk_synced(node),
            RingEvent::ControllerRestarts(node) => self.restart(node),
            RingEvent::StormGoesOn(left) => self.storm(left),
            RingEvent::RollingGoesOn(left, were_ready) => self.roll(left, were_ready),
            RingEvent::Heartbeat(node) => self.on_heartbeat(node),
            RingEvent::FactsReceived(node, from, facts) => {
                self.nodes[node].lifecycle.on_facts(from, facts, true);
            }
            RingEvent::CrawlerAttached(crawler) => self.attach_crawler(crawler),
            RingEvent::PartitionHeals => self.nodes.iter_mut().for_each(|node| node.side = 0),
        }
    }
}

impl Simulation for Cluster<'_> {
    type Event = RingEvent;

    fn events(&mut self) -> &mut EventQueue<RingEvent> {
        &mut self.env.events
    }

    /// A crawl goes on after its end while controllers are to return.
    fn is_over(&self) -> bool {
        self.violation.is_some() || (self.finished_by.is_some() && !self.awaits_returns())
    }

    fn on_event(&mut self, event: RingEvent) {
        self.trace_line(|cluster| cluster.describe(&event));
        self.dispatch(event);
        self.inject_due_faults();
    }

    fn on_stall(&mut self) {
        self.violation = Some("it does not end".to_owned());
    }
}
