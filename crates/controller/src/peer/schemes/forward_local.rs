//! Locally optimised forward exploration (section 3.5.6): a search goes on where the last one from there stopped.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "forward-local",
    summary: "the same, but searches go on where the last one stopped",
    looks: Looks::Everywhere { remembers: true },
    hears: Hears::Visitors,
    direct: false,
};
