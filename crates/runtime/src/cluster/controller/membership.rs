//! Other controllers: which are there, which crawls they know, and messages between peers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use argiope_controller::journal::Fact;
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::PeerInput;
use argiope_controller::peer::settings::PeerSettings;
use argiope_controller::star::coordinator::CoordinatorInput;
use argiope_explore::identity::StateMasks;
use argiope_ring::Key;
use argiope_wire::DialError;
use serde::Serialize;

use super::super::connections::LinkId;
use super::super::crawl_state::{self, CrawlShare, Duty};
use super::super::protocol::{
    Between, Blob, CrawlId, CrawlSpec, CrawlTally, KnownMember, ToTabs, encode,
};
use super::crawlers::Asker;
use super::dispatcher::{Dispatcher, ProcessEvent, short, shown};

/// A controller without a connection that was silent for this long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Two controllers of a crawl that do not know each other after this time may be in two rings.
const APART: Duration = Duration::from_secs(5);
/// The longest time of a failover.
const FAILOVER: Duration = Duration::from_secs(5);
/// How many kept facts go into one frame.
const FACTS_AT_ONCE: usize = 256;
/// The most controllers that one knows.
const MOST_MEMBERS: usize = 10_000;

/// How long a controller that starts looks for others before it resumes crawls alone.
const DISCOVERY: Duration = Duration::from_secs(3);
/// How long an address that was not reached is left alone.
const REDIAL: Duration = Duration::from_secs(1);

/// Another controller, as it is known here.
pub struct OtherController {
    pub address: String,
    pub heard: Instant,
    /// Crawlers' tabs that are attached there.
    pub tabs: u32,
    pub shares: Vec<(CrawlId, CrawlTally)>,
    /// When to check next whether it is in another ring of a crawl.
    meeting: BTreeMap<CrawlId, Instant>,
    pub leaving: bool,
}

/// What is known of the cluster.
pub struct Membership {
    pub members: BTreeMap<Key, OtherController>,
    /// Addresses that are being dialled.
    dialling: BTreeSet<String>,
    /// Addresses that were not reached, with the time of the next attempt.
    unreached: BTreeMap<String, Instant>,
    /// Addresses at which controllers were once: dialled until one answers.
    pub addresses: BTreeSet<String>,
}

impl Membership {
    pub fn new(join: Vec<String>) -> Self {
        Self {
            members: BTreeMap::new(),
            dialling: BTreeSet::new(),
            unreached: BTreeMap::new(),
            addresses: join.into_iter().collect(),
        }
    }

    pub fn on_reached(&mut self, address: &str) {
        self.dialling.remove(address);
        self.unreached.remove(address);
    }

    pub fn on_not_reached(&mut self, address: String, error: &DialError) {
        self.dialling.remove(&address);
        // The loss of a member was logged when its connection broke.
        let was_there = self.members.values().any(|member| member.address == address);
        let before = self.unreached.insert(address, Instant::now() + REDIAL);
        match error {
            _ if before.is_some() => {}
            DialError::Unreachable { .. } if was_there => {}
            DialError::Unreachable { .. } => {
                tracing::warn!(%error, "cannot reach a controller; trying again until it answers");
            }
            _ => tracing::warn!(%error, "cannot connect to a controller"),
        }
    }
}

impl Dispatcher {
    /// A connection to another controller is there.
    pub(super) fn on_controller_connected(
        &mut self,
        link: LinkId,
        key: Key,
        address: Option<String>,
    ) {
        let Some(address) = address else {
            self.on_closed(link, "a controller must say where it listens");
            return;
        };
        // The controller that had this address before has ended.
        let gone: Vec<Key> = self
            .membership
            .members
            .iter()
            .filter(|&(&other, known)| known.address == address && other != key)
            .map(|(&other, _)| other)
            .collect();
        for other in gone {
            self.membership.members.remove(&other);
        }
        let member = OtherController {
            address: address.clone(),
            heard: Instant::now(),
            tabs: 0,
            shares: Vec::new(),
            meeting: BTreeMap::new(),
            leaving: false,
        };
        if self.membership.members.insert(key, member).is_none() {
            tracing::info!(controller = %short(key), address = %shown(&address), "a controller is there");
        }
        if self.membership.addresses.insert(address) {
            let addresses: Vec<&String> = self.membership.addresses.iter().collect();
            let bytes = encode(&addresses);
            self.disk.name("members", bytes);
        }
        let crawls: Vec<(CrawlId, CrawlSpec, StateMasks, bool)> = self
            .shares
            .iter()
            .map(|(&id, share)| (id, share.spec.clone(), share.volatile.clone(), share.stopped))
            .collect();
        for (id, spec, volatile, stopped) in crawls {
            self.send_to(key, &Between::Crawl(id, spec));
            if !volatile.is_empty() {
                self.send_to(key, &Between::Volatile(id, volatile));
            }
            if stopped {
                self.send_to(key, &Between::Stop(id));
            }
        }
        self.send_pulse(key);
    }

