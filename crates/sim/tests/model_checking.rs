//! Model checking: a few controllers and crawlers with a tiny application, in every order of their
//! messages, with a crash, a join or a restart at every moment.
//!
//! Messages between two parties keep their order, as on a connection. Timers fire only when no
//! message is in transit and no crawler works, the earliest first: every timeout is longer than the
//! latency. `ring.rs` simulates crawls in which that does not hold.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use argiope_controller::job::Route;
use argiope_controller::job::{CrawlerId, Transition};
use argiope_controller::journal::Fact;
use argiope_controller::lifecycle::{Lifecycle, LifecycleStep, Standing};
use argiope_controller::outcome::{Offered, Sighting};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{
    Done, Envelope, LeaseRef, PeerEffect, PeerInput, PeerMessage, PeerTimer, Task, TaskReport,
    ToCrawler,
};
use argiope_controller::peer::schemes;
use argiope_controller::peer::settings::{PeerSettings, Recovery};
use argiope_explore::model::Model as Application;
use argiope_ring::Key;
use argiope_ring::invariant::{Members, ring_order};
use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::crawl::{key_of, signature_of};
use stateright::{Checker, HasDiscoveries, Model, Property};

/// A crawl that needs more timers than this does not end.
const MAX_TICKS: u32 = 400;
/// A crawler retries its report after this time without an answer, in microseconds.
const PATIENCE: u64 = 2_000_000;

/// The checked system.
struct Checked {
    app: Application,
    settings: PeerSettings,
    controllers: usize,
    crawlers: usize,
    crashes: u32,
    joins: u32,
    /// Controllers that failed and restart with their disk, also after the end.
    restarts: u32,
    crawler_crashes: u32,
    /// Crawlers acknowledge a task before they report the state it led to.
    acknowledges_early: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Party {
    Controller(usize),
    Crawler(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Message {
    Peer(Key, Envelope),
    Report(TaskReport),
    Returned(LeaseRef),
    ToCrawler(ToCrawler),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Crawler {
    at: Option<u32>,
    report: TaskReport,
    task: Option<Task>,
    /// It has acknowledged its task, but not reported the state.
    owes_report: bool,
    dead: bool,
}

#[derive(Clone)]
struct Snapshot {
    now: u64,
    ticks: u32,
    peers: Vec<Option<Peer>>,
    crawlers: Vec<Crawler>,
    messages: BTreeMap<(Party, Party), VecDeque<Message>>,
    /// By time, controller and kind.
    timers: BTreeSet<(u64, usize, PeerTimer)>,
    patience: BTreeSet<(u64, usize, u64)>,
    executed: BTreeSet<(u32, u32)>,
    crashes: u32,
    joins: u32,
    restarts: u32,
    crawler_crashes: u32,
    finished: bool,
    /// The controllers that know of the end.
    finished_peers: BTreeSet<usize>,
    /// What each controller has kept, while one may restart.
    disks: Vec<BTreeSet<Fact>>,
    /// The controllers that failed and may restart.
    failed: BTreeSet<usize>,
    /// A controller returned after the end and took up the crawl again.
    crawls_again: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Deliver(Party, Party),
    Perform(usize),
    SendReport(usize),
    Tick,
    /// `true`: its messages in transit are lost too.
    Crash(usize, bool),
    CrashCrawler(usize),
    Join,
    /// A controller that failed restarts under the key of a newcomer.
    Restart(usize),
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {} us, {} ticks", self.now, self.ticks)?;
        self.peers.iter().flatten().try_for_each(|peer| write!(f, "\n  {peer}"))
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        let digest = |snapshot: &Self| {
            let mut hasher = DefaultHasher::new();
            snapshot.hash(&mut hasher);
            hasher.finish()
        };
        digest(self) == digest(other)
    }
}

impl Hash for Snapshot {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.peers, &self.crawlers, &self.messages, &self.executed).hash(hasher);
        (self.crashes, self.joins, self.crawler_crashes, self.finished).hash(hasher);
        (self.restarts, &self.disks, &self.failed, self.crawls_again).hash(hasher);
        for &(at, peer, timer) in &self.timers {
            (at - self.now, peer, timer).hash(hasher);
        }
        for &(at, crawler, number) in &self.patience {
            (at - self.now, crawler, number).hash(hasher);
        }
    }
}

fn even_key(at: usize, count: usize) -> Key {
    Key((u128::MAX / count as u128) * at as u128 + 7)
}

impl Checked {
    fn new(
        app: Application,
        scheme: &str,
        recovery: Recovery,
        controllers: usize,
        crawlers: usize,
    ) -> Self {
        let mut scenario = Scenario::new(controllers, crawlers, app.reset_cost, 1);
        scenario.scheme = schemes::find(scheme).expect("the scheme exists");
        scenario.recovery = recovery;
        let settings = scenario.peer_settings();
        Self {
            app,
            settings,
            controllers,
            crawlers,
            crashes: 0,
            joins: 0,
            restarts: 0,
            crawler_crashes: 0,
            acknowledges_early: false,
        }
    }

