//! `argiope bench schemes`: every knowledge scheme on the applications of the thesis (its figures
//! 4.1 to 4.3, tables 4.1 to 4.4, and figure 5 of the preceding paper), and the static division of
//! work (figures 3 and 4 of the paper on Dist-RIA).

use argiope_controller::peer::schemes;
use argiope_controller::star::division;
use argiope_explore::strategies;
use argiope_lab::report::{lines, rings as report, star};
use argiope_lab::rings::{Divided, RingMeasurement, TESTBEDS, Testbed, published};
use argiope_sim::cluster::scenario::Scenario;

use super::rings::{MeasuredCrawl, Models, RingBenchArgs, check_all};
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope bench schemes --quick
  argiope bench schemes --quick --out results

With --out the directory gets schemes.csv (one row per crawl and per published row) and \
schemes.svg (simulated time over the number of controllers). All schemes are also measured on \
smaller applications of the same kind, in separate tables. The scheme forward would take hours on \
the large ones, since each search visits state after state: it is measured up to 20,000 \
transitions. The whole bench takes twenty minutes on two cores. Columns and rows called \
`published` are from the thesis; all others are measured. The results do not depend on --jobs.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct SchemesBenchArgs {
    #[command(flatten)]
    common: RingBenchArgs,
}

/// Each search of this scheme visits state after state with one message each, late in a crawl
/// hundreds. Above this number of transitions a crawl takes minutes or hours (decision 11).
const SLOW_SCHEME: (&str, usize) = ("forward", 20_000);
/// Crawlers in figures 4.1 to 4.3, and for each controller in figure 5.
const CRAWLERS: usize = 20;
/// Controllers in figures 4.1 to 4.3.
const CONTROLLERS: [usize; 5] = [1, 5, 10, 15, 20];
/// Controllers for the smaller applications.
const FEWER: [usize; 3] = [1, 5, 20];

/// The measurements, by section of the report.
struct SchemeMeasurements {
    over_controllers: Vec<RingMeasurement>,
    of_schemes: Vec<RingMeasurement>,
    scaling: Vec<RingMeasurement>,
    divided: Vec<Divided>,
}

/// The file trees of the paper on Dist-RIA; --quick measures the first.
const DIVIDED: [&str; 2] = ["filetree:httpd", "filetree:cassandra"];
/// The most crawlers of that paper.
const MOST_DIVIDED: usize = 15;
/// Processing time of a message at the coordinator, in nanoseconds: half the time of a message, a
/// twentieth of an action.
const COORDINATOR: u64 = 500_000;

/// Measures and prints everything.
pub fn run(args: &SchemesBenchArgs) -> Result<(), CommandFailure> {
    let common = &args.common;
    common.prepare()?;
    let bench = measure(common)?;
    let all: Vec<&RingMeasurement> =
        bench.over_controllers.iter().chain(&bench.of_schemes).chain(&bench.scaling).collect();
    let divided = bench.divided.iter().map(|divided| &divided.run);
    common.write("schemes.csv", &report::csv(&all, published::ROWS))?;
    common.write("schemes.svg", &figure(&bench))?;
    for runs in report::by_testbed(&bench.over_controllers) {
        output::print(&format!("{}\n", report::over_controllers(&runs)))?;
    }
    for runs in report::by_testbed(&bench.of_schemes) {
        output::print(&format!("{}\n", report::of_schemes(testbed_of(&runs), &runs)))?;
    }
    output::print(&format!("{}\n", report::depths(&depths(&bench.of_schemes))))?;
    output::print(&report::scaling(&bench.scaling.iter().collect::<Vec<_>>()))?;
    for runs in groups(&bench.divided) {
        output::print(&format!("\n{}", star::over_crawlers(&runs)))?;
    }
    let most: Vec<&Divided> =
        bench.divided.iter().filter(|it| it.run.crawlers == MOST_DIVIDED).collect();
    output::print(&format!("\n{}", star::idle_times(&most)))?;
    check_all(all.into_iter().chain(divided))
}

/// Groups crawls with the same division; each group begins with one crawler.
fn groups(divided: &[Divided]) -> Vec<Vec<&Divided>> {
    divided.chunk_by(|_, next| next.run.crawlers > 1).map(|runs| runs.iter().collect()).collect()
}

