//! Many runs of one strategy condensed to what a table shows: the median over the seeds and how far
//! the seeds lie apart.

use argiope_explore::bound::Bound;

use crate::crawl::{Run, Spent};

/// One figure over the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one; between two middle ones, their mean.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// Of at least one figure.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        assert!(!sorted.is_empty(), "there is no median of nothing");
        let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
        Self {
            median: (sorted[low] + sorted[high]) / 2.0,
            min: sorted[0],
            max: sorted[sorted.len() - 1],
        }
    }
}

/// What it took to reach a goal. Each figure has its own median, so the median of the cost need not
/// be the sum of the other two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// In actions, resets included.
    pub cost: Spread,
    /// Actions executed.
    pub actions: Spread,
    /// Loads of the URL.
    pub resets: Spread,
}

impl Effort {
    fn of(spent: impl Iterator<Item = Spent> + Clone, reset_cost: f64) -> Self {
        Self {
            cost: Spread::of(spent.clone().map(|spent| spent.cost(reset_cost))),
            actions: Spread::of(spent.clone().map(|spent| spent.actions as f64)),
            resets: Spread::of(spent.map(|spent| spent.resets as f64)),
        }
    }
}

/// The runs of one strategy on one application.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategySummary {
    /// The name of the strategy.
    pub strategy: &'static str,
    /// How many runs there were.
    pub seeds: usize,
    /// Until the last state was found.
    pub all_states: Effort,
    /// Until the last transition was executed.
    pub complete: Effort,
    /// The cost of the complete crawl over its lower bound.
    pub ratio: Spread,
    /// The run in the middle by the cost of all states, the cheaper of two: the one that is drawn.
    pub middle: Run,
}

impl StrategySummary {
    /// Condenses runs of one strategy, at least one.
    pub fn of(runs: &[Run], reset_cost: f64, bound: &Bound) -> Self {
        let complete = |run: &Run| run.complete.cost(reset_cost);
        let mut order: Vec<&Run> = runs.iter().collect();
        order.sort_by(|a, b| {
            a.all_states.cost(reset_cost).total_cmp(&b.all_states.cost(reset_cost))
        });
        let middle = order[(order.len() - 1) / 2].clone();
        Self {
            strategy: middle.strategy,
            seeds: runs.len(),
            all_states: Effort::of(runs.iter().map(|run| run.all_states), reset_cost),
            complete: Effort::of(runs.iter().map(|run| run.complete), reset_cost),
            ratio: Spread::of(runs.iter().map(|run| ratio(complete(run), bound.cost))),
            middle,
        }
    }
}

/// Runs, grouped by strategy as they come, condensed strategy by strategy.
pub fn by_strategy(runs: &[Run], reset_cost: f64, bound: &Bound) -> Vec<StrategySummary> {
    runs.chunk_by(|a, b| a.strategy == b.strategy)
        .map(|runs| StrategySummary::of(runs, reset_cost, bound))
        .collect()
}

/// How many times as much; an application with nothing to do in it costs exactly its bound.
pub fn ratio(cost: f64, bound: f64) -> f64 {
    if bound > 0.0 { cost / bound } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up run in which everything follows from two numbers of actions, with one reset.
    fn run(strategy: &'static str, seed: u64, all_states: u64, complete: u64) -> Run {
        let cost = |part: u64| 3.0 + (all_states * part / 4) as f64;
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

    const BOUND: Bound = Bound { actions: 7, resets: 1, cost: 10.0 };

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        let spread = Spread::of([4.0, 1.0, 2.0, 9.0]);
        assert_eq!((spread.median, spread.min, spread.max), (3.0, 1.0, 9.0));
        assert_eq!(Spread::of([5.0]).median, 5.0);
    }

    #[test]
    fn strategies_are_condensed_apart_and_in_their_order() {
        let runs = [run("b", 1, 8, 17), run("b", 2, 4, 27), run("a", 1, 6, 7)];
        let summaries = by_strategy(&runs, 3.0, &BOUND);
        let names: Vec<_> = summaries.iter().map(|summary| summary.strategy).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(summaries[0].all_states.cost.median, 9.0);
        assert_eq!(summaries[0].ratio.max, 3.0);
        assert_eq!(summaries[0].middle.seed, 2);
        assert_eq!(summaries[1].ratio.median, 1.0);
    }

    #[test]
    fn nothing_to_do_costs_its_bound() {
        assert_eq!(ratio(0.0, 0.0), 1.0);
    }
}
