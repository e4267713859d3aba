//! Breadth-first: finishes the oldest state first.

use crate::strategies::in_order::{FirstState, InOrder};
use crate::strategy::NamedStrategy;

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "breadth-first",
    summary: "finish the oldest state first",
    help: "Executes every action of the oldest state before it starts the next one, and reaches states \
           by the shortest known transfer (the papers' optimised breadth-first). This is the classic \
           baseline. It returns to the same state after every action, which costs many transfers and \
           resets.",
    make: |settings| Box::new(InOrder::new(FirstState::Oldest, settings)),
};
