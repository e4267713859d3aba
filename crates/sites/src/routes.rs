//! What a fixture's server does besides handing out files: delays, counters, trees, bad answers. One
//! file per family of fixtures.

mod broken;
mod tree;
mod various;

use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::site::Site;

/// The answer of a fixture's own routes, if one of them is meant.
pub(crate) fn answer(
    name: &str,
    ask: &SiteRequest,
    memory: &ServerMemory,
    site: Site,
) -> Option<SiteReply> {
    match name {
        "broken" => broken::answer(ask),
        "dialogs" => various::dialogs(ask),
        "endless" => various::endless(ask),
        "filetree" => tree::answer(tree::SMALL, ask),
        "filetree-cassandra" => tree::answer(tree::CASSANDRA, ask),
        "nondeterministic" => various::nondeterministic(ask, memory),
        "router" => various::router(ask, site),
        "slow-fetch" => various::slow_fetch(ask),
        "storage" => various::storage(ask, site),
        "toggles" => various::toggles(ask),
        "volatile" => various::volatile(ask, memory, site),
        "volatile-late" => various::volatile_late(ask, memory),
        _ => None,
    }
}
