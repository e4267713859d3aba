//! Crawlers that are attached to this controller: which tab works for which crawl, and the
//! messages of their tabs.

use std::collections::BTreeMap;
use std::time::Instant;

use argiope_controller::job::CrawlerId;
use argiope_controller::peer::message::{LeaseRef, PeerInput, TaskReport};
use argiope_controller::tab_shares::TabShares;
use argiope_explore::quoted::Escaped;
use argiope_ring::Key;

use super::super::connections::LinkId;
use super::super::crawl_state::CrawlShare;
use super::super::protocol::{
    Between, CrawlId, CrawlSpec, FirstLook, FromCrawler, KnownMember, Order, ProcessSpent,
    SeenPage, TabTimes, ToClient, ToTabs,
};
use super::dispatcher::{Dispatcher, HEARTBEAT, shown};
use super::effects::crawler_of;

/// The most tabs that a crawler may have.
const MOST_TABS: u32 = 4_096;
/// The most probes of first pages at a time; further crawls are refused until some have ended.
const MOST_PROBES: usize = 256;
/// How long a tab works for a crawl before it may change, in microseconds. A change costs a reset,
/// which takes a real application one to three seconds.
const TURN: u64 = 5_000_000;

/// A crawler process.
#[derive(Default)]
pub struct CrawlerProcess {
    /// The crawl of each tab, and the tab's name in it.
    tabs: Vec<Option<(CrawlId, CrawlerId)>>,
    /// It leaves and takes no more tasks.
    leaving: bool,
}

/// The process that asks for a probe of the first page.
pub enum Asker {
    /// A client that starts this crawl.
    Client(LinkId, CrawlId, Box<Order>),
    /// Another controller, under its own number for the probe.
    Controller(Key, u64),
}

/// The crawlers of this controller.
pub struct Crawlers {
    pub processes: BTreeMap<LinkId, CrawlerProcess>,
    /// The process of each crawler.
    pub attached: BTreeMap<CrawlerId, LinkId>,
    next_crawler: u32,
    /// The task of each crawler that has not reported it yet, with the crawler's process.
    pub under_way: BTreeMap<CrawlerId, (LinkId, CrawlId, LeaseRef)>,
    /// The crawl of each tab.
    shares: TabShares<(LinkId, u32), CrawlId>,
    /// The last report of each crawler that has no task.
    pub unanswered: BTreeMap<CrawlerId, (Instant, CrawlId, TaskReport)>,
    /// Until when unanswered reports are repeated: the controller that owed a task may be gone.
    pub repeat_until: Option<Instant>,
    /// Probes of first pages that are under way.
    probes: BTreeMap<u64, Asker>,
    next_probe: u64,
}

impl Default for Crawlers {
    fn default() -> Self {
        Self {
            processes: BTreeMap::new(),
            attached: BTreeMap::new(),
            next_crawler: 0,
            under_way: BTreeMap::new(),
            shares: TabShares::new(TURN),
            unanswered: BTreeMap::new(),
            repeat_until: None,
            probes: BTreeMap::new(),
            next_probe: 0,
        }
    }
}

impl Dispatcher {
    /// A crawler dialled.
    pub(super) fn on_crawler_connected(&mut self, link: LinkId) {
        self.crawlers.processes.insert(link, CrawlerProcess::default());
        let members = self.membership.members.iter();
        let members = members
            .map(|(&key, known)| KnownMember { key, address: known.address.clone() })
            .collect();
        self.send(link, &ToTabs::Members(members));
    }

    /// A crawler is gone: the controllers that gave it tasks free them. A task that is not known
    /// here runs into its lease.
    pub(super) fn on_crawler_disconnected(&mut self, link: LinkId, why: &str) {
        let Some(process) = self.crawlers.processes.remove(&link) else { return };
        self.crawlers.shares.remove(|(process, _)| process == link);
        for &(crawl, crawler) in process.tabs.iter().flatten() {
            self.crawlers.attached.remove(&crawler);
            self.crawlers.unanswered.remove(&crawler);
            self.on_crawler_lost(crawl, crawler);
        }
        let mut lost = Vec::new();
        self.crawlers.under_way.retain(|_, &mut (process, crawl, task)| {
            if process == link {
                lost.push((crawl, task));
            }
            process != link
        });
        for (crawl, task) in lost {
            self.handle_peer(crawl, PeerInput::CrawlerLoss(task));
        }
        let tabs = process.tabs.len();
        if process.leaving {
            tracing::info!(tabs, "a crawler has left");
        } else {
            tracing::warn!(tabs, reason = %shown(why), "a crawler is gone");
        }
    }

    /// How many tabs are attached here.
    pub(super) fn tabs(&self) -> u32 {
        let at_work = self.crawlers.processes.values().filter(|process| !process.leaving);
        at_work.map(|process| process.tabs.len() as u32).sum()
    }

    /// How many tabs that are attached here work for a crawl.
    pub(super) fn crawlers_of(&self, crawl: CrawlId) -> u32 {
        self.crawlers.shares.count(crawl) as u32
    }

