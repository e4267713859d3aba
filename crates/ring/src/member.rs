//! One member of the ring: joins, keeps its neighbourhood right while others come and go, and finds owners.

use std::collections::{BTreeMap, VecDeque};

use crate::fingers::Fingers;
use crate::key::Key;
use crate::message::{RequestId, RingEffect, RingInput, RingMessage, RingTimer};

mod finding;
mod joining;

/// How often a request that is handed on is asked before nobody is taken to answer it.
const MAX_TRIES: u32 = 5;
/// A request that was handed on more often than this goes round in circles.
const MAX_HOPS: u32 = 300;

/// So many members that did not answer are asked again from time to time.
const MAX_LOST: usize = 8;

/// A member of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingMember {
    me: Key,
    /// How many successors it keeps, if there are so many others.
    list_length: usize,
    standing: Membership,
    /// The members after it, the nearest first. Empty if it is alone.
    successors: Vec<Key>,
    predecessor: Option<Key>,
    fingers: Fingers,
    /// Members that did not answer, the longest silent first: they may have been cut off, not dead.
    lost: VecDeque<Key>,
    open: BTreeMap<RequestId, PendingRequest>,
    next_request: RequestId,
}

/// Whether it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Membership {
    Outside,
    Inside,
    Left,
}

/// What an open request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum PendingRequest {
    /// Who is around my successor?
    Successor(Key),
    /// Is this one, which my successor takes for its predecessor, alive?
    Candidate(Key),
    /// Is my predecessor alive? This one would take its place.
    Predecessor { present: Key, claimant: Key },
    /// Is this member back, which did not answer once?
    Lost(Key),
    /// Is this far member alive?
    Finger(Key),
    /// Where is my place? Asked of this member.
    Place { through: Key },
    /// Is my successor to be alive? These are the members after `before`.
    Welcome { before: Key, successors: Vec<Key> },
    /// Whom does this key belong to?
    Owner { key: Key, wanted: LookupPurpose, tries: u32 },
}

/// Who wants to know an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LookupPurpose {
    ByCaller(u64),
    ForFinger(u32),
}

impl RingMember {
    /// One that is in no ring yet.
    pub fn new(me: Key, length: usize) -> Self {
        Self {
            me,
            list_length: length,
            standing: Membership::Outside,
            successors: Vec::new(),
            predecessor: None,
            fingers: Fingers::default(),
            lost: VecDeque::new(),
            open: BTreeMap::new(),
            next_request: 0,
        }
    }

    /// The first of a ring, or one of those that it begins with.
    pub fn founder(me: Key, founders: &[Key], length: usize) -> Self {
        let mut others: Vec<Key> = founders.iter().copied().filter(|&other| other != me).collect();
        others.sort_by_key(|&other| me.distance(other));
        others.dedup();
        let predecessor = others.last().copied();
        others.truncate(length);
        Self {
            standing: Membership::Inside,
            successors: others,
            predecessor,
            ..Self::new(me, length)
        }
    }

    /// Where it is.
    pub fn key(&self) -> Key {
        self.me
    }

    /// Whether it is in the ring.
    pub fn is_inside(&self) -> bool {
        self.standing == Membership::Inside
    }

    /// The members after it, the nearest first.
    pub fn successors(&self) -> &[Key] {
        &self.successors
    }

    /// Whom it takes for its predecessor.
    pub fn predecessor(&self) -> Option<Key> {
        self.predecessor
    }

    /// Begins to keep its neighbourhood right.
    pub fn start(&self, effects: &mut Vec<RingEffect>) {
        effects.extend([
            RingEffect::StartTimer(RingTimer::Stabilise),
            RingEffect::StartTimer(RingTimer::Fingers),
        ]);
    }

