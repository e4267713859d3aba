//! Which range of keys this controller owns: it takes over ranges, hands them over, and reconciles
//! what other controllers know of them. It assigns nothing in a range before reconciling it.

use std::collections::BTreeMap;

use argiope_explore::id::{StateIndex, StateKey};
use argiope_ring::{Key, RingInput, RingMember, RingMessage};

use super::message::{Collect, Envelope, Followed, PeerEffect, PeerMessage, PeerTimer, Wish};
use super::replicas::{by_state, executed, route_of};
use super::{Peer, place};
use crate::job::{Route, Transition, initial_of, longer};
use crate::journal::Fact;

/// The most collections that are remembered: far more than there are changes of the ring.
const MOST_HEARD: usize = 4096;

/// Where a controller stands between joining and leaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It has not seen itself inside the ring yet.
    #[default]
    Joining,
    /// It is inside, and waits for the hand-off of the range that it owns now.
    AwaitingHandOff,
    /// It serves its range.
    Serving,
    /// It hands everything over and leaves.
    Leaving,
}

/// The range of keys that a controller owns, and what it does about changes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ranges {
    /// It owns the keys after this one up to its own; none, if this is `None`.
    pub(super) after: Option<Key>,
    phase: Phase,
    /// Messages for states that this controller may own soon.
    pub(super) held: Vec<(Key, Envelope)>,
    /// The number of the collection under way.
    collecting: Option<u64>,
    /// The collections heard of: after which key, and by which controller.
    pub(super) heard: Vec<(Key, Key)>,
    /// What it restored from its disk, until it is in the ring.
    pub(super) remembered: Vec<Fact>,
}

/// The states and links of a range that changes its owner.
#[derive(Default)]
pub(super) struct Handover {
    /// Nothing is missing.
    pub(super) settled: bool,
    /// Facts about the states, state by state.
    pub(super) facts: Vec<Fact>,
    /// States of which only the existence and a route are known.
    pub(super) awaited: Vec<(StateKey, Route)>,
    /// Plain links that were followed, and those granted to states.
    pub(super) links: (Vec<Followed>, Vec<Wish>),
}

impl Handover {
    fn add(&mut self, peer: &Peer, key: StateKey, state: StateIndex) {
        match &peer.known.graph.at(state).route {
            _ if peer.known.graph.is_full(key) => self.facts.extend(peer.known.facts(state)),
            Some(route) => self.awaited.push((key, route.clone())),
            None => self.settled = false,
        }
    }
}

impl Ranges {
    /// Of a founder, which waits for no hand-off.
    pub(super) fn founder(member: &RingMember) -> Self {
        Self { after: member.range_start(), phase: Phase::Serving, ..Self::default() }
    }

    /// Whether the hand-off of its range is still to come.
    pub(super) fn awaits_hand_off(&self) -> bool {
        matches!(self.phase, Phase::Joining | Phase::AwaitingHandOff)
    }
}

impl Peer {
    /// Whether it may lack knowledge about its own range.
    pub(super) fn is_unsettled(&self) -> bool {
        self.ranges.phase != Phase::Serving
            || self.ranges.collecting.is_some()
            || !self.ranges.held.is_empty()
    }

    /// Whether it owns the whole ring.
    pub(super) fn is_alone(&self) -> bool {
        self.ranges.after == Some(self.me)
    }

    /// The key after which its range begins, for checkers.
    pub fn range_start(&self) -> Option<Key> {
        self.ranges.after
    }

    /// Adapts the owned range to the present neighbours.
    pub(super) fn adapt_range(&mut self) {
        match self.ranges.phase {
            Phase::Joining if self.member.is_inside() => {
                self.ranges.phase = Phase::AwaitingHandOff;
                self.wake(PeerTimer::Grant, self.settings.times.round);
            }
            Phase::Joining | Phase::AwaitingHandOff => {}
            Phase::Serving => {
                let now = self.member.range_start();
                if now != self.ranges.after {
                    self.move_to(now);
                }
            }
            Phase::Leaving if self.member.is_inside() => match self.successor() {
                Some(successor) => self.change_heir(successor),
                None => self.depart(),
            },
            Phase::Leaving => {}
        }
        self.look_at_backups();
    }

