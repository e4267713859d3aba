//! The tables, CSV and figures of `argiope bench schemes` and `argiope bench scale`.

use std::collections::BTreeSet;

use super::csv::{field, push};
use super::lines::{Panel, Series};
use crate::rings::published::{self, Row};
use crate::rings::{RingMeasurement, Testbed};
use argiope::format::{name, number};
use argiope::table::Table;

/// The published scheme from which the duration of an action is derived.
const REFERENCE: &str = "forward-global";
/// The scheme that others are compared with: every controller knows everything at once.
const IDEAL: &str = "global";

/// Removes duplicates; the order is that of first appearance.
fn distinct<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

fn find<'a>(
    runs: &[&'a RingMeasurement],
    scheme: &str,
    controllers: usize,
) -> Option<&'a RingMeasurement> {
    runs.iter().find(|run| run.scheme == scheme && run.controllers == controllers).copied()
}

/// As figures 4.1 to 4.3: simulated seconds of one test-bed by scheme and number of controllers,
/// and the ratio to the ideal scheme.
pub fn over_controllers(runs: &[&RingMeasurement]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let numbers = distinct(runs.iter().map(|run| run.controllers));
    let named = |many: &usize| format!("{many} controller{}", if *many == 1 { "" } else { "s" });
    let header = numbers.iter().flat_map(|many| [named(many), "×".to_owned()]);
    let mut table = Table::new(["scheme".to_owned()].into_iter().chain(header));
    for scheme in distinct(runs.iter().map(|run| run.scheme)) {
        let mut row = vec![scheme.to_owned()];
        for &many in &numbers {
            let Some(run) = find(runs, scheme, many) else {
                row.extend(["–".to_owned(), String::new()]);
                continue;
            };
            row.push(format!("{:.1}{}", run.seconds(), mark(run)));
            let ideal = find(runs, IDEAL, many);
            row.push(ideal.map_or(String::new(), |ideal| format!("{:.2}", ideal.speed_up(run))));
        }
        table.row(row);
    }
    format!(
        "{}: simulated seconds with {} crawlers (×: ratio to {IDEAL})\n{table}",
        name(&first.testbed),
        first.crawlers
    )
}

/// Marks an invalid result.
fn mark(run: &RingMeasurement) -> String {
    run.wrong.as_ref().map_or(String::new(), |wrong| format!(" ({})", name(wrong)))
}

/// As tables 4.1 to 4.3, with the published figures if the test-bed has the published size.
/// Measured times are converted to the published duration of an action.
pub fn of_schemes(bed: &Testbed, runs: &[&RingMeasurement]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let printed = |scheme: &str| {
        published::find(bed.application, scheme).filter(|_| first.testbed == bed.full)
    };
    let reference = printed(REFERENCE);
    let action = reference.map_or(first.action as f64 / 1e3, Row::action);
    let columns = ["scheme", "cost", "searches", "messages", "per transition", "idle", "ms"];
    let mut header: Vec<&str> = columns.to_vec();
    if reference.is_some() {
        header.extend(["published: cost", "searches", "messages", "ms"]);
    }
    let mut table = Table::new(header);
    for run in runs {
        let mut row = vec![
            run.scheme.to_owned(),
            format!("{:.0}{}", run.cost(), mark(run)),
            run.messages("search").to_string(),
            run.counts.total_messages().to_string(),
            format!("{:.2}", run.messages_per_transition()),
            format!("{:.1} %", 100.0 * run.idle()),
            format!("{:.0}", run.actions_long() * action),
        ];
        if reference.is_some() {
            row.extend(printed(run.scheme).map_or_else(
                || vec!["–".to_owned(); 4],
                |row| {
                    vec![
                        number(row.cost),
                        row.search.to_string(),
                        row.messages.to_string(),
                        number(row.milliseconds),
                    ]
                },
            ));
        }
        table.row(row);
    }
    format!(
        "{}: {} controllers, {} crawlers, an action takes {action:.2} ms\n{table}",
        name(&first.testbed),
        first.controllers,
        first.crawlers
    )
}

