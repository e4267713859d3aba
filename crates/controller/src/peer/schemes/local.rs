//! Local knowledge (section 3.5.3): ways to own states over what this controller knows of itself, and what crawlers bring.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "local",
    summary: "own states only, by ways known here",
    looks: Looks::Own,
    hears: Hears::Visitors,
    direct: false,
};
