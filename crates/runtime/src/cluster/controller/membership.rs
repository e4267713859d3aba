//! Other controllers: which are there, which crawls they know, and messages between peers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use argiope_browser::Access;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::lifecycle::{Lifecycle, LifecycleStep, Standing};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{FinalCounts, PeerInput};
use argiope_controller::star::coordinator::CoordinatorInput;
use argiope_ring::Key;
use argiope_wire::DialError;

use super::super::connections::{Link, LinkId};
use super::super::contents;
use super::super::crawl_state::{self, CrawlShare, Duty};
use super::super::protocol::{
    Between, Blob, CrawlId, CrawlSpec, CrawlTally, KnownMember, ToTabs, encode,
};
use super::crawlers::Asker;
use super::dispatcher::{Dispatcher, ProcessEvent, short, shown};
use crate::learned::PageFindings;

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
/// The most controllers that are dialled at a time. Others are dialled with a later heartbeat.
const MOST_DIALLED: usize = 256;

/// How long a controller that starts looks for others before it resumes crawls alone, in
/// microseconds.
pub(super) const DISCOVERY: u64 = 3_000_000;
/// The shortest time between two log lines about refused messages.
const LOG_PERIOD: Duration = Duration::from_secs(10);
/// How long an address that was not reached is left alone.
const REDIAL: Duration = Duration::from_secs(1);

/// Another controller, as it is known here.
pub struct OtherController {
    pub address: String,
    pub heard: Instant,
    /// Crawlers' tabs that are attached there.
    pub tabs: u32,
    pub shares: BTreeMap<CrawlId, CrawlTally>,
    /// When to check next whether it is in another ring of a crawl.
    meeting: BTreeMap<CrawlId, Instant>,
    pub leaving: bool,
}

impl OtherController {
    /// Whether it is in the ring of a crawl, or coordinates it.
    pub fn is_inside(&self, crawl: CrawlId) -> bool {
        self.shares.get(&crawl).is_some_and(CrawlTally::is_inside)
    }
}

/// Messages of controllers that peers have refused.
#[derive(Default)]
pub struct Refusals {
    /// How many there were.
    pub count: u64,
    /// How many the present peers have counted.
    seen: u64,
    /// How many were logged, and when.
    logged: u64,
    last: Option<Instant>,
}

impl Refusals {
    /// Takes in how many the present peers have counted. Returns how many to log: at most one line
    /// in each period, however many a hostile controller sends.
    fn update(&mut self, seen: u64) -> Option<u64> {
        // A peer that is gone takes its count with it.
        self.count += seen.saturating_sub(self.seen);
        self.seen = seen;
        let is_due = self.last.is_none_or(|last| last.elapsed() > LOG_PERIOD);
        let new = self.count - self.logged;
        if new == 0 || !is_due {
            return None;
        }
        (self.logged, self.last) = (self.count, Some(Instant::now()));
        Some(new)
    }
}

/// What is known of the cluster.
#[derive(Default)]
pub struct Membership {
    pub members: BTreeMap<Key, OtherController>,
    /// Addresses that are being dialled.
    dialling: BTreeSet<String>,
    /// Addresses that were not reached, with the time of the next attempt.
    unreached: BTreeMap<String, Instant>,
    /// Addresses at which controllers were once: dialled until one answers.
    pub addresses: BTreeSet<String>,
    /// Those that it was told to join.
    join: BTreeSet<String>,
}

impl Membership {
    /// Knows addresses, and no controller yet.
    pub fn new(join: Vec<String>) -> Self {
        let join: BTreeSet<String> = join.into_iter().collect();
        Self { addresses: join.clone(), join, ..Self::default() }
    }

    /// Whether a known controller has this address.
    fn is_known(&self, address: &str) -> bool {
        self.members.values().any(|known| known.address == address)
    }

