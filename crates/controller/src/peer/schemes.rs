//! The knowledge-sharing schemes: what a controller of a ring knows beyond its own states, and
//! where it looks for work when a crawler stands in a state that has none left. A scheme is a row
//! of [`ALL`]: add one there, and the command line, the help, the benches and the tests know it.

/// A scheme: its name, and what it does.
#[derive(Debug)]
pub struct Scheme {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// Where it looks for work.
    pub looks: Looks,
    /// How controllers learn of each other's states.
    pub hears: Hears,
    /// Crawlers know the ring and report to the owner of a state themselves.
    pub direct: bool,
}

/// Where to look for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// In own states, always by a reset.
    OwnByReset,
    /// In own states, over known transitions or by a reset.
    Own,
    /// In the nearest state of all; the search travels from owner to owner.
    Everywhere {
        /// A search from the same state resumes where the last one stopped.
        remembers: bool,
    },
    /// In the nearest state of all that this controller knows; it asks that state's owner.
    Known,
}

/// How controllers learn of states that they do not own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// From the reports that reach them.
    Visitors,
    /// Also from every report that they forward.
    Passing,
    /// From searches, which carry the list of exhausted states that they met.
    Searches,
    /// From every message of another controller: exhausted states are piggybacked.
    Everything,
    /// At once, by broadcast.
    Broadcast,
}

/// Every scheme, in the order in which tables and help list them. The sections are the thesis'.
pub const ALL: &[Scheme] = &[
    // Section 3.5.1. For comparison: each event costs a message to every other controller.
    Scheme {
        name: "global",
        summary: "every controller learns everything at once (for comparison)",
        looks: Looks::Known,
        hears: Hears::Broadcast,
        direct: false,
    },
    // Section 3.5.2.
    Scheme {
        name: "reset-only",
        summary: "own states only, always by a reset",
        looks: Looks::OwnByReset,
        hears: Hears::Visitors,
        direct: false,
    },
    // Section 3.5.3.
    Scheme {
        name: "local",
        summary: "own states only, by paths known to the owner",
        looks: Looks::Own,
        hears: Hears::Visitors,
        direct: false,
    },
    // Section 3.5.4.
    Scheme {
        name: "shared",
        summary: "own states only, by paths learned from forwarded messages",
        looks: Looks::Own,
        hears: Hears::Passing,
        direct: false,
    },
    // Section 3.5.5: each search begins anew.
    Scheme {
        name: "forward",
        summary: "the nearest state of all, searched from owner to owner",
        looks: Looks::Everywhere { remembers: false },
        hears: Hears::Visitors,
        direct: false,
    },
    // Section 3.5.6.
    Scheme {
        name: "forward-local",
        summary: "as forward, but a search resumes where the last one stopped",
        looks: Looks::Everywhere { remembers: true },
        hears: Hears::Visitors,
        direct: false,
    },
    // Section 3.5.7. Here a search is not carried along: each controller that it visits searches
    // anew over what it has learned, and skips exhausted states.
    Scheme {
        name: "forward-global",
        summary: "the nearest state of all, skipping states that searches found exhausted",
        looks: Looks::Known,
        hears: Hears::Searches,
        direct: false,
    },
    // Not in the thesis: as forward-global, but nearly no message serves the search alone.
    Scheme {
        name: "gossip",
        summary: "the nearest state of all; every message carries the sender's exhausted states",
        looks: Looks::Known,
        hears: Hears::Everything,
        direct: true,
    },
];

/// The name of the scheme that a crawl uses unless it asks for another.
pub const DEFAULT: &str = "forward-global";

/// The scheme with this name.
pub fn find(name: &str) -> Option<&'static Scheme> {
    ALL.iter().find(|scheme| scheme.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_default_exists() {
        let mut names: Vec<_> = ALL.iter().map(|scheme| scheme.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(find(DEFAULT).is_some());
    }
}
