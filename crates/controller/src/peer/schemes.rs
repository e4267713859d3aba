//! The knowledge schemes: what a controller of a ring knows beyond its own states, and where it looks when a
//! crawler stands in a state that has nothing left. One file each.

pub mod forward;
pub mod forward_global;
pub mod forward_local;
pub mod global;
pub mod gossip;
pub mod local;
pub mod reset_only;
pub mod shared;

/// A scheme: its name, and what it does.
#[derive(Debug)]
pub struct Scheme {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// Where a crawler is sent.
    pub looks: Looks,
    /// How controllers hear of each other's states.
    pub hears: Hears,
    /// Crawlers know the ring and write to the owner of a state themselves.
    pub direct: bool,
}

/// Where to look for something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// In own states, by a reset.
    OwnByReset,
    /// In own states, over known transitions or by a reset.
    Own,
    /// In whatever state is the nearest, searched from owner to owner.
    Everywhere {
        /// Searches from the same state go on where the last one stopped.
        remembers: bool,
    },
    /// In whatever state is the nearest, as far as is known; its owner is asked.
    Known,
}

/// How controllers hear of states that are not theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// From the crawlers that come to them.
    Visitors,
    /// From all messages that they hand on as well.
    Passing,
    /// From the searches of crawlers, which tell what they have found to be done with.
    Searches,
    /// From everything that others send them: what is done with is told by the way.
    Everything,
    /// At once, by messages made for it.
    Broadcast,
}

/// Every scheme, in the order in which tables and help list them.
pub const ALL: &[Scheme] = &[
    global::SCHEME,
    reset_only::SCHEME,
    local::SCHEME,
    shared::SCHEME,
    forward::SCHEME,
    forward_local::SCHEME,
    forward_global::SCHEME,
    gossip::SCHEME,
];

/// The name of the scheme that is used when none is asked for.
pub const DEFAULT: &str = forward_global::SCHEME.name;

/// The scheme with this name.
pub fn find(name: &str) -> Option<&'static Scheme> {
    ALL.iter().find(|scheme| scheme.name == name)
}
