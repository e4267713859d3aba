//! `argiope states`: the states that a crawl found, and one of them at length: the path that leads there,
//! and where its actions lead.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use argiope::format::count;
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note};
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::quoted::{Escaped, Quoted};

use crate::recorded::{RecordedRun, refused, short};
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope states demo-run
  argiope states demo-run 5

States are numbered in the order of discovery; `initial` is the first one, 0. A state can also be given \
by the beginning of its key, which is the same in every crawl of the same application.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct StatesArgs {
    /// The directory of the run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Show this state
    #[arg(value_name = "STATE")]
    state: Option<String>,
}

pub fn run(args: &StatesArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    match &args.state {
        Some(state) => output::print(&one(&recorded, recorded.find(state)?)?),
        None => output::print(&table(&recorded)?),
    }
}

fn table(recorded: &RecordedRun) -> Result<String, CommandFailure> {
    let graph = recorded.graph()?;
    let paths = recorded.controller.paths();
    let mut text =
        format!("{:>6}  {:<8}  {:>5}  {:>11}  page\n", "state", "key", "depth", "done/known");
    for state in recorded.states() {
        let detail = recorded.detail(state)?;
        let key = graph.key(state);
        let known = graph.slots(state).filter(|slot| !graph.closed().contains(slot)).count();
        let done = known - graph.unexplored_in(state) as usize;
        let depth = paths.to(key).map_or_else(|| "?".to_owned(), |path| path.len().to_string());
        _ = writeln!(
            text,
            "{:>6}  {:<8}  {depth:>5}  {:>11}  {} {}",
            state.0,
            short(key),
            format!("{done}/{known}"),
            Quoted(&detail.title),
            Escaped(&detail.url, 100),
        );
    }
    Ok(text)
}

/// What the records say about actions, beside where they lead.
#[derive(Default)]
struct Remarks {
    failed: BTreeMap<(StateKey, ActionSignature), JobFailure>,
    notes: BTreeMap<(StateKey, ActionSignature), Vec<Note>>,
}

impl Remarks {
    fn read(recorded: &RecordedRun) -> Result<Self, CommandFailure> {
        let mut remarks = Self::default();
        for record in recorded.store.facts().map_err(|error| refused(&error))? {
            match record.map_err(|error| refused(&error))? {
                Fact::GivenUp { from, action, reason } => {
                    remarks.failed.insert((from, action), reason);
                }
                Fact::Transition { from, action, notes, .. } if !notes.is_empty() => {
                    remarks.notes.insert((from, action), notes);
                }
                _ => {}
            }
        }
        Ok(remarks)
    }
}

fn one(recorded: &RecordedRun, state: StateIndex) -> Result<String, CommandFailure> {
    let graph = recorded.graph()?;
    let detail = recorded.detail(state)?;
    let key = graph.key(state);
    let mut text = format!("state {}\n", state.0);
    _ = writeln!(text, "key      {key:?}");
    _ = writeln!(text, "title    {}", Quoted(&detail.title));
    _ = writeln!(text, "address  {}", Escaped(&detail.url, 1000));
    path(recorded, state, &mut text)?;
    actions(recorded, state, &mut text)?;
    for (heading, masks) in [
        ("volatile here, as on every page:", Some(&recorded.learned.masks)),
        ("volatile in this state:", recorded.learned.state_masks.of(key)),
    ] {
        let Some(masks) = masks.filter(|masks| !masks.is_empty()) else { continue };
        _ = writeln!(text, "\n{heading}");
        for mask in &masks.masks {
            _ = writeln!(text, "  {mask}");
        }
    }
    Ok(text)
}

/// How to get there.
fn path(
    recorded: &RecordedRun,
    state: StateIndex,
    text: &mut String,
) -> Result<(), CommandFailure> {
    let graph = recorded.graph()?;
    let Some(path) = recorded.controller.paths().to(graph.key(state)) else {
        _ = writeln!(text, "\nno known path leads there: it appeared by itself");
        return Ok(());
    };
    let url = Escaped(&recorded.settings.url, 200);
    _ = writeln!(
        text,
        "\nhow to get there ({}):\n  load {url}",
        count(path.len() as u64, "action")
    );
    for step in path {
        let from = recorded.store.detail(step.from).map_err(|error| refused(&error))?;
        let offers = from.map(|detail| detail.offers).unwrap_or_default();
        let label = offers
            .iter()
            .find(|offer| offer.signature == step.action)
            .map(|offer| offer.label.as_str());
        let to = graph.find(step.to).map_or(0, |state| state.0);
        _ = writeln!(text, "  {} → state {to}", Escaped(label.unwrap_or("an unknown action"), 160));
    }
    Ok(())
}

/// What can be done there, and where it leads.
fn actions(
    recorded: &RecordedRun,
    state: StateIndex,
    text: &mut String,
) -> Result<(), CommandFailure> {
    let graph = recorded.graph()?;
    let remarks = Remarks::read(recorded)?;
    let key = graph.key(state);
    let offers = recorded.detail(state)?.offers;
    _ = writeln!(text, "\n{}:", count(offers.len() as u64, "action"));
    for offer in offers {
        let name = (key, offer.signature);
        let slot =
            graph.action_named(offer.signature).and_then(|action| graph.slot_of(state, action));
        let end = match slot {
            _ if remarks.failed.contains_key(&name) => in_words(remarks.failed[&name]).to_owned(),
            None => "belongs to the state that showed it first".to_owned(),
            Some(slot) if graph.closed().contains(&slot) => {
                "a plain link, followed elsewhere".to_owned()
            }
            Some(slot) => match graph.target(slot) {
                Some(to) => format!("→ {}", destinations(recorded, slot, to)),
                None => "not tried yet".to_owned(),
            },
        };
        _ = writeln!(text, "  {}  {end}", Escaped(&offer.label, 160));
        for note in remarks.notes.get(&name).into_iter().flatten() {
            _ = writeln!(text, "    {}", noted(note));
        }
    }
    Ok(())
}

fn destinations(recorded: &RecordedRun, slot: Slot, first: StateIndex) -> String {
    let others = recorded.controller.known().strays().get(&slot).into_iter().flatten();
    let all: Vec<String> =
        std::iter::once(&first).chain(others).map(|state| format!("state {}", state.0)).collect();
    all.join(" or ")
}

fn in_words(reason: JobFailure) -> &'static str {
    match reason {
        JobFailure::Hung => "failed: the page did not answer in time",
        JobFailure::Crashed => "failed: the page crashed",
        JobFailure::NotLoaded => "failed: the page could not be loaded",
        JobFailure::Missing => "failed: it was not to be found again",
        JobFailure::Lost => "failed: the browser went away",
        JobFailure::Unreachable => "failed: this state was not reached again",
        JobFailure::Exchanged => "failed: no tab could do it",
    }
}

fn noted(note: &Note) -> String {
    match note {
        Note::Dialog(kind, said) => {
            format!("a dialog was answered ({}): {}", Escaped(kind, 20), Quoted(said))
        }
        Note::Window(url) => format!("a new window was refused: {}", Escaped(url, 200)),
        Note::Download(url) => format!("a download was refused: {}", Escaped(url, 200)),
        Note::OutOfScope(url) => {
            format!("leads out of the application, which was stopped: {}", Escaped(url, 200))
        }
        Note::Route(url) => format!("the address became {}", Escaped(url, 200)),
        Note::Unsettled => "the page was still busy when its time was up".to_owned(),
    }
}
