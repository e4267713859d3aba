//! One member of the ring: it joins, maintains its neighbours while others join and fail, and finds
//! owners of keys.

use std::collections::{BTreeMap, VecDeque};

use crate::fingers::Fingers;
use crate::key::Key;
use crate::message::{RequestId, RingEffect, RingInput, RingMessage, RingTimer};

mod finding;
mod joining;

/// The number of attempts of a lookup before it is reported as failed.
const MAX_TRIES: u32 = 5;
/// A request that was forwarded more often than this is in a loop and is dropped.
const MAX_HOPS: u32 = 300;
/// The number of lost members that are contacted again from time to time.
const MAX_LOST: usize = 8;

/// A member of the ring. The crate documentation shows how to drive it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingMember {
    me: Key,
    /// The length of the successor list in a ring that is large enough.
    list_length: usize,
    membership: Membership,
    /// The next members, the nearest first. Empty if the member is alone.
    successors: Vec<Key>,
    predecessor: Option<Key>,
    fingers: Fingers,
    /// Members outside the successor list to contact again: those that did not answer, and those
    /// that the driver asked to meet. They may be partitioned, not dead. The oldest comes first.
    lost: VecDeque<Key>,
    pending: BTreeMap<RequestId, PendingRequest>,
    next_request: RequestId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Membership {
    Outside,
    Inside,
    Left,
}

/// The purpose of a request that was not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum PendingRequest {
    /// Ask the successor for its neighbours.
    Successor(Key),
    /// Check the successor's predecessor, which may be a nearer successor.
    Candidate(Key),
    /// Check the predecessor, because another member claims to be it.
    Predecessor { present: Key, claimant: Key },
    /// Check a member that did not answer before.
    Lost(Key),
    /// Check a finger.
    Finger(Key),
    /// Find the own position through this member.
    Place { through: Key },
    /// Check the future successor, the first of `successors`. The position is after `before`.
    Welcome { through: Key, before: Key, successors: Vec<Key> },
    /// Find the owner of a key.
    Owner { key: Key, purpose: LookupPurpose, tries: u32 },
}

/// Why the owner of a key is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LookupPurpose {
    /// The driver asked, with this tag.
    ByCaller(u64),
    /// To refresh the finger with this exponent.
    ForFinger(u32),
}

impl RingMember {
    /// Creates a member that is in no ring.
    pub fn new(me: Key, list_length: usize) -> Self {
        Self {
            me,
            list_length,
            membership: Membership::Outside,
            successors: Vec::new(),
            predecessor: None,
            fingers: Fingers::default(),
            lost: VecDeque::new(),
            pending: BTreeMap::new(),
            next_request: 0,
        }
    }

    /// Creates a founder: one of the members that a ring starts with.
    pub fn founder(me: Key, founders: &[Key], list_length: usize) -> Self {
        let mut others: Vec<Key> = founders.iter().copied().filter(|&other| other != me).collect();
        others.sort_by_key(|&other| me.distance(other));
        others.dedup();
        let predecessor = others.last().copied();
        others.truncate(list_length);
        Self {
            membership: Membership::Inside,
            successors: others,
            predecessor,
            ..Self::new(me, list_length)
        }
    }

    /// The key of this member.
    pub fn key(&self) -> Key {
        self.me
    }

    /// Whether it is in a ring.
    pub fn is_inside(&self) -> bool {
        self.membership == Membership::Inside
    }

    /// The next members, the nearest first.
    pub fn successors(&self) -> &[Key] {
        &self.successors
    }

    /// The previous member, as far as it knows.
    pub fn predecessor(&self) -> Option<Key> {
        self.predecessor
    }

    /// Starts the timers of a founder. A member that joins starts them by itself.
    pub fn start(&self, effects: &mut Vec<RingEffect>) {
        effects.extend([
            RingEffect::StartTimer(RingTimer::Stabilise),
            RingEffect::StartTimer(RingTimer::Fingers),
        ]);
    }

