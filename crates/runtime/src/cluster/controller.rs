//! A controller as a process: takes part in every crawl of its ring, keeps its share on disk, and is the home of the
//! crawlers that dial it. One task decides; connections and the disk bring it what happens. Nothing that it sends waits
//! for the receiver: whoever does not keep up misses something and asks again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{LeaseRef, PeerInput, PeerTimer, TaskReport};
use argiope_controller::star::coordinator::{CoordinatorInput, CoordinatorTimer as StarTimer};
use argiope_ring::Key;
use argiope_wire::{Connection, DialError, ListenError, Role};
use tokio::sync::{Notify, Semaphore, mpsc};

use super::connections::{ConnectionEvent, Link, LinkId, Switch};
use super::crawl_state::{CrawlShare, Duty, PendingCrawl};
use super::protocol::{CrawlId, CrawlSpec, CrawlTally, KnownMember, decode};
use crate::store::{Batch, Store, StoreError, StoreWriter, WriterEvent};

mod clients;
mod crawlers;
mod effects;
mod membership;
mod metrics;
mod star;

use crawlers::CrawlerProcess;
use effects::Outgoing;
pub use metrics::Metrics;

/// How often controllers tell each other that they are there, and how far they are.
const PULSE: Duration = Duration::from_millis(500);
/// How often crawlers that were told nothing are spoken for again while others take over from a lost controller.
const AGAIN: Duration = Duration::from_millis(200);
/// A controller that begins looks so long for others before it takes itself to be alone.
const LOOKS_ROUND: Duration = Duration::from_secs(3);
/// A controller that leaves waits so long at most for others to take over.
const LEAVES: Duration = Duration::from_secs(15);
/// So many dialers may be greeted at a time; the others wait.
const WELCOMES: usize = 256;
/// So many things may wait to be taken in; then connections are read no further.
const WAITING: usize = 4096;

/// What a controller needs.
pub struct ControllerPlan {
    /// The directory for what it keeps: new, empty, or its own from before.
    pub data: PathBuf,
    /// Who it is: drawn by chance, anew each time that it starts.
    pub me: Key,
    /// Connections.
    pub switch: Switch,
    /// Where others listen.
    pub join: Vec<String>,
    /// To leave in order.
    pub leave: Arc<Notify>,
    /// Where to say how it is.
    pub metrics: Option<Arc<Metrics>>,
    /// Where to note when tasks were given out and done.
    pub trace: Option<std::fs::File>,
}

/// Why a controller ended otherwise than in order. What it kept is on disk.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Its directory cannot be used.
    #[error(transparent)]
    Open(StoreError),
    /// The disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is on disk is not of this version.
    #[error("{0}")]
    Kept(String),
}

/// What happens to a controller.
enum Happening {
    Welcomed(Connection),
    Refused(String, String),
    Dialled(String, Result<Connection, DialError>),
    Written(WriterEvent),
}

/// What somebody wanted to be reminded of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Alarm {
    Peer(PeerTimer),
    Star(StarTimer),
}

/// Another controller, as it is known here.
struct Known {
    address: String,
    heard: Instant,
    /// Crawlers' tabs that are attached there.
    tabs: u32,
    shares: Vec<(CrawlId, CrawlTally)>,
    /// When to see whether it is in another ring of a crawl.
    met: BTreeMap<CrawlId, Instant>,
    leaving: bool,
}

struct Node<'a> {
    me: Key,
    began: Instant,
    switch: Switch,
    store: Store,
    writer: StoreWriter,
    /// The last ticket that was given, and the last that is on disk.
    appended: u64,
    durable: u64,
    /// What waits for the disk.
    waiting: VecDeque<(u64, Outgoing)>,
    /// Contents that are not on disk yet.
    recent: BTreeMap<ContentId, (u64, Arc<[u8]>)>,
    links: BTreeMap<LinkId, Link>,
    next_link: LinkId,
    arrivals: mpsc::Sender<ConnectionEvent>,
    happenings: mpsc::UnboundedSender<Happening>,
    members: BTreeMap<Key, Known>,
    /// Addresses that are being dialled, and those that were not reached, with the time until which they are let be.
    dialling: BTreeSet<String>,
    unreached: BTreeMap<String, Instant>,
    /// Where controllers were once: dialled until somebody answers.
    addresses: BTreeSet<String>,
    shares: BTreeMap<CrawlId, CrawlShare>,
    timers: BinaryHeap<Reverse<(u64, u64, CrawlId, Alarm)>>,
    next_timer: u64,
    crawlers: BTreeMap<CrawlerId, (LinkId, u32)>,
    /// The tasks that they were given and have said nothing of since.
    under_way: BTreeMap<CrawlerId, (CrawlId, LeaseRef)>,
    /// What crawlers said last and were given nothing for yet.
    unanswered: BTreeMap<CrawlerId, (Instant, CrawlId, TaskReport)>,
    /// Until when that is said again, because somebody who had to do with it may be gone.
    restless: Option<Instant>,
    processes: BTreeMap<LinkId, CrawlerProcess>,
    next_crawler: u32,
    probes: BTreeMap<u64, crawlers::Asker>,
    next_probe: u64,
    followers: Vec<(LinkId, CrawlId)>,
    leaving: Option<Instant>,
    /// Jobs given out, and frames that were not sent on connections that are over.
    jobs: u64,
    dropped: u64,
    metrics: Option<Arc<Metrics>>,
    trace: Option<std::fs::File>,
    say: &'a mut dyn FnMut(&str),
}

