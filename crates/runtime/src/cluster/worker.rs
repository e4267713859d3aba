//! A crawler as a process: browsers for a cluster. It only dials out: to one controller, and to
//! another when that one is gone. Its tabs run on the threads of a worker pool; see `tabs`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use argiope_browser::agent::AgentSettings;
use argiope_browser::{LaunchError, LaunchSettings};
use argiope_controller::job::CrawlerId;
use argiope_controller::spent::WriterId;
use argiope_explore::identity;
use argiope_explore::quoted::Escaped;
use argiope_wire::{Connection, DialError, Sender};
use tokio::sync::{Notify, Semaphore, mpsc, watch};

use super::archive::Archive;
use super::certificates;
use super::connections::Switch;
use super::outbox::{Outbox, OutgoingMessages};
use super::protocol::{CrawlId, CrawlSpec, FirstLook, FromCrawler, Order, ToTabs, decode, encode};
use super::tabs::{AttachedCrawl, Attachment, ClusterTab, TabInstruction, TabMessage};
use crate::browsers::{BrowserFactory, Browsers};
use crate::executor::{CrawlContext, PoolEvent, PoolEvents, TabTask, WorkerPool, agent_settings};
use crate::login::session::LoginSession;
use crate::numbers::UniqueNumbers;
use crate::page_index::{PageIndex, SharedPageIndex};
use crate::seed_links::seed_links;
use crate::{inputs, learned, probe, selectors};

/// Between two attempts to reach a controller.
const PAUSE: Duration = Duration::from_millis(500);
/// How long it looks for another controller before it gives up.
const LONGEST_SEARCH: Duration = Duration::from_secs(60);
/// The most messages that wait for a tab, and the most bytes of frames that wait for all tabs.
const TAB_MESSAGES: usize = 64;
const TAB_BYTES: usize = 64 << 20;
/// How long the last messages may take when it leaves.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a crawler process needs.
pub struct CrawlerPlan {
    /// Connections.
    pub switch: Switch,
    /// Addresses of controllers.
    pub controllers: Vec<String>,
    /// The number of tabs.
    pub tabs: u32,
    /// How browsers are started.
    pub browser: LaunchSettings,
    /// The memory of a browser at which it is replaced, in megabytes.
    pub browser_mb: u32,
    /// The name of the agent in the page.
    pub secret: String,
    /// Makes it leave in order.
    pub leave: Arc<Notify>,
}

/// Why a crawler process failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The browser does not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The system refuses another thread.
    #[error("cannot start a thread for another browser: {0}")]
    NoThread(std::io::Error),
    /// A fault of argiope.
    #[error("a tab panicked, which is a fault of argiope")]
    Panicked,
    /// No controller can be reached.
    #[error("no controller can be reached: {0}")]
    Alone(DialError),
    /// A controller refuses it.
    #[error(transparent)]
    Refused(DialError),
}

/// A tab, as the main thread sees it.
struct TabHandle {
    attached: watch::Sender<Option<Attachment>>,
    messages: mpsc::Sender<TabMessage>,
}

struct Worker {
    browsers: Rc<Browsers>,
    secret: String,
    crawls: BTreeMap<CrawlId, Arc<AttachedCrawl>>,
    tabs: Vec<TabHandle>,
    /// One permit for each byte of frames that may still wait for tabs.
    free_bytes: Arc<Semaphore>,
    outbox: Outbox,
}

