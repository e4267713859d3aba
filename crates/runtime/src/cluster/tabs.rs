//! One tab of a crawler process. The controller attaches it to a crawl and may attach it elsewhere
//! at any time; results that could not be sent go to the next controller. Whether its jobs come
//! from a ring or from a star decides the [`JobSource`](crate::executor::JobSource).

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use argiope_controller::job::{CrawlerId, Job};
use argiope_controller::journal::ContentId;
use argiope_controller::peer::message::ToCrawler;
use argiope_controller::spent::Spent;
use argiope_controller::star::ToNode;
use argiope_explore::id::StateKey;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::timeout;

use self::ring::{RingJobs, RingSession};
use self::star::{StarJobs, StarSession};
use super::archive::Archive;
use super::outbox::Outbox;
use super::protocol::{CrawlId, CrawlSpec, FromCrawler, ProcessSpent, SeenPage, TabTimes};
use crate::browsers::Browsers;
use crate::crawler::{Crawler, JobReport};
use crate::executor::{CrawlContext, NotBegun, drive_tab};
use crate::store::FoundPage;

mod ring;
mod star;

/// After how long without an answer a tab repeats its report; doubled after each attempt.
const RETRY: Duration = Duration::from_secs(3);
/// The most doublings.
const MOST_DOUBLINGS: u32 = 4;
/// How long a tab waits to hear what the states on a job's walk are like.
const WALK_ANSWER: Duration = Duration::from_secs(5);
/// The pause after a browser gave no tab, or the page could not be loaded.
const PAUSE: Duration = Duration::from_secs(1);

/// A crawl that tabs of this process are attached to.
pub struct AttachedCrawl {
    /// What the crawl is.
    pub spec: CrawlSpec,
    /// What its crawlers begin with.
    pub context: CrawlContext,
    /// What states are like.
    pub archive: Arc<Archive>,
}

impl AttachedCrawl {
    /// Keeps what a tab has found. Returns the pages that the cluster has not heard of.
    fn add_found(&self, found: &[(StateKey, FoundPage)]) -> Vec<SeenPage> {
        let add = |(state, found): &(StateKey, FoundPage)| self.archive.add_found(*state, found);
        let seen = found.iter().filter_map(add).collect();
        let mut pages = self.context.pages.lock();
        found.iter().for_each(|(state, _)| pages.mark_reported(*state));
        seen
    }
}

/// The crawl that a tab works for.
#[derive(Clone)]
pub struct Attachment {
    /// Its name.
    pub id: CrawlId,
    /// The tab's name in the crawl.
    pub crawler: CrawlerId,
    /// What is known of it.
    pub crawl: Arc<AttachedCrawl>,
}

/// A message for a tab.
pub struct TabMessage {
    /// The name of the tab when the message was sent.
    pub crawler: CrawlerId,
    /// What it says.
    pub instruction: TabInstruction,
    /// Its bytes count as waiting until it is dropped.
    pub _room: OwnedSemaphorePermit,
}

/// What a tab is told.
pub enum TabInstruction {
    /// By a controller of a ring.
    Ring(ToCrawler),
    /// By the coordinator of a star.
    Star(ToNode),
}

/// One tab, as its thread runs it.
pub struct ClusterTab {
    /// Its number in the process.
    pub number: u32,
    /// Where its messages go.
    pub outbox: Outbox,
    /// The crawl that it works for.
    pub attachments: watch::Receiver<Option<Attachment>>,
    /// Messages for it.
    pub messages: mpsc::Receiver<TabMessage>,
}

/// What a tab keeps of a crawl while it is attached to it, whichever controller attaches it.
struct Session {
    id: CrawlId,
    crawler: Option<Crawler>,
    unreported: Unreported,
    ring: RingSession,
    star: StarSession,
}

/// What a tab has spent and learned since its last report.
#[derive(Default)]
struct Unreported {
    spent: Spent,
    times: TabTimes,
    /// Something about pages was learned.
    has_learned: bool,
    /// The browser gave no tab, or the page could not be loaded: the next work waits a little.
    pauses: bool,
    /// It was said that the crawl cannot go on.
    has_told_trouble: bool,
}

impl Unreported {
    fn add(&mut self, report: &JobReport) {
        self.spent = self.spent.plus(report.cost.spent);
        self.has_learned |= report.learned;
    }
}

impl ClusterTab {
    /// Works for the attached crawl until the process ends.
    pub async fn run(self, browsers: Rc<Browsers>) {
        let Self { number, outbox, mut attachments, mut messages } = self;
        let mut session: Option<Session> = None;
        loop {
            let attached = attachments.borrow_and_update().clone();
            let Some(attached) = attached else {
                if attachments.changed().await.is_err() {
                    return;
                }
                continue;
            };
            let mut present = match session.take().filter(|session| session.id == attached.id) {
                Some(mut session) => {
                    session.ring.resume(attached.crawler);
                    session
                }
                None => Session {
                    id: attached.id,
                    crawler: None,
                    unreported: Unreported::default(),
                    ring: RingSession::new(attached.crawler),
                    star: StarSession::default(),
                },
            };
            let Session { crawler, unreported, ring, star, .. } = &mut present;
            let home = Home {
                number,
                outbox: &outbox,
                attached: &attached,
                attachments: &mut attachments,
                has_moved: false,
                messages: &mut messages,
                deferred: VecDeque::new(),
                unreported,
            };
            serve(&browsers, crawler, home, ring, star).await;
            if attachments.has_changed().is_err() {
                return; // The process ends.
            }
            session = Some(present);
        }
    }
}

