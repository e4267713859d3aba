//! Which range of keys this controller owns: it takes over ranges, hands them over, and reconciles
//! what other controllers know of them. It assigns nothing in a range before reconciling it.

use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_ring as ring;
use argiope_ring::{Key, RingMember};

use super::message::{Collect, Envelope, Followed, PeerEffect, PeerMessage, PeerTimer, Wish};
use super::replicas::{by_state, executed, route_of};
use super::{Peer, place};
use crate::job::{Route, Transition};
use crate::journal::Fact;

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
    /// The collection under way: its number, and the key after which it collects.
    collecting: Option<(u64, Key)>,
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
        match peer.known.graph().route(state) {
            _ if peer.known.graph().is_full(key) => self.facts.extend(peer.known.facts(state)),
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

    fn is_leaving(&self) -> bool {
        self.phase == Phase::Leaving
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
    pub(super) fn adapt_range(&mut self, out: &mut Vec<PeerEffect>) {
        match self.ranges.phase {
            Phase::Joining if self.member.is_inside() => {
                self.ranges.phase = Phase::AwaitingHandOff;
                out.push(PeerEffect::Wake(PeerTimer::Grant, self.settings.times.round));
            }
            Phase::Joining | Phase::AwaitingHandOff => {}
            Phase::Serving => {
                let now = self.member.range_start();
                if now != self.ranges.after {
                    self.move_to(now, out);
                }
            }
            Phase::Leaving if self.member.is_inside() => {
                match self.member.successors().first().copied() {
                    Some(successor) => self.change_heir(successor, out),
                    None => self.depart(out),
                }
            }
            Phase::Leaving => {}
        }
        self.look_at_backups(out);
    }

    fn move_to(&mut self, now: Option<Key>, out: &mut Vec<PeerEffect>) {
        let before = std::mem::replace(&mut self.ranges.after, now);
        if let Some(before) = before.filter(|&before| Some(before) != now) {
            self.owe_nothing(before, |message| matches!(message, PeerMessage::HandOff { .. }), out);
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
        let states: Vec<(StateKey, StateIndex)> = self.known.graph().all().collect();
        for (key, state) in states {
            if self.known.ownership().is_own(state) && !self.owns(key) {
                given.add(self, key, state);
            }
            self.update_ownership(key);
        }
        let Some(after) = now else { return };
        if let Some(before) = given_to {
            // A controller joined in front of this one. It waits for this message even if it is
            // empty.
            given.links = self.links_between(before, after);
            self.hand_over(after, before, given, out);
            // The new neighbour may have been there before, unknown to the collection under way.
            if self.ranges.heard.iter().any(|&(_, by)| by == self.me) {
                self.start_collecting(after, out);
            }
        } else {
            self.start_collecting(after, out);
            self.pass_on_copies(out);
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
            self.known.graph().find(key).is_some_and(|state| self.known.ownership().is_own(state));
        self.known.set_owned(key, own);
        if own && !was && self.known.graph().is_full(key) {
            self.came_to_own(key);
        }
    }

    /// Takes in what another controller knew of a state that this one owns, or will own.
    pub(super) fn take_over(&mut self, facts: &[Fact], out: &mut Vec<PeerEffect>) {
        let Some(key) = facts.first().and_then(Fact::state) else { return };
        out.extend(facts.iter().cloned().map(PeerEffect::Keep));
        self.keep_copies(facts);
        // A destination may be an own state that was lost.
        for (action, to) in executed(facts) {
            if self.owns(to) && !self.known.graph().is_full(to) {
                let step = Transition { from: key, action, to };
                let route: Route = route_of(facts).iter().copied().chain([step]).collect();
                self.on_exists(to, &route);
            }
        }
    }

    /// The previous owner hands over a range.
    pub(super) fn on_hand_off(
        &mut self,
        after: Key,
        settled: bool,
        facts: &[Fact],
        out: &mut Vec<PeerEffect>,
    ) {
        if self.ranges.awaits_hand_off() {
            // The sender is the nearest member before this one, and may not have notified it yet.
            // Without this, a member farther off would count as the predecessor.
            let notify = ring::RingInput::Message(after, ring::RingMessage::Notify);
            self.ring(|member, effects| member.handle(notify, effects), out);
        }
        for state in by_state(facts) {
            self.take_over(state, out);
        }
        self.grant(Some(settled), out);
        for state in by_state(facts) {
            self.assure_heard(state, out);
        }
        // When two rings merge, a member may give up states of several owners.
        for state in by_state(facts) {
            let key = state.first().and_then(Fact::state);
            if !self.ranges.awaits_hand_off() && key.is_some_and(|key| !self.owns(key)) {
                self.pass_on(state, out);
            }
        }
    }

    /// A newcomer begins to serve its range. It collects what the hand-off did not bring.
    pub(super) fn grant(&mut self, given: Option<bool>, out: &mut Vec<PeerEffect>) {
        if !self.ranges.awaits_hand_off() || !self.member.is_inside() {
            return;
        }
        self.ranges.phase = Phase::Serving;
        self.ranges.after = self.member.range_start();
        let incomplete = self.ranges.after.filter(|_| given != Some(true));
        if let Some(after) = incomplete {
            self.mark_unreconciled(after, self.me);
        }
        let states: Vec<StateKey> = self.known.graph().all().map(|(key, _)| key).collect();
        for key in states {
            self.update_ownership(key);
        }
        if let Some(after) = incomplete {
            self.start_collecting(after, out);
        }
        self.pass_on_remembered(out);
        self.try_held();
    }

    /// Tells the owners what its disk held of their states, and which states exist: they may have
    /// been lost meanwhile, and no other member may know of them.
    fn pass_on_remembered(&mut self, out: &mut Vec<PeerEffect>) {
        let mut there = std::collections::BTreeMap::new();
        let remembered = std::mem::take(&mut self.ranges.remembered);
        for state in by_state(&remembered) {
            let Some(key) = state.first().and_then(Fact::state) else { continue };
            let route = route_of(state);
            for (action, to) in executed(state) {
                let step = Transition { from: key, action, to };
                there
                    .entry(to)
                    .or_insert_with(|| route.iter().copied().chain([step]).collect::<Route>());
            }
            if !self.owns(key) {
                self.pass_on(state, out);
            }
        }
        for (key, route) in there {
            if self.owns(key) {
                self.on_exists(key, &route);
            } else {
                self.owe_existence(key, route, out);
            }
        }
    }

    /// Marks the keys after one up to another as unreconciled. Assigning there before all members
    /// were asked would repeat work.
    fn mark_unreconciled(&mut self, after: Key, upto: Key) {
        let before = self.known.ownership().unreconciled().map_or(upto, |(_, before)| before);
        let upto = if before.distance(self.me) < upto.distance(self.me) { before } else { upto };
        self.known.set_unreconciled(Some((after, upto)));
    }

    /// Reconciles the whole range: this controller paused, or a member did not know of it. Another
    /// controller may have taken over its range meanwhile.
    pub(super) fn reconcile_after_pause(&mut self, out: &mut Vec<PeerEffect>) {
        if let Some(after) = self.ranges.after.filter(|_| self.member.is_inside()) {
            self.mark_unreconciled(after, self.me);
            // A collection that is under way does not count: its answers may be older.
            self.start_collecting(after, out);
        }
    }

    /// Collects what other controllers may have found in the own range.
    pub(super) fn collect_own(&mut self, out: &mut Vec<PeerEffect>) {
        if let Some(after) = self.ranges.after.filter(|_| self.member.is_inside()) {
            self.start_collecting(after, out);
        }
    }

    /// Sends the replicas to their owners. A lost predecessor may have served them for another lost
    /// member, whose new owner does not have them.
    fn pass_on_copies(&mut self, out: &mut Vec<PeerEffect>) {
        let copies =
            self.known.graph().all().filter(|&(_, state)| !self.known.ownership().is_own(state));
        let copies: Vec<Vec<Fact>> = copies.map(|(_, state)| self.known.facts(state)).collect();
        for facts in copies {
            self.pass_on(&facts, out);
        }
    }

    /// Asks all members for states of the own range that may be lost.
    pub(super) fn start_collecting(&mut self, after: Key, out: &mut Vec<PeerEffect>) {
        let number = self.number();
        self.ranges.collecting = Some((number, after));
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
        self.add_to(collect, out);
        out.push(PeerEffect::Wake(PeerTimer::Collect(number), self.settings.times.round));
    }

    pub(super) fn collect_again(&mut self, number: u64, out: &mut Vec<PeerEffect>) {
        if self.ranges.collecting.is_some_and(|(current, _)| current == number)
            && let Some(after) = self.ranges.after
        {
            self.start_collecting(after, out);
        }
    }

    /// Tells the owner of a destination that it exists. The controller that kept it may be gone,
    /// and its successor may have collected before this transition was known.
    pub(super) fn assure(&mut self, step: Transition, kept_by: Key, out: &mut Vec<PeerEffect>) {
        let moved = self
            .ranges
            .heard
            .iter()
            .any(|&(after, by)| place(step.to).belongs_to(after, by) && kept_by != by);
        let state = if moved { self.known.graph().find(step.from) } else { None };
        if let Some(route) = state.and_then(|state| self.route_over(state, step)) {
            self.owe_existence(step.to, route, out);
        }
    }

    /// Tells the present owner that a state exists, if its range changed owners since.
    pub(super) fn assure_there(
        &mut self,
        state: StateKey,
        route: &Route,
        out: &mut Vec<PeerEffect>,
    ) {
        let known = !route.is_empty() || self.known.graph().initial() == Some(state);
        if known && self.ranges.heard.iter().any(|&(after, by)| place(state).belongs_to(after, by))
        {
            self.owe_existence(state, route.clone(), out);
        }
    }

    /// Tells owners of the destinations that are known here and missing from the facts by which a
    /// state became own. The controllers that kept them may be gone, or in another ring.
    pub(super) fn assure_heard(&mut self, facts: &[Fact], out: &mut Vec<PeerEffect>) {
        if let Some(key) = facts.first().and_then(Fact::state) {
            self.assure_all_but(key, &executed(facts), out);
        }
    }

    /// The same, with the transitions that are recorded.
    pub(super) fn assure_all_but(
        &mut self,
        key: StateKey,
        recorded: &[(ActionSignature, StateKey)],
        out: &mut Vec<PeerEffect>,
    ) {
        let Some(state) = self.known.graph().find(key).filter(|_| self.owns(key)) else { return };
        let heard: Vec<_> =
            self.known.graph().leads(state).filter(|lead| !recorded.contains(lead)).collect();
        for (action, to) in heard {
            if let Some(route) = self.route_over(state, Transition { from: key, action, to }) {
                self.owe_existence(to, route, out);
            }
        }
    }

    /// Collects again if an awaited state has no route: another member may know one.
    pub(super) fn look_for_routes(&mut self, out: &mut Vec<PeerEffect>) {
        if self.ranges.collecting.is_none() && !self.known.awaited_without_route().is_empty() {
            self.collect_own(out);
        }
    }

    /// Adds what is known here and forwards a collection, or takes it in when it is back.
    pub(super) fn on_collect(
        &mut self,
        from: Key,
        mut collect: Collect,
        out: &mut Vec<PeerEffect>,
    ) {
        collect.gaps |= self.ranges.after != Some(from);
        if collect.by == self.me {
            if self.ranges.collecting.is_some_and(|(number, _)| number == collect.number) {
                self.on_collected(collect, out);
            }
            return;
        }
        let known = (collect.after, collect.by);
        if !self.ranges.heard.contains(&known) {
            self.ranges.heard.push(known);
        }
        self.add_to(collect, out);
    }

    fn add_to(&mut self, mut collect: Collect, out: &mut Vec<PeerEffect>) {
        let wanted = |key: StateKey| place(key).belongs_to(collect.after, collect.by);
        let mut seen: std::collections::BTreeMap<StateKey, Route> =
            collect.seen.drain(..).collect();
        let ways = if self.known.graph().initial().is_some() {
            self.known.graph().ways()
        } else {
            Vec::new()
        };
        for (key, state) in self.known.graph().all() {
            if wanted(key) {
                collect.facts.extend(self.known.facts(state));
            }
            let leads: Vec<_> =
                self.known.graph().leads(state).filter(|&(_, to)| wanted(to)).collect();
            if leads.is_empty() {
                continue;
            }
            let Some(route) = self.known.graph().route_by(state, &ways) else { continue };
            for (action, to) in leads {
                if seen.get(&to).is_none_or(|known| known.len() > route.len() + 1) {
                    let step = Transition { from: key, action, to };
                    seen.insert(to, route.iter().copied().chain([step]).collect());
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
        match self.member.successors().first().copied() {
            // The collector is not known here yet: forwarding would pass it by for ever.
            Some(next) if collect.by.is_between(self.me, next) => {
                collect.gaps = true;
                self.send(collect.by, PeerMessage::Collect(collect), out);
            }
            Some(next) => self.send(next, PeerMessage::Collect(collect), out),
            None if self.is_alone() => self.on_collected(collect, out),
            // It has lost its successors and will find others. The collector retries.
            None => {}
        }
    }

    fn on_collected(&mut self, collect: Collect, out: &mut Vec<PeerEffect>) {
        if collect.gaps {
            // A member was missed: collect again once its neighbours know of it.
            out.push(PeerEffect::Wake(
                PeerTimer::Collect(collect.number),
                self.settings.times.stabilise,
            ));
        } else {
            self.ranges.collecting = None;
        }
        for state in by_state(&collect.facts) {
            self.take_over(state, out);
        }
        self.learn_links(collect.links, out);
        for state in by_state(&collect.facts) {
            self.assure_heard(state, out);
        }
        for (key, route) in collect.seen {
            if self.owns(key) {
                self.on_exists(key, &route);
            } else {
                self.owe_existence(key, route, out);
            }
        }
        if collect.gaps {
            return;
        }
        self.known.set_unreconciled(None);
        self.try_held();
        // A state that no executed transition leads to is found again by further exploration.
        for state in self.known.awaited_without_route() {
            self.known.set_owned(self.known.graph().key(state), false);
        }
        // The initial state needs an owner even if nothing leads there.
        if let Some(initial) = self.known.graph().initial().filter(|&initial| self.owns(initial)) {
            self.known.set_owned(initial, true);
        }
    }

    /// Takes in that an own state exists; it may have been lost.
    pub(super) fn on_exists(&mut self, key: StateKey, route: &Route) {
        self.known.begin(route.first().map_or(key, |step| step.from));
        let state = self.known.set_owned(key, self.owns(key));
        self.known.learn_route(state, route);
        for step in route.iter() {
            self.known.hear(*step);
        }
    }

    /// The route to the destination of a step.
    pub(super) fn route_over(&self, from: StateIndex, step: Transition) -> Option<Route> {
        let route = self.known.graph().route(from)?;
        Some(route.iter().copied().chain([step]).collect())
    }

    /// Takes in that a member failed.
    pub(super) fn on_member_gone(&mut self, member: Key, out: &mut Vec<PeerEffect>) {
        self.note_failure();
        self.known.forget_owner(member);
        self.told_to.remove(&member);
        // Replicas are re-created by their owner; what a leaving controller owes goes to its next
        // successor.
        let leaving = self.ranges.is_leaving();
        self.owe_nothing(
            member,
            |message| !matches!(message, PeerMessage::Replicate(..)) && !leaving,
            out,
        );
    }

    /// Whether it is leaving the ring.
    pub(super) fn is_leaving(&self) -> bool {
        self.ranges.is_leaving()
    }

    /// Whether it keeps replicas for another controller. A leaving controller has passed on those
    /// that it had, and would lose new ones.
    pub(super) fn takes_copies_of(&self, other: Key) -> bool {
        !self.ranges.is_leaving() || self.member.successors().first() == Some(&other)
    }

    /// Hands everything over and leaves.
    pub(super) fn leave(&mut self, out: &mut Vec<PeerEffect>) {
        if self.ranges.is_leaving() || !self.member.is_inside() {
            return;
        }
        let Some(&heir) = self.member.successors().first() else {
            self.depart(out);
            return;
        };
        let mut given = Handover::default();
        self.ranges.phase = Phase::Leaving;
        let after = self.ranges.after.take().unwrap_or(self.me);
        let states: Vec<(StateKey, StateIndex)> = self.known.graph().all().collect();
        for (key, state) in states {
            if self.known.ownership().is_own(state) {
                given.add(self, key, state);
                self.known.set_owned(key, false);
            } else {
                given.facts.extend(self.known.facts(state));
            }
        }
        given.links = self.links_between(after, self.me);
        self.bequeath(heir, given, out);
    }

    /// Leaves, now that everything is handed over.
    pub(super) fn depart(&mut self, out: &mut Vec<PeerEffect>) {
        self.ring(|member, effects| member.handle(ring::RingInput::Leave, effects), out);
        out.push(PeerEffect::Left);
    }
}
