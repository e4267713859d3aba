//! A controller that shares a crawl with others. It owns the states whose keys the ring gives it,
//! assigns the actions in them, and finds work elsewhere for crawlers that stand in an exhausted
//! state. Pure, like the lone [`Controller`](crate::Controller): `handle(input)` appends effects.
//!
//! Facts about the application only grow (a state exists, an action leads to a state), so the facts
//! of two controllers merge in any order and any number of times. Leases, claims and requests may
//! be lost, repeated or wrong: that costs time, never facts.
//!
//! Read first: `message` (what is said), `delivering` (dispatch), `reporting` (what a crawler's
//! report does), `seeking` (how work is found), `ranges` (who owns what).

use std::collections::{BTreeMap, VecDeque};

use argiope_explore::graph::Slot;
use argiope_explore::id::{StateIndex, StateKey};
use argiope_ring::{Key, RingEffect, RingInput, RingMember, RingTimer};

use crate::job::{CrawlerId, JobId};
use crate::journal::Fact;
use crate::outcome::JobFailure;

mod absences;
mod answer_delays;
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

use absences::Absences;
use answer_delays::AnswerDelays;
use ending::Ending;
use keeping::Keeping;
use knowledge::PeerKnowledge;
use links::LinkRegistry;
use message::{
    Done, Envelope, PeerEffect, PeerInput, PeerMessage, PeerTimer, RouteHint, WorkRequest,
};
use ranges::Ranges;
use schemes::Hears;
use search::Search;
use settings::PeerSettings;

/// The position of a state on the ring.
pub fn place(state: StateKey) -> Key {
    Key(state.0)
}

/// A controller of a ring.
#[derive(Clone)]
pub struct Peer {
    settings: PeerSettings,
    me: Key,
    now: u64,
    /// When it last resumed after a pause.
    went_on: Option<u64>,
    member: RingMember,
    answer_delays: AnswerDelays,
    known: PeerKnowledge,
    /// Messages to itself.
    inbox: VecDeque<(Key, Envelope)>,
    leases: BTreeMap<JobId, Lease>,
    /// Overdue tasks: their crawlers may still report.
    overdue: BTreeMap<JobId, Slot>,
    /// The weight of failures against a candidate; at `ENOUGH` it is given up.
    failures: BTreeMap<Slot, u32>,
    next_number: u64,
    /// The slowest recent time per unit of work, in microseconds.
    slowest: u64,
    /// Crawlers without a job.
    parked: BTreeMap<CrawlerId, WorkRequest>,
    /// The present wait of parked crawlers; `None` if no timer runs.
    waiting: Option<u64>,
    patience: u64,
    /// The searches to resume, by the own state where they began.
    remembered: BTreeMap<StateKey, Search>,
    /// Hints for other controllers, and how many of them each has received.
    told: Vec<RouteHint>,
    told_to: BTreeMap<Key, usize>,
    /// Tasks that led to an awaited state. They are acknowledged once its offers are known.
    led_to_awaited: BTreeMap<StateKey, Vec<Done>>,
    /// Acknowledgements to piggyback on the next message.
    later: BTreeMap<Key, Vec<Done>>,
    /// Whether a timer runs for them.
    telling_later: bool,
    ranges: Ranges,
    links: LinkRegistry,
    absences: Absences,
    keeping: Keeping,
    ending: Ending,
    /// Messages that no correct controller sends.
    refused: u64,
    /// The effects of the input that it is handling.
    out: Vec<PeerEffect>,
}

/// A task that a crawler works on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lease {
    slot: Slot,
    crawler: CrawlerId,
    since: u64,
    /// The amount of work, in actions.
    units: u64,
    /// The crawler does not stand in the state yet.
    again: bool,
}

/// For model checkers. The time is left out.
impl std::hash::Hash for Peer {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (&self.member, &self.known, &self.inbox, self.next_number, &self.parked, self.waiting)
            .hash(hasher);
        (&self.remembered, &self.told_to, &self.later, self.telling_later).hash(hasher);
        self.led_to_awaited.hash(hasher);
        (&self.ranges, &self.links, &self.absences, &self.keeping, &self.ending).hash(hasher);
        for (job, lease) in &self.leases {
            (job, self.known.graph.step(lease.slot), lease.crawler).hash(hasher);
        }
    }
}

impl Peer {
    /// A founder of a ring, or (without others) a ring of one.
    pub fn founder(settings: PeerSettings, me: Key, founders: &[Key]) -> Self {
        let member = RingMember::founder(me, founders, settings.successors);
        let ranges = Ranges::founder(&member);
        Self::with(settings, member, ranges)
    }

