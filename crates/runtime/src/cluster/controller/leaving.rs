//! Leaving in order: crawlers go elsewhere, other controllers take over every crawl.

use std::time::{Duration, Instant};

use argiope_controller::peer::message::PeerInput;

use super::super::crawl_state::CrawlShare;
use super::super::protocol::{Between, ToTabs};
use super::Dispatcher;

/// How long a controller that leaves waits for others to take over.
const LONGEST_HANDOVER: Duration = Duration::from_secs(15);

impl Dispatcher {
    /// Begins to leave.
    pub(super) fn leave(&mut self) {
        tracing::info!("leaving: handing over to other controllers");
        self.leaving = Some(Instant::now() + LONGEST_HANDOVER);
        self.send_to_crawlers(&ToTabs::Leaving);
        self.send_to_others(None, &Between::Leaving);
        for crawl in self.crawls_where(|_| true) {
            let share = self.shares.get(&crawl).filter(|share| share.is_open());
            let peer = share.and_then(CrawlShare::peer);
            if share.and_then(CrawlShare::coordinator).is_some() {
                tracing::warn!(
                    %crawl,
                    "this controller coordinates the crawl, which waits until it is back"
                );
            }
            if peer.is_some_and(|peer| !peer.member().successors().is_empty()) {
                self.handle_peer(crawl, PeerInput::Leave);
            } else if let Some(share) = self.shares.get_mut(&crawl) {
                // There is no successor to take over: it is on disk.
                share.left = true;
            }
        }
    }

    /// Whether other controllers have taken over, or have had their time.
    pub(super) fn has_left(&self) -> bool {
        let Some(until) = self.leaving else { return false };
        let left = self.shares.values().all(|share| share.left || share.is_over());
        if !left && Instant::now() > until {
            tracing::warn!("no controller has taken over in time; everything is on disk");
            return true;
        }
        left && self.disk.holds_nothing()
    }

    /// Writes what waits for the disk and closes all connections.
    pub(super) async fn close(self) {
        // The writer has reported what it could not write.
        let _ = self.disk.writer.close();
        for link in self.links.into_values() {
            let _ = tokio::time::timeout(Duration::from_secs(1), link.finish()).await;
        }
    }
}
