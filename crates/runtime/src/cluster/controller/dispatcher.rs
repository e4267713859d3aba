//! The dispatcher: waits for the next event ([`Dispatcher::select`]), updates the state
//! ([`Dispatcher::handle_event`]) and carries out effects (`effects`). Handlers never wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argiope_ring::Key;
use argiope_wire::{Connection, DialError, Role};
use serde::Serialize;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Interval, MissedTickBehavior};

use super::super::connections::{Arrivals, ConnectionEvent, Link, LinkId, Switch};
use super::super::crawl_state::CrawlShare;
use super::super::protocol::{CrawlId, KnownMember, decode};
use super::ControllerError;
use super::ControllerPlan;
use super::clients::Fetches;
use super::crawlers::Crawlers;
use super::disk::ControllerDisk;
use super::membership::{Membership, Refusals};
use super::metrics::Metrics;
use super::places::Seat;
use super::timers::Timers;
use super::working_time::WorkClock;
use crate::store::{Store, StoreError, WriterEvent};

/// The time between two heartbeats.
pub const HEARTBEAT: Duration = Duration::from_millis(500);
/// How often unanswered reports are repeated while another controller is taken over from.
const REPEAT: Duration = Duration::from_millis(200);
/// How many frames wait to be handled; then connections are read no further.
const QUEUE: usize = 4096;
/// How many bytes of frames wait to be handled: two frames of the largest size.
const QUEUED_BYTES: u32 = 128 << 20;
/// How many frames are handled in one event: one look at the clock for all of them.
const FRAMES_AT_ONCE: usize = 256;

/// What happens to a controller.
pub enum ProcessEvent {
    /// A process has dialled and said who it is.
    Welcomed(Connection, Option<Seat>),
    /// A controller was dialled.
    Dialled(String, Result<Connection, DialError>),
    /// Everything that a client fetches is sent, or its connection has ended.
    Fetched(LinkId),
    /// The disk has written something, or failed.
    Written(WriterEvent),
    /// Connections have brought frames, or have ended.
    Arrived(Vec<ConnectionEvent>),
    /// A timer is due.
    TimerDue,
    /// The next heartbeat is due.
    Heartbeat,
    /// Unanswered reports are to be repeated.
    Repeat,
    /// The process was told to leave.
    Leave,
}

/// Where events come from.
struct EventSources {
    events: mpsc::UnboundedReceiver<ProcessEvent>,
    arrivals: mpsc::Receiver<ConnectionEvent>,
    heartbeat: Interval,
    repeat: Interval,
    leave: Arc<Notify>,
}

/// The state of a controller process, grouped by subject.
pub struct Dispatcher {
    pub me: Key,
    pub began: Instant,
    pub switch: Switch,
    pub disk: ControllerDisk,
    pub links: BTreeMap<LinkId, Link>,
    next_link: LinkId,
    pub membership: Membership,
    pub shares: BTreeMap<CrawlId, CrawlShare>,
    pub timers: Timers,
    pub work: WorkClock,
    pub crawlers: Crawlers,
    /// Clients that follow a crawl.
    pub followers: Vec<(LinkId, CrawlId)>,
    /// Clients that fetch a crawl.
    pub fetches: Fetches,
    /// How many jobs were assigned.
    pub jobs: u64,
    /// How many frames were not sent, on connections that have ended.
    pub dropped: u64,
    /// The messages that no correct controller sends.
    pub refusals: Refusals,
    /// Until when other controllers may take over, once this controller leaves.
    pub leaving: Option<Instant>,
    pub metrics: Option<Arc<Metrics>>,
    pub trace: Option<std::fs::File>,
    /// For events that are begun here: at most one for each dialler, dialled address, commit and
    /// fetch, so that they need no bound.
    pub events: mpsc::UnboundedSender<ProcessEvent>,
    /// For frames of connections.
    arrived: Arrivals,
    sources: EventSources,
}

impl Dispatcher {
    /// A controller that knows nothing yet.
    pub fn new(plan: ControllerPlan, store: Store) -> Result<Self, StoreError> {
        let ControllerPlan { me, switch, join, leave, metrics, trace, .. } = plan;
        let (arrived, arrivals) = Arrivals::new(QUEUE, QUEUED_BYTES);
        let (events, received) = mpsc::unbounded_channel();
        let written = events.clone();
        let disk = ControllerDisk::open(store, move |progress| {
            let _ = written.send(ProcessEvent::Written(progress));
        })?;
        let sources = EventSources {
            events: received,
            arrivals,
            heartbeat: interval(HEARTBEAT),
            repeat: interval(REPEAT),
            leave,
        };
        Ok(Self {
            me,
            began: Instant::now(),
            switch,
            disk,
            links: BTreeMap::new(),
            next_link: 0,
            membership: Membership::new(join),
            shares: BTreeMap::new(),
            timers: Timers::default(),
            work: WorkClock::new(),
            crawlers: Crawlers::default(),
            followers: Vec::new(),
            fetches: Fetches::default(),
            jobs: 0,
            dropped: 0,
            refusals: Refusals::default(),
            leaving: None,
            metrics,
            trace,
            events,
            arrived,
            sources,
        })
    }