    fn move_to(&mut self, now: Option<Key>) {
        let before = std::mem::replace(&mut self.ranges.after, now);
        if let Some(before) = before.filter(|&before| Some(before) != now) {
            self.owe_nothing(before, |message| matches!(message, PeerMessage::HandOff { .. }));
        }
        let now = now.filter(|_| self.member.is_inside());
        let comes_in =
            |after: Key| before.filter(|&was| after != self.me && after.is_between(was, self.me));
        let given_to = now.and_then(comes_in);
        if let Some(after) = now.filter(|_| given_to.is_none()) {
            let taken_over = before.filter(|was| was.is_between(after, self.me));
            self.mark_unreconciled(after, taken_over.unwrap_or(self.me));
        }
        let mut given =
            Handover { settled: self.ranges.collecting.is_none(), ..Handover::default() };
        let states: Vec<(StateKey, StateIndex)> = self.known.graph.all().collect();
        for (key, state) in states {
            if self.known.ownership.is_own(state) && !self.owns(key) {
                given.add(self, key, state);
            }
            self.update_ownership(key);
        }
        let Some(after) = now else { return };
        if let Some(before) = given_to {
            // A controller joined in front of this one. It waits for this message even if it is
            // empty.
            given.links = self.links_between(before, after);
            self.hand_over(after, before, given);
            // The new neighbour may have been there before, unknown to the collection under way.
            if self.ranges.heard.iter().any(|&(_, by)| by == self.me) {
                self.start_collecting(after);
            }
        } else {
            self.start_collecting(after);
            self.pass_on_copies();
        }
        self.try_held();
    }

    /// Retries the messages that could not be forwarded.
    pub(super) fn try_held(&mut self) {
        if !self.ranges.awaits_hand_off() {
            let held = std::mem::take(&mut self.ranges.held);
            self.inbox.extend(held);
        }
    }

    /// Marks a state as owned or not, by its key.
    pub(super) fn update_ownership(&mut self, key: StateKey) {
        let own = self.owns(key);
        let was =
            self.known.graph.find(key).is_some_and(|state| self.known.ownership.is_own(state));
        let state = self.known.set_owned(key, own);
        if own && !was && self.known.graph.is_full(key) {
            self.begin_to_serve(key, state);
        }
    }

    /// A state that is known in full is served from now on. It needs replicas. What was only heard
    /// of it counts as well, and must be on disk.
    pub(super) fn begin_to_serve(&mut self, key: StateKey, state: StateIndex) {
        self.keeping.taken_over.push(key);
        let facts = self.known.facts(state).into_iter();
        let transitions = facts.filter(|fact| matches!(fact, Fact::Transition { .. }));
        self.out.extend(transitions.map(PeerEffect::Keep));
    }

    /// Takes in what another controller knew of states that this one owns, or will own.
    pub(super) fn take_over(&mut self, facts: &[Fact]) {
        for facts in by_state(facts) {
            self.out.extend(facts.iter().cloned().map(PeerEffect::Keep));
            self.keep_copies(facts);
            // A destination may be an own state that was lost.
            for step in executed(facts) {
                if self.owns(step.to) && !self.known.graph.is_full(step.to) {
                    self.on_exists(step.to, &longer(&route_of(facts), step));
                }
            }
        }
    }

    /// The previous owner hands over a range.
    pub(super) fn on_hand_off(&mut self, after: Key, settled: bool, facts: &[Fact]) {
        if self.ranges.awaits_hand_off() {
            // The sender is the nearest member before this one, and may not have notified it yet.
            // Without this, a member farther off would count as the predecessor.
            let notify = RingInput::Message(after, RingMessage::Notify);
            self.ring(notify);
        }
        self.take_over(facts);
        self.grant(Some(settled));
        self.assure_heard(facts);
        // When two rings merge, a member may give up states of several owners.
        for state in by_state(facts) {
            let key = state.first().and_then(Fact::state);
            if !self.ranges.awaits_hand_off() && key.is_some_and(|key| !self.owns(key)) {
                self.pass_on(state);
            }
        }
    }

