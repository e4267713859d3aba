//! The effects of peers. What must be kept is written first. A message that acknowledges it waits
//! until it is on disk; nothing else waits.

use std::io::Write;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::ContentId;
use argiope_controller::peer::message::FinalCounts;
use argiope_controller::peer::message::{
    Envelope, PeerEffect, PeerInput, PeerMessage, RouteHint, Task, ToCrawler,
};
use argiope_controller::star::ToNode;
use argiope_explore::id::StateKey;
use argiope_ring::Key;

use super::super::contents;
use super::super::crawl_state::{CrawlShare, Duty};
use super::super::protocol::{Between, Blob, CrawlId, ToTabs, encode};
use super::dispatcher::Dispatcher;
use super::timers::CrawlTimer;

/// An effect that waits for the disk.
pub enum Outgoing {
    /// A message to another controller.
    Send(CrawlId, Key, Box<Envelope>),
    /// A crawl has ended, with these counts.
    Finished(CrawlId, Option<FinalCounts>),
    /// A crawl's ring was left.
    Left(CrawlId),
    /// The coordinator of a star answers a crawler.
    News(CrawlId, CrawlerId, Box<ToNode>),
}

impl Outgoing {
    /// Roughly how many bytes it holds.
    pub fn weight(&self) -> usize {
        let envelope = match self {
            Self::Send(_, _, envelope) => envelope,
            Self::Finished(..) | Self::Left(_) | Self::News(..) => return 256,
        };
        let facts = match &envelope.message {
            PeerMessage::Collect(collect) => collect.facts.len() + collect.seen.len(),
            PeerMessage::HandOff { facts, .. }
            | PeerMessage::Bequest { facts, .. }
            | PeerMessage::Exists { facts, .. }
            | PeerMessage::Replicate(_, facts) => facts.len(),
            _ => 0,
        };
        256 + 256 * (facts + envelope.hints.len() + envelope.done.len())
    }

    /// Whether its receiver asks again if it is lost.
    pub fn is_retried(&self) -> bool {
        matches!(self, Self::Send(..) | Self::News(..))
    }
}

impl Dispatcher {
    /// Gives an input to the peer of a crawl and carries out its effects.
    pub(super) fn handle_peer(&mut self, crawl: CrawlId, input: PeerInput) {
        let began = Instant::now();
        self.work.begin(began);
        let now = self.now();
        let Some(share) = self.shares.get_mut(&crawl).filter(|share| !share.is_over()) else {
            return;
        };
        let Duty::Peer(peer) = &mut share.duty else { return };
        let mut effects = Vec::new();
        peer.handle(now, input, &mut effects);
        let entered = peer.member().is_inside() && share.lifecycle.is_outside();
        if entered {
            share.lifecycle.on_entered();
        }
        let (kept, effects): (Vec<_>, Vec<_>) =
            effects.into_iter().partition(|effect| matches!(effect, PeerEffect::Keep(_)));
        self.disk.keep(crawl, kept.into_iter().filter_map(PeerEffect::into_kept));
        for effect in effects {
            self.carry_out(crawl, effect);
        }
        if entered {
            self.assign_tabs();
        }
        let worked = self.work.worked_since(began);
        if let Some(Duty::Peer(peer)) = self.shares.get_mut(&crawl).map(|share| &mut share.duty) {
            peer.worked(u64::try_from(worked.as_micros()).unwrap_or(u64::MAX));
        }
    }

    fn carry_out(&mut self, crawl: CrawlId, effect: PeerEffect) {
        match effect {
            PeerEffect::Send(to, envelope) => {
                if contents::acknowledges(&envelope) {
                    self.after_writes(Outgoing::Send(crawl, to, Box::new(envelope)));
                } else {
                    self.send_envelope(crawl, to, envelope);
                }
            }
            PeerEffect::Broadcast(hints) => self.broadcast(crawl, &hints),
            PeerEffect::Tell(crawler, told) => {
                if let ToCrawler::Task(Task { job: Some(job), look, .. }) = &told {
                    self.jobs += 1;
                    // A task that looks at a state repeats what was executed.
                    if !look {
                        self.trace("assigned", job.state, job.action);
                    }
                }
                self.send_to_crawler(crawl, crawler, told);
            }
            PeerEffect::Executed(step) => self.trace("executed", step.from, step.action),
            PeerEffect::Wake(timer, after) => self.set_timer(crawl, CrawlTimer::Peer(timer), after),
            PeerEffect::Left => self.after_writes(Outgoing::Left(crawl)),
            PeerEffect::Finished(counts) => {
                self.after_writes(Outgoing::Finished(crawl, Some(counts)));
            }
            // Written already.
            PeerEffect::Keep(_) => {}
        }
    }

    /// Sends hints to every controller of the crawl's ring.
    fn broadcast(&mut self, crawl: CrawlId, hints: &[RouteHint]) {
        let share = self.shares.get(&crawl);
        let initial =
            share.and_then(CrawlShare::peer).and_then(|peer| peer.known().graph().initial());
        let members = self.membership.members.iter();
        let inside = members.filter(|(_, known)| known.is_inside(crawl)).map(|(&key, _)| key);
        for other in inside.collect::<Vec<_>>() {
            let envelope = Envelope {
                initial,
                hints: hints.to_vec(),
                ..Envelope::new(None, PeerMessage::Learned)
            };
            self.send_envelope(crawl, other, envelope);
        }
    }

    /// Traces what was assigned, executed or looked at, for tests that compare controllers.
    pub(super) fn trace(&mut self, what: &str, state: StateKey, action: impl std::fmt::Debug) {
        if let Some(trace) = &mut self.trace {
            let time =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
            // A test that misses a line fails.
            let _ = writeln!(trace, "{time} {what} {state:?} {action:?}");
        }
    }

