//! Simulated crawlers over a real network. Each has its own connection and reports at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use argiope_controller::job::CrawlerId;
use argiope_controller::job::Route;
use argiope_controller::peer::message::{Task, TaskReport, ToCrawler};
use argiope_controller::spent::{Spent, WriterId};
use argiope_explore::id::StateKey;
use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::protocol::{
    CrawlId, FirstLook, FromCrawler, TabTimes, ToTabs, decode, encode,
};
use argiope_sim::crawler::{SimulatedCrawler, World};
use argiope_wire::{Hello, Role, Sender};
use tokio::time::timeout;

/// The time without a task after which a crawler repeats its report.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// Counts over all connections.
#[derive(Default)]
pub struct LoadCounts {
    /// Open connections.
    pub connected: usize,
    /// Jobs executed.
    pub jobs: u64,
    /// Frames in both directions.
    pub frames: u64,
    /// Bytes in both directions.
    pub bytes: u64,
    /// The times from a report to the next job.
    pub waits: Vec<Duration>,
    /// The time of the last job.
    pub last: Option<Instant>,
}

/// The application, which lives as long as the process.
pub type LoadApplication = &'static World<'static>;

impl LoadCounts {
    fn on_job(&mut self, waited: Duration, now: Instant) {
        self.jobs += 1;
        self.waits.push(waited);
        self.last = Some(now);
    }
}

struct Tab {
    sender: Sender,
    writer: WriterId,
    simulated: SimulatedCrawler,
    works_for: Option<(CrawlId, CrawlerId)>,
    number: u64,
    route: Option<Route>,
    last: Option<TaskReport>,
    described: Rc<RefCell<BTreeSet<StateKey>>>,
    reported: Instant,
    counted: Rc<RefCell<LoadCounts>>,
}

/// Works for a controller until the connection is closed.
pub async fn crawl(
    switch: Switch,
    address: String,
    number: u64,
    world: LoadApplication,
    counted: Rc<RefCell<LoadCounts>>,
    told: Rc<RefCell<BTreeSet<StateKey>>>,
) {
    let hello = Hello::new(
        &switch.me.cluster,
        Role::Crawler,
        switch.me.name.wrapping_add(1 + u128::from(number)),
    );
    let Ok(connection) = switch.transport.dial(&address, &hello, &switch.limits).await else {
        return;
    };
    let (sender, mut receiver) = connection.split();
    let mut tab = Tab {
        sender,
        writer: WriterId(hello.name),
        simulated: SimulatedCrawler::new(&[number, 0xBE7C]),
        works_for: None,
        number: 0,
        route: None,
        last: None,
        described: told,
        reported: Instant::now(),
        counted,
    };
    tab.counted.borrow_mut().connected += 1;
    tab.send(&FromCrawler::Tabs(1)).await;
    loop {
        let Ok(received) = timeout(REPEAT_AFTER, receiver.recv()).await else {
            // The report or its answer was lost.
            if let Some(last) = tab.last.clone() {
                tab.report(TaskReport { again: true, ..last }).await;
            }
            continue;
        };
        let Ok(Some(frame)) = received else { break };
        tab.count(frame.len());
        match decode::<ToTabs>(&frame) {
            Some(ToTabs::Attach(_, works_for)) => {
                tab.works_for = works_for;
                if let Some((_, crawler)) = works_for {
                    tab.report(TaskReport::new(crawler, 0)).await;
                }
            }
            Some(ToTabs::ForTab(_, _, ToCrawler::Task(task), _)) => tab.perform(world, task).await,
            Some(ToTabs::Probe(number, order, _)) => {
                let first = FirstLook {
                    origin: order.settings.url.into(),
                    masks: argiope_explore::identity::Masks::default(),
                    endless: BTreeSet::new(),
                };
                tab.send(&FromCrawler::Probed(number, Ok(first))).await;
            }
            _ => {}
        }
    }
    tab.counted.borrow_mut().connected -= 1;
}

impl Tab {
    fn count(&self, bytes: usize) {
        let mut counted = self.counted.borrow_mut();
        counted.frames += 1;
        // A frame has four bytes for its length.
        counted.bytes += bytes as u64 + 4;
    }

    async fn send(&self, message: &FromCrawler) {
        let frame = encode(message);
        self.count(frame.len());
        // If the connection is closed, the receiver notices.
        let _ = self.sender.send(frame).await;
    }

    async fn report(&mut self, report: TaskReport) {
        let Some((crawl, _)) = self.works_for else { return };
        self.number += 1;
        self.reported = Instant::now();
        self.route.clone_from(&report.route);
        let report = TaskReport { number: self.number, ..report };
        self.last = Some(report.clone());
        self.send(&FromCrawler::Report(
            crawl,
            report,
            (self.writer, Spent { actions: self.number, resets: 0 }),
            TabTimes::default(),
            Vec::new(),
        ))
        .await;
    }

    async fn perform(&mut self, world: LoadApplication, task: Task) {
        let Some((crawl, crawler)) = self.works_for else { return };
        if task.number != self.number {
            self.send(&FromCrawler::Returned(crawl, task.id)).await;
            return;
        }
        let now = Instant::now();
        let waited = now - self.reported;
        self.counted.borrow_mut().on_job(waited, now);
        let mut report = match &task.job {
            None => TaskReport {
                at: Some(self.simulated.load(world)),
                route: Some(Route::default()),
                task: Some(task.id),
                ..TaskReport::new(crawler, 0)
            },
            Some(job) => {
                let ended = self.simulated.perform(world, job);
                TaskReport::of(crawler, 0, &task, ended, self.route.as_ref())
            }
        };
        if let Some(at) = &mut report.at {
            let is_new = self.described.borrow_mut().insert(at.key);
            at.offers = at.offers.take().filter(|_| is_new || task.look);
        }
        self.report(report).await;
    }
}
