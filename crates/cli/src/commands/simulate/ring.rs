//! `argiope simulate --controllers N`: a ring of controllers with their crawlers, simulated.

use std::path::PathBuf;
use std::time::Instant;

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_controller::star::division;
use argiope_explore::strategies;
use argiope_explore::strategy::NamedStrategy;
use argiope_sim::cluster::scenario::{FaultEvent, STATIC, Scenario};
use argiope_sim::cluster::{Cluster, spec};
use argiope_sim::crawler::World;
use argiope_sim::star::Star;
use clap::builder::PossibleValuesParser;
use serde::{Deserialize, Serialize};

use super::trace;
use argiope::failure::CommandFailure;
use argiope::names;
use argiope::output;
use argiope::source::CheckedModel;

use super::outcome::{ClusterOutcome, table};

/// The options of a simulated ring as typed. They require `--controllers` or `--scenario`.
#[derive(clap::Args)]
#[command(next_help_heading = "A ring of controllers")]
pub struct SimulatedRingArgs {
    #[command(flatten)]
    given: ScenarioOptions,
    /// Read these options from FILE (TOML, the same names); options on the command line win
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Write every event of the first seed to a file
    #[arg(long, value_name = "TRACE")]
    trace: Option<PathBuf>,
    /// Replay a trace with the same application, and check every event
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["controllers", "scenario", "trace"])]
    pub(super) replay: Option<PathBuf>,
}

/// The options of a scenario, as typed or as written in a scenario file.
#[derive(clap::Args, Serialize, Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ScenarioOptions {
    /// Simulate a ring of N controllers [default: no ring, one crawler]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    controllers: Option<u32>,
    /// Simulate M crawlers [default: 20 for each controller]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    crawlers: Option<u32>,
    /// Share knowledge among controllers by this scheme [default: forward-global]; static divides
    /// the work in advance, with one coordinator
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(scheme_names()))]
    scheme: Option<String>,
    /// Divide the actions of a state in this way; requires --scheme static [default: stride]
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(division::ALL.map(|(name, _)| name)))]
    division: Option<String>,
    /// Recover the states of a lost controller by this policy [default: retry]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(spec::RECOVERIES))]
    recovery: Option<String>,
    /// Keep R replicas of each state [default: 1]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(0..=16))]
    backups: Option<u32>,
    /// Inject failures: none, poisson:PER_HOUR, at:20%,50%, neighbours:K@50%, crawlers:at:30%; also
    /// join@10%, leave@50%, restart:1s@20% (from its disk), slow:20@10%, freeze:2s@30%,
    /// part:2s@40%; several with + between them [default: none]
    #[arg(long, value_name = "SPEC")]
    failures: Option<String>,
    /// Set the latency of a message: 1ms, 1ms..5ms, or 1ms~ for a heavy tail [default: 1ms]
    #[arg(long, value_name = "TIME")]
    latency: Option<String>,
    /// Set the duration of an action [default: 10ms]
    #[arg(long, value_name = "TIME")]
    action_time: Option<String>,
    /// Set the time that a controller processes a message [default: 0us]
    #[arg(long, value_name = "TIME")]
    processing: Option<String>,
    /// Set the time between two syncs of a controller's disk [default: 50ms]
    #[arg(long, value_name = "TIME")]
    sync: Option<String>,
}

fn scheme_names() -> Vec<&'static str> {
    schemes::ALL.iter().map(|scheme| scheme.name).chain([STATIC]).collect()
}

impl SimulatedRingArgs {
    /// Whether a ring is asked for.
    pub fn is_wanted(&self) -> bool {
        self.given.controllers.is_some() || self.scenario.is_some()
    }

    /// The options of the command line over those of the file.
    fn merged(&self) -> Result<ScenarioOptions, CommandFailure> {
        let Some(path) = &self.scenario else { return Ok(self.given.clone()) };
        let table = |options: &_| toml::Table::try_from(options).expect("options are TOML");
        let mut options = table(&read(path)?);
        options.extend(table(&self.given));
        Ok(options.try_into().expect("both tables hold options"))
    }

    /// The first option given that requires a ring.
    pub fn requires_ring(&self) -> Option<&'static str> {
        let given = &self.given;
        let options = [
            (given.crawlers.is_some(), "--crawlers"),
            (given.scheme.is_some(), "--scheme"),
            (given.division.is_some(), "--division"),
            (given.recovery.is_some(), "--recovery"),
            (given.backups.is_some(), "--backups"),
            (given.failures.is_some(), "--failures"),
            (given.latency.is_some(), "--latency"),
            (given.action_time.is_some(), "--action-time"),
            (given.processing.is_some(), "--processing"),
            (given.sync.is_some(), "--sync"),
            (self.trace.is_some(), "--trace"),
        ];
        options.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}

