//! Lines over a quantity, as an SVG: three panels beside each other in a row, one line per series
//! with its name in a legend. Colours follow the palette of Okabe and Ito, with a darker yellow. A
//! dashed line is computed or published, a full one is measured.

use super::svg::{self, push, xml};
use argiope::format::number;

const PANEL_WIDTH: f64 = 460.0;
const PLOT_WIDTH: f64 = 360.0;
const PLOT_HEIGHT: f64 = 260.0;
const MARGIN: f64 = 24.0;
/// Panels in a row.
const ROW: usize = 3;
/// Title of the whole figure.
const HEAD: f64 = 66.0;
/// Title of a panel.
const PANEL_HEAD: f64 = 46.0;
/// The labels beside and below a plot.
const LEFT: f64 = 70.0;
const FOOT: f64 = 48.0;
const LEGEND_ROW: f64 = 18.0;
const TICKS: usize = 5;
const COLOURS: [&str; 8] =
    ["#000000", "#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#8c8c00"];

/// How the name of a line ends that was computed, not measured.
pub const COMPUTED: &str = ", computed";

/// A figure.
#[derive(Clone, Debug, Default)]
pub struct LineFigure {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// From left to right, row by row.
    pub panels: Vec<Panel>,
}

/// One plot of it.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// What it is about.
    pub title: String,
    /// What goes to the right.
    pub across: &'static str,
    /// What goes up.
    pub up: &'static str,
    /// Both axes are logarithmic, which leaves out what is not above zero.
    pub logarithmic: bool,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// It was not measured.
    pub dashed: bool,
}

/// Draws a figure.
pub fn svg(figure: &LineFigure) -> String {
    let width = 2.0 * MARGIN + figure.panels.len().clamp(2, ROW) as f64 * PANEL_WIDTH;
    let legend =
        figure.panels.iter().map(|panel| panel.series.len()).max().unwrap_or(0) as f64 * LEGEND_ROW;
    let row = PANEL_HEAD + PLOT_HEIGHT + FOOT + legend + MARGIN;
    let height = HEAD + figure.panels.len().div_ceil(ROW).max(1) as f64 * row;
    let mut out = svg::begin(width, height);
    push(
        &mut out,
        format_args!(
            "<text x=\"{MARGIN}\" y=\"30\" font-size=\"18\" font-weight=\"bold\">{}</text>\n\
             <text x=\"{MARGIN}\" y=\"52\" fill=\"#444444\">{}</text>",
            xml(&figure.title),
            xml(&figure.note)
        ),
    );
    for (at, panel) in figure.panels.iter().enumerate() {
        let (left, top) =
            (MARGIN + (at % ROW) as f64 * PANEL_WIDTH, HEAD + (at / ROW) as f64 * row);
        push(&mut out, format_args!("<g transform=\"translate({left} {top})\">"));
        draw(&mut out, panel);
        push(&mut out, format_args!("</g>"));
    }
    push(&mut out, format_args!("</svg>"));
    out
}

/// The name of a series without its suffix: a computed series has the colour of the measured one.
fn stem_of(series: &Series) -> &str {
    series.name.strip_suffix(COMPUTED).unwrap_or(&series.name)
}

fn draw(out: &mut String, panel: &Panel) {
    let shown = |&&(x, y): &&(f64, f64)| !panel.logarithmic || (x > 0.0 && y > 0.0);
    let points = || panel.series.iter().flat_map(|series| series.points.iter().filter(shown));
    let across =
        Axis::new(points().map(|point| point.0), panel.logarithmic, LEFT, LEFT + PLOT_WIDTH);
    let up = Axis::new(
        points().map(|point| point.1),
        panel.logarithmic,
        PANEL_HEAD + PLOT_HEIGHT,
        PANEL_HEAD,
    );
    push(
        out,
        format_args!(
            "<text x=\"0\" y=\"18\" font-size=\"14\" font-weight=\"bold\">{}</text>",
            xml(&panel.title)
        ),
    );
    frame(out, panel, &across, &up);
    let mut colours: Vec<&str> = panel.series.iter().map(stem_of).collect();
    colours.dedup();
    for (at, series) in panel.series.iter().enumerate() {
        let colour =
            COLOURS[colours.iter().position(|&stem| stem == stem_of(series)).unwrap_or(at)
                % COLOURS.len()];
        let dashes = if series.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let places: Vec<(f64, f64)> =
            series.points.iter().filter(shown).map(|&(x, y)| (across.at(x), up.at(y))).collect();
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        push(
            out,
            format_args!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>",
                line.join(" ")
            ),
        );
        for (x, y) in places.iter().filter(|_| !series.dashed) {
            push(
                out,
                format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"{colour}\"/>"),
            );
        }
        let y = PANEL_HEAD + PLOT_HEIGHT + FOOT + at as f64 * LEGEND_ROW;
        push(
            out,
            format_args!(
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" \
                 stroke-width=\"1.8\"{dashes}/>\n<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT + 28.0,
                LEFT + 36.0,
                y + 4.0,
                xml(&series.name)
            ),
        );
    }
}

