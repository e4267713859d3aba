//! Jobs of a tab in a star: it chooses its own and reports results to the coordinator. A
//! [`StarNode`] decides, as in the simulator.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use argiope_controller::job::Job;
use argiope_controller::journal::ContentId;
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};
use argiope_controller::peer::message::ToCrawler;
use argiope_controller::spent::Spent;
use argiope_controller::star::node::{NodeEffect, NodeInput, Performed, StarNode};
use argiope_controller::star::{NodeReport, ToNode};
use tokio::time::timeout;

use super::{Home, TabInstruction, TabMessage, asking_time, microseconds, retry_after};
use crate::cluster::contents;
use crate::cluster::crawl_state;
use crate::cluster::protocol::FromCrawler;
use crate::crawler::{Crawler, JobReport};
use crate::executor::{JobSource, NotBegun, TabWork, WorkResult};

/// The longest time between two reports: for progress, and so that a lost crawler loses little.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// What a tab of a star knows, whichever controller it is attached to.
#[derive(Default)]
pub struct StarSession {
    node: Option<StarNode>,
}

/// The job source of one tab in a star.
pub struct StarJobs<'a> {
    home: Home<'a>,
    node: &'a mut StarNode,
    effects: VecDeque<NodeEffect>,
    /// What came of the last work.
    result: Option<NodeInput>,
    /// Something has happened since the node last decided.
    is_undecided: bool,
    /// What the coordinator said while the tab was busy.
    news: VecDeque<ToNode>,
    /// When the last report was sent, whether its answer is awaited, and how many were in vain.
    reported: Instant,
    awaits_answer: bool,
    attempts: u32,
    /// When the last work ended, and when the present one began.
    idle_since: Instant,
    began: Instant,
    is_loading: bool,
}

impl<'a> StarJobs<'a> {
    /// Begins, or continues with what the tab knows; a sentence if the crawl's strategy is unknown.
    pub fn new(home: Home<'a>, session: &'a mut StarSession) -> Result<Self, String> {
        let (order, crawler) = (&home.attached.crawl.spec.order, home.attached.crawler);
        let strategy = crawl_state::nodes_strategy(order)?;
        let input = match session.node {
            Some(_) => NodeInput::Renamed(crawler),
            None => NodeInput::Start,
        };
        let node = session.node.get_or_insert_with(|| {
            let node = StarNode::new(crawler, strategy, crawl_state::exploring(order));
            node.with_seeds(crawl_state::seeds(order))
        });
        let mut effects = Vec::new();
        node.handle(input, &mut effects);
        let now = Instant::now();
        Ok(Self {
            home,
            node,
            effects: effects.into(),
            result: None,
            is_undecided: false,
            news: VecDeque::new(),
            reported: now,
            awaits_answer: false,
            attempts: 0,
            idle_since: now,
            began: now,
            is_loading: false,
        })
    }

    /// Lets the node decide, with everything that has arrived meanwhile.
    fn decide(&mut self) {
        while let Some(message) = self.home.try_recv() {
            self.on_message(message);
        }
        let mut effects = Vec::new();
        for news in self.news.drain(..) {
            (self.awaits_answer, self.attempts) = (false, 0);
            self.node.handle(NodeInput::Message(news), &mut effects);
        }
        if let Some(result) = self.result.take() {
            self.node.handle(result, &mut effects);
        }
        let reports = effects.iter().any(|effect| matches!(effect, NodeEffect::Send(_)));
        if !reports && self.reported.elapsed() >= self.report_after() {
            self.attempts += u32::from(self.awaits_answer);
            self.node.handle(NodeInput::Remind, &mut effects);
            self.reported = Instant::now();
        }
        self.effects.extend(effects);
        self.is_undecided = false;
    }

    /// How long after the last report the next is due.
    fn report_after(&self) -> Duration {
        if self.awaits_answer { retry_after(self.attempts) } else { REPORT_INTERVAL }
    }

    /// Waits for a message, or until a report is due.
    async fn wait(&mut self) {
        let left = self.report_after().saturating_sub(self.reported.elapsed());
        if let Ok(Some(message)) = timeout(left, self.home.recv()).await {
            self.on_message(message);
        }
        self.is_undecided = true;
    }

    fn on_message(&mut self, TabMessage { crawler, instruction, .. }: TabMessage) {
        match instruction {
            TabInstruction::Star(news) if crawler == self.home.attached.crawler => {
                self.news.push_back(news);
            }
            TabInstruction::Ring(ToCrawler::Like(state, content)) => {
                self.home.on_like(state, content);
            }
            TabInstruction::Star(_)
            | TabInstruction::Ring(ToCrawler::Task(_) | ToCrawler::Finished) => {}
        }
    }

