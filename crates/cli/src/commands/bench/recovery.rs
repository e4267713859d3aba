//! `argiope bench recovery`: what it costs to lose controllers, as figures 6.2, 6.4 and 6.5 of the thesis,
//! which are computed there and measured here.

use argiope_controller::peer::settings::Recovery;
use argiope_sim::cluster::scenario::{Latency, Scenario};
use argiope_sim::report::{lines, recovery as report};
use argiope_sim::rings::recovery::Overhead;
use argiope_sim::rings::{Measured, formulas};

use super::rings::{Common, Crawl, Models, judge};
use crate::failure::Failure;
use crate::output;

const AFTER_HELP: &str = "\
Examples:
  argiope bench recovery --quick
  argiope bench recovery --quick --out results

With --out the folder gets recovery.csv and recovery.svg. The overhead is against the same crawl without \
failures and without copies; `computed` is what the formulas of the thesis give. The results do not depend \
on --jobs.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// How many seeds each point is the mean of [default: 5, quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
}

/// How long a message takes, in microseconds (the thesis' c).
const LATENCY: u64 = 1_000;
/// How long a controller works on a message, in nanoseconds, where load is not what is looked at.
const PROCESSING: u64 = 10_000;

/// What is measured, checked.
struct Plan<'a> {
    common: &'a Common,
    models: Models,
    testbed: &'static str,
    controllers: usize,
    crawlers: usize,
    reset_cost: f64,
    seeds: u64,
}

/// One point to be measured.
struct Point {
    series: &'static str,
    recovery: Recovery,
    /// Failures during a crawl, on average.
    failures: f64,
    processing: u64,
    at: f64,
    computed: f64,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let common = &args.common;
    common.prepare()?;
    let (testbed, controllers, crawlers, seeds) =
        if common.quick { ("random:200:10", 5, 5, 2) } else { ("random:2000:30", 10, 20, 5) };
    let mut models = Models::default();
    let reset_cost = models.add(testbed)?.reset_cost;
    let seeds = args.seeds.unwrap_or(seeds);
    let plan = Plan { common, models, testbed, controllers, crawlers, reset_cost, seeds };
    let calm = plan.calm(PROCESSING);
    judge([&calm])?;
    let figures = [over_failures(&plan, &calm)?, over_periods(&plan, &calm)?, over_load(&plan)?];
    common.write("recovery.csv", &report::csv(&figures))?;
    let figure = lines::Figure {
        title: "What it costs to lose controllers".to_owned(),
        note: format!("{controllers} controllers, {crawlers} crawlers, {testbed}; means of {seeds} seeds."),
        panels: figures.iter().map(report::panel).collect(),
    };
    common.write("recovery.svg", &lines::svg(&figure))?;
    output::print(&format!(
        "{testbed}, {controllers} controllers, {crawlers} crawlers: {:.2} simulated seconds without failures\n\n",
        calm.seconds()
    ))?;
    for figure in &figures {
        output::print(&format!("{}\n", report::table(figure)))?;
    }
    Ok(())
}

impl Plan<'_> {
    fn scenario(&self, recovery: Recovery, processing: u64, seed: u64) -> Scenario {
        let mut scenario = Scenario::new(self.controllers, self.crawlers, self.reset_cost, seed);
        scenario.latency = Latency::Constant(LATENCY);
        scenario.recovery = recovery;
        scenario.processing = processing;
        scenario
    }

    fn crawl(&self, scenario: Scenario) -> Crawl {
        Crawl { testbed: self.testbed.to_owned(), scenario }
    }

    /// A crawl without failures and copies.
    fn calm(&self, processing: u64) -> Measured {
        let crawl = self.crawl(self.scenario(Recovery::Retry, processing, self.common.seed));
        self.common.measure(&[crawl], &self.models).remove(0)
    }

    /// Every point by every seed, against a calm crawl each.
    fn measure(&self, points: &[Point], calm: impl Fn(&Point) -> Measured) -> Result<Vec<Overhead>, Failure> {
        let calm: Vec<Measured> = points.iter().map(calm).collect();
        let mut crawls = Vec::new();
        for (point, calm) in points.iter().zip(&calm) {
            let rate = self.rate(point.failures, calm);
            for seed in 0..self.seeds {
                let mut scenario = self.scenario(point.recovery, point.processing, self.common.seed + seed);
                scenario.failures_per_hour = rate * 3.6e9;
                crawls.push(self.crawl(scenario));
            }
        }
        let runs = self.common.measure(&crawls, &self.models);
        judge(&runs)?;
        let runs = runs.chunks(self.seeds as usize);
        let points = points.iter().zip(runs).zip(&calm);
        Ok(points
            .map(|((point, runs), calm)| Overhead::new(point.series, point.at, point.computed, runs, calm))
            .collect())
    }

    /// How often one controller fails per microsecond if so many of all do during a crawl.
    fn rate(&self, failures: f64, calm: &Measured) -> f64 {
        failures / self.controllers as f64 / calm.counts.ended as f64
    }
}

