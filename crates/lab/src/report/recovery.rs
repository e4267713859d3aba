//! The tables, CSV and figures of `argiope bench recovery`.

use super::csv::{field, push};
use super::lines::{COMPUTED, Panel, Series};
use crate::rings::recovery::Overhead;
use argiope::format::number;
use argiope::table::Table;

/// A figure of the thesis (docs/papers.md).
#[derive(Clone, Debug)]
pub struct ThesisFigure {
    /// Its number.
    pub number: &'static str,
    /// What it shows.
    pub title: String,
    /// What was found.
    pub finding: Option<String>,
    /// The label of the x axis.
    pub across: &'static str,
    /// Whether both axes of the plot are logarithmic.
    pub logarithmic: bool,
    /// Whether the plot shows the time, not the work.
    pub shows_time: bool,
    /// Its points, line by line.
    pub points: Vec<Overhead>,
}

/// The figure as a text table.
pub fn table(figure: &ThesisFigure) -> String {
    let columns = [
        figure.across,
        "recovery",
        "more time",
        "more work",
        "computed",
        "failures",
        "executed again",
    ];
    let mut table = Table::new(columns);
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    for point in &figure.points {
        table.row([
            if point.at < 10.0 { format!("{:.3}", point.at) } else { number(point.at) },
            point.series.to_owned(),
            percent(point.time),
            percent(point.work),
            percent(point.computed),
            number(point.failures),
            percent(point.again),
        ]);
    }
    let finding = figure.finding.as_ref().map_or(String::new(), |finding| format!("{finding}\n"));
    format!("As figure {}: {}\n{table}{finding}", figure.number, figure.title)
}

/// One row per point.
pub fn csv(figures: &[ThesisFigure]) -> String {
    let mut out = String::from(
        "figure,axis,at,recovery,more_time,more_work,computed,failures,executed_again\n",
    );
    for figure in figures {
        for point in &figure.points {
            let mut row =
                vec![figure.number.to_owned(), field(figure.across), point.at.to_string()];
            row.push(point.series.to_owned());
            let values = [point.time, point.work, point.computed, point.failures, point.again];
            row.extend(values.map(|value| value.to_string()));
            push(&mut out, &row);
        }
    }
    out
}

/// As a plot: what was measured, and dashed what the thesis computes.
pub fn panel(figure: &ThesisFigure) -> Panel {
    let mut names: Vec<&'static str> = figure.points.iter().map(|point| point.series).collect();
    names.dedup();
    let mut series = Vec::new();
    for name in names {
        let line = |dashed: bool| {
            let points = figure.points.iter().filter(|point| point.series == name);
            let measured =
                |point: &Overhead| if figure.shows_time { point.time } else { point.work };
            let value = |point: &Overhead| if dashed { point.computed } else { measured(point) };
            Series {
                name: if dashed { format!("{name}{COMPUTED}") } else { name.to_owned() },
                points: points.map(|point| (point.at, 100.0 * value(point).max(0.0))).collect(),
                dashed,
            }
        };
        series.extend([line(false), line(true)]);
    }
    let title = format!("As figure {}: {}", figure.number, figure.title);
    let up = if figure.shows_time { "more time in %" } else { "more work in %" };
    Panel { title, across: figure.across, up, logarithmic: figure.logarithmic, series }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_computed_cost_stands_beside_the_measured_cost() {
        let point = |series, at| Overhead {
            series,
            at,
            failures: 2.0,
            again: 0.1,
            time: 0.25,
            work: 0.15,
            computed: 0.2,
        };
        let figure = ThesisFigure {
            number: "6.2",
            title: "overhead".to_owned(),
            finding: Some("it grows".to_owned()),
            across: "failures",
            logarithmic: false,
            shows_time: true,
            points: vec![point("retry", 1.0), point("retry", 2.0), point("redundancy", 1.0)],
        };
        assert!(table(&figure).contains("25.0 %") && table(&figure).ends_with("it grows\n"));
        assert_eq!(csv(std::slice::from_ref(&figure)).lines().count(), 4);
        let panel = panel(&figure);
        assert_eq!(panel.series.iter().filter(|series| series.dashed).count(), 2);
    }
}
