//! What controllers of a ring say to each other and to crawlers, and what a controller is told and asks for. Beside
//! each message the word of the thesis for it (paper 002, sections 3.4, 3.5 and 5.3).

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
    /// It is for whoever owns this state; otherwise for the receiver.
    pub key: Option<StateKey>,
    /// How often it was handed on.
    pub hops: u32,
    /// The sender takes the receiver for the owner.
    pub last: bool,
    /// The name of the initial state, if the sender knows it.
    pub initial: Option<StateKey>,
    /// What the sender tells by the way.
    pub hints: Vec<RouteHint>,
    /// Tasks that were done, told by the way.
    pub done: Vec<Done>,
    /// The message.
    pub message: PeerMessage,
}

impl Envelope {
    /// Nothing but a message: for the owner of a state, or for the receiver.
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
    /// About the ring itself.
    Ring(ring::RingMessage),
    /// A crawler stands in a state of yours (*StateInfo*).
    Reached(TaskReport),
    /// A task of yours was done, and the state that it led to is kept (*AckJob*).
    Done(Done),
    /// A task of yours was not done.
    Missed(LeaseRef, JobFailure),
    /// A crawler wants to be sent to a state of yours (*ForwardExploration*).
    Seek(Seek),
    /// The search of a crawler, wherever it leads (*ForwardExploration* as printed).
    Search(Search),
    /// A search from a state of yours came so far (*RememberMe*).
    Remember(StateKey, Search),
    /// A crawler has nothing to do (*RequestJob*); goes round the ring back to whoever sent it off, or so many times.
    Idle(WorkRequest, Key, u32),
    /// What the sender knows (the broadcast of *global*, and the shared part of *RememberMe*).
    Learned,
    /// Is everything done (*CheckTerm*)? Goes round the ring twice.
    Marker(Marker),
    /// Everything is done. Goes round the ring.
    Finish(Key),
    /// Who knows of lost states (*CollectStates*)? Goes round the ring.
    Collect(Collect),
    /// Keep replicas of these facts (the *back-up update*).
    Copy(u64, Vec<Fact>),
    /// These are yours now (*hand-off*).
    HandOff {
        /// To be taken in.
        number: u64,
        /// What is handed over begins after this place, where the next member is, as far as the sender knows.
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
    /// I leave: all that I know is yours to look after, as the owner or by a copy, once I am gone (*hand-off*).
    Bequest {
        /// To be taken in, with copies as many as there were.
        number: u64,
        /// The facts about the states, state by state, replicas included: their owner may be lost, and
        /// no member has noticed yet.
        facts: Vec<Fact>,
        /// Plain links that were followed, and those that were given to states.
        links: (Vec<Followed>, Vec<Wish>),
        /// Actions that turned out to be plain links.
        plain: Vec<ActionSignature>,
    },
    /// There is a state of yours that you may have lost.
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
    /// A state offers this plain link, which is yours to decide about: may it be followed from there?
    Claim {
        /// To be answered.
        number: u64,
        /// Who asks.
        asker: Key,
        /// What is asked for.
        wish: Wish,
    },
    /// The answer to a claim, when there is one.
    Claimed {
        /// The claim's number.
        number: u64,
        /// The link.
        link: ActionSignature,
        /// For which state it was asked.
        state: StateKey,
        /// Where it leads, if it was followed. If not, that state is to follow it.
        followed: Option<Followed>,
    },
    /// What became of the plain link that a state of yours was given?
    Due(Wish),
    /// A plain link, which is yours to decide about, was followed.
    Followed {
        /// To be taken in.
        number: u64,
        /// Who says so.
        asker: Key,
        /// The link.
        followed: Followed,
    },
    /// A state that was given a plain link, which is yours to decide about, could not follow it.
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
    /// This action turned out to be a plain link. Goes round the ring back to whoever sent it off.
    Plain(Followed, Key),
    /// An action of a state of yours led elsewhere than it did before.
    Strayed {
        /// To be taken in.
        number: u64,
        /// Who says so.
        asker: Key,
        /// Where it led.
        step: Transition,
    },
    /// The message with this number was taken in.
    Taken(u64),
    /// A crawler of that controller wants to know what a state of yours is like.
    Want(StateKey, CrawlerId, Key),
    /// What a state is like, for a crawler of yours.
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
    /// Where it leads, from whichever state.
    pub to: StateKey,
    /// How to get there.
    pub route: Route,
}

/// A state that wants to follow a plain link, or was given it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Wish {
    /// The link.
    pub link: ActionSignature,
    /// The state.
    pub state: StateKey,
    /// How to get there.
    pub route: Route,
}

