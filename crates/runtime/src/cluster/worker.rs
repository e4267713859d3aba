//! A crawler as a process: browsers for a ring. It only dials out: to one controller, its home, and to another when
//! that one is gone. Its tabs do what they are told, whoever tells; see `tabs`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use argiope_browser::agent::AgentSettings;
use argiope_browser::{LaunchError, LaunchSettings};
use argiope_controller::job::CrawlerId;
use argiope_explore::id::StateKey;
use argiope_explore::identity;
use argiope_wire::{Connection, DialError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

use super::connections::Switch;
use super::protocol::{
    CrawlId, CrawlSpec, FirstLook, FromCrawler, Order, SeenPage, ToTabs, decode, encode,
};
use super::tabs::{self, Archive, Attached, Outbox, TabInstruction, TabMessage};
use crate::browsers::{BrowserFactory, Browsers};
use crate::page_index::{PageIndex, SharedPageIndex};
use crate::probe;
use crate::settings::Scope;
use crate::store::FoundPage;
use crate::{selectors, work};

/// Between two attempts to reach a controller.
const PAUSE: Duration = Duration::from_millis(500);
/// So long it tries to find a controller at all before it gives up.
const LONGEST_SEARCH: Duration = Duration::from_secs(60);
/// How often it looks at the memory of its browser.
const WEIGHING: Duration = Duration::from_secs(5);

/// What a crawler needs.
pub struct CrawlerPlan {
    /// Connections.
    pub switch: Switch,
    /// Where controllers listen.
    pub controllers: Vec<String>,
    /// How many tabs.
    pub tabs: u32,
    /// How browsers are started.
    pub browser: LaunchSettings,
    /// How much memory the browser may take before it is replaced, in megabytes.
    pub browser_mb: u32,
    /// The name of the agent in the page.
    pub secret: String,
    /// To leave in order.
    pub leave: Arc<Notify>,
}

/// Why a crawler ended otherwise than in order.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The browser does not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// No controller can be reached.
    #[error("no controller can be reached: {0}")]
    Alone(DialError),
    /// A controller does not want it.
    #[error(transparent)]
    Refused(DialError),
}

/// What a crawler knows of a crawl.
pub struct AttachedCrawl {
    /// What it is.
    pub spec: CrawlSpec,
    /// What pages are like.
    pub knowledge: SharedPageIndex,
    /// What states are like.
    pub archive: Rc<Archive>,
    /// For new tabs.
    pub agent: AgentSettings,
}

impl AttachedCrawl {
    /// Keeps what a tab has found; what the ring has not heard of.
    pub fn take_in(&self, found: &[(StateKey, FoundPage)]) -> Vec<SeenPage> {
        let mut knowledge = self.knowledge.lock();
        found.iter().for_each(|(state, _)| knowledge.told(*state));
        found.iter().filter_map(|(state, found)| self.archive.take_in(*state, found)).collect()
    }
}

struct Tab {
    attached: watch::Sender<Option<Attached>>,
    given: mpsc::Sender<TabMessage>,
    task: JoinHandle<()>,
}

struct Worker {
    browsers: Rc<Browsers>,
    secret: String,
    crawls: BTreeMap<CrawlId, Rc<AttachedCrawl>>,
    tabs: Vec<Tab>,
    outbox: Outbox,
}

