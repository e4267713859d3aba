//! Plain links are followed once in the whole crawl. Whoever owns a link's place on the ring (its *home*) gives it to the
//! first state that asks; all others wait until it was followed there. That it was, and where it leads, is a fact like
//! any other: whoever leaves a link to another state knows the destination and tells those who may have lost it. A
//! controller with links that wait is not idle, so a crawl does not end before each of them was followed.
//!
//! Only what crawlers found is kept on disk; who was given a link is collected again by those who take over its home. At
//! worst a link is followed twice.

use std::collections::{BTreeMap, BTreeSet};

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::Key;

use super::message::{Followed, PeerEffect, PeerMessage, Wish};
use super::{Peer, place};
use crate::job::{Route, Transition};
use crate::journal::Fact;

/// What is known of plain links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LinkRegistry {
    /// Those that were followed.
    followed: BTreeMap<ActionSignature, Followed>,
    /// Own states that offer a link which was not followed yet, as far as is known here.
    waiting: BTreeMap<ActionSignature, BTreeSet<StateKey>>,
    /// Links that were asked for at their homes.
    asked: BTreeSet<ActionSignature>,
    /// Links that own states were given.
    given: BTreeMap<ActionSignature, StateKey>,
    /// As home: to which states links were given, and who else has asked.
    granted: BTreeMap<ActionSignature, Granted>,
    /// Links about which something has changed.
    changed: BTreeSet<ActionSignature>,
    /// Where the own places began when everything that waits was last looked at.
    seen_after: Option<Key>,
}

/// A link that a state was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Granted {
    to: StateKey,
    route: Route,
    /// Others that ask for it, by who asks and under which number.
    others: BTreeMap<(Key, u64), Wish>,
}

/// The home of a link is with whoever owns this. No state has this name but by chance, and nothing would come of it.
fn home(link: ActionSignature) -> StateKey {
    StateKey(u128::from(link.0) << 64 | u128::from(!link.0))
}

impl Peer {
    /// Goes on with the plain links that were set aside, and with those about which something has changed.
    pub(super) fn look_at_links(&mut self, out: &mut Vec<PeerEffect>) {
        for (state, link) in self.known.take_set_aside() {
            self.links.waiting.entry(link).or_default().insert(state);
            self.links.changed.insert(link);
        }
        if self.links.seen_after != self.ranges.after {
            self.links.seen_after = self.ranges.after;
            self.links.changed.extend(self.links.waiting.keys());
        }
        while let Some(link) = self.links.changed.pop_first() {
            self.pursue(link, out);
        }
    }

    /// What became of links that own states were given may have been heard of in another way than by doing it.
    pub(super) fn look_at_given_links(&mut self, out: &mut Vec<PeerEffect>) {
        let settled = |(&link, &state): (&ActionSignature, &StateKey)| {
            let slot = self.known.graph().slot(state, link)?;
            (self.owns(state) && !self.known.graph().is_open(slot)).then_some((link, state))
        };
        let settled: Vec<_> = self.links.given.iter().filter_map(settled).collect();
        for (link, state) in settled {
            self.became_of(link, state, out);
        }
    }

    /// Tells what became of a link of an own state where it is no candidate any more.
    fn became_of(&mut self, link: ActionSignature, state: StateKey, out: &mut Vec<PeerEffect>) {
        match self.known.graph().find(state).and_then(|state| self.known.graph().lead(state, link))
        {
            Some(to) => {
                self.followed_here(Transition { from: state, action: link, to }, false, out)
            }
            None => self.gave_up_link(state, link, out),
        }
    }

    /// Whether own states wait for something to be followed.
    pub(super) fn waits_for_links(&self) -> bool {
        !self.links.waiting.is_empty()
    }

    /// Sees to it that the own states that offer a link do not wait in vain.
    fn pursue(&mut self, link: ActionSignature, out: &mut Vec<PeerEffect>) {
        let Some(mut states) = self.links.waiting.remove(&link) else { return };
        states.retain(|&state| self.owns(state) && self.known.is_aside(state, link));
        if let Some(followed) = self.links.followed.get(&link) {
            let from = followed.from;
            for state in states {
                // If it was followed from this very state, that was lost since.
                if state == from {
                    self.known.take_up(state, link);
                } else {
                    self.known.leave_elsewhere(state, link);
                }
            }
            return;
        }
        if let Some(&state) = self.links.given.get(&link) {
            if !self.owns(state) {
                self.links.given.remove(&link);
            } else if states.remove(&state) {
                self.known.take_up(state, link);
            }
        }
        let Some(&first) = states.first() else { return };
        self.links.waiting.insert(link, states);
        if !self.links.given.contains_key(&link) && self.links.asked.insert(link) {
            let wish = Wish { link, state: first, route: self.route_to(first) };
            let asker = self.me;
            self.owe_owner(home(link), |number| PeerMessage::Claim { number, asker, wish }, out);
        }
    }