    fn see(&self, state: u32) -> Sighting {
        let offered =
            |&(action, _): &(u32, u32)| Offered { action: signature_of(action), once: false };
        let offers = self.app.transitions_from(state).iter().map(offered).collect();
        Sighting::described(key_of(state), offers)
    }

    fn tell(&self, snapshot: &mut Snapshot, at: usize, input: PeerInput) {
        let Some(peer) = snapshot.peers[at].as_mut() else { return };
        let mut effects = Vec::new();
        peer.handle(snapshot.now, input, &mut effects);
        let me = peer.key();
        for effect in effects {
            match effect {
                PeerEffect::Send(to, envelope) => {
                    let to = (0..snapshot.peers.len()).find(|&other| self.key(other) == to);
                    if let Some(to) = to {
                        self.post(
                            snapshot,
                            (Party::Controller(at), Party::Controller(to)),
                            Message::Peer(me, envelope),
                        );
                    }
                }
                PeerEffect::Tell(crawler, told) => {
                    let to = Party::Crawler(crawler.0 as usize);
                    self.post(snapshot, (Party::Controller(at), to), Message::ToCrawler(told));
                }
                PeerEffect::Wake(timer, time) => {
                    snapshot.timers.insert((snapshot.now + time, at, timer));
                }
                PeerEffect::Finished(_) => {
                    snapshot.finished = true;
                    snapshot.finished_peers.insert(at);
                }
                PeerEffect::Keep(fact) => {
                    if snapshot.restarts > 0 {
                        snapshot.disks[at].insert(fact);
                    }
                }
                PeerEffect::Broadcast(_) | PeerEffect::Left | PeerEffect::Executed(_) => {}
            }
        }
    }

    fn key(&self, at: usize) -> Key {
        // A newcomer joins between the first two.
        if at < self.controllers {
            even_key(at, self.controllers)
        } else {
            Key(even_key(1, self.controllers).0 / 2)
        }
    }

    fn post(&self, snapshot: &mut Snapshot, link: (Party, Party), message: Message) {
        let is_up = match link.1 {
            Party::Controller(at) => snapshot.peers[at].is_some(),
            Party::Crawler(at) => !snapshot.crawlers[at].dead,
        };
        if is_up {
            snapshot.messages.entry(link).or_default().push_back(message);
        }
    }

    fn report(&self, snapshot: &mut Snapshot, at: usize) {
        let crawler = &mut snapshot.crawlers[at];
        crawler.owes_report = false;
        crawler.report.number += 1;
        let report = crawler.report.clone();
        let up: Vec<usize> =
            (0..self.controllers).filter(|&peer| snapshot.peers[peer].is_some()).collect();
        let home = up[at % up.len()];
        snapshot.patience.retain(|&(_, who, _)| who != at);
        snapshot.patience.insert((snapshot.now + PATIENCE, at, report.number));
        self.post(snapshot, (Party::Crawler(at), Party::Controller(home)), Message::Report(report));
    }