/// Which task a crawler speaks of: its lease is held by that controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LeaseRef {
    /// Who gave it.
    pub by: Key,
    /// Its number there.
    pub job: JobId,
}

/// What a crawler says when it is done with a task, or has waited too long for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskReport {
    /// Which crawler.
    pub crawler: CrawlerId,
    /// Counts its reports.
    pub number: u64,
    /// Where it stands, if anywhere.
    pub at: Option<Sighting>,
    /// How one gets there after a reset.
    pub route: Option<Route>,
    /// The task that led there.
    pub task: Option<LeaseRef>,
    /// What the task executed for the first time.
    pub executed: Option<(StateKey, ActionSignature)>,
    /// The transitions that it took on the way.
    pub walked: Vec<Transition>,
    /// Why the task was not done, if it was not.
    pub failed: Option<JobFailure>,
    /// The transition on the way that led here instead of where it did before; certainly so, if the way began with a
    /// reset.
    pub strayed: Option<(Transition, bool)>,
    /// What was executed is a plain link.
    pub once: bool,
    /// What happened while it was executed.
    pub notes: Vec<Note>,
    /// What the page is like, if it was looked at.
    pub content: Option<ContentId>,
    /// It was said before, and nobody answered.
    pub again: bool,
}

impl TaskReport {
    /// Of a crawler that stands nowhere and has done nothing.
    pub fn new(crawler: CrawlerId, number: u64) -> Self {
        Self {
            crawler,
            number,
            at: None,
            route: None,
            task: None,
            executed: None,
            walked: Vec::new(),
            failed: None,
            strayed: None,
            once: false,
            notes: Vec::new(),
            content: None,
            again: false,
        }
    }
}

impl TaskReport {
    /// How a job ended that a task asked for, and what was spent on it. `here` is the route by which
    /// the crawler came to where it stood before.
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
                let wrong = job.walk.get(went_right as usize).filter(|_| spent.actions > 0);
                if let Some(&wrong) = wrong.filter(|step| step.to != at.key) {
                    let step = Transition { to: at.key, ..wrong };
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
                let on_the_way = (went_right as usize) < job.walk.len();
                let about_the_way = on_the_way && !reason.is_about_nothing();
                report.failed = Some(if about_the_way { JobFailure::Unreachable } else { reason });
            }
        }
        report
    }
}

/// A crawler that wants something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkRequest {
    /// Which.
    pub crawler: CrawlerId,
    /// Its report that is to be answered.
    pub number: u64,
    /// Where it stands.
    pub at: Option<StateKey>,
    /// It has asked before, and nobody answered: somebody who is remembered to own something may be gone.
    pub again: bool,
}

/// A task was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Done {
    /// Which.
    pub task: LeaseRef,
    /// What it executed.
    pub step: Transition,
    /// It is a plain link.
    pub once: bool,
    /// What happened on the way.
    pub notes: Vec<Note>,
    /// Whether that found a new state.
    pub new: bool,
    /// Who keeps the state that it led to.
    pub kept_by: Key,
}

/// A crawler is to be sent to a state that had something to do, as far as the sender knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seek {
    /// Who.
    pub asking: WorkRequest,
    /// Where to.
    pub goal: StateKey,
    /// The way begins with a reset.
    pub reset: bool,
    /// The way.
    pub walk: Vec<Transition>,
    /// Who sought first.
    pub origin: Key,
    /// The states that had nothing to do, found on the way.
    pub drained: Vec<RouteHint>,
}

/// Termination's marker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Marker {
    /// Who sent it off.
    pub leader: Key,
    /// Counts the markers of a leader.
    pub number: u64,
    /// Whom it has visited, and how often that one had become busy by then.
    pub seen: Vec<(Key, u64)>,
    /// How many of them it has found unchanged in its second round.
    pub again: usize,
    /// It goes back to its leader, because of this.
    pub in_vain: Option<InVain>,
}

/// Why a marker cannot assert the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum InVain {
    /// Somebody had something to do since its first round.
    Busy,
    /// Somebody was passed over, or something is nobody's.
    NotWhole,
}

