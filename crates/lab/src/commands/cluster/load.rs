//! Simulated crawlers over the real network: each has a connection of its own and answers at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use argiope_controller::job::CrawlerId;
use argiope_controller::job::Route;
use argiope_controller::peer::message::{Task, TaskReport, ToCrawler};
use argiope_controller::spent::Spent;
use argiope_explore::id::StateKey;
use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::protocol::{
    CrawlId, FirstLook, FromCrawler, TabTimes, ToTabs, decode, encode,
};
use argiope_sim::crawler::{SimulatedCrawler, World};
use argiope_wire::{Hello, Role, Sender};
use tokio::time::timeout;

/// Whoever was told nothing for so long says again where it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was counted on all connections together.
#[derive(Default)]
pub struct Counted {
    /// Connections that are there.
    pub connected: usize,
    /// Jobs done.
    pub jobs: u64,
    /// Frames and bytes, both ways.
    pub frames: u64,
    pub bytes: u64,
    /// How long it took from a report to the next job, each.
    pub waits: Vec<Duration>,
    /// When a job was last given.
    pub last: Option<Instant>,
}

/// The application, for as long as the process lives.
pub type LoadApplication = &'static World<'static>;

impl Counted {
    fn gave(&mut self, waited: Duration, now: Instant) {
        self.jobs += 1;
        self.waits.push(waited);
        self.last = Some(now);
    }
}

struct Tab {
    sender: Sender,
    simulated: SimulatedCrawler,
    works_for: Option<(CrawlId, CrawlerId)>,
    number: u64,
    route: Option<Route>,
    last: Option<TaskReport>,
    told: Rc<RefCell<BTreeSet<StateKey>>>,
    said: Instant,
    counted: Rc<RefCell<Counted>>,
}

/// Works for a controller until the connection ends.
pub async fn crawl(
    switch: Switch,
    address: String,
    number: u64,
    world: LoadApplication,
    counted: Rc<RefCell<Counted>>,
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
        simulated: SimulatedCrawler::new(&[number, 0xBE7C]),
        works_for: None,
        number: 0,
        route: None,
        last: None,
        told,
        said: Instant::now(),
        counted,
    };
    tab.counted.borrow_mut().connected += 1;
    tab.say(&FromCrawler::Tabs(1)).await;
    loop {
        let Ok(received) = timeout(PATIENCE, receiver.recv()).await else {
            // What it said is lost with somebody.
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
            Some(ToTabs::Probe(number, order)) => {
                let first = FirstLook {
                    origin: order.settings.url,
                    masks: argiope_explore::identity::Masks::default(),
                };
                tab.say(&FromCrawler::Probed(number, Ok(first))).await;
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
        // Four bytes say how long a frame is.
        counted.bytes += bytes as u64 + 4;
    }

    async fn say(&self, message: &FromCrawler) {
        let frame = encode(message);
        self.count(frame.len());
        // If the connection is over, the next thing to be received says so.
        let _ = self.sender.send(frame).await;
    }

    async fn report(&mut self, report: TaskReport) {
        let Some((crawl, _)) = self.works_for else { return };
        self.number += 1;
        self.said = Instant::now();
        self.route.clone_from(&report.route);
        let report = TaskReport { number: self.number, ..report };
        self.last = Some(report.clone());
        self.say(&FromCrawler::Report(
            crawl,
            report,
            Spent { actions: 1, resets: 0 },
            TabTimes::default(),
            Vec::new(),
        ))
        .await;
    }

    async fn perform(&mut self, world: LoadApplication, task: Task) {
        let Some((crawl, crawler)) = self.works_for else { return };
        if task.number != self.number {
            self.say(&FromCrawler::Returned(crawl, task.id)).await;
            return;
        }
        let now = Instant::now();
        let waited = now - self.said;
        self.counted.borrow_mut().gave(waited, now);
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
            let untold = self.told.borrow_mut().insert(at.key);
            at.offers = at.offers.take().filter(|_| untold || task.look);
        }
        self.report(report).await;
    }
}
