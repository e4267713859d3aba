//! At the end, disks hold every state and transition that the controllers count: the result is read
//! from there.

use std::collections::BTreeSet;

use argiope_controller::journal::Fact;
use argiope_explore::id::{ActionSignature, StateKey};

use crate::cluster::Cluster;

/// Looks for a state or a transition that is on no disk of a controller that is up.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    if !cluster.env.scenario.has_disks() {
        return None;
    }
    let up = cluster.nodes.iter().filter(|node| node.is_up);
    let written = up.flat_map(|node| node.disk.iter().chain(&node.unsynced));
    let written: BTreeSet<(StateKey, Option<ActionSignature>)> = written
        .filter_map(|fact| match fact {
            Fact::State { key, .. } => Some((*key, None)),
            Fact::Transition { from, action, .. } => Some((*from, Some(*action))),
            _ => None,
        })
        .collect();
    cluster.finishers().into_iter().find_map(|peer| {
        let states = peer.known().ownership().own().map(|(key, _)| (key, None));
        let steps = peer.known().executed_own().map(|(state, action)| (state, Some(action)));
        let lost = states.chain(steps).find(|counted| !written.contains(counted));
        lost.map(|(state, action)| format!("no disk has {state:?} {action:?}"))
    })
}
