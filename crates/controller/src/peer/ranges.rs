//! Which states are this controller's: it takes over, hands over, and looks for what was lost.

use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_ring as ring;
use argiope_ring::{Key, RingMember};

use super::message::{Collect, Envelope, Followed, PeerEffect, PeerMessage, PeerTimer, Wish};
use super::replicas::{by_state, executed, route_of};
use super::{Peer, place};
use crate::job::{Route, Transition};
use crate::journal::Fact;

/// What it owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ranges {
    /// Everything after this place up to its own; nothing, if there is none.
    pub(super) after: Option<Key>,
    /// Whether it was given what is its own. A newcomer is not, at first.
    pub(super) granted: bool,
    /// Whether it waits for that.
    expects: bool,
    /// Messages for states that may be its own soon.
    pub(super) held: Vec<(Key, Envelope)>,
    /// The collection under way: its number, and after which place.
    collecting: Option<(u64, Key)>,
    /// The collections heard of: of what, and by whom.
    pub(super) heard: Vec<(Key, Key)>,
    leaving: bool,
    /// What it brings from an earlier life, until it is in the ring.
    pub(super) remembered: Vec<Fact>,
}

/// What is handed over.
#[derive(Default)]
pub(super) struct Handover {
    /// Nothing is missing.
    pub(super) settled: bool,
    /// About states, state by state.
    pub(super) facts: Vec<Fact>,
    /// States that are only known to be there.
    pub(super) awaited: Vec<(StateKey, Route)>,
    /// Plain links that were followed, and those that were given to states.
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
    /// Of a founder.
    pub(super) fn whole(member: &RingMember) -> Self {
        Self { after: member.owns_after(), granted: true, ..Self::default() }
    }
}

impl Peer {
    /// Whether it may lack something that is its own.
    pub(super) fn is_unsettled(&self) -> bool {
        !self.ranges.granted
            || self.ranges.collecting.is_some()
            || !self.ranges.held.is_empty()
            || self.ranges.leaving
    }

    /// Whether everything is its own.
    pub(super) fn is_alone(&self) -> bool {
        self.ranges.after == Some(self.me)
    }

    /// Where its own states begin, for checkers.
    pub fn owns_after(&self) -> Option<Key> {
        self.ranges.after
    }

    /// Takes in what the ring has become.
    pub(super) fn look_at_ring(&mut self, out: &mut Vec<PeerEffect>) {
        if self.member.is_inside() && !self.ranges.granted && !self.ranges.expects {
            self.ranges.expects = true;
            out.push(PeerEffect::Wake(PeerTimer::Grant, self.settings.times.round));
        }
        let now = if self.ranges.granted && !self.ranges.leaving {
            self.member.owns_after()
        } else {
            None
        };
        if now != self.ranges.after && !self.ranges.leaving {
            self.move_to(now, out);
        }
        match self.member.successors().first().copied() {
            Some(heir) if self.ranges.leaving && self.member.is_inside() => {
                self.change_heir(heir, out)
            }
            None if self.ranges.leaving && self.member.is_inside() => self.left(out),
            _ => {}
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
            self.doubt(after, taken_over.unwrap_or(self.me));
        }
        let mut given =
            Handover { settled: self.ranges.collecting.is_none(), ..Handover::default() };
        let states: Vec<(StateKey, StateIndex)> = self.known.graph().all().collect();
        for (key, state) in states {
            if self.known.ownership().is_own(state) && !self.owns(key) {
                given.add(self, key, state);
            }
            self.own_or_not(key);
        }
        let Some(after) = now else { return };
        if let Some(before) = given_to {
            // Somebody came in before this controller; also if there is nothing to give it must hear of it.
            given.links = self.links_between(before, after);
            self.hand_over(after, before, given, out);
            // It may have been there before, unknown to those who took over from its neighbour: then it was not asked.
            if self.ranges.heard.iter().any(|&(_, by)| by == self.me) {
                self.start_collecting(after, out);
            }
        } else {
            self.start_collecting(after, out);
            self.pass_on_copies(out);
        }
        self.try_held();
    }

    /// What could not be handed on is tried again.
    pub(super) fn try_held(&mut self) {
        if self.ranges.granted {
            let held = std::mem::take(&mut self.ranges.held);
            self.inbox.extend(held);
        }
    }

    /// A state is own or not, by its place.
    pub(super) fn own_or_not(&mut self, key: StateKey) {
        let own = self.owns(key);
        let was =
            self.known.graph().find(key).is_some_and(|state| self.known.ownership().is_own(state));
        self.known.set_owned(key, own);
        if own && !was && self.known.graph().is_full(key) {
            self.came_to_own(key);
        }
    }

