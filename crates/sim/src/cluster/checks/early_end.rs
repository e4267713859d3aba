//! A crawl does not end before every transition is executed, and each plain link from one state.

use std::collections::BTreeSet;

use crate::cluster::Cluster;
use crate::crawl::{key_of, signature_of};

/// Counts the transitions that are left at the end.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let world = cluster.env.world;
    let followed: BTreeSet<_> = cluster.env.executed.iter().map(|&(_, action)| action).collect();
    let is_done = |state: u32, action: u32| {
        let signature = signature_of(action);
        cluster.env.executed.contains(&(key_of(state), signature))
            || (world.is_link(action) && followed.contains(&signature))
    };
    let left = |state: u32| {
        world.from(state).iter().filter(|&&(action, _)| !is_done(state, action)).count()
    };
    let left: usize = (0..world.states() as u32).map(left).sum();
    (left > 0).then(|| format!("the crawl ended with {left} transitions to execute"))
}
