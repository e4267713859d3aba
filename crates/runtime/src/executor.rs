//! One loop drives a tab: it takes work from a source, executes it in a browser and reports.
//! A crawl on one machine, a ring and a star differ in their [`JobSource`] alone (decision 24).
//! The loop must not know why a job was chosen, nor where a report goes.

mod context;
mod pool;

use argiope_controller::job::{Ahead, Job};
use argiope_controller::outcome::{Outcome, Sighting};
use argiope_explore::id::StateKey;

pub use self::context::{CrawlContext, agent_settings};
pub use self::pool::{PoolEvent, PoolEvents, RunningPool, TabTask, WorkerPool};
use crate::browsers::{Browsers, NoTab};
use crate::crawler::{Crawler, JobReport};
use crate::store::FoundPage;

/// Where the work of one tab comes from, and where its results go.
///
/// The loop may be dropped at any `await` (a tab is attached elsewhere). A result is handed over
/// without waiting, so that work that is complete is never lost.
pub trait JobSource {
    /// Waits for the next work of a tab; `None` ends the loop.
    fn next_work(&mut self, has_tab: bool) -> impl Future<Output = Option<TabWork>>;

    /// Fetches what the crawler must know of the states on a job's walk.
    fn prepare(
        &mut self,
        job: &Job,
        crawler: &Crawler,
    ) -> impl Future<Output = Result<(), NotBegun>>;

    /// Takes the result of the work; `crawler` is the tab, unless the work has cost it.
    fn report(&mut self, result: WorkResult, crawler: Option<&Crawler>);
}

/// One order to a tab.
#[derive(Debug)]
pub enum TabWork {
    /// Open a tab, so that it is ready before a job arrives.
    Open,
    /// Load the URL of the crawl.
    Load,
    /// Perform a job, then those ahead of it while each ends as predicted.
    Perform(Job, Vec<Ahead>),
}

/// How an order ended.
#[derive(Debug)]
pub enum WorkResult {
    /// A tab is open; it stands nowhere.
    Opened,
    /// The URL is loaded: where the tab stands, and states that are new to the crawler.
    Loaded(Sighting, Vec<(StateKey, FoundPage)>),
    /// The URL could not be loaded.
    NotLoaded {
        /// The page needs a tab that makes frames; the next tab does.
        exchanged: bool,
    },
    /// A report of each job that was begun, in order.
    Performed(Vec<JobReport>),
    /// The work was not begun.
    NotBegun(NotBegun),
}

/// Why work was not begun.
#[derive(Debug)]
pub enum NotBegun {
    /// The browser gives no tab.
    NoTab(NoTab),
    /// The job begins where the tab stood, and its browser was replaced.
    TabReplaced,
    /// The cluster does not know a state on the job's walk.
    WalkUnknown,
    /// The cluster did not say in time what the states on the job's walk are like.
    WalkUnanswered,
}

/// Executes the work of one tab until its source ends. `tab` holds the crawler while it is idle; a
/// loop that is dropped while it works loses the tab.
pub async fn drive_tab(
    browsers: &Browsers,
    context: &CrawlContext,
    tab: &mut Option<Crawler>,
    source: &mut impl JobSource,
) {
    while let Some(work) = source.next_work(tab.is_some()).await {
        let result = match execute(browsers, context, tab, source, work).await {
            Ok(result) => result,
            Err(reason) => WorkResult::NotBegun(reason),
        };
        source.report(result, tab.as_ref());
    }
}

async fn execute(
    browsers: &Browsers,
    context: &CrawlContext,
    tab: &mut Option<Crawler>,
    source: &mut impl JobSource,
    work: TabWork,
) -> Result<WorkResult, NotBegun> {
    let had_tab = tab.is_some();
    let present = tab.take().filter(|crawler| browsers.is_present(crawler.tab().browser()));
    match work {
        TabWork::Open => {
            *tab = Some(take_tab(browsers, context, present).await?);
            Ok(WorkResult::Opened)
        }
        TabWork::Load => {
            let mut crawler = take_tab(browsers, context, present).await?;
            match crawler.load().await {
                Ok((sighting, found)) => {
                    *tab = Some(crawler);
                    Ok(WorkResult::Loaded(sighting, found))
                }
                Err(_) => Ok(WorkResult::NotLoaded { exchanged: browsers.discard(crawler.tab()) }),
            }
        }
        TabWork::Perform(job, _) if had_tab && present.is_none() && !job.reset => {
            Err(NotBegun::TabReplaced)
        }
        TabWork::Perform(job, ahead) => {
            let mut crawler = take_tab(browsers, context, present).await?;
            if let Err(reason) = source.prepare(&job, &crawler).await {
                *tab = Some(crawler);
                return Err(reason);
            }
            let reports = crawler.perform_all(&job, &ahead).await;
            let is_failed = |report: &JobReport| matches!(report.outcome, Outcome::Failed { .. });
            if reports.iter().any(is_failed) {
                // The next work gets a new tab.
                browsers.discard(crawler.tab());
            } else {
                *tab = Some(crawler);
            }
            Ok(WorkResult::Performed(reports))
        }
    }
}

/// The tab that is there, or a new one.
async fn take_tab(
    browsers: &Browsers,
    context: &CrawlContext,
    present: Option<Crawler>,
) -> Result<Crawler, NotBegun> {
    match present {
        Some(crawler) => Ok(crawler),
        None => context.open(browsers).await.map_err(NotBegun::NoTab),
    }
}