/// As figure 6.2.
fn over_failures(plan: &Plan<'_>, calm: &Measured) -> Result<report::Figure, Failure> {
    let failures: &[f64] = if plan.common.quick { &[0.0, 2.0] } else { &[0.0, 0.5, 1.0, 2.0, 4.0, 6.0] };
    let mut points = Vec::new();
    for (series, recovery) in [("retry", Recovery::Retry), ("redundancy", Recovery::Redundancy)] {
        points.extend(failures.iter().map(|&failures| Point {
            series,
            recovery,
            failures,
            processing: PROCESSING,
            at: failures,
            computed: match recovery {
                Recovery::Retry => formulas::retry(failures, 1.0, plan.controllers as f64),
                _ => formulas::redundancy(LATENCY as f64, calm.action as f64),
            },
        }));
    }
    Ok(report::Figure {
        number: "6.2",
        title: "overhead over the failures during a crawl".to_owned(),
        across: "failures",
        points: plan.measure(&points, |_| calm.clone())?,
    })
}

/// As figure 6.4.
fn over_periods(plan: &Plan<'_>, calm: &Measured) -> Result<report::Figure, Failure> {
    let failures = 4.0;
    let rate = plan.rate(failures, calm);
    let best = formulas::best_period(LATENCY as f64, rate);
    let factors: &[f64] =
        if plan.common.quick { &[0.5, 2.0] } else { &[0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0] };
    let points: Vec<Point> = factors
        .iter()
        .map(|factor| {
            let period = factor * best;
            Point {
                series: "combined",
                recovery: Recovery::Combined { period: Some(period as u64) },
                failures,
                processing: PROCESSING,
                at: period / 1e3,
                computed: formulas::combined(
                    period,
                    rate,
                    LATENCY as f64,
                    PROCESSING as f64 / 1e3,
                    calm.action as f64,
                    0.0,
                ),
            }
        })
        .collect();
    let points = plan.measure(&points, |_| calm.clone())?;
    let least = points.iter().min_by(|a, b| a.measured.total_cmp(&b.measured));
    let title = format!(
        "overhead over the time between copies, {failures} failures; least at {:.0} ms, computed {:.0} ms",
        least.map_or(0.0, |point| point.at),
        best / 1e3
    );
    Ok(report::Figure { number: "6.4", title, across: "ms between copies", points })
}

/// As figure 6.5: the longer a controller works on a message, the greater the load.
fn over_load(plan: &Plan<'_>) -> Result<report::Figure, Failure> {
    let times: &[u64] =
        if plan.common.quick { &[10_000] } else { &[10_000, 50_000, 100_000, 200_000, 400_000] };
    let failures = 1.0;
    let mut points = Vec::new();
    let calm: Vec<(u64, Measured)> = times.iter().map(|&time| (time, plan.calm(time))).collect();
    for series in ["combined", "redundancy"] {
        for (time, calm) in &calm {
            let rate = plan.rate(failures, calm);
            let period = formulas::best_period(LATENCY as f64, rate);
            let worked = calm.counts.total() as f64 * *time as f64 / 1e3;
            let load = (worked / (plan.controllers as f64 * calm.counts.ended as f64)).min(0.999);
            let copying = *time as f64 / 1e3;
            let action = calm.action as f64;
            let (recovery, computed) = if series == "combined" {
                let computed = formulas::combined(period, rate, LATENCY as f64, copying, action, load);
                (Recovery::Combined { period: Some(period as u64) }, computed)
            } else {
                (Recovery::Redundancy, formulas::redundancy(LATENCY as f64 / (1.0 - load), action))
            };
            points.push(Point { series, recovery, failures, processing: *time, at: load, computed });
        }
    }
    let calm_of = |point: &Point| {
        let same = calm.iter().find(|(time, _)| *time == point.processing);
        same.expect("every time was measured").1.clone()
    };
    Ok(report::Figure {
        number: "6.5",
        title: format!("overhead over the load of controllers, {failures} failure"),
        across: "load",
        points: plan.measure(&points, calm_of)?,
    })
}
