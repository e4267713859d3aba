//! Arbitrary applications for property tests.

use std::collections::BTreeSet;

use argiope_explore::model::Model;
use proptest::prelude::{any, prop};
use proptest::strategy::Strategy as Generator;

/// An application with fewer than `most` states. Every state is reachable; targets are
/// arbitrary, and loads of further addresses lead to up to three states.
pub fn any_application(most: usize) -> impl Generator<Value = Model> {
    let states =
        prop::collection::vec(prop::collection::btree_map(0u32..8, any::<u32>(), 0..6), 1..most);
    let entries = prop::collection::btree_set(any::<u32>(), 0..4);
    (states, 1u32..12, entries).prop_map(|(states, half_reset_cost, entries)| {
        let count = states.len() as u32;
        let actions = (0..9).map(|action| format!("a{action}")).collect();
        let mut model = Model::new("any", f64::from(half_reset_cost) / 2.0, actions);
        let entries: BTreeSet<u32> = entries.into_iter().map(|entry| entry % count).collect();
        model.entries = entries.into_iter().filter(|&entry| entry != 0).collect();
        for (state, transitions) in (0..).zip(states) {
            let next = (state + 1 < count).then_some((8, state + 1));
            model.push_state(
                transitions.into_iter().map(|(action, to)| (action, to % count)).chain(next),
            );
        }
        model
    })
}