    /// Releases an effect when everything that was appended before is on disk.
    pub(super) fn after_writes(&mut self, outgoing: Outgoing) {
        if self.disk.is_durable() {
            self.release(outgoing);
        } else {
            self.dropped += u64::from(!self.disk.hold(outgoing));
        }
    }

    /// Everything up to this ticket is on disk.
    pub(super) fn on_durable(&mut self, ticket: u64) {
        self.disk.on_durable(ticket);
        while let Some(outgoing) = self.disk.next_released() {
            self.release(outgoing);
        }
    }

    fn release(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send(crawl, to, envelope) => self.send_envelope(crawl, to, *envelope),
            Outgoing::Left(crawl) => {
                if let Some(share) = self.shares.get_mut(&crawl) {
                    share.left = true;
                }
            }
            Outgoing::Finished(crawl, counts) => self.on_finished(crawl, counts),
            Outgoing::News(crawl, crawler, told) => self.send_news(crawl, crawler, *told),
        }
    }

    /// A crawl is over.
    pub(super) fn on_finished(&mut self, crawl: CrawlId, counts: Option<FinalCounts>) {
        let Some(share) = self.shares.get_mut(&crawl) else { return };
        if !share.is_finished() {
            share.end(counts);
            let last = share.tally(0);
            self.disk.forget_kept(crawl);
            self.disk.name(&format!("finished/{crawl}"), encode(&last));
            tracing::info!(%crawl, "the crawl is over");
            self.assign_tabs();
            self.heartbeat();
        }
    }

    fn send_envelope(&mut self, crawl: CrawlId, to: Key, envelope: Envelope) {
        let wanted = contents::of(&envelope);
        self.send_with(to, &wanted, |blobs| Between::Peer(crawl, envelope, blobs));
    }

    /// Sends a message with those of the wanted contents that the receiver lacks. What does not fit
    /// into its frame goes before it. A message that is lost half-way is retried with the rest.
    fn send_with(
        &mut self,
        to: Key,
        wanted: &[ContentId],
        message: impl FnOnce(Vec<Blob>) -> Between,
    ) {
        let (mut blobs, mut bytes) = (Vec::new(), 0);
        for content in self.lacked_by(to, wanted) {
            if bytes > contents::BYTES_AT_ONCE {
                bytes = 0;
                if !self.send_blobs(to, std::mem::take(&mut blobs), Between::Blobs) {
                    return;
                }
            }
            let blob = self.disk.blob(content);
            bytes += blob.as_ref().map_or(0, |blob| blob.bytes.len());
            blobs.extend(blob);
        }
        self.send_blobs(to, blobs, message);
    }

    /// Sends one frame with contents. Returns whether it is on its way.
    fn send_blobs(
        &mut self,
        to: Key,
        blobs: Vec<Blob>,
        message: impl FnOnce(Vec<Blob>) -> Between,
    ) -> bool {
        let contents = blobs.iter().map(|blob| blob.content).collect();
        let sent = self.send_to(to, &message(blobs));
        if sent {
            self.note_has(to, contents);
        }
        sent
    }

    /// The controller that a crawler is attached to, if it is known.
    pub(super) fn home_of(&self, crawler: CrawlerId) -> Option<Key> {
        let mut known = std::iter::once(&self.me).chain(self.membership.members.keys());
        known.find(|&&key| home(crawler) == short_number(key)).copied()
    }

    /// Sends to a crawler, through the controller that it is attached to.
    pub(super) fn send_to_crawler(&mut self, crawl: CrawlId, crawler: CrawlerId, told: ToCrawler) {
        let wanted = match &told {
            ToCrawler::Like(_, content) => content.iter().copied().collect(),
            ToCrawler::Task(_) | ToCrawler::Finished => Vec::new(),
        };
        let task = match &told {
            ToCrawler::Task(task) => Some(task.id),
            ToCrawler::Like(..) | ToCrawler::Finished => None,
        };
        let home = self.home_of(crawler);
        if let Some(to) = home.filter(|&to| to != self.me && self.link_to(to).is_some()) {
            self.send_with(to, &wanted, |blobs| Between::ForCrawler(crawl, crawler, told, blobs));
            return;
        }
        let Some(&link) = self.crawlers.attached.get(&crawler) else {
            // The crawler works for another crawl, or its controller is gone: the task is free.
            if let Some(task) = task {
                self.on_returned(crawl, task);
            }
            return;
        };
        if let Some(task) = task {
            self.crawlers.unanswered.remove(&crawler);
            self.crawlers.under_way.insert(crawler, (link, crawl, task));
        }
        let blobs = wanted.iter().filter_map(|&content| self.disk.blob(content)).collect();
        self.send(link, &ToTabs::ForTab(crawl, crawler, told, blobs));
    }

    /// Of some contents, those that another controller lacks.
    pub(super) fn blobs_for(&self, to: Key, wanted: &[ContentId]) -> Vec<Blob> {
        let lacked = self.lacked_by(to, wanted).into_iter();
        lacked.filter_map(|content| self.disk.blob(content)).collect()
    }

    /// Of some contents, the names of those that another controller lacks.
    fn lacked_by(&self, to: Key, wanted: &[ContentId]) -> Vec<ContentId> {
        let Some(link) = self.link_to(to) else { return Vec::new() };
        wanted.iter().copied().filter(|content| !link.has.contains(content)).collect()
    }

    /// Another controller has these contents now.
    pub(super) fn note_has(&mut self, to: Key, contents: Vec<ContentId>) {
        if let Some(link) = self.link_to_mut(to) {
            link.has.extend(contents);
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
    CrawlerId(u64::from(short_number(me)) << 32 | u64::from(number))
}
