//! The comparison of all strategies on all test-beds: which test-beds there are in it, and what was
//! measured on one. Measuring (threads, progress) is the command's; writing it down is `report`'s.

use argiope_explore::bound::Bound;

use crate::crawl::Run;
use crate::summary::{StrategySummary, by_strategy};
use crate::tour::AllStates;

/// The test-beds of the comparison, in the order of tables and figures.
pub const TESTBEDS: &[&str] = &[
    "hypercube:10",
    "filetree",
    "filetree:httpd",
    "bebop-like",
    "bebop-like:large",
    "elfinder-like",
    "periodic-table-like",
    "clipmarks-like",
    "bank-like",
    "site-like",
    "random:1000:20",
];

/// What was measured on one test-bed.
#[derive(Clone, Debug)]
pub struct TestbedMeasurement {
    /// The name of the test-bed.
    pub testbed: String,
    /// States of the application.
    pub states: usize,
    /// Transitions of the application.
    pub transitions: usize,
    /// What a reset costs, in actions.
    pub reset_cost: f64,
    /// The lower bound of a complete crawl.
    pub bound: Bound,
    /// The best tour known over all states.
    pub tour: AllStates,
    /// Strategy by strategy, seed by seed.
    pub runs: Vec<Run>,
}

impl TestbedMeasurement {
    /// One for each strategy.
    pub fn summaries(&self) -> Vec<StrategySummary> {
        by_strategy(&self.runs, self.reset_cost, &self.bound)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::summary::tests::{BOUND, run};

    /// A made-up measurement of two strategies by two seeds.
    pub(crate) fn measured(testbed: &str) -> TestbedMeasurement {
        TestbedMeasurement {
            testbed: testbed.into(),
            states: 5,
            transitions: 8,
            reset_cost: 3.0,
            bound: BOUND,
            tour: AllStates { lower: 6.0, cost: 7.0, actions: 4, resets: 1 },
            runs: vec![
                run("adaptive", 1, 8, 9),
                run("adaptive", 2, 12, 13),
                run("greedy", 1, 40, 47),
                run("greedy", 2, 20, 27),
            ],
        }
    }

    #[test]
    fn every_strategy_has_one_summary() {
        assert_eq!(measured("a").summaries().len(), 2);
    }
}