    /// Attaches every tab to an open crawl, so that open crawls have equal shares of the tabs.
    pub(super) fn assign_tabs(&mut self) {
        if self.leaving.is_some() {
            return;
        }
        let open = self.crawls_where(CrawlShare::is_open).into_iter().collect();
        for ((link, tab), crawl) in self.crawlers.shares.assign(self.now(), &open) {
            match crawl {
                Some(crawl) => self.attach(link, tab as usize, crawl),
                None => self.detach(link, tab as usize),
            }
        }
    }

    fn attach(&mut self, link: LinkId, tab: usize, crawl: CrawlId) {
        self.crawlers.next_crawler += 1;
        let crawler = crawler_of(self.me, self.crawlers.next_crawler);
        self.forget_tab(link, tab);
        let Some(process) = self.crawlers.processes.get_mut(&link) else { return };
        process.tabs[tab] = Some((crawl, crawler));
        self.crawlers.attached.insert(crawler, link);
        let Some(link) = self.links.get_mut(&link) else { return };
        // The process may have forgotten a crawl that it has worked for.
        if let Some(share) = self.shares.get(&crawl) {
            let access = share.spec.order.access();
            link.send(&ToTabs::Crawl(crawl, Box::new(share.spec.clone()), access));
            if !share.volatile.is_empty() {
                link.send(&ToTabs::Volatile(crawl, share.volatile.clone()));
            }
        }
        link.send(&ToTabs::Attach(tab as u32, Some((crawl, crawler))));
    }

    fn detach(&mut self, link: LinkId, tab: usize) {
        self.forget_tab(link, tab);
        self.send(link, &ToTabs::Attach(tab as u32, None));
    }

    fn forget_tab(&mut self, link: LinkId, tab: usize) {
        let process = self.crawlers.processes.get_mut(&link);
        let works_for =
            process.and_then(|process| process.tabs.get_mut(tab)).and_then(Option::take);
        if let Some((crawl, crawler)) = works_for {
            // The tab ends its task first, and reports it.
            self.crawlers.attached.remove(&crawler);
            self.crawlers.unanswered.remove(&crawler);
            self.on_crawler_lost(crawl, crawler);
        }
    }

    /// Repeats unanswered reports during a failover: the controller that was to answer may be gone.
    pub(super) fn repeat_reports(&mut self) {
        if self.crawlers.repeat_until.is_none_or(|until| Instant::now() > until) {
            self.crawlers.repeat_until = None;
            return;
        }
        let waiting =
            self.crawlers.unanswered.values().filter(|(since, ..)| since.elapsed() > HEARTBEAT);
        let waiting: Vec<(CrawlId, TaskReport)> = waiting
            .map(|(_, crawl, report)| (*crawl, TaskReport { again: true, ..report.clone() }))
            .collect();
        for (crawl, report) in waiting {
            self.handle_peer(crawl, PeerInput::Report(report));
        }
    }

    /// Sends to every crawler that is attached here.
    pub(super) fn send_to_crawlers(&mut self, message: &ToTabs) {
        for link in self.crawlers.processes.keys() {
            if let Some(link) = self.links.get_mut(link) {
                link.send(message);
            }
        }
    }

    pub(super) fn on_crawler_message(&mut self, link: LinkId, message: FromCrawler) {
        match message {
            FromCrawler::Tabs(tabs) => self.on_tabs(link, tabs),
            FromCrawler::Report(crawl, report, spent, times, blobs) => {
                self.disk.keep_blobs(blobs);
                self.on_report(crawl, report, (spent, times));
            }
            FromCrawler::Returned(crawl, task) => self.on_returned(crawl, task),
            FromCrawler::Want(crawl, crawler, state) => {
                if self.shares.get(&crawl).is_some_and(CrawlShare::is_star) {
                    self.on_star_want(crawl, crawler, state);
                } else {
                    self.handle_peer(crawl, PeerInput::Want(crawler, state));
                }
            }
            FromCrawler::Page(crawl, page) => self.on_page(crawl, page),
            FromCrawler::Which(crawl, raw) => self.on_which(link, crawl, raw),
            FromCrawler::Blobs(blobs) => self.disk.keep_blobs(blobs),
            FromCrawler::NodeReport(crawl, report, spent, times, blobs) => {
                self.on_node_report(crawl, report, (spent, times), blobs);
            }
            FromCrawler::Probed(number, first) => self.on_probed(number, first),
            FromCrawler::Volatile(crawl, findings) => self.on_volatile(crawl, findings, None),
            FromCrawler::Trouble(crawl, why) => self.on_trouble(crawl, &why, None),
            FromCrawler::Leaving => self.on_crawler_leaving(link),
        }
    }

    /// A crawler says how many tabs it has.
    fn on_tabs(&mut self, link: LinkId, tabs: u32) {
        let process = self.crawlers.processes.get_mut(&link);
        if let Some(process) = process.filter(|process| process.tabs.is_empty()) {
            process.tabs = vec![None; tabs.min(MOST_TABS) as usize];
            (0..tabs.min(MOST_TABS)).for_each(|tab| self.crawlers.shares.add((link, tab)));
            tracing::info!(tabs, "a crawler is attached");
            self.assign_tabs();
        }
    }

