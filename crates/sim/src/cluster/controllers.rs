//! Controllers of a simulated ring: their queues, their inputs and their effects.

use argiope_controller::lifecycle::Standing;
use argiope_controller::peer::message::RouteHint;
use argiope_controller::peer::message::{
    Envelope, PeerEffect, PeerInput, PeerMessage, PeerTimer, Task, ToCrawler,
};
use argiope_ring::Key;

use super::{Cluster, RingEvent, checks, live_nodes};

/// Whether an input only maintains the ring. Such inputs are neither queued nor traced.
pub(super) fn maintains_ring(input: &PeerInput) -> bool {
    match input {
        PeerInput::Message(_, envelope) => matches!(envelope.message, PeerMessage::Ring(_)),
        PeerInput::Timer(timer) => {
            matches!(timer, PeerTimer::Stabilise | PeerTimer::Fingers | PeerTimer::Silent(_))
        }
        _ => false,
    }
}

impl Cluster<'_> {
    /// Puts an input into a controller's queue. A partition drops messages between its sides.
    /// Messages that maintain the ring overtake the others: the ring must not take a controller
    /// with a long queue for dead.
    pub(super) fn on_input_arrived(&mut self, node: usize, input: PeerInput) {
        if let PeerInput::Message(from, _) = &input
            && let Some(&sender) = self.node_of.get(from)
            && self.nodes[sender].side != self.nodes[node].side
        {
            return;
        }
        let receiver = &mut self.nodes[node];
        let wait = self.env.queue_message(&mut receiver.busy_until, receiver.slowness);
        if maintains_ring(&input) || self.env.scenario.processing_time == 0 {
            self.on_input(node, input);
        } else {
            self.env.events.schedule(wait, RingEvent::InputHandled(node, input));
        }
    }

    /// Gives a controller an input and applies its effects.
    pub(super) fn on_input(&mut self, node: usize, input: PeerInput) {
        if self.nodes[node].lifecycle.standing() == Standing::Finished {
            return;
        }
        if let PeerInput::Message(_, Envelope { message: PeerMessage::Acknowledge(number), .. }) =
            &input
            && let Some(sent) = self.replicas_sent.remove(&(node, *number))
        {
            self.env.counts.replication_time += self.env.now() - sent;
        }
        let may_change_ring = maintains_ring(&input)
            || matches!(
                input,
                PeerInput::Start | PeerInput::Join(_) | PeerInput::Meet(_) | PeerInput::Leave
            );
        let mut effects = Vec::new();
        self.nodes[node].peer.handle(self.env.now(), input, &mut effects);
        for effect in effects {
            self.apply(node, effect);
        }
        if self.nodes[node].peer.member().is_inside() {
            self.nodes[node].lifecycle.on_entered();
        }
        if self.env.scenario.is_checked
            && let Some(violation) = checks::check_step(self, may_change_ring)
        {
            self.violation.get_or_insert(violation);
        }
    }

    fn apply(&mut self, node: usize, effect: PeerEffect) {
        match effect {
            PeerEffect::Send(to, envelope) => self.send(node, to, envelope),
            PeerEffect::Broadcast(facts) => self.broadcast(node, &facts),
            PeerEffect::Tell(crawler, message) => {
                // A crawler that only looks at a state repeats an executed transition on purpose.
                if let ToCrawler::Task(Task { job: Some(job), look: false, .. }) = &message {
                    let is_redundant = self.acknowledged.contains(&(job.state, job.action));
                    self.env.counts.redundant_tasks += u64::from(is_redundant);
                }
                self.note_task_after_end(node, &message);
                self.env.send("job", RingEvent::CrawlerMessage(crawler, message));
            }
            PeerEffect::Keep(record) => {
                if self.env.scenario.has_disks() {
                    self.nodes[node].unsynced.push(record);
                }
            }
            PeerEffect::Executed(step) => {
                self.acknowledged.insert((step.from, step.action));
            }
            PeerEffect::Wake(timer, time) => {
                let input = PeerInput::Timer(timer);
                self.env.events.schedule(time, RingEvent::InputHandled(node, input));
            }
            PeerEffect::Left => self.detach_crawlers(node),
            PeerEffect::Finished(counts) => self.on_finished(node, counts),
        }
    }

    fn send(&mut self, node: usize, to: Key, envelope: Envelope) {
        self.env.counts.add_message(envelope.message.kind());
        if let PeerMessage::Replicate(number, _) = envelope.message {
            self.replicas_sent.entry((node, number)).or_insert(self.env.now());
        }
        if let Some(&receiver) = self.node_of.get(&to)
            && self.is_connected(node, receiver)
        {
            let latency = self.env.draw_latency() * self.nodes[receiver].slowness;
            let input = PeerInput::Message(self.nodes[node].key, envelope);
            self.env.events.schedule(latency, RingEvent::InputArrived(receiver, input));
        }
    }

    /// Only the scheme `global` broadcasts: it shows what a crawl costs if all learn at once.
    fn broadcast(&mut self, node: usize, hints: &[RouteHint]) {
        let from = self.nodes[node].key;
        let initial = self.nodes[node].peer.known().graph().initial();
        for receiver in live_nodes(&self.nodes).into_iter().filter(|&receiver| receiver != node) {
            self.env.counts.add_message("learned");
            let hints = hints.to_vec();
            let envelope = Envelope { initial, hints, ..Envelope::new(None, PeerMessage::Learned) };
            let input = PeerInput::Message(from, envelope);
            self.env.events.schedule(0, RingEvent::InputHandled(receiver, input));
        }
    }
}
