//! Sends, forwards and dispatches messages between controllers. A message goes to a member, or to
//! the owner of a state, hop by hop.

use argiope_explore::id::{ActionSignature, StateKey};
use argiope_ring::{Key, RingInput};

use super::keeping::Then;
use super::message::{
    Envelope, Followed, PeerEffect, PeerMessage, RouteHint, TaskReport, ToCrawler, Wish,
};
use super::schemes::{Hears, Looks};
use super::{Peer, place};
use crate::job::Route;
use crate::journal::Fact;

/// One message piggybacks at most this many hints.
const MOST_FACTS: usize = 64;
/// A message that was forwarded more often travels in a circle.
const MOST_HOPS: u32 = 300;
/// The most messages that wait for a range. Their senders retry, or explore again.
const MOST_HELD: usize = 1 << 16;

impl Peer {
    /// Whether this controller owns a state.
    pub fn owns(&self, state: StateKey) -> bool {
        self.ranges.after.is_some_and(|after| place(state).belongs_to(after, self.me))
    }

    /// Sends a message to a controller.
    pub(super) fn send(&mut self, to: Key, message: PeerMessage) {
        self.send_with(to, None, Vec::new(), message);
    }

    /// Sends a message to the owner of a state: to `hint`, the last owner that is known, if any.
    pub(super) fn send_to_owner(
        &mut self,
        state: StateKey,
        hint: Option<Key>,
        message: PeerMessage,
    ) {
        if let Some(hint) = hint.filter(|&hint| hint != self.me && !self.owns(state)) {
            self.send_with(hint, Some(state), Vec::new(), message);
            return;
        }
        let envelope = Envelope::new(Some(state), message);
        if self.owns(state) {
            self.inbox.push_back((self.me, envelope));
        } else {
            self.forward(self.me, envelope);
        }
    }

    pub(super) fn send_with(
        &mut self,
        to: Key,
        key: Option<StateKey>,
        mut hints: Vec<RouteHint>,
        message: PeerMessage,
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
        let initial = self.known.graph.initial();
        let done = self.later.remove(&to).unwrap_or_default();
        self.out.push(PeerEffect::Send(
            to,
            Envelope { initial, hints, done, ..Envelope::new(key, message) },
        ));
    }

    /// Sends the acknowledgements for which no message came to piggyback on.
    pub(super) fn tell_later(&mut self) {
        self.telling_later = false;
        while let Some((&to, _)) = self.later.first_key_value() {
            self.send(to, PeerMessage::Learned);
        }
    }

    /// Broadcasts what is new, if the scheme does so.
    pub(super) fn broadcast(&mut self) {
        if self.settings.scheme.hears == Hears::Broadcast && !self.told.is_empty() {
            self.out.push(PeerEffect::Broadcast(std::mem::take(&mut self.told)));
        }
    }

    /// Takes in which state is the initial one. Its owner may have failed before anything was known
    /// here: a controller that knows no other state must not take the crawl for complete.
    fn learn_initial(&mut self, initial: StateKey) {
        self.known.graph.begin(initial);
        if self.owns(initial) && !self.known.graph.is_full(initial) {
            self.on_exists(initial, &Route::default());
        }
    }

    pub(super) fn on_envelope(&mut self, from: Key, mut envelope: Envelope) {
        if let Some(initial) = envelope.initial {
            self.learn_initial(initial);
        }
        if self.known.graph.initial().is_some() && self.settings.scheme.looks == Looks::Known {
            for hint in &envelope.hints {
                self.known.learn_hint(hint);
            }
        }
        for done in std::mem::take(&mut envelope.done) {
            self.on_done(done);
        }
        match envelope.key {
            Some(key) if !self.owns(key) => {
                if let (Hears::Passing, PeerMessage::Reached(report)) =
                    (self.settings.scheme.hears, &envelope.message)
                {
                    self.hear(report);
                }
                self.forward(from, envelope);
            }
            _ => self.on_message(from, envelope.message),
        }
    }

    /// Forwards an envelope to the owner of a state. Holds it if this controller may own the state
    /// soon.
    fn forward(&mut self, from: Key, mut envelope: Envelope) {
        let Some(key) = envelope.key else { return };
        let soon = self.ranges.awaits_hand_off() && self.member.owns(place(key));
        let next = self.member.next_hop(place(key), envelope.last);
        match next.filter(|&(next, _)| !soon && next != self.me) {
            Some((next, last)) if envelope.hops < MOST_HOPS => {
                envelope.hops += 1;
                envelope.initial = envelope.initial.or(self.known.graph.initial());
                envelope.last = last;
                self.out.push(PeerEffect::Send(next, envelope));
            }
            // It travels in a circle: its sender retries.
            Some(_) => {}
            None => self.hold(from, envelope),
        }
    }

    /// Keeps a message until the range of this controller is settled.
    pub(super) fn hold(&mut self, from: Key, envelope: Envelope) {
        if self.ranges.held.len() < MOST_HELD {
            self.ranges.held.push((from, envelope));
        } else {
            self.refused += 1;
        }
    }

