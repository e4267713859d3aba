//! The model that the ring holds at the end equals the application.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Cluster;

/// Compares the model at the end with the application.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let world = cluster.env.world;
    let mut found: BTreeMap<u32, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for peer in cluster.finishers() {
        // Replicas count too, and states that a peer owned until just now: an export asks all
        // peers.
        for (key, state) in peer.known().graph().all() {
            // An incomplete entry: this peer suspected the owner wrongly and waits for the state.
            // The owner is among the finishers too, and its entry counts.
            if !peer.known().graph().is_full(key) {
                continue;
            }
            let leads = peer.known().graph().leads(state);
            let leads = leads.map(|(action, to)| (world.action(action), world.state(to)));
            found.entry(world.state(key)).or_default().extend(leads);
        }
    }
    world.difference(&found)
}
