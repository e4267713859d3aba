//! The formulas of chapter 6 of the thesis on recovery. Times and rates share one unit.

/// Section 6.5.1: on average a failed controller had explored half of its states.
pub fn retry(failures: f64, time: f64, controllers: f64) -> f64 {
    failures * time / (2.0 * controllers)
}

/// Section 6.5.2: replicas are sent while crawlers work, but each must be acknowledged.
pub fn redundancy(latency: f64, action: f64) -> f64 {
    2.0 * latency / action
}

/// Equation 6.5, and with a load (from 0 to below 1) equation 6.7.
pub fn combined(
    period: f64,
    failures: f64,
    latency: f64,
    copying: f64,
    action: f64,
    load: f64,
) -> f64 {
    failures * period / 2.0 + 2.0 * latency / period + copying / (action * (1.0 - load))
}

/// Equation 6.6: the period with the least overhead.
pub fn best_period(latency: f64, failures: f64) -> f64 {
    2.0 * (latency / failures).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_period_is_better_than_the_best() {
        let best = best_period(3.0, 0.01);
        let overhead = |period| combined(period, 0.01, 3.0, 0.5, 10.0, 0.0);
        assert!(overhead(best) < overhead(best * 1.1) && overhead(best) < overhead(best * 0.9));
    }

    #[test]
    fn load_makes_replicas_more_expensive() {
        assert!(
            combined(5.0, 0.01, 1.0, 0.5, 10.0, 0.9) > combined(5.0, 0.01, 1.0, 0.5, 10.0, 0.1)
        );
        assert!(retry(2.0, 10.0, 5.0) > redundancy(0.1, 10.0));
    }
}
