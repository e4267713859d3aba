//! A crawl does not end before every transition was executed.

use crate::cluster::Cluster;

/// What is wrong at the end.
pub fn wrong(cluster: &Cluster<'_>) -> Option<String> {
    let left = cluster.transitions - cluster.executed.len();
    (left > 0).then(|| format!("it ended with {left} transitions to execute"))
}