    fn perform(&self, snapshot: &mut Snapshot, at: usize) {
        let crawler = &mut snapshot.crawlers[at];
        let Some(task) = crawler.task.take() else { return };
        let mut route: Vec<Transition> =
            crawler.report.route.iter().flat_map(|route| route.iter().copied()).collect();
        let mut executed = None;
        match &task.job {
            None => {
                crawler.at = Some(self.app.initial);
                route.clear();
            }
            Some(job) => {
                if job.reset {
                    crawler.at = Some(self.app.initial);
                    route.clear();
                }
                let actions = job.walk.iter().map(|step| step.action).chain([job.action]);
                for action in actions {
                    let here = crawler.at.expect("a crawler acts after a load");
                    let found = self
                        .app
                        .transitions_from(here)
                        .iter()
                        .find(|&&(other, _)| signature_of(other) == action);
                    let &(number, to) = found.expect("the state offers the action");
                    route.push(Transition { from: key_of(here), action, to: key_of(to) });
                    executed = Some((here, number));
                    crawler.at = Some(to);
                }
                if let (Some(known), Some(last)) = (&task.route, route.last().copied()) {
                    route = known.iter().copied().chain([last]).collect();
                }
            }
        }
        snapshot.executed.extend(executed);
        let number = crawler.report.number;
        crawler.report = TaskReport {
            at: crawler.at.map(|state| self.see(state)),
            route: Some(Route::from(route)),
            task: Some(task.id),
            executed: executed.map(|(state, action)| (key_of(state), signature_of(action))),
            walked: task.job.map(|job| job.walk).unwrap_or_default(),
            ..TaskReport::new(CrawlerId(at as u64), number)
        };
        if let (true, Some((from, action)), Some(sighting)) =
            (self.acknowledges_early, crawler.report.executed, &crawler.report.at)
        {
            crawler.owes_report = true;
            let step = Transition { from, action, to: sighting.key };
            let done = Done {
                task: task.id,
                step,
                once: false,
                notes: Vec::new(),
                new: false,
                kept_by: task.id.by,
            };
            let to = (0..snapshot.peers.len()).find(|&other| self.key(other) == task.id.by);
            let envelope = Envelope::new(None, PeerMessage::Done(done));
            if let Some(to) = to {
                let message = Message::Peer(task.id.by, envelope);
                self.post(snapshot, (Party::Crawler(at), Party::Controller(to)), message);
            }
        } else {
            self.report(snapshot, at);
        }
    }

    fn deliver(&self, snapshot: &mut Snapshot, link: (Party, Party)) {
        let Some(queue) = snapshot.messages.get_mut(&link) else { return };
        let Some(message) = queue.pop_front() else { return };
        if queue.is_empty() {
            snapshot.messages.remove(&link);
        }
        match (link.1, message) {
            (Party::Controller(at), Message::Peer(from, envelope)) => {
                self.tell(snapshot, at, PeerInput::Message(from, envelope));
            }
            (Party::Controller(at), Message::Report(report)) => {
                self.tell(snapshot, at, PeerInput::Report(report));
            }
            (Party::Controller(at), Message::Returned(answer)) => {
                self.tell(snapshot, at, PeerInput::TaskReturn(answer));
            }
            (Party::Crawler(at), Message::ToCrawler(ToCrawler::Task(task))) => {
                let crawler = &mut snapshot.crawlers[at];
                if crawler.task.is_none() && crawler.report.number == task.number {
                    snapshot.patience.retain(|&(_, who, _)| who != at);
                    crawler.task = Some(task);
                } else {
                    let to = (0..snapshot.peers.len()).find(|&other| self.key(other) == task.id.by);
                    if let Some(to) = to {
                        let link = (Party::Crawler(at), Party::Controller(to));
                        self.post(snapshot, link, Message::Returned(task.id));
                    }
                }
            }
            (Party::Crawler(_), _) | (Party::Controller(_), Message::ToCrawler(_)) => {}
        }
    }

