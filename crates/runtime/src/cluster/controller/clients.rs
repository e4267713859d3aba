//! Clients: they start and stop crawls, follow their progress, and fetch what was found.

use std::collections::{BTreeSet, VecDeque};

use argiope_controller::journal::{ContentId, Fact};

use super::super::connections::LinkId;
use super::super::contents;
use super::super::crawl_state;
use super::super::protocol::{
    CrawlId, CrawlStatus, FromClient, KnownMember, MemberStatus, Order, Status, ToClient,
};
use super::crawlers::Asker;
use super::dispatcher::{Dispatcher, ProcessEvent};

/// How many facts go into one frame.
const FACTS_AT_ONCE: usize = 256;
/// How many clients fetch at a time: each has a copy of the facts while it is served.
const FETCHES: usize = 4;

/// Clients that fetch what was found: those that are served, and those that wait for it.
#[derive(Default)]
pub struct Fetches {
    served: BTreeSet<LinkId>,
    waiting: VecDeque<(LinkId, CrawlId)>,
}

impl Fetches {
    /// A client asks. Returns whether it is served or waits; a client waits for one answer only.
    fn ask(&mut self, link: LinkId, crawl: CrawlId) -> bool {
        let is_new = self.waiting.iter().all(|&(other, _)| other != link);
        if is_new {
            self.waiting.push_back((link, crawl));
        }
        is_new
    }

    /// The next client to be served, if there is room for one.
    fn next(&mut self) -> Option<(LinkId, CrawlId)> {
        if self.served.len() >= FETCHES {
            return None;
        }
        let at = self.waiting.iter().position(|(link, _)| !self.served.contains(link))?;
        let next = self.waiting.remove(at)?;
        self.served.insert(next.0);
        Some(next)
    }

    /// A client is gone. If it is served, its answer ends by itself.
    pub fn forget(&mut self, link: LinkId) {
        self.waiting.retain(|&(other, _)| other != link);
    }
}

impl Dispatcher {
    pub(super) fn on_client_message(&mut self, link: LinkId, message: FromClient) {
        match message {
            FromClient::Start(id, order, access) => {
                self.on_start(link, id, order.with_access(access));
            }
            FromClient::GiveAccess(id, access) if self.shares.contains_key(&id) => {
                self.on_access(id, access);
            }
            FromClient::Status => {
                let status = self.status();
                self.send(link, &ToClient::Status(status));
            }
            FromClient::Follow(id) if self.shares.contains_key(&id) => {
                if !self.followers.contains(&(link, id)) {
                    self.followers.push((link, id));
                }
                self.notify_followers();
            }
            FromClient::Fetch(id) if self.shares.contains_key(&id) => self.on_fetch(link, id),
            FromClient::Stop(id) if self.shares.contains_key(&id) => self.on_stop(id, None),
            FromClient::GiveAccess(id, _)
            | FromClient::Follow(id)
            | FromClient::Fetch(id)
            | FromClient::Stop(id) => {
                let why = format!("there is no crawl {id} in this cluster");
                self.send(link, &ToClient::Refused(why));
            }
        }
    }

    fn on_start(&mut self, link: LinkId, id: CrawlId, order: Order) {
        if self.shares.contains_key(&id) {
            self.send(link, &ToClient::Started(id));
        } else if let Some(reason) = crawl_state::refusal(&order) {
            self.send(link, &ToClient::Refused(reason));
        } else {
            self.probe_for(order.clone(), Asker::Client(link, id, Box::new(order)));
        }
    }

    /// The cluster, as this controller knows it.
    fn status(&self) -> Status {
        let own = MemberStatus {
            member: self.me(),
            silent_ms: 0,
            tabs: self.tabs(),
            shares: self.tallies(),
        };
        let others = self.membership.members.iter().map(|(&key, known)| MemberStatus {
            member: KnownMember { key, address: known.address.clone() },
            silent_ms: if self.link_to(key).is_some() {
                0
            } else {
                known.heard.elapsed().as_millis() as u64
            },
            tabs: known.tabs,
            shares: known.shares.clone(),
        });
        let crawl = |(&id, share): (&CrawlId, &crawl_state::CrawlShare)| CrawlStatus {
            id,
            order: share.spec.order.clone(),
            stopped: share.stopped,
            trouble: share.trouble(id),
        };
        Status {
            members: std::iter::once(own).chain(others).collect(),
            crawls: self.shares.iter().map(crawl).collect(),
        }
    }

    /// Sends followers the progress of their crawl.
    pub(super) fn notify_followers(&mut self) {
        if self.followers.is_empty() {
            return;
        }
        let status = self.status();
        for (link, id) in self.followers.clone() {
            let mut crawl = status.clone();
            crawl.crawls.retain(|crawl| crawl.id == id);
            self.send(link, &ToClient::Progress(crawl));
        }
    }

    /// A client asks for everything that is kept here of a crawl.
    fn on_fetch(&mut self, link: LinkId, id: CrawlId) {
        if !self.fetches.ask(link, id) {
            let why = "this connection waits for another answer".to_owned();
            self.send(link, &ToClient::Refused(why));
        }
        self.serve_fetches();
    }

    /// A client has its answer.
    pub(super) fn on_fetched(&mut self, link: LinkId) {
        self.fetches.served.remove(&link);
        self.serve_fetches();
    }

    fn serve_fetches(&mut self) {
        while let Some((link, id)) = self.fetches.next() {
            if !self.send_facts(link, id) {
                self.fetches.served.remove(&link);
            }
        }
    }

    /// Sends a client everything that is kept here of a crawl, piece by piece: contents are read
    /// when the client has room for them. Returns whether it began.
    fn send_facts(&mut self, link: LinkId, id: CrawlId) -> bool {
        let Some(share) = self.shares.get(&id) else { return false };
        let spec = ToClient::Spec(Box::new(share.spec.clone()), share.volatile.clone());
        let Ok(mut facts) = share.facts().map_or_else(|| self.disk.kept_of(id), Ok) else {
            return false;
        };
        facts.extend(share.writers.facts());
        let contents: Vec<ContentId> = facts.iter().filter_map(Fact::content).collect();
        let disk = self.disk.reader(&contents);
        let blobs = contents.into_iter().filter_map(move |content| disk.blob(content));
        let blobs = contents::frames(blobs).map(ToClient::Blobs);
        let mut facts = facts.into_iter();
        let facts = std::iter::from_fn(move || {
            let some: Vec<Fact> = facts.by_ref().take(FACTS_AT_ONCE).collect();
            (!some.is_empty()).then_some(ToClient::Facts(some))
        });
        let answers = std::iter::once(spec).chain(blobs).chain(facts).chain([ToClient::End]);
        let Some(connection) = self.links.get(&link) else { return false };
        let events = self.events.clone();
        connection.send_each(answers, move || _ = events.send(ProcessEvent::Fetched(link)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_clients_fetch_at_a_time_and_the_others_wait() {
        let mut fetches = Fetches::default();
        let crawl = CrawlId(1);
        assert!((0..10).all(|link| fetches.ask(link, crawl)));
        assert!(!fetches.ask(9, crawl), "one answer at a time");
        let served: Vec<_> = std::iter::from_fn(|| fetches.next()).map(|(link, _)| link).collect();
        assert_eq!(served, [0, 1, 2, 3]);
        // A client that asks again is not served twice at a time.
        assert!(fetches.ask(0, crawl));
        fetches.forget(4);
        fetches.served.remove(&1);
        assert_eq!(fetches.next(), Some((5, crawl)));
        assert_eq!(fetches.next(), None);
    }
}
