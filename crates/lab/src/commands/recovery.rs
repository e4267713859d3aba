//! `argiope bench recovery`: the cost of failures of controllers. Figures 6.2, 6.4 and 6.5 of the
//! thesis are computed there and measured here, also under overload, which the thesis leaves open.

use argiope_controller::peer::settings::Recovery;
use argiope_lab::report::{lines, recovery as report};
use argiope_lab::rings::recovery::{Overhead, best_period};
use argiope_lab::rings::{RingMeasurement, formulas};
use argiope_sim::cluster::scenario::{FaultEvent, Latency, Scenario};
use argiope_sim::cluster::spec;

use super::rings::{MeasuredCrawl, Models, RingBenchArgs, check_all};
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope bench recovery --quick
  argiope bench recovery --quick --out results

With --out the directory gets recovery.csv and recovery.svg. `more time` is relative to the same \
crawl without failures and replicas. `more work` is counted as in the thesis: the share of \
crawlers' time spent on repeated actions, and the share of controllers' time until replicas are \
acknowledged. `computed` is the result of the formulas of the thesis. The results do not depend on \
--jobs.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct RecoveryBenchArgs {
    #[command(flatten)]
    common: RingBenchArgs,
    /// Average each point over N seeds [default: 10, quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
}

/// Duration of a message, in microseconds (the thesis' c).
const LATENCY: u64 = 1_000;
/// Processing time of a message, in nanoseconds, where the load is not varied.
const PROCESSING: u64 = 10_000;

/// What to measure, checked.
struct Plan<'a> {
    common: &'a RingBenchArgs,
    models: Models,
    testbed: &'static str,
    controllers: usize,
    crawlers: usize,
    reset_cost: f64,
    seeds: u64,
}

/// One point to measure.
struct Point<'a> {
    recovery: Recovery,
    /// Failures during a crawl.
    failures: usize,
    processing: u64,
    at: f64,
    computed: f64,
    /// The same crawls without failures and replicas, one for each seed.
    calm: &'a [RingMeasurement],
}

/// Measures all three figures.
pub fn run(args: &RecoveryBenchArgs) -> Result<(), CommandFailure> {
    let common = &args.common;
    common.prepare()?;
    let (testbed, controllers, crawlers, seeds) =
        if common.quick { ("random:200:10", 5, 5, 2) } else { ("random:1000:30", 10, 20, 10) };
    let mut models = Models::default();
    let reset_cost = models.add(testbed)?.reset_cost;
    let seeds = args.seeds.unwrap_or(seeds);
    let plan = Plan { common, models, testbed, controllers, crawlers, reset_cost, seeds };
    let calm = plan.calm(PROCESSING)?;
    let figures = [over_failures(&plan, &calm)?, over_periods(&plan, &calm)?, over_load(&plan)?];
    common.write("recovery.csv", &report::csv(&figures))?;
    let figure = lines::LineFigure {
        title: "Cost of failures of controllers".to_owned(),
        note: format!(
            "{controllers} controllers, {crawlers} crawlers, {testbed}; means of {seeds} seeds."
        ),
        panels: figures.iter().map(report::panel).collect(),
    };
    common.write("recovery.svg", &lines::svg(&figure))?;
    output::print(&format!(
        "{testbed}, {controllers} controllers, {crawlers} crawlers: {:.2} simulated seconds without failures\n\n",
        time_of(&calm) / 1e6
    ))?;
    for figure in &figures {
        output::print(&format!("{}\n", report::table(figure)))?;
    }
    Ok(())
}

/// The mean time of crawls, in microseconds.
fn time_of(runs: &[RingMeasurement]) -> f64 {
    runs.iter().map(|run| run.counts.ended_at as f64).sum::<f64>() / runs.len() as f64
}

impl Plan<'_> {
    fn crawl(
        &self,
        recovery: Recovery,
        failures: usize,
        processing: u64,
        seed: u64,
    ) -> MeasuredCrawl {
        let mut scenario = Scenario::new(
            self.controllers,
            self.crawlers,
            self.reset_cost,
            self.common.seed + seed,
        );
        scenario.latency = Latency::Constant(LATENCY);
        scenario.recovery = recovery;
        scenario.processing_time = processing;
        // Evenly spread, with a shift that depends on the seed.
        let shift = (seed as f64 * 0.618).fract();
        let share = |at: usize| (at as f64 + shift) / failures as f64;
        scenario.scheduled_faults =
            (0..failures).map(|at| (share(at), FaultEvent::Fail(1))).collect();
        MeasuredCrawl { testbed: self.testbed.to_owned(), scenario }
    }

    /// Crawls without failures and replicas.
    fn calm(&self, processing: u64) -> Result<Vec<RingMeasurement>, CommandFailure> {
        let crawls: Vec<MeasuredCrawl> =
            (0..self.seeds).map(|seed| self.crawl(Recovery::Retry, 0, processing, seed)).collect();
        let runs = self.common.measure(&crawls, &self.models);
        check_all(&runs)?;
        Ok(runs)
    }

    /// Measures every point with every seed.
    fn measure(&self, points: &[Point<'_>]) -> Result<Vec<Overhead>, CommandFailure> {
        let mut crawls = Vec::new();
        for point in points {
            let crawl = |seed| self.crawl(point.recovery, point.failures, point.processing, seed);
            crawls.extend((0..self.seeds).map(crawl));
        }
        let runs = self.common.measure(&crawls, &self.models);
        check_all(&runs)?;
        let runs = points.iter().zip(runs.chunks(self.seeds as usize));
        Ok(runs
            .map(|(point, runs)| {
                Overhead::new(
                    spec::recovery_name(point.recovery),
                    point.at,
                    point.computed,
                    runs,
                    point.calm,
                )
            })
            .collect())
    }

    /// The failure rate of one controller per microsecond, from the failures of all during a crawl.
    fn rate(&self, failures: usize, calm: &[RingMeasurement]) -> f64 {
        failures as f64 / self.controllers as f64 / time_of(calm)
    }
}

