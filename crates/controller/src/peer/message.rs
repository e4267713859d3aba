//! The messages between controllers of a ring and to crawlers, and the inputs and effects of a
//! controller. Each message names the thesis' word for it (sections 3.4, 3.5 and 5.3) in italics.
//! `docs/protocol.md` tells what happens when a message is lost.

use std::sync::Arc;

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring as ring;
use argiope_ring::Key;
use serde::{Deserialize, Serialize};

use super::search::Search;
use crate::job::{CrawlerId, Job, JobId, Route, Transition};
use crate::journal::{ContentId, Fact};
use crate::outcome::{JobFailure, Note, Outcome, Sighting};
use crate::spent::Spent;

/// A message on its way between two controllers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Envelope {
    /// It is for the owner of this state; without one, for the receiver.
    pub key: Option<StateKey>,
    /// How often it was forwarded.
    pub hops: u32,
    /// The sender believes that the receiver is the owner.
    pub last: bool,
    /// The name of the initial state, if the sender knows it.
    pub initial: Option<StateKey>,
    /// Hints that the sender piggybacks.
    pub hints: Vec<RouteHint>,
    /// Acknowledgements of tasks that the sender piggybacks.
    pub done: Vec<Done>,
    /// The message.
    pub message: PeerMessage,
}

impl Envelope {
    /// A message without anything piggybacked: for the owner of a state, or for the receiver.
    pub fn new(key: Option<StateKey>, message: PeerMessage) -> Self {
        Self {
            key,
            hops: 0,
            last: false,
            initial: None,
            hints: Vec::new(),
            done: Vec::new(),
            message,
        }
    }
}

/// From one controller to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PeerMessage {
    /// A message of the ring itself.
    Ring(ring::RingMessage),
    /// A crawler reached a state of the receiver (*StateInfo*).
    Reached(TaskReport),
    /// A task of the receiver was done, and its destination is durable (*AckJob*).
    Done(Done),
    /// A task of the receiver was not done.
    TaskFailed(LeaseRef, JobFailure),
    /// A task of the receiver was not done: its walk ended in another state.
    EndedElsewhere(LeaseRef),
    /// A crawler asks for work in a state of the receiver (*ForwardExploration*).
    Seek(Seek),
    /// A search that travels with its request (*ForwardExploration* as printed).
    Search(Search),
    /// The progress of a search from a state of the receiver (*RememberMe*).
    Remember(StateKey, Search),
    /// A crawler has no work (*RequestJob*). Goes round the ring back to its sender, or for a
    /// number of hops.
    Idle(WorkRequest, Key, u32),
    /// Carries only what is piggybacked (the broadcast of *global*, and the hints of *RememberMe*).
    Learned,
    /// Asks whether all controllers are idle (*CheckTerm*). Goes round the ring twice.
    Marker(Marker),
    /// The crawl has ended, with these counts; the controller that detected it. Goes round the
    /// ring.
    Finish(Key, FinalCounts),
    /// Collects states of a range that may be lost (*CollectStates*). Goes round the ring.
    Collect(Collect),
    /// Asks which actions of a state that is gone other states offer. Goes round the ring.
    Elsewhere(Elsewhere),
    /// Facts to replicate (the *back-up update*).
    Replicate(u64, Vec<Fact>),
    /// The receiver owns these states now (*hand-off*).
    HandOff {
        /// To be taken in.
        number: u64,
        /// The range begins after this key, where the next member is, as far as the sender knows.
        after: Key,
        /// Nothing is missing.
        settled: bool,
        /// The facts about the states, state by state.
        facts: Vec<Fact>,
        /// Plain links that were followed, and those that were given to states.
        links: (Vec<Followed>, Vec<Wish>),
        /// Actions that turned out to be plain links.
        plain: Vec<ActionSignature>,
    },
    /// The sender leaves: the receiver keeps all that the sender knew, as owner or as replica
    /// (*hand-off*).
    Bequest {
        /// To be acknowledged once there are as many replicas as before.
        number: u64,
        /// The facts about the states, state by state, replicas included: their owner may be lost,
        /// and no member has noticed yet.
        facts: Vec<Fact>,
        /// Plain links that were followed, and those that were given to states.
        links: (Vec<Followed>, Vec<Wish>),
        /// Actions that turned out to be plain links.
        plain: Vec<ActionSignature>,
    },
    /// A state of the receiver exists; the receiver may have lost it.
    Exists {
        /// To be taken in.
        number: u64,
        /// Who says so.
        asker: Key,
        /// The state.
        state: StateKey,
        /// How to get there.
        route: Route,
        /// The facts about it, if the sender knows any.
        facts: Vec<Fact>,
    },
    /// A state claims a plain link whose home is the receiver.
    Claim {
        /// To be answered.
        number: u64,
        /// Who asks.
        asker: Key,
        /// The link and the state.
        wish: Wish,
    },
    /// The answer to a claim.
    Claimed {
        /// The claim's number.
        number: u64,
        /// The link.
        link: ActionSignature,
        /// The state that claimed it.
        state: StateKey,
        /// The outcome, if the link was followed. Otherwise the state is to follow it.
        followed: Option<Followed>,
    },
    /// Asks for the outcome of a link granted to a state of the receiver.
    Due(Wish),
    /// A plain link whose home is the receiver was followed.
    Followed {
        /// To be taken in.
        number: u64,
        /// Who says so.
        asker: Key,
        /// The link.
        followed: Followed,
    },
    /// A state could not follow a link that the receiver, its home, granted.
    NotFollowed {
        /// To be taken in.
        number: u64,
        /// Who says so.
        asker: Key,
        /// The link.
        link: ActionSignature,
        /// The state.
        state: StateKey,
    },
    /// An action turned out to be a plain link. Goes round the ring back to its sender.
    Plain(Followed, Key),
    /// An action of a state of the receiver led to another destination than before.
    Strayed {
        /// To be taken in.
        number: u64,
        /// Who says so.
        asker: Key,
        /// Where it led.
        step: Transition,
    },
    /// Acknowledges the message with this number.
    Acknowledge(u64),
    /// A crawler of that controller asks for the content of a state of the receiver.
    Want(StateKey, CrawlerId, Key),
    /// The content of a state, for a crawler of the receiver.
    Like(StateKey, CrawlerId, Option<ContentId>),
}

