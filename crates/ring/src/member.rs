//! One member of the ring: joins, keeps its neighbourhood right while others come and go, and finds owners.

use std::collections::{BTreeMap, VecDeque};

use crate::fingers::Fingers;
use crate::key::Key;
use crate::message::{Question, RingEffect, RingInput, RingMessage, RingTimer};

mod finding;
mod joining;

/// How often a question that is handed on is asked before nobody is taken to answer it.
const TRIES: u32 = 5;
/// A question that was handed on more often than this goes round in circles.
const MOST_HOPS: u32 = 300;

/// So many members that did not answer are asked again from time to time.
const MOST_LOST: usize = 8;

/// A member of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingMember {
    me: Key,
    /// How many successors it keeps, if there are so many others.
    length: usize,
    standing: Standing,
    /// The members after it, the nearest first. Empty if it is alone.
    successors: Vec<Key>,
    predecessor: Option<Key>,
    fingers: Fingers,
    /// Members that did not answer, the longest silent first: they may have been cut off, not dead.
    lost: VecDeque<Key>,
    open: BTreeMap<Question, Open>,
    next_question: Question,
}

/// Whether it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Standing {
    Outside,
    Inside,
    Left,
}

/// What an open question is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Open {
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
    Owner { key: Key, wanted: Wanted, tries: u32 },
}

/// Who wants to know an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    ByCaller(u64),
    ForFinger(u32),
}

impl RingMember {
    /// One that is in no ring yet.
    pub fn outside(me: Key, length: usize) -> Self {
        Self {
            me,
            length,
            standing: Standing::Outside,
            successors: Vec::new(),
            predecessor: None,
            fingers: Fingers::default(),
            lost: VecDeque::new(),
            open: BTreeMap::new(),
            next_question: 0,
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
            standing: Standing::Inside,
            successors: others,
            predecessor,
            ..Self::outside(me, length)
        }
    }

    /// Where it is.
    pub fn key(&self) -> Key {
        self.me
    }

    /// Whether it is in the ring.
    pub fn is_inside(&self) -> bool {
        self.standing == Standing::Inside
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
        effects
            .extend([RingEffect::Wake(RingTimer::Stabilise), RingEffect::Wake(RingTimer::Fingers)]);
    }

    /// Takes an input in and appends what is to be done about it.
    pub fn handle(&mut self, input: RingInput, effects: &mut Vec<RingEffect>) {
        match input {
            RingInput::Join(through) => self.join(through, effects),
            RingInput::Meet(other) => {
                if other != self.me {
                    self.note_lost(other);
                }
            }
            RingInput::Received(from, message) => self.received(from, message, effects),
            RingInput::Silent(question) => self.silent(question, effects),
            RingInput::Woken(timer) if self.is_inside() => {
                effects.push(RingEffect::Wake(timer));
                match timer {
                    RingTimer::Stabilise => {
                        self.stabilise(effects);
                        self.ask_lost(effects);
                    }
                    RingTimer::Fingers => self.refresh_finger(effects),
                }
            }
            RingInput::Woken(_) => {}
            RingInput::LookUp(key, tag) => self.look_up(key, Wanted::ByCaller(tag), 1, effects),
            RingInput::Leave => self.leave(effects),
        }
    }

    fn received(&mut self, from: Key, message: RingMessage, effects: &mut Vec<RingEffect>) {
        match message {
            RingMessage::Ask(question) if self.is_inside() => {
                let (predecessor, successors) = (self.predecessor, self.successors.clone());
                effects.push(RingEffect::Send(
                    from,
                    RingMessage::Around { question, predecessor, successors },
                ));
            }
            // One that is not in the ring must not be taken for a part of it.
            RingMessage::Ask(_) => {}
            RingMessage::Around { question, predecessor, successors } => {
                if let Some(open) = self.open.remove(&question) {
                    self.around(open, predecessor, &successors, effects);
                }
            }
            RingMessage::Notify => self.rectify(from, effects),
            RingMessage::LookUp { question, asker, key, hops, last } => {
                self.hand_on(question, asker, key, hops, last, effects);
            }
            RingMessage::Mine { question, hops } => self.found(question, from, hops, effects),
            RingMessage::Join { question, newcomer, hops } => {
                self.show_place(question, newcomer, hops, effects);
            }
            RingMessage::Place { question, successors } => {
                self.placed(question, from, successors, effects)
            }
            RingMessage::Farewell { predecessor } => {
                if self.predecessor == Some(from) {
                    self.predecessor = predecessor.filter(|&before| before != self.me);
                }
                let had_others = !self.successors.is_empty();
                self.bury(from, effects);
                if self.is_inside()
                    && had_others
                    && self.successors.is_empty()
                    && self.predecessor.is_none()
                {
                    effects.push(RingEffect::Stranded);
                }
            }
        }
    }

    fn ask(&mut self, whom: Key, open: Open, effects: &mut Vec<RingEffect>) {
        let question = self.question(open, effects);
        effects.push(RingEffect::Send(whom, RingMessage::Ask(question)));
    }

    fn question(&mut self, open: Open, effects: &mut Vec<RingEffect>) -> Question {
        let question = self.next_question;
        self.next_question += 1;
        self.open.insert(question, open);
        effects.push(RingEffect::Await(question));
        question
    }

    /// Is my successor alive, and still the one after me?
    fn stabilise(&mut self, effects: &mut Vec<RingEffect>) {
        if self.open.values().any(|open| matches!(open, Open::Successor(_) | Open::Candidate(_))) {
            return;
        }
        match (self.successors.first(), self.predecessor) {
            (Some(&head), _) => self.ask(head, Open::Successor(head), effects),
            // The second member has told the first that it is there.
            (None, Some(other)) => self.ask(other, Open::Candidate(other), effects),
            (None, None) => {}
        }
    }

