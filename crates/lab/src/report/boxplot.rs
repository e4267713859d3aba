//! How the states were found over the cost, as an SVG like figure 5 of Dincturk et al. (2014): one
//! panel per test-bed, one box per strategy. Colours are two of Okabe and Ito's, which people with
//! any kind of colour vision tell apart; the default strategy is also the one in bold.

use super::svg::{self, push, xml};
use crate::comparison::TestbedMeasurement;
use argiope::format::{name, number};
use argiope_sim::crawl::Run;
use argiope_sim::summary::StrategySummary;

const COLUMNS: usize = 2;
const PANEL_WIDTH: f64 = 580.0;
const MARGIN: f64 = 24.0;
/// Title and legend of the whole figure.
const HEAD: f64 = 76.0;
/// Title of a panel and the label of the dotted line.
const PANEL_HEAD: f64 = 46.0;
/// The axis of a panel.
const PANEL_FOOT: f64 = 48.0;
const ROW: f64 = 26.0;
const BOX: f64 = 14.0;
/// Room for a letter of a strategy's name, and between the name and its box.
const LETTER: f64 = 6.4;
const GAP: f64 = 10.0;
/// Room for the figure at the end of a whisker.
const VALUES: f64 = 64.0;
const OURS: &str = "#d55e00";
const OTHERS: &str = "#0072b2";

/// The figure. `highlighted` is the strategy that the others are compared with.
pub fn svg(bench: &[TestbedMeasurement], highlighted: &str) -> String {
    let heights: Vec<f64> = bench.chunks(COLUMNS).map(row_height).collect();
    let columns = bench.len().clamp(1, COLUMNS) as f64;
    let width = (columns * PANEL_WIDTH).max(2.0 * PANEL_WIDTH - MARGIN) + MARGIN;
    let height = HEAD + heights.iter().sum::<f64>() + MARGIN;
    let mut out = svg::begin(width, height);
    head(&mut out, bench);
    let mut top = HEAD;
    for (panels, height) in bench.chunks(COLUMNS).zip(heights) {
        for (column, measured) in panels.iter().enumerate() {
            let left = MARGIN + column as f64 * PANEL_WIDTH;
            push(&mut out, format_args!("<g transform=\"translate({left} {top})\">"));
            panel(&mut out, measured, highlighted);
            push(&mut out, format_args!("</g>"));
        }
        top += height;
    }
    push(&mut out, format_args!("</svg>"));
    out
}

fn row_height(panels: &[TestbedMeasurement]) -> f64 {
    let rows = panels.iter().map(|measured| measured.summaries().len());
    PANEL_HEAD + rows.max().unwrap_or(0) as f64 * ROW + PANEL_FOOT
}

fn head(out: &mut String, bench: &[TestbedMeasurement]) {
    let seeds = bench.first().and_then(|measured| {
        let summaries = measured.summaries();
        summaries.first().map(|summary| summary.seeds)
    });
    let runs = match seeds {
        None | Some(1) => "One run each.".to_owned(),
        Some(seeds) => format!("The median run of {seeds} seeds."),
    };
    push(
        out,
        format_args!(
            "<text x=\"{MARGIN}\" y=\"30\" font-size=\"18\" font-weight=\"bold\">What it costs to find the states</text>"
        ),
    );
    push(
        out,
        format_args!(
            "<text x=\"{MARGIN}\" y=\"52\" fill=\"#444444\">Cost in actions, resets included, on a logarithmic axis. \
             Whiskers: first and last state. Box: 25, 50 and 75 % of the states. \
             Dotted: the best tour known over all states. {runs}</text>"
        ),
    );
}