    /// A newcomer begins to serve its range. It collects what the hand-off did not bring.
    pub(super) fn grant(&mut self, given: Option<bool>) {
        if !self.ranges.awaits_hand_off() || !self.member.is_inside() {
            return;
        }
        self.ranges.phase = Phase::Serving;
        self.ranges.after = self.member.range_start();
        let incomplete = self.ranges.after.filter(|_| given != Some(true));
        if let Some(after) = incomplete {
            self.mark_unreconciled(after, self.me);
        }
        let states: Vec<StateKey> = self.known.graph.all().map(|(key, _)| key).collect();
        for key in states {
            self.update_ownership(key);
        }
        if let Some(after) = incomplete {
            self.start_collecting(after);
        }
        self.pass_on_remembered();
        self.try_held();
    }

    /// Tells the owners what its disk held of their states, and which states exist: they may have
    /// been lost meanwhile, and no other member may know of them.
    fn pass_on_remembered(&mut self) {
        let mut there = BTreeMap::new();
        let remembered = std::mem::take(&mut self.ranges.remembered);
        for state in by_state(&remembered) {
            let Some(key) = state.first().and_then(Fact::state) else { continue };
            let route = route_of(state);
            for step in executed(state) {
                there.entry(step.to).or_insert_with(|| longer(&route, step));
            }
            if !self.owns(key) {
                self.pass_on(state);
            }
        }
        self.announce(there);
    }

    /// Tells the owners of these states that they exist; one may be this controller.
    pub(super) fn announce(&mut self, states: impl IntoIterator<Item = (StateKey, Route)>) {
        for (key, route) in states {
            if self.owns(key) {
                self.on_exists(key, &route);
            } else {
                self.owe_existence(key, route);
            }
        }
    }

    /// Marks the keys after one up to another as unreconciled. Assigning there before all members
    /// were asked would repeat work.
    fn mark_unreconciled(&mut self, after: Key, upto: Key) {
        let before = self.known.ownership.unreconciled.map_or(upto, |(_, before)| before);
        let upto = if before.distance(self.me) < upto.distance(self.me) { before } else { upto };
        self.known.set_unreconciled(Some((after, upto)));
    }

    /// Reconciles the whole range: this controller paused, or a member did not know of it. Another
    /// controller may have taken over its range meanwhile.
    pub(super) fn reconcile_after_pause(&mut self) {
        if let Some(after) = self.ranges.after.filter(|_| self.member.is_inside()) {
            self.mark_unreconciled(after, self.me);
            // A collection that is under way does not count: its answers may be older.
            self.start_collecting(after);
        }
    }

    /// Sends the replicas to their owners. A lost predecessor may have served them for another lost
    /// member, whose new owner does not have them.
    fn pass_on_copies(&mut self) {
        let copies =
            self.known.graph.all().filter(|&(_, state)| !self.known.ownership.is_own(state));
        let copies: Vec<Vec<Fact>> = copies.map(|(_, state)| self.known.facts(state)).collect();
        for facts in copies {
            self.pass_on(&facts);
        }
    }

    /// Asks all members for states of the own range that may be lost.
    pub(super) fn start_collecting(&mut self, after: Key) {
        let number = self.number();
        self.ranges.collecting = Some(number);
        self.ranges.heard.retain(|&(_, by)| by != self.me);
        self.ranges.heard.push((after, self.me));
        let collect = Collect {
            by: self.me,
            number,
            after,
            facts: Vec::new(),
            seen: Vec::new(),
            links: Default::default(),
            gaps: false,
        };
        self.add_to(collect);
        self.wake(PeerTimer::Collect(number), self.settings.times.round);
    }

    pub(super) fn collect_again(&mut self, number: u64) {
        if let Some(after) = self.ranges.after.filter(|_| self.ranges.collecting == Some(number)) {
            self.start_collecting(after);
        }
    }