    /// A connection to another controller is gone.
    pub(super) fn on_disconnected(&mut self, key: Key, why: &str) {
        if self.link_to(key).is_some() {
            return; // Another connection is there.
        }
        let Some(known) = self.membership.members.get(&key) else { return };
        let (address, leaving) = (shown(&known.address), known.leaving);
        self.on_crawlers_lost(key);
        if leaving {
            self.membership.members.remove(&key);
            tracing::info!(controller = %short(key), %address, "a controller has left");
        } else {
            let reason = shown(why);
            tracing::warn!(controller = %short(key), %address, %reason, "a controller is gone");
            self.crawlers.repeat_until = Some(Instant::now() + FAILOVER);
        }
    }

    pub(super) fn link_to(&self, key: Key) -> Option<LinkId> {
        let is = |hello: &argiope_wire::Hello| {
            hello.role == argiope_wire::Role::Controller && hello.name == key.0
        };
        self.connections.links.iter().rev().find(|(_, link)| is(&link.hello)).map(|(&id, _)| id)
    }

    /// Sends to a controller. Without a connection it dials; the sender retries.
    pub(super) fn send_to(&mut self, to: Key, message: &impl Serialize) -> bool {
        if let Some(link) = self.link_to(to).and_then(|id| self.connections.links.get_mut(&id)) {
            return link.send(message);
        }
        if let Some(address) = self.membership.members.get(&to).map(|known| known.address.clone()) {
            self.dial(address);
        }
        false
    }

    fn dial(&mut self, address: String) {
        let own = self.switch.me.address.as_deref() == Some(address.as_str());
        let later =
            self.membership.unreached.get(&address).is_some_and(|&until| Instant::now() < until);
        if own || later || !self.membership.dialling.insert(address.clone()) {
            return;
        }
        let (switch, events) = (self.switch.clone(), self.events.clone());
        tokio::task::spawn_local(async move {
            let dialled = switch.transport.dial(&address, &switch.me, &switch.limits).await;
            let _ = events.send(ProcessEvent::Dialled(address, dialled));
        });
    }

    fn tallies(&self) -> Vec<(CrawlId, CrawlTally)> {
        self.shares.iter().map(|(&id, share)| (id, share.tally(self.crawlers_of(id)))).collect()
    }

    fn pulse(&self) -> Between {
        let others = self.membership.members.iter().filter(|(_, known)| !known.leaving);
        let members = others
            .map(|(&key, known)| KnownMember { key, address: known.address.clone() })
            .collect();
        Between::Pulse { members, tabs: self.tabs(), shares: self.tallies() }
    }

    fn send_pulse(&mut self, key: Key) {
        let pulse = self.pulse();
        self.send_to(key, &pulse);
    }

    /// Sends heartbeats, dials controllers without a connection, and forgets silent ones.
    pub(super) fn heartbeat(&mut self) {
        let pulse = self.pulse();
        let others: Vec<Key> = self.membership.members.keys().copied().collect();
        for &other in &others {
            self.send_to(other, &pulse);
        }
        let linked = |node: &Self, key: Key| node.link_to(key).is_some();
        for other in others {
            let silent = self
                .membership
                .members
                .get(&other)
                .is_some_and(|known| known.heard.elapsed() > FORGOTTEN);
            if silent && !linked(self, other) {
                self.membership.members.remove(&other);
            }
        }
        let here: Vec<&str> =
            self.membership.members.values().map(|known| known.address.as_str()).collect();
        let absent: Vec<String> = self
            .membership
            .addresses
            .iter()
            .filter(|address| !here.contains(&address.as_str()))
            .cloned()
            .collect();
        for address in absent {
            self.dial(address);
        }
        self.resume_pending();
        self.notify_followers();
        self.publish_metrics();
    }

