//! After the end every controller knows that the crawl is over, also those that return later.

use argiope_controller::lifecycle::Standing;

use crate::cluster::Cluster;

/// Looks for a controller that returned and has not learned of the end.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let ended = cluster.counts().ended_at;
    let mut returned = cluster.nodes.iter().filter(|node| node.is_up && node.started > ended);
    let open = returned.find(|node| node.lifecycle.standing() != Standing::Finished)?;
    Some(format!("{:?} returned and does not know that the crawl is over", open.key))
}