    /// Tells the owner of a destination that it exists. The controller that kept it may be gone,
    /// and its successor may have collected before this transition was known.
    pub(super) fn assure(&mut self, step: Transition, kept_by: Key) {
        if self.collectors_of(step.to).any(|by| by != kept_by)
            && let Some(route) = self.route_over(step)
        {
            self.owe_existence(step.to, route);
        }
    }

    /// Tells the present owner that a state exists, if its range changed owners since.
    pub(super) fn assure_there(&mut self, state: StateKey, route: &Route) {
        let known = !route.is_empty() || self.known.graph.initial() == Some(state);
        if known && self.collectors_of(state).next().is_some() {
            self.owe_existence(state, route.clone());
        }
    }

    /// The controllers that collected a range with this state.
    fn collectors_of(&self, state: StateKey) -> impl Iterator<Item = Key> {
        let heard = self.ranges.heard.iter();
        heard.filter(move |&&(after, by)| place(state).belongs_to(after, by)).map(|&(_, by)| by)
    }

    /// Tells owners of the destinations that are known here and missing from the facts by which
    /// states became own. The controllers that kept them may be gone, or in another ring.
    pub(super) fn assure_heard(&mut self, facts: &[Fact]) {
        for facts in by_state(facts) {
            if let Some(key) = facts.first().and_then(Fact::state) {
                self.assure_all_but(key, &executed(facts));
            }
        }
    }

    /// The same, with the transitions that are recorded.
    pub(super) fn assure_all_but(&mut self, from: StateKey, recorded: &[Transition]) {
        let Some(state) = self.known.graph.find(from).filter(|_| self.owns(from)) else { return };
        let leads = self.known.graph.leads(state);
        let steps = leads.map(|(action, to)| Transition { from, action, to });
        let heard: Vec<_> = steps.filter(|step| !recorded.contains(step)).collect();
        for step in heard {
            if let Some(route) = self.route_over(step) {
                self.owe_existence(step.to, route);
            }
        }
    }

    /// Collects again if an awaited state has no route: another member may know one.
    pub(super) fn look_for_routes(&mut self) {
        if let Some(after) = self.ranges.after.filter(|_| self.member.is_inside())
            && self.ranges.collecting.is_none()
            && !self.known.awaited_without_route().is_empty()
        {
            self.start_collecting(after);
        }
    }

    /// Adds what is known here and forwards a collection, or takes it in when it is back.
    pub(super) fn on_collect(&mut self, from: Key, mut collect: Collect) {
        collect.gaps |= self.ranges.after != Some(from);
        if collect.by == self.me {
            if self.ranges.collecting == Some(collect.number) {
                self.on_collected(collect);
            }
            return;
        }
        let known = (collect.after, collect.by);
        if !self.ranges.heard.contains(&known) {
            self.ranges.heard.push(known);
            let own = |&(_, by): &(Key, Key)| by == self.me;
            if self.ranges.heard.len() > MOST_HEARD
                && let Some(oldest) = self.ranges.heard.iter().position(|known| !own(known))
            {
                self.ranges.heard.remove(oldest);
            }
        }
        self.add_to(collect);
    }

    fn add_to(&mut self, mut collect: Collect) {
        let wanted = |key: StateKey| place(key).belongs_to(collect.after, collect.by);
        let mut seen: BTreeMap<StateKey, Route> = collect.seen.drain(..).collect();
        let ways = self.known.graph.ways();
        for (key, state) in self.known.graph.all() {
            if wanted(key) {
                collect.facts.extend(self.known.facts(state));
            }
            let leads = self.known.graph.leads(state).filter(|&(_, to)| wanted(to));
            let mut leads = leads.peekable();
            if leads.peek().is_none() {
                continue;
            }
            let route = ways.as_ref().and_then(|ways| self.known.graph.route_by(state, ways));
            let Some(route) = route else { continue };
            for (action, to) in leads {
                if seen.get(&to).is_none_or(|known| known.len() > route.len() + 1) {
                    seen.insert(to, longer(&route, Transition { from: key, action, to }));
                }
            }
        }
        for (key, route) in self.behind_links().filter(|&(key, _)| wanted(key)) {
            seen.entry(key).or_insert_with(|| route.clone());
        }
        collect.seen = seen.into_iter().collect();
        let (followed, given) = self.links_between(collect.after, collect.by);
        collect.links.0.extend(followed);
        collect.links.1.extend(given);
        match self.successor() {
            // The collector is not known here yet: forwarding would pass it by for ever.
            Some(next) if collect.by.is_between(self.me, next) => {
                collect.gaps = true;
                self.send(collect.by, PeerMessage::Collect(collect));
            }
            Some(next) => self.send(next, PeerMessage::Collect(collect)),
            None if self.is_alone() => self.on_collected(collect),
            // It has lost its successors and will find others. The collector retries.
            None => {}
        }
    }