/// Measures every division with the paper's strategy (breadth-first) and the default of a ring.
fn measure_divided(
    common: &RingBenchArgs,
    models: &mut Models,
) -> Result<Vec<Divided>, CommandFailure> {
    let mut crawls = Vec::new();
    let mut names = Vec::new();
    for testbed in &DIVIDED[..if common.quick { 1 } else { 2 }] {
        let reset_cost = models.add(testbed)?.reset_cost;
        for strategy in ["breadth-first", "greedy"] {
            for (division, how) in division::ALL {
                for crawlers in 1..=MOST_DIVIDED {
                    let mut scenario = Scenario::new(1, crawlers, reset_cost, common.seed);
                    scenario.strategy = strategies::find(strategy).expect("it is there");
                    scenario.division = Some(how);
                    scenario.processing_time = COORDINATOR;
                    crawls.push(MeasuredCrawl { testbed: (*testbed).to_owned(), scenario });
                    names.push((strategy, division));
                }
            }
        }
    }
    let runs = common.measure(&crawls, models).into_iter().zip(names);
    Ok(runs.map(|(run, (strategy, division))| Divided { strategy, division, run }).collect())
}

/// The application of the thesis that these runs crawl.
fn testbed_of(runs: &[&RingMeasurement]) -> &'static Testbed {
    let is = |bed: &&Testbed| {
        runs.iter().any(|run| [bed.full, bed.small, bed.quick].contains(&&*run.testbed))
    };
    TESTBEDS.iter().find(is).unwrap_or(&TESTBEDS[0])
}

/// The runs of the default scheme on the largest application of each kind.
fn depths(runs: &[RingMeasurement]) -> Vec<(&'static Testbed, &RingMeasurement)> {
    let of = |bed: &'static Testbed| {
        let runs = runs.iter().filter(|run| run.scheme == schemes::DEFAULT);
        let mut here = runs.filter(|run| [bed.full, bed.quick].contains(&&*run.testbed));
        here.next().map(|run| (bed, run))
    };
    TESTBEDS.iter().filter_map(of).collect()
}

fn measure(common: &RingBenchArgs) -> Result<SchemeMeasurements, CommandFailure> {
    let mut models = Models::default();
    let crawlers = if common.quick { 50 } else { published::CRAWLERS };
    let mut crawls = Vec::new();
    let mut of_schemes = Vec::new();
    for bed in &TESTBEDS {
        let testbeds = if common.quick { &[bed.quick][..] } else { &[bed.full, bed.small] };
        for &testbed in testbeds {
            let model = models.add(testbed)?;
            let (reset_cost, transitions) = (model.reset_cost, model.transitions());
            let crawl = |controllers, crawlers, scheme| {
                let mut scenario = Scenario::new(controllers, crawlers, reset_cost, common.seed);
                scenario.scheme = scheme;
                MeasuredCrawl { testbed: testbed.to_owned(), scenario }
            };
            let controllers = match testbed {
                _ if common.quick => &FEWER[..2],
                _ if testbed == bed.small => &FEWER,
                _ => &CONTROLLERS[..],
            };
            for scheme in schemes::ALL {
                if scheme.name == SLOW_SCHEME.0 && transitions > SLOW_SCHEME.1 {
                    continue;
                }
                crawls.extend(controllers.iter().map(|&many| crawl(many, CRAWLERS, scheme)));
                of_schemes.push(crawl(published::CONTROLLERS, crawlers, scheme));
            }
        }
    }
    let largest = if common.quick { TESTBEDS[2].quick } else { TESTBEDS[2].full };
    let reset_cost = models.add(largest)?.reset_cost;
    let scaling = (1..=5).map(|many| MeasuredCrawl {
        testbed: largest.to_owned(),
        scenario: Scenario::new(many, many * CRAWLERS, reset_cost, common.seed),
    });
    let (first, second) = (crawls.len(), of_schemes.len());
    crawls.extend(of_schemes);
    crawls.extend(scaling);
    let mut over_controllers = common.measure(&crawls, &models);
    let mut of_schemes = over_controllers.split_off(first);
    let scaling = of_schemes.split_off(second);
    let divided = measure_divided(common, &mut models)?;
    Ok(SchemeMeasurements { over_controllers, of_schemes, scaling, divided })
}

fn figure(bench: &SchemeMeasurements) -> String {
    let beds = report::by_testbed(&bench.over_controllers);
    let mut panels: Vec<lines::Panel> = beds.iter().map(|runs| report::panel(runs)).collect();
    panels.push(report::speed_up_panel(&bench.scaling.iter().collect::<Vec<_>>()));
    let groups = groups(&bench.divided);
    for of_testbed in groups.chunk_by(|a, b| a[0].run.testbed == b[0].run.testbed) {
        panels.push(star::panel(&of_testbed[0][0].run.testbed, of_testbed));
    }
    lines::svg(&lines::LineFigure {
        title: "Knowledge schemes over the number of controllers".to_owned(),
        note: format!(
            "Simulated time. Speed-up of rings: {CRAWLERS} crawlers per controller; of static division: one \
             coordinator."
        ),
        panels,
    })
}
