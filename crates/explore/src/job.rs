//! What a crawler is asked to do, and the one place that decides between walking and resetting.

use crate::graph::Slot;

/// A path and one candidate: get to a state over known transitions, then execute the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Load the URL first; the walk then starts at the initial state instead of the present one.
    pub reset: bool,
    /// The known transitions to take, in order.
    pub walk: Vec<Slot>,
    /// The action to execute at the end, for the first time.
    pub candidate: Slot,
}

/// Whether a reset followed by a walk is cheaper than a walk from here. On a tie the crawler walks:
/// a walk needs no page load. `None` stands for a place that cannot be reached that way.
pub fn reset_is_cheaper(walk_here: Option<u32>, walk_after_reset: Option<u32>, reset_cost: f64) -> bool {
    match (walk_here, walk_after_reset) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(here), Some(after)) => reset_cost + f64::from(after) < f64::from(here),
    }
}

#[cfg(test)]
mod tests {
    use super::reset_is_cheaper;

    #[test]
    fn ties_go_to_the_walk() {
        assert!(!reset_is_cheaper(Some(5), Some(2), 3.0));
        assert!(reset_is_cheaper(Some(6), Some(2), 3.0));
        assert!(reset_is_cheaper(None, Some(9), 3.0));
        assert!(!reset_is_cheaper(None, None, 3.0));
    }
}
