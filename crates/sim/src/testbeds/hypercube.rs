//! The hypercube: the application on which the hypercube strategy is provably optimal.

use argiope_explore::model::Model;

use super::TestbedFamily;

/// How people choose it.
pub(super) const DESCRIBED: TestbedFamily = TestbedFamily {
    name: "hypercube:N",
    examples: &["hypercube:10"],
    summary: "the hypercube of dimension N (1 to 20): each action once, in any order",
    help: "Fully known. 2^N states; every state is a set of actions already done, and offers the \
           others. Dimension 10 is the published Hypercube10D. A reset costs 3 actions, as published.",
};

/// The largest dimension: a million states, ten million transitions.
pub const MOST: u32 = 20;

/// The hypercube of dimension `n`: each action can be executed once, in any order.
///
/// # Panics
/// If `n` is 0 or above [`MOST`].
pub fn hypercube(n: u32) -> Model {
    assert!((1..=MOST).contains(&n), "no hypercube of dimension {n}");
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
