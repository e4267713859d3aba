//! How a crawler loads the further addresses with which a crawl begins. On one machine that comes
//! before the first job. On a cluster each is a job: its action is a link that no page has
//! (`seed_links.rs`), and a walk over one begins with its load.

use std::borrow::Cow;

use argiope_browser::tab::{TabError, TabPosition};
use argiope_controller::job::Job;
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};
use argiope_explore::id::StateKey;

use super::{Crawler, JobCost, Stop, notes_of};
use crate::address::PlainUrl;
use crate::probe::{self, NoPage};
use crate::store::FoundPage;

/// What is left of a job once a seed on its walk is loaded.
pub(super) struct AfterSeed<'a> {
    /// The last seed on the walk; none if there is none.
    pub seed: Option<PlainUrl>,
    /// How many steps of the walk its load saves, its own included.
    pub saved: usize,
    /// The rest, which begins with a load.
    pub job: Cow<'a, Job>,
}

impl Crawler {
    /// Loads a seed before the first job of a crawl on one machine.
    pub async fn load_seed(
        &mut self,
        address: &str,
    ) -> Result<(Sighting, Vec<(StateKey, FoundPage)>), NoPage> {
        let no_page = |error: TabError| NoPage::of(address, &error);
        let (arrival, _) = self.load_own(address).await.map_err(no_page)?;
        let look = self.tab.look().await.map_err(no_page)?;
        probe::check(&look, address)?;
        let sighting = self.sighting(&arrival).await.map_err(no_page)?;
        // What the loads cost is not a job's.
        self.cost = JobCost::default();
        Ok((sighting, std::mem::take(&mut self.found)))
    }

    /// Performs a job whose action is a seed: the load needs no walk.
    pub(super) async fn follow_seed(&mut self, address: &str) -> Result<Outcome, Stop> {
        let arrival = self.load_seed_link(address).await?;
        let look = self.tab.look().await?;
        if let Err(wrong) = probe::check(&look, address) {
            tracing::debug!(%wrong, "a seed leads to no page");
            return Err(Stop::Failed(JobFailure::NoPage));
        }
        let notes = notes_of(&arrival);
        let at = self.sighting_after_action(&arrival).await?;
        Ok(Outcome::Done { at, notes, once: true })
    }

    /// Divides a job at the last seed on its walk.
    pub(super) fn after_seed<'a>(&self, job: &'a Job) -> AfterSeed<'a> {
        let seeds = &self.context.seeds;
        let last = job.walk.iter().rposition(|step| seeds.contains_key(&step.action));
        let Some(place) = last else {
            return AfterSeed { seed: None, saved: 0, job: Cow::Borrowed(job) };
        };
        let walk = job.walk[place + 1..].to_vec();
        AfterSeed {
            seed: seeds.get(&job.walk[place].action).cloned(),
            saved: place + 1,
            job: Cow::Owned(Job { reset: true, walk, ..job.clone() }),
        }
    }

    /// How many steps of a job's walk count as gone when the tab stands where the walk begins.
    pub(super) fn steps_before_seed(&self, job: &Job) -> u32 {
        u32::try_from(self.after_seed(job).saved.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Loads a seed. It counts as an action, too: a failure then is not one of the load with which
    /// a walk begins. An address that cannot be loaded is to blame if the URL can be loaded.
    pub(super) async fn load_seed_link(&mut self, address: &str) -> Result<TabPosition, Stop> {
        self.cost.spent.actions += 1;
        match self.load_own(address).await {
            Ok((arrival, _)) => Ok(arrival),
            Err(TabError::NotLoaded(why)) => {
                tracing::debug!(why, "a seed cannot be loaded");
                self.reset().await?;
                Err(Stop::Failed(JobFailure::NoPage))
            }
            Err(error) => Err(error.into()),
        }
    }
}
