//! The hypercube: the application on which the hypercube strategy is provably optimal.

use argiope_explore::model::Model;

use super::TestbedFamily;

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "hypercube:N",
    examples: &["hypercube:10"],
    summary: "a hypercube of dimension N (1 to 20): each action once, in any order",
    help: "Fully known. There are 2^N states. A state is the set of actions already executed, and \
           offers the other actions. Dimension 10 is the published Hypercube10D. A reset costs 3 \
           actions, as published.",
};

/// The largest dimension: a million states, ten million transitions.
pub const MAX_DIMENSION: u32 = 20;

/// The hypercube of dimension `n`: each action can be executed once, in any order.
///
/// # Panics
/// If `n` is 0 or above [`MAX_DIMENSION`].
pub fn hypercube(n: u32) -> Model {
    assert!((1..=MAX_DIMENSION).contains(&n), "dimension {n} is not between 1 and {MAX_DIMENSION}");
    let names = (0..n).map(|i| format!("e{i}")).collect();
    let mut model = Model::new(format!("hypercube:{n}"), 3.0, names);
    for state in 0..1u32 << n {
        let open = (0..n).filter(|i| state & 1 << i == 0);
        model.push_state(open.map(|i| (i, state | 1 << i)));
    }
    model
}

#[cfg(test)]
mod tests {
    use super::hypercube;

    #[test]
    fn dimension_ten_has_the_published_size() {
        let model = hypercube(10);
        assert_eq!((model.states(), model.transitions()), (1_024, 5_120));
        assert!(model.unreachable().is_empty());
    }
}
