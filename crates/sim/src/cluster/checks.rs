//! What must hold of a simulated ring: after every step, and at the end.

use super::Cluster;

/// What is wrong now, if anything.
pub fn always(cluster: &Cluster<'_>) -> Option<String> {
    cluster.peers().find_map(argiope_controller::peer::Peer::leaked)
}

/// What is wrong with what was found, once the crawl is over.
pub fn model(cluster: &Cluster<'_>) -> Option<String> {
    let world = cluster.world;
    let mut found = vec![None; world.states()];
    for peer in cluster.finishers() {
        for (key, state) in peer.atlas().own() {
            let Some(record) = peer.atlas().record(state) else {
                return Some(format!("{key:?} is awaited by {:?}", peer.key()));
            };
            let number = world.state(key) as usize;
            let leads: std::collections::BTreeSet<(u32, u32)> = record
                .executed
                .iter()
                .map(|&(action, to)| (world.action(action), world.state(to)))
                .collect();
            found[number].get_or_insert_with(std::collections::BTreeSet::new).extend(leads);
        }
    }
    for state in 0..world.states() as u32 {
        let expected: std::collections::BTreeSet<(u32, u32)> = world.from(state).iter().copied().collect();
        match &found[state as usize] {
            None => return Some(format!("state {state} is lost")),
            Some(leads) if *leads != expected => {
                let missing = expected.difference(leads).count();
                return Some(format!("{missing} transitions of state {state} are lost"));
            }
            Some(_) => {}
        }
    }
    None
}
