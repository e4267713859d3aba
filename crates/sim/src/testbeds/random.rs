//! Random applications: they have no structure, the worst case for a strategy that predicts.

use argiope_explore::chance::Chance;
use argiope_explore::model::Model;

use super::TestbedFamily;

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "random:STATES:ACTIONS[:SEED]",
    examples: &["random:100:5"],
    summary: "a random application: each state offers ACTIONS actions with random targets",
    help: "Generated. Each state draws its actions from a pool of twice as many, and their targets \
           from all states. Every state is reachable. The name of an action says nothing about its \
           target, the worst case for a strategy that predicts. SEED defaults to 0. A reset costs 3 \
           actions.",
};

/// The largest number of states.
pub const MAX_STATES: u32 = 1_000_000;
/// The largest number of actions per state.
pub const MAX_ACTIONS: u32 = 1_000;
/// The largest number of transitions: a name on the command line must not fill the memory.
pub const MAX_TRANSITIONS: u64 = 50_000_000;

/// An application each state of which offers `actions` actions out of a pool of twice as many, with
/// random targets. An action of an earlier state leads to each later state, so all are reachable.
///
/// # Panics
/// If there are no states, or several states but no actions.
pub fn random(states: u32, actions: u32, seed: u64) -> Model {
    assert!(
        states > 0 && (actions > 0 || states == 1),
        "{states} states with {actions} actions each are not reachable"
    );
    let pool = 2 * actions;
    let names = (0..pool).map(|i| format!("a{i}")).collect();
    // `find` gives the same application for this name.
    let name = match seed {
        0 => format!("random:{states}:{actions}"),
        seed => format!("random:{states}:{actions}:{seed}"),
    };
    let mut model = Model::new(name, 3.0, names);
    let mut chance = Chance::new(&[0x7A2D, u64::from(states), u64::from(actions), seed]);
    let tree = tree(states, actions, &mut chance);
    let mut next = 0;
    let mut offered: Vec<u32> = (0..pool).collect();
    for state in 0..states {
        // The first steps of a shuffle draw the state's actions from the pool.
        for at in 0..actions as usize {
            let other = at + chance.below(pool as usize - at);
            offered.swap(at, other);
        }
        model.push_state(offered[..actions as usize].iter().map(|&action| {
            if let Some(&(parent, child)) = tree.get(next)
                && parent == state
            {
                next += 1;
                return (action, child);
            }
            (action, chance.below(states as usize) as u32)
        }));
    }
    model
}

/// A random tree over the states in which no state has more children than actions. Gives pairs of
/// parent and child in the order of the parents.
fn tree(states: u32, actions: u32, chance: &mut Chance) -> Vec<(u32, u32)> {
    let mut children = vec![0u32; states as usize];
    let mut with_room = vec![0u32];
    let mut tree = Vec::new();
    for child in 1..states {
        let at = chance.below(with_room.len());
        let parent = with_room[at];
        children[parent as usize] += 1;
        if children[parent as usize] == actions {
            with_room.swap_remove(at);
        }
        with_room.push(child);
        tree.push((parent, child));
    }
    tree.sort_unstable();
    tree
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::random;

    #[test]
    fn every_state_is_reachable_and_offers_the_given_number_of_actions() {
        for (states, actions) in [(1, 0), (1, 3), (2, 1), (50, 1), (300, 5)] {
            for seed in 0..5 {
                let model = random(states, actions, seed);
                assert_eq!(model.states(), states as usize);
                assert!(model.unreachable().is_empty(), "{states} {actions} {seed}");
                for state in 0..states {
                    let offered: BTreeSet<u32> =
                        model.transitions_from(state).iter().map(|&(action, _)| action).collect();
                    assert_eq!(offered.len(), actions as usize);
                }
            }
        }
    }

    #[test]
    fn the_seed_decides_everything() {
        assert_eq!(random(50, 4, 1), random(50, 4, 1));
        assert_ne!(random(50, 4, 1), random(50, 4, 2));
    }
}
