//! The built-in strategies, one file each. The crate documentation says how to add one.

use crate::strategy::NamedStrategy;

pub mod adaptive;
pub mod breadth_first;
pub mod depth_first;
pub mod greedy;
pub mod hypercube;
mod in_order;
pub mod menu;
pub mod probability;
pub mod random_breadth_first;
pub mod random_walk;

/// Every strategy, in the order of tables and help.
pub const ALL: &[NamedStrategy] = &[
    breadth_first::STRATEGY,
    depth_first::STRATEGY,
    random_breadth_first::STRATEGY,
    random_walk::STRATEGY,
    greedy::STRATEGY,
    hypercube::STRATEGY,
    menu::STRATEGY,
    probability::STRATEGY,
    adaptive::STRATEGY,
];

/// The name of the default strategy.
pub const DEFAULT: &str = adaptive::STRATEGY.name;

/// The names of the strategies that work on a partial graph, where each controller knows only its
/// own states. The first is the default there.
pub const FOR_PARTIAL_GRAPHS: &[&str] =
    &[greedy::STRATEGY.name, menu::STRATEGY.name, probability::STRATEGY.name];

/// Finds a strategy by its name.
pub fn find(name: &str) -> Option<&'static NamedStrategy> {
    ALL.iter().find(|strategy| strategy.name == name)
}

/// Finds a strategy that works on a partial graph. The error names the strategies that do.
pub fn find_for_partial_graphs(name: &str) -> Result<&'static NamedStrategy, String> {
    let known = FOR_PARTIAL_GRAPHS.contains(&name).then(|| find(name)).flatten();
    known.ok_or_else(|| {
        let allowed = FOR_PARTIAL_GRAPHS.join(", ");
        format!(
            "strategy {name:?} needs the whole graph, but each controller knows only its own states; \
             choose one of {allowed}"
        )
    })
}
