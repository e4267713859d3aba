//! Global knowledge (section 3.5.1): every controller hears of everything at once. For comparison: it takes a message to
//! every other controller for whatever happens.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "global",
    summary: "every controller knows everything at once (for comparison)",
    looks: Looks::Known,
    hears: Hears::Broadcast,
    direct: false,
};
