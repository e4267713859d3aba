//! A controller that shares a crawl with others: it owns the states whose keys the ring gives it, hands out what is
//! to be done in them, and finds something elsewhere for crawlers that stand where nothing is left. Pure, like the
//! lone [`Controller`](crate::Controller): `handle(input)` gives effects.
//!
//! Facts about the application only ever grow (a state is there, an action leads somewhere), so whatever two
//! controllers know can be put together in any order and any number of times. Everything else (who works on what)
//! may be lost, repeated or wrong without harm but to the time it takes.

use std::collections::{BTreeMap, VecDeque};

use argiope_explore::graph::Slot;
use argiope_explore::id::{StateIndex, StateKey};
use argiope_ring as ring;
use argiope_ring::{Key, RingMember};

use crate::job::{CrawlerId, JobId};
use crate::journal::Fact;
use crate::outcome::JobFailure;

mod delivering;
mod ending;
mod keeping;
pub mod knowledge;
pub mod known_graph;
mod links;
pub mod message;
pub mod ownership;
mod ranges;
mod replicas;
mod reporting;
pub mod schemes;
pub mod search;
mod seeking;
pub mod settings;

use ending::Ending;
use keeping::Keeping;
use knowledge::PeerKnowledge;
use links::LinkRegistry;
use message::{
    Done, Envelope, PeerEffect, PeerInput, PeerMessage, PeerTimer, RouteHint, WorkRequest,
};
use ranges::Ranges;
use schemes::{Hears, Looks};
use search::Search;
use settings::PeerSettings;

/// Where a state is on the ring.
pub fn place(state: StateKey) -> Key {
    Key(state.0)
}

/// A controller of a ring.
#[derive(Clone)]
pub struct Peer {
    settings: PeerSettings,
    me: Key,
    now: u64,
    /// When it last went on after it had stood still.
    went_on: Option<u64>,
    member: RingMember,
    known: PeerKnowledge,
    /// Messages to itself.
    inbox: VecDeque<(Key, Envelope)>,
    leases: BTreeMap<JobId, Lease>,
    /// Tasks that were overdue: their crawlers may still have something to say.
    overdue: BTreeMap<JobId, Slot>,
    /// What speaks against a candidate, in hundredths of what is enough.
    failures: BTreeMap<Slot, u32>,
    next_number: u64,
    /// The longest that a unit of work took lately, in microseconds.
    slowest: u64,
    /// Crawlers without a job.
    parked: BTreeMap<CrawlerId, WorkRequest>,
    /// How long to wait before they ask round again; none if they are not waiting.
    waiting: Option<u64>,
    patience: u64,
    /// Where the last searches from own states stopped.
    remembered: BTreeMap<StateKey, Search>,
    /// What others may want to know, and how much of it each was told.
    told: Vec<RouteHint>,
    told_to: BTreeMap<Key, usize>,
    /// Tasks that were done, to be told by the way.
    later: BTreeMap<Key, Vec<Done>>,
    /// Whether a timer runs for them.
    telling_later: bool,
    ranges: Ranges,
    links: LinkRegistry,
    keeping: Keeping,
    ending: Ending,
}

/// A task in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lease {
    slot: Slot,
    crawler: CrawlerId,
    since: u64,
    /// How much work it is, in actions.
    units: u64,
}

/// Where it stands, for model checkers. The time is left out.
impl std::hash::Hash for Peer {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (&self.member, &self.known, &self.inbox, self.next_number, &self.parked, self.waiting)
            .hash(hasher);
        (&self.remembered, &self.told_to, &self.later, self.telling_later).hash(hasher);
        (&self.ranges, &self.links, &self.keeping, &self.ending).hash(hasher);
        for (job, lease) in &self.leases {
            (job, self.known.graph().step(lease.slot), lease.crawler).hash(hasher);
        }
    }
}

impl Peer {
    /// One of those that a ring begins with, or (without others) a lone one.
    pub fn founder(settings: PeerSettings, me: Key, founders: &[Key]) -> Self {
        let member = RingMember::founder(me, founders, settings.successors);
        let ranges = Ranges::whole(&member);
        Self::with(settings, member, ranges)
    }

    /// One that is to join a ring.
    pub fn newcomer(settings: PeerSettings, me: Key) -> Self {
        Self::with(settings, RingMember::outside(me, settings.successors), Ranges::default())
    }

