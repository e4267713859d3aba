//! How messages get to where they belong: to a member, or handed on to whoever owns a state.

use argiope_explore::id::StateKey;
use argiope_ring as ring;
use argiope_ring::Key;

use super::keeping::Then;
use super::message::{Envelope, PeerEffect, PeerMessage, RouteHint, TaskReport, ToCrawler};
use super::replicas::by_state;
use super::schemes::{Hears, Looks};
use super::{Peer, place};

/// So many facts go with one message at most.
const MOST_FACTS: usize = 64;
/// What was handed on more often goes round in circles.
const MOST_HOPS: u32 = 300;

impl Peer {
    /// Whether a state is this controller's to look after.
    pub fn owns(&self, state: StateKey) -> bool {
        self.ranges.after.is_some_and(|after| place(state).belongs_to(after, self.me))
    }

    /// Sends a message to a controller.
    pub(super) fn send(&mut self, to: Key, message: PeerMessage, out: &mut Vec<PeerEffect>) {
        self.send_with(to, None, Vec::new(), message, out);
    }

    /// Sends a message to the owner of a state: to `hint`, if somebody is known to have had it.
    pub(super) fn send_to_owner(
        &mut self,
        state: StateKey,
        hint: Option<Key>,
        message: PeerMessage,
        out: &mut Vec<PeerEffect>,
    ) {
        if let Some(hint) = hint.filter(|&hint| hint != self.me && !self.owns(state)) {
            self.send_with(hint, Some(state), Vec::new(), message, out);
            return;
        }
        let envelope = Envelope::new(Some(state), message);
        if self.owns(state) {
            self.inbox.push_back((self.me, envelope));
        } else {
            self.hand_on(self.me, envelope, out);
        }
    }

    pub(super) fn send_with(
        &mut self,
        to: Key,
        key: Option<StateKey>,
        mut hints: Vec<RouteHint>,
        message: PeerMessage,
        out: &mut Vec<PeerEffect>,
    ) {
        if to == self.me {
            self.inbox.push_back((self.me, Envelope { hints, ..Envelope::new(key, message) }));
            return;
        }
        if self.settings.scheme.hears == Hears::Everything
            && !matches!(message, PeerMessage::Ring(_))
        {
            let told = self.told_to.entry(to).or_default();
            let until = self.told.len().min(*told + MOST_FACTS);
            hints.extend(self.told[*told..until].iter().cloned());
            *told = until;
        }
        let initial = self.known.graph().initial();
        let done = self.later.remove(&to).unwrap_or_default();
        out.push(PeerEffect::Send(
            to,
            Envelope { initial, hints, done, ..Envelope::new(key, message) },
        ));
    }

    /// Sends by themselves what found no message to go with.
    pub(super) fn tell_later(&mut self, out: &mut Vec<PeerEffect>) {
        self.telling_later = false;
        while let Some((&to, _)) = self.later.first_key_value() {
            self.send(to, PeerMessage::Learned, out);
        }
    }

    /// Tells everybody what is new, if that is how the scheme works.
    pub(super) fn broadcast(&mut self, out: &mut Vec<PeerEffect>) {
        if self.settings.scheme.hears == Hears::Broadcast && !self.told.is_empty() {
            out.push(PeerEffect::Broadcast(std::mem::take(&mut self.told)));
        }
    }

    pub(super) fn receive(&mut self, from: Key, mut envelope: Envelope, out: &mut Vec<PeerEffect>) {
        if let Some(initial) = envelope.initial {
            self.known.begin(initial);
        }
        if self.known.graph().initial().is_some() && self.settings.scheme.looks == Looks::Known {
            for hint in &envelope.hints {
                self.known.learn_hint(hint);
            }
        }
        for done in std::mem::take(&mut envelope.done) {
            self.done(done, out);
        }
        match envelope.key {
            Some(key) if !self.owns(key) => {
                if let (Hears::Passing, PeerMessage::Reached(report)) =
                    (self.settings.scheme.hears, &envelope.message)
                {
                    self.hear(report);
                }
                self.hand_on(from, envelope, out);
            }
            _ => self.take(from, envelope, out),
        }
    }

    /// Hands something on that is for the owner of a state; keeps it if that may be this controller, soon.
    fn hand_on(&mut self, from: Key, mut envelope: Envelope, out: &mut Vec<PeerEffect>) {
        let Some(key) = envelope.key else { return };
        let soon = !self.ranges.granted && self.member.owns(place(key));
        let next = self.member.next_hop(place(key), envelope.last);
        match next.filter(|&(next, _)| !soon && next != self.me) {
            Some((next, last)) if envelope.hops < MOST_HOPS => {
                envelope.hops += 1;
                envelope.initial = envelope.initial.or(self.known.graph().initial());
                envelope.last = last;
                out.push(PeerEffect::Send(next, envelope));
            }
            // It goes round in circles: whoever waits for it will ask again.
            Some(_) => {}
            None => self.ranges.held.push((from, envelope)),
        }
    }

