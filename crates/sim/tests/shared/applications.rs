//! Arbitrary applications for property tests.

use argiope_explore::model::Model;
use proptest::prelude::{any, prop};
use proptest::strategy::Strategy as Generator;

/// An application with fewer than `most` states. Every state is reachable; targets are arbitrary.
pub fn any_application(most: usize) -> impl Generator<Value = Model> {
    let states =
        prop::collection::vec(prop::collection::btree_map(0u32..8, any::<u32>(), 0..6), 1..most);
    (states, 1u32..12).prop_map(|(states, half_reset_cost)| {
        let count = states.len() as u32;
        let actions = (0..9).map(|action| format!("a{action}")).collect();
        let mut model = Model::new("any", f64::from(half_reset_cost) / 2.0, actions);
        for (state, transitions) in (0..).zip(states) {
            let next = (state + 1 < count).then_some((8, state + 1));
            model.push_state(
                transitions.into_iter().map(|(action, to)| (action, to % count)).chain(next),
            );
        }
        model
    })
}