    /// One that is to join a ring and remembers what it kept in an earlier life, under whatever name: its disk.
    pub fn returning(settings: PeerSettings, me: Key, kept: &[Fact]) -> Self {
        let mut peer = Self::newcomer(settings, me);
        peer.recall(kept);
        let facts = peer.known.graph().all().flat_map(|(_, state)| peer.known.facts(state));
        peer.ranges.remembered = facts.collect();
        peer
    }

    /// One that remembers what it kept and finds no ring to join: a ring of its own.
    pub fn reviving(settings: PeerSettings, me: Key, kept: &[Fact]) -> Self {
        let mut peer = Self::founder(settings, me, &[me]);
        peer.recall(kept);
        if peer.known.graph().initial().is_some() {
            // A state may have been lost that only a transition tells of. Nobody else is there to be told of it.
            peer.start_collecting(me, &mut Vec::new());
        }
        peer
    }

    fn with(settings: PeerSettings, member: RingMember, ranges: Ranges) -> Self {
        let asks_others = settings.scheme.looks == Looks::Known;
        let mut peer = Self {
            settings,
            me: member.key(),
            now: 0,
            went_on: None,
            member,
            known: PeerKnowledge::new(settings.strategy, settings.exploring, asks_others),
            inbox: VecDeque::new(),
            leases: BTreeMap::new(),
            overdue: BTreeMap::new(),
            failures: BTreeMap::new(),
            next_number: 0,
            slowest: settings.times.task,
            parked: BTreeMap::new(),
            waiting: None,
            patience: settings.times.idle,
            remembered: BTreeMap::new(),
            told: Vec::new(),
            told_to: BTreeMap::new(),
            later: BTreeMap::new(),
            telling_later: false,
            ranges,
            links: LinkRegistry::default(),
            keeping: Keeping::default(),
            ending: Ending::default(),
        };
        peer.keeping.copies_on = peer.backups();
        peer
    }

    /// Where it is on the ring.
    pub fn key(&self) -> Key {
        self.me
    }

    /// Its place in the ring.
    pub fn member(&self) -> &RingMember {
        &self.member
    }

    /// What it knows.
    pub fn known(&self) -> &PeerKnowledge {
        &self.known
    }

    /// Takes an input in, at a time in microseconds, and appends what is to be done about it.
    pub fn handle(&mut self, now: u64, input: PeerInput, out: &mut Vec<PeerEffect>) {
        // It looks at the ring all the time. If it has not, it stood still, perhaps for as long as others wait for an answer.
        let longest = self.settings.times.stabilise + self.settings.times.answer / 2;
        let paused = self.now > 0 && now.saturating_sub(self.now) > longest;
        self.now = now;
        if paused {
            self.went_on = Some(now);
            self.may_be_stood_in_for(out);
        }
        match input {
            PeerInput::Start => self.ring(|member, effects| member.start(effects), out),
            PeerInput::Join(through) => {
                self.ring(
                    |member, effects| member.handle(ring::RingInput::Join(through), effects),
                    out,
                );
            }
            PeerInput::Meet(other) => {
                self.ring(
                    |member, effects| member.handle(ring::RingInput::Meet(other), effects),
                    out,
                );
            }
            PeerInput::Leave => self.leave(out),
            PeerInput::Received(from, envelope) => self.inbox.push_back((from, envelope)),
            PeerInput::Report(report) => self.report(report, out),
            PeerInput::Returned(answer) => {
                if answer.by == self.me {
                    self.take_back(answer.job);
                }
            }
            PeerInput::Lost(answer) => {
                self.send(answer.by, PeerMessage::Missed(answer, JobFailure::Lost), out)
            }
            PeerInput::Want(crawler, state) => self.want(state, crawler, self.me, out),
            PeerInput::Woken(timer) => self.woken(timer, out),
        }
        self.settle(out);
    }

