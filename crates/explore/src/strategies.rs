//! The strategies, one file each.

use crate::strategy::NamedStrategy;

pub mod adaptive;
pub mod breadth_first;
pub mod depth_first;
pub mod greedy;
pub mod hypercube;
pub mod menu;
pub mod probability;
pub mod random_breadth_first;

/// Every strategy, in the order in which tables and help list them.
pub const ALL: &[NamedStrategy] = &[
    breadth_first::STRATEGY,
    depth_first::STRATEGY,
    random_breadth_first::STRATEGY,
    greedy::STRATEGY,
    hypercube::STRATEGY,
    menu::STRATEGY,
    probability::STRATEGY,
    adaptive::STRATEGY,
];

/// The name of the strategy that is used when none is asked for.
pub const DEFAULT: &str = adaptive::STRATEGY.name;

/// The names of those that work where only a part of the application is known; the first is used when none is asked for.
pub const FOR_PARTIAL_GRAPHS: &[&str] =
    &[greedy::STRATEGY.name, menu::STRATEGY.name, probability::STRATEGY.name];

/// The strategy with this name.
pub fn find(name: &str) -> Option<&'static NamedStrategy> {
    ALL.iter().find(|described| described.name == name)
}

/// The strategy with this name, if it works where only a part of the application is known; a sentence if not.
pub fn find_for_partial_graphs(name: &str) -> Result<&'static NamedStrategy, String> {
    let known = FOR_PARTIAL_GRAPHS.contains(&name).then(|| find(name)).flatten();
    known.ok_or_else(|| {
        let parts = FOR_PARTIAL_GRAPHS.join(", ");
        format!("strategy {name:?}: with controllers that know a part of the application it must be one of {parts}")
    })
}
