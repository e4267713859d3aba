//! The facts about states, as controllers hand them to each other: what this one has to give, and
//! what it makes of those that it is given. Merging only adds, so facts may come in any order and
//! any number of times.

use std::collections::BTreeSet;

use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};

use super::Peer;
use super::knowledge::PeerKnowledge;
use super::known_graph::ASK;
use crate::job::{Route, Transition, initial_of};
use crate::journal::{ContentId, Fact};
use crate::outcome::Offered;

/// Facts, state by state: each group begins with a state.
pub(super) fn by_state(facts: &[Fact]) -> impl Iterator<Item = &[Fact]> {
    let same = |one: &Fact, next: &Fact| {
        one.state() == next.state() && !matches!(next, Fact::State { .. })
    };
    facts.chunk_by(same)
}

/// The executed actions that facts name.
pub(super) fn executed(facts: &[Fact]) -> Vec<Transition> {
    let executed = facts.iter().filter_map(|fact| match *fact {
        Fact::Transition { from, action, to, .. } => Some(Transition { from, action, to }),
        _ => None,
    });
    executed.collect()
}

/// The route to a state, by the facts about it.
pub(super) fn route_of(facts: &[Fact]) -> Route {
    let route = facts.iter().find_map(|fact| match fact {
        Fact::State { route, .. } => route.clone(),
        _ => None,
    });
    route.unwrap_or_default()
}

impl PeerKnowledge {
    /// The facts about the own states that are known in full.
    pub fn own_facts(&self) -> Vec<Fact> {
        self.ownership.own().flat_map(|(_, state)| self.facts(state)).collect()
    }

    /// The facts about a state, beginning with the state itself; none if it is not known in full.
    pub fn facts(&self, state: StateIndex) -> Vec<Fact> {
        let known = self.graph.at(state);
        if !known.full {
            return Vec::new();
        }
        let (graph, from) = (self.graph.slots(), self.graph.key(state));
        let name = |slot: Slot| graph.signature(graph.action_of(slot));
        let mut actions: Vec<ActionSignature> =
            graph.slots(state).map(name).filter(|&action| action != ASK).collect();
        actions.sort_unstable();
        let offered = |action| Offered { action, once: known.links.contains(&action) };
        let offers = actions.into_iter().map(offered).collect();
        // A fact's route begins in the initial state.
        let route = known.route.clone().filter(|route| self.graph.is_certain(route, from));
        let mut facts = vec![Fact::State { key: from, offers, route, content: known.content }];
        facts.extend(known.appeared.map(|loaded| Fact::Appeared { at: from, loaded }));
        let mut executed: Vec<_> = self.graph.leads(state).collect();
        executed.sort_unstable();
        facts.extend(executed.iter().map(|&(action, to)| {
            let notes = known.notes.get(&action).map_or_else(Vec::new, |notes| notes.to_vec());
            Fact::Transition { from, action, to, notes }
        }));
        let strays = known.strays.iter();
        facts.extend(strays.map(|&(action, to)| Fact::Stray { from, action, to }));
        let reasons = known.reasons.iter();
        facts.extend(reasons.map(|(&action, &reason)| Fact::GivenUp { from, action, reason }));
        let followed = executed.iter().filter(|(action, _)| known.links.contains(action));
        facts.extend(followed.map(|&(link, _)| Fact::LinkFollower { link, state: from }));
        facts.extend(known.gone.then_some(Fact::Gone { state: from }));
        facts
    }