/// Simulates a ring once for each seed.
pub fn run(
    args: &SimulatedRingArgs,
    app: &CheckedModel,
    strategies: &[&'static NamedStrategy],
    seeds: std::ops::Range<u64>,
    json: bool,
) -> Result<(), CommandFailure> {
    let world = World::new(&app.model);
    let options = args.merged()?;
    let mut outcomes = Vec::new();
    for &strategy in strategies {
        for seed in seeds.clone() {
            let scenario = scenario(&options, app, strategy, seed)?;
            let started = Instant::now();
            if scenario.division.is_some() {
                if args.trace.is_some() {
                    return Err(CommandFailure::Input(
                        "--trace cannot be used with --scheme static".to_owned(),
                    ));
                }
                let mut star = Star::new(&world, scenario);
                star.run();
                outcomes.push(ClusterOutcome::of_star(&star, milliseconds_since(started)));
                continue;
            }
            let mut cluster = Cluster::new(&world, scenario);
            if let Some(path) = args.trace.as_deref().filter(|_| outcomes.is_empty()) {
                let header = trace::Header::new(app, strategy.name, seed, options.clone());
                trace::write(path, &header, &mut cluster)?;
            }
            cluster.run();
            outcomes.push(ClusterOutcome::of(&cluster, milliseconds_since(started)));
        }
    }
    if json {
        outcomes.iter().try_for_each(|outcome| output::print(&outcome.line()))?;
    } else {
        output::print(&format!("{}\n{}", app.describe(), table(&outcomes)))?;
    }
    match outcomes.iter().find_map(|outcome| Some((outcome.seed, outcome.wrong.as_deref()?))) {
        Some((seed, wrong)) => Err(CommandFailure::Failed(format!(
            "the simulated crawl failed: {wrong}; to inspect it, add --seed {seed} --trace FILE, then \
             --replay FILE"
        ))),
        None => Ok(()),
    }
}

/// Rounded to microseconds: more digits are noise.
fn milliseconds_since(started: Instant) -> f64 {
    started.elapsed().as_micros() as f64 / 1000.0
}

/// Checks the options.
pub(super) fn scenario(
    options: &ScenarioOptions,
    app: &CheckedModel,
    strategy: &'static NamedStrategy,
    seed: u64,
) -> Result<Scenario, CommandFailure> {
    let wrong = |error: spec::SpecError| CommandFailure::Input(error.to_string());
    let controllers = options.controllers.unwrap_or(1) as usize;
    let crawlers = options.crawlers.map_or(20 * controllers, |many| many as usize);
    if crawlers == 0 || controllers == 0 {
        return Err(CommandFailure::Input(
            "a ring needs at least one controller and one crawler".to_owned(),
        ));
    }
    let mut scenario = Scenario::new(controllers, crawlers, app.reset_cost, seed);
    scenario.strategy = strategy;
    scenario.is_checked = app.model.transitions() < 10_000;
    let scheme = options.scheme.as_deref();
    let division = options.division.as_deref();
    if scheme == Some(STATIC) {
        if controllers > 1 {
            return Err(CommandFailure::Input(
                "--scheme static has one coordinator: use --controllers 1".to_owned(),
            ));
        }
        let name = division.unwrap_or(division::ALL[0].0);
        let found = division::ALL.into_iter().find(|(known, _)| *known == name);
        let unknown = || unknown("division", name, &division::ALL.map(|(name, _)| name));
        scenario.division = Some(found.ok_or_else(unknown)?.1);
    } else {
        if division.is_some() {
            return Err(CommandFailure::Input("--division requires --scheme static".to_owned()));
        }
        strategies::find_for_partial_graphs(strategy.name).map_err(CommandFailure::Input)?;
    }
    if let Some(name) = scheme.filter(|&name| name != STATIC) {
        let found: Option<&'static Scheme> = schemes::find(name);
        scenario.scheme = found.ok_or_else(|| unknown("scheme", name, &scheme_names()))?;
    }
    if let Some(name) = &options.recovery {
        let found = spec::parse_recovery(name);
        scenario.recovery = found.ok_or_else(|| unknown("recovery", name, spec::RECOVERIES))?;
    }
    if let Some(backups) = options.backups {
        scenario.backups = backups as usize;
    }
    if let Some(given) = &options.failures {
        (scenario.scheduled_faults, scenario.failures_per_hour) =
            spec::parse_faults(given).map_err(wrong)?;
        if scenario.division.is_some() && hits_ring(&scenario) {
            return Err(CommandFailure::Input(
                "--scheme static has no ring: only crawlers can fail, join or leave".to_owned(),
            ));
        }
    }
    let time = |given: &String| {
        spec::parse_time(given).ok_or_else(|| {
            CommandFailure::Input(format!(
                "{given:?} is no duration; write for example 10ms or 250us"
            ))
        })
    };
    let action = options.action_time.as_ref().map(time).transpose()?;
    let latency = options.latency.as_deref().map(spec::parse_latency).transpose().map_err(wrong)?;
    scenario.set_pace(action, latency);
    if let Some(given) = &options.processing {
        scenario.processing_time = time(given)?.saturating_mul(1000);
    }
    if let Some(given) = &options.sync {
        scenario.sync_interval = time(given)?.max(1);
    }
    Ok(scenario)
}

/// Whether a fault of the scenario hits controllers of a ring.
fn hits_ring(scenario: &Scenario) -> bool {
    let hits = |fault| !matches!(fault, FaultEvent::LoseCrawler | FaultEvent::AddCrawler);
    scenario.failures_per_hour > 0.0
        || scenario.scheduled_faults.iter().any(|&(_, fault)| hits(fault))
}

fn unknown(kind: &str, given: &str, known: &[&str]) -> CommandFailure {
    CommandFailure::Input(names::unknown(kind, given, known.iter().copied()))
}

/// Reads a scenario file.
fn read(path: &std::path::Path) -> Result<ScenarioOptions, CommandFailure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}", path.display())))?;
    toml::from_str(&text).map_err(|error| {
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        CommandFailure::Input(format!("{} is no scenario: {what}", path.display()))
    })
}