/// What a controller tells of its states beside its messages; it helps others to find ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RouteHint {
    /// A state has nothing left to assign; where its executed actions lead.
    Drained(StateKey, Arc<[(ActionSignature, StateKey)]>),
    /// A state has something to assign again.
    Open(StateKey),
    /// A transition.
    Leads(Transition),
}

/// A plain link that was followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Followed {
    /// The link.
    pub link: ActionSignature,
    /// The state that it was followed from.
    pub from: StateKey,
    /// Its destination, equal from every state.
    pub to: StateKey,
    /// How to get there.
    pub route: Route,
}

/// A claim of a state to follow a plain link, or the grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Wish {
    /// The link.
    pub link: ActionSignature,
    /// The state.
    pub state: StateKey,
    /// How to get there.
    pub route: Route,
}

/// A task, by the controller that holds its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LeaseRef {
    /// The controller that gave it.
    pub by: Key,
    /// Its number there.
    pub job: JobId,
}

/// A crawler's report after a task, or after it waited too long for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskReport {
    /// Which crawler.
    pub crawler: CrawlerId,
    /// Counts its reports.
    pub number: u64,
    /// Where it stands, if anywhere.
    pub at: Option<Sighting>,
    /// The route there after a reset.
    pub route: Option<Route>,
    /// The task that it performed.
    pub task: Option<LeaseRef>,
    /// The candidate that the task executed.
    pub executed: Option<(StateKey, ActionSignature)>,
    /// The transitions that it walked over.
    pub walked: Vec<Transition>,
    /// Why the task was not done.
    pub failed: Option<JobFailure>,
    /// The transition of the walk that led here instead of to its known destination. Certain if the
    /// walk began with a reset.
    pub strayed: Option<(Transition, bool)>,
    /// The action to execute, if the crawler stands in another state than the one that offers it.
    pub wanted: Option<ActionSignature>,
    /// Loading the URL led here, and not to where the walk begins.
    pub landed: bool,
    /// The executed action is a plain link.
    pub once: bool,
    /// What happened during the execution.
    pub notes: Vec<Note>,
    /// The content of the page, if the crawler captured it.
    pub content: Option<ContentId>,
    /// It repeats a report that was not answered.
    pub again: bool,
}

impl TaskReport {
    /// The report of a crawler that stands nowhere and has done nothing.
    pub fn new(crawler: CrawlerId, number: u64) -> Self {
        Self { crawler, number, ..Self::default() }
    }

    /// The request for work that it is.
    pub(super) fn request(&self) -> WorkRequest {
        let at = self.at.as_ref().map(|at| at.key);
        WorkRequest { crawler: self.crawler, number: self.number, at, again: self.again }
    }