/// Executes tasks until it is told to leave. Must run in a `LocalSet`.
pub async fn run(plan: CrawlerPlan) -> Result<(), WorkerError> {
    let CrawlerPlan { switch, controllers, tabs, browser, browser_mb, secret, leave } = plan;
    let mut known: BTreeSet<String> = controllers.iter().cloned().collect();
    // Before a browser starts: without a controller there is no work.
    let mut connection = find_home(&switch, &controllers, &known, None).await?;
    tokio::task::spawn_local(certificates::watch(switch.clone()));
    let factory = Arc::new(BrowserFactory::new(browser, u64::from(browser_mb) << 20));
    let browsers = Rc::new(Browsers::launch(factory).await?);
    let pool = WorkerPool::start(browsers.clone(), tabs).map_err(WorkerError::NoThread)?;
    tokio::task::spawn_local(browsers.clone().open_ahead(pool.tabs_here()));
    let (outbox, mut outgo) = Outbox::new(WriterId(switch.me.name));
    let (mut worker, tasks) = Worker::new(browsers, secret, tabs, outbox);
    let (reported, mut pool_events) = mpsc::unbounded_channel();
    let events: PoolEvents = Arc::new(move |event| _ = reported.send(event));
    let mut running = pool.run(tasks, &events);
    loop {
        let home = connection.peer.address.clone().unwrap_or_default();
        tracing::info!(controller = %Escaped(&home, 100), "attached to the controller");
        let (sender, mut receiver) = connection.split();
        worker.outbox.forget_sent();
        while outgo.try_recv().is_some() {}
        let _ = sender.send(encode(&FromCrawler::Tabs(tabs))).await;
        // Until the process is told to leave, or the controller leaves or is lost.
        let leaves = loop {
            tokio::select! {
                frame = receiver.recv() => {
                    let Ok(Some(frame)) = frame else { break false };
                    match decode(&frame) {
                        Some(ToTabs::Leaving) | None => break false,
                        Some(ToTabs::Members(members)) => {
                            known.extend(members.into_iter().map(|member| member.address));
                        }
                        Some(message) => worker.on_message(message, frame.len()),
                    }
                }
                Some(message) = outgo.recv() => {
                    if sender.send(encode(&message)).await.is_err() {
                        break false;
                    }
                }
                Some(event) = pool_events.recv() => on_pool_event(event)?,
                () = leave.notified() => break true,
            }
        };
        worker.detach_tabs();
        if leaves {
            running.stop_tabs().await;
            worker.leave(&sender, &mut outgo).await;
            let _ = tokio::time::timeout(GOODBYE, sender.finish()).await;
            drop(worker);
            running.close().await;
            return Ok(());
        }
        tracing::warn!(controller = %Escaped(&home, 100), "the controller is gone");
        connection = tokio::select! {
            found = find_home(&switch, &controllers, &known, Some(&home)) => found?,
            () = leave.notified() => return Ok(()),
        };
    }
}

fn on_pool_event(event: PoolEvent) -> Result<(), WorkerError> {
    match event {
        PoolEvent::NotStarted(error) => Err(error.into()),
        PoolEvent::NotReplaced(error) => {
            tracing::warn!(%error, "a browser that has grown too large cannot be replaced");
            Ok(())
        }
        PoolEvent::Panicked => Err(WorkerError::Panicked),
    }
}