    /// Resumes crawls that were kept and that no controller executes: of the controllers that have
    /// kept something, the one with the lowest key collects it and resumes; the others join it.
    fn resume_pending(&mut self) {
        if self.leaving.is_some() {
            return;
        }
        let waiting: Vec<CrawlId> = self
            .shares
            .iter()
            .filter(|(_, share)| share.pending.is_some())
            .map(|(&id, _)| id)
            .collect();
        for id in waiting {
            let has = |known: &OtherController, inside: bool| {
                known
                    .shares
                    .iter()
                    .any(|(crawl, tally)| *crawl == id && tally.inside == inside && !tally.finished)
            };
            let here =
                self.membership.members.iter().filter(|&(&key, _)| self.link_to(key).is_some());
            let here: Vec<(Key, bool, bool)> =
                here.map(|(&key, known)| (key, has(known, true), has(known, false))).collect();
            if let Some(&(through, ..)) = here.iter().find(|(_, inside, _)| *inside) {
                self.rejoin(id, through);
                continue;
            }
            let lowest = here.iter().filter(|(_, _, waits)| *waits).map(|&(key, ..)| key).min();
            if let Some(lowest) = lowest.filter(|&lowest| lowest < self.me) {
                self.send_kept(id, lowest);
                continue;
            }
            let Some(pending) = self.shares.get(&id).and_then(|share| share.pending.as_ref())
            else {
                continue;
            };
            let waits =
                |(key, _, waits): &(Key, bool, bool)| *waits && !pending.have_sent.contains(key);
            if self.began.elapsed() > DISCOVERY && !here.iter().any(waits) {
                self.revive(id);
            }
        }
    }

    /// Sends what was kept to the controller that will resume the crawl.
    fn send_kept(&mut self, id: CrawlId, to: Key) {
        let pending = self.shares.get_mut(&id).and_then(|share| share.pending.as_mut());
        let Some(pending) = pending.filter(|pending| pending.sent_to != Some(to)) else { return };
        pending.sent_to = Some(to);
        let facts = pending.facts.clone();
        let mut messages: Vec<Between> = Vec::new();
        for some in facts.chunks(FACTS_AT_ONCE) {
            let contents = some.iter().filter_map(Fact::content);
            let blobs = contents.filter_map(|content| self.disk.blob(content)).collect();
            messages.push(Between::Kept(id, some.to_vec(), blobs, false));
        }
        messages.push(Between::Kept(id, Vec::new(), Vec::new(), true));
        if let Some(link) = self.link_to(to).and_then(|link| self.connections.links.get(&link)) {
            link.send_all(messages);
        }
    }

    /// Another controller sends what it kept of a crawl that is to be resumed here.
    fn on_kept(&mut self, from: Key, id: CrawlId, facts: Vec<Fact>, last: bool) {
        let Some(pending) = self.shares.get_mut(&id).and_then(|share| share.pending.as_mut())
        else {
            return;
        };
        if last {
            pending.have_sent.insert(from);
        }
        pending.facts.extend(facts.iter().cloned());
        let kept = facts.into_iter().map(|fact| (id.0, fact)).collect();
        self.disk.append(crate::store::Batch { kept, ..Default::default() });
    }

    /// Resumes with what was kept, in the ring that others have formed meanwhile.
    fn rejoin(&mut self, id: CrawlId, through: Key) {
        let me = self.me;
        let Some(facts) =
            self.resume_with(id, |settings, facts| Peer::returning(settings, me, facts))
        else {
            return;
        };
        let through_key = short(through);
        tracing::info!(crawl = %id, through = %through_key, facts, "joining the crawl's ring");
        self.join(id, through);
        self.assign_tabs();
    }

    fn revive(&mut self, id: CrawlId) {
        let me = self.me;
        let Some(facts) =
            self.resume_with(id, |settings, facts| Peer::reviving(settings, me, facts))
        else {
            return;
        };
        tracing::info!(crawl = %id, facts, "resuming the crawl");
        self.handle_peer(id, PeerInput::Start);
        self.assign_tabs();
    }