/// Measures figure 6.2.
fn over_failures(
    plan: &Plan<'_>,
    calm: &[RingMeasurement],
) -> Result<report::ThesisFigure, CommandFailure> {
    let failures: &[usize] = if plan.common.quick { &[0, 2] } else { &[0, 1, 2, 4, 6] };
    let mut points = Vec::new();
    for recovery in [Recovery::Retry, Recovery::Redundancy] {
        points.extend(failures.iter().map(|&failures| Point {
            recovery,
            failures,
            processing: PROCESSING,
            at: failures as f64,
            computed: match recovery {
                Recovery::Retry => formulas::retry(failures as f64, 1.0, plan.controllers as f64),
                _ => formulas::redundancy(LATENCY as f64, calm[0].action as f64),
            },
            calm,
        }));
    }
    Ok(report::ThesisFigure {
        number: "6.2",
        title: "overhead over failures".to_owned(),
        finding: None,
        across: "failures",
        logarithmic: false,
        shows_time: true,
        points: plan.measure(&points)?,
    })
}

/// Measures figure 6.4.
fn over_periods(
    plan: &Plan<'_>,
    calm: &[RingMeasurement],
) -> Result<report::ThesisFigure, CommandFailure> {
    let failures = 4;
    let rate = plan.rate(failures, calm);
    let processing = PROCESSING as f64 / 1e3;
    let delay = LATENCY as f64 + processing;
    let best = formulas::best_period(delay, rate);
    let factors: &[f64] = if plan.common.quick {
        &[0.25, 1.0, 4.0]
    } else {
        &[0.125, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0]
    };
    let point = |factor: &f64| {
        let period = factor * best;
        Point {
            recovery: Recovery::Combined { period: Some(period as u64) },
            failures,
            processing: PROCESSING,
            at: period / 1e3,
            computed: formulas::combined(
                period,
                rate,
                delay,
                processing,
                calm[0].action as f64,
                0.0,
            ),
            calm,
        }
    };
    let points: Vec<Point<'_>> = factors.iter().map(point).collect();
    let points = plan.measure(&points)?;
    let finding = format!(
        "least work at {}; computed: {:.0} ms",
        best_period(&points).map_or("no period".to_owned(), |best| format!("{best:.0} ms")),
        best / 1e3
    );
    Ok(report::ThesisFigure {
        number: "6.4",
        title: format!("overhead over time between replicas, {failures} failures"),
        finding: Some(finding),
        across: "ms between replicas",
        logarithmic: true,
        shows_time: false,
        points,
    })
}

/// As figure 6.5, and beyond it: a longer processing time of a message gives a higher load.
fn over_load(plan: &Plan<'_>) -> Result<report::ThesisFigure, CommandFailure> {
    let times: &[u64] = if plan.common.quick {
        &[10_000, 2_000_000]
    } else {
        &[10_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000]
    };
    let failures = 2;
    let loads = times.iter().map(|&time| Ok((time, plan.calm(time)?)));
    let loads = loads.collect::<Result<Vec<_>, CommandFailure>>()?;
    let mut points = Vec::new();
    for name in spec::RECOVERIES {
        for (time, calm) in &loads {
            let rate = plan.rate(failures, calm);
            let copying = *time as f64 / 1e3;
            let delay = LATENCY as f64 + copying;
            let action = calm[0].action as f64;
            let all = |run: &RingMeasurement| run.counts.messages.values().sum::<u64>() as f64;
            let messages = calm.iter().map(all).sum::<f64>() / calm.len() as f64;
            let load = (messages * copying / (plan.controllers as f64 * time_of(calm))).min(0.999);
            let recovery = match spec::parse_recovery(name).expect("it is in the list") {
                Recovery::Combined { .. } => {
                    Recovery::Combined { period: Some(formulas::best_period(delay, rate) as u64) }
                }
                recovery => recovery,
            };
            let computed = match recovery {
                Recovery::Retry => formulas::retry(failures as f64, 1.0, plan.controllers as f64),
                Recovery::Redundancy => formulas::redundancy(delay / (1.0 - load), action),
                Recovery::Combined { .. } | Recovery::Adaptive => {
                    let period = formulas::best_period(delay, rate);
                    formulas::combined(period, rate, delay, copying, action, load)
                }
            };
            points.push(Point { recovery, failures, processing: *time, at: load, computed, calm });
        }
    }
    Ok(report::ThesisFigure {
        number: "6.5",
        title: format!("overhead over load, {failures} failures"),
        finding: None,
        across: "load of controllers",
        logarithmic: true,
        shows_time: true,
        points: plan.measure(&points)?,
    })
}