    /// Whether it was told to join the cluster at this address, and is in none yet.
    pub fn is_to_join(&self, address: &str) -> bool {
        self.members.is_empty() && self.join.contains(address)
    }

    pub fn on_reached(&mut self, address: &str) {
        self.dialling.remove(address);
        self.unreached.remove(address);
    }

    pub fn on_not_reached(&mut self, address: String, error: &DialError) {
        self.dialling.remove(&address);
        // The loss of a member was logged when its connection broke.
        let was_there = self.is_known(&address);
        if self.unreached.len() > MOST_MEMBERS {
            // Other controllers name these addresses. They are dialled and noted again.
            self.unreached.clear();
        }
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
        let members = &mut self.membership.members;
        members.retain(|&other, known| other == key || known.address != address);
        let member = OtherController {
            address: address.clone(),
            heard: Instant::now(),
            tabs: 0,
            shares: BTreeMap::new(),
            meeting: BTreeMap::new(),
            leaving: false,
        };
        if members.insert(key, member).is_none() {
            tracing::info!(controller = %short(key), address = %shown(&address), "a controller is there");
        }
        if self.membership.addresses.insert(address) {
            self.disk.name("members", encode(&self.membership.addresses));
        }
        let mut messages = Vec::new();
        for (&id, share) in &self.shares {
            messages.push(Between::Crawl(id, share.spec.clone(), share.spec.order.access()));
            if !share.volatile.is_empty() {
                messages.push(Between::Volatile(id, share.volatile.clone()));
            }
            if share.stopped {
                messages.push(Between::Stop(id));
            }
        }
        messages.push(self.pulse());
        for message in messages {
            self.send_to(key, &message);
        }
    }

    /// A connection to another controller is gone.
    pub(super) fn on_disconnected(&mut self, key: Key, why: &str) {
        if self.link_to(key).is_some() {
            return; // Another connection is there.
        }
        let Some(known) = self.membership.members.get(&key) else { return };
        let (address, leaving) = (shown(&known.address), known.leaving);
        self.on_crawlers_lost(key);
        self.shares.values_mut().for_each(|share| share.lifecycle.on_disconnected(key));
        if leaving {
            self.membership.members.remove(&key);
            tracing::info!(controller = %short(key), %address, "a controller has left");
        } else {
            let reason = shown(why);
            tracing::warn!(controller = %short(key), %address, %reason, "a controller is gone");
            self.crawlers.repeat_until = Some(Instant::now() + FAILOVER);
        }
    }

    pub(super) fn link_to(&self, key: Key) -> Option<&Link> {
        self.links.values().rev().find(|link| link.leads_to(key))
    }

    pub(super) fn link_to_mut(&mut self, key: Key) -> Option<&mut Link> {
        self.links.values_mut().rev().find(|link| link.leads_to(key))
    }

    /// Sends to a controller. Without a connection it dials; the sender retries.
    pub(super) fn send_to(&mut self, to: Key, message: &Between) -> bool {
        if let Some(link) = self.link_to_mut(to) {
            return link.send(message);
        }
        if let Some(address) = self.membership.members.get(&to).map(|known| known.address.clone()) {
            self.dial(address);
        }
        false
    }

    /// Sends to every other controller, except to the one that it comes from.
    pub(super) fn send_to_others(&mut self, from: Option<Key>, message: &Between) {
        let others: Vec<Key> = self.membership.members.keys().copied().collect();
        for other in others.into_iter().filter(|&other| Some(other) != from) {
            self.send_to(other, message);
        }
    }

    fn dial(&mut self, address: String) {
        let own = self.switch.me.address.as_deref() == Some(address.as_str());
        let later =
            self.membership.unreached.get(&address).is_some_and(|&until| Instant::now() < until);
        let is_full = self.membership.dialling.len() >= MOST_DIALLED;
        if own || later || is_full || !self.membership.dialling.insert(address.clone()) {
            return;
        }
        let (switch, events) = (self.switch.clone(), self.events.clone());
        tokio::task::spawn_local(async move {
            let dialled = switch.transport.dial(&address, &switch.me, &switch.limits).await;
            let _ = events.send(ProcessEvent::Dialled(address, dialled));
        });
    }

