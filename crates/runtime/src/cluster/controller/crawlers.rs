//! Crawlers that are attached to a controller: which tab works for which crawl, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use argiope_controller::job::CrawlerId;
use argiope_controller::peer::message::{PeerInput, TaskReport};
use argiope_explore::quoted::Escaped;
use argiope_ring::Key;

use super::super::connections::LinkId;
use super::super::crawl_state::CrawlShare;
use super::super::protocol::{
    Between, CrawlId, CrawlSpec, FirstLook, FromCrawler, KnownMember, Order, ToClient, ToTabs,
};
use super::effects::crawler_of;
use super::{Node, PULSE, shown};

/// Nobody has more tabs.
const MOST_TABS: u32 = 4_096;

/// A process with tabs.
#[derive(Default)]
pub struct CrawlerProcess {
    /// What each tab works for.
    tabs: Vec<Option<(CrawlId, CrawlerId)>>,
    /// The crawls that it was told of.
    told: BTreeSet<CrawlId>,
    /// It takes no more tasks.
    leaving: bool,
}

/// Who wants the first page to be looked at.
pub enum Asker {
    /// A client that wants to begin this crawl.
    Client(LinkId, CrawlId, Box<Order>),
    /// Another controller, under its number.
    Controller(Key, u64),
}

impl Node<'_> {
    /// A crawler dialled.
    pub(super) fn hire(&mut self, link: LinkId) {
        self.processes.insert(link, CrawlerProcess::default());
        let members = self.members.iter();
        let members = members
            .map(|(&key, known)| KnownMember { key, address: known.address.clone() })
            .collect();
        if let Some(link) = self.links.get_mut(&link) {
            link.send(&ToTabs::Members(members));
        }
    }

    /// A crawler is gone; whoever gave it a task is told. (Of what its home does not know any more it is seen that it is
    /// overdue.)
    pub(super) fn dismiss(&mut self, link: LinkId, why: &str) {
        let Some(process) = self.processes.remove(&link) else { return };
        for &(crawl, crawler) in process.tabs.iter().flatten() {
            self.crawlers.remove(&crawler);
            self.unanswered.remove(&crawler);
            self.crawler_is_gone(crawl, crawler);
            if let Some((crawl, task)) = self.under_way.remove(&crawler) {
                self.tell(crawl, PeerInput::Lost(task));
            }
        }
        let how = if process.leaving { "has left".to_owned() } else { format!("is gone: {why}") };
        (self.say)(&format!("a crawler with {} tabs {how}", process.tabs.len()));
        self.probes
            .retain(|_, asker| !matches!(asker, Asker::Client(client, ..) if *client == link));
    }

    /// How many tabs are attached here.
    pub(super) fn tabs(&self) -> u32 {
        let at_work = self.processes.values().filter(|process| !process.leaving);
        at_work.map(|process| process.tabs.len() as u32).sum()
    }

    /// How many of them work for a crawl.
    pub(super) fn crawlers_of(&self, crawl: CrawlId) -> u32 {
        let tabs = self.processes.values().flat_map(|process| process.tabs.iter().flatten());
        tabs.filter(|(id, _)| *id == crawl).count() as u32
    }

    /// Sees to it that every tab works for a crawl that is not over, and every such crawl has its share of tabs.
    pub(super) fn assign_tabs(&mut self) {
        if self.leaving.is_some() {
            return;
        }
        let open: Vec<CrawlId> =
            self.shares.iter().filter(|(_, share)| share.is_open()).map(|(&id, _)| id).collect();
        let mut counts: BTreeMap<CrawlId, usize> = open.iter().map(|&id| (id, 0)).collect();
        let tabs = self.tabs() as usize;
        // Nobody has more than its share until all have theirs.
        let most = tabs.div_ceil(open.len().max(1));
        let mut moved = Vec::new();
        for (&link, process) in self.processes.iter().filter(|(_, process)| !process.leaving) {
            for (tab, works_for) in process.tabs.iter().enumerate() {
                match works_for.and_then(|(id, _)| counts.get_mut(&id)) {
                    Some(count) if *count < most => *count += 1,
                    _ => moved.push((link, tab, works_for.is_some())),
                }
            }
        }
        for (link, tab, worked) in moved {
            let fewest = counts.iter().min_by_key(|&(_, &count)| count).map(|(&id, _)| id);
            if let Some(id) = fewest {
                *counts.entry(id).or_default() += 1;
                self.attach(link, tab, id);
            } else if worked {
                self.detach(link, tab);
            }
        }
    }

    fn attach(&mut self, link: LinkId, tab: usize, crawl: CrawlId) {
        self.next_crawler += 1;
        let crawler = crawler_of(self.me, self.next_crawler);
        self.forget_tab(link, tab);
        let Some(process) = self.processes.get_mut(&link) else { return };
        process.tabs[tab] = Some((crawl, crawler));
        let untold = process.told.insert(crawl);
        self.crawlers.insert(crawler, (link, tab as u32));
        let spec =
            self.shares.get(&crawl).map(|share| (share.spec.clone(), share.volatile.clone()));
        let Some(link) = self.links.get_mut(&link) else { return };
        if let (true, Some((spec, volatile))) = (untold, spec) {
            link.send(&ToTabs::Crawl(crawl, Box::new(spec)));
            if !volatile.is_empty() {
                link.send(&ToTabs::Volatile(crawl, volatile));
            }
        }
        link.send(&ToTabs::Attach(tab as u32, Some((crawl, crawler))));
    }

    fn detach(&mut self, link: LinkId, tab: usize) {
        self.forget_tab(link, tab);
        if let Some(link) = self.links.get_mut(&link) {
            link.send(&ToTabs::Attach(tab as u32, None));
        }
    }

    fn forget_tab(&mut self, link: LinkId, tab: usize) {
        let process = self.processes.get_mut(&link);
        let works_for =
            process.and_then(|process| process.tabs.get_mut(tab)).and_then(Option::take);
        if let Some((crawl, crawler)) = works_for {
            self.crawlers.remove(&crawler);
            self.under_way.remove(&crawler);
            self.unanswered.remove(&crawler);
            self.crawler_is_gone(crawl, crawler);
        }
    }

    /// A controller is gone, and with it what crawlers were to be told, perhaps: those that were told nothing since are
    /// spoken for again, until others have taken over.
    pub(super) fn say_again(&mut self) {
        if self.restless.is_none_or(|until| Instant::now() > until) {
            self.restless = None;
            return;
        }
        let waiting = self.unanswered.values().filter(|(since, ..)| since.elapsed() > PULSE);
        let waiting: Vec<(CrawlId, TaskReport)> = waiting
            .map(|(_, crawl, report)| (*crawl, TaskReport { again: true, ..report.clone() }))
            .collect();
        for (crawl, report) in waiting {
            self.tell(crawl, PeerInput::Report(report));
        }
    }

    /// This controller ends: its crawlers go elsewhere.
    pub(super) fn send_crawlers_away(&mut self) {
        for link in self.processes.keys() {
            if let Some(link) = self.links.get_mut(link) {
                link.send(&ToTabs::Leaving);
            }
        }
    }

    /// A crawler says something.
    pub(super) fn crawler_says(&mut self, link: LinkId, message: FromCrawler) {
        match message {
            FromCrawler::Tabs(tabs) => {
                if let Some(process) =
                    self.processes.get_mut(&link).filter(|process| process.tabs.is_empty())
                {
                    process.tabs = vec![None; tabs.min(MOST_TABS) as usize];
                    (self.say)(&format!("a crawler with {tabs} tabs is there"));
                    self.assign_tabs();
                }
            }
            FromCrawler::Report(crawl, report, spent, times, blobs) => {
                self.take_blobs(blobs);
                if let Some(share) = self.shares.get_mut(&crawl) {
                    share.spent = share.spent.plus(spent);
                    share.times = share.times.plus(times);
                }
                let task = self.under_way.get(&report.crawler).map(|(_, task)| *task);
                if task.is_some() && task == report.task {
                    self.under_way.remove(&report.crawler);
                }
                // One that was attached elsewhere meanwhile may still have something to say.
                self.unanswered.insert(report.crawler, (Instant::now(), crawl, report.clone()));
                self.tell(crawl, PeerInput::Report(report));
            }
            FromCrawler::Returned(crawl, answer) => {
                self.under_way.retain(|_, (_, task)| *task != answer);
                if answer.by == self.me {
                    self.tell(crawl, PeerInput::Returned(answer));
                } else {
                    self.send_to(answer.by, &Between::Returned(crawl, answer));
                }
            }
            FromCrawler::Want(crawl, crawler, state) => {
                if self.shares.get(&crawl).is_some_and(CrawlShare::is_star) {
                    self.tab_wants(crawl, crawler, state);
                } else {
                    self.tell(crawl, PeerInput::Want(crawler, state));
                }
            }
            FromCrawler::Page(crawl, page) => {
                self.trace("looked", page.state, "");
                if self.shares.get_mut(&crawl).is_some_and(|share| share.pages.learn(&page)) {
                    let others: Vec<Key> = self.members.keys().copied().collect();
                    for other in others {
                        self.send_to(other, &Between::Page(crawl, page));
                    }
                }
            }
            FromCrawler::Which(crawl, raw) => {
                let page = self.shares.get(&crawl).and_then(|share| share.pages.which(raw));
                // What is not here is not looked for: a look is as fast.
                let page = page.and_then(|(state, content)| Some((state, self.blob(content)?)));
                if let Some(link) = self.links.get_mut(&link) {
                    link.send(&ToTabs::Page(crawl, raw, page));
                }
            }
            FromCrawler::Blobs(blobs) => self.take_blobs(blobs),
            FromCrawler::Told(crawl, tell, spent, times, blobs) => {
                self.tab_tells(crawl, tell, (spent, times), blobs);
            }
            FromCrawler::Probed(number, first) => self.probed(number, first),
            FromCrawler::Volatile(crawl, masks) => self.learn_volatile(crawl, masks, None),
            FromCrawler::Leaving => {
                if let Some(process) = self.processes.get_mut(&link) {
                    process.leaving = true;
                    let tabs: Vec<_> = process.tabs.iter().flatten().copied().collect();
                    for (crawl, crawler) in tabs {
                        self.crawlers.remove(&crawler);
                        self.crawler_is_gone(crawl, crawler);
                    }
                    self.assign_tabs();
                }
            }
        }
    }

    /// Somebody wants to know what the first page of an application is like: a crawler looks.
    pub(super) fn probe_for(&mut self, order: Order, asker: Asker) {
        self.next_probe += 1;
        let number = self.next_probe;
        let at_work = |process: &CrawlerProcess| !process.leaving && !process.tabs.is_empty();
        let here =
            self.processes.iter().find(|(_, process)| at_work(process)).map(|(&link, _)| link);
        if let Some(link) = here.and_then(|link| self.links.get_mut(&link)) {
            link.send(&ToTabs::Probe(number, order));
        } else if matches!(asker, Asker::Controller(..)) {
            self.answer(asker, Err("its crawlers are gone".to_owned()));
            return;
        } else {
            let other = self.members.iter().find(|(_, known)| known.tabs > 0 && !known.leaving);
            let Some((&other, _)) = other else {
                let why = "no crawler is attached to the ring: start one with 'argiope crawler --controller ADDR'";
                self.answer(asker, Err(why.to_owned()));
                return;
            };
            self.send_to(other, &Between::Probe(number, order));
        }
        self.probes.insert(number, asker);
    }

    /// Somebody has looked.
    pub(super) fn probed(&mut self, number: u64, first: Result<FirstLook, String>) {
        if let Some(asker) = self.probes.remove(&number) {
            self.answer(asker, first);
        }
    }

    fn answer(&mut self, asker: Asker, first: Result<FirstLook, String>) {
        match asker {
            Asker::Controller(other, number) => {
                self.send_to(other, &Between::Probed(number, first));
            }
            Asker::Client(link, id, order) => {
                let begun =
                    first.and_then(|first| self.found(id, &CrawlSpec { order: *order, first }));
                let answer = match begun {
                    Ok(()) => ToClient::Started(id),
                    Err(why) => ToClient::No(Escaped(&why, 500).to_string()),
                };
                if let ToClient::No(why) = &answer {
                    (self.say)(&format!("crawl {id} does not begin: {}", shown(why)));
                }
                if let Some(link) = self.links.get_mut(&link) {
                    link.send(&answer);
                }
            }
        }
    }
}
