//! `argiope export`: the model of a run, or the page of a state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use argiope::format::count;
use argiope_explore::id::ActionSignature;

use crate::recorded::RecordedRun;
use argiope::failure::CommandFailure;
use argiope::{output, terminal};

const AFTER_HELP: &str = "\
Examples:
  argiope export demo-run --format model > demo.json
  argiope simulate --model demo.json
  argiope export demo-run --format source --state initial

The model has the states in the order of discovery, and the first target of each transition. \
Different actions with the same label get a number.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ExportArgs {
    /// Read the run in this directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Export this
    #[arg(long, value_name = "FORMAT")]
    format: Format,
    /// Export this state: `initial`, its number, or the beginning of its key
    #[arg(long, value_name = "STATE", required_if_eq_any([("format", "source"), ("format", "screenshot")]))]
    state: Option<String>,
    /// Write to this file, which only its owner may read, instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The graph as an argiope-model/1 file
    Model,
    /// The page of a state, as HTML
    Source,
    /// The screenshot of a state, if the crawl took screenshots
    Screenshot,
}

/// Exports what is asked for.
pub fn run(args: &ExportArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    let wrong = |what: &str| CommandFailure::Input(what.to_owned());
    let detail = || recorded.detail(recorded.find(args.state.as_deref().unwrap_or_default())?);
    let bytes = match args.format {
        Format::Model if args.state.is_some() => {
            return Err(wrong("--state cannot be used with --format model"));
        }
        Format::Model => model(&recorded)?.into_bytes(),
        Format::Source => recorded.blob(detail()?.source)?,
        Format::Screenshot => {
            let none = || wrong("the run has no screenshots: crawl with --screenshots");
            recorded.blob(detail()?.screenshot.ok_or_else(none)?)?
        }
    };
    match &args.out {
        Some(path) => output::private_file(path, &bytes),
        None => output::print_bytes(&bytes),
    }
}

/// The model as JSON.
fn model(recorded: &RecordedRun) -> Result<String, CommandFailure> {
    recorded.graph()?;
    let labels = recorded.labels()?;
    let mut names = Names { labels, given: BTreeSet::new() };
    let mut model = recorded.controller.model(&*recorded.settings.url, |action| names.name(action));
    // It is a measurement; more digits are noise.
    model.reset_cost = (recorded.learned.reset_cost * 100.0).round() / 100.0;
    let unreachable = model.unreachable().len();
    if unreachable > 0 {
        terminal::message(&format!(
            "the model keeps the first target of each transition, so {} of {} cannot be reached: \
             simulate it with --allow-unreachable",
            count(unreachable as u64, "state"),
            model.states()
        ));
    }
    Ok(model.to_json())
}

/// Unique names for actions.
struct Names {
    labels: BTreeMap<ActionSignature, String>,
    given: BTreeSet<String>,
}

impl Names {
    fn name(&mut self, action: ActionSignature) -> String {
        let label = self.labels.get(&action).cloned().unwrap_or_else(|| format!("{action:?}"));
        let numbered = (2_u64..).map(|number| format!("{label} #{number}"));
        let mut names = std::iter::once(label.clone()).chain(numbered);
        let free =
            names.find(|name| !self.given.contains(name)).expect("there is always a larger number");
        self.given.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_actions_get_the_same_name() {
        let labels = [(1, "go"), (2, "go"), (3, "go #2")];
        let labels =
            labels.map(|(action, label)| (ActionSignature(action), label.to_owned())).into();
        let mut names = Names { labels, given: BTreeSet::new() };
        let given: Vec<String> =
            (1..=4).map(|action| names.name(ActionSignature(action))).collect();
        assert_eq!(given, ["go", "go #2", "go #2 #2", "0000000000000004"]);
    }
}
