//! What must hold of a simulated ring, one file each: after every step, or at the end.

pub mod early_end;
pub mod leases;
pub mod model;
pub mod no_loss;
pub mod one_owner;
pub mod ring;

use super::Cluster;

/// What is wrong now, if anything. `about_the_ring`: the step may have changed the ring.
pub fn always(cluster: &Cluster<'_>, about_the_ring: bool) -> Option<String> {
    leases::wrong(cluster).or_else(|| {
        // Members that were only taken for dead may be in two rings, and own what others own, until they are back.
        if !about_the_ring || cluster.was_deceived() {
            return None;
        }
        let owned_twice = || if cluster.was_hurried() { None } else { one_owner::wrong(cluster) };
        ring::wrong(cluster).or_else(owned_twice)
    })
}

/// What is wrong once the crawl is over.
pub fn in_the_end(cluster: &Cluster<'_>) -> Option<String> {
    cluster
        .wrong()
        .map(str::to_owned)
        .or_else(|| early_end::wrong(cluster))
        .or_else(|| model::wrong(cluster))
}