/// Dials controllers in turn until one accepts: first the given ones, then those that a controller
/// has named; the one that is gone comes last. Fails when all refuse.
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
        let (mut unreachable, mut refused) = (None, None);
        for address in &addresses {
            match switch.transport.dial(address, &switch.me, &switch.limits).await {
                Ok(connection) => return Ok(connection),
                Err(error @ DialError::Unreachable { .. }) => unreachable = Some(error),
                // One controller may have a wrong certificate, or be of another version.
                Err(error) => refused = Some(error),
            }
        }
        match (unreachable, refused) {
            (None, Some(error)) => return Err(WorkerError::Refused(error)),
            (Some(error), refused) if tokio::time::Instant::now() > until || gone.is_none() => {
                return Err(refused.map_or(WorkerError::Alone(error), WorkerError::Refused));
            }
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl Worker {
    /// A worker, and the tasks of its tabs.
    fn new(
        browsers: Rc<Browsers>,
        secret: String,
        tabs: u32,
        outbox: Outbox,
    ) -> (Self, Vec<TabTask>) {
        let mut handles = Vec::new();
        let mut tasks: Vec<TabTask> = Vec::new();
        for number in 0..tabs {
            let (attached, attachments) = watch::channel(None);
            let (sender, messages) = mpsc::channel(TAB_MESSAGES);
            handles.push(TabHandle { attached, messages: sender });
            let tab = ClusterTab { number, outbox: outbox.clone(), attachments, messages };
            tasks.push(Box::new(|browsers| Box::pin(tab.run(browsers))));
        }
        let crawls = BTreeMap::new();
        let free_bytes = Arc::new(Semaphore::new(TAB_BYTES));
        (Self { browsers, secret, crawls, tabs: handles, free_bytes, outbox }, tasks)
    }

    /// No controller is there to work for.
    fn detach_tabs(&mut self) {
        for tab in &self.tabs {
            tab.attached.send_replace(None);
        }
    }

    /// Returns the tasks under way, after all tabs have ended, and says goodbye.
    async fn leave(&self, sender: &Sender, outgo: &mut OutgoingMessages) {
        while let Some(message) = outgo.try_recv() {
            let _ = sender.send(encode(&message)).await;
        }
        for (crawl, task) in self.outbox.under_way() {
            let _ = sender.send(encode(&FromCrawler::Returned(crawl, task))).await;
        }
        let _ = sender.send(encode(&FromCrawler::Leaving)).await;
    }

    /// A message of the controller, in a frame of this size.
    fn on_message(&mut self, message: ToTabs, size: usize) {
        match message {
            ToTabs::Crawl(id, spec, access) => {
                let order = spec.order.with_access(access);
                self.on_crawl(id, CrawlSpec { order, ..*spec });
            }
            ToTabs::Attach(tab, works_for) => {
                let attached = works_for.and_then(|(id, crawler)| {
                    let crawl = self.crawls.get(&id)?.clone();
                    Some(Attachment { id, crawler, crawl })
                });
                if let Some(tab) = self.tabs.get(tab as usize) {
                    tab.attached.send_replace(attached);
                }
                self.forget_unused();
            }
            ToTabs::ForTab(id, crawler, instruction, blobs) => {
                let Some(crawl) = self.crawls.get(&id) else { return };
                for blob in blobs {
                    self.outbox.note_sent(blob.content);
                    crawl.archive.keep(blob);
                }
                self.send_to_tab(crawler, TabInstruction::Ring(instruction), size);
            }
            ToTabs::Page(id, raw, page) => {
                let Some(crawl) = self.crawls.get(&id) else { return };
                page.iter().for_each(|(_, blob)| self.outbox.note_sent(blob.content));
                crawl.archive.on_page(raw, page);
            }
            ToTabs::News(_, crawler, news) => {
                self.send_to_tab(crawler, TabInstruction::Star(news), size);
            }
            ToTabs::Probe(number, order, access) => {
                let order = order.with_access(access);
                let (browsers, secret, outbox) =
                    (self.browsers.clone(), self.secret.clone(), self.outbox.clone());
                tokio::task::spawn_local(async move {
                    let first = first_look(&browsers, secret, &order).await;
                    outbox.send(FromCrawler::Probed(number, first)).await;
                });
            }
            ToTabs::Volatile(id, findings) => {
                if let Some(crawl) = self.crawls.get(&id) {
                    crawl.context.pages.lock().learn(findings);
                }
            }
            ToTabs::Members(_) | ToTabs::Leaving => {}
        }
    }

    /// Passes a message to a tab. A tab whose queue is full loses it and asks again.
    fn send_to_tab(&self, crawler: CrawlerId, instruction: TabInstruction, size: usize) {
        let is_named = |tab: &&TabHandle| {
            tab.attached.borrow().as_ref().is_some_and(|attached| attached.crawler == crawler)
        };
        let size = u32::try_from(size.min(TAB_BYTES)).unwrap_or(u32::MAX);
        if let Some(tab) = self.tabs.iter().find(is_named)
            && let Ok(room) = self.free_bytes.clone().try_acquire_many_owned(size)
        {
            let _ = tab.messages.try_send(TabMessage { crawler, instruction, _room: room });
        }
    }

    fn on_crawl(&mut self, id: CrawlId, spec: CrawlSpec) {
        // The controller has checked the order, but may be of another version.
        let Some(identity) = identity::find(&spec.order.settings.identity) else { return };
        if self.crawls.contains_key(&id) {
            return;
        }
        let mut pages = PageIndex::new(identity, spec.order.settings.brakes());
        pages.masks = spec.first.masks.clone();
        pages.numbers = UniqueNumbers::beginning(&format!("{}{id:?}", self.secret));
        learned::add_bounded(&mut pages.endless, spec.first.endless.clone());
        let Ok(agent) = agent(&spec.order, self.secret.clone(), Some(&spec.first)) else { return };
        let questions = spec.order.division().is_none().then(|| self.outbox.clone());
        let archive = Arc::new(Archive::new(id, questions));
        let settings = &spec.order.settings;
        let Ok(session) = LoginSession::new(settings) else { return };
        let context = CrawlContext {
            session: Arc::new(session),
            agent,
            pages: SharedPageIndex::new(pages),
            details: archive.clone(),
            seeds: Arc::new(seed_links(&settings.seeds)),
            screenshots: settings.screenshots,
        };
        self.crawls.insert(id, Arc::new(AttachedCrawl { spec, context, archive }));
    }

    /// Forgets crawls without tabs. A controller introduces a crawl whenever it attaches a tab.
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

/// The settings of the page agent for a crawl.
fn agent(
    order: &Order,
    secret: String,
    first: Option<&FirstLook>,
) -> Result<AgentSettings, String> {
    let blanks = first.map(|first| probe::blanks(&first.masks)).unwrap_or_default();
    agent_settings(&order.settings, secret, blanks)
}

/// Probes the first page of an application.
async fn first_look(
    browsers: &Browsers,
    secret: String,
    order: &Order,
) -> Result<FirstLook, String> {
    let identity = identity::find(&order.settings.identity).ok_or("there is no such identity")?;
    let browser = browsers.present().await.map_err(|error| error.to_string())?;
    selectors::check_all(&browser, &order.settings).await?;
    inputs::check_selectors(&browser, &order.settings.inputs).await?;
    let session = LoginSession::new(&order.settings)?;
    let mut agent = agent(order, secret, None)?;
    let looks = probe::looks(browsers, &mut agent, &session, &order.settings.url)
        .await
        .map_err(|error| error.to_string())?;
    let masks = probe::volatile(identity, &looks.0, &looks.1);
    Ok(FirstLook { origin: agent.origin, masks, endless: agent.endless.into_iter().collect() })
}

#[cfg(test)]
mod tests {
    use argiope_wire::{ConnectionLimits, Hello, Listener, MemoryTransport, Role, Transport};

    use super::*;

    /// Accepts every dialer as a controller of a cluster, for as long as the test runs.
    async fn serve(mut listener: Listener, cluster: &'static str) {
        loop {
            let incoming = listener.accept().await;
            let me = Hello::new(cluster, Role::Controller, 2).with_address(&listener.address);
            let _ = incoming.handshake(&me, &ConnectionLimits::default(), &|_| Ok(())).await;
        }
    }

    #[test]
    fn a_controller_that_refuses_does_not_keep_a_crawler_from_the_others() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let transport = Transport::Memory(MemoryTransport::new());
            for (address, cluster) in [("bad", "another"), ("good", "this")] {
                let listener = transport.listen(address).await.expect("an address");
                tokio::spawn(serve(listener, cluster));
            }
            let me = Arc::new(Hello::new("this", Role::Crawler, 1));
            let switch = Switch { transport, me, limits: ConnectionLimits::default() };
            let find = async |addresses: &[&str], gone: Option<&str>| {
                let given: Vec<String> = addresses.iter().map(|&one| one.to_owned()).collect();
                let found = find_home(&switch, &given, &BTreeSet::new(), gone).await;
                found.map(|connection| connection.peer.address.unwrap_or_default())
            };
            for gone in [None, Some("good")] {
                assert_eq!(find(&["bad", "good"], gone).await.ok().as_deref(), Some("good"));
                let refused = find(&["bad"], gone).await.expect_err("it refuses");
                assert!(matches!(refused, WorkerError::Refused(_)), "{refused}");
            }
            let refused = find(&["nowhere", "bad"], None).await.expect_err("none accepts");
            assert!(matches!(refused, WorkerError::Refused(_)), "{refused}");
            let alone = find(&["nowhere"], None).await.expect_err("none is there");
            assert!(matches!(alone, WorkerError::Alone(_)), "{alone}");
        });
    }
}
