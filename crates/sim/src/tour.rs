//! The best tour known that sees every state, had the model been known from the start: what the
//! all-states figures are measured against.

use argiope_explore::model::Model;

/// A tour over all states, and a bound that no tour can beat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllStates {
    /// No tour costs less.
    pub lower: f64,
    /// What the tour costs, in actions.
    pub cost: f64,
    /// Actions of the tour.
    pub actions: u64,
    /// Resets of the tour, the first load included.
    pub resets: u64,
}

/// The best tour found. Stands in until a search is there: it claims one action per new state.
pub fn all_states(model: &Model, reset_cost: f64) -> AllStates {
    let actions = model.states().saturating_sub(1) as u64;
    let cost = actions as f64 + reset_cost;
    AllStates {
        lower: cost,
        cost,
        actions,
        resets: 1,
    }
}