    async fn send(&mut self, report: NodeReport) {
        let Home { attached, outbox, .. } = self.home;
        let archive = self.home.archive();
        let blobs = report.contents().filter_map(|content| archive.blob(content)).collect();
        let mut frames: Vec<_> = contents::frames(outbox.unsent(blobs).into_iter()).collect();
        let last = frames.pop().unwrap_or_default();
        for blobs in frames {
            outbox.send(FromCrawler::Blobs(blobs)).await;
        }
        let (spent, times) = self.home.take_costs();
        (self.reported, self.awaits_answer) = (Instant::now(), true);
        outbox.send(FromCrawler::NodeReport(attached.id, report, spent, times, last)).await;
    }

    fn begin(&mut self, work: TabWork) -> Option<TabWork> {
        self.is_loading = matches!(work, TabWork::Load);
        self.began = Instant::now();
        self.home.unreported.times.asking += asking_time(self.began - self.idle_since);
        Some(work)
    }

    /// Where the tab stands, with the actions that it offers there.
    fn describe(&self, at: &mut Sighting, crawler: Option<&Crawler>) -> Option<ContentId> {
        at.offers = crawler.and_then(Crawler::offers);
        self.home.archive().name_of(at.key)
    }

    fn on_performed(&mut self, report: JobReport, crawler: Option<&Crawler>) -> NodeInput {
        self.home.unreported.add(&report);
        let JobReport { mut outcome, cost, found, .. } = report;
        self.home.attached.crawl.add_found(&found);
        let content = match &mut outcome {
            Outcome::Done { at, .. } | Outcome::Elsewhere { at, .. } => self.describe(at, crawler),
            Outcome::Failed { .. } => None,
        };
        NodeInput::Performed(Performed { outcome, spent: cost.spent, content })
    }

    fn on_not_begun(&mut self, reason: &NotBegun) -> NodeInput {
        self.home.unreported.pauses = matches!(reason, NotBegun::NoTab(_));
        match reason {
            _ if self.is_loading => NodeInput::NotLoaded,
            NotBegun::NoTab(_) | NotBegun::WalkUnanswered => NodeInput::NotBegun,
            NotBegun::WalkUnknown | NotBegun::TabReplaced => NodeInput::Performed(Performed {
                outcome: Outcome::Failed { went_right: 0, reason: JobFailure::Lost },
                spent: Spent::default(),
                content: None,
            }),
        }
    }
}

impl JobSource for StarJobs<'_> {
    async fn next_work(&mut self, _: bool) -> Option<TabWork> {
        self.home.conclude_work().await;
        loop {
            if self.is_undecided {
                self.decide();
            }
            let has_report = matches!(self.effects.front(), Some(NodeEffect::Send(_)));
            if self.home.has_moved() && !has_report {
                return None;
            }
            match self.effects.pop_front() {
                Some(NodeEffect::Send(report)) => self.send(report).await,
                Some(NodeEffect::Load) => return self.begin(TabWork::Load),
                Some(NodeEffect::Perform(job)) => {
                    return self.begin(TabWork::Perform(job, Vec::new()));
                }
                // After the end of the crawl the controller attaches the tab elsewhere.
                Some(NodeEffect::Finished) | None if self.effects.is_empty() => self.wait().await,
                Some(NodeEffect::Finished) | None => {}
            }
        }
    }

    async fn prepare(&mut self, job: &Job, crawler: &Crawler) -> Result<(), NotBegun> {
        self.home.learn_walk(job, crawler).await
    }

    fn report(&mut self, result: WorkResult, crawler: Option<&Crawler>) {
        let input = match result {
            WorkResult::Loaded(mut at, found) => {
                self.home.unreported.spent.resets += 1;
                self.home.attached.crawl.add_found(&found);
                let content = self.describe(&mut at, crawler);
                NodeInput::Loaded(at, content)
            }
            WorkResult::NotLoaded { exchanged } => {
                self.home.unreported.pauses = !exchanged;
                NodeInput::NotLoaded
            }
            WorkResult::Performed(mut reports) => match reports.pop() {
                Some(report) => self.on_performed(report, crawler),
                None => NodeInput::NotBegun,
            },
            WorkResult::NotBegun(reason) => self.on_not_begun(&reason),
            WorkResult::Opened => unreachable!("tabs of a star are opened for a job"),
        };
        self.home.unreported.times.acting += microseconds(self.began.elapsed());
        self.idle_since = Instant::now();
        (self.result, self.is_undecided) = (Some(input), true);
    }
}
