//! Forward exploration as first printed (section 3.5.5): a breadth-first search that travels, anew each time.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "forward",
    summary: "the nearest state of all, searched from owner to owner",
    looks: Looks::Everywhere { remembers: false },
    hears: Hears::Visitors,
    direct: false,
};
