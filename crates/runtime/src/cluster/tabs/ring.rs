//! Jobs of a tab in a ring: a controller gives it one task for each report. A report without an
//! answer is repeated; a task that answers an older report is returned.

use std::time::Instant;

use argiope_controller::job::{CrawlerId, Job, Route};
use argiope_controller::outcome::{JobFailure, Sighting};
use argiope_controller::peer::message::{Task, TaskReport, ToCrawler};
use argiope_explore::id::StateKey;
use tokio::time::timeout;

use super::{Home, TabInstruction, TabMessage, asking_time, microseconds, retry_after};
use crate::cluster::protocol::{FromCrawler, SeenPage};
use crate::crawler::{Crawler, JobReport};
use crate::executor::{JobSource, NotBegun, TabWork, WorkResult};
use crate::store::FoundPage;

/// What a tab of a ring has to report, whichever controller it is attached to.
pub struct RingSession {
    report: TaskReport,
    route: Option<Route>,
    /// The page where it stands, if this tab has looked at it first.
    seen: Option<SeenPage>,
}

impl RingSession {
    pub fn new(crawler: CrawlerId) -> Self {
        Self { report: TaskReport::new(crawler, 0), route: None, seen: None }
    }

    /// The tab has a new name; its last report may be lost.
    pub fn resume(&mut self, crawler: CrawlerId) {
        self.report.crawler = crawler;
        self.report.again = true;
    }
}

/// The job source of one tab in a ring.
pub struct RingJobs<'a> {
    home: Home<'a>,
    session: &'a mut RingSession,
    /// The task under way, and when it began.
    task: Option<(Task, Instant)>,
}

impl<'a> RingJobs<'a> {
    pub fn new(home: Home<'a>, session: &'a mut RingSession) -> Self {
        Self { home, session, task: None }
    }

    async fn send_report(&mut self) {
        let Home { attached, outbox, .. } = self.home;
        self.session.report.number += 1;
        let archive = self.home.archive();
        let report = &self.session.report;
        let page = report.at.as_ref().and_then(|at| archive.name_of(at.key));
        let blobs = page.and_then(|content| archive.blob(content)).into_iter().collect();
        let blobs = outbox.unsent(blobs);
        let (spent, times) = self.home.take_costs();
        let report = FromCrawler::Report(attached.id, report.clone(), spent, times, blobs);
        outbox.send(report).await;
        if let Some(seen) = self.session.seen.take() {
            outbox.send(FromCrawler::Page(attached.id, seen)).await;
        }
    }

    /// The task that answers the last report; other tasks are returned. `None` once the tab is
    /// attached elsewhere.
    async fn next_task(&mut self) -> Option<Task> {
        loop {
            let TabMessage { crawler, instruction, .. } = self.home.recv().await?;
            let attached = self.home.attached;
            let TabInstruction::Ring(instruction) = instruction else { continue };
            match instruction {
                ToCrawler::Task(task)
                    if crawler == attached.crawler && task.number == self.session.report.number =>
                {
                    return Some(task);
                }
                ToCrawler::Task(task) => {
                    self.home.send(FromCrawler::Returned(attached.id, task.id)).await;
                }
                ToCrawler::Like(state, content) => self.home.on_like(state, content),
                // The controller attaches the tab elsewhere.
                ToCrawler::Finished => {}
            }
        }
    }

    /// Returns the tasks that arrived when the tab was attached elsewhere.
    async fn return_tasks(&mut self) {
        while let Some(message) = self.home.try_recv() {
            if let TabInstruction::Ring(ToCrawler::Task(task)) = message.instruction {
                self.home.send(FromCrawler::Returned(self.home.attached.id, task.id)).await;
            }
        }
    }

    /// The report of a task that failed and left the tab nowhere.
    fn fail(&mut self, task: &Task, reason: JobFailure) {
        let RingSession { report, route, .. } = self.session;
        *route = None;
        *report = TaskReport {
            task: Some(task.id),
            failed: Some(reason),
            ..TaskReport::new(self.home.attached.crawler, report.number)
        };
    }

