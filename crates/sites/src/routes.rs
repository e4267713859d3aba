//! The routes of fixtures beside their files: delays, counters, trees, faulty replies. One file per
//! family of fixtures.

mod broken;
mod settling;
mod tree;
mod various;

use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::site::Site;

/// The reply of a fixture's own routes, if one of them matches.
pub(crate) fn answer(
    request: &SiteRequest,
    memory: &ServerMemory,
    site: Site,
) -> Option<SiteReply> {
    match site.name() {
        "broken" => broken::answer(request),
        "dialogs" => various::dialogs(request),
        "endless" => various::endless(request),
        "filetree" => tree::answer(tree::SMALL, request),
        "filetree-cassandra" => tree::answer(tree::CASSANDRA, request),
        "long-poll" => settling::long_poll(request),
        "nondeterministic" => various::nondeterministic(request, memory),
        "refresh" => settling::refresh(request),
        "router" => various::router(request, site),
        "shifted" => various::shifted(request, memory, site),
        "slow-fetch" => various::slow_fetch(request, site),
        "splash" => settling::splash(request),
        "storage" => various::storage(request, site),
        "streams" => settling::streams(request),
        "toggles" => various::toggles(request),
        "visited" => various::visited(request, memory),
        "volatile" => various::volatile(request, memory, site),
        "volatile-late" => various::volatile_late(request, memory),
        "windows" => settling::windows(request),
        _ => None,
    }
}
