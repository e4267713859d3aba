//! The ring's own invariant (see `argiope_ring::invariant`).

use argiope_ring::invariant::{Members, violation};

use crate::cluster::Cluster;

/// What is wrong now.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let inside = cluster.peers().filter(|peer| peer.member().is_inside());
    let members: Members<'_> = inside.map(|peer| (peer.key(), peer.member())).collect();
    // A ring of lists of this length rests on one member more that does not fail, and cannot hold with fewer; see the
    // ring's own tests.
    let length = cluster.env.scenario.peer_settings().successors;
    let founders =
        cluster.nodes[..cluster.env.scenario.controllers].iter().filter(|node| node.is_up).count();
    if founders.min(members.len() - 1) <= length { None } else { violation(&members, length) }
}
