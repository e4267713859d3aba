//! Timers that peers and coordinators have set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use argiope_controller::peer::message::{PeerInput, PeerTimer};
use argiope_controller::star::coordinator::{CoordinatorInput, CoordinatorTimer};

use super::super::protocol::CrawlId;
use super::Dispatcher;

/// A timer of one crawl.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrawlTimer {
    /// Set by a peer of a ring.
    Peer(PeerTimer),
    /// Set by the coordinator of a star.
    Coordinator(CoordinatorTimer),
}

/// All timers; equal times fire in the order in which they were set.
#[derive(Default)]
pub struct Timers {
    queue: BinaryHeap<Reverse<(u64, u64, CrawlId, CrawlTimer)>>,
    last: u64,
}

impl Dispatcher {
    /// The time of the peers' clocks, in microseconds.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    pub(super) fn next_due(&self) -> Instant {
        let far = Instant::now() + Duration::from_secs(3600);
        let next = self.timers.queue.peek();
        next.map_or(far, |Reverse((at, ..))| self.began + Duration::from_micros(*at))
    }

    pub(super) fn fire_timers(&mut self) {
        while let Some(Reverse((at, ..))) = self.timers.queue.peek()
            && *at <= self.now()
            && let Some(Reverse((_, _, crawl, timer))) = self.timers.queue.pop()
        {
            match timer {
                CrawlTimer::Peer(timer) => self.handle_peer(crawl, PeerInput::Timer(timer)),
                CrawlTimer::Coordinator(timer) => {
                    self.handle_coordinator(crawl, CoordinatorInput::Timer(timer));
                }
            }
        }
    }

    pub(super) fn set_timer(&mut self, crawl: CrawlId, timer: CrawlTimer, after: u64) {
        let at = self.now().saturating_add(after);
        self.timers.last += 1;
        self.timers.queue.push(Reverse((at, self.timers.last, crawl, timer)));
    }
}
