//! The invariant of the ring itself (`argiope_ring::invariant`).

use argiope_ring::invariant::{Members, violation};

use crate::cluster::Cluster;

/// Checks the invariant, where it is promised.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let inside = cluster.peers().filter(|peer| peer.member().is_inside());
    let members: Members<'_> = inside.map(|peer| (peer.key(), peer.member())).collect();
    // The invariant is promised only while more founders are up than a successor list is long. The
    // tests of the ring show that it cannot hold with fewer.
    let length = cluster.env.scenario.peer_settings().successors;
    let founders =
        cluster.nodes[..cluster.env.scenario.controllers].iter().filter(|node| node.is_up).count();
    if founders.min(members.len().saturating_sub(1)) <= length {
        None
    } else {
        violation(&members, length)
    }
}
