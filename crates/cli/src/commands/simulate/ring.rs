//! `argiope simulate --controllers N`: a ring of controllers with their crawlers, simulated.

use std::path::PathBuf;
use std::time::Instant;

use argiope_controller::peer::schemes::{self, Scheme};
use argiope_explore::strategies;
use argiope_explore::strategy::Described;
use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::cluster::{Cluster, spec};
use argiope_sim::crawler::World;
use argiope_sim::report::cluster::{Outcome, table};
use clap::builder::PossibleValuesParser;
use serde::Deserialize;

use crate::failure::Failure;
use crate::output;
use crate::source::Application;

/// As typed. Nothing of it is looked at without `--controllers` or `--scenario`.
#[derive(clap::Args, Default)]
#[command(next_help_heading = "A ring of controllers")]
pub struct RingArgs {
    /// How many controllers share the crawl; without it there is none, and one crawler
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    controllers: Option<u32>,
    /// How many crawlers they have [default: 20 each]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    crawlers: Option<u32>,
    /// What controllers know of each other's states [default: forward-global]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(scheme_names()))]
    scheme: Option<String>,
    /// What becomes of what a lost controller knew [default: retry]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(spec::RECOVERIES))]
    recovery: Option<String>,
    /// On how many other controllers there are copies [default: 1]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(0..=16))]
    backups: Option<u32>,
    /// What fails and when: none, poisson:PER_HOUR, at:20%,50%, neighbours:K@50%, crawlers:at:30%; also join@10%,
    /// leave@50%, freeze:2s@30%, part:2s@40%; several with + between them [default: none]
    #[arg(long, value_name = "SPEC")]
    failures: Option<String>,
    /// How long a message takes: 1ms, 1ms..5ms, or 1ms~ for a heavy tail [default: 1ms]
    #[arg(long, value_name = "TIME")]
    latency: Option<String>,
    /// How long an action takes [default: 10ms]
    #[arg(long, value_name = "TIME")]
    action_time: Option<String>,
    /// How long a controller works on a message [default: 0us]
    #[arg(long, value_name = "TIME")]
    processing: Option<String>,
    /// Take all of these from a file (TOML, the same names); what is typed wins
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Print everything that happens, for the first seed
    #[arg(long)]
    replay: bool,
}

/// What a scenario file says.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Written {
    controllers: Option<u32>,
    crawlers: Option<u32>,
    scheme: Option<String>,
    recovery: Option<String>,
    backups: Option<u32>,
    failures: Option<String>,
    latency: Option<String>,
    action_time: Option<String>,
    processing: Option<String>,
}

fn scheme_names() -> Vec<&'static str> {
    schemes::ALL.iter().map(|scheme| scheme.name).collect()
}

impl RingArgs {
    /// Whether a ring is asked for.
    pub fn wanted(&self) -> bool {
        self.controllers.is_some() || self.scenario.is_some()
    }

    /// Whether something is asked for that only a ring has.
    pub fn pointless(&self) -> Option<&'static str> {
        let given = [
            (self.crawlers.is_some(), "--crawlers"),
            (self.scheme.is_some(), "--scheme"),
            (self.recovery.is_some(), "--recovery"),
            (self.backups.is_some(), "--backups"),
            (self.failures.is_some(), "--failures"),
            (self.latency.is_some(), "--latency"),
            (self.action_time.is_some(), "--action-time"),
            (self.processing.is_some(), "--processing"),
            (self.replay, "--replay"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}

/// Simulates a ring once for each seed.
pub fn run(
    args: &RingArgs,
    app: &Application,
    strategies: &[&'static Described],
    seeds: std::ops::Range<u64>,
    json: bool,
) -> Result<(), Failure> {
    let world = World::new(&app.model);
    let mut outcomes = Vec::new();
    for &strategy in strategies {
        let parts = strategies::FOR_PARTS;
        if !parts.contains(&strategy.name) {
            return Err(Failure::Input(format!(
                "--strategy {}: with controllers that know a part of the application it must be one of {}",
                strategy.name,
                parts.join(", ")
            )));
        }
        for seed in seeds.clone() {
            let scenario = scenario(args, app, strategy, seed)?;
            let started = Instant::now();
            let mut cluster = Cluster::new(&world, scenario);
            if args.replay {
                while let Some(words) = cluster.step_in_words() {
                    words.iter().try_for_each(|line| output::print(&format!("{line}\n")))?;
                }
            }
            cluster.run();
            // Whole microseconds: the rest is noise.
            let wall_ms = started.elapsed().as_micros() as f64 / 1000.0;
            let outcome = Outcome::of(&cluster, wall_ms);
            if json {
                output::print(&outcome.line())?;
            }
            outcomes.push(outcome);
            if args.replay {
                break;
            }
        }
    }
    if !json {
        output::print(&format!("{}\n{}", app.describe(), table(&outcomes)))?;
    }
    match outcomes.iter().find_map(|outcome| outcome.wrong.as_deref()) {
        Some(wrong) => Err(Failure::Failed(format!("the simulated crawl went wrong: {wrong}"))),
        None => Ok(()),
    }
}

fn scenario(
    args: &RingArgs,
    app: &Application,
    strategy: &'static Described,
    seed: u64,
) -> Result<Scenario, Failure> {
    let wrong = |error: spec::Misspelt| Failure::Input(error.to_string());
    let written = match &args.scenario {
        Some(path) => read(path)?,
        None => Written::default(),
    };
    let controllers = args.controllers.or(written.controllers).unwrap_or(1) as usize;
    let crawlers = args.crawlers.or(written.crawlers).map_or(20 * controllers, |many| many as usize);
    if crawlers == 0 || controllers == 0 {
        return Err(Failure::Input("a ring needs a controller and a crawler".to_owned()));
    }
    let mut scenario = Scenario::new(controllers, crawlers, app.reset_cost, seed);
    scenario.strategy = strategy;
    scenario.checked = app.model.transitions() < 10_000;
    if let Some(name) = args.scheme.clone().or(written.scheme) {
        let found: Option<&'static Scheme> = schemes::find(&name);
        scenario.scheme = found.ok_or_else(|| {
            Failure::Input(format!("there is no scheme {name:?}; there are {}", scheme_names().join(", ")))
        })?;
    }
    if let Some(name) = args.recovery.clone().or(written.recovery) {
        scenario.recovery = spec::recovery(&name).ok_or_else(|| {
            Failure::Input(format!(
                "there is no recovery {name:?}; there are {}",
                spec::RECOVERIES.join(", ")
            ))
        })?;
    }
    if let Some(backups) = args.backups.or(written.backups) {
        scenario.backups = backups as usize;
    }
    if let Some(given) = args.failures.clone().or(written.failures) {
        (scenario.happenings, scenario.failures_per_hour) = spec::failures(&given).map_err(wrong)?;
    }
    let time = |given: String| {
        spec::microseconds(&given)
            .ok_or_else(|| Failure::Input(format!("{given:?} is no time: expected such as 10ms or 250us")))
    };
    let action = args.action_time.clone().or(written.action_time).map(time).transpose()?;
    let latency = args.latency.clone().or(written.latency);
    let latency = latency.map(|given| spec::latency(&given)).transpose().map_err(wrong)?;
    scenario.pace(action, latency);
    if let Some(given) = args.processing.clone().or(written.processing) {
        scenario.processing = time(given)?.saturating_mul(1000);
    }
    Ok(scenario)
}

fn read(path: &std::path::Path) -> Result<Written, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    toml::from_str(&text).map_err(|error| {
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        Failure::Input(format!("{}: no scenario: {what}", path.display()))
    })
}
