//! The comparison as CSV: one row per run; one row per strategy and per published figure. It has no
//! times, so that equal seeds give equal bytes.

use crate::comparison::TestbedMeasurement;
use crate::published::{Published, PublishedCost, published};
use argiope::format::harmless;
use argiope_sim::summary::{Effort, Spread, StrategySummary, ratio};

const RUNS: &str = "testbed,strategy,seed,states,transitions,reset_cost,\
    all_states_actions,all_states_resets,all_states_cost,\
    complete_actions,complete_resets,complete_cost,\
    cost_25,cost_50,cost_75,cost_100,lower_bound_complete,best_tour_all_states\n";

/// The papers' name for the cheapest walk through all states of the known model.
const OPTIMAL: &str = "optimal";

const SUMMARY: &str = "testbed,strategy,source,seeds,\
    all_states_cost,all_states_min,all_states_max,all_states_actions,all_states_resets,\
    complete_cost,complete_min,complete_max,complete_actions,complete_resets,\
    ratio_to_bound,lower_bound_complete,best_tour_all_states\n";

/// One row per run.
pub fn runs(bench: &[TestbedMeasurement]) -> String {
    let mut out = RUNS.to_owned();
    for measured in bench {
        let reset_cost = measured.reset_cost;
        for run in &measured.runs {
            let mut row = vec![field(&measured.testbed), field(run.strategy)];
            row.extend(
                [run.seed, run.states as u64, run.transitions as u64]
                    .map(|count| count.to_string()),
            );
            row.push(reset_cost.to_string());
            for spent in [run.all_states, run.complete] {
                row.extend([spent.actions, spent.resets].map(|count| count.to_string()));
                row.push(spent.cost(reset_cost).to_string());
            }
            row.extend(run.quartiles.map(|cost| cost.to_string()));
            row.push(measured.bound.cost.to_string());
            row.push(measured.tour.cost.to_string());
            push(&mut out, &row);
        }
    }
    out
}

/// One row per strategy (`measured`: medians over the seeds), followed by its published row, if
/// any; the last row is the published optimum.
pub fn summary(bench: &[TestbedMeasurement]) -> String {
    let mut out = SUMMARY.to_owned();
    for measured in bench {
        for summary in measured.summaries() {
            push(&mut out, &measured_row(measured, &summary));
            if let Some(printed) = published(&measured.testbed, summary.strategy) {
                push(&mut out, &published_row(measured, printed));
            }
        }
        if let Some(printed) = published(&measured.testbed, OPTIMAL) {
            push(&mut out, &published_row(measured, printed));
        }
    }
    out
}

fn measured_row(measured: &TestbedMeasurement, summary: &StrategySummary) -> Vec<String> {
    let mut row = vec![field(&measured.testbed), field(summary.strategy)];
    row.extend(["measured".to_owned(), summary.seeds.to_string()]);
    let mut effort = |effort: &Effort| {
        let Spread { median, min, max } = effort.cost;
        let figures = [median, min, max, effort.actions.median, effort.resets.median];
        row.extend(figures.map(|figure| figure.to_string()));
    };
    effort(&summary.all_states);
    effort(&summary.complete);
    row.push(summary.ratio.median.to_string());
    row.extend([measured.bound.cost.to_string(), measured.tour.cost.to_string()]);
    row
}

/// Published costs are computed from actions and resets, with the reset cost of the test-bed.
fn published_row(measured: &TestbedMeasurement, printed: &Published) -> Vec<String> {
    let mut row = vec![field(&measured.testbed), field(printed.strategy)];
    row.extend(["published".to_owned(), String::new()]);
    let cost = |figure: PublishedCost| figure.cost(measured.reset_cost);
    for figure in [printed.all_states, printed.complete] {
        row.push(cell(figure.and_then(cost)));
        row.extend([String::new(), String::new()]);
        row.push(cell(figure.map(|figure| figure.actions)));
        row.push(cell(figure.and_then(|figure| figure.resets)));
    }
    let complete = printed.complete.and_then(cost);
    row.push(cell(complete.map(|cost| ratio(cost, measured.bound.cost))));
    row.extend([measured.bound.cost.to_string(), measured.tour.cost.to_string()]);
    row
}

/// A cell, empty if the figure is unknown.
fn cell(figure: Option<impl ToString>) -> String {
    figure.map_or_else(String::new, |figure| figure.to_string())
}

/// Appends a row.
pub(super) fn push(out: &mut String, row: &[String]) {
    *out += &row.join(",");
    out.push('\n');
}

/// A field of text, quoted if it has a comma or a quotation mark.
pub(super) fn field(text: &str) -> String {
    let text = harmless(text);
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::measured;

    fn check_columns(csv: &str, rows: usize) {
        let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, vec![columns[0]; rows + 1], "{csv}");
    }

    #[test]
    fn every_row_has_every_column() {
        check_columns(&runs(&[measured("a"), measured("b")]), 8);
        check_columns(&summary(&[measured("a"), measured("b")]), 4);
    }

    #[test]
    fn a_run_is_a_row() {
        let csv = runs(&[measured("a")]);
        assert_eq!(csv.lines().nth(1), Some("a,adaptive,1,5,8,3,8,1,11,9,1,12,5,7,9,11,10,7"));
    }

    #[test]
    fn published_rows_are_marked_and_leave_unknown_cells_empty() {
        let measured = measured("a");
        let printed = Published {
            application: "A",
            strategy: "greedy",
            all_states: Some(PublishedCost { actions: 20, resets: Some(2) }),
            complete: Some(PublishedCost { actions: 30, resets: None }),
        };
        let row = published_row(&measured, &printed);
        assert_eq!(row.join(","), "a,greedy,published,,26,,,20,2,,,,30,,,10,7");
        assert_eq!(row.len(), SUMMARY.split(',').count());
    }

    #[test]
    fn commas_and_quotes_in_names_are_quoted() {
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
