//! Joining: the predecessor of the newcomer's position answers with its successors. The newcomer
//! copies them, and the ring adopts it when it stabilises.

use super::{MAX_HOPS, Membership, PendingRequest, RingMember};
use crate::key::Key;
use crate::message::{RequestId, RingEffect, RingMessage};

impl RingMember {
    pub(super) fn join(&mut self, through: Key, effects: &mut Vec<RingEffect>) {
        if self.membership != Membership::Outside {
            return;
        }
        let request = self.open_request(PendingRequest::Place { through }, effects);
        let newcomer = self.me;
        effects.push(RingEffect::Send(through, RingMessage::Join { request, newcomer, hops: 0 }));
    }

    /// Answers a newcomer whose position is directly after this member, and forwards others.
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
            let answer = RingMessage::JoinPosition { request, successors };
            effects.push(RingEffect::Send(newcomer, answer));
        } else if let Some(next) = self.closest_preceding(newcomer) {
            let forwarded = RingMessage::Join { request, newcomer, hops: hops + 1 };
            effects.push(RingEffect::Send(next, forwarded));
        }
    }

    /// Asks the future successor for its neighbours. The newcomer enters only when it answers.
    pub(super) fn on_join_position(
        &mut self,
        request: RequestId,
        before: Key,
        mut successors: Vec<Key>,
        effects: &mut Vec<RingEffect>,
    ) {
        let Some(PendingRequest::Place { through }) = self.pending.remove(&request) else { return };
        if successors.is_empty() {
            successors.push(before);
        }
        let head = successors[0];
        let welcome = PendingRequest::Welcome { through, before, successors };
        self.request_neighbours(head, welcome, effects);
    }

    /// Enters the ring after `before`.
    pub(super) fn enter(&mut self, before: Key, successors: &[Key], effects: &mut Vec<RingEffect>) {
        self.membership = Membership::Inside;
        self.predecessor = Some(before);
        self.adopt_successor(successors[0], &successors[1..]);
        self.start(effects);
    }
}
