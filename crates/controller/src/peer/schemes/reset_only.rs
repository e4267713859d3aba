//! Reset only (section 3.5.2): a crawler is sent to an own state, always from the initial one.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "reset-only",
    summary: "own states only, always by a reset",
    looks: Looks::OwnByReset,
    hears: Hears::Visitors,
    direct: false,
};
