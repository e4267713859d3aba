//! What clients wish for: crawls to begin or to stop, how everything stands, and what was found.

use argiope_controller::journal::Fact;
use argiope_controller::spent::{Spent, WriterId};

use super::super::connections::LinkId;
use super::super::contents;
use super::super::crawl_state;
use super::super::protocol::{CrawlId, CrawlStatus, FromClient, MemberStatus, Status, ToClient};
use super::Node;
use super::crawlers::Asker;

/// The facts in one frame.
const FACTS_AT_ONCE: usize = 256;

impl Node<'_> {
    pub(super) fn client_wishes(&mut self, link: LinkId, wish: FromClient) {
        match wish {
            FromClient::Start(id, order) => {
                let refused = crawl_state::refusal(&order);
                if self.shares.contains_key(&id) {
                    self.say_to(link, &ToClient::Started(id));
                } else if let Some(why) = refused {
                    self.say_to(link, &ToClient::No(why));
                } else {
                    self.probe_for(order.clone(), Asker::Client(link, id, Box::new(order)));
                }
            }
            FromClient::Status => {
                let status = self.status();
                self.say_to(link, &ToClient::Status(status));
            }
            FromClient::Follow(id) if self.shares.contains_key(&id) => {
                self.followers.push((link, id));
                self.tell_followers();
            }
            FromClient::Fetch(id) if self.shares.contains_key(&id) => self.hand_out(link, id),
            FromClient::Stop(id) if self.shares.contains_key(&id) => self.stop(id, None),
            FromClient::Follow(id) | FromClient::Fetch(id) | FromClient::Stop(id) => {
                self.say_to(link, &ToClient::No(format!("there is no crawl {id} on this ring")));
            }
        }
    }

    fn say_to(&mut self, link: LinkId, answer: &ToClient) {
        if let Some(link) = self.links.get_mut(&link) {
            link.send(answer);
        }
    }

    /// How everything stands, as far as it is known here.
    fn status(&self) -> Status {
        let shares = |id: &CrawlId, share: &crawl_state::CrawlShare| {
            (*id, share.tally(self.crawlers_of(*id)))
        };
        let own = MemberStatus {
            member: self.me(),
            silent_ms: 0,
            tabs: self.tabs(),
            shares: self.shares.iter().map(|(id, share)| shares(id, share)).collect(),
        };
        let others = self.members.iter().map(|(&key, known)| MemberStatus {
            member: super::KnownMember { key, address: known.address.clone() },
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

    /// Those who follow a crawl hear how it stands.
    pub(super) fn tell_followers(&mut self) {
        if self.followers.is_empty() {
            return;
        }
        let status = self.status();
        for (link, id) in self.followers.clone() {
            let mut crawl = status.clone();
            crawl.crawls.retain(|crawl| crawl.id == id);
            self.say_to(link, &ToClient::Stands(crawl));
        }
    }

    /// Everything that is kept here of a crawl.
    fn hand_out(&mut self, link: LinkId, id: CrawlId) {
        let Some(share) = self.shares.get(&id) else { return };
        let spec = ToClient::Spec(Box::new(share.spec.clone()), share.volatile.clone());
        let mut answers = vec![spec];
        let mut facts = match &share.pending {
            Some(pending) => pending.facts.clone(),
            None => share.facts(),
        };
        let Spent { actions, resets } = share.spent;
        facts.push(Fact::Spent { writer: WriterId(self.me.0), actions, resets });
        let contents = facts.iter().filter_map(Fact::content);
        let blobs = contents::in_frames(contents.filter_map(|content| self.blob(content)));
        answers.extend(blobs.into_iter().map(ToClient::Blobs));
        answers.extend(facts.chunks(FACTS_AT_ONCE).map(|some| ToClient::Facts(some.to_vec())));
        answers.push(ToClient::End);
        if let Some(link) = self.links.get(&link) {
            link.send_all(answers);
        }
    }
}
