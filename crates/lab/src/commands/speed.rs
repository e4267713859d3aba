//! `argiope bench speed`: the time of decisions and the memory of a graph, on one core.

use std::fmt::Write;
use std::time::Instant;

use argiope::table::Table;
use argiope_explore::chance::Chance;
use argiope_explore::graph::{Graph, Slot};
use argiope_explore::id::{ActionSignature, StateIndex};
use argiope_explore::model::Model;
use argiope_explore::strategies;
use argiope_explore::strategy::{NamedStrategy, StrategySettings};
use argiope_sim::crawl::{SimulatedCrawl, key_of};
use clap::ValueEnum;

use crate::machine;
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::progress::WorkProgress;
use argiope::source;

const AFTER_HELP: &str = "\
Examples:
  argiope bench speed --part memory --states 10000 --transitions 200000

The figures depend on the machine and its load: compare only figures of the same run.";

/// The test-bed of the whole crawl.
const LARGE: &str = "bebop-like:large";
/// The test-beds of the curve; the number of states doubles.
const CURVE: [&str; 4] = ["random:1000:20", "random:2000:20", "random:4000:20", "random:8000:20"];
/// Distinct actions of the generated graph; states of real applications share actions.
const ACTIONS: usize = 5000;

/// Decisions between two updates of the progress bar, so that it does not affect the times.
const DECISIONS_PER_TICK: u64 = 4096;

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct SpeedBenchArgs {
    /// Measure only this; may be given several times [default: all]
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<SpeedAspect>,
    /// Generate a graph of N states
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    states: u32,
    /// Generate about N transitions, the same number for each state (1 to 5000)
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    transitions: u64,
    /// Generate a graph of 500,000 states and 50 million transitions
    #[arg(long, conflicts_with_all = ["states", "transitions"])]
    full: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SpeedAspect {
    /// Seconds of a complete crawl
    Crawl,
    /// Microseconds of a decision, over the size of the application
    Decisions,
    /// Bytes of a state and of a transition
    Memory,
}

/// Measures what is asked for.
pub fn run(args: &SpeedBenchArgs) -> Result<(), CommandFailure> {
    let (states, transitions) =
        if args.full { (500_000, 50_000_000) } else { (args.states, args.transitions) };
    let degree = usize::try_from(transitions / u64::from(states)).unwrap_or(usize::MAX);
    if !(1..=ACTIONS).contains(&degree) {
        return Err(CommandFailure::Input(format!(
            "{transitions} transitions for {states} states: each state must have 1 to {ACTIONS}; change --states or --transitions"
        )));
    }
    let is_wanted = |aspect| args.parts.is_empty() || args.parts.contains(&aspect);
    // Comes first: freed memory of other measurements would hide the growth.
    if is_wanted(SpeedAspect::Memory) {
        output::print(&format!("{}\n", graph_memory(states, degree)))?;
    }
    if is_wanted(SpeedAspect::Crawl) {
        output::print(&format!("{}\n", whole_crawl()))?;
    }
    if is_wanted(SpeedAspect::Decisions) {
        output::print(&decisions())?;
    }
    Ok(())
}

/// The greedy strategy and the default one.
fn measured_strategies() -> Vec<&'static NamedStrategy> {
    let named =
        |described: &&NamedStrategy| ["greedy", strategies::DEFAULT].contains(&described.name);
    strategies::ALL.iter().filter(named).collect()
}

/// Crawls completely. Returns the seconds and the number of decisions.
fn timed(model: &Model, described: &'static NamedStrategy) -> (f64, u64) {
    let settings = StrategySettings { reset_cost: model.reset_cost, seed: 1 };
    let started = Instant::now();
    let mut crawl = SimulatedCrawl::new(model, described, settings);
    let progress = WorkProgress::new(model.transitions() as u64);
    progress.set_step(described.name);
    let mut decisions = 0;
    while crawl.step() {
        decisions += 1;
        if decisions % DECISIONS_PER_TICK == 0 {
            progress.advance(DECISIONS_PER_TICK);
        }
    }
    (started.elapsed().as_secs_f64(), decisions)
}

