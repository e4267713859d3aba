//! `argiope bound`: the lowest cost of a crawl if the application were known from the start.

use argiope::format::{effort, number};
use argiope_explore::bound::{self, Bound};
use argiope_sim::tour::{self, AllStates};
use serde::Serialize;

use argiope::failure::CommandFailure;
use argiope::output;
use argiope::source::{CheckedModel, Source};

const AFTER_HELP: &str = "\
Examples:
  argiope bound --testbed hypercube:8
  argiope bound --testbed hypercube:8 --reset-cost 10 --json";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct BoundArgs {
    #[command(flatten)]
    source: Source,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the bounds.
pub fn run(args: &BoundArgs) -> Result<(), CommandFailure> {
    let app = args.source.load()?;
    let complete = bound::lower_bound(&app.model, app.reset_cost);
    let all_states = tour::all_states(&app.model, app.reset_cost);
    if args.json {
        return output::print(&line(&app, &complete, &all_states));
    }
    output::print(&format!(
        "{}\n\
         complete crawl, lower bound:  {}\n\
         all states, best tour known:  {}, lower bound {}\n",
        app.describe(),
        effort(complete.cost, complete.actions, complete.resets),
        effort(all_states.cost, all_states.actions, all_states.resets),
        number(all_states.lower),
    ))
}

#[derive(Serialize)]
struct Line {
    states: usize,
    transitions: usize,
    reset_cost: f64,
    complete: Effort,
    all_states: Effort,
}

#[derive(Serialize)]
struct Effort {
    actions: u64,
    resets: u64,
    cost: f64,
    /// The lower bound; that of a complete crawl is exact.
    lower: f64,
}

fn line(app: &CheckedModel, complete: &Bound, all_states: &AllStates) -> String {
    let effort = |actions, resets, cost, lower| Effort { actions, resets, cost, lower };
    let line = Line {
        states: app.model.states(),
        transitions: app.model.transitions(),
        reset_cost: app.reset_cost,
        complete: effort(complete.actions, complete.resets, complete.cost, complete.cost),
        all_states: effort(
            all_states.actions,
            all_states.resets,
            all_states.cost,
            all_states.lower,
        ),
    };
    serde_json::to_string(&line).expect("numbers are JSON") + "\n"
}
