//! Simulated crawls of one application by one strategy or several, and their table: one row for
//! each strategy.

use argiope_explore::bound::Bound;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use argiope_sim::crawl::{Run, SimulatedCrawl};
use argiope_sim::summary::{Effort, StrategySummary};

use crate::format::{effort, number, range, times};
use crate::progress::WorkProgress;
use crate::source::CheckedModel;
use crate::table::Table;

/// The jobs between two updates of the progress.
const JOBS_PER_TICK: u64 = 4096;

/// Crawls the whole application and reports progress.
pub fn crawl(
    app: &CheckedModel,
    described: &'static NamedStrategy,
    seed: u64,
    progress: &WorkProgress,
) -> Run {
    let settings = StrategySettings { reset_cost: app.reset_cost, seed };
    let mut crawl = SimulatedCrawl::new(&app.model, described, settings);
    let mut jobs = 0;
    while crawl.step() {
        jobs += 1;
        if jobs == JOBS_PER_TICK {
            progress.advance(jobs);
            jobs = 0;
        }
    }
    progress.advance(jobs);
    crawl.finish()
}

/// The first columns of every table of strategies; the spread only for more than one seed.
pub fn header(spread: bool) -> Vec<&'static str> {
    let columns = [
        "strategy",
        "all states",
        "min–max",
        "actions",
        "resets",
        "complete",
        "min–max",
        "actions",
        "resets",
        "× bound",
        "min–max",
    ];
    columns.into_iter().filter(|&column| spread || column != "min–max").collect()
}

/// The cells under [`header`].
pub fn cells(summary: &StrategySummary, spread: bool) -> Vec<String> {
    let mut cells = vec![summary.strategy.to_owned()];
    let mut effort = |effort: &Effort| {
        cells.push(number(effort.cost.median));
        if spread {
            cells.push(range(&effort.cost, number));
        }
        cells.push(number(effort.actions.median));
        cells.push(number(effort.resets.median));
    };
    effort(&summary.all_states);
    effort(&summary.complete);
    cells.push(times(summary.ratio.median));
    if spread {
        cells.push(range(&summary.ratio, times));
    }
    cells
}

/// The table of all strategies, below the lower bound.
pub fn table(summaries: &[StrategySummary], bound: &Bound) -> String {
    let spread = summaries.iter().any(|summary| summary.seeds > 1);
    let mut table = Table::new(header(spread));
    for summary in summaries {
        table.row(cells(summary, spread));
    }
    let bound = effort(bound.cost, bound.actions, bound.resets);
    format!("lower bound of a complete crawl: {bound}\n\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_sim::crawl::Spent;
    use argiope_sim::summary::by_strategy;

    const BOUND: Bound = Bound { actions: 7, resets: 1, cost: 10.0 };

    /// A made-up run in which everything follows from two numbers of actions, with one reset.
    fn run(seed: u64, all_states: u64, complete: u64) -> Run {
        let cost = |quarter: u64| 3.0 + (all_states * quarter / 4) as f64;
        let spent = |actions| Spent { actions, resets: 1 };
        Run {
            strategy: "greedy",
            seed,
            states: 5,
            transitions: 8,
            all_states: spent(all_states),
            complete: spent(complete),
            quartiles: [cost(1), cost(2), cost(3), cost(4)],
        }
    }

    #[test]
    fn one_seed_needs_no_spread() {
        let summaries = by_strategy(&[run(1, 8, 9)], 3.0, &BOUND);
        assert_eq!(
            table(&summaries, &BOUND),
            "lower bound of a complete crawl: 10 (7 actions, 1 reset)\n\n\
             strategy  all states  actions  resets  complete  actions  resets  × bound\n\
             greedy            11        8       1        12        9       1    1.200\n"
        );
    }

    #[test]
    fn several_seeds_show_their_spread() {
        let runs = [run(1, 8, 9), run(2, 10, 11)];
        let text = table(&by_strategy(&runs, 2.5, &BOUND), &BOUND);
        let row = text.lines().last().expect("the row of greedy");
        let cells: Vec<_> = row.split_whitespace().collect();
        let expected = [
            "greedy",
            "11.5",
            "10.5–12.5",
            "9",
            "1",
            "12.5",
            "11.5–13.5",
            "10",
            "1",
            "1.250",
            "1.150–1.350",
        ];
        assert_eq!(cells, expected);
    }
}