fn panel(out: &mut String, measured: &TestbedMeasurement, highlighted: &str) {
    let summaries = measured.summaries();
    let last = summaries.iter().map(|summary| summary.middle.quartiles[3]);
    let most = last.fold(measured.tour.cost, f64::max);
    let axis = Axis::new(
        measured.reset_cost.min(measured.tour.cost),
        most,
        names_width(&summaries),
        PANEL_WIDTH - MARGIN - VALUES,
    );
    let bottom = PANEL_HEAD + summaries.len() as f64 * ROW;
    push(
        out,
        format_args!(
            "<text x=\"0\" y=\"18\" font-size=\"14\" font-weight=\"bold\">{}<tspan font-size=\"12\" \
             font-weight=\"normal\" fill=\"#444444\" dx=\"8\">{} states, {} transitions, reset cost {}</tspan></text>",
            xml(&name(&measured.testbed)),
            thousands(measured.states as f64),
            thousands(measured.transitions as f64),
            measured.reset_cost,
        ),
    );
    ticks(out, &axis, bottom);
    for (row, summary) in summaries.iter().enumerate() {
        let middle = PANEL_HEAD + (row as f64 + 0.5) * ROW;
        let ours = summary.strategy == highlighted;
        strategy(out, &axis, &summary.middle, measured.reset_cost, middle, ours);
    }
    best_tour(out, &axis, measured.tour.cost, bottom);
}

fn names_width(summaries: &[StrategySummary]) -> f64 {
    let letters = summaries.iter().map(|summary| summary.strategy.chars().count());
    letters.max().unwrap_or(0) as f64 * LETTER + GAP
}

fn ticks(out: &mut String, axis: &Axis, bottom: f64) {
    for tick in axis.ticks() {
        let x = axis.x(tick);
        push(
            out,
            format_args!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{PANEL_HEAD}\" y2=\"{bottom}\" stroke=\"#e4e4e4\"/>"
            ),
        );
        push(
            out,
            format_args!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#444444\">{}</text>",
                bottom + 15.0,
                tick_label(tick)
            ),
        );
    }
    push(
        out,
        format_args!(
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{bottom}\" y2=\"{bottom}\" stroke=\"#808080\"/>",
            axis.left, axis.right
        ),
    );
}

/// The whiskers, the box, the name before them and the cost of all states after them.
fn strategy(out: &mut String, axis: &Axis, run: &Run, reset_cost: f64, middle: f64, ours: bool) {
    let (colour, weight) = if ours { (OURS, "bold") } else { (OTHERS, "normal") };
    let [quarter, half, three_quarters, all] = run.quartiles.map(|cost| axis.x(cost));
    let start = axis.x(reset_cost);
    let (top, foot) = (middle - BOX / 2.0, middle + BOX / 2.0);
    let baseline = middle + 4.0;
    push(
        out,
        format_args!(
            "<text x=\"{:.1}\" y=\"{baseline:.1}\" text-anchor=\"end\" font-weight=\"{weight}\">{}</text>",
            axis.left - GAP,
            xml(run.strategy)
        ),
    );
    push(
        out,
        format_args!(
            "<path d=\"M{start:.1} {middle}H{quarter:.1}M{three_quarters:.1} {middle}H{all:.1}\
             M{start:.1} {:.1}v8M{all:.1} {:.1}v8\" stroke=\"{colour}\" stroke-width=\"1.5\" fill=\"none\"/>",
            middle - 4.0,
            middle - 4.0
        ),
    );
    push(
        out,
        format_args!(
            "<rect x=\"{quarter:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BOX}\" fill=\"{colour}\" \
             fill-opacity=\"0.22\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            three_quarters - quarter
        ),
    );
    push(
        out,
        format_args!(
            "<line x1=\"{half:.1}\" x2=\"{half:.1}\" y1=\"{top:.1}\" y2=\"{foot:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>"
        ),
    );
    push(
        out,
        format_args!(
            "<text x=\"{:.1}\" y=\"{baseline:.1}\" font-size=\"11\" font-weight=\"{weight}\">{}</text>",
            all + 6.0,
            thousands(run.quartiles[3])
        ),
    );
}

fn best_tour(out: &mut String, axis: &Axis, cost: f64, bottom: f64) {
    let x = axis.x(cost);
    push(
        out,
        format_args!(
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{bottom}\" stroke=\"#1a1a1a\" stroke-width=\"1.5\" \
             stroke-dasharray=\"1.5 3\" stroke-linecap=\"round\"/>",
            PANEL_HEAD - 6.0
        ),
    );
    push(
        out,
        format_args!(
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"end\" fill=\"#444444\">best tour {}</text>",
            PANEL_HEAD - 9.0,
            thousands(cost)
        ),
    );
}

