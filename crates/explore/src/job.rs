//! The job of a crawler, and the one place that decides between walking and resetting.

use crate::graph::Slot;

/// A path and one candidate: reach a state over known transitions, then execute the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Load the URL first. The walk then starts at the initial state.
    pub reset: bool,
    /// The known transitions to take, in order.
    pub walk: Vec<Slot>,
    /// The candidate to execute at the end.
    pub candidate: Slot,
}

/// How a crawler reaches a state, and the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferChoice {
    /// Load the URL first.
    pub reset: bool,
    /// The cost, in actions.
    pub cost: f64,
}

/// Chooses the cheaper of two transfers: a walk from here, or a reset and a walk from the initial
/// state. The arguments are the lengths of the walks, `None` where there is no walk. On a tie the
/// crawler walks, which needs no page load.
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
    fn a_walk_wins_a_tie() {
        let walk = |cost| Some(TransferChoice { reset: false, cost });
        let reset = |cost| Some(TransferChoice { reset: true, cost });
        assert_eq!(cheaper_transfer(Some(5), Some(2), 3.0), walk(5.0));
        assert_eq!(cheaper_transfer(Some(6), Some(2), 3.0), reset(5.0));
        assert_eq!(cheaper_transfer(None, Some(9), 3.0), reset(12.0));
        assert_eq!(cheaper_transfer(Some(7), None, 3.0), walk(7.0));
        assert_eq!(cheaper_transfer(None, None, 3.0), None);
    }
}