    /// Handles an input and appends the effects.
    pub fn handle(&mut self, input: RingInput, effects: &mut Vec<RingEffect>) {
        match input {
            RingInput::Join(through) => self.join(through, effects),
            RingInput::Meet(other) => {
                if other != self.me {
                    self.remember_lost(other);
                }
            }
            RingInput::Message(from, message) => self.on_message(from, message, effects),
            RingInput::Timeout(request) => self.on_timeout(request, effects),
            RingInput::Timer(timer) => self.on_timer(timer, effects),
            RingInput::LookUp(key, tag) => {
                self.find_owner(key, LookupPurpose::ByCaller(tag), 1, effects);
            }
            RingInput::Leave => self.leave(effects),
        }
    }

    fn on_timer(&mut self, timer: RingTimer, effects: &mut Vec<RingEffect>) {
        if !self.is_inside() {
            return;
        }
        effects.push(RingEffect::StartTimer(timer));
        match timer {
            RingTimer::Stabilise => {
                self.stabilise(effects);
                self.retry_lost(effects);
            }
            RingTimer::Fingers => self.refresh_finger(effects),
        }
    }

    fn on_message(&mut self, from: Key, message: RingMessage, effects: &mut Vec<RingEffect>) {
        match message {
            RingMessage::GetNeighbours(request) => self.on_get_neighbours(from, request, effects),
            RingMessage::Neighbours { request, predecessor, successors } => {
                self.on_neighbours(request, predecessor, &successors, effects);
            }
            RingMessage::Notify => self.on_notify(from, effects),
            RingMessage::FindOwner { request, asker, key, hops, last } => {
                self.on_find_owner(request, asker, key, hops, last, effects);
            }
            RingMessage::Owner { request, hops } => self.on_owner(request, from, hops, effects),
            RingMessage::Join { request, newcomer, hops } => {
                self.on_join(request, newcomer, hops, effects);
            }
            RingMessage::JoinPosition { request, successors } => {
                self.on_join_position(request, from, successors, effects);
            }
            RingMessage::Leave { predecessor } => self.on_leave(from, predecessor, effects),
        }
    }

    /// Answers only while in the ring, so that no other member adopts one that is outside.
    fn on_get_neighbours(&self, from: Key, request: RequestId, effects: &mut Vec<RingEffect>) {
        if self.is_inside() {
            let (predecessor, successors) = (self.predecessor, self.successors.clone());
            let answer = RingMessage::Neighbours { request, predecessor, successors };
            effects.push(RingEffect::Send(from, answer));
        }
    }

    fn on_neighbours(
        &mut self,
        request: RequestId,
        predecessor: Option<Key>,
        after: &[Key],
        effects: &mut Vec<RingEffect>,
    ) {
        let Some(pending) = self.pending.remove(&request) else { return };
        match pending {
            PendingRequest::Successor(head) if self.successors.first() == Some(&head) => {
                self.on_successor_alive(head, predecessor, after, effects);
            }
            PendingRequest::Candidate(nearer) | PendingRequest::Lost(nearer) => {
                let head = self.successors.first().copied().unwrap_or(self.me);
                if nearer.is_between(self.me, head) {
                    self.adopt_successor(nearer, after);
                    effects.push(RingEffect::Send(nearer, RingMessage::Notify));
                }
            }
            PendingRequest::Welcome { before, successors, .. } => {
                self.enter(before, &successors, effects);
            }
            // The member is alive, or is no longer the successor.
            PendingRequest::Predecessor { .. }
            | PendingRequest::Finger(_)
            | PendingRequest::Successor(_) => {}
            // Another message answers these.
            PendingRequest::Place { .. } | PendingRequest::Owner { .. } => {}
        }
    }