/// As table 4.4: the distance of the next action from the crawler, in percent of the transitions.
pub fn depths(runs: &[(&Testbed, &RingMeasurement)]) -> String {
    let mut header = vec!["depth".to_owned()];
    for (bed, run) in runs {
        header.push(name(&run.testbed));
        header.push(if run.testbed == bed.full { "published".to_owned() } else { String::new() });
    }
    let printed = |bed: &Testbed, run: &RingMeasurement| {
        published::depths(bed.application).filter(|_| run.testbed == bed.full)
    };
    let percent = |part: u64, whole: u64| format!("{:.2} %", 100.0 * part as f64 / whole as f64);
    let mut table = Table::new(header);
    let deepest = runs.iter().map(|(_, run)| run.counts.depths.len()).max().unwrap_or(0).max(16);
    for depth in 0..deepest {
        let mut row = vec![depth.to_string()];
        for (bed, run) in runs {
            let whole = run.transitions as u64;
            row.push(percent(run.counts.depths.get(depth).copied().unwrap_or(0), whole));
            row.push(printed(bed, run).map_or_else(String::new, |printed| {
                percent(printed.found.get(depth).copied().unwrap_or(0), whole)
            }));
        }
        table.row(row);
    }
    let mut row = vec!["by reset".to_owned()];
    for (bed, run) in runs {
        let whole = run.transitions as u64;
        row.push(percent(run.counts.by_reset, whole));
        row.push(
            printed(bed, run)
                .map_or_else(String::new, |it| percent(it.by_reset + it.waited, whole)),
        );
    }
    table.row(row);
    format!("Distance of the next action ({REFERENCE})\n{table}")
}

/// The time over the number of controllers with equally many crawlers each; one table for each
/// test-bed and scheme.
pub fn scaling(runs: &[&RingMeasurement]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let columns = [
        "controllers",
        "crawlers",
        "seconds",
        "speed-up",
        "of ideal",
        "idle",
        "cost",
        "messages/transition",
    ];
    let mut table = Table::new(columns);
    for run in runs {
        let speed_up = run.speed_up(first);
        let ideal = run.crawlers as f64 / first.crawlers as f64;
        table.row([
            run.controllers.to_string(),
            run.crawlers.to_string(),
            format!("{:.1}{}", run.seconds(), mark(run)),
            format!("{speed_up:.2}"),
            format!("{:.0} %", 100.0 * speed_up / ideal),
            format!("{:.1} %", 100.0 * run.idle()),
            format!("{:.0}", run.cost()),
            format!("{:.2}", run.messages_per_transition()),
        ]);
    }
    format!("{}, {}\n{table}", name(&first.testbed), first.scheme)
}

/// Groups runs by test-bed.
pub fn by_testbed(runs: &[RingMeasurement]) -> Vec<Vec<&RingMeasurement>> {
    let beds = distinct(runs.iter().map(|run| run.testbed.as_str()));
    beds.iter().map(|bed| runs.iter().filter(|run| run.testbed == *bed).collect()).collect()
}

/// A plot of seconds over controllers, one line per scheme.
pub fn panel(runs: &[&RingMeasurement]) -> Panel {
    let line = |scheme: &'static str| {
        let points = runs.iter().filter(|run| run.scheme == scheme);
        Series {
            name: scheme.to_owned(),
            points: points.map(|run| (run.controllers as f64, run.seconds())).collect(),
            dashed: false,
        }
    };
    Panel {
        title: runs
            .first()
            .map_or(String::new(), |run| format!("{}, {} crawlers", run.testbed, run.crawlers)),
        across: "controllers",
        up: "seconds",
        logarithmic: false,
        series: distinct(runs.iter().map(|run| run.scheme)).into_iter().map(line).collect(),
    }
}

