//! `argiope bench strategies`: every strategy on every test-bed, as tables, CSV and a figure.

use std::path::PathBuf;

use argiope_explore::bound::{self, Bound};
use argiope_explore::strategies;
use argiope_explore::strategy::NamedStrategy;
use argiope_lab::comparison::{TESTBEDS, TestbedMeasurement};
use argiope_lab::report::{boxplot, csv, strategies as report};
use argiope_sim::crawl::Run;
use argiope_sim::tour::{self, AllStates};

use argiope::failure::CommandFailure;
use argiope::output;
use argiope::progress::WorkProgress;
use argiope::source::{self, CheckedModel};
use argiope::strategy_runs::crawl;
use argiope::threads;

use crate::parallel;

const AFTER_HELP: &str = "\
Examples:
  argiope bench strategies --testbed hypercube:5 --testbed hypercube:6 --seeds 3
  argiope bench strategies --testbed hypercube:5 --seeds 3 --out results

With --out the directory gets strategies.csv (one row per run), strategies-summary.csv (one row \
per strategy and per published figure) and strategies.svg (the cost until shares of the states are \
found). Columns and rows called `published` are from papers; all others are measured. The results \
do not depend on --jobs. docs/strategies.svg is made by `argiope bench strategies --out DIR`.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct StrategiesBenchArgs {
    /// Also write the results to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run N seeds
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// Use N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Measure only this test-bed; may be given several times [default: all]
    #[arg(long = "testbed", value_name = "NAME")]
    testbeds: Vec<String>,
}

/// The arguments, checked.
struct Plan {
    out: Option<PathBuf>,
    seeds: u64,
    threads: usize,
    testbeds: Vec<Testbed>,
}

struct Testbed {
    name: String,
    app: CheckedModel,
}

/// Measures and prints everything.
pub fn run(args: StrategiesBenchArgs) -> Result<(), CommandFailure> {
    let plan = check(args)?;
    if let Some(directory) = &plan.out {
        output::directory(directory)?;
    }
    let bench = measure(&plan);
    if let Some(directory) = &plan.out {
        output::file(&directory.join("strategies.csv"), csv::runs(&bench))?;
        output::file(&directory.join("strategies-summary.csv"), csv::summary(&bench))?;
        let figure = boxplot::svg(&bench, strategies::DEFAULT);
        output::file(&directory.join("strategies.svg"), &figure)?;
    }
    let seeds = match plan.seeds {
        1 => "One seed.".to_owned(),
        seeds => format!("Medians of {seeds} seeds."),
    };
    output::print(&format!("{seeds} Costs are in actions, resets included.\n\n"))?;
    for measured in &bench {
        output::print(&format!("{}\n", report::testbed(measured)))?;
    }
    output::print(&report::standing(&bench, strategies::DEFAULT))
}

fn check(args: StrategiesBenchArgs) -> Result<Plan, CommandFailure> {
    let mut names: Vec<String> = Vec::new();
    if args.testbeds.is_empty() {
        names.extend(TESTBEDS.iter().map(|&name| name.to_owned()));
    }
    for name in args.testbeds {
        // A repeated test-bed would give two equal panels.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let load = |name: String| {
        let model = source::testbed(&name)?;
        let app = CheckedModel { reset_cost: model.reset_cost, model };
        Ok(Testbed { name, app })
    };
    Ok(Plan {
        out: args.out,
        seeds: args.seeds,
        threads: args.jobs.map_or_else(threads::cores, usize::from),
        testbeds: names.into_iter().map(load).collect::<Result<_, CommandFailure>>()?,
    })
}

fn measure(plan: &Plan) -> Vec<TestbedMeasurement> {
    let against = bounds(plan);
    let runs = runs(plan);
    let per_testbed = strategies::ALL.len() * plan.seeds as usize;
    let results = plan.testbeds.iter().zip(against).zip(runs.chunks(per_testbed));
    let measured = results.map(|((testbed, (bound, tour)), runs)| TestbedMeasurement {
        testbed: testbed.name.clone(),
        states: testbed.app.model.states(),
        transitions: testbed.app.model.transitions(),
        reset_cost: testbed.app.reset_cost,
        bound,
        tour,
        runs: runs.to_vec(),
    });
    measured.collect()
}

/// Computes the bounds that the runs on each test-bed are compared with.
fn bounds(plan: &Plan) -> Vec<(Bound, AllStates)> {
    let progress = WorkProgress::new(plan.testbeds.len() as u64);
    progress.set_step("bounds");
    parallel::do_all(&plan.testbeds, plan.threads, |testbed| {
        let CheckedModel { model, reset_cost } = &testbed.app;
        let found = (bound::lower_bound(model, *reset_cost), tour::all_states(model, *reset_cost));
        progress.advance(1);
        found
    })
}

/// Runs every test-bed, strategy and seed, in this order.
fn runs(plan: &Plan) -> Vec<Run> {
    let mut pieces: Vec<(&CheckedModel, &'static NamedStrategy, u64)> = Vec::new();
    for testbed in &plan.testbeds {
        for described in strategies::ALL {
            pieces.extend((1..=plan.seeds).map(|seed| (&testbed.app, described, seed)));
        }
    }
    let work = pieces.iter().map(|(app, ..)| app.model.transitions() as u64);
    let progress = WorkProgress::new(work.sum());
    progress.set_step("crawls");
    parallel::do_all(&pieces, plan.threads, |&(app, described, seed)| {
        crawl(app, described, seed, &progress)
    })
}