    /// No message is in transit and no crawler works: the earliest timer fires.
    fn tick(&self, snapshot: &mut Snapshot) {
        snapshot.ticks += 1;
        let timer = snapshot.timers.first().map(|&(at, ..)| at);
        let patience = snapshot.patience.first().map(|&(at, ..)| at);
        if patience.is_some_and(|at| timer.is_none_or(|timer| at <= timer)) {
            if let Some((at, crawler, _)) = snapshot.patience.pop_first() {
                snapshot.now = at;
                snapshot.crawlers[crawler].report.again = true;
                self.report(snapshot, crawler);
            }
        } else if let Some((at, peer, timer)) = snapshot.timers.pop_first() {
            snapshot.now = at;
            self.tell(snapshot, peer, PeerInput::Timer(timer));
        }
    }

    /// A controller restarts by the rules of real processes.
    fn restart(&self, snapshot: &mut Snapshot, failed: usize) {
        snapshot.restarts -= 1;
        snapshot.failed.remove(&failed);
        let (at, facts) = (self.controllers, std::mem::take(&mut snapshot.disks[failed]));
        let mut lifecycle =
            Lifecycle::restarted(self.key(at), facts.into_iter().collect(), snapshot.now, 0);
        let peers = snapshot.peers.iter().enumerate();
        let others = peers.filter_map(|(other, peer)| {
            let is_over = snapshot.finished_peers.contains(&other);
            let standing = if is_over { Standing::Finished } else { Standing::Inside };
            peer.as_ref().map(|peer| (peer.key(), standing))
        });
        match lifecycle.decide(snapshot.now, &others.collect()) {
            Some(LifecycleStep::Join(through)) => {
                snapshot.crawls_again = snapshot.finished;
                let peer = Peer::returning(self.settings.clone(), self.key(at), lifecycle.facts());
                snapshot.peers[at] = Some(peer);
                self.tell(snapshot, at, PeerInput::Join(through));
            }
            Some(LifecycleStep::Finish) => {}
            other => panic!("a ring is up, and it decides {other:?}"),
        }
    }

    fn is_quiet(&self, snapshot: &Snapshot) -> bool {
        let works =
            |crawler: &Crawler| !crawler.dead && (crawler.task.is_some() || crawler.owes_report);
        snapshot.messages.is_empty() && !snapshot.crawlers.iter().any(works)
    }
}

/// Whether a controller keeps every state that a recorded transition leads to.
fn is_nothing_lost(snapshot: &Snapshot) -> bool {
    let peers =
        || snapshot.peers.iter().flatten().filter(|peer| peer.known().graph().initial().is_some());
    let kept: BTreeSet<_> =
        peers().flat_map(|peer| peer.known().graph().full().map(|(key, _)| key)).collect();
    peers().all(|peer| {
        let own =
            peer.known().ownership().own().filter(|&(key, _)| peer.known().graph().is_full(key));
        own.flat_map(|(_, state)| peer.known().graph().leads(state))
            .all(|(_, to)| kept.contains(&to))
    })
}

fn is_one_ring(snapshot: &Snapshot) -> bool {
    let inside = snapshot.peers.iter().flatten().filter(|peer| peer.member().is_inside());
    let members: Members<'_> = inside.map(|peer| (peer.key(), peer.member())).collect();
    // A single controller is no ring, nor is a pair of which one has just failed.
    let live = |peer: &&argiope_ring::RingMember| {
        peer.successors().iter().any(|key| members.contains_key(key))
    };
    members.len() < 2 || !members.values().all(live) || ring_order(&members).is_ok()
}

impl Model for Checked {
    type State = Snapshot;
    type Action = Act;

