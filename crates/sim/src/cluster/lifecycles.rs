//! How the controllers of a simulated ring take part in the crawl: they hear of each other in
//! heartbeats, and start, join, resume and end by the same rules as real processes.

use std::collections::BTreeMap;

use argiope_controller::lifecycle::{LifecycleStep, Standing};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::{FinalCounts, PeerInput, ToCrawler};
use argiope_ring::Key;

use super::{Cluster, RingEvent, live_nodes};

/// A controller that returns after the end is watched for this number of rounds.
const ROUNDS_AFTER_END: u64 = 4;

impl Cluster<'_> {
    /// Whether two controllers have a connection.
    pub(super) fn is_connected(&self, one: usize, other: usize) -> bool {
        let since = |from: usize, to: usize| self.nodes[from].connected.get(&to).copied();
        let since = since(one, other).max(since(other, one)).unwrap_or(0);
        self.env.now() >= since && self.nodes[one].side == self.nodes[other].side
    }

    /// How the controllers that one is connected to stand.
    fn standings(&self, node: usize) -> BTreeMap<Key, Standing> {
        let others = live_nodes(&self.nodes).into_iter().filter(|&other| other != node);
        let others = others.filter(|&other| self.is_connected(node, other));
        let standing = |other: usize| {
            let other = &self.nodes[other];
            let standing = other.lifecycle.standing();
            // A controller that has left the ring is about to end.
            let has_left = standing == Standing::Inside && !other.peer.member().is_inside();
            (!has_left).then_some((other.key, standing))
        };
        others.filter_map(standing).collect()
    }

    /// A controller that is not inside the ring decides what to do. So do all after the end.
    pub(super) fn on_heartbeat(&mut self, node: usize) {
        if !self.nodes[node].is_up {
            return;
        }
        let (now, others) = (self.env.now(), self.standings(node));
        match self.nodes[node].lifecycle.decide(now, &others) {
            Some(LifecycleStep::Join(through)) => {
                let (key, facts) = (self.nodes[node].key, self.nodes[node].lifecycle.facts());
                let settings = self.env.scenario.peer_settings();
                self.nodes[node].peer = Peer::returning(settings, key, facts);
                self.on_input(node, PeerInput::Join(through));
            }
            Some(LifecycleStep::SendFacts(to)) => {
                let (key, facts) = (self.nodes[node].key, self.nodes[node].lifecycle.facts());
                let (to, facts) = (self.node_of[&to], facts.to_vec());
                self.env.send("facts", RingEvent::FactsReceived(to, key, facts));
            }
            Some(LifecycleStep::Resume) => {
                let (key, facts) = (self.nodes[node].key, self.nodes[node].lifecycle.facts());
                let settings = self.env.scenario.peer_settings();
                self.nodes[node].peer = Peer::reviving(settings, key, facts);
                self.on_input(node, PeerInput::Start);
            }
            Some(LifecycleStep::Finish) => self.nodes[node].lifecycle.on_finished(),
            None => {}
        }
        if self.nodes[node].lifecycle.standing() != Standing::Finished {
            let period = self.env.scenario.timeouts.stabilise;
            self.env.events.schedule(period, RingEvent::Heartbeat(node));
        }
    }

    /// A controller learns that the crawl is over. Those that were to return do so now.
    pub(super) fn on_finished(&mut self, node: usize, counts: FinalCounts) {
        self.nodes[node].lifecycle.on_finished();
        if self.finished_by.is_some() {
            return;
        }
        self.finished_by = Some(node);
        self.final_counts = counts;
        self.env.counts.ended_at = self.env.now();
        let returning = (0..self.nodes.len()).filter(|&node| self.nodes[node].returns);
        for node in returning.collect::<Vec<_>>() {
            self.env.events.schedule(0, RingEvent::ControllerRestarts(node));
        }
        // Members that miss the message of the end learn of it from heartbeats.
        for node in live_nodes(&self.nodes) {
            self.env.events.schedule(0, RingEvent::Heartbeat(node));
        }
    }

    /// Whether controllers return after the end, and have not been watched for long enough.
    pub(super) fn awaits_returns(&self) -> bool {
        let until = self.env.counts.ended_at + ROUNDS_AFTER_END * self.env.scenario.timeouts.round;
        self.nodes.iter().any(|node| node.returns) && self.env.now() < until
    }

    /// A task after the end executes the crawl again.
    pub(super) fn note_task_after_end(&mut self, node: usize, message: &ToCrawler) {
        if self.finished_by.is_some() && matches!(message, ToCrawler::Task(_)) {
            let what = format!("controller {node} assigns a task after the end");
            self.violation.get_or_insert(what);
        }
    }
}