    /// The report of a job that ended. `here` is the route to where the crawler stood before.
    pub fn of(
        crawler: CrawlerId,
        number: u64,
        task: &Task,
        (outcome, spent): (Outcome, Spent),
        here: Option<&Route>,
    ) -> Self {
        let mut report = Self { task: Some(task.id), ..Self::new(crawler, number) };
        let Some(job) = &task.job else { return report };
        let here = here.filter(|_| !job.reset);
        let went = |right: u32| job.walk.iter().copied().take(right as usize);
        match outcome {
            Outcome::Done { at, once, notes } => {
                let step = Transition { from: job.state, action: job.action, to: at.key };
                report.route = Some(task.route_to(here, step));
                report.executed = Some((job.state, job.action));
                report.walked.clone_from(&job.walk);
                (report.once, report.notes) = (once, notes);
                report.at = Some(at);
            }
            Outcome::Elsewhere { went_right, at } => {
                report.walked = went(went_right).collect();
                report.failed = Some(JobFailure::Unreachable);
                report.wanted = Some(job.action);
                report.landed = job.reset && spent.actions == 0 && job.start() != at.key;
                if let Some(step) = job.strayed(went_right, spent, at.key) {
                    report.strayed = Some((step, job.reset));
                    let before = here.into_iter().flat_map(|route| route.iter().copied());
                    let known = job.reset || here.is_some();
                    report.route =
                        known.then(|| before.chain(went(went_right)).chain([step]).collect());
                }
                report.at = Some(at);
            }
            Outcome::Failed { went_right, reason } => {
                report.walked = went(went_right).collect();
                report.failed = Some(job.failure(went_right, spent, reason));
            }
        }
        report
    }
}

/// A crawler's request for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkRequest {
    /// The crawler.
    pub crawler: CrawlerId,
    /// The report that the answer belongs to.
    pub number: u64,
    /// Where it stands.
    pub at: Option<StateKey>,
    /// It repeats a request that was not answered: a remembered owner may have failed.
    pub again: bool,
}

/// A task was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Done {
    /// The task.
    pub task: LeaseRef,
    /// What it executed.
    pub step: Transition,
    /// It is a plain link.
    pub once: bool,
    /// What happened on the way.
    pub notes: Vec<Note>,
    /// Whether it found a new state.
    pub new: bool,
    /// The controller that keeps the destination.
    pub kept_by: Key,
}

/// A request for work in a state that has candidates, as far as the sender knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seek {
    /// The request.
    pub asking: WorkRequest,
    /// The state.
    pub goal: StateKey,
    /// The path begins with a reset.
    pub reset: bool,
    /// The path.
    pub walk: Vec<Transition>,
    /// The controller that began the search.
    pub origin: Key,
    /// The exhausted states that it met.
    pub drained: Vec<RouteHint>,
}

/// A question that goes round the ring: who offers what a state offered that does not come back?
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Elsewhere {
    /// Who asks.
    pub by: Key,
    /// Counts its questions.
    pub number: u64,
    /// The actions that no visited controller knows from another state.
    pub actions: Vec<ActionSignature>,
    /// A member may have been missed, or does not know its range yet.
    pub gaps: bool,
}

/// The marker of termination detection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Marker {
    /// The controller that started it.
    pub leader: Key,
    /// Counts the markers of a leader.
    pub number: u64,
    /// The visited controllers, and how often each had become busy by then.
    pub seen: Vec<(Key, u64)>,
    /// How many of them were unchanged in the second round.
    pub again: usize,
    /// The counts of those together.
    pub counts: FinalCounts,
    /// Why it returns to its leader early.
    pub in_vain: Option<InVain>,
}

/// How large a crawl is that has ended. Every controller keeps it: shares change afterwards.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FinalCounts {
    /// The states of all controllers.
    pub states: u64,
    /// The transitions from them.
    pub transitions: u64,
}

/// Why a marker cannot confirm the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum InVain {
    /// A controller was busy since the first round.
    Busy,
    /// A controller was missed, or a range has no owner.
    NotWhole,
}

/// A collection of states that may be lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Collect {
    /// The collector.
    pub by: Key,
    /// Counts its collections.
    pub number: u64,
    /// The range: after this key, up to the collector's.
    pub after: Key,
    /// Facts about states in the range, state by state.
    pub facts: Vec<Fact>,
    /// States in the range that a known transition leads to.
    pub seen: Vec<(StateKey, Route)>,
    /// Plain links that were followed, and those that were given to states.
    pub links: (Vec<Followed>, Vec<Wish>),
    /// A member may have been missed: a visited member has another predecessor than the sender.
    pub gaps: bool,
}

