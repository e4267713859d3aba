//! No key of the ring belongs to two controllers.

use argiope_ring::Key;

use crate::cluster::Cluster;

/// Looks for ranges that overlap.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let mut ranges: Vec<(Key, Key)> =
        cluster.peers().filter_map(|peer| Some((peer.key(), peer.range_start()?))).collect();
    ranges.sort();
    // In the order of the ring, a range begins at the end of its predecessor's range, or after it.
    for (at, &(key, after)) in ranges.iter().enumerate() {
        let (before, _) = ranges[(at + ranges.len() - 1) % ranges.len()];
        if before != key && before.is_between(after, key) {
            return Some(format!("{before:?} and {key:?} own the same keys"));
        }
    }
    None
}
