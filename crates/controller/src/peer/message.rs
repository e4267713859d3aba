//! What controllers of a ring say to each other and to crawlers, and what a controller is told and asks for. Beside
//! each message the word of the thesis for it (paper 002, sections 3.4, 3.5 and 5.3).

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring as ring;
use argiope_ring::Key;
use serde::{Deserialize, Serialize};

use super::atlas::{Content, Fact, Route, StateRecord};
use super::search::Search;
use crate::job::{CrawlerId, Job, JobId, Step};
use crate::outcome::{Failure, Outcome, Sighting};

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
    pub facts: Vec<Fact>,
    /// Tasks that were done, told by the way.
    pub done: Vec<Done>,
    /// The message.
    pub message: Message,
}

impl Envelope {
    /// Nothing but a message: for the owner of a state, or for the receiver.
    pub fn new(key: Option<StateKey>, message: Message) -> Self {
        Self { key, hops: 0, last: false, initial: None, facts: Vec::new(), done: Vec::new(), message }
    }
}

/// From one controller to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// About the ring itself.
    Ring(ring::Message),
    /// A crawler stands in a state of yours (*StateInfo*).
    Reached(Report),
    /// A task of yours was done, and the state that it led to is kept (*AckJob*).
    Done(Done),
    /// A task of yours was not done.
    Missed(Answer, Failure),
    /// A crawler wants to be sent to a state of yours (*ForwardExploration*).
    Seek(Seek),
    /// The search of a crawler, wherever it leads (*ForwardExploration* as printed).
    Search(Search),
    /// A search from a state of yours came so far (*RememberMe*).
    Remember(StateKey, Search),
    /// A crawler has nothing to do (*RequestJob*); goes round the ring back to whoever sent it off, or so many times.
    Idle(Asking, Key, u32),
    /// What the sender knows (the broadcast of *global*, and the shared part of *RememberMe*).
    Learned,
    /// Is everything done (*CheckTerm*)? Goes round the ring twice.
    Marker(Marker),
    /// Everything is done. Goes round the ring.
    Finish(Key),
    /// Who knows of lost states (*CollectStates*)? Goes round the ring.
    Collect(Collect),
    /// Keep copies of these (the *back-up update*).
    Copy(u64, Vec<Part>),
    /// These are yours now (*hand-off*).
    HandOff {
        /// To be taken in.
        number: u64,
        /// What is handed over begins after this place, where the next member is, as far as the sender knows.
        after: Key,
        /// Nothing is missing.
        settled: bool,
        /// The states.
        records: Vec<StateRecord>,
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
        /// All about it, if the sender knows.
        record: Option<StateRecord>,
    },
    /// The message with this number was taken in.
    Taken(u64),
    /// A crawler of that controller wants to know what a state of yours is like.
    Want(StateKey, CrawlerId, Key),
    /// What a state is like, for a crawler of yours.
    Like(StateKey, CrawlerId, Option<Content>),
}

/// One piece of a copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    /// A state.
    State(StateRecord),
    /// A transition.
    Step(Step),
    /// An action that was given up.
    Closed(StateKey, ActionSignature),
}

/// Which task a crawler speaks of: its lease is held by that controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// Who gave it.
    pub by: Key,
    /// Its number there.
    pub job: JobId,
}

/// What a crawler says when it is done with a task, or has waited too long for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Report {
    /// Which crawler.
    pub crawler: CrawlerId,
    /// Counts its reports.
    pub number: u64,
    /// Where it stands, if anywhere.
    pub at: Option<Sighting>,
    /// How one gets there after a reset.
    pub route: Option<Route>,
    /// The task that led there.
    pub task: Option<Answer>,
    /// What the task executed for the first time.
    pub executed: Option<(StateKey, ActionSignature)>,
    /// The transitions that it took on the way.
    pub walked: Vec<Step>,
    /// Why the task was not done, if it was not.
    pub failed: Option<Failure>,
    /// What the page is like, if it was looked at.
    pub content: Option<Content>,
    /// It was said before, and nobody answered.
    pub again: bool,
}

