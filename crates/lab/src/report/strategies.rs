//! The tables of `argiope bench strategies`: for each test-bed every strategy with the published
//! figures beside ours, then how the default strategy stands.

use crate::comparison::TestbedMeasurement;
use crate::published::{Published, PublishedCost, published};
use argiope::format::{name, number, times};
use argiope::strategy_runs::{cells, header};
use argiope::table::Table;
use argiope_sim::summary::{StrategySummary, ratio};

/// The table of one test-bed.
pub fn testbed(measured: &TestbedMeasurement) -> String {
    let summaries = measured.summaries();
    let spread = summaries.iter().any(|summary| summary.seeds > 1);
    let printed: Vec<_> =
        summaries.iter().map(|summary| published(&measured.testbed, summary.strategy)).collect();
    let any_printed = printed.iter().any(Option::is_some);
    let mut columns = header(spread);
    if any_printed {
        columns.extend(["published: all states", "published: complete"]);
    }
    let mut table = Table::new(columns);
    for (summary, printed) in summaries.iter().zip(printed) {
        let mut row = cells(summary, spread);
        if any_printed {
            row.extend(printed_cells(printed, measured.reset_cost));
        }
        table.row(row);
    }
    if let Some(optimal) = published(&measured.testbed, "optimal").filter(|_| any_printed) {
        let mut row = vec!["optimal".to_owned()];
        row.resize(header(spread).len(), String::new());
        row.extend(printed_cells(Some(optimal), measured.reset_cost));
        table.row(row);
    }
    format!(
        "{}: {} states, {} transitions, reset cost {}; best tour known for all states {}, \
         lower bound of a complete crawl {}\n{table}",
        name(&measured.testbed),
        measured.states,
        measured.transitions,
        measured.reset_cost,
        number(measured.tour.cost),
        number(measured.bound.cost),
    )
}

fn printed_cells(printed: Option<&Published>, reset_cost: f64) -> [String; 2] {
    [
        figures(printed.and_then(|printed| printed.all_states), reset_cost),
        figures(printed.and_then(|printed| printed.complete), reset_cost),
    ]
}

/// A published cost, with the actions and resets that were printed.
fn figures(printed: Option<PublishedCost>, reset_cost: f64) -> String {
    let Some(figure) = printed else {
        return "–".to_owned();
    };
    match (figure.cost(reset_cost), figure.resets) {
        (Some(cost), Some(resets)) => format!("{} ({} + {resets})", number(cost), figure.actions),
        _ => format!("{} actions", figure.actions),
    }
}

/// How a strategy stands: for all states against the best other strategy, for the complete crawl
/// against the bound. Medians over the seeds.
pub fn standing(bench: &[TestbedMeasurement], strategy: &str) -> String {
    let mut table = Table::new([
        "test-bed",
        "all states",
        "best other",
        "",
        "ratio",
        "complete",
        "bound",
        "ratio",
    ]);
    for measured in bench {
        let summaries = measured.summaries();
        let Some(ours) = summaries.iter().find(|summary| summary.strategy == strategy) else {
            continue;
        };
        let cost = |summary: &StrategySummary| summary.all_states.cost.median;
        let others = summaries.iter().filter(|summary| summary.strategy != strategy);
        let best = others.min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let best = best.map_or(["–"; 3].map(String::from), |best| {
            [number(cost(best)), best.strategy.to_owned(), times(ratio(cost(ours), cost(best)))]
        });
        let mut row = vec![name(&measured.testbed), number(cost(ours))];
        row.extend(best);
        row.extend([
            number(ours.complete.cost.median),
            number(measured.bound.cost),
            times(ours.ratio.median),
        ]);
        table.row(row);
    }
    format!(
        "{strategy} against the best other strategy (all states) and the lower bound (complete)\n{table}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::measured;

    #[test]
    fn a_test_bed_says_what_it_is_measured_against() {
        let text = testbed(&measured("a"));
        assert!(
            text.starts_with(
                "a: 5 states, 8 transitions, reset cost 3; best tour known for all states 7, lower bound"
            ),
            "{text}"
        );
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn the_default_strategy_is_held_against_the_best_other() {
        let text = standing(&[measured("a")], "adaptive");
        let cells: Vec<_> = text.lines().nth(2).expect("a row").split_whitespace().collect();
        assert_eq!(cells, ["a", "13", "33", "greedy", "0.394", "14", "10", "1.400"]);
    }

    #[test]
    fn published_figures_show_their_parts() {
        let figure = |resets| Some(PublishedCost { actions: 20, resets });
        assert_eq!(figures(figure(Some(2)), 2.5), "25 (20 + 2)");
        assert_eq!(figures(figure(None), 2.5), "20 actions");
        assert_eq!(figures(None, 2.5), "–");
    }
}