    fn init_states(&self) -> Vec<Snapshot> {
        let keys: Vec<Key> = (0..self.controllers).map(|at| self.key(at)).collect();
        let founder = |&key: &Key| Some(Peer::founder(self.settings.clone(), key, &keys));
        let crawler = |at: usize| Crawler {
            at: None,
            report: TaskReport::new(CrawlerId(at as u64), 0),
            task: None,
            owes_report: false,
            dead: false,
        };
        let mut snapshot = Snapshot {
            now: 0,
            ticks: 0,
            peers: keys
                .iter()
                .map(founder)
                .chain((0..self.joins + self.restarts).map(|_| None))
                .collect(),
            crawlers: (0..self.crawlers).map(crawler).collect(),
            messages: BTreeMap::new(),
            timers: BTreeSet::new(),
            patience: BTreeSet::new(),
            executed: BTreeSet::new(),
            crashes: self.crashes,
            joins: self.joins,
            restarts: self.restarts,
            crawler_crashes: self.crawler_crashes,
            finished: false,
            finished_peers: BTreeSet::new(),
            disks: vec![BTreeSet::new(); self.controllers + 1],
            failed: BTreeSet::new(),
            crawls_again: false,
        };
        for at in 0..self.controllers {
            self.tell(&mut snapshot, at, PeerInput::Start);
        }
        for at in 0..self.crawlers {
            self.report(&mut snapshot, at);
        }
        vec![snapshot]
    }

    fn actions(&self, snapshot: &Snapshot, actions: &mut Vec<Act>) {
        if snapshot.restarts > 0 {
            actions.extend(snapshot.failed.iter().map(|&at| Act::Restart(at)));
        }
        if snapshot.finished {
            return;
        }
        actions.extend(snapshot.messages.keys().map(|&(from, to)| Act::Deliver(from, to)));
        for (at, crawler) in
            snapshot.crawlers.iter().enumerate().filter(|(_, crawler)| !crawler.dead)
        {
            if crawler.task.is_some() {
                actions.push(Act::Perform(at));
            }
            if crawler.owes_report {
                actions.push(Act::SendReport(at));
            }
            if snapshot.crawler_crashes > 0 {
                actions.push(Act::CrashCrawler(at));
            }
        }
        if self.is_quiet(snapshot) {
            actions.push(Act::Tick);
        }
        let up: Vec<usize> =
            (0..snapshot.peers.len()).filter(|&at| snapshot.peers[at].is_some()).collect();
        if snapshot.crashes > 0 && up.len() > 1 {
            actions.extend(up.iter().flat_map(|&at| [Act::Crash(at, false), Act::Crash(at, true)]));
        }
        if snapshot.joins > 0 && snapshot.peers[0].is_some() {
            actions.push(Act::Join);
        }
    }

    fn next_state(&self, before: &Snapshot, act: Act) -> Option<Snapshot> {
        let mut snapshot = before.clone();
        match act {
            Act::Deliver(from, to) => self.deliver(&mut snapshot, (from, to)),
            Act::Perform(at) => self.perform(&mut snapshot, at),
            Act::SendReport(at) => self.report(&mut snapshot, at),
            Act::Tick => self.tick(&mut snapshot),
            Act::Crash(at, loses_messages) => {
                snapshot.crashes -= 1;
                snapshot.peers[at] = None;
                snapshot.failed.extend((self.restarts > 0).then_some(at));
                let failed = Party::Controller(at);
                snapshot
                    .messages
                    .retain(|&(from, to), _| to != failed && !(loses_messages && from == failed));
                snapshot.timers.retain(|&(_, peer, _)| peer != at);
            }
            Act::CrashCrawler(at) => {
                snapshot.crawler_crashes -= 1;
                snapshot.crawlers[at].dead = true;
                let failed = Party::Crawler(at);
                snapshot.messages.retain(|&(from, to), _| to != failed && from != failed);
                snapshot.patience.retain(|&(_, crawler, _)| crawler != at);
            }
            Act::Join => {
                snapshot.joins -= 1;
                let at = self.controllers;
                snapshot.peers[at] = Some(Peer::newcomer(self.settings.clone(), self.key(at)));
                self.tell(&mut snapshot, at, PeerInput::Join(self.key(0)));
            }
            Act::Restart(at) => self.restart(&mut snapshot, at),
        }
        Some(snapshot)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("never finishes early", |checked: &Self, snapshot: &Snapshot| {
                !snapshot.finished || snapshot.executed.len() == checked.app.transitions()
            }),
            Property::always("nothing is crawled after the end", |_, snapshot: &Snapshot| {
                !snapshot.crawls_again
            }),
            Property::always("it finishes", |_, snapshot: &Snapshot| snapshot.ticks < MAX_TICKS),
            Property::always("one ring", |_, snapshot: &Snapshot| is_one_ring(snapshot)),
            Property::always(
                "acknowledged states are kept",
                |checked: &Self, snapshot: &Snapshot| {
                    checked.settings.recovery != Recovery::Redundancy || is_nothing_lost(snapshot)
                },
            ),
            Property::sometimes("it can finish", |_, snapshot: &Snapshot| snapshot.finished),
        ]
    }
}