    /// Takes in what another knew of a state that is own, or will be.
    pub(super) fn take_over(&mut self, facts: &[Fact], out: &mut Vec<PeerEffect>) {
        let Some(key) = facts.first().and_then(Fact::state) else { return };
        out.extend(facts.iter().cloned().map(PeerEffect::Keep));
        self.keep_copies(facts);
        // What it leads to may be own as well, and lost.
        for (action, to) in executed(facts) {
            if self.owns(to) && !self.known.graph().is_full(to) {
                let step = Transition { from: key, action, to };
                let route: Route = route_of(facts).iter().copied().chain([step]).collect();
                self.exists(to, &route);
            }
        }
    }

    /// States were handed over to this controller.
    pub(super) fn handed_over(
        &mut self,
        after: Key,
        settled: bool,
        facts: &[Fact],
        out: &mut Vec<PeerEffect>,
    ) {
        if !self.ranges.granted {
            // Whoever is there has not told a newcomer yet, and others farther off may have: what lies between the
            // two is not this controller's.
            let notify = ring::RingInput::Received(after, ring::RingMessage::Notify);
            self.ring(|member, effects| member.handle(notify, effects), out);
        }
        for state in by_state(facts) {
            self.take_over(state, out);
        }
        self.grant(Some(settled), out);
        for state in by_state(facts) {
            self.assure_heard(state, out);
        }
        // When two rings become one, what a member gives up was not its new predecessor's alone.
        for state in by_state(facts) {
            let key = state.first().and_then(Fact::state);
            if self.ranges.granted && key.is_some_and(|key| !self.owns(key)) {
                self.pass_on(state, out);
            }
        }
    }

    /// A newcomer may begin. Without having been given anything it looks for it itself.
    pub(super) fn grant(&mut self, given: Option<bool>, out: &mut Vec<PeerEffect>) {
        if self.ranges.granted || self.ranges.leaving || !self.member.is_inside() {
            return;
        }
        self.ranges.granted = true;
        self.ranges.after = self.member.owns_after();
        let incomplete = self.ranges.after.filter(|_| given != Some(true));
        if let Some(after) = incomplete {
            self.doubt(after, self.me);
        }
        let states: Vec<StateKey> = self.known.graph().all().map(|(key, _)| key).collect();
        for key in states {
            self.own_or_not(key);
        }
        if let Some(after) = incomplete {
            self.start_collecting(after, out);
        }
        self.pass_on_remembered(out);
        self.try_held();
    }

