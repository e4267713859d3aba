//! The counts that a ring declares at the end are those of the application.

use crate::cluster::Cluster;

/// Compares the declared counts with the application. Plain links are executed in one state only,
/// so with them fewer transitions are counted.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let (world, counts) = (cluster.env.world, cluster.final_counts);
    let (states, transitions) = (world.states() as u64, world.transitions() as u64);
    let is_exact = counts.states == states
        && (counts.transitions == transitions
            || (world.has_links() && counts.transitions < transitions));
    (!is_exact).then(|| {
        format!("it declares {counts:?}, and there are {states} states, {transitions} transitions")
    })
}