    fn route_to(&self, key: StateKey) -> Route {
        self.known
            .graph()
            .find(key)
            .and_then(|state| self.known.graph().route(state).cloned())
            .unwrap_or_default()
    }

    /// Somebody asks for a link. Who may lack something does not answer; it will be asked again.
    pub(super) fn claimed(
        &mut self,
        number: u64,
        asker: Key,
        wish: Wish,
        out: &mut Vec<PeerEffect>,
    ) {
        if self.is_unsettled() {
            return;
        }
        let (link, state) = (wish.link, wish.state);
        if let Some(followed) = self.links.followed.get(&link).cloned() {
            self.answer_claim(asker, number, &wish, Some(followed), out);
            return;
        }
        let fresh = Granted { to: state, route: wish.route.clone(), others: BTreeMap::new() };
        let granted = self.links.granted.entry(link).or_insert(fresh);
        if granted.to == state {
            self.answer_claim(asker, number, &wish, None, out);
            return;
        }
        if granted.others.insert((asker, number), wish).is_some() {
            // It takes long. The state may have been lost, or what became of the link there.
            let due = Wish { link, state: granted.to, route: granted.route.clone() };
            self.send_to_owner(due.state, None, PeerMessage::Due(due), out);
        }
    }

    /// A home wonders what became of a link that was given to an own state.
    pub(super) fn due(&mut self, due: &Wish, out: &mut Vec<PeerEffect>) {
        let &Wish { link, state, ref route } = due;
        if self.is_unsettled() {
            return;
        }
        if !self.known.graph().is_full(state)
            && (!route.is_empty() || self.known.graph().initial() == Some(state))
        {
            self.exists(state, route);
            return;
        }
        if self.known.is_aside(state, link) {
            // It was given the link before it came here, or asked for another state since.
            self.links.given.insert(link, state);
            self.known.take_up(state, link);
        } else if self
            .known
            .graph()
            .slot(state, link)
            .is_none_or(|slot| !self.known.graph().is_open(slot))
        {
            self.became_of(link, state, out);
        }
    }

    fn answer_claim(
        &mut self,
        asker: Key,
        number: u64,
        wish: &Wish,
        followed: Option<Followed>,
        out: &mut Vec<PeerEffect>,
    ) {
        let &Wish { link, state, .. } = wish;
        self.send(asker, PeerMessage::Claimed { number, link, state, followed }, out);
    }

    /// As home: the state that has a link cannot follow it.
    fn grant_to_next(&mut self, link: ActionSignature, out: &mut Vec<PeerEffect>) {
        let Some(Granted { mut others, .. }) = self.links.granted.remove(&link) else { return };
        if let Some(((asker, number), wish)) = others.pop_first() {
            let granted = Granted { to: wish.state, route: wish.route.clone(), others };
            self.links.granted.insert(link, granted);
            self.answer_claim(asker, number, &wish, None, out);
        }
    }

    /// The answer to a claim: the state may follow the link, unless it was followed.
    pub(super) fn answered(
        &mut self,
        link: ActionSignature,
        state: StateKey,
        followed: Option<Followed>,
        out: &mut Vec<PeerEffect>,
    ) {
        self.links.asked.remove(&link);
        self.links.changed.insert(link);
        if let Some(followed) = followed {
            self.learn_followed(&followed, out);
        } else if self.owns(state) && self.known.is_aside(state, link) {
            self.links.given.insert(link, state);
            self.known.take_up(state, link);
        }
    }

    /// A plain link was followed from an own state. `turned_out`: it did not look like one.
    pub(super) fn followed_here(
        &mut self,
        step: Transition,
        turned_out: bool,
        out: &mut Vec<PeerEffect>,
    ) {
        let link = step.action;
        let route =
            self.known.graph().find(step.from).and_then(|state| self.route_over(state, step));
        let followed =
            Followed { link, from: step.from, to: step.to, route: route.unwrap_or_default() };
        self.learn_followed(&followed, out);
        if turned_out {
            self.learn_plain(link, out);
            self.pass_plain(followed.clone(), self.me, out);
        }
        let asker = self.me;
        self.owe_owner(home(link), |number| PeerMessage::Followed { number, asker, followed }, out);
    }

