//! Applications that are known in full, made by rule and seed.

use argiope_explore::model::Model;

/// The hypercube of dimension `n`: each action can be executed once, in any order.
pub fn hypercube(n: u32) -> Model {
    let mut model = Model::new(
        format!("hypercube:{n}"),
        3.0,
        (0..n).map(|i| format!("e{i}")).collect(),
    );
    for state in 0..1u32 << n {
        model.push_state(
            (0..n)
                .filter(|i| state & 1 << i == 0)
                .map(|i| (i, state | 1 << i)),
        );
    }
    model
}