    fn take(&mut self, from: Key, envelope: Envelope, out: &mut Vec<PeerEffect>) {
        match envelope.message {
            PeerMessage::Ring(message) => {
                self.ring(
                    |member, effects| {
                        member.handle(ring::RingInput::Received(from, message), effects)
                    },
                    out,
                );
            }
            PeerMessage::Reached(report) => self.reached(&report, out),
            PeerMessage::Done(done) => self.done(done, out),
            PeerMessage::Missed(answer, reason) => self.missed(answer, reason, out),
            PeerMessage::Seek(seek) => self.sought(seek, out),
            PeerMessage::Search(search) => self.search_on(search, out),
            PeerMessage::Remember(root, search) => {
                self.remembered.insert(root, search);
            }
            PeerMessage::Idle(asking, starter, left) => self.idle(asking, starter, left, out),
            PeerMessage::Learned => {}
            PeerMessage::Marker(marker) => self.marker(from, marker, out),
            PeerMessage::Finish(leader) => self.finish(leader, out),
            PeerMessage::Collect(collect) => self.collect(from, collect, out),
            PeerMessage::Copy(number, facts) if self.takes_copies_of(from) => {
                out.extend(facts.iter().cloned().map(PeerEffect::Keep));
                self.keep_copies(&facts);
                self.send(from, PeerMessage::Taken(number), out);
            }
            PeerMessage::Copy(..) => {}
            // Whoever gives it something keeps it when this controller is gone.
            PeerMessage::HandOff { .. } if self.is_leaving() => {}
            PeerMessage::HandOff { number, after, settled, facts, links, plain } => {
                self.handed_over(after, settled, &facts, out);
                self.learn_links(links, out);
                for link in plain {
                    self.learn_plain(link, out);
                }
                self.send(from, PeerMessage::Taken(number), out);
            }
            PeerMessage::Bequest { number, facts, links, plain } => {
                for state in by_state(&facts) {
                    self.take_over(state, out);
                }
                self.learn_links(links, out);
                for link in plain {
                    self.learn_plain(link, out);
                }
                // Whoever leaves must leave as many copies as there were.
                self.copy(&facts, Some(Then::Confirm(from, number)), out);
            }
            PeerMessage::Exists { number, asker, state, route, facts } => {
                self.take_over(&facts, out);
                self.exists(state, &route);
                self.assure_heard(&facts, out);
                self.send(asker, PeerMessage::Taken(number), out);
            }
            PeerMessage::Claim { number, asker, wish } => self.claimed(number, asker, wish, out),
            PeerMessage::Claimed { number, link, state, followed } => {
                if self.taken(number, out) {
                    self.answered(link, state, followed, out);
                }
            }
            PeerMessage::Due(wish) => self.due(&wish, out),
            PeerMessage::Followed { number, asker, followed } => {
                self.learn_followed(&followed, out);
                self.send(asker, PeerMessage::Taken(number), out);
            }
            PeerMessage::NotFollowed { number, asker, link, state } => {
                self.not_followed(link, state, out);
                self.send(asker, PeerMessage::Taken(number), out);
            }
            PeerMessage::Plain(followed, starter) => self.heard_plain(followed, starter, out),
            PeerMessage::Strayed { number, asker, step } => {
                self.strayed(step, out);
                self.send(asker, PeerMessage::Taken(number), out);
            }
            PeerMessage::Taken(number) => {
                self.taken(number, out);
            }
            PeerMessage::Want(state, crawler, home) => self.want(state, crawler, home, out),
            PeerMessage::Like(state, crawler, content) => {
                out.push(PeerEffect::Tell(crawler, ToCrawler::Like(state, content)));
            }
        }
    }

    /// Learns from what a crawler tells of its way.
    pub(super) fn hear(&mut self, report: &TaskReport) {
        if matches!(self.settings.scheme.looks, Looks::OwnByReset | Looks::Everywhere { .. }) {
            return;
        }
        let Some(at) = &report.at else { return };
        let route = report.route.iter().flat_map(|route| route.iter());
        let initial =
            report.route.as_ref().map(|route| route.first().map_or(at.key, |step| step.from));
        if let Some(initial) = initial {
            self.known.begin(initial);
        }
        if self.known.graph().initial().is_some() {
            for step in route.chain(&report.walked) {
                self.known.hear(*step);
            }
        }
    }
}