    /// A link of an own state was given up: another state may try.
    pub(super) fn gave_up_link(
        &mut self,
        state: StateKey,
        link: ActionSignature,
        out: &mut Vec<PeerEffect>,
    ) {
        if self.links.given.get(&link) == Some(&state) {
            self.links.given.remove(&link);
            self.links.changed.insert(link);
        }
        let asker = self.me;
        self.owe_owner(
            home(link),
            |number| PeerMessage::NotFollowed { number, asker, link, state },
            out,
        );
    }

    /// As home: a state gave a link up.
    pub(super) fn not_followed(
        &mut self,
        link: ActionSignature,
        state: StateKey,
        out: &mut Vec<PeerEffect>,
    ) {
        if self.links.granted.get(&link).is_some_and(|granted| granted.to == state) {
            self.grant_to_next(link, out);
        }
    }

    /// Takes in that a link was followed, and tells those who wait for it.
    pub(super) fn learn_followed(&mut self, followed: &Followed, out: &mut Vec<PeerEffect>) {
        let link = followed.link;
        if self.links.followed.contains_key(&link) {
            return;
        }
        self.assure_there(followed.to, &followed.route, out);
        self.links.followed.insert(link, followed.clone());
        self.links.given.remove(&link);
        self.links.changed.insert(link);
        if let Some(granted) = self.links.granted.remove(&link) {
            for ((asker, number), wish) in granted.others {
                self.answer_claim(asker, number, &wish, Some(followed.clone()), out);
            }
        }
    }

    /// An action is a plain link wherever it is offered. Says whether that was new.
    pub(super) fn learn_plain(&mut self, link: ActionSignature, out: &mut Vec<PeerEffect>) -> bool {
        let new = self.known.learn_plain(link);
        if new {
            out.push(PeerEffect::Keep(Fact::PlainLink { action: link }));
        }
        new
    }

    /// Somebody has found out that an action is a plain link.
    pub(super) fn heard_plain(
        &mut self,
        followed: Followed,
        starter: Key,
        out: &mut Vec<PeerEffect>,
    ) {
        if starter != self.me && self.learn_plain(followed.link, out) {
            self.learn_followed(&followed, out);
            self.pass_plain(followed, starter, out);
        }
    }

    fn pass_plain(&mut self, followed: Followed, starter: Key, out: &mut Vec<PeerEffect>) {
        if let Some(next) = self.member.successors().first().copied() {
            self.send(next, PeerMessage::Plain(followed, starter), out);
        }
    }

    /// What is known of links with homes between two: those that were followed, and those that were given to states.
    pub(super) fn links_between(&self, after: Key, until: Key) -> (Vec<Followed>, Vec<Wish>) {
        let between = |link: ActionSignature| place(home(link)).belongs_to(after, until);
        let mut followed: BTreeMap<_, _> = self
            .links
            .followed
            .iter()
            .filter(|&(&link, _)| between(link))
            .map(|(&k, v)| (k, v.clone()))
            .collect();
        for (from, state) in self.known.graph().full() {
            let links = self.known.graph().links(state);
            let leads = self
                .known
                .graph()
                .leads(state)
                .filter(|(link, _)| links.contains(link) && between(*link));
            for (link, to) in leads {
                let route = self
                    .route_over(state, Transition { from, action: link, to })
                    .unwrap_or_default();
                followed.entry(link).or_insert(Followed { link, from, to, route });
            }
        }
        let here = self.links.given.iter().filter(|&(_, &state)| self.owns(state));
        let here = here.map(|(&link, &state)| Wish { link, state, route: self.route_to(state) });
        let as_home = self.links.granted.iter();
        let as_home = as_home.map(|(&link, granted)| Wish {
            link,
            state: granted.to,
            route: granted.route.clone(),
        });
        let given = here.chain(as_home).filter(|wish| between(wish.link)).collect();
        (followed.into_values().collect(), given)
    }

    /// Takes in what others know of links.
    pub(super) fn learn_links(
        &mut self,
        (followed, given): (Vec<Followed>, Vec<Wish>),
        out: &mut Vec<PeerEffect>,
    ) {
        for followed in followed {
            self.learn_followed(&followed, out);
        }
        for Wish { link, state, route } in given {
            if !self.links.followed.contains_key(&link) {
                let granted = Granted { to: state, route, others: BTreeMap::new() };
                self.links.granted.entry(link).or_insert(granted);
            }
        }
    }

    /// The states that links are known to lead to, and how to get there.
    pub(super) fn behind_links(&self) -> impl Iterator<Item = (StateKey, &Route)> {
        let all = self.links.followed.values().filter(|followed| !followed.route.is_empty());
        all.map(|followed| (followed.to, &followed.route))
    }
}