    /// Takes over the successor's list, and checks its predecessor if that is a nearer successor.
    fn on_successor_alive(
        &mut self,
        head: Key,
        predecessor: Option<Key>,
        after: &[Key],
        effects: &mut Vec<RingEffect>,
    ) {
        self.adopt_successor(head, after);
        if predecessor.is_some_and(|before| before != self.me && self.me.is_between(before, head)) {
            effects.push(RingEffect::SkippedBySuccessor);
        }
        // A predecessor that this member counts as lost is not asked again: notifying at once tells
        // the successor to check it.
        match predecessor.filter(|nearer| !self.lost.contains(nearer)) {
            Some(nearer) if nearer.is_between(self.me, head) => {
                self.request_neighbours(nearer, PendingRequest::Candidate(nearer), effects);
            }
            _ => effects.push(RingEffect::Send(head, RingMessage::Notify)),
        }
    }

    /// Adopts the sender as predecessor if it is nearer. Otherwise checks the present predecessor.
    fn on_notify(&mut self, claimant: Key, effects: &mut Vec<RingEffect>) {
        if !self.is_inside() || claimant == self.me {
            return;
        }
        match self.predecessor {
            Some(present) if claimant == present => {}
            Some(present) if !claimant.is_between(present, self.me) => {
                let is_checked = |pending: &PendingRequest| {
                    matches!(pending, PendingRequest::Predecessor { .. })
                };
                if !self.pending.values().any(is_checked) {
                    let check = PendingRequest::Predecessor { present, claimant };
                    self.request_neighbours(present, check, effects);
                }
            }
            _ => self.predecessor = Some(claimant),
        }
    }

    fn on_leave(&mut self, from: Key, predecessor: Option<Key>, effects: &mut Vec<RingEffect>) {
        if self.predecessor == Some(from) {
            self.predecessor = predecessor.filter(|&before| before != self.me);
        }
        let had_successors = !self.successors.is_empty();
        self.remove_member(from, effects);
        let is_alone = self.successors.is_empty() && self.predecessor.is_none();
        if self.is_inside() && had_successors && is_alone {
            effects.push(RingEffect::Isolated);
        }
    }

    fn on_timeout(&mut self, request: RequestId, effects: &mut Vec<RingEffect>) {
        let Some(pending) = self.pending.remove(&request) else { return };
        match pending {
            PendingRequest::Successor(head) => {
                self.remember_lost(head);
                self.remove_member(head, effects);
            }
            PendingRequest::Lost(member) => self.remember_lost(member),
            PendingRequest::Candidate(nearer) => self.on_candidate_silent(nearer, effects),
            PendingRequest::Predecessor { present, claimant } => {
                self.report_gone(present, effects);
                if self.predecessor == Some(present) {
                    self.predecessor = Some(claimant);
                }
            }
            PendingRequest::Finger(member) => self.report_gone(member, effects),
            // The member before the position may have failed meanwhile. If the one that the driver
            // named has failed, the driver names another.
            PendingRequest::Place { through } | PendingRequest::Welcome { through, .. } => {
                self.join(through, effects);
            }
            PendingRequest::Owner { purpose: LookupPurpose::ForFinger(_), .. } => {}
            PendingRequest::Owner { key, purpose, tries } if tries < MAX_TRIES => {
                self.find_owner(key, purpose, tries + 1, effects);
            }
            PendingRequest::Owner { purpose: LookupPurpose::ByCaller(tag), .. } => {
                effects.push(RingEffect::OwnerNotFound { tag });
            }
        }
    }

    fn on_candidate_silent(&mut self, nearer: Key, effects: &mut Vec<RingEffect>) {
        self.report_gone(nearer, effects);
        if let Some(&head) = self.successors.first() {
            effects.push(RingEffect::Send(head, RingMessage::Notify));
            return;
        }
        // A member that claimed to be the predecessor instead of the silent one takes its position.
        if let Some(claimant) = self.claimant_instead_of(nearer) {
            self.predecessor = Some(claimant);
        }
        match self.predecessor {
            Some(other) if other != nearer => self.stabilise(effects),
            _ => {
                self.predecessor = None;
                effects.push(RingEffect::Isolated);
            }
        }
    }