/// Runs until it is told to leave. `ready` is told the address once it listens; `say` one line for each thing that
/// people who look after a ring want to know. Must run in a `LocalSet`.
pub async fn run(
    plan: ControllerPlan,
    listen: &str,
    ready: impl FnOnce(&str),
    say: &mut dyn FnMut(&str),
) -> Result<(), ControllerError> {
    let ControllerPlan { data, me, mut switch, join, leave, metrics, trace } = plan;
    // First: who cannot listen has nothing to keep.
    let mut listener = switch.transport.listen(listen).await?;
    let store = open(&data).map_err(ControllerError::Open)?;
    if switch.me.address.is_none() {
        switch.me = Arc::new((*switch.me).clone().with_address(listener.address()));
    }
    let (arrivals, mut arriving) = mpsc::channel(WAITING);
    // What happens beside frames is little, and each of it was begun here.
    let (happenings, mut happening) = mpsc::unbounded_channel();
    let written = happenings.clone();
    let writer = store.writer(move |progress| {
        let _ = written.send(Happening::Written(progress));
    })?;
    let mut node = Node {
        me,
        began: Instant::now(),
        switch: switch.clone(),
        store,
        writer,
        appended: 0,
        durable: 0,
        waiting: VecDeque::new(),
        recent: BTreeMap::new(),
        links: BTreeMap::new(),
        next_link: 0,
        arrivals,
        happenings: happenings.clone(),
        members: BTreeMap::new(),
        dialling: BTreeSet::new(),
        unreached: BTreeMap::new(),
        addresses: join.into_iter().collect(),
        shares: BTreeMap::new(),
        timers: BinaryHeap::new(),
        next_timer: 0,
        crawlers: BTreeMap::new(),
        under_way: BTreeMap::new(),
        unanswered: BTreeMap::new(),
        restless: None,
        processes: BTreeMap::new(),
        next_crawler: 0,
        probes: BTreeMap::new(),
        next_probe: 0,
        followers: Vec::new(),
        leaving: None,
        jobs: 0,
        dropped: 0,
        metrics,
        trace,
        say,
    };
    node.recall()?;
    node.coordinate_again();
    let welcoming = tokio::task::spawn_local(async move {
        let doors = Arc::new(Semaphore::new(WELCOMES));
        loop {
            let Ok(door) = doors.clone().acquire_owned().await else { return };
            let incoming = listener.accept().await;
            let (switch, happenings) = (switch.clone(), happenings.clone());
            tokio::task::spawn_local(async move {
                let _door = door;
                let from = incoming.from().to_owned();
                let _ = match incoming.handshake(&switch.me, &switch.limits, &|_| Ok(())).await {
                    Ok(connection) => happenings.send(Happening::Welcomed(connection)),
                    Err(error) => happenings.send(Happening::Refused(from, error.to_string())),
                };
            });
        }
    });
    ready(node.switch.me.address.as_deref().unwrap_or_default());
    let mut pulse = tokio::time::interval(PULSE);
    pulse.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut again = tokio::time::interval(AGAIN);
    again.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let ended = loop {
        let until = node.next_due();
        tokio::select! {
            biased;
            Some(happening) = happening.recv() => {
                if let Err(error) = node.happens(happening) {
                    break Err(error.into());
                }
            }
            Some(arrival) = arriving.recv() => {
                node.arrives(arrival);
                // Many small ones wait when there is much to do: one look at the clock for all of them.
                for _ in 0..256 {
                    let Ok(arrival) = arriving.try_recv() else { break };
                    node.arrives(arrival);
                }
            }
            () = tokio::time::sleep_until(until.into()) => {}
            _ = pulse.tick() => node.beat(),
            _ = again.tick(), if node.restless.is_some() => node.say_again(),
            () = leave.notified(), if node.leaving.is_none() => node.leave(),
        }
        node.wake_due();
        if node.has_left() {
            break Ok(());
        }
    };
    welcoming.abort();
    node.end().await;
    ended
}

