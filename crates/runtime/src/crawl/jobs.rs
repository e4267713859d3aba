//! Jobs of a tab on one machine: the driver assigns them, and each report goes straight to it.

use std::sync::Arc;

use argiope_controller::job::{Ahead, CrawlerId, Job, JobId};
use tokio::sync::mpsc;

use super::{CrawlError, SharedDriver};
use crate::crawler::{Crawler, JobReport};
use crate::executor::{JobSource, NotBegun, TabWork, WorkResult};
use crate::login::session::LoginSession;

/// A job and those ahead of it, on their way to a tab.
pub type AssignedJobs = (Job, Vec<Ahead>);

/// The job source of one tab.
pub struct LocalJobs {
    id: CrawlerId,
    assigned: mpsc::UnboundedReceiver<AssignedJobs>,
    driver: Arc<SharedDriver>,
    session: Arc<LoginSession>,
    under_way: Vec<JobId>,
}

impl LocalJobs {
    /// The driver sends the jobs of crawler `id` to `assigned`.
    pub fn new(
        id: CrawlerId,
        assigned: mpsc::UnboundedReceiver<AssignedJobs>,
        driver: Arc<SharedDriver>,
        session: Arc<LoginSession>,
    ) -> Self {
        Self { id, assigned, driver, session, under_way: Vec::new() }
    }
}

impl JobSource for LocalJobs {
    /// The controller assigns jobs to a crawler that is ready; so the tab comes first.
    async fn next_work(&mut self, has_tab: bool) -> Option<TabWork> {
        if !has_tab {
            return Some(TabWork::Open);
        }
        let (job, ahead) = self.assigned.recv().await?;
        self.under_way.push(job.id);
        self.under_way.extend(ahead.iter().map(|ahead| ahead.job.id));
        Some(TabWork::Perform(job, ahead))
    }

    /// The store knows every state of the crawl.
    async fn prepare(&mut self, _: &Job, _: &Crawler) -> Result<(), NotBegun> {
        Ok(())
    }

    fn report(&mut self, result: WorkResult, _: Option<&Crawler>) {
        let reports = match result {
            WorkResult::Opened => return self.driver.on_ready(self.id),
            WorkResult::Performed(reports) => reports,
            WorkResult::NotBegun(NotBegun::NoTab(error)) => {
                return self.driver.on_trouble(error.into());
            }
            WorkResult::NotBegun(_) => vec![JobReport::lost()],
            WorkResult::Loaded(..) | WorkResult::NotLoaded { .. } => {
                unreachable!("the driver itself loads the first page")
            }
        };
        if let Some(trouble) = self.session.trouble() {
            // The job itself is not to blame: a resumed crawl does it again.
            return self.driver.on_trouble(CrawlError::Login(trouble));
        }
        let ids = std::mem::take(&mut self.under_way);
        self.driver.on_done(self.id, ids.into_iter().zip(reports).collect());
    }
}
