//! The strategies, one file each.

use crate::strategy::Described;

pub mod greedy;

/// Every strategy, in the order in which tables and help list them.
pub const ALL: &[Described] = &[greedy::DESCRIBED];

/// The strategy that is used when none is named.
pub const DEFAULT: &str = greedy::DESCRIBED.name;

/// The strategy with this name.
pub fn find(name: &str) -> Option<&'static Described> {
    ALL.iter().find(|described| described.name == name)
}