impl Node<'_> {
    /// What time it is for peers, in microseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    /// Takes up what an earlier life of this controller has kept.
    fn recall(&mut self) -> Result<(), ControllerError> {
        let unknown = |what: &str| {
            ControllerError::Kept(format!("{what} was kept by another version of argiope"))
        };
        let mut kept: BTreeMap<CrawlId, Vec<Fact>> = BTreeMap::new();
        self.store.kept(|crawl, fact| kept.entry(CrawlId(crawl)).or_default().push(fact))?;
        for (name, bytes) in self.store.named_from("crawl/")? {
            let id = u64::from_str_radix(&name, 16).map(CrawlId).map_err(|_| unknown(&name))?;
            let spec: CrawlSpec = decode(&bytes).ok_or_else(|| unknown("a crawl"))?;
            let mut share = CrawlShare::new(spec, self.me).map_err(ControllerError::Kept)?;
            let is = |what: &str| {
                Ok::<_, StoreError>(self.store.named(&format!("{what}/{id}"))?.is_some())
            };
            share.finished = is("finished")?;
            share.stopped = is("stopped")?;
            if let Some(masks) = self.store.named(&format!("volatile/{id}"))? {
                share.volatile = decode(&masks).ok_or_else(|| unknown("what is volatile"))?;
            }
            let facts = kept.remove(&id).unwrap_or_default();
            if share.is_star() {
                share.duty = self.recall_star(id, &facts)?;
            } else if share.finished || share.stopped {
                share.duty = Duty::Peer(Peer::reviving(
                    super::crawl_state::settings(&share.spec.order)
                        .map_err(ControllerError::Kept)?,
                    self.me,
                    &facts,
                ));
            } else {
                share.pending = Some(PendingCrawl { facts, ..PendingCrawl::default() });
            }
            self.shares.insert(id, share);
        }
        if let Some(bytes) = self.store.named("members")? {
            let members: Vec<String> =
                decode(&bytes).ok_or_else(|| unknown("the list of members"))?;
            self.addresses.extend(members);
        }
        Ok(())
    }

    fn happens(&mut self, happening: Happening) -> Result<(), StoreError> {
        match happening {
            Happening::Welcomed(connection) => self.connected(connection),
            Happening::Refused(from, why) => {
                (self.say)(&format!("refused a connection from {}: {why}", shown(&from)));
            }
            Happening::Dialled(address, Ok(connection)) => {
                self.dialling.remove(&address);
                self.unreached.remove(&address);
                self.connected(connection);
            }
            Happening::Dialled(address, Err(error)) => {
                self.dialling.remove(&address);
                let first =
                    self.unreached.insert(address.clone(), Instant::now() + Duration::from_secs(1));
                // Of one that was there it was said that it is gone.
                let was_there = self.members.values().any(|known| known.address == address);
                match error {
                    _ if first.is_some() => {}
                    DialError::Unreachable { .. } if was_there => {}
                    DialError::Unreachable { .. } => {
                        (self.say)(&format!("{error}; trying again until it can"));
                    }
                    _ => (self.say)(&error.to_string()),
                }
            }
            Happening::Written(WriterEvent::Durable(ticket)) => self.is_durable(ticket),
            Happening::Written(WriterEvent::Failed(error)) => return Err(error),
        }
        Ok(())
    }

    fn connected(&mut self, connection: Connection) {
        let id = self.next_link;
        self.next_link += 1;
        let hello = connection.peer.clone();
        self.links.insert(id, Link::open(id, connection, self.arrivals.clone()));
        match hello.role {
            Role::Controller => self.meet(id, Key(hello.name), hello.address),
            Role::Crawler => self.hire(id),
            Role::Client => {}
        }
    }

    fn arrives(&mut self, arrival: ConnectionEvent) {
        match arrival {
            ConnectionEvent::Frame(id, frame) => {
                let Some(link) = self.links.get(&id) else { return };
                let understood = match link.hello.role {
                    Role::Controller => {
                        let from = Key(link.hello.name);
                        decode(&frame).map(|message| self.hear(id, from, message))
                    }
                    Role::Crawler => decode(&frame).map(|message| self.crawler_says(id, message)),
                    Role::Client => decode(&frame).map(|wish| self.client_wishes(id, wish)),
                };
                if understood.is_none() {
                    self.closed(id, "it sent something that cannot be read");
                }
            }
            ConnectionEvent::Closed(id, why) => self.closed(id, &why),
        }
    }

    /// A connection is over; dropping it closes it.
    fn closed(&mut self, id: LinkId, why: &str) {
        let Some(link) = self.links.remove(&id) else { return };
        self.dropped += link.dropped;
        match link.hello.role {
            Role::Controller => self.parted(Key(link.hello.name), why),
            Role::Crawler => self.dismiss(id, why),
            Role::Client => self.followers.retain(|&(follower, _)| follower != id),
        }
    }

    fn next_due(&self) -> Instant {
        let far = Instant::now() + Duration::from_secs(3600);
        self.timers.peek().map_or(far, |Reverse((at, ..))| self.began + Duration::from_micros(*at))
    }

    fn wake_due(&mut self) {
        while let Some(Reverse((at, ..))) = self.timers.peek()
            && *at <= self.now()
            && let Some(Reverse((_, _, crawl, alarm))) = self.timers.pop()
        {
            match alarm {
                Alarm::Peer(timer) => self.tell(crawl, PeerInput::Woken(timer)),
                Alarm::Star(timer) => self.coordinate(crawl, CoordinatorInput::Woken(timer)),
            }
        }
    }

    fn remind(&mut self, crawl: CrawlId, alarm: Alarm, after: u64) {
        self.next_timer += 1;
        self.timers.push(Reverse((
            self.now().saturating_add(after),
            self.next_timer,
            crawl,
            alarm,
        )));
    }

    /// Writes something down.
    fn append(&mut self, batch: Batch) {
        // If the writer has stopped, it has said why, and this controller ends.
        if let Ok(ticket) = self.writer.append(batch) {
            self.appended = ticket;
        }
    }

    fn name(&mut self, name: &str, bytes: Vec<u8>) {
        self.append(Batch { named: vec![(name.to_owned(), bytes)], ..Batch::default() });
    }

    /// Begins to leave.
    fn leave(&mut self) {
        (self.say)("leaving: handing over");
        self.leaving = Some(Instant::now() + LEAVES);
        self.send_crawlers_away();
        let others: Vec<Key> = self.members.keys().copied().collect();
        for other in others {
            self.send_to(other, &super::protocol::Between::Leaving);
        }
        let crawls: Vec<CrawlId> = self.shares.keys().copied().collect();
        for crawl in crawls {
            let share = self.shares.get(&crawl).filter(|share| share.is_open());
            let peer = share.and_then(CrawlShare::peer);
            if let Some(Duty::Coordinator(_)) = share.map(|share| &share.duty) {
                (self.say)(&format!(
                    "crawl {crawl} is coordinated here and waits until this controller is back"
                ));
            }
            if peer.is_some_and(|peer| !peer.member().successors().is_empty()) {
                self.tell(crawl, PeerInput::Leave);
            } else if let Some(share) = self.shares.get_mut(&crawl) {
                // Nobody is there to take over: it is on disk.
                share.left = true;
            }
        }
    }

    fn has_left(&mut self) -> bool {
        let Some(until) = self.leaving else { return false };
        let left = self.shares.values().all(|share| share.left || share.finished || share.stopped);
        if !left && Instant::now() > until {
            (self.say)("nobody has taken over in time; everything is on disk");
            return true;
        }
        left && self.waiting.is_empty()
    }

    /// Says goodbye.
    async fn end(self) {
        let Self { links, writer, .. } = self;
        // Whatever could not be written was said before.
        let _ = writer.close();
        for (_, link) in links {
            let _ = tokio::time::timeout(Duration::from_secs(1), link.finish()).await;
        }
    }

    fn me(&self) -> KnownMember {
        KnownMember { key: self.me, address: self.switch.me.address.clone().unwrap_or_default() }
    }
}

/// A place on the ring, short enough for people.
fn short(key: Key) -> String {
    format!("{:08x}", key.0 >> 96)
}

/// Text from another process, fit to print.
fn shown(text: &str) -> String {
    argiope_explore::quoted::Escaped(text, 100).to_string()
}

/// The directory of a controller that begins or goes on.
fn open(directory: &Path) -> Result<Store, StoreError> {
    if directory.join(crate::store::FILE).exists() {
        return Store::open(directory);
    }
    Store::create(directory, &serde_json::json!({ "controller": true }))
}