    /// A controller that is to join a ring.
    pub fn newcomer(settings: PeerSettings, me: Key) -> Self {
        let member = RingMember::new(me, settings.successors);
        Self::with(settings, member, Ranges::default())
    }

    /// A controller that restarts from its disk and is to join a ring, perhaps under another key.
    pub fn returning(settings: PeerSettings, me: Key, kept: &[Fact]) -> Self {
        let mut peer = Self::newcomer(settings, me);
        peer.recall(kept);
        let facts = peer.known.graph.all().flat_map(|(_, state)| peer.known.facts(state));
        peer.ranges.remembered = facts.collect();
        peer
    }

    /// A controller that restarts from its disk and finds no ring to join: a ring of one.
    pub fn reviving(settings: PeerSettings, me: Key, kept: &[Fact]) -> Self {
        let mut peer = Self::founder(settings, me, &[me]);
        peer.recall(kept);
        if peer.known.graph.initial().is_some() {
            // A lost state may be known by a transition alone. There is no other member to ask.
            peer.start_collecting(me);
            peer.out.clear();
        }
        peer
    }

    fn with(settings: PeerSettings, member: RingMember, ranges: Ranges) -> Self {
        let times = settings.times;
        let mut peer = Self {
            me: member.key(),
            now: 0,
            went_on: None,
            member,
            answer_delays: AnswerDelays::new(times.answer),
            known: PeerKnowledge::new(&settings),
            inbox: VecDeque::new(),
            leases: BTreeMap::new(),
            overdue: BTreeMap::new(),
            failures: BTreeMap::new(),
            next_number: 0,
            slowest: times.task,
            parked: BTreeMap::new(),
            waiting: None,
            patience: times.idle,
            remembered: BTreeMap::new(),
            told: Vec::new(),
            told_to: BTreeMap::new(),
            led_to_awaited: BTreeMap::new(),
            later: BTreeMap::new(),
            telling_later: false,
            ranges,
            links: LinkRegistry::default(),
            absences: Absences::default(),
            keeping: Keeping::default(),
            ending: Ending::default(),
            refused: 0,
            out: Vec::new(),
            settings,
        };
        peer.keeping.copies_on = peer.backups();
        peer
    }

    /// Its key.
    pub fn key(&self) -> Key {
        self.me
    }

    /// Its membership of the ring.
    pub fn member(&self) -> &RingMember {
        &self.member
    }

    /// What it knows of the application.
    pub fn known(&self) -> &PeerKnowledge {
        &self.known
    }

    /// How many messages it has refused: those that no correct controller sends, and those for
    /// which there was no room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Handles an input at a time in microseconds, and appends the effects.
    pub fn handle(&mut self, now: u64, input: PeerInput, out: &mut Vec<PeerEffect>) {
        // A member stabilises periodically. A longer gap is a pause, perhaps long enough to count
        // as failed. Outside the ring there may be nothing to do between two attempts to join.
        let longest = self.settings.times.stabilise + self.settings.times.answer / 2;
        let paused =
            self.now > 0 && self.member.is_inside() && now.saturating_sub(self.now) > longest;
        self.now = now;
        if paused {
            self.went_on = Some(now);
            self.reconcile_after_pause();
        }
        match input {
            PeerInput::Start => {
                let mut effects = Vec::new();
                self.member.start(&mut effects);
                self.carry_out(effects);
            }
            PeerInput::Join(through) => self.ring(RingInput::Join(through)),
            PeerInput::Meet(other) => self.ring(RingInput::Meet(other)),
            PeerInput::Leave => self.leave(),
            PeerInput::Message(from, envelope) => self.inbox.push_back((from, envelope)),
            PeerInput::Report(report) => self.on_report(report),
            PeerInput::TaskReturn(answer) if answer.by == self.me => self.take_back(answer.job),
            PeerInput::TaskReturn(_) => {}
            PeerInput::CrawlerLoss(answer) => {
                self.send(answer.by, PeerMessage::TaskFailed(answer, JobFailure::Lost));
            }
            PeerInput::Want(crawler, state) => self.on_want(state, crawler, self.me),
            PeerInput::Timer(timer) => self.on_timer(timer),
        }
        self.settle();
        out.append(&mut self.out);
    }

    /// It worked on the last input for this time, in microseconds: that is no pause. If a member
    /// took it for failed meanwhile, the ring reports that it was passed over. A process that was
    /// stopped while it handled an input did not work: that is a pause.
    pub fn worked(&mut self, time: u64) {
        self.now = self.now.saturating_add(time);
    }