/// The grid, the numbers at it, and what they are.
fn frame(out: &mut String, panel: &Panel, across: &Axis, up: &Axis) {
    let bottom = PANEL_HEAD + PLOT_HEIGHT;
    let right = LEFT + PLOT_WIDTH;
    for tick in across.ticks() {
        let x = across.at(tick);
        push(
            out,
            format_args!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{PANEL_HEAD}\" y2=\"{bottom}\" stroke=\"#e4e4e4\"/>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#444444\">{}</text>",
                bottom + 15.0,
                label(tick)
            ),
        );
    }
    for tick in up.ticks() {
        let y = up.at(tick);
        push(
            out,
            format_args!(
                "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e4e4e4\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"end\" fill=\"#444444\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                label(tick)
            ),
        );
    }
    push(
        out,
        format_args!(
            "<text x=\"{right}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"end\" fill=\"#444444\">{}</text>\n\
             <text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"end\" fill=\"#444444\">{}</text>",
            bottom + 30.0,
            xml(panel.across),
            PANEL_HEAD - 6.0,
            xml(panel.up)
        ),
    );
}

/// A linear axis from zero, or a logarithmic one between powers of ten.
struct Axis {
    from: f64,
    to: f64,
    logarithmic: bool,
    begin: f64,
    end: f64,
}

impl Axis {
    fn new(
        values: impl Iterator<Item = f64> + Clone,
        logarithmic: bool,
        begin: f64,
        end: f64,
    ) -> Self {
        let most = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let least = values.fold(most, f64::min);
        let (from, to) = if logarithmic {
            let to = 10f64.powf(most.log10().ceil());
            (10f64.powf(least.log10().floor()).min(to / 10.0), to)
        } else {
            let step = step(most);
            (0.0, (most / step).ceil() * step)
        };
        Self { from, to, logarithmic, begin, end }
    }

    fn at(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.begin + part * (self.end - self.begin)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let (first, last) = (self.from.log10().round() as i32, self.to.log10().round() as i32);
            (first..=last).map(|power| 10f64.powi(power)).collect()
        } else {
            let step = step(self.to);
            (0..)
                .map(|at| f64::from(at) * step)
                .take_while(|&tick| tick <= self.to * 1.001)
                .collect()
        }
    }
}

/// A round distance between ticks, of which there are not many.
fn step(most: f64) -> f64 {
    let rough = most / TICKS as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

fn label(tick: f64) -> String {
    match tick {
        _ if tick >= 1e6 => format!("{} M", number(tick / 1e6)),
        _ if tick >= 1e4 => format!("{} k", number(tick / 1e3)),
        _ if tick >= 10.0 || tick == 0.0 => number(tick),
        _ => format!("{tick:.6}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(logarithmic: bool, points: &[(f64, f64)]) -> String {
        let line =
            |name: &str, dashed| Series { name: name.to_owned(), points: points.to_vec(), dashed };
        svg(&LineFigure {
            title: "a & b".to_owned(),
            note: String::new(),
            panels: vec![Panel {
                title: "<c>".to_owned(),
                across: "controllers",
                up: "seconds",
                logarithmic,
                series: vec![line("one", false), line("two", true)],
            }],
        })
    }

    #[test]
    fn every_series_is_a_line_and_what_was_not_measured_is_dashed() {
        let text = figure(false, &[(1.0, 10.0), (5.0, 3.0)]);
        assert_eq!(text.matches("<polyline").count(), 2);
        assert_eq!(text.matches("<circle").count(), 2);
        assert!(text.contains("a &amp; b") && text.contains("&lt;c&gt;"));
    }

    #[test]
    fn nothing_and_zero_are_drawn_without_nonsense() {
        for points in [&[][..], &[(0.0, 0.0)], &[(0.0, 0.0), (1.0, 1.0)]] {
            for logarithmic in [false, true] {
                let text = figure(logarithmic, points);
                assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }

    #[test]
    fn ticks_are_round() {
        let axis = Axis::new([3.0, 97.0].into_iter(), false, 0.0, 100.0);
        assert_eq!(axis.ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let axis = Axis::new([3.0, 970.0].into_iter(), true, 0.0, 100.0);
        assert_eq!(axis.ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!([label(20_000.0), label(0.1), label(3e6)], ["20 k", "0.1", "3 M"]);
    }
}
