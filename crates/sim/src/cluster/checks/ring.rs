//! The ring's own invariant (see `argiope_ring::invariant`).

use argiope_ring::invariant::{Members, violation};

use crate::cluster::Cluster;

/// What is wrong now.
pub fn wrong(cluster: &Cluster<'_>) -> Option<String> {
    let inside = cluster.peers().filter(|peer| peer.member().is_inside());
    let members: Members<'_> = inside.map(|peer| (peer.key(), peer.member())).collect();
    // With no more members than a list has places the invariant cannot hold in full; see the ring's own tests.
    let length = cluster.scenario.settings().successors;
    if members.len() <= length + 1 { None } else { violation(&members, length) }
}