    /// Makes a peer of what was kept. Returns how much that was.
    fn resume_with(
        &mut self,
        id: CrawlId,
        make: impl FnOnce(PeerSettings, &[Fact]) -> Peer,
    ) -> Option<usize> {
        let share = self.shares.get_mut(&id)?;
        let pending = share.pending.take()?;
        // The order was checked when the crawl was introduced.
        share.duty =
            Duty::Peer(make(crawl_state::settings(&share.spec.order).ok()?, &pending.facts));
        Some(pending.facts.len())
    }

    fn join(&mut self, id: CrawlId, through: Key) {
        if let Some(share) = self.shares.get_mut(&id) {
            share.joins_through = Some(through);
        }
        self.handle_peer(id, PeerInput::Join(through));
    }

    /// Starts a crawl and introduces it to the other controllers.
    pub(super) fn start_crawl(&mut self, id: CrawlId, spec: &CrawlSpec) -> Result<(), String> {
        let mut share = CrawlShare::new(spec.clone(), self.me)?;
        share.duty = match crawl_state::star(&spec.order)? {
            Some(division) => self.coordinator_for(id, division),
            None => {
                Duty::Peer(Peer::founder(crawl_state::settings(&spec.order)?, self.me, &[self.me]))
            }
        };
        self.introduce(id, share);
        self.handle_peer(id, PeerInput::Start);
        self.handle_coordinator(id, CoordinatorInput::Start);
        let others: Vec<Key> = self.membership.members.keys().copied().collect();
        for other in others {
            self.send_to(other, &Between::Crawl(id, spec.clone()));
        }
        self.assign_tabs();
        self.heartbeat();
        Ok(())
    }

    fn introduce(&mut self, id: CrawlId, share: CrawlShare) {
        self.disk.name(&format!("crawl/{id}"), encode(&share.spec));
        let url = shown(&share.spec.order.settings.url);
        tracing::info!(crawl = %id, %url, "there is a crawl");
        self.shares.insert(id, share);
    }

    pub(super) fn on_controller_message(&mut self, link: LinkId, from: Key, message: Between) {
        if let Some(known) = self.membership.members.get_mut(&from) {
            known.heard = Instant::now();
        }
        match message {
            Between::Pulse { members, tabs, shares } => self.on_pulse(from, members, tabs, shares),
            Between::Crawl(id, spec) => self.on_crawl(from, id, spec),
            Between::Peer(id, envelope, blobs) => {
                self.keep_blobs_of(link, blobs);
                self.handle_peer(id, PeerInput::Message(from, envelope));
            }
            Between::ForCrawler(id, crawler, message, blobs) => {
                self.disk.keep_blobs(blobs);
                self.send_to_crawler(id, crawler, message);
            }
            Between::Kept(id, facts, blobs, last) => {
                self.disk.keep_blobs(blobs);
                self.on_kept(from, id, facts, last);
            }
            Between::Returned(id, task) => self.handle_peer(id, PeerInput::TaskReturn(task)),
            Between::Probe(number, order) => {
                self.probe_for(order, Asker::Controller(from, number));
            }
            Between::Probed(number, first) => self.on_probed(number, first),
            Between::Volatile(id, masks) => self.on_volatile(id, masks, Some(from)),
            Between::Page(id, page) => {
                if let Some(share) = self.shares.get_mut(&id) {
                    share.pages.learn(&page);
                }
            }
            Between::Stop(id) => self.on_stop(id, Some(from)),
            Between::Blobs(blobs) => self.keep_blobs_of(link, blobs),
            Between::NodeReport(id, report, blobs) => {
                self.keep_blobs_of(link, blobs);
                self.handle_coordinator(id, CoordinatorInput::Report(report));
            }
            Between::News(id, crawler, news) => self.send_news(id, crawler, news),
            Between::Want(id, crawler, state) => self.describe(id, crawler, state),
            Between::Gone(id, crawler) => {
                self.handle_coordinator(id, CoordinatorInput::NodeLoss(crawler));
            }
            Between::Leaving => {
                if let Some(known) = self.membership.members.get_mut(&from) {
                    known.leaving = true;
                    self.membership.addresses.remove(&known.address);
                }
            }
        }
    }

