//! Whom a key belongs to. Questions are handed on (recursive), about half of the way each time; only the owner
//! answers, and it answers the asker.

use super::{LookupPurpose, MAX_HOPS, PendingRequest, RingMember};
use crate::key::Key;
use crate::message::{RequestId, RingEffect, RingMessage};

impl RingMember {
    /// Whether a key is this member's own, as far as it knows.
    pub fn owns(&self, key: Key) -> bool {
        self.range_start().is_some_and(|before| key.belongs_to(before, self.me))
    }

    /// The place after which everything up to this member is its own, as far as it knows.
    pub fn range_start(&self) -> Option<Key> {
        match self.predecessor {
            _ if !self.is_inside() => None,
            Some(before) => Some(before),
            None if self.successors.is_empty() => Some(self.me),
            None => None,
        }
    }

    pub(super) fn find_owner(
        &mut self,
        key: Key,
        wanted: LookupPurpose,
        tries: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        let request = self.open_request(PendingRequest::Owner { key, wanted, tries }, effects);
        self.on_find_owner(request, self.me, key, 0, false, effects);
    }

    /// Answers the asker, or hands the request on.
    pub(super) fn on_find_owner(
        &mut self,
        request: RequestId,
        asker: Key,
        key: Key,
        hops: u32,
        last: bool,
        effects: &mut Vec<RingEffect>,
    ) {
        if self.owns(key) {
            if asker == self.me {
                self.on_owner(request, self.me, hops, effects);
            } else {
                effects.push(RingEffect::Send(asker, RingMessage::Owner { request, hops }));
            }
            return;
        }
        if !self.is_inside() || hops > MAX_HOPS {
            return;
        }
        if let Some((next, last)) = self.next_hop(key, last) {
            let message = RingMessage::FindOwner { request, asker, key, hops: hops + 1, last };
            effects.push(RingEffect::Send(next, message));
        }
    }

    /// Whom to hand something on to that is meant for the owner of a key, and whether that is taken to be the
    /// owner. `last`: whoever handed it on took this member for the owner.
    pub fn next_hop(&self, key: Key, last: bool) -> Option<(Key, bool)> {
        match (last && self.is_inside(), self.predecessor) {
            // Somebody came in before this member, and the one that asks it has not heard of that.
            (true, Some(before)) => Some((before, true)),
            _ => match self.owner_among_successors(key) {
                Some(owner) => Some((owner, true)),
                None => self.closest_preceding(key).map(|next| (next, false)),
            },
        }
    }

    /// The member after this one that a key belongs to, as far as the list of successors tells.
    fn owner_among_successors(&self, key: Key) -> Option<Key> {
        let before = std::iter::once(&self.me).chain(&self.successors);
        let mut pairs = before.zip(&self.successors);
        pairs.find(|&(&before, &owner)| key.belongs_to(before, owner)).map(|(_, &owner)| owner)
    }

    /// The farthest known member that is not beyond the key.
    pub(super) fn closest_preceding(&self, key: Key) -> Option<Key> {
        let known = self.successors.iter().copied().chain(self.fingers.iter());
        let before = known.filter(|other| other.is_between(self.me, key));
        before.max_by_key(|&other| self.me.distance(other)).or(self.successors.first().copied())
    }

    pub(super) fn on_owner(
        &mut self,
        request: RequestId,
        owner: Key,
        hops: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        match self.open.remove(&request) {
            Some(PendingRequest::Owner { wanted: LookupPurpose::ByCaller(tag), .. }) => {
                effects.push(RingEffect::OwnerFound { tag, owner, hops });
            }
            Some(PendingRequest::Owner { wanted: LookupPurpose::ForFinger(exponent), .. }) => {
                self.fingers.learn(exponent, self.me, owner);
            }
            Some(other) => {
                // Not the answer to that: it stays open.
                self.open.insert(request, other);
            }
            None => {}
        }
    }

    /// Looks up one far place, another each time. The member that it had there is asked whether it is alive, for
    /// what is handed on to a dead one is lost.
    pub(super) fn refresh_finger(&mut self, effects: &mut Vec<RingEffect>) {
        let Some(&head) = self.successors.first() else { return };
        let exponent = self.fingers.next_exponent(self.me, head);
        if let Some(member) = self.fingers.get(exponent) {
            self.request_neighbours(member, PendingRequest::Finger(member), effects);
        }
        self.find_owner(
            self.me.ahead(1 << exponent),
            LookupPurpose::ForFinger(exponent),
            1,
            effects,
        );
    }
}