/// Lost states are looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Collect {
    /// By whom.
    pub by: Key,
    /// Counts its collections.
    pub number: u64,
    /// The states between this place and that of the collector.
    pub after: Key,
    /// The facts about those that a member has a replica of, state by state.
    pub facts: Vec<Fact>,
    /// Those that a known transition leads to.
    pub seen: Vec<(StateKey, Route)>,
    /// Plain links that were followed, and those that were given to states.
    pub links: (Vec<Followed>, Vec<Wish>),
    /// Somebody may have been passed over: one of those that it visited takes another for the one before it than whom
    /// it came from.
    pub gaps: bool,
}

/// What a crawler is to do (*ExecuteEvent*; *Start* is the one without a job).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Task {
    /// Who gives it, and its number.
    pub id: LeaseRef,
    /// The crawler's report that it answers; a crawler that has reported again gives it back.
    pub number: u64,
    /// What to do; to load the URL, if there is none.
    pub job: Option<Job>,
    /// How one gets to the job's state after a reset, if that is known.
    pub route: Option<Route>,
    /// What is offered where it leads is not known: the crawler is to say so, even if it has said so before.
    pub look: bool,
}

impl Task {
    /// How one gets to where a task has led: as its controller knows, or as the crawler itself (it stood at the end of
    /// `here`) came there.
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
    /// Do this.
    Task(Task),
    /// What a state is like that it wanted to know of, if anybody knows.
    Like(StateKey, Option<ContentId>),
    /// The crawl is over.
    Finished,
}

/// What a controller is told. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerInput {
    /// Begin: the ring's timers start to run.
    Start,
    /// Join the ring that this member is in.
    Join(Key),
    /// This member is in a ring, perhaps in another one: the two are to become one.
    Meet(Key),
    /// Hand over and leave the ring.
    Leave,
    /// A message came.
    Received(Key, Envelope),
    /// A crawler reports.
    Report(TaskReport),
    /// A crawler gives a task back that it did not begin.
    Returned(LeaseRef),
    /// The crawler that was doing a task, anybody's, is gone.
    Lost(LeaseRef),
    /// A crawler wants to know what a state is like, to walk through it.
    Want(CrawlerId, StateKey),
    /// A timer went off.
    Woken(PeerTimer),
}

/// What a controller wants to be reminded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PeerTimer {
    /// The ring's stabilisation.
    Stabilise,
    /// The ring's far members.
    Fingers,
    /// A question of the ring.
    Silent(u64),
    /// A task should be done by now.
    Lease(JobId),
    /// A message with this number should have been taken in by now.
    Resend(u64),
    /// The states that come with joining should be there by now.
    Grant,
    /// A collection should be back by now.
    Collect(u64),
    /// Crawlers without a job ask round again.
    Idle,
    /// The marker should be back by now.
    Marker,
    /// Transitions are copied now and then.
    Copies,
    /// What is told by the way has waited long enough for a message to go with.
    Later,
}

/// What a controller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are a few at a time, and most of them are the large one"
)]
pub enum PeerEffect {
    /// Send a message to another controller.
    Send(Key, Envelope),
    /// Tell all other controllers at once.
    Broadcast(Vec<RouteHint>),
    /// Tell a crawler something.
    Tell(CrawlerId, ToCrawler),
    /// Keep this for good. What is asked for after it says so to others: it must not leave before this is on disk.
    Keep(Fact),
    /// A transition of an own state counts from now on, whatever happens; for whoever watches.
    Executed(Transition),
    /// Say `Woken` after so many microseconds.
    Wake(PeerTimer, u64),
    /// This controller has left the ring in order.
    Left,
    /// The crawl is over.
    Finished,
}

impl PeerMessage {
    /// Its kind, as reports name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ring(_) => "ring",
            Self::Reached(_) => "reached",
            Self::Done(_) => "done",
            Self::Missed(..) => "missed",
            Self::Seek(_) | Self::Search(_) => "search",
            Self::Remember(..) => "remember",
            Self::Idle(..) => "idle",
            Self::Learned => "learned",
            Self::Marker(_) | Self::Finish(_) => "marker",
            Self::Collect(_) | Self::Exists { .. } => "collect",
            Self::Copy(..) => "copy",
            Self::HandOff { .. } | Self::Bequest { .. } => "hand-off",
            Self::Claim { .. }
            | Self::Claimed { .. }
            | Self::Due(_)
            | Self::Followed { .. }
            | Self::NotFollowed { .. }
            | Self::Plain(..) => "link",
            Self::Strayed { .. } => "strayed",
            Self::Taken(_) => "taken",
            Self::Want(..) | Self::Like(..) => "content",
        }
    }
}