    fn request_neighbours(
        &mut self,
        member: Key,
        pending: PendingRequest,
        effects: &mut Vec<RingEffect>,
    ) {
        let request = self.open_request(pending, effects);
        effects.push(RingEffect::Send(member, RingMessage::GetNeighbours(request)));
    }

    fn open_request(
        &mut self,
        pending: PendingRequest,
        effects: &mut Vec<RingEffect>,
    ) -> RequestId {
        let request = self.next_request;
        self.next_request += 1;
        self.pending.insert(request, pending);
        effects.push(RingEffect::StartTimeout(request));
        request
    }

    /// Checks that the successor is alive and still the next member.
    fn stabilise(&mut self, effects: &mut Vec<RingEffect>) {
        let is_running = |pending: &PendingRequest| {
            matches!(pending, PendingRequest::Successor(_) | PendingRequest::Candidate(_))
        };
        if self.pending.values().any(is_running) {
            return;
        }
        match (self.successors.first(), self.predecessor) {
            (Some(&head), _) => {
                self.request_neighbours(head, PendingRequest::Successor(head), effects);
            }
            // The second member of a ring has notified the first.
            (None, Some(other)) => {
                self.request_neighbours(other, PendingRequest::Candidate(other), effects);
            }
            (None, None) => {}
        }
    }

    /// Adopts a member that just answered as successor, and the members after it.
    fn adopt_successor(&mut self, head: Key, after: &[Key]) {
        let me = self.me;
        let others = after.iter().copied().take_while(|&other| other != me && other != head);
        self.successors =
            std::iter::once(head).chain(others).take(self.list_length.max(1)).collect();
    }

    /// The member that replaces the predecessor if that one has failed.
    fn claimant_instead_of(&self, predecessor: Key) -> Option<Key> {
        self.pending.values().find_map(|pending| match pending {
            PendingRequest::Predecessor { present, claimant } if *present == predecessor => {
                Some(*claimant)
            }
            _ => None,
        })
    }

    /// Asks one lost member whether it is back. After a partition the other side has a ring of its
    /// own. A member that answers and is nearer than the present successor replaces it: that merges
    /// the rings.
    fn retry_lost(&mut self, effects: &mut Vec<RingEffect>) {
        if let Some(member) = self.lost.pop_front()
            && !self.successors.contains(&member)
        {
            self.request_neighbours(member, PendingRequest::Lost(member), effects);
        }
    }

    fn remember_lost(&mut self, member: Key) {
        if !self.lost.contains(&member) {
            self.lost.push_back(member);
            if self.lost.len() > MAX_LOST {
                self.lost.pop_front();
            }
        }
    }

    /// Removes a member that failed or left.
    fn remove_member(&mut self, member: Key, effects: &mut Vec<RingEffect>) {
        self.report_gone(member, effects);
        let was_head = self.successors.first() == Some(&member);
        self.successors.retain(|&other| other != member);
        if was_head {
            // The next successor may have failed too, so it is checked at once.
            self.stabilise(effects);
        }
    }

    /// Reports a member that does not answer, without touching the successor list.
    fn report_gone(&mut self, member: Key, effects: &mut Vec<RingEffect>) {
        self.fingers.forget(member);
        effects.push(RingEffect::MemberGone(member));
    }

    fn leave(&mut self, effects: &mut Vec<RingEffect>) {
        if !self.is_inside() {
            return;
        }
        self.membership = Membership::Left;
        let mut neighbours: Vec<Key> =
            self.successors.iter().copied().chain(self.predecessor).collect();
        neighbours.sort();
        neighbours.dedup();
        let leave = RingMessage::Leave { predecessor: self.predecessor };
        effects.extend(neighbours.into_iter().map(|other| RingEffect::Send(other, leave.clone())));
    }
}