/// Works until it is told to leave. Must run in a `LocalSet`.
pub async fn run(plan: CrawlerPlan, say: &mut dyn FnMut(&str)) -> Result<(), WorkerError> {
    let CrawlerPlan { switch, controllers, tabs, browser, browser_mb, secret, leave } = plan;
    let mut known: BTreeSet<String> = controllers.iter().cloned().collect();
    // Whoever is not there says so before a browser is started.
    let mut connection = find_home(&switch, &controllers, &known, None).await?;
    let fleet = Arc::new(BrowserFactory::new(browser, u64::from(browser_mb) << 20));
    let browsers = Rc::new(Browsers::launch(fleet).await?);
    // Whoever waits for work has time for it.
    tokio::task::spawn_local(browsers.clone().open_ahead(tabs));
    let (outgoing, mut outgo) = mpsc::channel(1024);
    let outbox = Outbox::new(outgoing);
    let mut worker = Worker {
        browsers: browsers.clone(),
        secret,
        crawls: BTreeMap::new(),
        tabs: Vec::new(),
        outbox,
    };
    for number in 0..tabs {
        worker.open(number);
    }
    let mut weighing = tokio::time::interval(WEIGHING);
    loop {
        let home = connection.peer.address.clone().unwrap_or_default();
        say(&format!("attached to the controller at {}", shown(&home)));
        let (sender, mut receiver) = connection.split();
        worker.outbox.forget_sent();
        while outgo.try_recv().is_ok() {}
        let _ = sender.send(encode(&FromCrawler::Tabs(tabs))).await;
        let left = loop {
            tokio::select! {
                frame = receiver.recv() => match frame {
                    Ok(Some(frame)) => match decode::<ToTabs>(&frame) {
                        Some(ToTabs::Leaving) => break false,
                        Some(ToTabs::Members(members)) => {
                            known.extend(members.into_iter().map(|member| member.address));
                        }
                        Some(message) => worker.hear(message),
                        None => break false,
                    },
                    Ok(None) | Err(_) => break false,
                },
                Some(message) = outgo.recv() => {
                    if sender.send(encode(&message)).await.is_err() {
                        break false;
                    }
                }
                _ = weighing.tick() => {
                    // If it cannot be replaced, the next tab will say so.
                    let _ = browsers.watch_memory().await;
                }
                () = leave.notified() => break true,
            }
        };
        worker.rest();
        if left {
            // What tabs have under way is given back.
            worker.give_back().await;
            let _ = sender.send(encode(&FromCrawler::Leaving)).await;
            while let Ok(message) = outgo.try_recv() {
                let _ = sender.send(encode(&message)).await;
            }
            let _ = tokio::time::timeout(Duration::from_secs(2), sender.finish()).await;
            return Ok(());
        }
        say(&format!("the controller at {} is gone", shown(&home)));
        connection = tokio::select! {
            found = find_home(&switch, &controllers, &known, Some(&home)) => found?,
            () = leave.notified() => return Ok(()),
        };
    }
}

fn shown(text: &str) -> String {
    argiope_explore::quoted::Escaped(text, 100).to_string()
}

