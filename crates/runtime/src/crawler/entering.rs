//! How a crawler reaches the state in which a job begins: by the URL, by the address of an entry or
//! of a seed, or by an address of a state on the walk, verified or untried (decision 33).

use std::time::{Duration, Instant};

use argiope_browser::tab::{TabError, TabPosition};
use argiope_controller::job::Job;
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};
use argiope_explore::id::StateKey;

use super::seeding::AfterSeed;
use super::{Crawler, JobReport, Stop};
use crate::own_addresses::Shortcut;

/// A load of an address that is not the URL, and where it led.
#[derive(Clone, Debug)]
pub struct EntryLoad {
    /// The state.
    pub state: StateKey,
    /// The address.
    pub address: String,
    /// How long the load took.
    pub loading: Duration,
}

/// What became of the load of an address on the walk.
enum Attempt {
    /// It led to the state.
    Entered,
    /// It did not, and the tab can go on.
    Missed,
}

impl JobReport {
    /// Adds the steps of the walk that a load has saved to those that went right.
    pub(super) fn add_saved(&mut self, saved: usize) {
        match &mut self.outcome {
            Outcome::Elsewhere { went_right, .. } | Outcome::Failed { went_right, .. } => {
                *went_right += u32::try_from(saved).unwrap_or(u32::MAX);
            }
            Outcome::Done { .. } => {}
        }
    }
}

impl Crawler {
    /// Brings the tab to the state in which a job begins, or to one on its walk. Returns how many
    /// steps of the walk that has saved.
    pub(super) async fn go_to_start(&mut self, job: &Job) -> Result<usize, Stop> {
        let AfterSeed { seed, saved, job } = self.after_seed(job);
        let job = &*job;
        if let Some(shortcut) = self.shortcut(job) {
            let attempt = self.attempt(&shortcut).await?;
            let mut pages = self.context.pages.lock();
            match attempt {
                Attempt::Entered => {
                    pages.own_addresses.on_entered(&shortcut);
                    return Ok(saved + shortcut.steps);
                }
                Attempt::Missed => pages.own_addresses.on_missed(&shortcut, job),
            }
            if !job.reset {
                // The tab stood where the walk begins, and does not any more. That is not the
                // candidate's fault.
                return Err(Stop::Failed(JobFailure::Exchanged));
            }
        }
        let start = job.start();
        if let Some(seed) = seed {
            let arrival = self.load_seed_link(&seed).await?;
            self.arrive(&arrival, start).await?;
        } else if job.reset || self.at.is_none() {
            let entry = self.context.pages.lock().own_addresses.of_entry(start).map(str::to_owned);
            match entry.filter(|_| job.reset) {
                Some(address) => {
                    let (arrival, loading) = self.load_own(&address).await?;
                    self.arrive(&arrival, start).await?;
                    self.entered.push(EntryLoad { state: start, address, loading });
                }
                None => {
                    let arrival = self.reset().await?;
                    self.arrive(&arrival, start).await?;
                }
            }
        }
        if self.at.as_ref().is_none_or(|at| at.key != start) {
            return Err(self.elsewhere());
        }
        Ok(saved)
    }

    /// An address of a state on the walk, if the job is cheaper with it.
    fn shortcut(&self, job: &Job) -> Option<Shortcut> {
        let mut pages = self.context.pages.lock();
        let mut own = std::mem::take(&mut pages.own_addresses);
        let bounds = &self.context.agent.border.bounds;
        let shortcut = own.shortcut(job, |state| {
            let address = self.context.details.address(state)?;
            (bounds.contains(&address) && pages.is_harmless(&address)).then_some(address)
        });
        pages.own_addresses = own;
        shortcut
    }

    /// Loads such an address to find out where it leads.
    async fn attempt(&mut self, shortcut: &Shortcut) -> Result<Attempt, Stop> {
        let Shortcut { address, state, .. } = shortcut;
        self.learned = true;
        let (arrival, loading) = match self.load_own(address).await {
            Ok(loaded) => loaded,
            Err(TabError::NotLoaded(_) | TabError::OutOfScope(_) | TabError::Confused(_)) => {
                return Ok(Attempt::Missed);
            }
            Err(error) => {
                if self.tab.must_be_exchanged() {
                    self.context.pages.lock().own_addresses.unmark_tried(address);
                }
                tracing::debug!(%error, "the address of a state cannot be loaded in this tab");
                return Err(Stop::Failed(JobFailure::Exchanged));
            }
        };
        let found = self.found.len();
        let at = match self.sighting(&arrival).await {
            Ok(Sighting { key, .. }) => key,
            Err(TabError::LoggedOut) => {
                self.has_session_ended(arrival.raw).await?;
                self.at = None;
                return Ok(Attempt::Missed);
            }
            Err(error) => return Err(error.into()),
        };
        let is_new = self.context.pages.lock().is_unreported(at);
        if at == *state || !is_new || self.context.details.offers(at).is_some() {
            self.entered.push(EntryLoad { state: at, address: address.clone(), loading });
        } else {
            // The page of an address that no action led to is no state of the application.
            if let Some(at) = &self.at {
                self.context.pages.lock().forget(at);
            }
            self.found.truncate(found);
        }
        if at == *state {
            return Ok(Attempt::Entered);
        }
        self.at = None;
        Ok(Attempt::Missed)
    }

    /// Loads an address other than the URL, as a reset. It must not be one that the brakes or the
    /// scope leave out.
    pub(super) async fn load_own(
        &mut self,
        address: &str,
    ) -> Result<(TabPosition, Duration), TabError> {
        self.at = None;
        let began = Instant::now();
        self.cost.spent.resets += 1;
        self.cost.entry_loads += 1;
        self.learn_endless().await?;
        let session = self.context.session.clone();
        let (arrival, generation) = session.load_at(&mut self.tab, address).await?;
        self.generation = generation;
        self.share_endless();
        self.share_blocked();
        self.share_doubts(&arrival);
        Ok((arrival, began.elapsed()))
    }
}
