//! Globally optimised forward exploration (section 3.5.7): searches tell everybody they visit which states are done with
//! and where those lead, so that nobody visits them again. Here the search is not carried along but done anew by each
//! controller it visits, over what it has heard; states that are done with are jumped over.

use super::{Hears, Looks, Scheme};

/// As people choose it.
pub const SCHEME: Scheme = Scheme {
    name: "forward-global",
    summary: "the nearest state of all, jumping over what searches found done",
    looks: Looks::Known,
    hears: Hears::Searches,
    direct: false,
};
