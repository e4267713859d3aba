//! With copies, no state that a recorded transition leads to is ever unknown to everybody.

use std::collections::BTreeSet;

use argiope_explore::id::StateKey;

use crate::cluster::Cluster;

/// What is wrong now. Looks at everything: not for every step.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let mut known: BTreeSet<StateKey> = BTreeSet::new();
    let mut led_to: BTreeSet<StateKey> = BTreeSet::new();
    for peer in cluster.peers().filter(|peer| peer.known().graph().initial().is_some()) {
        known.extend(peer.known().graph().full().map(|(key, _)| key));
        for (_, state) in
            peer.known().ownership().own().filter(|&(key, _)| peer.known().graph().is_full(key))
        {
            led_to.extend(peer.known().graph().leads(state).map(|(_, to)| to));
        }
    }
    led_to.difference(&known).next().map(|key| format!("nobody knows {key:?} any more"))
}
