//! Depth-first: finishes the newest state first.

use crate::strategies::in_order::{FirstState, InOrder};
use crate::strategy::NamedStrategy;

/// The entry in the list of strategies.
pub const STRATEGY: NamedStrategy = NamedStrategy {
    name: "depth-first",
    summary: "finish the newest state first",
    help: "Executes every action of the newest state before it returns to an older one, and reaches \
           states by the shortest known transfer (the papers' optimised depth-first). It needs few \
           resets but very long walks. In most applications it is the most expensive strategy.",
    make: |settings| Box::new(InOrder::new(FirstState::Newest, settings)),
};