impl Report {
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
            content: None,
            again: false,
        }
    }
}

impl Report {
    /// How a job ended that a task asked for; `here` is how the crawler came to where it stood before.
    pub fn of(crawler: CrawlerId, number: u64, task: &Task, outcome: Outcome, here: Option<&Route>) -> Self {
        let mut report = Self { task: Some(task.id), ..Self::new(crawler, number) };
        let Some(job) = &task.job else { return report };
        let went = |right: u32| job.walk.iter().copied().take(right as usize).collect();
        match outcome {
            Outcome::Done { at, .. } => {
                let step = Step { from: job.state, action: job.action, to: at.key };
                report.route = Some(task.route_to(here.filter(|_| !job.reset), step));
                report.executed = Some((job.state, job.action));
                report.walked.clone_from(&job.walk);
                report.at = Some(at);
            }
            Outcome::Elsewhere { went_right, at } => {
                report.walked = went(went_right);
                report.at = Some(at);
                report.failed = Some(Failure::Missing);
            }
            Outcome::Failed { went_right, reason } => {
                report.walked = went(went_right);
                report.failed = Some(reason);
            }
        }
        report
    }
}

/// A crawler that wants something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Asking {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Done {
    /// Which.
    pub task: Answer,
    /// What it executed.
    pub step: Step,
    /// Whether that found a new state.
    pub new: bool,
    /// Who keeps the state that it led to.
    pub kept_by: Key,
}

/// A crawler is to be sent to a state that had something to do, as far as the sender knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seek {
    /// Who.
    pub asking: Asking,
    /// Where to.
    pub goal: StateKey,
    /// The way begins with a reset.
    pub reset: bool,
    /// The way.
    pub walk: Vec<Step>,
    /// Who sought first.
    pub origin: Key,
    /// The states that had nothing to do, found on the way.
    pub drained: Vec<Fact>,
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
    /// Those that somebody keeps a copy of.
    pub records: Vec<StateRecord>,
    /// Those that a known transition leads to.
    pub seen: Vec<(StateKey, Route)>,
    /// Somebody may have been passed over: one of those that it visited takes another for the one before it than whom
    /// it came from.
    pub gaps: bool,
}

/// What a crawler is to do (*ExecuteEvent*; *Start* is the one without a job).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Task {
    /// Who gives it, and its number.
    pub id: Answer,
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
    pub fn route_to(&self, here: Option<&Route>, step: Step) -> Route {
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
    Like(StateKey, Option<Content>),
    /// The crawl is over.
    Finished,
}

/// What a controller is told. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
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
    Report(Report),
    /// A crawler gives a task back that it did not begin.
    Returned(Answer),
    /// A crawler wants to know what a state is like, to walk through it.
    Want(CrawlerId, StateKey),
    /// A timer went off.
    Woken(Timer),
}

/// What a controller wants to be reminded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
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
pub enum Effect {
    /// Send a message to another controller.
    Send(Key, Envelope),
    /// Tell all other controllers at once.
    Broadcast(Vec<Fact>),
    /// Tell a crawler something.
    Tell(CrawlerId, ToCrawler),
    /// Keep this for good. What is asked for after it says so to others: it must not leave before this is on disk.
    Keep(Part),
    /// A transition of an own state counts from now on, whatever happens; for whoever watches.
    Executed(Step),
    /// Say `Woken` after so many microseconds.
    Wake(Timer, u64),
    /// This controller has left the ring in order.
    Left,
    /// The crawl is over.
    Finished,
}

impl Message {
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
            Self::HandOff { .. } => "hand-off",
            Self::Taken(_) => "taken",
            Self::Want(..) | Self::Like(..) => "content",
        }
    }
}
