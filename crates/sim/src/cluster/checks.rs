//! What must hold of a simulated ring, one file each: after every step, or at the end.

pub mod early_end;
pub mod leases;
pub mod model;
pub mod no_loss;
pub mod one_owner;
pub mod ring;

use super::Cluster;

/// What is wrong now, if anything. `about_the_ring`: the step may have changed the ring.
pub fn check_step(cluster: &Cluster<'_>, about_the_ring: bool) -> Option<String> {
    leases::check(cluster).or_else(|| {
        // Members that were only taken for dead may be in two rings, and own what others own, until they are back.
        if !about_the_ring || cluster.had_false_suspicions() {
            return None;
        }
        let owned_twice =
            || if cluster.had_unsettled_handover() { None } else { one_owner::check(cluster) };
        ring::check(cluster).or_else(owned_twice)
    })
}

/// What is wrong once the crawl is over.
pub fn check_end(cluster: &Cluster<'_>) -> Option<String> {
    cluster
        .violation()
        .map(str::to_owned)
        .or_else(|| early_end::check(cluster))
        .or_else(|| model::check(cluster))
}
