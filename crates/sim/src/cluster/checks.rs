//! The checks of a simulated ring, one property per file. Some hold after every step, some at the
//! end. Each check returns the first violation it finds.

pub mod after_end;
pub mod counts;
pub mod early_end;
pub mod joined;
pub mod kept;
pub mod leases;
pub mod model;
pub mod no_loss;
pub mod one_owner;
pub mod ring;

use super::Cluster;

/// Checks what holds after every step.
pub fn check_step(cluster: &Cluster<'_>, may_have_changed_ring: bool) -> Option<String> {
    leases::check(cluster).or_else(|| joined::check(cluster)).or_else(|| {
        // A member that was wrongly taken for dead may form a second ring, and own ranges that
        // others own, until it is back.
        if !may_have_changed_ring || cluster.had_false_suspicions() {
            return None;
        }
        let owned_twice =
            || if cluster.had_unsettled_handover() { None } else { one_owner::check(cluster) };
        ring::check(cluster).or_else(owned_twice)
    })
}

/// Checks what holds once the crawl is over.
pub fn check_end(cluster: &Cluster<'_>) -> Option<String> {
    cluster
        .violation()
        .map(str::to_owned)
        .or_else(|| early_end::check(cluster))
        .or_else(|| after_end::check(cluster))
        .or_else(|| counts::check(cluster))
        .or_else(|| kept::check(cluster))
        .or_else(|| model::check(cluster))
}