    /// A member has said who is around it.
    fn around(
        &mut self,
        open: Open,
        predecessor: Option<Key>,
        after: &[Key],
        effects: &mut Vec<RingEffect>,
    ) {
        match open {
            Open::Successor(head) if self.successors.first() == Some(&head) => {
                self.follow(head, after);
                if predecessor
                    .is_some_and(|before| before != self.me && self.me.is_between(before, head))
                {
                    effects.push(RingEffect::PassedOver);
                }
                // One that did not answer just now need not be asked again before the one after it hears of it.
                match predecessor.filter(|nearer| !self.lost.contains(nearer)) {
                    Some(nearer) if nearer.is_between(self.me, head) => {
                        self.ask(nearer, Open::Candidate(nearer), effects);
                    }
                    _ => effects.push(RingEffect::Send(head, RingMessage::Notify)),
                }
            }
            Open::Candidate(nearer) | Open::Lost(nearer) => {
                let head = self.successors.first().copied().unwrap_or(self.me);
                if nearer.is_between(self.me, head) {
                    self.follow(nearer, after);
                    effects.push(RingEffect::Send(nearer, RingMessage::Notify));
                }
            }
            Open::Welcome { before, successors } => self.welcomed(before, &successors, effects),
            // It is alive, or is not the successor any more.
            Open::Predecessor { .. } | Open::Finger(_) | Open::Successor(_) => {}
            // These are not answered so.
            Open::Place { .. } | Open::Owner { .. } => {}
        }
    }

    /// Takes a member that was just seen alive for its successor, and those after it.
    fn follow(&mut self, head: Key, after: &[Key]) {
        let me = self.me;
        let others = after.iter().copied().take_while(|&other| other != me && other != head);
        self.successors = std::iter::once(head).chain(others).take(self.length.max(1)).collect();
    }

    /// Somebody takes itself for my predecessor.
    fn rectify(&mut self, claimant: Key, effects: &mut Vec<RingEffect>) {
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
                let asked = self.open.values().any(|open| matches!(open, Open::Predecessor { .. }));
                if !asked {
                    self.ask(present, Open::Predecessor { present, claimant }, effects);
                }
            }
        }
    }

    fn silent(&mut self, question: Question, effects: &mut Vec<RingEffect>) {
        match self.open.remove(&question) {
            None => {}
            Some(Open::Successor(head)) => {
                self.note_lost(head);
                self.bury(head, effects);
            }
            Some(Open::Lost(member)) => self.note_lost(member),
            Some(Open::Candidate(nearer)) => {
                self.lose(nearer, effects);
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
                    _ => self.strand(effects),
                }
            }
            Some(Open::Predecessor { present, claimant }) => {
                self.lose(present, effects);
                if self.predecessor == Some(present) {
                    self.predecessor = Some(claimant);
                }
            }
            Some(Open::Finger(member)) => self.lose(member, effects),
            Some(Open::Place { through }) => self.join(through, effects),
            Some(Open::Welcome { before, .. }) => self.join(before, effects),
            Some(Open::Owner { wanted: Wanted::ByCaller(tag), tries: TRIES, .. }) => {
                effects.push(RingEffect::NotFound { tag });
            }
            Some(Open::Owner { wanted: Wanted::ForFinger(_), .. }) => {}
            Some(Open::Owner { key, wanted, tries }) => {
                self.look_up(key, wanted, tries + 1, effects)
            }
        }
    }

    /// Who would take the place of the predecessor, if that is dead.
    fn claimant_instead_of(&self, predecessor: Key) -> Option<Key> {
        self.open.values().find_map(|open| match open {
            Open::Predecessor { present, claimant } if *present == predecessor => Some(*claimant),
            _ => None,
        })
    }

    /// A member that was cut off from this one has gone on in a ring of its own. Each member asks those that it lost
    /// whether they are back, one at a time; those that come after it are its successors again.
    fn ask_lost(&mut self, effects: &mut Vec<RingEffect>) {
        if let Some(member) = self.lost.pop_front()
            && !self.successors.contains(&member)
        {
            self.ask(member, Open::Lost(member), effects);
        }
    }

    fn note_lost(&mut self, member: Key) {
        if !self.lost.contains(&member) {
            self.lost.push_back(member);
            if self.lost.len() > MOST_LOST {
                self.lost.pop_front();
            }
        }
    }

    /// A member is dead or has left.
    fn bury(&mut self, member: Key, effects: &mut Vec<RingEffect>) {
        effects.push(RingEffect::Gone(member));
        self.fingers.forget(member);
        let was_head = self.successors.first() == Some(&member);
        self.successors.retain(|&other| other != member);
        if was_head {
            // It is not known whether the next one is alive: it is asked, at once.
            self.stabilise(effects);
        }
    }

    /// A member that is no neighbour does not answer.
    fn lose(&mut self, member: Key, effects: &mut Vec<RingEffect>) {
        self.fingers.forget(member);
        effects.push(RingEffect::Gone(member));
    }

    /// Nobody is left that it knows of.
    fn strand(&mut self, effects: &mut Vec<RingEffect>) {
        self.predecessor = None;
        effects.push(RingEffect::Stranded);
    }

    fn leave(&mut self, effects: &mut Vec<RingEffect>) {
        if !self.is_inside() {
            return;
        }
        self.standing = Standing::Left;
        let mut neighbours: Vec<Key> =
            self.successors.iter().copied().chain(self.predecessor).collect();
        neighbours.sort();
        neighbours.dedup();
        let farewell = RingMessage::Farewell { predecessor: self.predecessor };
        effects
            .extend(neighbours.into_iter().map(|other| RingEffect::Send(other, farewell.clone())));
    }
}
