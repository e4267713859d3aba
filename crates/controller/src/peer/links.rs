//! A crawl follows each plain link once. The controller that owns a link's key on the ring (the
//! link's *home*) grants it to the first state that claims it; all other states wait for the
//! outcome. The outcome and the destination are facts like any other. A controller that skips a
//! link knows the destination, and tells its owner that it exists. A controller with waiting links
//! is not idle, so a crawl does not end before each link was followed.
//!
//! Only what crawlers found is durable. A controller that takes over a home collects the grants
//! again. At worst a link is followed twice.

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
    /// Own states that offer a link that is not known to be followed.
    waiting: BTreeMap<ActionSignature, BTreeSet<StateKey>>,
    /// Links claimed at their homes, without an answer yet.
    asked: BTreeSet<ActionSignature>,
    /// Links granted to own states.
    given: BTreeMap<ActionSignature, StateKey>,
    /// As home: the grants, and the claims that wait.
    granted: BTreeMap<ActionSignature, Granted>,
    /// Links to look at again.
    changed: BTreeSet<ActionSignature>,
    /// Where the own range began when the waiting links were last checked.
    seen_after: Option<Key>,
}

/// A link granted to a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Granted {
    wish: Wish,
    /// Waiting claims, by claimant and number.
    others: BTreeMap<(Key, u64), Wish>,
}

/// The key whose owner is a link's home. A state with the same key would do no harm.
fn home(link: ActionSignature) -> StateKey {
    StateKey(u128::from(link.0) << 64 | u128::from(!link.0))
}

impl Peer {
    /// Handles the plain links that were deferred or that changed.
    pub(super) fn advance_links(&mut self) {
        for (state, link) in std::mem::take(&mut self.known.ownership.newly_aside) {
            self.links.waiting.entry(link).or_default().insert(state);
            self.links.changed.insert(link);
        }
        if self.links.seen_after != self.ranges.after {
            self.links.seen_after = self.ranges.after;
            self.links.changed.extend(self.links.waiting.keys());
        }
        while let Some(link) = self.links.changed.pop_first() {
            self.pursue(link);
        }
    }

    /// Reports granted links of own states whose outcome arrived by another message.
    pub(super) fn report_granted_links(&mut self) {
        let settled = |(&link, &state): (&ActionSignature, &StateKey)| {
            let slot = self.known.graph.slot(state, link)?;
            (self.owns(state) && !self.known.graph.is_open(slot)).then_some((link, state))
        };
        let settled: Vec<_> = self.links.given.iter().filter_map(settled).collect();
        for (link, state) in settled {
            self.became_of(link, state);
        }
    }

    /// Reports the outcome of a link of an own state that is no candidate any more.
    fn became_of(&mut self, link: ActionSignature, state: StateKey) {
        match self.known.graph.lead(state, link) {
            Some(to) => {
                self.followed_here(Transition { from: state, action: link, to }, false);
            }
            None => self.gave_up_link(state, link),
        }
    }

    /// Whether own states wait for a link to be followed.
    pub(super) fn waits_for_links(&self) -> bool {
        !self.links.waiting.is_empty()
    }