    /// Takes an input in and appends what is to be done about it.
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
            RingInput::Timer(timer) if self.is_inside() => {
                effects.push(RingEffect::StartTimer(timer));
                match timer {
                    RingTimer::Stabilise => {
                        self.stabilise(effects);
                        self.retry_lost(effects);
                    }
                    RingTimer::Fingers => self.refresh_finger(effects),
                }
            }
            RingInput::Timer(_) => {}
            RingInput::LookUp(key, tag) => {
                self.find_owner(key, LookupPurpose::ByCaller(tag), 1, effects)
            }
            RingInput::Leave => self.leave(effects),
        }
    }

    fn on_message(&mut self, from: Key, message: RingMessage, effects: &mut Vec<RingEffect>) {
        match message {
            RingMessage::GetNeighbours(request) if self.is_inside() => {
                let (predecessor, successors) = (self.predecessor, self.successors.clone());
                effects.push(RingEffect::Send(
                    from,
                    RingMessage::Neighbours { request, predecessor, successors },
                ));
            }
            // One that is not in the ring must not be taken for a part of it.
            RingMessage::GetNeighbours(_) => {}
            RingMessage::Neighbours { request, predecessor, successors } => {
                if let Some(open) = self.open.remove(&request) {
                    self.on_neighbours(open, predecessor, &successors, effects);
                }
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
                self.on_join_position(request, from, successors, effects)
            }
            RingMessage::Leave { predecessor } => {
                if self.predecessor == Some(from) {
                    self.predecessor = predecessor.filter(|&before| before != self.me);
                }
                let had_others = !self.successors.is_empty();
                self.remove_member(from, effects);
                if self.is_inside()
                    && had_others
                    && self.successors.is_empty()
                    && self.predecessor.is_none()
                {
                    effects.push(RingEffect::Isolated);
                }
            }
        }
    }

    fn request_neighbours(
        &mut self,
        whom: Key,
        open: PendingRequest,
        effects: &mut Vec<RingEffect>,
    ) {
        let request = self.open_request(open, effects);
        effects.push(RingEffect::Send(whom, RingMessage::GetNeighbours(request)));
    }

    fn open_request(&mut self, open: PendingRequest, effects: &mut Vec<RingEffect>) -> RequestId {
        let request = self.next_request;
        self.next_request += 1;
        self.open.insert(request, open);
        effects.push(RingEffect::StartTimeout(request));
        request
    }

    /// Is my successor alive, and still the one after me?
    fn stabilise(&mut self, effects: &mut Vec<RingEffect>) {
        if self
            .open
            .values()
            .any(|open| matches!(open, PendingRequest::Successor(_) | PendingRequest::Candidate(_)))
        {
            return;
        }
        match (self.successors.first(), self.predecessor) {
            (Some(&head), _) => {
                self.request_neighbours(head, PendingRequest::Successor(head), effects)
            }
            // The second member has told the first that it is there.
            (None, Some(other)) => {
                self.request_neighbours(other, PendingRequest::Candidate(other), effects)
            }
            (None, None) => {}
        }
    }

    /// A member has said who is around it.
    fn on_neighbours(
        &mut self,
        open: PendingRequest,
        predecessor: Option<Key>,
        after: &[Key],
        effects: &mut Vec<RingEffect>,
    ) {
        match open {
            PendingRequest::Successor(head) if self.successors.first() == Some(&head) => {
                self.adopt_successor(head, after);
                if predecessor
                    .is_some_and(|before| before != self.me && self.me.is_between(before, head))
                {
                    effects.push(RingEffect::SkippedBySuccessor);
                }
                // One that did not answer just now need not be asked again before the one after it hears of it.
                match predecessor.filter(|nearer| !self.lost.contains(nearer)) {
                    Some(nearer) if nearer.is_between(self.me, head) => {
                        self.request_neighbours(nearer, PendingRequest::Candidate(nearer), effects);
                    }
                    _ => effects.push(RingEffect::Send(head, RingMessage::Notify)),
                }
            }
            PendingRequest::Candidate(nearer) | PendingRequest::Lost(nearer) => {
                let head = self.successors.first().copied().unwrap_or(self.me);
                if nearer.is_between(self.me, head) {
                    self.adopt_successor(nearer, after);
                    effects.push(RingEffect::Send(nearer, RingMessage::Notify));
                }
            }
            PendingRequest::Welcome { before, successors } => {
                self.enter(before, &successors, effects)
            }
            // It is alive, or is not the successor any more.
            PendingRequest::Predecessor { .. }
            | PendingRequest::Finger(_)
            | PendingRequest::Successor(_) => {}
            // These are not answered so.
            PendingRequest::Place { .. } | PendingRequest::Owner { .. } => {}
        }
    }

    /// Takes a member that was just seen alive for its successor, and those after it.
    fn adopt_successor(&mut self, head: Key, after: &[Key]) {
        let me = self.me;
        let others = after.iter().copied().take_while(|&other| other != me && other != head);
        self.successors =
            std::iter::once(head).chain(others).take(self.list_length.max(1)).collect();
    }

    /// Somebody takes itself for my predecessor.
    fn on_notify(&mut self, claimant: Key, effects: &mut Vec<RingEffect>) {
        if !self.is_inside() || claimant == self.me {
            return;
        }
        match self.predecessor {
            None => self.predecessor = Some(claimant),
            Some(present) if claimant == present => {}
            Some(present) if claimant.is_between(present, self.me) => {
                self.predecessor = Some(claimant)
            }
            Some(present) => {
                let asked = self
                    .open
                    .values()
                    .any(|open| matches!(open, PendingRequest::Predecessor { .. }));
                if !asked {
                    self.request_neighbours(
                        present,
                        PendingRequest::Predecessor { present, claimant },
                        effects,
                    );
                }
            }
        }
    }

    fn on_timeout(&mut self, request: RequestId, effects: &mut Vec<RingEffect>) {
        match self.open.remove(&request) {
            None => {}
            Some(PendingRequest::Successor(head)) => {
                self.remember_lost(head);
                self.remove_member(head, effects);
            }
            Some(PendingRequest::Lost(member)) => self.remember_lost(member),
            Some(PendingRequest::Candidate(nearer)) => {
                self.report_gone(nearer, effects);
                if let Some(&head) = self.successors.first() {
                    effects.push(RingEffect::Send(head, RingMessage::Notify));
                    return;
                }
                // Somebody else has come before it meanwhile, or would if this one were dead: and it is.
                if let Some(claimant) = self.claimant_instead_of(nearer) {
                    self.predecessor = Some(claimant);
                }
                match self.predecessor {
                    Some(other) if other != nearer => self.stabilise(effects),
                    _ => self.isolate(effects),
                }
            }
            Some(PendingRequest::Predecessor { present, claimant }) => {
                self.report_gone(present, effects);
                if self.predecessor == Some(present) {
                    self.predecessor = Some(claimant);
                }
            }
            Some(PendingRequest::Finger(member)) => self.report_gone(member, effects),
            Some(PendingRequest::Place { through }) => self.join(through, effects),
            Some(PendingRequest::Welcome { before, .. }) => self.join(before, effects),
            Some(PendingRequest::Owner {
                wanted: LookupPurpose::ByCaller(tag),
                tries: MAX_TRIES,
                ..
            }) => {
                effects.push(RingEffect::OwnerNotFound { tag });
            }
            Some(PendingRequest::Owner { wanted: LookupPurpose::ForFinger(_), .. }) => {}
            Some(PendingRequest::Owner { key, wanted, tries }) => {
                self.find_owner(key, wanted, tries + 1, effects)
            }
        }
    }

    /// Who would take the place of the predecessor, if that is dead.
    fn claimant_instead_of(&self, predecessor: Key) -> Option<Key> {
        self.open.values().find_map(|open| match open {
            PendingRequest::Predecessor { present, claimant } if *present == predecessor => {
                Some(*claimant)
            }
            _ => None,
        })
    }

    /// A member that was cut off from this one has gone on in a ring of its own. Each member asks those that it lost
    /// whether they are back, one at a time; those that come after it are its successors again.
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

    /// A member is dead or has left.
    fn remove_member(&mut self, member: Key, effects: &mut Vec<RingEffect>) {
        effects.push(RingEffect::MemberGone(member));
        self.fingers.forget(member);
        let was_head = self.successors.first() == Some(&member);
        self.successors.retain(|&other| other != member);
        if was_head {
            // It is not known whether the next one is alive: it is asked, at once.
            self.stabilise(effects);
        }
    }

    /// A member that is no neighbour does not answer.
    fn report_gone(&mut self, member: Key, effects: &mut Vec<RingEffect>) {
        self.fingers.forget(member);
        effects.push(RingEffect::MemberGone(member));
    }

    /// Nobody is left that it knows of.
    fn isolate(&mut self, effects: &mut Vec<RingEffect>) {
        self.predecessor = None;
        effects.push(RingEffect::Isolated);
    }

    fn leave(&mut self, effects: &mut Vec<RingEffect>) {
        if !self.is_inside() {
            return;
        }
        self.standing = Membership::Left;
        let mut neighbours: Vec<Key> =
            self.successors.iter().copied().chain(self.predecessor).collect();
        neighbours.sort();
        neighbours.dedup();
        let farewell = RingMessage::Leave { predecessor: self.predecessor };
        effects
            .extend(neighbours.into_iter().map(|other| RingEffect::Send(other, farewell.clone())));
    }
}
