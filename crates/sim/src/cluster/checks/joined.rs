//! A controller that is up and connected enters the ring within a few rounds.

use crate::cluster::Cluster;

/// A controller may take this number of rounds: those that it asks may fail meanwhile.
const ROUNDS: u64 = 5;

/// Looks for a controller that stays outside.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let longest = ROUNDS * cluster.env.scenario.timeouts.round;
    let mut outside = cluster.nodes.iter().filter(|node| node.is_up && node.lifecycle.is_outside());
    let late = outside.find(|node| cluster.env.now() > node.started + longest)?;
    Some(format!("{:?} is outside the ring {longest} us after it started", late.key))
}