    /// Another controller introduces a crawl.
    fn on_crawl(&mut self, from: Key, id: CrawlId, spec: CrawlSpec) {
        if self.shares.contains_key(&id) || self.leaving.is_some() {
            return;
        }
        match CrawlShare::new(spec, self.me) {
            Ok(share) => {
                let is_ring = !share.is_star();
                self.introduce(id, share);
                if is_ring {
                    self.join(id, from);
                }
                self.assign_tabs();
            }
            Err(reason) => tracing::warn!(crawl = %id, %reason, "cannot take part in the crawl"),
        }
    }

    /// Keeps contents that another controller has as well.
    fn keep_blobs_of(&mut self, link: LinkId, blobs: Vec<Blob>) {
        if let Some(link) = self.connections.links.get_mut(&link) {
            link.has.extend(blobs.iter().map(|blob| blob.content));
        }
        self.disk.keep_blobs(blobs);
    }

    fn on_pulse(
        &mut self,
        from: Key,
        members: Vec<KnownMember>,
        tabs: u32,
        shares: Vec<(CrawlId, CrawlTally)>,
    ) {
        for KnownMember { key, address } in members {
            let known = key == self.me
                || self.membership.members.contains_key(&key)
                || self.membership.members.len() >= MOST_MEMBERS
                || self.membership.members.values().any(|known| known.address == address);
            if !known {
                self.dial(address);
            }
        }
        for (id, tally) in &shares {
            let id = *id;
            let Some(share) = self.shares.get(&id) else { continue };
            if matches!(share.duty, Duty::PassOn)
                && tally.finished
                && tally.inside
                && !share.stopped
            {
                self.on_finished(id);
                continue;
            }
            if tally.finished || !tally.inside {
                continue;
            }
            if share.pending.is_some() {
                self.rejoin(id, from);
                continue;
            }
            let Some(peer) = share.peer() else { continue };
            if share.is_open() && !peer.member().is_inside() {
                // The controller through which it joins may be gone.
                if share.joins_through.is_none_or(|through| self.link_to(through).is_none()) {
                    self.join(id, from);
                }
            } else if share.is_open() && peer.member().is_inside() {
                let around = peer.member();
                let apart =
                    !around.successors().contains(&from) && around.predecessor() != Some(from);
                if apart && self.is_time_to_meet(id, from) {
                    self.handle_peer(id, PeerInput::Meet(from));
                }
            }
        }
        if let Some(known) = self.membership.members.get_mut(&from) {
            known.tabs = tabs;
            known.shares = shares;
        }
    }

    /// Whether to check that another controller is in the same ring of a crawl. A controller that
    /// has just joined gets a while in which the ring itself takes it in.
    fn is_time_to_meet(&mut self, id: CrawlId, other: Key) -> bool {
        let now = Instant::now();
        let Some(known) = self.membership.members.get_mut(&other) else { return false };
        let next = known.meeting.entry(id).or_insert(now + APART);
        if now < *next {
            return false;
        }
        *next = now + APART;
        true
    }

    /// Masks of single states hold for every crawler.
    pub(super) fn on_volatile(&mut self, id: CrawlId, masks: StateMasks, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        let before = share.volatile.clone();
        share.volatile.merge(masks);
        if share.volatile == before {
            return;
        }
        let masks = share.volatile.clone();
        self.disk.name(&format!("volatile/{id}"), encode(&masks));
        let others: Vec<Key> =
            self.membership.members.keys().copied().filter(|&key| Some(key) != from).collect();
        for other in others {
            self.send_to(other, &Between::Volatile(id, masks.clone()));
        }
        for link in self.crawlers.processes.keys() {
            if let Some(link) = self.connections.links.get_mut(link) {
                link.send(&ToTabs::Volatile(id, masks.clone()));
            }
        }
    }

    /// Stops a crawl.
    pub(super) fn on_stop(&mut self, id: CrawlId, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        if std::mem::replace(&mut share.stopped, true) {
            return;
        }
        self.disk.name(&format!("stopped/{id}"), Vec::new());
        tracing::info!(crawl = %id, "the crawl was stopped");
        let others: Vec<Key> =
            self.membership.members.keys().copied().filter(|&key| Some(key) != from).collect();
        for other in others {
            self.send_to(other, &Between::Stop(id));
        }
        self.assign_tabs();
    }
}