    fn on_collected(&mut self, collect: Collect) {
        if collect.gaps {
            // A member was missed: collect again once its neighbours know of it.
            self.wake(PeerTimer::Collect(collect.number), self.settings.times.stabilise);
        } else {
            self.ranges.collecting = None;
        }
        self.take_over(&collect.facts);
        self.learn_links(collect.links);
        self.assure_heard(&collect.facts);
        self.announce(collect.seen);
        if collect.gaps {
            return;
        }
        self.known.set_unreconciled(None);
        self.try_held();
        // A state that no executed transition leads to is found again by further exploration.
        for state in self.known.awaited_without_route() {
            self.known.set_owned(self.known.graph.key(state), false);
        }
        // The initial state needs an owner even if nothing leads there.
        if let Some(initial) = self.known.graph.initial().filter(|&initial| self.owns(initial)) {
            self.known.set_owned(initial, true);
        }
    }

    /// Takes in that an own state exists; it may have been lost.
    pub(super) fn on_exists(&mut self, key: StateKey, route: &Route) {
        self.known.graph.begin(initial_of(route, key));
        let state = self.known.set_owned(key, self.owns(key));
        self.known.learn_route(state, route);
        self.known.hear_all(route.iter());
    }

    /// The route to the destination of a step.
    pub(super) fn route_over(&self, step: Transition) -> Option<Route> {
        Some(longer(self.known.graph.get(step.from)?.route.as_ref()?, step))
    }

    /// Takes in that a member failed.
    pub(super) fn on_member_gone(&mut self, member: Key) {
        self.keeping.gone += 1;
        self.known.graph.forget_owner(member);
        self.told_to.remove(&member);
        // Replicas are re-created by their owner; what a leaving controller owes goes to its next
        // successor.
        let leaving = self.is_leaving();
        self.owe_nothing(member, |message| {
            !matches!(message, PeerMessage::Replicate(..)) && !leaving
        });
    }

    /// Whether it is leaving the ring.
    pub(super) fn is_leaving(&self) -> bool {
        self.ranges.phase == Phase::Leaving
    }

    /// Whether it keeps replicas for another controller. A leaving controller has passed on those
    /// that it had, and would lose new ones.
    pub(super) fn takes_copies_of(&self, other: Key) -> bool {
        !self.is_leaving() || self.successor() == Some(other)
    }

    /// Hands everything over and leaves.
    pub(super) fn leave(&mut self) {
        if self.is_leaving() || !self.member.is_inside() {
            return;
        }
        let Some(heir) = self.successor() else { return self.depart() };
        let mut given = Handover::default();
        self.ranges.phase = Phase::Leaving;
        let after = self.ranges.after.take().unwrap_or(self.me);
        let states: Vec<(StateKey, StateIndex)> = self.known.graph.all().collect();
        for (key, state) in states {
            if self.known.ownership.is_own(state) {
                given.add(self, key, state);
                self.known.set_owned(key, false);
            } else {
                given.facts.extend(self.known.facts(state));
            }
        }
        given.links = self.links_between(after, self.me);
        self.bequeath(heir, given);
    }

    /// Leaves, now that everything is handed over.
    pub(super) fn depart(&mut self) {
        self.ring(RingInput::Leave);
        self.out.push(PeerEffect::Left);
    }
}