/// Three states: there and back, and a dead end.
fn three_states() -> Application {
    let mut app = Application::new("three", 2.0, vec!["a".to_owned(), "b".to_owned()]);
    app.push_state(vec![(0, 1), (1, 2)]);
    app.push_state(vec![(0, 0)]);
    app.push_state(vec![]);
    app
}

/// Checks every reachable system state, and returns their number.
fn count_states(checked: Checked) -> usize {
    let checker = checked.checker().spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}

fn with(scheme: &str, recovery: Recovery, controllers: usize, crawlers: usize) -> Checked {
    Checked::new(three_states(), scheme, recovery, controllers, crawlers)
}

#[test]
fn two_controllers_and_two_crawlers_survive_a_crash() {
    let crash = |scheme, recovery| Checked { crashes: 1, ..with(scheme, recovery, 2, 2) };
    assert_eq!(count_states(crash("shared", Recovery::Redundancy)), 92_407);
    assert_eq!(count_states(crash("shared", Recovery::Retry)), 15_312);
    assert_eq!(count_states(crash("forward-global", Recovery::Retry)), 18_133);
}

#[test]
fn two_controllers_survive_a_crash_and_a_join() {
    let both = Checked { crashes: 1, joins: 1, ..with("shared", Recovery::Redundancy, 2, 1) };
    assert_eq!(count_states(both), 338_185);
}

#[test]
fn two_controllers_survive_a_crash_and_a_restart() {
    let both = |recovery| Checked { crashes: 1, restarts: 1, ..with("shared", recovery, 2, 1) };
    assert_eq!(count_states(both(Recovery::Retry)), 308_704);
    assert_eq!(count_states(both(Recovery::Redundancy)), 1_184_762);
}

#[test]
fn three_controllers_survive_a_crash() {
    let crash = |scheme| Checked { crashes: 1, ..with(scheme, Recovery::Retry, 3, 1) };
    assert_eq!(count_states(crash("shared")), 8_613);
    assert_eq!(count_states(crash("forward-global")), 9_458);
    if std::env::var_os("ARGIOPE_LONG").is_some() {
        // Many minutes.
        for (crawlers, recovery) in [(1, Recovery::Redundancy), (2, Recovery::Retry)] {
            let larger = Checked { crashes: 1, ..with("forward-global", recovery, 3, crawlers) };
            assert!(count_states(larger) > 100_000, "{crawlers} crawlers");
        }
    }
}

/// In chapter 3 of the thesis a crawler acknowledges a task before it reports the state it led to.
/// Until the report arrives no controller knows the state; if the crawler fails, none ever will.
#[test]
fn a_state_is_lost_if_its_task_is_acknowledged_before_it_is_kept() {
    let crash = |acknowledges_early| Checked {
        crawler_crashes: 1,
        acknowledges_early,
        ..with("shared", Recovery::Retry, 2, 2)
    };
    assert_eq!(count_states(crash(false)), 12_460);
    let checker = crash(true).checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let path = checker.discovery("never finishes early").expect("the checker finds it");
    // The crawl ends while a crawler is, or has failed, in a state that no controller knows.
    let steps = path.into_vec();
    let (last, _) = steps.last().expect("a path has an end");
    assert!(last.finished && last.executed.len() < 3, "{steps:#?}");
    assert!(last.crawlers.iter().any(|crawler| crawler.owes_report), "{steps:#?}");
}
