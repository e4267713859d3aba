//! What a crawler is asked to do, and the one place that decides between walking and resetting.

use crate::graph::Slot;

/// A path and one candidate: get to a state over known transitions, then execute the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Load the URL first; the walk then starts at the initial state instead of the present one.
    pub reset: bool,
    /// The known transitions to take, in order.
    pub walk: Vec<Slot>,
    /// The action to execute at the end, for the first time.
    pub candidate: Slot,
}

/// How to get somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferChoice {
    /// Load the URL first.
    pub reset: bool,
    /// What it costs, in actions.
    pub cost: f64,
}

/// The cheaper of a walk from here and a reset followed by a walk from the initial state, given how
/// long the walks are; `None` stands for one that is not possible. On a tie the crawler walks: that
/// needs no page load.
pub fn cheaper_transfer(
    here: Option<u32>,
    after_reset: Option<u32>,
    reset_cost: f64,
) -> Option<TransferChoice> {
    let walk = here.map(|steps| TransferChoice { reset: false, cost: f64::from(steps) });
    let reset = after_reset
        .map(|steps| TransferChoice { reset: true, cost: reset_cost + f64::from(steps) });
    match (walk, reset) {
        (Some(walk), Some(reset)) => Some(if reset.cost < walk.cost { reset } else { walk }),
        (walk, reset) => walk.or(reset),
    }
}

#[cfg(test)]
mod tests {
    use super::{TransferChoice, cheaper_transfer};

    #[test]
    fn ties_go_to_the_walk() {
        let walk = |cost| Some(TransferChoice { reset: false, cost });
        let reset = |cost| Some(TransferChoice { reset: true, cost });
        assert_eq!(cheaper_transfer(Some(5), Some(2), 3.0), walk(5.0));
        assert_eq!(cheaper_transfer(Some(6), Some(2), 3.0), reset(5.0));
        assert_eq!(cheaper_transfer(None, Some(9), 3.0), reset(12.0));
        assert_eq!(cheaper_transfer(Some(7), None, 3.0), walk(7.0));
        assert_eq!(cheaper_transfer(None, None, 3.0), None);
    }
}