    /// Takes in a fact, once the initial state is known.
    pub fn learn(&mut self, fact: &Fact) {
        if let Fact::State { key, route: Some(route), .. } = fact {
            self.graph.begin(initial_of(route, *key));
        }
        if self.graph.initial().is_none() {
            return;
        }
        match fact {
            Fact::State { key, offers, route, content } => {
                self.learn_state(*key, offers, route.as_ref(), *content);
            }
            Fact::Transition { from, action, to, notes } => {
                let step = Transition { from: *from, action: *action, to: *to };
                if !self.learn_step(step, false)
                    && self.graph.lead(*from, *action).is_some_and(|known| known != *to)
                {
                    self.graph.learn_stray(step);
                }
                self.graph.learn_notes(*from, *action, notes);
            }
            Fact::GivenUp { from, action, reason } => match self.graph.slot(*from, *action) {
                Some(slot) => self.close(slot, *reason),
                // The action is closed as soon as its state is known.
                None => {
                    let state = self.graph.find_or_add(*from);
                    self.graph.at_mut(state).reasons.entry(*action).or_insert(*reason);
                }
            },
            Fact::Stray { from, action, to } => {
                self.graph.learn_stray(Transition { from: *from, action: *action, to: *to });
            }
            Fact::PlainLink { action } => _ = self.learn_plain(*action),
            Fact::Appeared { at, loaded } => self.learn_appeared(*at, *loaded),
            Fact::Gone { state } => self.learn_gone(*state),
            // A ring learns these from the transition of the link and from heartbeats. Only a crawl
            // on one machine knows what has ended the application, which states have addresses of
            // their own, and which actions are alike.
            Fact::LinkFollower { .. }
            | Fact::Spent { .. }
            | Fact::Entry { .. }
            | Fact::Parts { .. }
            | Fact::Undeferred
            | Fact::Ended { .. } => {}
        }
    }

    fn learn_state(
        &mut self,
        key: StateKey,
        offers: &[Offered],
        route: Option<&Route>,
        content: Option<ContentId>,
    ) {
        let state = self.graph.find_or_add(key);
        let links = offers.iter().filter(|offered| offered.once).map(|offered| offered.action);
        self.graph.at_mut(state).links.extend(links);
        let actions: Vec<ActionSignature> = offers.iter().map(|offered| offered.action).collect();
        let first = self.learn_actions(key, &actions);
        let is_missing = |action: &ActionSignature| self.graph.slot(key, *action).is_none();
        if !first && actions.iter().any(is_missing) {
            self.counted(state, |known| known.graph.add_actions(state, &actions));
        }
        for (action, reason) in self.graph.at(state).reasons.clone() {
            if let Some(slot) = self.graph.slot(key, action) {
                self.close(slot, reason);
            }
        }
        self.graph.learn_content(state, content);
        if let Some(route) = route {
            self.learn_route(state, route);
            self.hear_all(route.iter());
        }
        self.counted(state, |known| known.set_links_aside(state));
    }
}

impl Peer {
    /// Takes in facts of other controllers.
    pub(super) fn keep_copies(&mut self, facts: &[Fact]) {
        for group in by_state(facts) {
            let key = match group.first() {
                Some(Fact::State { key, .. }) => Some(*key),
                _ => None,
            };
            let awaited = key.filter(|&key| self.awaits(key));
            for fact in group {
                self.known.learn(fact);
            }
            if let Some(key) = key.filter(|_| self.known.graph.initial().is_some()) {
                self.update_ownership(key);
            }
            if let Some(key) = awaited.filter(|&key| self.owns(key) && !self.awaits(key))
                && let Some(state) = self.known.graph.find(key)
            {
                self.begin_to_serve(key, state);
            }
        }
    }

    /// Whether a state is own, and what it offers is not known.
    fn awaits(&self, key: StateKey) -> bool {
        let state = self.known.graph.find(key);
        state.is_some_and(|state| self.known.ownership.is_own(state))
            && !self.known.graph.is_full(key)
    }

    /// Takes in the facts that this controller kept in an earlier life. Where it gave up an action
    /// that was executed elsewhere, the transition counts.
    pub(super) fn recall(&mut self, kept: &[Fact]) {
        let initial = kept.iter().find_map(|fact| match fact {
            Fact::State { key, route: Some(route), .. } => Some(initial_of(route, *key)),
            _ => None,
        });
        let Some(initial) = initial else { return };
        self.known.graph.begin(initial);
        let executed = executed(kept).into_iter().map(|step| (step.from, step.action));
        let executed: BTreeSet<(StateKey, ActionSignature)> = executed.collect();
        let counts = |fact: &&Fact| match fact {
            Fact::GivenUp { from, action, .. } => !executed.contains(&(*from, *action)),
            _ => true,
        };
        let facts: Vec<Fact> = kept.iter().filter(counts).cloned().collect();
        self.keep_copies(&facts);
    }
}
