//! The job of a crawler, and the one place that decides between walking and resetting.

use crate::graph::{ResetCosts, Slot};
use crate::id::StateIndex;

/// A path and one candidate: reach a state over known transitions, then execute the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Load an address first: the URL, if the job starts at the initial state, or the address of
    /// the entry at which it starts.
    pub reset: bool,
    /// The known transitions to take, in order.
    pub walk: Vec<Slot>,
    /// The candidate to execute at the end.
    pub candidate: Slot,
}

impl PlannedJob {
    /// The state in which the crawler begins, after the reset if there is one.
    pub fn start(&self) -> StateIndex {
        self.walk.first().unwrap_or(&self.candidate).state
    }
}

/// How a crawler reaches a state, and the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferChoice {
    /// Reset to this state first.
    pub reset_to: Option<StateIndex>,
    /// The cost, in actions.
    pub cost: f64,
}

impl TransferChoice {
    /// The state in which the walk of a crawler begins that stands in `at`.
    pub fn start(self, at: StateIndex) -> StateIndex {
        self.reset_to.unwrap_or(at)
    }

    /// Whether a reset comes first.
    pub fn is_reset(self) -> bool {
        self.reset_to.is_some()
    }
}

/// Chooses the cheapest transfer: a walk from the state of the crawler, or a reset to any state
/// that a load leads to, and a walk from there. `distance` is the length of the walk from a state,
/// `None` where there is no walk. On a tie the crawler walks, which needs no page load; of equal
/// resets it takes the first.
pub fn cheapest_transfer(
    at: Option<StateIndex>,
    resets: ResetCosts<'_>,
    distance: impl Fn(StateIndex) -> Option<u32>,
) -> Option<TransferChoice> {
    let steps = |state| distance(state).map(f64::from);
    let mut best = at.and_then(steps).map(|cost| TransferChoice { reset_to: None, cost });
    for (state, reset_cost) in resets.iter() {
        // A distant entry costs its load alone, so most need no look at the distance.
        if best.is_none_or(|best| reset_cost < best.cost)
            && let Some(steps) = steps(state)
            && best.is_none_or(|best| reset_cost + steps < best.cost)
        {
            best = Some(TransferChoice { reset_to: Some(state), cost: reset_cost + steps });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{TransferChoice, cheapest_transfer};
    use crate::graph::{Entry, ResetCosts};
    use crate::id::StateIndex;

    /// The choice in state 1, from the lengths of the walks from the initial state, from there, and
    /// from an entry.
    fn choose(walks: [Option<u32>; 3], entry_cost: f64) -> Option<(Option<u32>, f64)> {
        let entries = [Entry { state: StateIndex(2), cost: entry_cost }];
        let resets = ResetCosts { initial: 3.0, entries: &entries };
        let distance = |state: StateIndex| walks[state.at()];
        let choice = cheapest_transfer(Some(StateIndex(1)), resets, distance);
        choice.map(|TransferChoice { reset_to, cost }| (reset_to.map(|state| state.0), cost))
    }

    #[test]
    fn a_walk_wins_a_tie() {
        assert_eq!(choose([Some(2), Some(5), None], 3.0), Some((None, 5.0)));
        assert_eq!(choose([Some(2), Some(6), None], 3.0), Some((Some(0), 5.0)));
        assert_eq!(choose([Some(9), None, None], 3.0), Some((Some(0), 12.0)));
        assert_eq!(choose([None, Some(7), None], 3.0), Some((None, 7.0)));
        assert_eq!(choose([None, None, None], 3.0), None);
    }

    /// The thesis' two criteria (section 3.4.4): an address is left when nothing is left to do
    /// there, or when a reset to another address is cheaper than the walk.
    #[test]
    fn an_address_is_left_when_nothing_is_left_there_or_a_reset_to_another_is_cheaper() {
        // Nothing is left at the present address.
        assert_eq!(choose([None, None, Some(0)], 50.0), Some((Some(2), 50.0)));
        // Something is left, but further away than a load and the walk after it.
        assert_eq!(choose([None, Some(7), Some(1)], 4.0), Some((Some(2), 5.0)));
        assert_eq!(choose([None, Some(7), Some(1)], 6.0), Some((None, 7.0)));
        // Each load counts with its own cost.
        assert_eq!(choose([Some(1), None, Some(1)], 2.0), Some((Some(2), 3.0)));
        assert_eq!(choose([Some(1), None, Some(1)], 4.0), Some((Some(0), 4.0)));
    }
}