    fn on_loaded(&mut self, task: &Task, at: Sighting) -> TaskReport {
        self.home.unreported.spent.resets += 1;
        TaskReport {
            task: Some(task.id),
            at: Some(at),
            route: Some(Route::default()),
            ..TaskReport::new(self.home.attached.crawler, self.session.report.number)
        }
    }

    fn on_performed(
        &mut self,
        task: &Task,
        report: JobReport,
    ) -> (TaskReport, Vec<(StateKey, FoundPage)>) {
        self.home.unreported.add(&report);
        let JobReport { outcome, cost, found, .. } = report;
        let (crawler, number) = (self.home.attached.crawler, self.session.report.number);
        let route = self.session.route.as_ref();
        let report = TaskReport::of(crawler, number, task, (outcome, cost.spent), route);
        (report, found)
    }

    /// The next report says where the tab stands now, and what the controller lacks of it.
    fn stand(
        &mut self,
        task: &Task,
        mut report: TaskReport,
        found: &[(StateKey, FoundPage)],
        crawler: Option<&Crawler>,
    ) {
        let crawl = &self.home.attached.crawl;
        let seen = crawl.add_found(found);
        if let Some(Sighting { key, offers, .. }) = &mut report.at {
            // The content goes with the report.
            self.session.seen = seen.into_iter().find(|seen| seen.state == *key);
            let is_new = self.home.outbox.note_offers(self.home.attached.id, *key);
            *offers = crawler.filter(|_| is_new || task.look).and_then(Crawler::offers);
            report.content = crawl.archive.name_of(*key);
        }
        self.session.route.clone_from(&report.route);
        self.session.report = report;
    }
}

impl JobSource for RingJobs<'_> {
    async fn next_work(&mut self, _: bool) -> Option<TabWork> {
        self.home.conclude_work().await;
        let mut attempts = 0;
        let (task, asked) = loop {
            let asked = Instant::now();
            // Also the last report, if the tab is attached elsewhere now.
            self.send_report().await;
            match timeout(retry_after(attempts), self.next_task()).await {
                Ok(Some(task)) => break (task, asked),
                Ok(None) => {
                    self.return_tasks().await;
                    return None;
                }
                Err(_) => self.session.report.again = true,
            }
            attempts += 1;
        };
        self.home.unreported.times.asking += asking_time(asked.elapsed());
        self.home.outbox.begin(self.home.number, self.home.attached.id, task.id);
        let work = match &task.job {
            Some(job) => TabWork::Perform(job.clone(), Vec::new()),
            None => TabWork::Load,
        };
        self.task = Some((task, Instant::now()));
        Some(work)
    }

    async fn prepare(&mut self, job: &Job, crawler: &Crawler) -> Result<(), NotBegun> {
        self.home.learn_walk(job, crawler).await
    }

    fn report(&mut self, result: WorkResult, crawler: Option<&Crawler>) {
        let Some((task, began)) = self.task.take() else { return };
        match result {
            WorkResult::Loaded(at, found) => {
                let report = self.on_loaded(&task, at);
                self.stand(&task, report, &found, crawler);
            }
            WorkResult::NotLoaded { exchanged: true } => self.fail(&task, JobFailure::Exchanged),
            WorkResult::NotLoaded { exchanged: false } => self.fail(&task, JobFailure::NotLoaded),
            WorkResult::Performed(reports) => {
                for report in reports {
                    let (report, found) = self.on_performed(&task, report);
                    self.stand(&task, report, &found, crawler);
                }
            }
            WorkResult::NotBegun(reason) => {
                self.home.unreported.pauses = matches!(reason, NotBegun::NoTab(_));
                self.fail(&task, JobFailure::Lost);
            }
            WorkResult::Opened => unreachable!("tabs of a ring are opened for a task"),
        }
        self.home.unreported.times.acting += microseconds(began.elapsed());
        self.home.outbox.end(self.home.number);
    }
}