    /// Runs until no message and no parked crawler is left to handle.
    fn settle(&mut self) {
        loop {
            while let Some((from, envelope)) = self.inbox.pop_front() {
                self.on_envelope(from, envelope);
            }
            self.adapt_range();
            self.advance_links();
            self.note_turns();
            self.let_go();
            if !self.employ_parked() && self.inbox.is_empty() {
                break;
            }
        }
        self.broadcast();
        self.check_termination();
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn wake(&mut self, timer: PeerTimer, after: u64) {
        self.out.push(PeerEffect::Wake(timer, after));
    }

    /// The next member of the ring.
    fn successor(&self) -> Option<Key> {
        self.member.successors().first().copied()
    }

    /// Hands an input to the ring member and carries out its effects.
    fn ring(&mut self, input: RingInput) {
        let mut effects = Vec::new();
        self.member.handle(input, &mut effects);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<RingEffect>) {
        let times = self.settings.times;
        for effect in effects {
            match effect {
                RingEffect::Send(to, message) => self.send(to, PeerMessage::Ring(message)),
                RingEffect::StartTimeout(question) => {
                    self.answer_delays.on_question(question, self.now);
                    self.wake(PeerTimer::Silent(question), self.answer_delays.wait());
                }
                RingEffect::StartTimer(RingTimer::Stabilise) => {
                    self.wake(PeerTimer::Stabilise, times.stabilise);
                }
                RingEffect::StartTimer(RingTimer::Fingers) => {
                    self.wake(PeerTimer::Fingers, times.stabilise);
                }
                RingEffect::MemberGone(member) => self.on_member_gone(member),
                RingEffect::SkippedBySuccessor => self.reconcile_after_pause(),
                // Messages are forwarded, so there are no look-ups of owners. A stranded member is
                // alone.
                RingEffect::OwnerFound { .. }
                | RingEffect::OwnerNotFound { .. }
                | RingEffect::Isolated => {}
            }
        }
    }

    fn on_timer(&mut self, timer: PeerTimer) {
        match timer {
            PeerTimer::Stabilise => {
                self.try_held();
                self.report_granted_links();
                self.marker_may_go();
                self.ring(RingInput::Timer(RingTimer::Stabilise));
            }
            PeerTimer::Fingers => self.ring(RingInput::Timer(RingTimer::Fingers)),
            PeerTimer::Silent(_)
                if self.went_on.is_some_and(|at| self.now < at + self.answer_delays.wait()) =>
            {
                // This controller paused: the answer may be waiting to be read.
                self.wake(timer, self.answer_delays.wait());
            }
            PeerTimer::Silent(question) => self.ring(RingInput::Timeout(question)),
            PeerTimer::Lease(job) => {
                if let Some(lease) = self.leases.get(&job) {
                    self.overdue.insert(job, lease.slot);
                }
                self.take_back(job);
                self.look_for_routes();
            }
            PeerTimer::Resend(number) => self.resend(number),
            PeerTimer::Grant => self.grant(None),
            PeerTimer::Collect(number) => self.collect_again(number),
            PeerTimer::Elsewhere(number) => self.ask_again(number),
            PeerTimer::Idle => self.ask_round(),
            PeerTimer::Marker => self.marker_overdue(),
            PeerTimer::Copies => self.copy_now(),
            PeerTimer::Later => self.tell_later(),
        }
    }

    /// Releases a task that was not done.
    fn take_back(&mut self, job: JobId) {
        if let Some(lease) = self.leases.remove(&job) {
            self.known.release(lease.slot);
        }
    }

    /// Records hints about own states that became exhausted or got candidates again.
    fn note_turns(&mut self) {
        for state in std::mem::take(&mut self.known.ownership.turned) {
            if self.shares_hints() && self.known.ownership.is_own(state) {
                let fact = self.fact(state);
                self.told.push(fact);
            }
        }
    }

    /// Whether the scheme tells other controllers of changes in own states.
    fn shares_hints(&self) -> bool {
        matches!(self.settings.scheme.hears, Hears::Everything | Hears::Broadcast)
    }

    /// The hint about an own state.
    fn fact(&self, state: StateIndex) -> RouteHint {
        let key = self.known.graph.key(state);
        if self.known.free_in(state) > 0 {
            RouteHint::Open(key)
        } else {
            RouteHint::Drained(key, self.known.graph.leads(state).collect())
        }
    }
}
