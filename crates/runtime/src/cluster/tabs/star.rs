//! A tab of a crawl whose work is divided in advance: it finds its own tasks, and tells the coordinator what came of them.
//! The deciding is `controller::star::Node`, as the simulator runs it.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use argiope_controller::job::Job;
use argiope_controller::journal::ContentId;
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};
use argiope_controller::peer::message::ToCrawler;
use argiope_controller::spent::Spent;
use argiope_controller::star::node::{NodeEffect, NodeInput, Performed, StarNode};
use argiope_controller::star::{NodeReport, ToNode};
use argiope_explore::id::StateKey;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{
    Attached, LIKE, MOST_DOUBLINGS, PATIENCE, PAUSE, Session, TabContext, TabInstruction,
    TabMessage, learn, microseconds, take_crawler, tell_volatile,
};
use crate::cluster::contents;
use crate::cluster::crawl_state;
use crate::cluster::protocol::{FromCrawler, TabTimes};
use crate::crawler::{Crawler, JobReport};

/// What was done is told at least so often, for those who watch, and so that little is lost with a crawler.
const TELLS: Duration = Duration::from_secs(1);

/// One tab that serves a star.
struct Serving<'a> {
    office: &'a TabContext,
    attached: &'a Attached,
    session: &'a mut Session,
    given: &'a mut mpsc::Receiver<TabMessage>,
    /// What the coordinator said while the tab was busy.
    news: VecDeque<ToNode>,
    /// When something was told last, whether an answer is waited for, and how often it was in vain.
    told: Instant,
    waits: bool,
    in_vain: u32,
}

/// Performs and tells, without end. Can be abandoned; whoever serves next goes on with what the tab knows.
pub async fn serve(
    office: &TabContext,
    attached: &Attached,
    session: &mut Session,
    given: &mut mpsc::Receiver<TabMessage>,
) {
    let order = &attached.crawl.spec.order;
    // It was checked when the crawl began.
    let Ok(strategy) = crawl_state::nodes_strategy(order) else {
        return std::future::pending().await;
    };
    let mut effects = Vec::new();
    match &mut session.node {
        Some(node) => node.handle(NodeInput::Renamed(attached.crawler), &mut effects),
        None => {
            let mut node = StarNode::new(attached.crawler, strategy, crawl_state::exploring(order));
            node.handle(NodeInput::Start, &mut effects);
            session.node = Some(node);
        }
    }
    let (news, told) = (VecDeque::new(), Instant::now());
    let mut serving =
        Serving { office, attached, session, given, news, told, waits: false, in_vain: 0 };
    serving.run(effects).await;
}

