//! Whom a key belongs to. Questions are handed on (recursive), about half of the way each time; only the owner
//! answers, and it answers the asker.

use super::{MOST_HOPS, Open, RingMember, Wanted};
use crate::key::Key;
use crate::message::{Question, RingEffect, RingMessage};

impl RingMember {
    /// Whether a key is this member's own, as far as it knows.
    pub fn owns(&self, key: Key) -> bool {
        self.owns_after().is_some_and(|before| key.belongs_to(before, self.me))
    }

    /// The place after which everything up to this member is its own, as far as it knows.
    pub fn owns_after(&self) -> Option<Key> {
        match self.predecessor {
            _ if !self.is_inside() => None,
            Some(before) => Some(before),
            None if self.successors.is_empty() => Some(self.me),
            None => None,
        }
    }

    pub(super) fn look_up(
        &mut self,
        key: Key,
        wanted: Wanted,
        tries: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        let question = self.question(Open::Owner { key, wanted, tries }, effects);
        self.hand_on(question, self.me, key, 0, false, effects);
    }

    /// Answers the asker, or hands the question on.
    pub(super) fn hand_on(
        &mut self,
        question: Question,
        asker: Key,
        key: Key,
        hops: u32,
        last: bool,
        effects: &mut Vec<RingEffect>,
    ) {
        if self.owns(key) {
            if asker == self.me {
                self.found(question, self.me, hops, effects);
            } else {
                effects.push(RingEffect::Send(asker, RingMessage::Mine { question, hops }));
            }
            return;
        }
        if !self.is_inside() || hops > MOST_HOPS {
            return;
        }
        if let Some((next, last)) = self.next_hop(key, last) {
            let message = RingMessage::LookUp { question, asker, key, hops: hops + 1, last };
            effects.push(RingEffect::Send(next, message));
        }
    }

    /// Whom to hand something on to that is meant for the owner of a key, and whether that is taken to be the
    /// owner. `last`: whoever handed it on took this member for the owner.
    pub fn next_hop(&self, key: Key, last: bool) -> Option<(Key, bool)> {
        match (last && self.is_inside(), self.predecessor) {
            // Somebody came in before this member, and the one that asks it has not heard of that.
            (true, Some(before)) => Some((before, true)),
            _ => match self.owner_nearby(key) {
                Some(owner) => Some((owner, true)),
                None => self.nearest_before(key).map(|next| (next, false)),
            },
        }
    }

    /// The member after this one that a key belongs to, as far as the list of successors tells.
    fn owner_nearby(&self, key: Key) -> Option<Key> {
        let before = std::iter::once(&self.me).chain(&self.successors);
        let mut pairs = before.zip(&self.successors);
        pairs.find(|&(&before, &owner)| key.belongs_to(before, owner)).map(|(_, &owner)| owner)
    }

    /// The farthest known member that is not beyond the key.
    pub(super) fn nearest_before(&self, key: Key) -> Option<Key> {
        let known = self.successors.iter().copied().chain(self.fingers.iter());
        let before = known.filter(|other| other.is_between(self.me, key));
        before.max_by_key(|&other| self.me.distance(other)).or(self.successors.first().copied())
    }

    pub(super) fn found(
        &mut self,
        question: Question,
        owner: Key,
        hops: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        match self.open.remove(&question) {
            Some(Open::Owner { wanted: Wanted::ByCaller(tag), .. }) => {
                effects.push(RingEffect::Found { tag, owner, hops });
            }
            Some(Open::Owner { wanted: Wanted::ForFinger(exponent), .. }) => {
                self.fingers.learn(exponent, self.me, owner);
            }
            Some(other) => {
                // Not the answer to that: it stays open.
                self.open.insert(question, other);
            }
            None => {}
        }
    }

    /// Looks up one far place, another each time. The member that it had there is asked whether it is alive, for
    /// what is handed on to a dead one is lost.
    pub(super) fn refresh_finger(&mut self, effects: &mut Vec<RingEffect>) {
        let Some(&head) = self.successors.first() else { return };
        let exponent = self.fingers.turn(self.me, head);
        if let Some(member) = self.fingers.at(exponent) {
            self.ask(member, Open::Finger(member), effects);
        }
        self.look_up(self.me.ahead(1 << exponent), Wanted::ForFinger(exponent), 1, effects);
    }
}