fn whole_crawl() -> String {
    let Ok(model) = source::testbed(LARGE) else {
        return format!("Complete crawl: skipped, this build has no test-bed {LARGE}\n");
    };
    let mut table = Table::new(["strategy", "seconds", "decisions"]);
    for described in measured_strategies() {
        let (seconds, decisions) = timed(&model, described);
        table.row([described.name.to_owned(), format!("{seconds:.2}"), decisions.to_string()]);
    }
    format!(
        "Complete crawl of {LARGE} ({} states, {} transitions), one core\n{table}",
        model.states(),
        model.transitions()
    )
}

/// The time of a crawl over its decisions. It includes recording each outcome, which updates the
/// distances.
fn decisions() -> String {
    let mut out = String::from("Microseconds of a decision, and the ratio to the row above\n");
    for described in measured_strategies() {
        let mut table = Table::new([described.name, "states", "decisions", "µs", "×"]);
        let mut before: Option<f64> = None;
        for name in CURVE {
            let Ok(model) = source::testbed(name) else {
                table.row([format!("{name} (skipped: not in this build)")]);
                continue;
            };
            let (seconds, decisions) = timed(&model, described);
            let each = seconds * 1e6 / decisions.max(1) as f64;
            let times = before.map_or(String::new(), |before| format!("{:.2}", each / before));
            before = Some(each);
            table.row([
                name.to_owned(),
                model.states().to_string(),
                decisions.to_string(),
                format!("{each:.3}"),
                times,
            ]);
        }
        write!(out, "{table}").expect("a string takes everything");
    }
    out
}

fn graph_memory(states: u32, degree: usize) -> String {
    let before = machine::resident();
    let started = Instant::now();
    let graph = generated(states, degree);
    let seconds = started.elapsed().as_secs_f64();
    let grown = machine::resident().zip(before).map(|(after, before)| after.saturating_sub(before));
    let (of_states, of_transitions) = graph.bytes();
    let (states, transitions) = (graph.states() as f64, graph.transitions() as f64);
    let mut out = format!(
        "Graph of {states} states and {transitions} transitions, built in {seconds:.2} s\n\
         bytes of a state:               {:.1}\n\
         bytes of a transition:          {:.1}\n\
         megabytes counted:              {:.1}\n",
        of_states as f64 / states,
        of_transitions as f64 / transitions,
        (of_states + of_transitions) as f64 / 1e6,
    );
    match grown {
        Some(grown) => {
            writeln!(
                out,
                "growth of the process in MB:    {:.1} ({:.1} bytes of a transition, states included)",
                grown as f64 / 1e6,
                grown as f64 / transitions
            )
            .expect("a string takes everything");
        }
        None => out += "growth of the process in MB:    unknown on this system\n",
    }
    out
}

/// Builds a graph in which every state has the same number of actions, with random targets.
fn generated(states: u32, degree: usize) -> Graph {
    let mut chance = Chance::new(&[0x6772]);
    let signatures: Vec<ActionSignature> = (0..ACTIONS as u64).map(ActionSignature).collect();
    let mut graph = Graph::new(1);
    for state in 0..states {
        // Consecutive actions, so that no state lists one twice.
        let first = chance.below(ACTIONS - degree + 1);
        graph.add_state(key_of(state), &signatures[first..first + degree]);
    }
    for state in 0..states {
        for index in 0..degree as u32 {
            let slot = Slot { state: StateIndex(state), index };
            graph.record(slot, StateIndex(chance.below(states as usize) as u32));
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_graph_has_the_size_asked_for() {
        let graph = generated(50, 7);
        assert_eq!((graph.states(), graph.transitions(), graph.unexplored()), (50, 350, 0));
    }
}