impl Serving<'_> {
    async fn run(&mut self, effects: Vec<NodeEffect>) {
        let mut effects = VecDeque::from(effects);
        let mut idle = Instant::now();
        loop {
            let began = Instant::now();
            let input = match effects.pop_front() {
                Some(NodeEffect::Send(tell)) => {
                    self.send(tell).await;
                    continue;
                }
                Some(NodeEffect::Load) => Some(self.load().await),
                Some(NodeEffect::Perform(job)) => Some(self.perform(&job).await),
                // If it is over, its home will attach it elsewhere.
                Some(NodeEffect::Finished) | None if effects.is_empty() => {
                    self.wait().await;
                    None
                }
                Some(NodeEffect::Finished) | None => continue,
            };
            if input.is_some() {
                let asked = microseconds(began - idle).filter(|&time| time <= TabTimes::IDLE);
                self.session.times.asking += asked.unwrap_or_default();
                self.session.times.acting += microseconds(began.elapsed()).unwrap_or_default();
                idle = Instant::now();
            }
            self.decide(input, &mut effects);
        }
    }

    /// What was heard meanwhile is known before it is decided what to do next.
    fn decide(&mut self, input: Option<NodeInput>, effects: &mut VecDeque<NodeEffect>) {
        while let Ok(given) = self.given.try_recv() {
            self.hear(given);
        }
        let Some(node) = &mut self.session.node else { return };
        let mut more = Vec::new();
        for told in self.news.drain(..) {
            (self.waits, self.in_vain) = (false, 0);
            node.handle(NodeInput::Received(told), &mut more);
        }
        if let Some(input) = input {
            node.handle(input, &mut more);
        }
        let says = more.iter().any(|effect| matches!(effect, NodeEffect::Send(_)));
        if !says && self.told.elapsed() >= patience(self.waits, self.in_vain) {
            self.in_vain += u32::from(self.waits);
            node.handle(NodeInput::Remind, &mut more);
            self.told = Instant::now();
        }
        effects.extend(more);
    }

    /// Waits for somebody to say something, or until it is time to say something oneself.
    async fn wait(&mut self) {
        let left = patience(self.waits, self.in_vain).saturating_sub(self.told.elapsed());
        if let Ok(given) = timeout(left, self.given.recv()).await {
            match given {
                Some(given) => _ = self.hear(given),
                // The process ends.
                None => std::future::pending().await,
            }
        }
    }

    /// Says which state it was told about, if it was told about one.
    fn hear(&mut self, TabMessage { crawler, told }: TabMessage) -> Option<StateKey> {
        match told {
            TabInstruction::Star(told) if crawler == self.attached.crawler => {
                self.news.push_back(told)
            }
            TabInstruction::Ring(ToCrawler::Like(state, content)) => {
                learn(self.attached, state, content);
                return Some(state);
            }
            TabInstruction::Star(_)
            | TabInstruction::Ring(ToCrawler::Task(_) | ToCrawler::Finished) => {}
        }
        None
    }

    async fn send(&mut self, tell: NodeReport) {
        let archive = &self.attached.crawl.archive;
        let blobs = tell.contents().filter_map(|content| archive.blob(content)).collect();
        let mut frames = contents::in_frames(self.office.outbox.unsent(blobs));
        let last = frames.pop().unwrap_or_default();
        for blobs in frames {
            self.office.outbox.send(FromCrawler::Blobs(blobs)).await;
        }
        let spent = std::mem::take(&mut self.session.spent);
        let times = std::mem::take(&mut self.session.times);
        (self.told, self.waits) = (Instant::now(), true);
        self.office
            .outbox
            .send(FromCrawler::Told(self.attached.id, tell, spent, times, last))
            .await;
    }

    async fn load(&mut self) -> NodeInput {
        let Some(mut crawler) = take_crawler(self.office, self.attached, self.session).await else {
            return NodeInput::NotLoaded;
        };
        let Ok((mut at, found)) = crawler.load().await else {
            if !self.office.browsers.discard(crawler.tab()) {
                tokio::time::sleep(PAUSE).await;
            }
            return NodeInput::NotLoaded;
        };
        self.session.spent.resets += 1;
        self.attached.crawl.take_in(&found);
        let content = self.describe(&mut at, &crawler);
        self.session.crawler = Some(crawler);
        NodeInput::Loaded(at, content)
    }

    /// Where the tab stands, as the node wants to know it.
    fn describe(&self, at: &mut Sighting, crawler: &Crawler) -> Option<ContentId> {
        at.offers = crawler.offers();
        self.attached.crawl.archive.name_of(at.key)
    }

    async fn perform(&mut self, job: &Job) -> NodeInput {
        let Some(mut crawler) = take_crawler(self.office, self.attached, self.session).await else {
            return NodeInput::NotBegun;
        };
        match self.know_the_way(job, &crawler).await {
            Way::Known => {}
            Way::Unanswered => {
                self.session.crawler = Some(crawler);
                return NodeInput::NotBegun;
            }
            Way::Unknown => {
                self.session.crawler = Some(crawler);
                let outcome = Outcome::Failed { went_right: 0, reason: JobFailure::Lost };
                let spent = Spent::default();
                return NodeInput::Performed(Performed { outcome, spent, content: None });
            }
        }
        let JobReport { mut outcome, spent, found, learned } = crawler.perform(job).await;
        self.office.browsers.discard(crawler.tab());
        let spent = Spent { actions: spent.actions, resets: spent.resets };
        self.session.spent = self.session.spent.plus(spent);
        if learned {
            tell_volatile(self.office, self.attached).await;
        }
        self.attached.crawl.take_in(&found);
        let content = match &mut outcome {
            Outcome::Done { at, .. } | Outcome::Elsewhere { at, .. } => {
                let content = self.describe(at, &crawler);
                self.session.crawler = Some(crawler);
                content
            }
            // The next job has a new tab.
            Outcome::Failed { .. } => None,
        };
        NodeInput::Performed(Performed { outcome, spent, content })
    }

    /// Sees to it that the tab knows the states that it is to walk through.
    async fn know_the_way(&mut self, job: &Job, crawler: &Crawler) -> Way {
        let unknown = job.walk.iter().map(|step| step.to).filter(|&key| !crawler.knows(key));
        let mut unknown: BTreeSet<StateKey> = unknown.collect();
        for &state in &unknown {
            let want = FromCrawler::Want(self.attached.id, self.attached.crawler, state);
            self.office.outbox.send(want).await;
        }
        let learning = async {
            while !unknown.is_empty() {
                let Some(given) = self.given.recv().await else { return };
                if let Some(state) = self.hear(given) {
                    unknown.remove(&state);
                }
            }
        };
        let _ = timeout(LIKE, learning).await;
        if job.walk.iter().all(|step| crawler.knows(step.to)) {
            Way::Known
        } else if unknown.is_empty() {
            Way::Unknown
        } else {
            Way::Unanswered
        }
    }
}

/// How long it is before something is said again that was not answered, or something more is said.
fn patience(waits: bool, in_vain: u32) -> Duration {
    if waits { PATIENCE * 2u32.pow(in_vain.min(MOST_DOUBLINGS)) } else { TELLS }
}

/// Whether the states are known that a tab is to walk through.
enum Way {
    Known,
    /// Nobody can tell what they are like.
    Unknown,
    /// Nobody has answered.
    Unanswered,
}
