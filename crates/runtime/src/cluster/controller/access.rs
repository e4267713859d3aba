//! The secrets of a crawl's login, which a controller has in memory only, and crawlers that cannot
//! log in.

use argiope_browser::Access;
use argiope_explore::quoted::Escaped;
use argiope_ring::Key;

use super::super::protocol::{Between, CrawlId};
use super::dispatcher::Dispatcher;

/// The most characters of a reason that are passed on.
const LONGEST_REASON: usize = 500;

impl Dispatcher {
    /// A client gives the secrets of a login again, for all controllers.
    pub(super) fn on_access(&mut self, id: CrawlId, access: Access) {
        if self.take_access(id, access.clone())
            && let Some(share) = self.shares.get(&id)
        {
            let message = Between::Crawl(id, share.spec.clone(), access);
            self.send_to_others(None, &message);
        }
    }

    /// Takes over the secrets of a login, which a controller has only in memory. Returns whether
    /// it lacked them.
    pub(super) fn take_access(&mut self, id: CrawlId, access: Access) -> bool {
        let Some(share) = self.shares.get_mut(&id) else { return false };
        let takes = share.lacks_access() && !access.is_empty();
        if takes {
            share.spec.order.settings.access = access;
            tracing::info!(crawl = %id, "the login of the crawl is here again");
            self.assign_tabs();
        }
        takes
    }

    /// A crawler cannot log in any more: the crawl is stopped, and people learn why.
    pub(super) fn on_trouble(&mut self, id: CrawlId, why: &str, from: Option<Key>) {
        let Some(share) = self.shares.get_mut(&id).filter(|share| !share.is_over()) else { return };
        let why = Escaped(why, LONGEST_REASON).to_string();
        tracing::warn!(crawl = %id, reason = %why, "the crawl cannot go on");
        share.trouble = Some(why.clone());
        let message = Between::Trouble(id, why);
        self.send_to_others(from, &message);
        self.on_stop(id, from);
    }
}
