//! The table of `argiope simulate`: one application, one row for each strategy.

use argiope_explore::bound::Bound;

use super::table::Table;
use super::text::{count, number, range, times};
use crate::summary::{Effort, StrategySummary};

/// The columns that every table of strategies begins with. The spread takes columns of its own, and
/// only when there is more than one seed.
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

/// The rows of all strategies, and above them what the columns are measured against.
pub fn table(summaries: &[StrategySummary], bound: &Bound) -> String {
    let spread = summaries.iter().any(|summary| summary.seeds > 1);
    let mut table = Table::new(header(spread));
    for summary in summaries {
        table.row(cells(summary, spread));
    }
    format!(
        "lower bound of a complete crawl: {} ({}, {})\n\n{table}",
        number(bound.cost),
        count(bound.actions, "action"),
        count(bound.resets, "reset"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::by_strategy;
    use crate::summary::tests::{BOUND, run};

    #[test]
    fn one_seed_needs_no_spread() {
        let summaries = by_strategy(&[run("greedy", 1, 8, 9)], 3.0, &BOUND);
        assert_eq!(
            table(&summaries, &BOUND),
            "lower bound of a complete crawl: 10 (7 actions, 1 reset)\n\n\
             strategy  all states  actions  resets  complete  actions  resets  × bound\n\
             greedy            11        8       1        12        9       1    1.200\n"
        );
    }

    #[test]
    fn several_seeds_show_their_spread() {
        let runs = [run("greedy", 1, 8, 9), run("greedy", 2, 10, 11)];
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