    /// The progress of this controller in each crawl.
    pub(super) fn tallies(&self) -> BTreeMap<CrawlId, CrawlTally> {
        let is_up = |key| self.link_to(key).is_some();
        let tally = |(&id, share): (&CrawlId, &CrawlShare)| {
            let replicas = share.peer().map_or(0, |peer| peer.replicas(is_up) as u32);
            (id, CrawlTally { replicas, ..share.tally(self.crawlers_of(id)) })
        };
        self.shares.iter().map(tally).collect()
    }

    fn pulse(&self) -> Between {
        let others = self.membership.members.iter().filter(|(_, known)| !known.leaving);
        let members = others
            .map(|(&key, known)| KnownMember { key, address: known.address.clone() })
            .collect();
        Between::Pulse { members, tabs: self.tabs(), shares: self.tallies() }
    }

    /// Sends heartbeats, dials controllers without a connection, and forgets silent ones.
    pub(super) fn heartbeat(&mut self) {
        let pulse = self.pulse();
        self.send_to_others(None, &pulse);
        self.membership.members.retain(|&key, known| {
            known.heard.elapsed() <= FORGOTTEN || self.links.values().any(|link| link.leads_to(key))
        });
        let mut absent = self.membership.addresses.clone();
        absent.retain(|address| !self.membership.is_known(address));
        for address in absent {
            self.dial(address);
        }
        for id in self.crawls_where(|_| true) {
            self.take_part(id);
        }
        self.keep_costs();
        self.count_refusals();
        self.assign_tabs();
        self.notify_followers();
        self.publish_metrics();
    }

    /// How the connected controllers stand in a crawl, without those that leave.
    fn standings(&self, id: CrawlId) -> BTreeMap<Key, Standing> {
        let members = self.membership.members.iter().filter(|(_, known)| !known.leaving);
        let connected = members.filter(|&(&key, _)| self.link_to(key).is_some());
        connected.filter_map(|(&key, known)| Some((key, known.shares.get(&id)?.standing))).collect()
    }

    /// Decides how to take part in a crawl, now that something was heard of the others.
    fn take_part(&mut self, id: CrawlId) {
        if self.leaving.is_some() {
            return;
        }
        let (now, others) = (self.now(), self.standings(id));
        let Some(share) = self.shares.get_mut(&id).filter(|share| !share.stopped) else { return };
        if share.is_star() {
            // Nothing is to be decided in a star but its end.
            if !share.is_over() && others.values().any(|&other| other == Standing::Finished) {
                self.on_finished(id, self.counts_at_end(id));
            }
            return;
        }
        match share.lifecycle.decide(now, &others) {
            Some(LifecycleStep::Join(through)) => self.resume(id, Some(through)),
            Some(LifecycleStep::Resume) => self.resume(id, None),
            Some(LifecycleStep::SendFacts(to)) => self.send_kept(id, to),
            Some(LifecycleStep::Finish) => self.on_finished(id, self.counts_at_end(id)),
            None => {}
        }
    }

    /// The counts of a crawl that has ended elsewhere.
    fn counts_at_end(&self, id: CrawlId) -> Option<FinalCounts> {
        self.membership.members.values().find_map(|known| known.shares.get(&id)?.ended)
    }

