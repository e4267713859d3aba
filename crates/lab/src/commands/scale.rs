//! `argiope bench scale`: a simulated ring of up to a hundred controllers with twenty crawlers
//! each.

use argiope_controller::peer::schemes;
use argiope_lab::report::{lines, rings as report};
use argiope_lab::rings::RingMeasurement;
use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::cluster::spec;

use super::rings::{MeasuredCrawl, Models, RingBenchArgs, check_all};
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope bench scale --quick
  argiope bench scale --quick --out results

With --out the directory gets scale.csv and scale.svg. The speed-up is relative to one controller \
with twenty crawlers. The shorter an action is compared with a message, the larger is the share of \
time spent on finding the next action. The results do not depend on --jobs.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ScaleBenchArgs {
    #[command(flatten)]
    common: RingBenchArgs,
    /// Crawl this test-bed [default: random:8000:50, quick random:300:10]
    #[arg(long, value_name = "NAME")]
    testbed: Option<String>,
    /// Duration of an action; a message takes 1ms
    #[arg(long, value_name = "TIME", default_value = "50ms")]
    action_time: String,
    /// Measure only this scheme; may be given several times
    #[arg(long = "scheme", value_name = "NAME", default_values = ["forward-global", "gossip"])]
    schemes: Vec<String>,
}

/// Crawlers for each controller: the most that one supports, according to the thesis.
const CRAWLERS: usize = 20;
const CONTROLLERS: [usize; 6] = [1, 2, 5, 10, 50, 100];
/// Two thousand crawlers have two hundred tasks each in it.
const LARGE: &str = "random:8000:50";
const QUICK: (&str, [usize; 3]) = ("random:300:10", [1, 2, 5]);

/// Measures every scheme with every number of controllers.
pub fn run(args: &ScaleBenchArgs) -> Result<(), CommandFailure> {
    let common = &args.common;
    let (usual, controllers): (&str, &[usize]) =
        if common.quick { (QUICK.0, &QUICK.1) } else { (LARGE, &CONTROLLERS) };
    let testbed = args.testbed.as_deref().unwrap_or(usual);
    let mut models = Models::default();
    let reset_cost = models.add(testbed)?.reset_cost;
    let action = spec::parse_time(&args.action_time).filter(|&time| time > 0);
    let action = action.ok_or_else(|| {
        CommandFailure::Input(format!(
            "--action-time {:?} is no duration; write for example 10ms or 250us",
            args.action_time
        ))
    })?;
    let mut crawls = Vec::new();
    for name in &args.schemes {
        let scheme = schemes::find(name).ok_or_else(|| unknown(name))?;
        crawls.extend(controllers.iter().map(|&many| {
            let mut scenario = Scenario::new(many, many * CRAWLERS, reset_cost, common.seed);
            scenario.scheme = scheme;
            scenario.set_pace(Some(action), None);
            MeasuredCrawl { testbed: testbed.to_owned(), scenario }
        }));
    }
    common.prepare()?;
    let runs = common.measure(&crawls, &models);
    let all: Vec<&RingMeasurement> = runs.iter().collect();
    common.write("scale.csv", &report::csv(&all, &[]))?;
    common.write("scale.svg", &figure(&all))?;
    for runs in all.chunks(controllers.len()) {
        output::print(&format!("{}\n", report::scaling(runs)))?;
    }
    check_all(all)
}

fn unknown(name: &str) -> CommandFailure {
    CommandFailure::Input(argiope::names::unknown(
        "scheme",
        name,
        schemes::ALL.iter().map(|scheme| scheme.name),
    ))
}

fn figure(runs: &[&RingMeasurement]) -> String {
    lines::svg(&lines::LineFigure {
        title: "Speed-up of a ring".to_owned(),
        note: format!("{CRAWLERS} crawlers for each controller; simulated time; logarithmic axes."),
        panels: vec![report::speed_up_panel(runs)],
    })
}
