//! A reserved action is leased to a crawler, or its result is about to be kept: no reservation
//! leaks.

use argiope_controller::peer::Peer;

use crate::cluster::Cluster;

/// Looks for a reservation without a lease.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    cluster.peers().find_map(Peer::leaked)
}