    /// Advances a link that own states wait for: skips it, follows it, or claims it.
    fn pursue(&mut self, link: ActionSignature) {
        let Some(mut states) = self.links.waiting.remove(&link) else { return };
        states.retain(|&state| {
            self.owns(state) && self.known.is_aside(state, link) && !self.is_gone(state)
        });
        if let Some(followed) = self.links.followed.get(&link) {
            let from = followed.from;
            for state in states {
                // Followed from this very state, but the transition was lost since.
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
            self.owe_owner(home(link), |number| PeerMessage::Claim { number, asker, wish });
        }
    }

    fn route_to(&self, key: StateKey) -> Route {
        self.known.graph.get(key).and_then(|known| known.route.clone()).unwrap_or_default()
    }

    /// A controller claims a link for a state. A home that is not settled does not answer: the
    /// claimant retries.
    pub(super) fn on_claim(&mut self, number: u64, asker: Key, wish: Wish) {
        if self.is_unsettled() {
            return;
        }
        let (link, state) = (wish.link, wish.state);
        if let Some(followed) = self.links.followed.get(&link).cloned() {
            self.answer_claim(asker, number, &wish, Some(followed));
            return;
        }
        let fresh = || Granted { wish: wish.clone(), others: BTreeMap::new() };
        let granted = self.links.granted.entry(link).or_insert_with(fresh);
        if granted.wish.state == state {
            self.answer_claim(asker, number, &wish, None);
            return;
        }
        if granted.others.insert((asker, number), wish).is_some() {
            // The claim was repeated: the state with the grant, or its outcome, may have been lost.
            let due = granted.wish.clone();
            self.send_to_owner(due.state, None, PeerMessage::Due(due));
        }
    }

    /// A home asks for the outcome of a link granted to an own state.
    pub(super) fn on_due(&mut self, due: &Wish) {
        let &Wish { link, state, ref route } = due;
        if self.is_unsettled() {
            return;
        }
        if !self.known.graph.is_full(state)
            && (!route.is_empty() || self.known.graph.initial() == Some(state))
        {
            self.on_exists(state, route);
            return;
        }
        if self.is_gone(state) {
            self.gave_up_link(state, link);
            return;
        }
        if self.known.is_aside(state, link) {
            // The grant is older than the ownership, or another state claimed the link since.
            self.links.given.insert(link, state);
            self.known.take_up(state, link);
            return;
        }
        let slot = self.known.graph.slot(state, link);
        if slot.is_none_or(|slot| !self.known.graph.is_open(slot)) {
            self.became_of(link, state);
        }
    }

    fn answer_claim(&mut self, asker: Key, number: u64, wish: &Wish, followed: Option<Followed>) {
        let &Wish { link, state, .. } = wish;
        self.send(asker, PeerMessage::Claimed { number, link, state, followed });
    }

    /// As home: grants a link to the next claimant, since the present one cannot follow it.
    fn grant_to_next(&mut self, link: ActionSignature) {
        let Some(Granted { mut others, .. }) = self.links.granted.remove(&link) else { return };
        if let Some(((asker, number), wish)) = others.pop_first() {
            self.links.granted.insert(link, Granted { wish: wish.clone(), others });
            self.answer_claim(asker, number, &wish, None);
        }
    }

    /// The answer to a claim: the state may follow the link, unless another state did.
    pub(super) fn on_claimed(
        &mut self,
        link: ActionSignature,
        state: StateKey,
        followed: Option<Followed>,
    ) {
        self.links.asked.remove(&link);
        self.links.changed.insert(link);
        if let Some(followed) = followed {
            self.learn_followed(&followed);
        } else if self.is_gone(state) {
            self.gave_up_link(state, link);
        } else if self.owns(state) && self.known.is_aside(state, link) {
            self.links.given.insert(link, state);
            self.known.take_up(state, link);
        }
    }

    /// A plain link was followed from an own state. `turned_out`: the page did not show it as a
    /// link.
    pub(super) fn followed_here(&mut self, step: Transition, turned_out: bool) {
        let link = step.action;
        let followed = self.followed_by(step);
        self.learn_followed(&followed);
        if turned_out {
            self.learn_plain(link);
            self.pass_plain(followed.clone(), self.me);
        }
        let asker = self.me;
        self.owe_owner(home(link), |number| PeerMessage::Followed { number, asker, followed });
    }

    fn followed_by(&self, step: Transition) -> Followed {
        let Transition { from, action: link, to } = step;
        Followed { link, from, to, route: self.route_over(step).unwrap_or_default() }
    }

    /// An own state gave a link up: another state may try.
    pub(super) fn gave_up_link(&mut self, state: StateKey, link: ActionSignature) {
        if self.links.given.get(&link) == Some(&state) {
            self.links.given.remove(&link);
            self.links.changed.insert(link);
        }
        let asker = self.me;
        self.owe_owner(home(link), |number| PeerMessage::NotFollowed {
            number,
            asker,
            link,
            state,
        });
    }

    /// An own state is gone: other states follow its links.
    pub(super) fn give_up_links(&mut self, state: StateKey, links: Vec<ActionSignature>) {
        for link in links {
            self.links.changed.insert(link);
            self.gave_up_link(state, link);
        }
    }

    /// As home: the state with the grant gave the link up.
    pub(super) fn on_not_followed(&mut self, link: ActionSignature, state: StateKey) {
        if self.links.granted.get(&link).is_some_and(|granted| granted.wish.state == state) {
            self.grant_to_next(link);
        }
    }

    /// Takes in that a link was followed, and answers the waiting claims.
    pub(super) fn learn_followed(&mut self, followed: &Followed) {
        let link = followed.link;
        if self.links.followed.contains_key(&link) {
            return;
        }
        self.assure_there(followed.to, &followed.route);
        self.links.followed.insert(link, followed.clone());
        self.links.given.remove(&link);
        self.links.changed.insert(link);
        if let Some(granted) = self.links.granted.remove(&link) {
            for ((asker, number), wish) in granted.others {
                self.answer_claim(asker, number, &wish, Some(followed.clone()));
            }
        }
    }

    /// Takes in that an action is a plain link wherever it is offered. Returns whether that was
    /// new.
    pub(super) fn learn_plain(&mut self, link: ActionSignature) -> bool {
        let new = self.known.learn_plain(link);
        if new {
            self.out.push(PeerEffect::Keep(Fact::PlainLink { action: link }));
        }
        new
    }

    /// Another controller found out that an action is a plain link.
    pub(super) fn on_plain(&mut self, followed: Followed, starter: Key) {
        if starter != self.me && self.learn_plain(followed.link) {
            self.learn_followed(&followed);
            self.pass_plain(followed, starter);
        }
    }

    fn pass_plain(&mut self, followed: Followed, starter: Key) {
        if let Some(next) = self.successor() {
            self.send(next, PeerMessage::Plain(followed, starter));
        }
    }

    /// The links whose homes lie in a range: those followed, and those granted.
    pub(super) fn links_between(&self, after: Key, until: Key) -> (Vec<Followed>, Vec<Wish>) {
        let between = |link: ActionSignature| place(home(link)).belongs_to(after, until);
        let followed = self.links.followed.iter().filter(|&(&link, _)| between(link));
        let mut followed: BTreeMap<_, _> =
            followed.map(|(&link, followed)| (link, followed.clone())).collect();
        for (from, state) in self.known.graph.full() {
            let links = &self.known.graph.at(state).links;
            for (link, to) in self.known.graph.leads(state) {
                if links.contains(&link) && between(link) {
                    let step = Transition { from, action: link, to };
                    followed.entry(link).or_insert_with(|| self.followed_by(step));
                }
            }
        }
        let here = self.links.given.iter().filter(|&(_, &state)| self.owns(state));
        let here = here.map(|(&link, &state)| Wish { link, state, route: self.route_to(state) });
        let as_home = self.links.granted.values().map(|granted| granted.wish.clone());
        let given = here.chain(as_home).filter(|wish| between(wish.link)).collect();
        (followed.into_values().collect(), given)
    }

    /// Takes in what other controllers know of links.
    pub(super) fn learn_links(&mut self, (followed, given): (Vec<Followed>, Vec<Wish>)) {
        for followed in followed {
            self.learn_followed(&followed);
        }
        for wish in given {
            if !self.links.followed.contains_key(&wish.link) {
                let granted = Granted { wish, others: BTreeMap::new() };
                self.links.granted.entry(granted.wish.link).or_insert(granted);
            }
        }
    }

    /// The destinations of followed links, with their routes.
    pub(super) fn behind_links(&self) -> impl Iterator<Item = (StateKey, &Route)> {
        let all = self.links.followed.values().filter(|followed| !followed.route.is_empty());
        all.map(|followed| (followed.to, &followed.route))
    }
}
