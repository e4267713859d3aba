//! The comparison of all strategies on all test-beds. `report` writes it; the command has the
//! threads.

use argiope_explore::bound::Bound;

use argiope_sim::crawl::Run;
use argiope_sim::summary::{StrategySummary, by_strategy};
use argiope_sim::tour::AllStates;

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

/// The measurements on one test-bed.
#[derive(Clone, Debug)]
pub struct TestbedMeasurement {
    /// The name of the test-bed.
    pub testbed: String,
    /// States of the application.
    pub states: usize,
    /// Transitions of the application.
    pub transitions: usize,
    /// The cost of a reset, in actions.
    pub reset_cost: f64,
    /// The lower bound of a complete crawl.
    pub bound: Bound,
    /// The best tour known over all states.
    pub tour: AllStates,
    /// The runs, grouped by strategy, in the order of seeds.
    pub runs: Vec<Run>,
}

impl TestbedMeasurement {
    /// One summary for each strategy.
    pub fn summaries(&self) -> Vec<StrategySummary> {
        by_strategy(&self.runs, self.reset_cost, &self.bound)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use argiope_sim::crawl::Spent;

    const BOUND: Bound = Bound { actions: 7, resets: 1, cost: 10.0 };

    /// A made-up run in which everything follows from two numbers of actions, with one reset.
    fn run(strategy: &'static str, seed: u64, all_states: u64, complete: u64) -> Run {
        let cost = |quarter: u64| 3.0 + (all_states * quarter / 4) as f64;
        let spent = |actions| Spent { actions, resets: 1 };
        Run {
            strategy,
            seed,
            states: 5,
            transitions: 8,
            all_states: spent(all_states),
            complete: spent(complete),
            quartiles: [cost(1), cost(2), cost(3), cost(4)],
        }
    }

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
