//! The model that the ring holds in the end is the application.

use std::collections::BTreeSet;

use crate::cluster::Cluster;

/// What is wrong with what was found.
pub fn check(cluster: &Cluster<'_>) -> Option<String> {
    let world = cluster.env.world;
    let mut found: Vec<Option<BTreeSet<(u32, u32)>>> = vec![None; world.states()];
    for peer in cluster.finishers() {
        // Also what was own until just now counts, and copies: whoever wants the model gets all of it.
        for (key, state) in peer.known().graph().all() {
            // One that awaits a state may have taken its owner for dead just now: what the owner knows counts.
            if !peer.known().graph().is_full(key) {
                continue;
            }
            let leads = peer.known().graph().leads(state);
            let leads = leads.map(|(action, to)| (world.action(action), world.state(to)));
            found[world.state(key) as usize].get_or_insert_default().extend(leads);
        }
    }
    let followed: BTreeSet<u32> =
        found.iter().flatten().flatten().map(|&(action, _)| action).collect();
    for (state, found) in (0..).zip(found) {
        let expected: BTreeSet<(u32, u32)> = world.from(state).iter().copied().collect();
        // A plain link that was followed from another state is not followed again.
        let elsewhere =
            |&(action, _): &(u32, u32)| world.is_link(action) && followed.contains(&action);
        match found {
            None => return Some(format!("state {state} is lost")),
            Some(leads)
                if !leads.is_subset(&expected) || !expected.difference(&leads).all(elsewhere) =>
            {
                let missing = expected.difference(&leads).filter(|lead| !elsewhere(lead)).count();
                return Some(format!("{missing} transitions of state {state} are lost"));
            }
            Some(_) => {}
        }
    }
    None
}
