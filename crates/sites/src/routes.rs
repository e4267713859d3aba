//! The routes of fixtures beside their files: delays, counters, trees, faulty replies. One file per
//! family of fixtures.

mod brakes;
mod broken;
mod forms;
mod leaving;
pub(crate) mod sessions;
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
        "accounts" => forms::accounts(request, memory),
        "astray" => leaving::astray(request, memory),
        "brakes" => brakes::answer(request, memory),
        "broken" => broken::answer(request),
        "dialogs" => various::dialogs(request),
        "endless" => various::endless(request),
        "filetree" => tree::answer(tree::SMALL, request),
        "filetree-cassandra" => tree::answer(tree::CASSANDRA, request),
        "form" => forms::form(request),
        "leaving" => leaving::answer(request),
        "long-poll" => settling::long_poll(request),
        "nondeterministic" => various::nondeterministic(request, memory),
        "recent" | "visited" => various::visited(request, memory),
        "refresh" => settling::refresh(request),
        "router" => various::router(request, site),
        "sandboxed" => settling::sandboxed(request),
        "session" => sessions::session(request, memory, site),
        "shifted" => various::shifted(request, memory, site),
        "slow-fetch" => various::slow_fetch(request, site),
        "splash" => settling::splash(request),
        "storage" => various::storage(request, site),
        "streams" => settling::streams(request),
        "toggles" => various::toggles(request),
        "volatile" => various::volatile(request, memory, site),
        "volatile-late" => various::volatile_late(request, memory),
        "windows" => settling::windows(request),
        _ => None,
    }
}
