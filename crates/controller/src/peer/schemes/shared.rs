//! Shared knowledge (section 3.5.4): like local, but what a message tells is learned by everybody who hands it on.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "shared",
    summary: "own states only, by ways learned from passing messages",
    looks: Looks::Own,
    hears: Hears::Passing,
    direct: false,
};
