//! The figures that the papers printed, to be shown beside ours and marked as theirs.

/// What a paper printed for one strategy on one test-bed; each figure is actions and resets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// When the last state was found.
    pub all_states: Option<(u64, u64)>,
    /// When the last transition was executed.
    pub complete: Option<(u64, u64)>,
}

/// The published figures of a strategy on a test-bed, if there are any.
pub fn published(_testbed: &str, _strategy: &str) -> Option<Published> {
    None
}