    /// Tells others what it remembers of their states, and which states there must be: they may have been lost
    /// meanwhile, and nobody else may know of them.
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
                self.exists(key, &route);
            } else {
                self.owe_existence(key, route, out);
            }
        }
    }

    /// Somebody else may know of more that was done after one place, up to another: nothing there is handed out until
    /// everybody was asked, or it would be done again.
    fn doubt(&mut self, after: Key, upto: Key) {
        let before = self.known.ownership().unreconciled().map_or(upto, |(_, before)| before);
        let upto = if before.distance(self.me) < upto.distance(self.me) { before } else { upto };
        self.known.set_unreconciled(Some((after, upto)));
    }

    /// It stood still, or another one does not know of it: others may have stood in for it.
    pub(super) fn may_be_stood_in_for(&mut self, out: &mut Vec<PeerEffect>) {
        if let Some(after) = self.ranges.after.filter(|_| self.member.is_inside()) {
            self.doubt(after, self.me);
            // Also if one is under way: what is on its way back may be older.
            self.start_collecting(after, out);
        }
    }

    /// Somebody else may have found something that is own.
    pub(super) fn collect_own(&mut self, out: &mut Vec<PeerEffect>) {
        if let Some(after) = self.ranges.after.filter(|_| self.member.is_inside()) {
            self.start_collecting(after, out);
        }
    }

    /// What the one before had when it was lost may have been its predecessor's, for whom it stood in: it is told.
    fn pass_on_copies(&mut self, out: &mut Vec<PeerEffect>) {
        let copies =
            self.known.graph().all().filter(|&(_, state)| !self.known.ownership().is_own(state));
        let copies: Vec<Vec<Fact>> = copies.map(|(_, state)| self.known.facts(state)).collect();
        for facts in copies {
            self.pass_on(&facts, out);
        }
    }

    /// Asks everybody for what is own and may be lost.
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

    /// Whoever kept the destination of a transition of an own state may be gone, and those that took over may have
    /// asked here before the transition was known: they are told.
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

    /// Somebody relies on a state that another has: those that took over from the other are told that it is there.
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

    /// Where an own state leads may have been heard of while it was another's, without being in the record by which it
    /// became own: then it counts as executed, but whoever kept the destination may be gone, or in a ring apart.
    pub(super) fn assure_heard(&mut self, facts: &[Fact], out: &mut Vec<PeerEffect>) {
        if let Some(key) = facts.first().and_then(Fact::state) {
            self.assure_all_but(key, &executed(facts), out);
        }
    }

    /// The same, but for the transitions that were reported.
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

    /// Somebody must know how to get to a state that is awaited here.
    pub(super) fn look_for_routes(&mut self, out: &mut Vec<PeerEffect>) {
        if self.ranges.collecting.is_none() && !self.known.awaited_without_route().is_empty() {
            self.collect_own(out);
        }
    }

    /// Adds what is known here and hands a collection on; or it is back.
    pub(super) fn collect(&mut self, from: Key, mut collect: Collect, out: &mut Vec<PeerEffect>) {
        collect.gaps |= self.ranges.after != Some(from);
        if collect.by == self.me {
            if self.ranges.collecting.is_some_and(|(number, _)| number == collect.number) {
                self.collected(collect, out);
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
            // Whoever collects is not known here yet: handed on, it would go past it, round and round.
            Some(next) if collect.by.is_between(self.me, next) => {
                collect.gaps = true;
                self.send(collect.by, PeerMessage::Collect(collect), out);
            }
            Some(next) => self.send(next, PeerMessage::Collect(collect), out),
            None if self.is_alone() => self.collected(collect, out),
            // It has lost its successors and will find others. Who collects will try again.
            None => {}
        }
    }

    fn collected(&mut self, collect: Collect, out: &mut Vec<PeerEffect>) {
        if collect.gaps {
            // What was found is of use; but somebody has to be asked yet, once its neighbours know of it.
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
                self.exists(key, &route);
            } else {
                self.owe_existence(key, route, out);
            }
        }
        if collect.gaps {
            return;
        }
        self.known.set_unreconciled(None);
        self.try_held();
        // If nothing that was executed leads to a state, it is found again by what will be.
        for state in self.known.awaited_without_route() {
            self.known.set_owned(self.known.graph().key(state), false);
        }
        // The initial state has to be somebody's, even if nothing leads there.
        if let Some(initial) = self.known.graph().initial().filter(|&initial| self.owns(initial)) {
            self.known.set_owned(initial, true);
        }
    }

    /// There is an own state, which may have been lost.
    pub(super) fn exists(&mut self, key: StateKey, route: &Route) {
        self.known.begin(route.first().map_or(key, |step| step.from));
        let state = self.known.set_owned(key, self.owns(key));
        self.known.learn_route(state, route);
        for step in route.iter() {
            self.known.hear(*step);
        }
    }

    /// How one gets to where a step leads.
    pub(super) fn route_over(&self, from: StateIndex, step: Transition) -> Option<Route> {
        let route = self.known.graph().route(from)?;
        Some(route.iter().copied().chain([step]).collect())
    }

    /// A member is gone.
    pub(super) fn gone(&mut self, member: Key, out: &mut Vec<PeerEffect>) {
        self.note_failure();
        self.known.forget_owner(member);
        self.told_to.remove(&member);
        // Copies are made by somebody else then, and if its heir is gone there is another.
        let leaving = self.ranges.leaving;
        self.owe_nothing(
            member,
            |message| !matches!(message, PeerMessage::Copy(..)) && !leaving,
            out,
        );
    }

    /// Whether it hands everything over and leaves.
    pub(super) fn is_leaving(&self) -> bool {
        self.ranges.leaving
    }

    /// Whether copies are taken in for another controller. One that leaves has passed on those that it had; others would be
    /// lost with it.
    pub(super) fn takes_copies_of(&self, other: Key) -> bool {
        !self.ranges.leaving || self.member.successors().first() == Some(&other)
    }

    /// Hands everything over and leaves.
    pub(super) fn leave(&mut self, out: &mut Vec<PeerEffect>) {
        if self.ranges.leaving || !self.member.is_inside() {
            return;
        }
        let Some(&heir) = self.member.successors().first() else {
            self.left(out);
            return;
        };
        let mut given = Handover::default();
        self.ranges.leaving = true;
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

    /// Everything is handed over.
    pub(super) fn left(&mut self, out: &mut Vec<PeerEffect>) {
        self.ring(|member, effects| member.handle(ring::RingInput::Leave, effects), out);
        out.push(PeerEffect::Left);
    }
}
