//! `argiope bench speed`: how fast argiope decides and how much memory a graph takes, on this
//! machine and one core.

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

The figures depend on the machine and on what else it does; compare only what was measured together.";

/// The test-bed of the whole crawl.
const LARGE: &str = "bebop-like:large";
/// The test-beds of the curve: each has twice the states of the one before.
const CURVE: [&str; 4] = ["random:1000:20", "random:2000:20", "random:4000:20", "random:8000:20"];
/// Different actions in the generated graph; real applications repeat theirs from state to state.
const ACTIONS: usize = 5000;

/// So many decisions are made between two looks at the bar, which then does not show in the times.
const DECISIONS_PER_TICK: u64 = 4096;

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct SpeedBenchArgs {
    /// Only this part; may be given several times [default: all]
    #[arg(long = "part", value_name = "PART")]
    parts: Vec<Part>,
    /// States of the generated graph
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    states: u32,
    /// Transitions of the generated graph, at least one and at most 5000 for each state
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    transitions: u64,
    /// A generated graph of 500,000 states and 50 million transitions
    #[arg(long, conflicts_with_all = ["states", "transitions"])]
    full: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Seconds for a whole crawl
    Crawl,
    /// Microseconds for a decision, over the size of the application
    Decisions,
    /// Bytes for a state and a transition
    Memory,
}

pub fn run(args: &SpeedBenchArgs) -> Result<(), CommandFailure> {
    let (states, transitions) =
        if args.full { (500_000, 50_000_000) } else { (args.states, args.transitions) };
    let degree = usize::try_from(transitions / u64::from(states)).unwrap_or(usize::MAX);
    if !(1..=ACTIONS).contains(&degree) {
        return Err(CommandFailure::Input(format!(
            "{transitions} transitions for {states} states: there must be 1 to {ACTIONS} for each state"
        )));
    }
    let wanted = |part| args.parts.is_empty() || args.parts.contains(&part);
    // First, while the process has no freed memory that the graph could hide in.
    if wanted(Part::Memory) {
        output::print(&format!("{}\n", graph_memory(states, degree)))?;
    }
    if wanted(Part::Crawl) {
        output::print(&format!("{}\n", whole_crawl()))?;
    }
    if wanted(Part::Decisions) {
        output::print(&decisions())?;
    }
    Ok(())
}

/// The plainest strategy and the default one, if they differ.
fn measured_strategies() -> Vec<&'static NamedStrategy> {
    let named =
        |described: &&NamedStrategy| ["greedy", strategies::DEFAULT].contains(&described.name);
    strategies::ALL.iter().filter(named).collect()
}

/// A complete crawl with the clock on: seconds, and the number of decisions.
fn timed(model: &Model, described: &'static NamedStrategy) -> (f64, u64) {
    let settings = StrategySettings { reset_cost: model.reset_cost, seed: 1 };
    let started = Instant::now();
    let mut crawl = SimulatedCrawl::new(model, described, settings);
    let progress = WorkProgress::new(model.transitions() as u64);
    progress.doing(described.name);
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
        return format!("Whole crawl: skipped, this build has no test-bed {LARGE}\n");
    };
    let mut table = Table::new(["strategy", "seconds", "decisions"]);
    for described in measured_strategies() {
        let (seconds, decisions) = timed(&model, described);
        table.row([described.name.to_owned(), format!("{seconds:.2}"), decisions.to_string()]);
    }
    format!(
        "Whole crawl of {LARGE} ({} states, {} transitions), one core\n{table}",
        model.states(),
        model.transitions()
    )
}

/// The time of a crawl over its decisions. Taking in what an action found is part of it: that is
/// where the distances are kept up to date.
fn decisions() -> String {
    let mut out = String::from("Microseconds for a decision, and how many times the one above\n");
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
        "Graph of {states} states and {transitions} transitions, made in {seconds:.2} s\n\
         bytes for a state:                  {:.1}\n\
         bytes for a transition:             {:.1}\n\
         megabytes counted:                  {:.1}\n",
        of_states as f64 / states,
        of_transitions as f64 / transitions,
        (of_states + of_transitions) as f64 / 1e6,
    );
    match grown {
        Some(grown) => {
            writeln!(
                out,
                "megabytes the process really grew:  {:.1} ({:.1} bytes for a transition, states included)",
                grown as f64 / 1e6,
                grown as f64 / transitions
            )
            .expect("a string takes everything");
        }
        None => out += "megabytes the process really grew:  this system does not tell\n",
    }
    out
}

/// A graph in which every state has the same number of actions, leading anywhere.
fn generated(states: u32, degree: usize) -> Graph {
    let mut chance = Chance::new(&[0x6772]);
    let signatures: Vec<ActionSignature> = (0..ACTIONS as u64).map(ActionSignature).collect();
    let mut graph = Graph::new(1);
    for state in 0..states {
        // A run of neighbouring actions, so that no state lists one twice.
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
