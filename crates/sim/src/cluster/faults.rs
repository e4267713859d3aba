//! Faults of a simulated ring, and what the checks need to know of them.

use argiope_controller::journal::Fact;
use argiope_controller::lifecycle::{Lifecycle, Standing};
use argiope_controller::peer::Peer;
use argiope_controller::peer::message::PeerInput;
use argiope_ring::{Key, RingMember};

use super::scenario::FaultEvent;
use super::{Cluster, RingEvent, RingNode, live_nodes};

/// An hour, in microseconds.
const HOUR: f64 = 3.6e9;

impl Cluster<'_> {
    /// Draws the time at which a controller fails, exponentially distributed.
    pub(super) fn schedule_failure(&mut self, node: usize) {
        if self.env.scenario.failures_per_hour > 0.0 {
            let uniform = (self.env.chance.word() >> 11) as f64 / (1u64 << 53) as f64;
            let time = -(1.0 - uniform).ln() * HOUR / self.env.scenario.failures_per_hour;
            self.env.events.schedule(time as u64, RingEvent::ControllerFails(node));
        }
    }

    /// Injects a fault into a controller that is drawn, or into its neighbourhood.
    pub(super) fn inject(&mut self, fault: FaultEvent) {
        let live = live_nodes(&self.nodes);
        if live.is_empty() {
            return;
        }
        let drawn = live[self.env.chance.below(live.len())];
        match fault {
            FaultEvent::Fail(count) => {
                for node in self.neighbourhood(drawn).into_iter().take(count) {
                    self.fail(node);
                }
            }
            FaultEvent::Restart(time) => {
                if self.fail(drawn) {
                    self.env.events.schedule(time, RingEvent::ControllerRestarts(drawn));
                }
            }
            FaultEvent::RestartTwice(time) => {
                if self.fail(drawn) {
                    self.nodes[drawn].restarts_again = Some(time);
                    self.env.events.schedule(time, RingEvent::ControllerRestarts(drawn));
                }
            }
            FaultEvent::Storm(restarts) => self.storm(restarts),
            FaultEvent::Rolling(restarts) => self.roll(restarts, false),
            FaultEvent::Blackout(time) => {
                for node in live {
                    self.go_down(node);
                    self.env.events.schedule(time, RingEvent::ControllerRestarts(node));
                }
            }
            FaultEvent::Return => {
                self.nodes[drawn].returns = self.fail(drawn);
            }
            FaultEvent::Slow(times) => self.nodes[drawn].slowness = times.max(1),
            FaultEvent::Freeze(time) => {
                if self.nodes[drawn].held_back.is_none() {
                    self.nodes[drawn].held_back = Some(Vec::new());
                    self.env.events.schedule(time, RingEvent::ControllerThaws(drawn));
                }
            }
            FaultEvent::Partition(time) => {
                for node in self.neighbourhood(drawn).into_iter().take(live.len() / 2) {
                    self.nodes[node].side = 1;
                }
                self.env.events.schedule(time, RingEvent::PartitionHeals);
            }
            FaultEvent::Join => self.join(Vec::new(), Lifecycle::newcomer),
            FaultEvent::Leave => {
                if live.len() > 1 {
                    self.had_unsettled_handover |= self.has_unnoticed_failure();
                    self.on_input(drawn, PeerInput::Leave);
                }
            }
            FaultEvent::LoseCrawler => self.env.lose_crawler(&mut self.crawlers),
            FaultEvent::AddCrawler => self.add_crawler(),
            FaultEvent::Detach(time) => {
                for (&crawler, detached) in &mut self.crawlers {
                    self.env.events.schedule(time, RingEvent::CrawlerAttached(crawler));
                    // Its home knows that the task will not end.
                    if let Some(task) = detached.detach() {
                        let lost = RingEvent::InputArrived(detached.home, task);
                        self.env.send("lost", lost);
                    }
                }
            }
        }
    }

    /// Restarts a controller that is drawn, and goes on with the others after a while.
    pub(super) fn storm(&mut self, restarts: usize) {
        let timeouts = self.env.scenario.timeouts;
        let down = self.env.chance.below(timeouts.round as usize) as u64;
        self.inject(FaultEvent::Restart(down));
        if restarts > 1 {
            self.env.events.schedule(timeouts.answer, RingEvent::StormGoesOn(restarts - 1));
        }
    }

    /// Restarts a controller that is drawn, once two looks in a row show that all are ready. As an
    /// operator does: what one controller says of the others may be older than a heartbeat.
    pub(super) fn roll(&mut self, restarts: usize, were_ready: bool) {
        let timeouts = self.env.scenario.timeouts;
        let are_ready = self.are_ready();
        let mut left = restarts;
        if are_ready && were_ready {
            let down = self.env.chance.below(timeouts.round as usize) as u64;
            self.inject(FaultEvent::Restart(down));
            left -= 1;
        }
        if left > 0 {
            let next = RingEvent::RollingGoesOn(left, are_ready && !were_ready);
            self.env.events.schedule(timeouts.stabilise, next);
        }
    }

    /// Whether every controller is up and inside the ring, and has its replicas.
    fn are_ready(&self) -> bool {
        let is_up = |key| self.node_of.get(&key).is_some_and(|&node| self.nodes[node].is_up);
        let replicas = self.env.scenario.backups;
        let live = live_nodes(&self.nodes);
        live.len() == self.env.scenario.controllers
            && live.iter().map(|&node| &self.nodes[node]).all(|node| {
                node.lifecycle.standing() == Standing::Inside
                    && node.peer.replicas(is_up) >= replicas
            })
    }

    /// The controllers that are up, in the order of the ring from one of them on.
    fn neighbourhood(&self, first: usize) -> Vec<usize> {
        let first = self.nodes[first].key;
        let mut nodes = live_nodes(&self.nodes);
        nodes.sort_by_key(|&node| first.distance(self.nodes[node].key));
        nodes
    }

    /// A controller starts under a new key, with what a disk holds.
    fn join(&mut self, disk: Vec<Fact>, lifecycle: impl FnOnce(Key) -> Lifecycle) {
        let mut word = || u128::from(self.env.chance.word());
        let key = Key(word() << 64 | word());
        let node = self.nodes.len();
        self.had_unsettled_handover |= self.has_unnoticed_failure();
        let peer = Peer::newcomer(self.env.scenario.peer_settings(), key);
        let mut started = RingNode::new(key, peer, lifecycle(key), self.env.now());
        started.disk = disk;
        let longest = self.env.scenario.connect_time as usize;
        for other in live_nodes(&self.nodes) {
            let time = if longest > 0 { self.env.chance.below(longest) as u64 } else { 0 };
            started.connected.insert(other, self.env.now() + time);
        }
        self.nodes.push(started);
        self.node_of.insert(key, node);
        self.schedule_sync(node);
        self.on_heartbeat(node);
    }

    /// Schedules the next sync of a disk, if controllers may restart.
    pub(super) fn schedule_sync(&mut self, node: usize) {
        if self.env.scenario.has_disks() {
            let interval = self.env.scenario.sync_interval;
            self.env.events.schedule(interval, RingEvent::DiskSynced(node));
        }
    }

    pub(super) fn on_disk_synced(&mut self, node: usize) {
        if self.nodes[node].is_up {
            let unsynced = std::mem::take(&mut self.nodes[node].unsynced);
            self.nodes[node].disk.extend(unsynced);
            self.schedule_sync(node);
        }
    }

    /// A controller restarts under a new key with what its disk holds: others may have taken over
    /// its range, or may not have noticed its failure.
    pub(super) fn restart(&mut self, node: usize) {
        if self.nodes[node].is_up {
            return; // It was the last one, which does not fail.
        }
        let disk = std::mem::take(&mut self.nodes[node].disk);
        let again = self.nodes[node].restarts_again.take();
        let (now, timeouts) = (self.env.now(), self.env.scenario.timeouts);
        let facts = disk.clone();
        self.join(disk, |key| Lifecycle::restarted(key, facts, now, timeouts.round));
        if let Some(time) = again {
            // Most likely it joins just then.
            let restarted = self.nodes.len() - 1;
            let moment = self.env.chance.below(timeouts.answer as usize) as u64;
            self.env.events.schedule(moment, RingEvent::ControllerFails(restarted));
            self.env.events.schedule(moment + time, RingEvent::ControllerRestarts(restarted));
        }
    }

    /// A controller fails, unless it is the last one. Returns whether it did.
    pub(super) fn fail(&mut self, node: usize) -> bool {
        let fails = self.nodes[node].is_up && self.peers().count() > 1;
        if fails {
            self.go_down(node);
        }
        fails
    }

    fn go_down(&mut self, node: usize) {
        self.had_unsettled_handover |= !self.is_settled();
        self.nodes[node].is_up = false;
        self.nodes[node].unsynced.clear();
        self.env.counts.failures += 1;
    }

    pub(super) fn thaw(&mut self, node: usize) {
        for event in self.nodes[node].held_back.take().unwrap_or_default() {
            self.dispatch(event);
        }
    }

    /// Whether controllers may have taken a live controller for dead.
    pub fn had_false_suspicions(&self) -> bool {
        let misleads = |fault: &FaultEvent| {
            matches!(fault, FaultEvent::Freeze(_) | FaultEvent::Partition(_) | FaultEvent::Slow(_))
        };
        self.env.scenario.scheduled_faults.iter().any(|(_, fault)| misleads(fault))
    }

    /// Whether a successor may have taken over from a failed controller without knowing of a
    /// newcomer between the two, known only to the failed controller.
    pub fn had_unsettled_handover(&self) -> bool {
        self.had_unsettled_handover
    }

    /// Whether a controller has a failed neighbour and has not noticed yet.
    fn has_unnoticed_failure(&self) -> bool {
        let is_down =
            |key: &Key| self.node_of.get(key).is_some_and(|&node| !self.nodes[node].is_up);
        self.peers().map(Peer::member).any(|member| {
            let successor = member.successors().first().copied();
            [successor, member.predecessor()].iter().flatten().any(is_down)
        })
    }

    /// Whether all neighbours on the ring know each other.
    fn is_settled(&self) -> bool {
        let mut ring: Vec<&RingMember> =
            self.peers().map(Peer::member).filter(|member| member.is_inside()).collect();
        ring.sort_by_key(|member| member.key());
        let successors = ring.iter().cycle().skip(1);
        ring.iter().zip(successors).filter(|(member, next)| member.key() != next.key()).all(
            |(member, next)| {
                member.successors().first() == Some(&next.key())
                    && next.predecessor() == Some(member.key())
            },
        )
    }
}
