//! Our own: like forward-global, but whatever one controller sends another also tells which of its states are done with,
//! and crawlers write to owners themselves. So hardly any message is needed for the search alone.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "gossip",
    summary: "the nearest state of all; what is done with is told by the way",
    looks: Looks::Known,
    hears: Hears::Everything,
    direct: true,
};