    /// Sends what was kept to the controller that will resume the crawl.
    fn send_kept(&mut self, id: CrawlId, to: Key) {
        let Some(share) = self.shares.get(&id) else { return };
        let facts = share.lifecycle.facts().to_vec();
        let contents: Vec<ContentId> = facts.iter().filter_map(Fact::content).collect();
        let disk = self.disk.reader(&contents);
        // Contents come before the facts that name them, in frames that are made one by one.
        let blobs = contents.into_iter().filter_map(move |content| disk.blob(content));
        let blobs = contents::frames(blobs).map(Between::Blobs);
        let mut facts = facts.into_iter();
        let facts = std::iter::from_fn(move || {
            let some: Vec<Fact> = facts.by_ref().take(FACTS_AT_ONCE).collect();
            (!some.is_empty()).then_some(Between::Kept(id, some, Vec::new(), false))
        });
        let last = Between::Kept(id, Vec::new(), Vec::new(), true);
        if let Some(link) = self.link_to(to) {
            link.send_each(blobs.chain(facts).chain([last]), || {});
        }
    }

    /// Another controller sends what it kept of a crawl that is to be resumed here.
    fn on_kept(&mut self, from: Key, id: CrawlId, facts: Vec<Fact>, is_last: bool) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        share.lifecycle.on_facts(from, facts.clone(), is_last);
        self.disk.keep(id, facts);
    }

    /// Resumes with what was kept: alone, or in the ring that others have formed meanwhile.
    fn resume(&mut self, id: CrawlId, through: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        // The order was checked when the crawl was introduced.
        let Ok(settings) = crawl_state::settings(&share.spec.order) else { return };
        let facts = share.lifecycle.facts();
        let count = facts.len();
        if let Some(through) = through {
            share.duty = Duty::Peer(Peer::returning(settings, self.me, facts));
            let through_key = short(through);
            tracing::info!(crawl = %id, through = %through_key, facts = count, "joining the crawl's ring");
            self.handle_peer(id, PeerInput::Join(through));
        } else {
            share.duty = Duty::Peer(Peer::reviving(settings, self.me, facts));
            tracing::info!(crawl = %id, facts = count, "resuming the crawl");
            self.handle_peer(id, PeerInput::Start);
        }
    }

    /// Starts a crawl and introduces it to the other controllers.
    pub(super) fn start_crawl(&mut self, id: CrawlId, spec: &CrawlSpec) -> Result<(), String> {
        let mut share = CrawlShare::new(spec.clone(), self.me)?;
        share.lifecycle = Lifecycle::founder(self.me);
        share.duty = match crawl_state::star(&spec.order)? {
            Some(division) => self.coordinator_for(id, division),
            None => {
                Duty::Peer(Peer::founder(crawl_state::settings(&spec.order)?, self.me, &[self.me]))
            }
        };
        self.introduce(id, share);
        self.handle_peer(id, PeerInput::Start);
        self.handle_coordinator(id, CoordinatorInput::Start);
        self.send_to_others(None, &Between::Crawl(id, spec.clone(), spec.order.access()));
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
            Between::Crawl(id, spec, access) => {
                let order = spec.order.with_access(access);
                self.on_crawl(id, CrawlSpec { order, ..spec });
            }
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
            Between::Probe(number, order, access) => {
                self.probe_for(order.with_access(access), Asker::Controller(from, number));
            }
            Between::Probed(number, first) => self.on_probed(number, first),
            Between::Volatile(id, findings) => self.on_volatile(id, findings, Some(from)),
            Between::Page(id, page) => {
                if let Some(share) = self.shares.get_mut(&id) {
                    share.pages.learn(&page);
                }
            }
            Between::Stop(id) => self.on_stop(id, Some(from)),
            Between::Trouble(id, why) => self.on_trouble(id, &why, Some(from)),
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
    fn on_crawl(&mut self, id: CrawlId, spec: CrawlSpec) {
        if self.shares.contains_key(&id) {
            self.take_access(id, spec.order.access());
            return;
        }
        if self.leaving.is_some() {
            return;
        }
        match CrawlShare::new(spec, self.me) {
            // It joins with the next heartbeat of a member.
            Ok(share) => {
                self.introduce(id, share);
                self.assign_tabs();
            }
            Err(reason) => tracing::warn!(crawl = %id, %reason, "cannot take part in the crawl"),
        }
    }

    /// Keeps contents that another controller has as well.
    fn keep_blobs_of(&mut self, link: LinkId, blobs: Vec<Blob>) {
        if let Some(link) = self.links.get_mut(&link) {
            link.has.extend(blobs.iter().map(|blob| blob.content));
        }
        self.disk.keep_blobs(blobs);
    }

    fn on_pulse(
        &mut self,
        from: Key,
        members: Vec<KnownMember>,
        tabs: u32,
        shares: BTreeMap<CrawlId, CrawlTally>,
    ) {
        for KnownMember { key, address } in members {
            let known = key == self.me
                || self.membership.members.contains_key(&key)
                || self.membership.members.len() >= MOST_MEMBERS
                || self.membership.is_known(&address);
            if !known {
                self.dial(address);
            }
        }
        let crawls: Vec<(CrawlId, bool)> =
            shares.iter().map(|(&id, tally)| (id, tally.is_inside())).collect();
        for (id, tally) in &shares {
            if let Some(share) = self.shares.get_mut(id) {
                share.on_spent_elsewhere(&tally.writers);
            }
        }
        if let Some(known) = self.membership.members.get_mut(&from) {
            known.tabs = tabs;
            known.shares = shares;
        }
        for (id, is_inside) in crawls {
            self.take_part(id);
            let share = self.shares.get(&id).filter(|share| is_inside && share.is_open());
            let is_apart = share.and_then(CrawlShare::peer).is_some_and(|peer| {
                let around = peer.member();
                !around.successors().contains(&from) && around.predecessor() != Some(from)
            });
            if is_apart && self.is_time_to_meet(id, from) {
                self.handle_peer(id, PeerInput::Meet(from));
            }
        }
    }

    fn count_refusals(&mut self) {
        let peers = self.shares.values().filter_map(CrawlShare::peer);
        if let Some(count) = self.refusals.update(peers.map(Peer::refused).sum()) {
            tracing::warn!(count, "refused messages of controllers that no correct one sends");
        }
    }

    /// Writes what crawlers have spent, where that has changed.
    fn keep_costs(&mut self) {
        for (id, share) in &mut self.shares {
            if std::mem::take(&mut share.has_new_costs) {
                self.disk.name(&format!("spent/{id}"), encode(&share.writers));
            }
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

    /// What one crawler has learned about pages holds for every crawler.
    pub(super) fn on_volatile(&mut self, id: CrawlId, findings: PageFindings, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        let before = share.volatile.clone();
        share.volatile.merge(findings);
        if share.volatile == before {
            return;
        }
        let findings = share.volatile.clone();
        self.disk.name(&format!("volatile/{id}"), encode(&findings));
        self.send_to_others(from, &Between::Volatile(id, findings.clone()));
        self.send_to_crawlers(&ToTabs::Volatile(id, findings));
    }

    /// Stops a crawl.
    pub(super) fn on_stop(&mut self, id: CrawlId, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        if std::mem::replace(&mut share.stopped, true) {
            return;
        }
        share.spec.order.settings.access = Access::default();
        let last = share.tally(0);
        self.disk.name(&format!("stopped/{id}"), encode(&last));
        tracing::info!(crawl = %id, "the crawl was stopped");
        self.send_to_others(from, &Between::Stop(id));
        self.assign_tabs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_messages_are_counted_and_logged_once_in_a_while() {
        let mut refusals = Refusals::default();
        assert_eq!(refusals.update(0), None);
        assert_eq!(refusals.update(3), Some(3));
        assert_eq!(refusals.update(1_000), None, "the last line is too recent");
        // A peer has ended, and another one has counted two.
        assert_eq!((refusals.update(0), refusals.update(2), refusals.count), (None, None, 1_002));
        refusals.last = None;
        assert_eq!(refusals.update(2), Some(999));
    }
}
