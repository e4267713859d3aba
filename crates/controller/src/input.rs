//! What enters a controller and what leaves it.

use serde::{Deserialize, Serialize};

use crate::job::{Ahead, CrawlerId, Job, JobId};
use crate::journal::Fact;
use crate::outcome::{Outcome, Sighting};
use crate::spent::Spent;

/// What a controller is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerInput {
    /// A crawler is there and has nothing to do: a new one, or one that was replaced after it failed or
    /// was lost.
    Ready {
        /// Which.
        crawler: CrawlerId,
        /// Where it stands after it loaded the URL; nowhere if it did not, and then its first job begins
        /// with a reset. The first of all sightings is the initial state; until there is one, crawlers
        /// that stand nowhere rest.
        at: Option<Sighting>,
        /// What that took.
        spent: Spent,
    },
    /// A crawler is done with a job: the first of those that it was given and has not finished. If the outcome is
    /// `Failed` it gets no other one until it is `Ready` again.
    Finished {
        /// Which.
        crawler: CrawlerId,
        /// Its job.
        job: JobId,
        /// How it ended.
        outcome: Outcome,
        /// What it took. An `Elsewhere` or a failure before the first action tells of the load.
        spent: Spent,
    },
    /// A crawler is gone and its job with it.
    Lost {
        /// Which.
        crawler: CrawlerId,
    },
    /// What a reset costs, in actions, was measured.
    ResetCost(f64),
    /// No more jobs are to be handed out. What is in flight is still taken in.
    Stop(StoppedBy),
}

/// What a controller asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerEffect {
    /// Give a crawler a job, and perhaps more to be done after it.
    Assign {
        /// Which.
        crawler: CrawlerId,
        /// What to do.
        job: Job,
        /// What to do next, one after the other. The first that must not be begun ends it, and so does a job that was
        /// not `Done`: what comes after is not begun and not spoken of again.
        ahead: Vec<Ahead>,
    },
    /// Keep this, in this order, before anything that comes after it is carried out.
    Keep(Fact),
    /// There is nothing for a crawler to do now. It is given a job when there is.
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
    /// Something was too deep.
    MaxDepth,
    /// The time was up.
    MaxTime,
    /// Somebody wanted it.
    Interrupt,
    /// The URL could not be loaded any more.
    NotLoaded,
    /// The driver cannot go on: a full disk, a browser that does not start.
    Trouble,
}
