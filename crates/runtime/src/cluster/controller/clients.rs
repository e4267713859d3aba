//! Clients: they start and stop crawls, follow their progress, and fetch what was found.

use argiope_controller::journal::Fact;

use super::super::connections::LinkId;
use super::super::contents;
use super::super::crawl_state;
use super::super::protocol::{
    CrawlId, CrawlStatus, FromClient, KnownMember, MemberStatus, Order, Status, ToClient,
};
use super::crawlers::Asker;
use super::dispatcher::Dispatcher;

/// How many facts go into one frame.
const FACTS_AT_ONCE: usize = 256;

impl Dispatcher {
    pub(super) fn on_client_message(&mut self, link: LinkId, message: FromClient) {
        match message {
            FromClient::Start(id, order) => self.on_start(link, id, order),
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
            FromClient::Fetch(id) if self.shares.contains_key(&id) => self.send_facts(link, id),
            FromClient::Stop(id) if self.shares.contains_key(&id) => self.on_stop(id, None),
            FromClient::Follow(id) | FromClient::Fetch(id) | FromClient::Stop(id) => {
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

    /// Sends a client everything that is kept here of a crawl.
    fn send_facts(&mut self, link: LinkId, id: CrawlId) {
        let Some(share) = self.shares.get(&id) else { return };
        let spec = ToClient::Spec(Box::new(share.spec.clone()), share.volatile.clone());
        let mut answers = vec![spec];
        let Ok(mut facts) = share.facts().map_or_else(|| self.disk.kept_of(id), Ok) else { return };
        facts.extend(share.writers.facts());
        let contents = facts.iter().filter_map(Fact::content);
        let blobs = contents::in_frames(contents.filter_map(|content| self.disk.blob(content)));
        answers.extend(blobs.into_iter().map(ToClient::Blobs));
        answers.extend(facts.chunks(FACTS_AT_ONCE).map(|some| ToClient::Facts(some.to_vec())));
        answers.push(ToClient::End);
        if let Some(link) = self.links.get(&link) {
            link.send_all(answers);
        }
    }
}
