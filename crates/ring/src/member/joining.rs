//! Coming in: the member before the newcomer's place shows it, the newcomer copies its list, and the ring takes it
//! in when it stabilises.

use super::{MOST_HOPS, Open, RingMember, Standing};
use crate::key::Key;
use crate::message::{Question, RingEffect, RingMessage};

impl RingMember {
    pub(super) fn join(&mut self, through: Key, effects: &mut Vec<RingEffect>) {
        if self.standing != Standing::Outside {
            return;
        }
        let question = self.question(Open::Place { through }, effects);
        let newcomer = self.me;
        effects.push(RingEffect::Send(through, RingMessage::Join { question, newcomer, hops: 0 }));
    }

    /// Hands a newcomer on, or shows it its place if that is after this member.
    pub(super) fn show_place(
        &mut self,
        question: Question,
        newcomer: Key,
        hops: u32,
        effects: &mut Vec<RingEffect>,
    ) {
        if !self.is_inside() || hops > MOST_HOPS {
            return;
        }
        let head = self.successors.first().copied().unwrap_or(self.me);
        if newcomer.is_between(self.me, head) {
            let successors = self.successors.clone();
            effects.push(RingEffect::Send(newcomer, RingMessage::Place { question, successors }));
        } else if let Some(next) = self.nearest_before(newcomer) {
            effects.push(RingEffect::Send(
                next,
                RingMessage::Join { question, newcomer, hops: hops + 1 },
            ));
        }
    }

    /// Its place is after `before`. The successor is adopted when it was seen alive.
    pub(super) fn placed(
        &mut self,
        question: Question,
        before: Key,
        mut successors: Vec<Key>,
        effects: &mut Vec<RingEffect>,
    ) {
        if self.open.remove(&question).is_none_or(|open| !matches!(open, Open::Place { .. })) {
            return;
        }
        if successors.is_empty() {
            successors.push(before);
        }
        let head = successors[0];
        self.ask(head, Open::Welcome { before, successors }, effects);
    }

    /// In the ring, as far as it is concerned.
    pub(super) fn welcomed(
        &mut self,
        before: Key,
        successors: &[Key],
        effects: &mut Vec<RingEffect>,
    ) {
        self.standing = Standing::Inside;
        self.predecessor = Some(before);
        self.follow(successors[0], &successors[1..]);
        self.start(effects);
    }
}