/// Dials controllers in turn until one answers: first those that were given, then those that were heard of; the one that
/// is gone last of all.
async fn find_home(
    switch: &Switch,
    given: &[String],
    known: &BTreeSet<String>,
    gone: Option<&str>,
) -> Result<Connection, WorkerError> {
    let until = tokio::time::Instant::now() + LONGEST_SEARCH;
    let heard = known.iter().filter(|address| !given.contains(address));
    let mut addresses: Vec<&String> = given.iter().chain(heard).collect();
    addresses.sort_by_key(|address| gone == Some(address.as_str()));
    loop {
        let mut last = None;
        for address in &addresses {
            match switch.transport.dial(address, &switch.me, &switch.limits).await {
                Ok(connection) => return Ok(connection),
                Err(error @ DialError::Unreachable { .. }) => last = Some(error),
                Err(error) => return Err(WorkerError::Refused(error)),
            }
        }
        match last {
            Some(error) if tokio::time::Instant::now() > until || gone.is_none() => {
                return Err(WorkerError::Alone(error));
            }
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl Worker {
    fn open(&mut self, number: u32) {
        let (attached, attachments) = watch::channel(None);
        let (given, tasks) = mpsc::channel(64);
        let office = tabs::TabContext {
            browsers: self.browsers.clone(),
            outbox: self.outbox.clone(),
            number,
        };
        let task = tokio::task::spawn_local(tabs::run(office, attachments, tasks));
        self.tabs.push(Tab { attached, given, task });
    }

    /// Nobody is there to work for.
    fn rest(&mut self) {
        for tab in &self.tabs {
            tab.attached.send_replace(None);
        }
    }

    /// Ends all tabs at once; what they had under way is given back.
    async fn give_back(&mut self) {
        for tab in &self.tabs {
            tab.task.abort();
        }
        let under_way = self.outbox.under_way();
        for (crawl, answer) in under_way {
            self.outbox.send(FromCrawler::Returned(crawl, answer)).await;
        }
    }

    fn hear(&mut self, message: ToTabs) {
        match message {
            ToTabs::Crawl(id, spec) => self.introduce(id, *spec),
            ToTabs::Attach(tab, works_for) => {
                let attached = works_for.and_then(|(id, crawler)| {
                    let crawl = self.crawls.get(&id)?.clone();
                    Some(Attached { id, crawler, crawl })
                });
                if let Some(tab) = self.tabs.get(tab as usize) {
                    tab.attached.send_replace(attached);
                }
                self.forget_unused();
            }
            ToTabs::Tell(id, crawler, told, blobs) => {
                let Some(crawl) = self.crawls.get(&id) else { return };
                for blob in blobs {
                    self.outbox.note_sent(blob.content);
                    crawl.archive.keep(blob);
                }
                self.give(crawler, TabInstruction::Ring(told));
            }
            ToTabs::Page(id, raw, page) => {
                let Some(crawl) = self.crawls.get(&id) else { return };
                page.iter().for_each(|(_, blob)| self.outbox.note_sent(blob.content));
                crawl.archive.answered(raw, page);
            }
            ToTabs::News(_, crawler, told) => self.give(crawler, TabInstruction::Star(told)),
            ToTabs::Probe(number, order) => {
                let (browsers, secret, outbox) =
                    (self.browsers.clone(), self.secret.clone(), self.outbox.clone());
                tokio::task::spawn_local(async move {
                    let first = first_look(&browsers, secret, &order).await;
                    outbox.send(FromCrawler::Probed(number, first)).await;
                });
            }
            ToTabs::Volatile(id, masks) => {
                if let Some(crawl) = self.crawls.get(&id) {
                    crawl.knowledge.lock().state_masks.merge(masks);
                }
            }
            ToTabs::Members(_) | ToTabs::Leaving => {}
        }
    }

    /// Tells a tab something. One that does not take it has more than it can do; it will ask again.
    fn give(&self, crawler: CrawlerId, told: TabInstruction) {
        let works = |tab: &&Tab| {
            tab.attached.borrow().as_ref().is_some_and(|attached| attached.crawler == crawler)
        };
        if let Some(tab) = self.tabs.iter().find(works) {
            let _ = tab.given.try_send(TabMessage { crawler, told });
        }
    }

    fn introduce(&mut self, id: CrawlId, spec: CrawlSpec) {
        // Every controller was told the same, so that it was checked; but one may be of another version.
        let Some(identity) = identity::find(&spec.order.settings.identity) else { return };
        if self.crawls.contains_key(&id) {
            return;
        }
        let mut knowledge = PageIndex::new(identity);
        knowledge.masks = spec.first.masks.clone();
        let Ok(agent) = agent(&spec.order, self.secret.clone(), Some(&spec.first)) else { return };
        let asks = spec.order.division().is_none().then(|| self.outbox.clone());
        let crawl = AttachedCrawl {
            spec,
            knowledge: SharedPageIndex::new(knowledge),
            archive: Rc::new(Archive::new(id, asks)),
            agent,
        };
        self.crawls.insert(id, Rc::new(crawl));
    }

    /// A crawl that no tab works for is told again when one does.
    fn forget_unused(&mut self) {
        let used: BTreeSet<CrawlId> = self
            .tabs
            .iter()
            .filter_map(|tab| tab.attached.borrow().as_ref().map(|attached| attached.id))
            .collect();
        if self.crawls.len() > used.len() + 8 {
            self.crawls.retain(|id, _| used.contains(id));
        }
    }
}

/// How pages are looked at in a crawl.
fn agent(
    order: &Order,
    secret: String,
    first: Option<&FirstLook>,
) -> Result<AgentSettings, String> {
    let settings = &order.settings;
    let scope = Scope::of(&settings.url)?;
    let there = first.and_then(|first| Scope::of(&first.origin).ok());
    let there = there.filter(|there| there.origin != scope.origin).unwrap_or(scope);
    Ok(work::agent(
        settings,
        secret,
        there,
        first.map(|first| probe::blanks(&first.masks)).unwrap_or_default(),
    ))
}

/// Loads the first page twice: is it one, where is it, and what of it changes by itself?
async fn first_look(
    browsers: &Browsers,
    secret: String,
    order: &Order,
) -> Result<FirstLook, String> {
    let identity = identity::find(&order.settings.identity).ok_or("there is no such identity")?;
    let browser = browsers.present().await.map_err(|error| error.to_string())?;
    selectors::check(&browser, &order.settings.ignore)
        .await
        .map_err(|error| format!("--ignore: {error}"))?;
    let mut agent = agent(order, secret, None)?;
    let looks = probe::looks(browsers, &mut agent, &order.settings.url)
        .await
        .map_err(|error| error.to_string())?;
    Ok(FirstLook { origin: agent.origin, masks: probe::volatile(identity, &looks.0, &looks.1) })
}
