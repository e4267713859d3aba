//! How much longer a crawl takes when controllers fail, or when it is made ready for that: measured, and
//! as chapter 6 of the thesis computes it.

use super::Measured;

/// A point of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// Its line: the recovery, by name.
    pub series: &'static str,
    /// Where on the axis.
    pub at: f64,
    /// Controllers that failed, on average.
    pub failures: f64,
    /// Which part of the transitions was executed again, on average.
    pub again: f64,
    /// How much longer it took than without failures and copies, as a part of that.
    pub measured: f64,
    /// What the thesis computes.
    pub computed: f64,
}

impl Overhead {
    /// Of several crawls against one without failures and copies.
    pub fn new(series: &'static str, at: f64, computed: f64, runs: &[Measured], calm: &Measured) -> Self {
        let mean = |of: &dyn Fn(&Measured) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        Self {
            series,
            at,
            failures: mean(&|run| run.counts.failures as f64),
            again: mean(&|run| run.counts.reexecuted as f64 / run.transitions as f64),
            measured: mean(&|run| calm.speed_up(run)) - 1.0,
            computed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::tests::measured;

    #[test]
    fn a_crawl_has_no_overhead_over_itself() {
        let run = measured(2);
        let overhead = Overhead::new("retry", 0.0, 0.0, &[run.clone(), run.clone()], &run);
        assert_eq!((overhead.measured, overhead.failures, overhead.again), (0.0, 0.0, 0.0));
    }
}
