//! The overhead of failures and of replicas: measured, and computed as in chapter 6 of the thesis.

use super::RingMeasurement;

/// A point of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// The name of its line: the failover policy.
    pub series: &'static str,
    /// Its place on the axis.
    pub at: f64,
    /// Mean number of failed controllers.
    pub failures: f64,
    /// Mean share of the transitions that were executed again.
    pub again: f64,
    /// The additional time, relative to the crawl without failures and replicas.
    pub time: f64,
    /// The additional work, counted as in the thesis: the share of crawlers' time spent on repeated
    /// actions, and the share of controllers' time until replicas are acknowledged.
    pub work: f64,
    /// The result of the thesis' formula.
    pub computed: f64,
}

impl Overhead {
    /// Compares crawls with as many crawls without failures and replicas.
    pub fn new(
        series: &'static str,
        at: f64,
        computed: f64,
        runs: &[RingMeasurement],
        calm: &[RingMeasurement],
    ) -> Self {
        let pairs = || runs.iter().zip(calm);
        let mean = |of: &dyn Fn(&RingMeasurement, &RingMeasurement) -> f64| {
            pairs().map(|(run, calm)| of(run, calm)).sum::<f64>() / runs.len() as f64
        };
        Self {
            series,
            at,
            failures: mean(&|run, _| run.counts.failures as f64),
            again: mean(&|run, _| run.counts.reexecuted as f64 / run.transitions as f64),
            time: mean(&|run, calm| calm.speed_up(run)) - 1.0,
            work: mean(&|run, calm| {
                let time = calm.counts.ended_at as f64;
                let again = run.counts.reexecution_time as f64 / (time * run.crawlers as f64);
                again + run.counts.replication_time as f64 / (time * run.controllers as f64)
            }),
            computed,
        }
    }
}

/// The period with the least work, by a least-squares fit of work = a + b period + c / period.
/// Repeated actions grow with the period; the work for replicas shrinks with it.
pub fn best_period(points: &[Overhead]) -> Option<f64> {
    let rows: Vec<([f64; 3], f64)> =
        points.iter().map(|point| ([1.0, point.at, 1.0 / point.at], point.work)).collect();
    let mut equations = [[0.0; 4]; 3];
    for (terms, work) in &rows {
        // Weighted, so that points with much work do not dominate the minimum.
        let weight = 1.0 / work.max(f64::MIN_POSITIVE).powi(2);
        for (equation, term) in equations.iter_mut().zip(terms) {
            let [a, b, c] = *terms;
            equation
                .iter_mut()
                .zip([a, b, c, *work])
                .for_each(|(sum, other)| *sum += weight * term * other);
        }
    }
    let [_, grows, shrinks] = solve(equations)?;
    (grows > 0.0 && shrinks > 0.0).then(|| (shrinks / grows).sqrt())
}

/// Gaussian elimination; none if there is no unique solution.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let above = rows[column];
        if above[column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|&(row, _)| row != column) {
            let factor = row[column] / above[column];
            row.iter_mut().zip(above).for_each(|(value, above)| *value -= factor * above);
        }
    }
    Some([0, 1, 2].map(|at| rows[at][3] / rows[at][at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::tests::measured;

    #[test]
    fn a_crawl_has_no_overhead_over_itself() {
        let run = measured(2);
        let runs = [run.clone(), run];
        let overhead = Overhead::new("retry", 0.0, 0.0, &runs, &runs);
        assert_eq!(
            (overhead.time, overhead.work, overhead.failures, overhead.again),
            (0.0, 0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn the_best_period_is_read_off_the_curve() {
        let point = |at: f64| Overhead {
            series: "combined",
            at,
            failures: 1.0,
            again: 0.0,
            time: 0.0,
            work: 0.01 + 0.002 * at + 0.8 / at,
            computed: 0.0,
        };
        let points: Vec<Overhead> = [3.0, 7.0, 30.0, 90.0].map(point).into();
        let best = best_period(&points).expect("there is one");
        assert!((best - 20.0).abs() < 1e-6, "{best}");
        assert_eq!(best_period(&points[..2]), None);
    }
}
