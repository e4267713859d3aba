//! The inputs and effects of a controller.

use serde::{Deserialize, Serialize};

use crate::job::{Ahead, CrawlerId, Job, JobId};
use crate::journal::Fact;
use crate::outcome::{Outcome, Sighting};
use crate::spent::Spent;

/// What a controller is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerInput {
    /// A crawler is idle: a new one, or the replacement of one that failed or was lost.
    Ready {
        /// Which.
        crawler: CrawlerId,
        /// Where it is after it loaded the URL; none if it did not, and then its first job begins
        /// with a reset. The first sighting of a crawl is the initial state. Until then other
        /// crawlers rest.
        at: Option<Sighting>,
        /// What loading cost.
        spent: Spent,
    },
    /// A crawler finished a job: the first of its unfinished ones. After a `Failed` outcome it gets
    /// no job until it is `Ready` again.
    Finished {
        /// Which.
        crawler: CrawlerId,
        /// Its job.
        job: JobId,
        /// How it ended.
        outcome: Outcome,
        /// What the job cost. An `Elsewhere` or a failure before the first action includes the
        /// load.
        spent: Spent,
    },
    /// A crawler is lost, and its jobs with it.
    Lost {
        /// Which.
        crawler: CrawlerId,
    },
    /// Loading an address of its own led to a state. The first of all seeds is the URL, which leads
    /// to the initial state.
    Entered {
        /// The state. A new one must be described.
        at: Sighting,
        /// The address.
        address: String,
        /// The address was given with the crawl. Otherwise the state must be known.
        seed: bool,
        /// The measured cost of the load, in actions.
        cost: Option<f64>,
    },
    /// The measured cost of a reset, in actions.
    ResetCost(f64),
    /// Assign no more jobs. Outcomes of jobs in flight still count.
    Stop(StoppedBy),
}

/// What a controller asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerEffect {
    /// Assign a job to a crawler, and perhaps further jobs.
    Assign {
        /// Which.
        crawler: CrawlerId,
        /// What to do.
        job: Job,
        /// The next jobs, in order. A job whose prediction fails, or that is not `Done`, ends the
        /// list: the crawler drops the jobs after it without a report.
        ahead: Vec<Ahead>,
    },
    /// Append this fact to the journal before any later effect is carried out.
    Keep(Fact),
    /// There is no job for a crawler now. It gets one when there is.
    Rest {
        /// Which.
        crawler: CrawlerId,
    },
    /// The crawl is over. Comes once.
    Finished {
        /// Whether every candidate was executed or given up.
        complete: bool,
        /// If not, why.
        stopped_by: Option<StoppedBy>,
    },
}

/// Why a crawl ended before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// The limit of states.
    MaxStates,
    /// The limit of actions.
    MaxActions,
    /// The limit of depth.
    MaxDepth,
    /// The limit of time.
    MaxTime,
    /// Every context was executed, and no more is wanted.
    PartsCovered,
    /// A person stopped it.
    Interrupt,
    /// The URL no longer loads.
    NotLoaded,
    /// The driver cannot continue: a full disk, a browser that does not start.
    Trouble,
}