    /// Whether a message is about a state of another controller, though it is for the owner, or
    /// does not agree with itself. A correct controller sends no such message, and what it says
    /// would make the counts of own states wrong.
    fn is_misdirected(&self, message: &PeerMessage) -> bool {
        match message {
            PeerMessage::Reached(report) => report.at.as_ref().is_none_or(|at| !self.owns(at.key)),
            PeerMessage::Seek(seek) => !self.owns(seek.goal),
            PeerMessage::Remember(root, search) => !self.owns(*root) || search.root() != *root,
            PeerMessage::Strayed { step, .. } => {
                !self.owns(step.from) || self.known.graph.initial().is_none()
            }
            _ => false,
        }
    }

    /// Dispatches a message that is for this controller.
    fn on_message(&mut self, from: Key, message: PeerMessage) {
        if self.is_misdirected(&message) {
            self.refused += 1;
            return;
        }
        match message {
            PeerMessage::Ring(message) => {
                if let Some(request) = message.answered_request() {
                    self.answer_delays.on_answer(request, self.now);
                }
                self.ring(RingInput::Message(from, message));
            }
            PeerMessage::Reached(report) => self.on_reached(&report),
            PeerMessage::Done(done) => self.on_done(done),
            PeerMessage::TaskFailed(answer, reason) => self.on_task_failed(answer, reason),
            PeerMessage::EndedElsewhere(answer) => self.on_ended_elsewhere(answer),
            PeerMessage::Seek(seek) => self.on_seek(seek),
            PeerMessage::Search(search) => self.on_search(search),
            PeerMessage::Remember(root, search) => {
                self.remembered.insert(root, search);
            }
            PeerMessage::Idle(asking, starter, left) => self.on_idle(asking, starter, left),
            // It only carries what its envelope says.
            PeerMessage::Learned => {}
            PeerMessage::Marker(marker) => self.on_marker(from, marker),
            PeerMessage::Finish(leader, counts) => self.on_finish(leader, counts),
            PeerMessage::Collect(collect) => self.on_collect(from, collect),
            PeerMessage::Elsewhere(question) => self.on_elsewhere(from, question),
            PeerMessage::Replicate(number, facts) => self.on_replicate(from, number, &facts),
            PeerMessage::HandOff { number, after, settled, facts, links, plain } => {
                // The sender keeps what a leaving controller does not acknowledge.
                if !self.is_leaving() {
                    self.on_hand_off(after, settled, &facts);
                    self.learn_all_links(links, plain);
                    self.send(from, PeerMessage::Acknowledge(number));
                }
            }
            PeerMessage::Bequest { number, facts, links, plain } => {
                self.take_over(&facts);
                self.learn_all_links(links, plain);
                // The sender leaves only once there are as many replicas as before.
                self.copy(&facts, Some(Then::Confirm(from, number)));
            }
            PeerMessage::Exists { number, asker, state, route, facts } => {
                self.take_over(&facts);
                self.on_exists(state, &route);
                self.assure_heard(&facts);
                self.send(asker, PeerMessage::Acknowledge(number));
            }
            PeerMessage::Claim { number, asker, wish } => self.on_claim(number, asker, wish),
            PeerMessage::Claimed { number, link, state, followed } => {
                if self.taken(number) {
                    self.on_claimed(link, state, followed);
                }
            }
            PeerMessage::Due(wish) => self.on_due(&wish),
            PeerMessage::Followed { number, asker, followed } => {
                self.learn_followed(&followed);
                self.send(asker, PeerMessage::Acknowledge(number));
            }
            PeerMessage::NotFollowed { number, asker, link, state } => {
                self.on_not_followed(link, state);
                self.send(asker, PeerMessage::Acknowledge(number));
            }
            PeerMessage::Plain(followed, starter) => self.on_plain(followed, starter),
            PeerMessage::Strayed { number, asker, step } => {
                self.on_strayed(step);
                self.send(asker, PeerMessage::Acknowledge(number));
            }
            PeerMessage::Acknowledge(number) => {
                self.taken(number);
            }
            PeerMessage::Want(state, crawler, home) => self.on_want(state, crawler, home),
            PeerMessage::Like(state, crawler, content) => {
                self.out.push(PeerEffect::Tell(crawler, ToCrawler::Like(state, content)));
            }
        }
    }

    /// Keeps replicas for another controller. The sender finds another replica holder if this
    /// controller is leaving and does not acknowledge.
    fn on_replicate(&mut self, from: Key, number: u64, facts: &[Fact]) {
        if self.takes_copies_of(from) {
            self.out.extend(facts.iter().cloned().map(PeerEffect::Keep));
            self.keep_copies(facts);
            self.send(from, PeerMessage::Acknowledge(number));
        }
    }

    fn learn_all_links(&mut self, links: (Vec<Followed>, Vec<Wish>), plain: Vec<ActionSignature>) {
        self.learn_links(links);
        for link in plain {
            self.learn_plain(link);
        }
    }

    /// Learns the transitions of a crawler's report.
    pub(super) fn hear(&mut self, report: &TaskReport) {
        if matches!(self.settings.scheme.looks, Looks::OwnByReset | Looks::Everywhere { .. }) {
            return;
        }
        let Some(at) = &report.at else { return };
        let route = report.route.iter().flat_map(|route| route.iter());
        let initial =
            report.route.as_ref().map(|route| route.first().map_or(at.key, |step| step.from));
        if let Some(initial) = initial {
            self.learn_initial(initial);
        }
        if self.known.graph.initial().is_some() {
            for step in route.chain(&report.walked) {
                self.known.hear(*step);
            }
        }
    }
}