/// Executes jobs of the attached crawl until the tab is attached elsewhere. The job under way then
/// is ended and reported.
async fn serve(
    browsers: &Browsers,
    crawler: &mut Option<Crawler>,
    home: Home<'_>,
    ring: &mut RingSession,
    star: &mut StarSession,
) {
    let crawl = &home.attached.crawl;
    if crawl.spec.order.division().is_some() {
        // The order was checked when the crawl began.
        if let Ok(mut jobs) = StarJobs::new(home, star) {
            drive_tab(browsers, &crawl.context, crawler, &mut jobs).await;
        }
    } else {
        drive_tab(browsers, &crawl.context, crawler, &mut RingJobs::new(home, ring)).await;
    }
}

/// The connection of a tab to the controller that its process is attached to.
struct Home<'a> {
    number: u32,
    outbox: &'a Outbox,
    attached: &'a Attachment,
    attachments: &'a mut watch::Receiver<Option<Attachment>>,
    /// The tab is attached elsewhere now.
    has_moved: bool,
    messages: &'a mut mpsc::Receiver<TabMessage>,
    /// Messages that arrived while the tab waited for another one.
    deferred: VecDeque<TabMessage>,
    unreported: &'a mut Unreported,
}

impl Home<'_> {
    fn archive(&self) -> &Archive {
        &self.attached.crawl.archive
    }

    /// What the process has spent, and the tab's time since its last report.
    fn take_costs(&mut self) -> (ProcessSpent, TabTimes) {
        let spent = std::mem::take(&mut self.unreported.spent);
        let spent = self.outbox.spend(self.attached.id, spent);
        (spent, std::mem::take(&mut self.unreported.times))
    }

    async fn send(&self, message: FromCrawler) {
        self.outbox.send(message).await;
    }

    /// Whether the tab is attached elsewhere now, or the process ends.
    fn has_moved(&self) -> bool {
        self.has_moved || self.attachments.has_changed().unwrap_or(true)
    }

    /// The next message; `None` once the tab is attached elsewhere.
    async fn recv(&mut self) -> Option<TabMessage> {
        if let Some(message) = self.deferred.pop_front() {
            return Some(message);
        }
        if self.has_moved() {
            return None;
        }
        tokio::select! {
            message = self.messages.recv() => message,
            _ = self.attachments.changed() => {
                self.has_moved = true;
                None
            }
        }
    }

    fn try_recv(&mut self) -> Option<TabMessage> {
        self.deferred.pop_front().or_else(|| self.messages.try_recv().ok())
    }

    /// The cluster says what a state is like.
    fn on_like(&self, state: StateKey, content: Option<ContentId>) {
        if let Some(content) = content {
            self.archive().name(state, content);
        }
    }

    /// Concludes the last work: pauses if it calls for that, and sends what was learned
    /// about pages.
    async fn conclude_work(&mut self) {
        if std::mem::take(&mut self.unreported.pauses) {
            tokio::time::sleep(PAUSE).await;
        }
        if !self.unreported.has_told_trouble
            && let Some(trouble) = self.attached.crawl.context.session.trouble()
        {
            self.send(FromCrawler::Trouble(self.attached.id, trouble)).await;
            self.unreported.has_told_trouble = true;
        }
        if self.unreported.has_learned {
            let findings = self.attached.crawl.context.pages.lock().findings();
            if !findings.is_empty() {
                self.send(FromCrawler::Volatile(self.attached.id, findings)).await;
            }
            self.unreported.has_learned = false;
        }
    }

    /// Asks what the states on a job's walk are like, and waits for the answers.
    async fn learn_walk(&mut self, job: &Job, crawler: &Crawler) -> Result<(), NotBegun> {
        let unknown = job.walk.iter().map(|step| step.to).filter(|&key| !crawler.knows(key));
        let mut unknown: BTreeSet<StateKey> = unknown.collect();
        if unknown.is_empty() {
            return Ok(());
        }
        for &state in &unknown {
            let want = FromCrawler::Want(self.attached.id, self.attached.crawler, state);
            self.send(want).await;
        }
        let answers = async {
            while !unknown.is_empty() {
                let Some(message) = self.messages.recv().await else { return };
                match message.instruction {
                    TabInstruction::Ring(ToCrawler::Like(state, content)) => {
                        self.on_like(state, content);
                        unknown.remove(&state);
                    }
                    _ => self.deferred.push_back(message),
                }
            }
        };
        let _ = timeout(WALK_ANSWER, answers).await;
        if job.walk.iter().all(|step| crawler.knows(step.to)) {
            Ok(())
        } else if unknown.is_empty() {
            Err(NotBegun::WalkUnknown)
        } else {
            Err(NotBegun::WalkUnanswered)
        }
    }
}

/// How long to wait for an answer after some attempts in vain.
fn retry_after(attempts: u32) -> Duration {
    RETRY * 2u32.pow(attempts.min(MOST_DOUBLINGS))
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The time from a report to the next task counts unless there was none for the tab to do.
fn asking_time(waited: Duration) -> u64 {
    Some(microseconds(waited)).filter(|&time| time <= TabTimes::IDLE).unwrap_or_default()
}
