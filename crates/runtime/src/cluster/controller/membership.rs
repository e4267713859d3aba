//! Other controllers: who is there, which crawls there are, and messages between peers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use argiope_controller::journal::Fact;
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::PeerInput;
use argiope_controller::peer::settings::PeerSettings;
use argiope_controller::star::coordinator::CoordinatorInput;
use argiope_explore::identity::StateMasks;
use argiope_ring::Key;
use serde::Serialize;

use super::super::connections::LinkId;
use super::super::crawl_state::{self, CrawlShare, Duty};
use super::super::protocol::{
    Between, Blob, CrawlId, CrawlSpec, CrawlTally, KnownMember, ToTabs, encode,
};
use super::{Happening, Known, LOOKS_ROUND, Node, short, shown};

/// A controller that was silent for so long and has no connection is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Two controllers of a crawl that do not know each other after so long are in two rings, perhaps.
const APART: Duration = Duration::from_secs(5);
/// So long it may take until others have taken over from a controller.
const TAKING_OVER: Duration = Duration::from_secs(5);
/// So many things that were kept go into one frame.
const FACTS_AT_ONCE: usize = 256;
/// Nobody knows more controllers than this.
const MOST_MEMBERS: usize = 10_000;

impl Node<'_> {
    /// A connection to another controller is there.
    pub(super) fn meet(&mut self, link: LinkId, key: Key, address: Option<String>) {
        let Some(address) = address else {
            self.closed(link, "a controller must say where it listens");
            return;
        };
        // Whoever was there before has ended.
        let gone: Vec<Key> = self
            .members
            .iter()
            .filter(|&(&other, known)| known.address == address && other != key)
            .map(|(&other, _)| other)
            .collect();
        for other in gone {
            self.members.remove(&other);
        }
        let known = Known {
            address: address.clone(),
            heard: Instant::now(),
            tabs: 0,
            shares: Vec::new(),
            met: BTreeMap::new(),
            leaving: false,
        };
        if self.members.insert(key, known).is_none() {
            (self.say)(&format!("controller {} at {} is there", short(key), shown(&address)));
        }
        if self.addresses.insert(address) {
            let addresses: Vec<&String> = self.addresses.iter().collect();
            let bytes = encode(&addresses);
            self.name("members", bytes);
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
        self.beat_to(key);
    }

    /// A connection to another controller is gone.
    pub(super) fn parted(&mut self, key: Key, why: &str) {
        if self.link_to(key).is_some() {
            return; // There is another one.
        }
        let Some(known) = self.members.get(&key) else { return };
        let (address, leaving) = (shown(&known.address), known.leaving);
        self.crawlers_are_gone(key);
        if leaving {
            self.members.remove(&key);
            (self.say)(&format!("controller {} at {address} has left", short(key)));
        } else {
            (self.say)(&format!("controller {} at {address} is gone: {why}", short(key)));
            self.restless = Some(Instant::now() + TAKING_OVER);
        }
    }

    pub(super) fn link_to(&self, key: Key) -> Option<LinkId> {
        let is = |hello: &argiope_wire::Hello| {
            hello.role == argiope_wire::Role::Controller && hello.name == key.0
        };
        self.links.iter().rev().find(|(_, link)| is(&link.hello)).map(|(&id, _)| id)
    }

    /// Sends something to a controller; dials it for the next time if there is no connection.
    pub(super) fn send_to(&mut self, to: Key, message: &impl Serialize) -> bool {
        if let Some(link) = self.link_to(to).and_then(|id| self.links.get_mut(&id)) {
            return link.send(message);
        }
        if let Some(address) = self.members.get(&to).map(|known| known.address.clone()) {
            self.dial(address);
        }
        false
    }

    fn dial(&mut self, address: String) {
        let own = self.switch.me.address.as_deref() == Some(address.as_str());
        let later = self.unreached.get(&address).is_some_and(|&until| Instant::now() < until);
        if own || later || !self.dialling.insert(address.clone()) {
            return;
        }
        let (switch, happenings) = (self.switch.clone(), self.happenings.clone());
        tokio::task::spawn_local(async move {
            let dialled = switch.transport.dial(&address, &switch.me, &switch.limits).await;
            let _ = happenings.send(Happening::Dialled(address, dialled));
        });
    }

    fn tallies(&self) -> Vec<(CrawlId, CrawlTally)> {
        self.shares.iter().map(|(&id, share)| (id, share.tally(self.crawlers_of(id)))).collect()
    }

    fn pulse(&self) -> Between {
        let others = self.members.iter().filter(|(_, known)| !known.leaving);
        let members = others
            .map(|(&key, known)| KnownMember { key, address: known.address.clone() })
            .collect();
        Between::Pulse { members, tabs: self.tabs(), shares: self.tallies() }
    }

    fn beat_to(&mut self, key: Key) {
        let pulse = self.pulse();
        self.send_to(key, &pulse);
    }

    /// Tells everybody that this controller is there, dials who is not connected, and sees whom it can do without.
    pub(super) fn beat(&mut self) {
        let pulse = self.pulse();
        let others: Vec<Key> = self.members.keys().copied().collect();
        for &other in &others {
            self.send_to(other, &pulse);
        }
        let linked = |node: &Self, key: Key| node.link_to(key).is_some();
        for other in others {
            let silent =
                self.members.get(&other).is_some_and(|known| known.heard.elapsed() > FORGOTTEN);
            if silent && !linked(self, other) {
                self.members.remove(&other);
            }
        }
        let here: Vec<&str> = self.members.values().map(|known| known.address.as_str()).collect();
        let absent: Vec<String> = self
            .addresses
            .iter()
            .filter(|address| !here.contains(&address.as_str()))
            .cloned()
            .collect();
        for address in absent {
            self.dial(address);
        }
        self.begin_again();
        self.tell_followers();
        self.note_metrics();
    }

    /// Crawls that were kept and that nobody goes on with: of all that are here and have kept something, the one with the
    /// lowest key puts it together and goes on; the others join it.
    fn begin_again(&mut self) {
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
            let has = |known: &Known, inside: bool| {
                known
                    .shares
                    .iter()
                    .any(|(crawl, tally)| *crawl == id && tally.inside == inside && !tally.finished)
            };
            let here = self.members.iter().filter(|&(&key, _)| self.link_to(key).is_some());
            let here: Vec<(Key, bool, bool)> =
                here.map(|(&key, known)| (key, has(known, true), has(known, false))).collect();
            if let Some(&(through, ..)) = here.iter().find(|(_, inside, _)| *inside) {
                self.come_back(id, through);
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
            if self.began.elapsed() > LOOKS_ROUND && !here.iter().any(waits) {
                self.revive(id);
            }
        }
    }

    /// Sends what was kept to the one who will go on with it.
    fn send_kept(&mut self, id: CrawlId, to: Key) {
        let pending = self.shares.get_mut(&id).and_then(|share| share.pending.as_mut());
        let Some(pending) = pending.filter(|pending| pending.sent_to != Some(to)) else { return };
        pending.sent_to = Some(to);
        let facts = pending.facts.clone();
        let mut messages: Vec<Between> = Vec::new();
        for some in facts.chunks(FACTS_AT_ONCE) {
            let contents = some.iter().filter_map(Fact::content);
            let blobs = contents.filter_map(|content| self.blob(content)).collect();
            messages.push(Between::Kept(id, some.to_vec(), blobs, false));
        }
        messages.push(Between::Kept(id, Vec::new(), Vec::new(), true));
        if let Some(link) = self.link_to(to).and_then(|link| self.links.get(&link)) {
            link.send_all(messages);
        }
    }

    /// Somebody has sent what it kept of a crawl that nobody goes on with.
    fn take_kept(&mut self, from: Key, id: CrawlId, facts: Vec<Fact>, last: bool) {
        let Some(pending) = self.shares.get_mut(&id).and_then(|share| share.pending.as_mut())
        else {
            return;
        };
        if last {
            pending.have_sent.insert(from);
        }
        pending.facts.extend(facts.iter().cloned());
        let kept = facts.into_iter().map(|fact| (id.0, fact)).collect();
        self.append(crate::store::Batch { kept, ..Default::default() });
    }

    /// Goes on with what was kept, as a member of the ring that others have formed meanwhile.
    fn come_back(&mut self, id: CrawlId, through: Key) {
        let me = self.me;
        let Some(facts) = self.take_up(id, |settings, facts| Peer::returning(settings, me, facts))
        else {
            return;
        };
        (self.say)(&format!(
            "crawl {id}: joining through {}, with {facts} facts kept",
            short(through)
        ));
        self.join(id, through);
        self.assign_tabs();
    }

    fn revive(&mut self, id: CrawlId) {
        let me = self.me;
        let Some(facts) = self.take_up(id, |settings, facts| Peer::reviving(settings, me, facts))
        else {
            return;
        };
        (self.say)(&format!("crawl {id}: going on with {facts} facts kept"));
        self.tell(id, PeerInput::Start);
        self.assign_tabs();
    }

    /// Makes a peer of what was kept; says how much that was.
    fn take_up(
        &mut self,
        id: CrawlId,
        make: impl FnOnce(PeerSettings, &[Fact]) -> Peer,
    ) -> Option<usize> {
        let share = self.shares.get_mut(&id)?;
        let pending = share.pending.take()?;
        // It was checked when the crawl was introduced.
        share.duty =
            Duty::Peer(make(crawl_state::settings(&share.spec.order).ok()?, &pending.facts));
        Some(pending.facts.len())
    }

    fn join(&mut self, id: CrawlId, through: Key) {
        if let Some(share) = self.shares.get_mut(&id) {
            share.joins_through = Some(through);
        }
        self.tell(id, PeerInput::Join(through));
    }

    /// Begins a crawl; the others are told.
    pub(super) fn found(&mut self, id: CrawlId, spec: &CrawlSpec) -> Result<(), String> {
        let mut share = CrawlShare::new(spec.clone(), self.me)?;
        share.duty = match crawl_state::star(&spec.order)? {
            Some(division) => self.coordinator_for(id, division),
            None => {
                Duty::Peer(Peer::founder(crawl_state::settings(&spec.order)?, self.me, &[self.me]))
            }
        };
        self.introduce(id, share);
        self.tell(id, PeerInput::Start);
        self.coordinate(id, CoordinatorInput::Start);
        let others: Vec<Key> = self.members.keys().copied().collect();
        for other in others {
            self.send_to(other, &Between::Crawl(id, spec.clone()));
        }
        self.assign_tabs();
        self.beat();
        Ok(())
    }

    fn introduce(&mut self, id: CrawlId, share: CrawlShare) {
        self.name(&format!("crawl/{id}"), encode(&share.spec));
        (self.say)(&format!("crawl {id} of {}", shown(&share.spec.order.settings.url)));
        self.shares.insert(id, share);
    }

    /// Another controller says something.
    pub(super) fn hear(&mut self, link: LinkId, from: Key, message: Between) {
        if let Some(known) = self.members.get_mut(&from) {
            known.heard = Instant::now();
        }
        match message {
            Between::Pulse { members, tabs, shares } => self.pulsed(from, members, tabs, shares),
            Between::Crawl(id, spec) => {
                if !self.shares.contains_key(&id) && self.leaving.is_none() {
                    match CrawlShare::new(spec, self.me) {
                        Ok(share) => {
                            let is_ring = !share.is_star();
                            self.introduce(id, share);
                            if is_ring {
                                self.join(id, from);
                            }
                            self.assign_tabs();
                        }
                        Err(why) => {
                            (self.say)(&format!("crawl {id} cannot be taken part in: {why}"))
                        }
                    }
                }
            }
            Between::Peer(id, envelope, blobs) => {
                self.take_blobs_of(link, blobs);
                self.tell(id, PeerInput::Received(from, envelope));
            }
            Between::Tell(id, crawler, told, blobs) => {
                self.take_blobs(blobs);
                self.tell_crawler(id, crawler, told);
            }
            Between::Kept(id, facts, blobs, last) => {
                self.take_blobs(blobs);
                self.take_kept(from, id, facts, last);
            }
            Between::Returned(id, answer) => self.tell(id, PeerInput::Returned(answer)),
            Between::Probe(number, order) => {
                self.probe_for(order, super::crawlers::Asker::Controller(from, number));
            }
            Between::Probed(number, first) => self.probed(number, first),
            Between::Volatile(id, masks) => self.learn_volatile(id, masks, Some(from)),
            Between::Page(id, page) => {
                if let Some(share) = self.shares.get_mut(&id) {
                    share.pages.learn(&page);
                }
            }
            Between::Stop(id) => self.stop(id, Some(from)),
            Between::Blobs(blobs) => self.take_blobs_of(link, blobs),
            Between::Told(id, tell, blobs) => {
                self.take_blobs_of(link, blobs);
                self.coordinate(id, CoordinatorInput::Told(tell));
            }
            Between::News(id, crawler, told) => self.news_for(id, crawler, told),
            Between::Want(id, crawler, state) => self.describe(id, crawler, state),
            Between::Gone(id, crawler) => self.coordinate(id, CoordinatorInput::Lost(crawler)),
            Between::Leaving => {
                if let Some(known) = self.members.get_mut(&from) {
                    known.leaving = true;
                    self.addresses.remove(&known.address);
                }
            }
        }
    }

    /// Takes in contents that another controller has as well.
    fn take_blobs_of(&mut self, link: LinkId, blobs: Vec<Blob>) {
        if let Some(link) = self.links.get_mut(&link) {
            link.has.extend(blobs.iter().map(|blob| blob.content));
        }
        self.take_blobs(blobs);
    }

    fn pulsed(
        &mut self,
        from: Key,
        members: Vec<KnownMember>,
        tabs: u32,
        shares: Vec<(CrawlId, CrawlTally)>,
    ) {
        for KnownMember { key, address } in members {
            let known = key == self.me
                || self.members.contains_key(&key)
                || self.members.len() >= MOST_MEMBERS
                || self.members.values().any(|known| known.address == address);
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
                self.finished(id);
                continue;
            }
            if tally.finished || !tally.inside {
                continue;
            }
            if share.pending.is_some() {
                self.come_back(id, from);
                continue;
            }
            let Some(peer) = share.peer() else { continue };
            if share.is_open() && !peer.member().is_inside() {
                // Whoever was to let it in may be gone.
                if share.joins_through.is_none_or(|through| self.link_to(through).is_none()) {
                    self.join(id, from);
                }
            } else if share.is_open() && peer.member().is_inside() {
                let around = peer.member();
                let apart =
                    !around.successors().contains(&from) && around.predecessor() != Some(from);
                if apart && self.is_time_to_meet(id, from) {
                    self.tell(id, PeerInput::Meet(from));
                }
            }
        }
        if let Some(known) = self.members.get_mut(&from) {
            known.tabs = tabs;
            known.shares = shares;
        }
    }

    /// Whether another controller that is in a ring of a crawl may be in another one than this controller is: neither
    /// knows the other after a while. Whoever came just now is taken in by the ring itself.
    fn is_time_to_meet(&mut self, id: CrawlId, other: Key) -> bool {
        let now = Instant::now();
        let Some(known) = self.members.get_mut(&other) else { return false };
        let next = known.met.entry(id).or_insert(now + APART);
        if now < *next {
            return false;
        }
        *next = now + APART;
        true
    }

    /// What was found to change in single states is the same for every crawler.
    pub(super) fn learn_volatile(&mut self, id: CrawlId, masks: StateMasks, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        let before = share.volatile.clone();
        share.volatile.merge(masks);
        if share.volatile == before {
            return;
        }
        let masks = share.volatile.clone();
        self.name(&format!("volatile/{id}"), encode(&masks));
        let others: Vec<Key> =
            self.members.keys().copied().filter(|&key| Some(key) != from).collect();
        for other in others {
            self.send_to(other, &Between::Volatile(id, masks.clone()));
        }
        for link in self.processes.keys() {
            if let Some(link) = self.links.get_mut(link) {
                link.send(&ToTabs::Volatile(id, masks.clone()));
            }
        }
    }

    /// A crawl is to go no further.
    pub(super) fn stop(&mut self, id: CrawlId, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id) else { return };
        if std::mem::replace(&mut share.stopped, true) {
            return;
        }
        self.name(&format!("stopped/{id}"), Vec::new());
        (self.say)(&format!("crawl {id} was stopped"));
        let others: Vec<Key> =
            self.members.keys().copied().filter(|&key| Some(key) != from).collect();
        for other in others {
            self.send_to(other, &Between::Stop(id));
        }
        self.assign_tabs();
    }
}