/// A task for a crawler (*ExecuteEvent*; *Start* is the task without a job).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Task {
    /// Its lease.
    pub id: LeaseRef,
    /// The report that it answers. A crawler that has reported again returns it.
    pub number: u64,
    /// The job; without one the crawler loads the URL.
    pub job: Option<Job>,
    /// The route to the job's state after a reset, if known.
    pub route: Option<Route>,
    /// The offers of the destination are not known: the report must list them, even if the crawler
    /// listed them before.
    pub look: bool,
}

impl Task {
    /// The route to the task's destination: as the controller knows it, or as the crawler came
    /// there from the end of `here`.
    pub fn route_to(&self, here: Option<&Route>, step: Transition) -> Route {
        let walk = self.job.iter().flat_map(|job| job.walk.iter());
        match (&self.route, here) {
            (Some(route), _) => route.iter().copied().chain([step]).collect(),
            (None, Some(here)) => here.iter().chain(walk).copied().chain([step]).collect(),
            (None, None) => walk.copied().chain([step]).collect(),
        }
    }
}

/// From a controller to a crawler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ToCrawler {
    /// A task to perform.
    Task(Task),
    /// The content of a state that the crawler asked for, if it is known.
    Like(StateKey, Option<ContentId>),
    /// The crawl is over.
    Finished,
}

/// An input of a controller. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerInput {
    /// Start the timers of the ring.
    Start,
    /// Join the ring that this member is in.
    Join(Key),
    /// This member is in a ring, perhaps in another one: merge the two.
    Meet(Key),
    /// Hand over and leave the ring.
    Leave,
    /// A message from another controller.
    Message(Key, Envelope),
    /// A crawler's report.
    Report(TaskReport),
    /// A crawler returns a task that it did not begin.
    TaskReturn(LeaseRef),
    /// The crawler that performed a task, of any controller, is lost.
    CrawlerLoss(LeaseRef),
    /// A crawler asks for the content of a state that it is to walk through.
    Want(CrawlerId, StateKey),
    /// A timer fired.
    Timer(PeerTimer),
}

/// A timer of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PeerTimer {
    /// Stabilisation of the ring.
    Stabilise,
    /// Refresh of the ring's fingers.
    Fingers,
    /// A question of the ring is unanswered.
    Silent(u64),
    /// A lease expires.
    Lease(JobId),
    /// The message with this number is not acknowledged.
    Resend(u64),
    /// The hand-off after joining is overdue.
    Grant,
    /// A collection is overdue.
    Collect(u64),
    /// A question about the actions of a state that is gone is overdue.
    Elsewhere(u64),
    /// Parked crawlers ask for work again.
    Idle,
    /// The marker is overdue.
    Marker,
    /// Periodic replication is due.
    Copies,
    /// Acknowledgements have waited long enough to piggyback.
    Later,
}

/// An effect that a controller asks its driver for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are a few at a time, and most of them are the large one"
)]
pub enum PeerEffect {
    /// Send a message to another controller.
    Send(Key, Envelope),
    /// Send hints to all other controllers at once.
    Broadcast(Vec<RouteHint>),
    /// Send a message to a crawler.
    Tell(CrawlerId, ToCrawler),
    /// Make this durable. Effects after it may rely on it: none may leave before it is on disk.
    Keep(Fact),
    /// A transition of an own state is final. For observers.
    Executed(Transition),
    /// Start a timer of this many microseconds.
    Wake(PeerTimer, u64),
    /// This controller has left the ring in order.
    Left,
    /// The crawl is over.
    Finished(FinalCounts),
}

impl PeerEffect {
    /// The fact to keep, if it is one.
    pub fn into_kept(self) -> Option<Fact> {
        match self {
            Self::Keep(fact) => Some(fact),
            _ => None,
        }
    }
}

impl PeerMessage {
    /// Its kind, as reports name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ring(_) => "ring",
            Self::Reached(_) => "reached",
            Self::Done(_) => "done",
            Self::TaskFailed(..) | Self::EndedElsewhere(_) => "missed",
            Self::Seek(_) | Self::Search(_) => "search",
            Self::Remember(..) => "remember",
            Self::Idle(..) => "idle",
            Self::Learned => "learned",
            Self::Marker(_) | Self::Finish(..) => "marker",
            Self::Collect(_) | Self::Exists { .. } => "collect",
            Self::Elsewhere(_) => "gone",
            Self::Replicate(..) => "copy",
            Self::HandOff { .. } | Self::Bequest { .. } => "hand-off",
            Self::Claim { .. }
            | Self::Claimed { .. }
            | Self::Due(_)
            | Self::Followed { .. }
            | Self::NotFollowed { .. }
            | Self::Plain(..) => "link",
            Self::Strayed { .. } => "strayed",
            Self::Acknowledge(_) => "taken",
            Self::Want(..) | Self::Like(..) => "content",
        }
    }
}