/// A plot of the speed-up over controllers, one line per scheme, and the proportional speed-up.
pub fn speed_up_panel(runs: &[&RingMeasurement]) -> Panel {
    let mut series = Vec::new();
    for scheme in distinct(runs.iter().map(|run| run.scheme)) {
        let of_scheme: Vec<&&RingMeasurement> =
            runs.iter().filter(|run| run.scheme == scheme).collect();
        let points =
            of_scheme.iter().map(|run| (run.controllers as f64, run.speed_up(of_scheme[0])));
        series.push(Series { name: scheme.to_owned(), points: points.collect(), dashed: false });
    }
    let numbers = distinct(runs.iter().map(|run| run.controllers));
    let ideal = numbers.iter().map(|&many| (many as f64, many as f64 / numbers[0] as f64));
    series.push(Series { name: "proportional".to_owned(), points: ideal.collect(), dashed: true });
    Panel {
        title: runs.first().map_or(String::new(), |run| run.testbed.clone()),
        across: "controllers",
        up: "speed-up",
        logarithmic: true,
        series,
    }
}

/// One row per run, then one per published row, with empty cells for what is not published.
pub fn csv(runs: &[&RingMeasurement], printed: &[Row]) -> String {
    let kinds: BTreeSet<&str> =
        runs.iter().flat_map(|run| run.counts.messages.keys().copied()).collect();
    let mut out = String::from(
        "testbed,source,scheme,controllers,crawlers,transitions,reset_cost,action_us,cost,actions,resets,\
         simulated_ms,idle_share,by_reset,executed_again,failures,messages",
    );
    for kind in &kinds {
        out += &format!(",messages_{kind}");
    }
    out.push('\n');
    for run in runs {
        let counts = &run.counts;
        let mut row = vec![field(&run.testbed), "measured".to_owned(), field(run.scheme)];
        row.extend([run.controllers, run.crawlers, run.transitions].map(|count| count.to_string()));
        row.extend([run.reset_cost.to_string(), run.action.to_string(), run.cost().to_string()]);
        row.extend([counts.spent.actions, counts.spent.resets].map(|count| count.to_string()));
        row.extend([format!("{:.3}", counts.ended_at as f64 / 1e3), format!("{:.5}", run.idle())]);
        row.extend(
            [counts.by_reset, counts.reexecuted, counts.failures, counts.total_messages()]
                .map(|count| count.to_string()),
        );
        row.extend(kinds.iter().map(|kind| run.messages(kind).to_string()));
        push(&mut out, &row);
    }
    for row in printed {
        let mut cells = vec![field(row.application), "published".to_owned(), field(row.scheme)];
        cells.extend([published::CONTROLLERS, published::CRAWLERS].map(|count| count.to_string()));
        cells.extend([
            String::new(),
            String::new(),
            format!("{:.0}", 1e3 * row.action()),
            row.cost.to_string(),
        ]);
        cells.extend([String::new(), String::new(), row.milliseconds.to_string()]);
        cells.resize(16, String::new());
        cells.push(row.messages.to_string());
        cells.extend(kinds.iter().map(|&kind| match kind {
            "search" => row.search.to_string(),
            "remember" => row.remember.to_string(),
            _ => String::new(),
        }));
        push(&mut out, &cells);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::TESTBEDS;
    use crate::rings::tests::measured;

    #[test]
    fn every_row_of_the_csv_has_every_column() {
        let (one, two) = (measured(1), measured(2));
        let text = csv(&[&one, &two], published::ROWS);
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, vec![columns[0]; 1 + 2 + published::ROWS.len()], "{text}");
    }

    #[test]
    fn published_figures_stand_beside_the_published_size_only() {
        let mut run = measured(2);
        assert!(!of_schemes(&TESTBEDS[2], &[&run]).contains("published"));
        run.testbed = TESTBEDS[2].full.to_owned();
        assert!(of_schemes(&TESTBEDS[2], &[&run]).contains("2472503"));
        assert!(depths(&[(&TESTBEDS[2], &run)]).contains("published"));
    }

    #[test]
    fn the_speed_up_is_against_the_first() {
        let (one, two) = (measured(1), measured(2));
        let text = scaling(&[&one, &two]);
        assert!(text.lines().nth(2).is_some_and(|row| row.contains("1.00")), "{text}");
        assert_eq!(panel(&[&one, &two]).series[0].points.len(), 2);
        assert_eq!(speed_up_panel(&[&one, &two]).series.len(), 2);
    }
}
