//! A crawler at work, as a task of its own: jobs come in, reports go out.

use std::cell::RefCell;
use std::rc::Rc;

use argiope_browser::agent::{AgentSettings, Blank};
use argiope_browser::tab::Tab;
use argiope_controller::job::{Ahead, CrawlerId, Job, JobId};
use argiope_controller::outcome::Outcome;
use tokio::sync::mpsc;

use crate::browsers::{Browsers, NoTab};
use crate::crawler::{Crawler, Report};
use crate::knowledge::Knowledge;
use crate::settings::{CrawlSettings, Scope};
use crate::store::Store;

/// What crawlers tell the driver.
pub enum Told {
    /// It has a tab and stands nowhere.
    Ready(CrawlerId),
    /// How its jobs ended, those that it began.
    Done(CrawlerId, Vec<(JobId, Report)>),
    /// There is no tab to be had.
    Broken(NoTab),
}

/// What every crawler is given.
#[derive(Clone)]
pub struct Office {
    /// Where tabs come from.
    pub browsers: Rc<Browsers>,
    /// Where the application is.
    pub url: Rc<str>,
    /// What crawlers know together.
    pub knowledge: Rc<RefCell<Knowledge>>,
    /// What was found.
    pub store: Rc<Store>,
    /// A picture of every state.
    pub screenshots: bool,
}

impl Office {
    /// A crawler with a tab.
    pub fn crawler(&self, tab: Tab) -> Crawler {
        Crawler::new(tab, self.url.clone(), self.knowledge.clone(), self.store.clone(), self.screenshots)
    }
}

/// How pages of an application are looked at.
pub fn agent(settings: &CrawlSettings, secret: String, scope: Scope, masks: Vec<Blank>) -> AgentSettings {
    AgentSettings {
        seed: settings.seed as u32,
        cap: settings.settle_ms,
        freeze: settings.freeze_time,
        ignore: settings.ignore.join(","),
        masks,
        ..AgentSettings::new(secret, scope.origin, scope.site)
    }
}

/// A crawler at work: takes jobs, gives reports, and gets itself a new tab when the old one is of no use.
pub async fn work(
    id: CrawlerId,
    crawler: Option<Crawler>,
    office: Office,
    agent: AgentSettings,
    mut jobs: mpsc::UnboundedReceiver<(Job, Vec<Ahead>)>,
    told: mpsc::UnboundedSender<Told>,
) {
    let mut crawler = crawler;
    loop {
        let mut worker = match crawler.take() {
            Some(worker) => worker,
            None => match office.browsers.tab(agent.clone()).await {
                Ok(tab) => {
                    let _ = told.send(Told::Ready(id));
                    office.crawler(tab)
                }
                Err(error) => {
                    let _ = told.send(Told::Broken(error));
                    return;
                }
            },
        };
        while let Some((job, ahead)) = jobs.recv().await {
            let reports = if office.browsers.is_present(worker.tab().browser()) {
                worker.perform_all(&job, &ahead).await
            } else {
                // The browser was replaced; it ends with its last tab, and the job is given again.
                vec![Report::lost()]
            };
            let failed = reports.iter().any(|report| matches!(report.outcome, Outcome::Failed { .. }));
            let ids = [job.id].into_iter().chain(ahead.iter().map(|ahead| ahead.job.id));
            let _ = told.send(Told::Done(id, ids.zip(reports).collect()));
            if failed {
                office.browsers.discard(worker.tab());
                break;
            }
        }
        if jobs.is_closed() {
            return;
        }
    }
}