    fn on_report(&mut self, crawl: CrawlId, report: TaskReport, costs: (ProcessSpent, TabTimes)) {
        if let Some(share) = self.shares.get_mut(&crawl) {
            share.on_spent(costs.0);
            share.times = share.times.plus(costs.1);
        }
        let Crawlers { attached, under_way, unanswered, .. } = &mut self.crawlers;
        let task = under_way.get(&report.crawler).map(|&(_, _, task)| task);
        if task.is_some() && task == report.task {
            under_way.remove(&report.crawler);
        }
        // A tab that was attached elsewhere meanwhile still reports, and awaits no answer.
        if attached.contains_key(&report.crawler) {
            unanswered.insert(report.crawler, (Instant::now(), crawl, report.clone()));
        }
        self.handle_peer(crawl, PeerInput::Report(report));
    }

    /// A tab returns a task that it has not begun.
    pub(super) fn on_returned(&mut self, crawl: CrawlId, task: LeaseRef) {
        self.crawlers.under_way.retain(|_, (.., under_way)| *under_way != task);
        if task.by == self.me {
            self.handle_peer(crawl, PeerInput::TaskReturn(task));
        } else {
            self.send_to(task.by, &Between::Returned(crawl, task));
        }
    }

    /// A tab has looked at a page; other controllers learn of it.
    fn on_page(&mut self, crawl: CrawlId, page: SeenPage) {
        self.trace("looked", page.state, "");
        if self.shares.get_mut(&crawl).is_some_and(|share| share.pages.learn(&page)) {
            self.send_to_others(None, &Between::Page(crawl, page));
        }
    }

    /// A tab asks which state a page is. A content that is not here is not fetched: a look is as
    /// fast.
    fn on_which(&mut self, link: LinkId, crawl: CrawlId, raw: u128) {
        let page = self.shares.get(&crawl).and_then(|share| share.pages.which(raw));
        let page = page.and_then(|(state, content)| Some((state, self.disk.blob(content)?)));
        self.send(link, &ToTabs::Page(crawl, raw, page));
    }

    /// A crawler leaves: its tabs get no more tasks.
    fn on_crawler_leaving(&mut self, link: LinkId) {
        let Some(process) = self.crawlers.processes.get_mut(&link) else { return };
        process.leaving = true;
        self.crawlers.shares.remove(|(process, _)| process == link);
        let tabs: Vec<_> = process.tabs.iter().flatten().copied().collect();
        for (crawl, crawler) in tabs {
            self.crawlers.attached.remove(&crawler);
            self.on_crawler_lost(crawl, crawler);
        }
        self.assign_tabs();
    }

    /// Lets a crawler look at the first page of an application.
    pub(super) fn probe_for(&mut self, order: Order, asker: Asker) {
        if self.crawlers.probes.len() >= MOST_PROBES {
            let why = "too many crawls begin at the same time: try again in a minute";
            self.answer(asker, Err(why.to_owned()));
            return;
        }
        self.crawlers.next_probe += 1;
        let number = self.crawlers.next_probe;
        let at_work = |process: &CrawlerProcess| !process.leaving && !process.tabs.is_empty();
        let here = self.crawlers.processes.iter().find(|(_, process)| at_work(process));
        if let Some((&link, _)) = here {
            let access = order.access();
            self.send(link, &ToTabs::Probe(number, Box::new(order), access));
        } else if matches!(asker, Asker::Controller(..)) {
            self.answer(asker, Err("its crawlers are gone".to_owned()));
            return;
        } else {
            let other =
                self.membership.members.iter().find(|(_, known)| known.tabs > 0 && !known.leaving);
            let Some((&other, _)) = other else {
                let why = "no crawler is attached to the cluster: start one with \
                           'argiope crawler --controller ADDR'";
                self.answer(asker, Err(why.to_owned()));
                return;
            };
            let access = order.access();
            self.send_to(other, &Between::Probe(number, order, access));
        }
        self.crawlers.probes.insert(number, asker);
    }

    /// A crawler has looked at the first page.
    pub(super) fn on_probed(&mut self, number: u64, first: Result<FirstLook, String>) {
        if let Some(asker) = self.crawlers.probes.remove(&number) {
            self.answer(asker, first);
        }
    }

    fn answer(&mut self, asker: Asker, first: Result<FirstLook, String>) {
        match asker {
            Asker::Controller(other, number) => {
                self.send_to(other, &Between::Probed(number, first));
            }
            Asker::Client(link, id, order) => {
                let begun = first
                    .and_then(|first| self.start_crawl(id, &CrawlSpec { order: *order, first }));
                let answer = match begun {
                    Ok(()) => ToClient::Started(id),
                    Err(why) => ToClient::Refused(Escaped(&why, 500).to_string()),
                };
                if let ToClient::Refused(why) = &answer {
                    tracing::warn!(crawl = %id, reason = %shown(why), "the crawl does not start");
                }
                self.send(link, &answer);
            }
        }
    }
}