/// A logarithmic axis from a round number below the least cost to the greatest.
struct Axis {
    from: f64,
    to: f64,
    left: f64,
    right: f64,
}

impl Axis {
    /// A cost below one action (a free reset) is drawn at one: a logarithm has no zero.
    fn new(least: f64, most: f64, left: f64, right: f64) -> Self {
        let from = round_below(least.max(1.0));
        let to = most.max(from * 10.0) * 1.02;
        Self { from, to, left, right }
    }

    fn x(&self, cost: f64) -> f64 {
        let part = (cost.max(1.0) / self.from).ln() / (self.to / self.from).ln();
        self.left + part * (self.right - self.left)
    }

    /// Powers of ten, with their double and fivefold where there is room for the labels.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.to / self.from).log10();
        let factors: &[f64] = if decades < 3.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().floor() as i32;
        let all = (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        all.filter(|tick| (self.from..=self.to).contains(tick)).collect()
    }
}

/// The greatest of 1, 2, 5, 10, 20, … that is not above the cost.
fn round_below(cost: f64) -> f64 {
    let power = 10f64.powi(cost.log10().floor() as i32);
    let factor = [5.0, 2.0].into_iter().find(|factor| factor * power <= cost);
    factor.unwrap_or(1.0) * power
}

/// A round number, short enough to stand beside the next one.
fn tick_label(tick: f64) -> String {
    if tick < 1e6 { thousands(tick) } else { format!("{} M", thousands(tick / 1e6)) }
}

/// A number with its thousands apart. Tenths of a large one would not be seen on the axis.
fn thousands(value: f64) -> String {
    let text = number(if value < 100.0 { value } else { value.round() });
    let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(a, b)| (a, Some(b)));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    fraction.map_or(out.clone(), |fraction| format!("{out}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::measured;

    /// The elements of an SVG, checked to be closed in the order in which they were opened.
    fn check_well_formed(svg: &str) {
        let mut open = Vec::new();
        for part in svg.split('<').skip(1) {
            let (tag, text) = part.split_once('>').expect("a tag ends");
            assert_eq!(tag.matches('"').count() % 2, 0, "a quote is left open in <{tag}>");
            assert!(!text.contains('>'), "a stray > after <{tag}>");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().expect("a tag has a name"));
            }
        }
        assert_eq!(open, Vec::<&str>::new());
    }

    #[test]
    fn the_figure_is_well_formed_whatever_the_names() {
        check_well_formed(&svg(&[], "adaptive"));
        let bench = [measured("a"), measured("<b> & \"c\""), measured("d")];
        let figure = svg(&bench, "adaptive");
        check_well_formed(&figure);
        assert!(figure.contains("&lt;b&gt; &amp; &quot;c&quot;"));
        assert!(!figure.contains("NaN") && !figure.contains("inf"));
    }

    #[test]
    fn every_test_bed_shows_every_strategy_and_the_best_tour() {
        let figure = svg(&[measured("a"), measured("b")], "adaptive");
        for (what, times) in [(">adaptive<", 2), (">greedy<", 2), (">best tour 7<", 2)] {
            assert_eq!(figure.matches(what).count(), times, "{what}");
        }
    }

    #[test]
    fn a_free_reset_is_drawn_at_one() {
        let mut free = measured("a");
        free.reset_cost = 0.0;
        let figure = svg(&[free], "adaptive");
        assert!(!figure.contains("NaN") && !figure.contains("inf"));
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let axis = Axis::new(3.0, 900.0, 0.0, 100.0);
        assert_eq!(axis.ticks(), [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]);
        assert_eq!(axis.x(2.0), 0.0);
        assert!(axis.x(900.0) < 100.0);
        let wide = Axis::new(3.0, 90_000.0, 0.0, 100.0);
        assert_eq!(wide.ticks(), [10.0, 100.0, 1000.0, 10_000.0]);
    }

    #[test]
    fn millions_on_the_axis_are_short() {
        assert_eq!([tick_label(100_000.0), tick_label(20_000_000.0)], ["100,000", "20 M"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [thousands(1234567.0), thousands(999.0), thousands(10.5)],
            ["1,234,567", "999", "10.5"]
        );
    }
}