    /// It was busy with the last input until now: that is no standing still. Whoever took it for dead meanwhile has passed it
    /// over, and it will hear of that.
    pub fn busy_until(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// Goes on until there is nothing more to do at once.
    fn settle(&mut self, out: &mut Vec<PeerEffect>) {
        loop {
            while let Some((from, envelope)) = self.inbox.pop_front() {
                self.receive(from, envelope, out);
            }
            self.look_at_ring(out);
            self.look_at_links(out);
            self.note_turns();
            if !self.employ_parked(out) && self.inbox.is_empty() {
                break;
            }
        }
        self.broadcast(out);
        self.look_for_the_end(out);
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Lets the ring do something and carries out what it asks for.
    fn ring(
        &mut self,
        doing: impl FnOnce(&mut RingMember, &mut Vec<ring::RingEffect>),
        out: &mut Vec<PeerEffect>,
    ) {
        let mut effects = Vec::new();
        doing(&mut self.member, &mut effects);
        let times = self.settings.times;
        for effect in effects {
            match effect {
                ring::RingEffect::Send(to, message) => {
                    self.send(to, PeerMessage::Ring(message), out)
                }
                ring::RingEffect::Await(question) => {
                    out.push(PeerEffect::Wake(PeerTimer::Silent(question), times.answer));
                }
                ring::RingEffect::Wake(ring::RingTimer::Stabilise) => {
                    out.push(PeerEffect::Wake(PeerTimer::Stabilise, times.stabilise));
                }
                ring::RingEffect::Wake(ring::RingTimer::Fingers) => {
                    out.push(PeerEffect::Wake(PeerTimer::Fingers, times.stabilise));
                }
                ring::RingEffect::Gone(member) => self.gone(member, out),
                ring::RingEffect::PassedOver => self.may_be_stood_in_for(out),
                // Nobody looks up owners by themselves here: messages are handed on. One that is stranded is alone.
                ring::RingEffect::Found { .. }
                | ring::RingEffect::NotFound { .. }
                | ring::RingEffect::Stranded => {}
            }
        }
    }

    fn woken(&mut self, timer: PeerTimer, out: &mut Vec<PeerEffect>) {
        let woken = |timer| ring::RingInput::Woken(timer);
        match timer {
            PeerTimer::Stabilise => {
                self.try_held();
                self.look_at_given_links(out);
                self.marker_may_go();
                self.ring(
                    |member, effects| member.handle(woken(ring::RingTimer::Stabilise), effects),
                    out,
                );
            }
            PeerTimer::Fingers => {
                self.ring(
                    |member, effects| member.handle(woken(ring::RingTimer::Fingers), effects),
                    out,
                );
            }
            PeerTimer::Silent(_)
                if self.went_on.is_some_and(|at| self.now < at + self.settings.times.answer) =>
            {
                // It was this controller that stood still; the answer may be there and not taken in yet.
                out.push(PeerEffect::Wake(timer, self.settings.times.answer));
            }
            PeerTimer::Silent(question) => {
                self.ring(
                    |member, effects| member.handle(ring::RingInput::Silent(question), effects),
                    out,
                );
            }
            PeerTimer::Lease(job) => {
                if let Some(lease) = self.leases.get(&job) {
                    self.overdue.insert(job, lease.slot);
                }
                self.take_back(job);
                self.look_for_routes(out);
            }
            PeerTimer::Resend(number) => self.resend(number, out),
            PeerTimer::Grant => self.grant(None, out),
            PeerTimer::Collect(number) => self.collect_again(number, out),
            PeerTimer::Idle => self.ask_round(out),
            PeerTimer::Marker => self.marker_overdue(out),
            PeerTimer::Copies => self.copy_now(out),
            PeerTimer::Later => self.tell_later(out),
        }
    }

    /// A task is not under way any more, and was not done.
    fn take_back(&mut self, job: JobId) {
        if let Some(lease) = self.leases.remove(&job) {
            self.known.release(lease.slot);
        }
    }

    /// Notes which own states ran out of candidates or got some again, for those who want to know.
    fn note_turns(&mut self) {
        let shares = matches!(self.settings.scheme.hears, Hears::Everything | Hears::Broadcast);
        for state in self.known.take_turned() {
            if shares && self.known.ownership().is_own(state) {
                let fact = self.fact(state);
                self.told.push(fact);
            }
        }
    }

    /// How an own state stands.
    fn fact(&self, state: StateIndex) -> RouteHint {
        let key = self.known.graph().key(state);
        if self.known.free_in(state) > 0 {
            RouteHint::Open(key)
        } else {
            RouteHint::Drained(key, self.known.graph().leads(state).collect())
        }
    }
}
