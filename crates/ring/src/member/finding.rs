//! Lookup of the owner of a key. Members forward the request, each about half of the remaining
//! distance (recursive lookup). Only the owner answers, directly to the requester.

use super::{LookupPurpose, MAX_HOPS, PendingRequest, RingMember};
use crate::key::Key;
use crate::message::{RequestId, RingEffect, RingMessage};

impl RingMember {
    /// Whether this member owns a key, as far as it knows.
    pub fn owns(&self, key: Key) -> bool {
        self.range_start().is_some_and(|before| key.belongs_to(before, self.me))
    }

    /// The exclusive start of the range that this member owns, as far as it knows. The range ends
    /// at its own key.
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
        purpose: LookupPurpose,
        tries: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        let request = self.open_request(PendingRequest::Owner { key, purpose, tries }, effects);
        self.on_find_owner(request, self.me, key, 0, false, effects);
    }

    /// Answers the requester if this member owns the key, and forwards the request otherwise.
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

    /// The next member on the path to the owner of a key, and whether that member is believed to be
    /// the owner. `last` says that the sender believed this member to be the owner.
    pub fn next_hop(&self, key: Key, last: bool) -> Option<(Key, bool)> {
        match (last && self.is_inside(), self.predecessor) {
            // A newcomer joined before this member, and the sender has not heard of it.
            (true, Some(before)) => Some((before, true)),
            _ => match self.owner_among_successors(key) {
                Some(owner) => Some((owner, true)),
                None => self.closest_preceding(key).map(|next| (next, false)),
            },
        }
    }

    /// The owner of a key, if the successor list tells.
    fn owner_among_successors(&self, key: Key) -> Option<Key> {
        let before = std::iter::once(&self.me).chain(&self.successors);
        let mut pairs = before.zip(&self.successors);
        pairs.find(|&(&before, &owner)| key.belongs_to(before, owner)).map(|(_, &owner)| owner)
    }

    /// The farthest known member before the key.
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
        match self.pending.remove(&request) {
            Some(PendingRequest::Owner { purpose: LookupPurpose::ByCaller(tag), .. }) => {
                effects.push(RingEffect::OwnerFound { tag, owner, hops });
            }
            Some(PendingRequest::Owner { purpose: LookupPurpose::ForFinger(exponent), .. }) => {
                self.fingers.learn(exponent, self.me, owner);
            }
            Some(other) => {
                // Not an answer to this request, which stays pending.
                self.pending.insert(request, other);
            }
            None => {}
        }
    }

    /// Looks up one finger, another one each time. Also checks the present finger there, because a
    /// request forwarded to a failed member is lost.
    pub(super) fn refresh_finger(&mut self, effects: &mut Vec<RingEffect>) {
        let Some(&head) = self.successors.first() else { return };
        let exponent = self.fingers.next_exponent(self.me, head);
        if let Some(member) = self.fingers.get(exponent) {
            self.request_neighbours(member, PendingRequest::Finger(member), effects);
        }
        let position = self.me.ahead(1 << exponent);
        self.find_owner(position, LookupPurpose::ForFinger(exponent), 1, effects);
    }
}
