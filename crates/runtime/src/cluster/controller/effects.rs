//! How a controller carries out what its peers ask for. What must be kept is written first; whatever says so to others
//! waits until it is on disk, and nothing else does.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::ContentId;
use argiope_controller::peer::message::{
    Envelope, PeerEffect, PeerInput, PeerMessage, Task, ToCrawler,
};
use argiope_controller::star::ToNode;
use argiope_explore::id::StateKey;
use argiope_ring::Key;

use super::super::contents;
use super::super::crawl_state::{CrawlShare, Duty};
use super::super::protocol::{Between, Blob, CrawlId, ToTabs};
use super::{Alarm, Node, short};
use crate::store::{Batch, ContentHash};

/// What waits for the disk.
pub enum Outgoing {
    /// A message to another controller.
    Send(CrawlId, Key, Box<Envelope>),
    /// A crawl is over.
    Finished(CrawlId),
    /// A crawl's ring was left.
    Left(CrawlId),
    /// The coordinator of a star answers a crawler.
    News(CrawlId, CrawlerId, Box<ToNode>),
}

impl Node<'_> {
    /// Tells a peer something and carries out what it asks for.
    pub(super) fn tell(&mut self, crawl: CrawlId, input: PeerInput) {
        let now = self.now();
        let Some(share) =
            self.shares.get_mut(&crawl).filter(|share| share.pending.is_none() && !share.stopped)
        else {
            return;
        };
        let Duty::Peer(peer) = &mut share.duty else { return };
        let mut effects = Vec::new();
        peer.handle(now, input, &mut effects);
        let mut kept = Vec::new();
        effects.retain(|effect| match effect {
            PeerEffect::Keep(fact) => {
                kept.push((crawl.0, fact.clone()));
                false
            }
            _ => true,
        });
        if !kept.is_empty() {
            self.append(Batch { kept, ..Batch::default() });
        }
        for effect in effects {
            self.carry_out(crawl, effect);
        }
        let now = self.now();
        if let Some(Duty::Peer(peer)) = self.shares.get_mut(&crawl).map(|share| &mut share.duty) {
            peer.busy_until(now);
        }
    }

    fn carry_out(&mut self, crawl: CrawlId, effect: PeerEffect) {
        match effect {
            PeerEffect::Send(to, envelope) => {
                if self.appended > self.durable && contents::acknowledges(&envelope) {
                    self.waiting
                        .push_back((self.appended, Outgoing::Send(crawl, to, Box::new(envelope))));
                } else {
                    self.send_envelope(crawl, to, envelope);
                }
            }
            PeerEffect::Broadcast(hints) => {
                let share = self.shares.get(&crawl);
                let initial = share
                    .and_then(CrawlShare::peer)
                    .and_then(|peer| peer.known().graph().initial());
                let inside = |shares: &[(CrawlId, super::CrawlTally)]| {
                    shares.iter().any(|(id, tally)| *id == crawl && tally.inside)
                };
                let others: Vec<Key> = self
                    .members
                    .iter()
                    .filter(|(_, known)| inside(&known.shares))
                    .map(|(&key, _)| key)
                    .collect();
                for other in others {
                    let envelope = Envelope {
                        initial,
                        hints: hints.clone(),
                        ..Envelope::new(None, PeerMessage::Learned)
                    };
                    self.send_envelope(crawl, other, envelope);
                }
            }
            PeerEffect::Tell(crawler, told) => {
                if let ToCrawler::Task(Task { job: Some(job), look, .. }) = &told {
                    self.jobs += 1;
                    // One that is to look at a state goes over what was done.
                    if !look {
                        self.trace("assigned", job.state, job.action);
                    }
                }
                self.tell_crawler(crawl, crawler, told);
            }
            PeerEffect::Executed(step) => self.trace("executed", step.from, step.action),
            PeerEffect::Wake(timer, after) => self.remind(crawl, Alarm::Peer(timer), after),
            PeerEffect::Left => self.after_the_disk(Outgoing::Left(crawl)),
            PeerEffect::Finished => self.after_the_disk(Outgoing::Finished(crawl)),
            // Written already.
            PeerEffect::Keep(_) => {}
        }
    }

    /// Notes when something was given out, done or looked at, for tests that hold it against what others note.
    pub(super) fn trace(&mut self, what: &str, state: StateKey, action: impl std::fmt::Debug) {
        if let Some(trace) = &mut self.trace {
            let time =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
            // A test that finds nothing fails.
            let _ = writeln!(trace, "{time} {what} {state:?} {action:?}");
        }
    }

    /// Lets something out when everything that was written before is on disk.
    pub(super) fn after_the_disk(&mut self, outgoing: Outgoing) {
        if self.appended > self.durable {
            self.waiting.push_back((self.appended, outgoing));
        } else {
            self.let_out(outgoing);
        }
    }

    /// Everything up to this ticket is on disk.
    pub(super) fn is_durable(&mut self, ticket: u64) {
        self.durable = ticket;
        self.recent.retain(|_, (written, _)| *written > ticket);
        while self.waiting.front().is_some_and(|&(waits_for, _)| waits_for <= ticket) {
            if let Some((_, outgoing)) = self.waiting.pop_front() {
                self.let_out(outgoing);
            }
        }
    }

    fn let_out(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send(crawl, to, envelope) => self.send_envelope(crawl, to, *envelope),
            Outgoing::Left(crawl) => {
                if let Some(share) = self.shares.get_mut(&crawl) {
                    share.left = true;
                }
            }
            Outgoing::Finished(crawl) => self.finished(crawl),
            Outgoing::News(crawl, crawler, told) => self.news_for(crawl, crawler, *told),
        }
    }

    /// A crawl is over.
    pub(super) fn finished(&mut self, crawl: CrawlId) {
        let Some(share) = self.shares.get_mut(&crawl) else { return };
        if !std::mem::replace(&mut share.finished, true) {
            self.name(&format!("finished/{crawl}"), Vec::new());
            (self.say)(&format!("crawl {crawl} is over"));
            self.assign_tabs();
            self.beat();
        }
    }

    fn send_envelope(&mut self, crawl: CrawlId, to: Key, envelope: Envelope) {
        let wanted = contents::of(&envelope);
        let blobs = self.blobs_for(to, &wanted);
        let sent: Vec<ContentId> = blobs.iter().map(|blob| blob.content).collect();
        if self.send_to(to, &Between::Peer(crawl, envelope, blobs)) {
            self.has_now(to, sent);
        }
    }

    /// Tells a crawler something, by way of the controller that it is attached to.
    pub(super) fn tell_crawler(&mut self, crawl: CrawlId, crawler: CrawlerId, told: ToCrawler) {
        let wanted = match &told {
            ToCrawler::Like(_, content) => content.iter().copied().collect(),
            ToCrawler::Task(_) | ToCrawler::Finished => Vec::new(),
        };
        if home(crawler) == short_number(self.me) {
            let Some(&(link, _)) = self.crawlers.get(&crawler) else { return };
            if let ToCrawler::Task(task) = &told {
                self.unanswered.remove(&crawler);
                self.under_way.insert(crawler, (crawl, task.id));
            }
            let blobs = wanted.iter().filter_map(|&content| self.blob(content)).collect();
            if let Some(link) = self.links.get_mut(&link) {
                link.send(&ToTabs::Tell(crawl, crawler, told, blobs));
            }
            return;
        }
        let at = self.members.keys().copied().find(|&key| home(crawler) == short_number(key));
        let Some(to) = at else { return };
        let blobs = self.blobs_for(to, &wanted);
        let sent: Vec<ContentId> = blobs.iter().map(|blob| blob.content).collect();
        if self.send_to(to, &Between::Tell(crawl, crawler, told, blobs)) {
            self.has_now(to, sent);
        }
    }

    /// Those of the contents that another controller does not have yet.
    pub(super) fn blobs_for(&self, to: Key, wanted: &[ContentId]) -> Vec<Blob> {
        let Some(link) = self.link_to(to).and_then(|id| self.links.get(&id)) else {
            return Vec::new();
        };
        let new = wanted.iter().filter(|content| !link.has.contains(content));
        new.filter_map(|&content| self.blob(content)).collect()
    }

    /// Another controller was sent these.
    pub(super) fn has_now(&mut self, to: Key, contents: Vec<ContentId>) {
        if let Some(link) = self.link_to(to).and_then(|id| self.links.get_mut(&id)) {
            link.has.extend(contents);
        }
    }

    /// The bytes of a content, if they are here.
    pub(super) fn blob(&self, content: ContentId) -> Option<Blob> {
        let bytes = match self.recent.get(&content) {
            Some((_, bytes)) => bytes.to_vec(),
            None => self.store.blob(ContentHash(content.0)).ok()??,
        };
        Some(Blob { content, bytes })
    }

    /// Takes in contents, if they are what their names say.
    pub(super) fn take_blobs(&mut self, blobs: Vec<Blob>) {
        let new = blobs.into_iter().filter(|blob| {
            contents::is_true(blob)
                && !self.recent.contains_key(&blob.content)
                && !self.store.has_blob(ContentHash(blob.content.0)).unwrap_or(false)
        });
        let new: Vec<Blob> = new.collect();
        if new.is_empty() {
            return;
        }
        self.append(Batch {
            blobs: new.iter().map(|blob| blob.bytes.clone()).collect(),
            ..Batch::default()
        });
        for blob in new {
            self.recent.insert(blob.content, (self.appended, blob.bytes.into()));
        }
    }
}

/// The controller that a crawler is attached to, by the beginning of its key.
pub(super) fn home(crawler: CrawlerId) -> u32 {
    (crawler.0 >> 32) as u32
}

/// The beginning of a key: what names of crawlers begin with.
pub(super) fn short_number(key: Key) -> u32 {
    (key.0 >> 96) as u32
}

/// The name of a crawler that is attached to a controller.
pub(super) fn crawler_of(me: Key, number: u32) -> CrawlerId {
    debug_assert_eq!(short(me), format!("{:08x}", short_number(me)));
    CrawlerId(u64::from(short_number(me)) << 32 | u64::from(number))
}
