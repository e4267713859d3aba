//! Coming in: the member before the newcomer's place shows it, the newcomer copies its list, and the ring takes it
//! in when it stabilises.

use super::{MAX_HOPS, Membership, PendingRequest, RingMember};
use crate::key::Key;
use crate::message::{RequestId, RingEffect, RingMessage};

impl RingMember {
    pub(super) fn join(&mut self, through: Key, effects: &mut Vec<RingEffect>) {
        if self.standing != Membership::Outside {
            return;
        }
        let request = self.open_request(PendingRequest::Place { through }, effects);
        let newcomer = self.me;
        effects.push(RingEffect::Send(through, RingMessage::Join { request, newcomer, hops: 0 }));
    }

    /// Hands a newcomer on, or shows it its place if that is after this member.
    pub(super) fn on_join(
        &mut self,
        request: RequestId,
        newcomer: Key,
        hops: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        if !self.is_inside() || hops > MAX_HOPS {
            return;
        }
        let head = self.successors.first().copied().unwrap_or(self.me);
        if newcomer.is_between(self.me, head) {
            let successors = self.successors.clone();
            effects.push(RingEffect::Send(
                newcomer,
                RingMessage::JoinPosition { request, successors },
            ));
        } else if let Some(next) = self.closest_preceding(newcomer) {
            effects.push(RingEffect::Send(
                next,
                RingMessage::Join { request, newcomer, hops: hops + 1 },
            ));
        }
    }

    /// Its place is after `before`. The successor is adopted when it was seen alive.
    pub(super) fn on_join_position(
        &mut self,
        request: RequestId,
        before: Key,
        mut successors: Vec<Key>,
        effects: &mut Vec<RingEffect>,
    ) {
        if self
            .open
            .remove(&request)
            .is_none_or(|open| !matches!(open, PendingRequest::Place { .. }))
        {
            return;
        }
        if successors.is_empty() {
            successors.push(before);
        }
        let head = successors[0];
        self.request_neighbours(head, PendingRequest::Welcome { before, successors }, effects);
    }

    /// In the ring, as far as it is concerned.
    pub(super) fn enter(&mut self, before: Key, successors: &[Key], effects: &mut Vec<RingEffect>) {
        self.standing = Membership::Inside;
        self.predecessor = Some(before);
        self.adopt_successor(successors[0], &successors[1..]);
        self.start(effects);
    }
}
