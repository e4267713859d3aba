//! What befalls the controllers of a simulated ring.

use argiope_controller::peer::Peer;
use argiope_controller::peer::message::PeerInput;
use argiope_controller::peer::settings::PeerSettings;
use argiope_ring::Key;

use super::scenario::FaultEvent;
use super::{Cluster, Event, Node};

/// So many microseconds are an hour.
const HOUR: f64 = 3.6e9;

impl Cluster<'_> {
    /// When a controller will fail by chance.
    pub(super) fn schedule_failure(&mut self, at: usize) {
        if self.scenario.failures_per_hour > 0.0 {
            let uniform = (self.chance.word() >> 11) as f64 / (1u64 << 53) as f64;
            let time = -(1.0 - uniform).ln() * HOUR / self.scenario.failures_per_hour;
            self.clock.after(time as u64, Event::Fails(at));
        }
    }

    pub(super) fn befall(&mut self, happening: FaultEvent) {
        let up: Vec<usize> = (0..self.nodes.len()).filter(|&at| self.nodes[at].up).collect();
        let one = up[self.chance.below(up.len())];
        match happening {
            FaultEvent::Fail(many) => {
                let mut neighbours = up.clone();
                let first = self.nodes[one].key;
                neighbours.sort_by_key(|&at| first.distance(self.nodes[at].key));
                for at in neighbours.into_iter().take(many) {
                    self.fail(at);
                }
            }
            FaultEvent::Restart(time) => {
                if self.fail(one) {
                    self.clock.after(time, Event::Returns(one));
                }
            }
            FaultEvent::Slow(times) => self.nodes[one].slowness = times.max(1),
            FaultEvent::Freeze(time) => {
                if self.nodes[one].frozen.is_none() {
                    self.nodes[one].frozen = Some(Vec::new());
                    self.clock.after(time, Event::Thaws(one));
                }
            }
            FaultEvent::Partition(time) => {
                let half = up.len() / 2;
                let first = self.nodes[one].key;
                let mut around = up;
                around.sort_by_key(|&at| first.distance(self.nodes[at].key));
                for at in around.into_iter().take(half) {
                    self.nodes[at].part = 1;
                }
                self.clock.after(time, Event::Heals);
            }
            FaultEvent::Join => self.join(Peer::newcomer),
            FaultEvent::Leave => {
                if up.len() > 1 {
                    self.hurried |= self.mourns();
                    self.tell(one, PeerInput::Leave);
                }
            }
            FaultEvent::LoseCrawler => self.lose_crawler(),
            FaultEvent::AddCrawler => self.add_crawler(),
        }
    }

    /// Somebody joins under a name of its own.
    fn join(&mut self, make: impl FnOnce(PeerSettings, Key) -> Peer) {
        let up: Vec<usize> = (0..self.nodes.len()).filter(|&at| self.nodes[at].up).collect();
        let through = self.nodes[up[self.chance.below(up.len())]].key;
        let key = Key(u128::from(self.chance.word()) << 64 | u128::from(self.chance.word()));
        let at = self.nodes.len();
        self.hurried |= self.mourns();
        self.nodes.push(Node::new(key, make(self.scenario.peer_settings(), key)));
        self.places.insert(key, at);
        self.schedule_sync(at);
        self.tell(at, PeerInput::Join(through));
    }

    /// Disks matter only where somebody may come back.
    pub(super) fn schedule_sync(&mut self, at: usize) {
        if self.scenario.has_disks() {
            self.clock.after(self.scenario.sync_interval, Event::Syncs(at));
        }
    }

    pub(super) fn sync(&mut self, at: usize) {
        if self.nodes[at].up {
            let unsynced = std::mem::take(&mut self.nodes[at].unsynced);
            self.nodes[at].disk.extend(unsynced);
            self.schedule_sync(at);
        }
    }

    /// As a newcomer that remembers what it knew: others may have taken over from it, or may not have noticed yet
    /// that it was gone.
    pub(super) fn return_from_disk(&mut self, at: usize) {
        let disk = std::mem::take(&mut self.nodes[at].disk);
        self.join(|settings, key| Peer::returning(settings, key, &disk));
    }

    /// A controller fails, unless it is the last. Says whether it did.
    pub(super) fn fail(&mut self, at: usize) -> bool {
        let left = self.nodes.iter().filter(|node| node.up).count();
        let fails = self.nodes[at].up && left > 1;
        if fails {
            self.hurried |= !self.is_settled();
            self.nodes[at].up = false;
            self.counts.failures += 1;
        }
        fails
    }

    pub(super) fn thaw(&mut self, at: usize) {
        for event in self.nodes[at].frozen.take().unwrap_or_default() {
            self.happen(event);
        }
    }

    /// A controller that has left in order still passes on what comes; its crawlers go elsewhere.
    pub(super) fn depart(&mut self, at: usize) {
        let other = (0..self.nodes.len()).find(|&other| other != at && self.nodes[other].up);
        for crawling in self.crawlers.values_mut() {
            crawling.leave_home(at, other);
        }
    }
}