    /// Handles events until the controller has left.
    pub async fn run(&mut self) -> Result<(), ControllerError> {
        loop {
            let event = self.select().await;
            self.handle_event(event)?;
            self.fire_timers();
            if self.has_left() {
                return Ok(());
            }
        }
    }

    /// Waits for the next event. What was begun here comes before frames, frames before clocks.
    async fn select(&mut self) -> ProcessEvent {
        let due = self.next_due();
        let repeats = self.crawlers.repeat_until.is_some();
        let stays = self.leaving.is_none();
        let EventSources { events, arrivals, heartbeat, repeat, leave } = &mut self.sources;
        let mut arrived = Vec::new();
        tokio::select! {
            biased;
            Some(event) = events.recv() => event,
            1.. = arrivals.recv_many(&mut arrived, FRAMES_AT_ONCE) => {
                ProcessEvent::Arrived(arrived)
            }
            () = tokio::time::sleep_until(due.into()) => ProcessEvent::TimerDue,
            _ = heartbeat.tick() => ProcessEvent::Heartbeat,
            _ = repeat.tick(), if repeats => ProcessEvent::Repeat,
            () = leave.notified(), if stays => ProcessEvent::Leave,
        }
    }

    fn handle_event(&mut self, event: ProcessEvent) -> Result<(), ControllerError> {
        match event {
            ProcessEvent::Welcomed(connection, seat) => self.on_connected(connection, seat),
            ProcessEvent::Dialled(address, Ok(connection)) => {
                self.membership.on_reached(&address);
                self.on_connected(connection, None);
            }
            ProcessEvent::Dialled(address, Err(error)) => {
                // A controller that may not join must not go on as a cluster of its own.
                let is_final = !matches!(error, DialError::Unreachable { .. });
                if is_final && self.membership.is_to_join(&address) {
                    return Err(ControllerError::Refused(error));
                }
                self.membership.on_not_reached(address, &error);
            }
            ProcessEvent::Fetched(link) => self.on_fetched(link),
            ProcessEvent::Written(WriterEvent::Durable(ticket)) => self.on_durable(ticket),
            ProcessEvent::Written(WriterEvent::Failed(error)) => return Err(error.into()),
            ProcessEvent::Arrived(arrived) => {
                for event in arrived {
                    match event {
                        ConnectionEvent::Frame(id, frame, _room) => self.on_frame(id, &frame),
                        ConnectionEvent::Closed(id, reason) => self.on_closed(id, &reason),
                    }
                }
            }
            // Due timers fire after every event.
            ProcessEvent::TimerDue => {}
            ProcessEvent::Heartbeat => self.heartbeat(),
            ProcessEvent::Repeat => self.repeat_reports(),
            ProcessEvent::Leave => self.leave(),
        }
        Ok(())
    }

    fn on_connected(&mut self, connection: Connection, seat: Option<Seat>) {
        let id = self.next_link;
        self.next_link += 1;
        let hello = connection.peer.clone();
        self.links.insert(id, Link::open(id, connection, self.arrived.clone(), seat));
        match hello.role {
            Role::Controller => self.on_controller_connected(id, Key(hello.name), hello.address),
            Role::Crawler => self.on_crawler_connected(id),
            Role::Client => {}
        }
    }

    fn on_frame(&mut self, id: LinkId, frame: &[u8]) {
        let Some(link) = self.links.get(&id) else { return };
        let understood = match link.hello.role {
            Role::Controller => {
                let from = Key(link.hello.name);
                decode(frame).map(|message| self.on_controller_message(id, from, message))
            }
            Role::Crawler => decode(frame).map(|message| self.on_crawler_message(id, message)),
            Role::Client => decode(frame).map(|message| self.on_client_message(id, message)),
        };
        if understood.is_none() {
            self.on_closed(id, "it sent a frame that cannot be read");
        }
    }

    /// A connection has ended, or must end: dropping it closes it.
    pub fn on_closed(&mut self, id: LinkId, reason: &str) {
        let Some(link) = self.links.remove(&id) else { return };
        self.dropped += link.dropped;
        match link.hello.role {
            Role::Controller => self.on_disconnected(Key(link.hello.name), reason),
            Role::Crawler => self.on_crawler_disconnected(id, reason),
            Role::Client => {
                self.followers.retain(|&(follower, _)| follower != id);
                self.fetches.forget(id);
            }
        }
    }

    /// Sends on a connection, if it is still there.
    pub fn send(&mut self, link: LinkId, message: &impl Serialize) {
        if let Some(link) = self.links.get_mut(&link) {
            link.send(message);
        }
    }

    /// The crawls whose share here fits.
    pub fn crawls_where(&self, fits: impl Fn(&CrawlShare) -> bool) -> Vec<CrawlId> {
        self.shares.iter().filter(|(_, share)| fits(share)).map(|(&id, _)| id).collect()
    }

    pub fn me(&self) -> KnownMember {
        KnownMember { key: self.me, address: self.switch.me.address.clone().unwrap_or_default() }
    }
}

/// Ticks with this period, and later rather than more often.
pub fn interval(period: Duration) -> Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// A place on the ring, short enough for people.
pub fn short(key: Key) -> String {
    format!("{:08x}", key.0 >> 96)
}

/// Text from another process, fit to print.
pub fn shown(text: &str) -> String {
    argiope_explore::quoted::Escaped(text, 100).to_string()
}
