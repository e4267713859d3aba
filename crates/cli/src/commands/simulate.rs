//! `argiope simulate`: one simulated crawler, or a ring of controllers with many, in a known
//! application. Costs are exact.

use std::time::Instant;

use argiope_explore::bound;
use argiope_explore::strategies;
use argiope_explore::strategy::NamedStrategy;
use argiope_sim::summary::by_strategy;

use crate::args::strategy_names;
use argiope::failure::CommandFailure;
use argiope::progress::WorkProgress;
use argiope::source::{CheckedModel, Source};
use argiope::strategy_runs::{crawl, table};
use argiope::{output, terminal};

mod json;
mod outcome;
mod ring;
mod trace;

const ALL: (&str, &str) = ("all", "every strategy in turn");

const AFTER_HELP: &str = "\
Examples:
  argiope simulate --testbed hypercube:8
  argiope simulate --testbed hypercube:8 --strategy all --seeds 5
  argiope simulate --testbed hypercube:8 --strategy greedy --reset-cost 10 --json
  argiope simulate --model switch.json
  argiope simulate --testbed site-like --controllers 3 --failures at:50%
  argiope simulate --testbed site-like --controllers 1 --crawlers 15 --scheme static
  argiope simulate --testbed bank-like --controllers 2 --crawlers 3 --trace bank.trace
  argiope simulate --testbed bank-like --replay bank.trace

The table has medians over the seeds: the cost until the last state is found, the cost until the \
last transition is executed, and the ratio of the latter to the lower bound. The cost is the \
number of actions plus the resets at their cost; the first load is a reset.

With --json each run is one object on one line: strategy, seed, states, transitions, \
all_states{actions,resets,cost}, complete{actions,resets,cost}, quartiles (the costs at which 25, \
50, 75 and 100 % of the states are found), lower_bound_complete, wall_ms. The same seed gives the \
same bytes except wall_ms.

With --controllers a ring of controllers shares the crawl; each row is a run. With --json an \
object has strategy, seed, states, transitions, controllers, crawlers, scheme, recovery, cost, \
simulated_ms, messages{by kind}, messages_total (without kind ring), messages_per_transition, \
depths[] (tasks by the length of their path), idle_share, failures, reexecuted, model_equal, \
wall_ms.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct SimulateArgs {
    #[command(flatten)]
    source: Source,
    /// Explore with this strategy [default: adaptive, with --controllers greedy]
    #[arg(long, value_name = "NAME", value_parser = strategy_names(&[ALL]))]
    strategy: Option<String>,
    /// Run N consecutive seeds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// Begin with seed S
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object per run instead of the table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    ring: ring::SimulatedRingArgs,
}

/// The arguments, checked.
struct Plan {
    app: CheckedModel,
    strategies: Vec<&'static NamedStrategy>,
    seeds: std::ops::Range<u64>,
}

/// Simulates and prints the results.
pub fn run(args: &SimulateArgs) -> Result<(), CommandFailure> {
    let plan = check(args)?;
    if let Some(path) = &args.ring.replay {
        return trace::replay(path, &plan.app);
    }
    if args.ring.is_wanted() {
        return ring::run(&args.ring, &plan.app, &plan.strategies, plan.seeds, args.json);
    }
    let bound = bound::lower_bound(&plan.app.model, plan.app.reset_cost);
    let work = plan.strategies.len() as u64 * args.seeds * plan.app.model.transitions() as u64;
    let progress = WorkProgress::new(work);
    let mut runs = Vec::new();
    for described in &plan.strategies {
        progress.set_step(described.name);
        for seed in plan.seeds.clone() {
            let started = Instant::now();
            let run = crawl(&plan.app, described, seed, &progress);
            // Whole microseconds: the rest is noise.
            let wall_ms = started.elapsed().as_micros() as f64 / 1000.0;
            if args.json {
                let line = json::line(&run, plan.app.reset_cost, &bound, wall_ms);
                terminal::aside(|| output::print(&line))?;
            } else {
                runs.push(run);
            }
        }
    }
    drop(progress);
    if args.json {
        return Ok(());
    }
    let summaries = by_strategy(&runs, plan.app.reset_cost, &bound);
    output::print(&format!(
        "{}, {}\n{}",
        plan.app.describe(),
        seeds_text(&plan.seeds),
        table(&summaries, &bound)
    ))
}

fn check(args: &SimulateArgs) -> Result<Plan, CommandFailure> {
    let end = args.seed.checked_add(args.seeds).ok_or_else(|| {
        CommandFailure::Input(format!("--seed {} is too large for {} seeds", args.seed, args.seeds))
    })?;
    if !args.ring.is_wanted()
        && let Some(name) = args.ring.requires_ring()
    {
        return Err(CommandFailure::Input(format!("{name} requires --controllers")));
    }
    let default =
        if args.ring.is_wanted() { strategies::FOR_PARTIAL_GRAPHS[0] } else { strategies::DEFAULT };
    let name = args.strategy.as_deref().unwrap_or(default);
    let named = |described: &&NamedStrategy| match name {
        "all" if args.ring.is_wanted() => strategies::FOR_PARTIAL_GRAPHS.contains(&described.name),
        name => name == ALL.0 || name == described.name,
    };
    Ok(Plan {
        app: args.source.load()?,
        strategies: strategies::ALL.iter().filter(named).collect(),
        seeds: args.seed..end,
    })
}

fn seeds_text(seeds: &std::ops::Range<u64>) -> String {
    if seeds.end - seeds.start == 1 {
        format!("seed {}", seeds.start)
    } else {
        format!("seeds {} to {}", seeds.start, seeds.end - 1)
    }
}
