//! What is set aside for a crawler is leased to one, or about to be kept: nothing is set aside for good.

use argiope_controller::peer::Peer;

use crate::cluster::Cluster;

/// What is wrong now.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    cluster.peers().find_map(Peer::leaked)
}
