//! `argiope states`: lists the states of a run, or shows the path and the actions of one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use argiope::format::count;
use argiope_controller::journal::Fact;
use argiope_controller::outcome::{JobFailure, Note};
use argiope_explore::graph::Slot;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::quoted::{Escaped, Quoted};

use crate::recorded::{RecordedRun, short};
use crate::state_names::{PageSigns, ScreenKey, name_states};
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope states demo-run
  argiope states demo-run 5
  argiope states demo-run --screens

States are numbered in the order of discovery; `initial` is state 0. The beginning of a key also \
names a state. Keys are the same in every crawl of an application. A state is named by the dialog, \
the selected tab or the heading that tells it from the others.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct StatesArgs {
    /// Read the run in this directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Show this state
    #[arg(value_name = "STATE")]
    state: Option<String>,
    /// Group states that are nearly equal: the same structure, and addresses of the same form
    #[arg(long, conflicts_with = "state")]
    screens: bool,
}

/// Lists the states, or shows one.
pub fn run(args: &StatesArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    match &args.state {
        Some(state) => output::print(&detail(&recorded, recorded.find(state)?)?),
        None if args.screens => output::print(&screens(&recorded)?),
        None => output::print(&table(&recorded)?),
    }
}

/// The longest name of a state, in characters.
const LONGEST_NAME: usize = 80;

/// One row for each screen, the largest first.
fn screens(recorded: &RecordedRun) -> Result<String, CommandFailure> {
    let mut groups: BTreeMap<ScreenKey, Vec<StateIndex>> = BTreeMap::new();
    let mut signs = Vec::new();
    for state in recorded.states() {
        let page = recorded.page(state)?;
        signs.push(PageSigns::of(&page));
        groups.entry(ScreenKey::of(&page, &recorded.learned.masks)).or_default().push(state);
    }
    let mut groups: Vec<(ScreenKey, Vec<StateIndex>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, states)| (std::cmp::Reverse(states.len()), states[0]));
    let firsts: Vec<PageSigns> =
        groups.iter().map(|(_, states)| signs[states[0].0 as usize].clone()).collect();
    let names = name_states(&firsts);
    let states = count(signs.len() as u64, "state");
    let mut text = format!("{} of {states}\n", count(groups.len() as u64, "screen"));
    _ = writeln!(text, "{:>6}  {:>6}  {:>6}  name and address", "screen", "states", "first");
    for (number, ((screen, states), name)) in groups.iter().zip(names).enumerate() {
        _ = writeln!(
            text,
            "{number:>6}  {:>6}  {:>6}  {}  {}",
            states.len(),
            states[0].0,
            Escaped(&name, LONGEST_NAME),
            Escaped(&screen.template, 100),
        );
    }
    Ok(text)
}

/// One row for each state.
fn table(recorded: &RecordedRun) -> Result<String, CommandFailure> {
    let graph = recorded.graph()?;
    let paths = recorded.controller.paths();
    let mut text =
        format!("{:>6}  {:<8}  {:>5}  {:>11}  page\n", "state", "key", "depth", "tried/known");
    let mut signs = Vec::new();
    for state in recorded.states() {
        signs.push(PageSigns::of(&recorded.page(state)?));
    }
    for (state, name) in recorded.states().zip(name_states(&signs)) {
        let detail = recorded.detail(state)?;
        let key = graph.key(state);
        let known = graph.slots(state).filter(|slot| !graph.closed().contains(slot)).count();
        let done = known - graph.unexplored_in(state) as usize;
        let depth =
            paths.to(key).map_or_else(|| "?".to_owned(), |path| path.steps.len().to_string());
        _ = writeln!(
            text,
            "{:>6}  {:<8}  {depth:>5}  {:>11}  {} {}",
            state.0,
            short(key),
            format!("{done}/{known}"),
            Quoted(&name),
            Escaped(&detail.url, 100),
        );
    }
    Ok(text)
}

/// Failures and notes of actions, from the records.
#[derive(Default)]
struct Remarks {
    failed: BTreeMap<(StateKey, ActionSignature), JobFailure>,
    notes: BTreeMap<(StateKey, ActionSignature), Vec<Note>>,
}

impl Remarks {
    fn read(recorded: &RecordedRun) -> Result<Self, CommandFailure> {
        let mut remarks = Self::default();
        for record in recorded.store.facts()? {
            match record? {
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

/// Everything about one state.
fn detail(recorded: &RecordedRun, state: StateIndex) -> Result<String, CommandFailure> {
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
        ("masks of every page:", Some(&recorded.learned.masks)),
        ("masks of this state:", recorded.learned.state_masks.of(key)),
    ] {
        let Some(masks) = masks.filter(|masks| !masks.is_empty()) else { continue };
        _ = writeln!(text, "\n{heading}");
        for mask in &masks.masks {
            _ = writeln!(text, "  {mask}");
        }
    }
    Ok(text)
}

/// Writes the path to a state.
fn path(
    recorded: &RecordedRun,
    state: StateIndex,
    text: &mut String,
) -> Result<(), CommandFailure> {
    let graph = recorded.graph()?;
    let paths = recorded.controller.paths();
    let Some(path) = paths.to(graph.key(state)) else {
        _ = writeln!(text, "\nno known path: the state appeared without an action");
        return Ok(());
    };
    let url = Escaped(path.address.unwrap_or(&recorded.settings.url), 200);
    let length = count(path.steps.len() as u64, "action");
    _ = writeln!(text, "\npath ({length}):\n  load {url}");
    for step in path.steps {
        let from = recorded.store.detail(step.from)?;
        let offers = from.map(|detail| detail.offers).unwrap_or_default();
        let offer = offers.iter().find(|offer| offer.signature == step.action);
        let label = offer.map_or("unknown action", |offer| offer.label.as_str());
        let to = graph.find(step.to).map_or(0, |state| state.0);
        _ = writeln!(text, "  {} → state {to}", Escaped(label, 160));
    }
    Ok(())
}

/// Writes the actions of a state and their targets.
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
        let end = match (remarks.failed.get(&name), slot) {
            (Some(reason), _) => failure_text(*reason).to_owned(),
            (None, None) => "explored in the state that first offered it".to_owned(),
            (None, Some(slot))
                if graph.closed().contains(&slot)
                    && recorded.controller.known().ended().contains(&slot) =>
            {
                "not performed: it ended the application elsewhere".to_owned()
            }
            (None, Some(slot)) if graph.closed().contains(&slot) => {
                "plain link, followed in another state".to_owned()
            }
            (None, Some(slot)) => match graph.target(slot) {
                Some(to) => format!("→ {}", destinations(recorded, slot, to)),
                None => "unexplored".to_owned(),
            },
        };
        _ = writeln!(text, "  {}  {end}", Escaped(&offer.label, 160));
        for note in remarks.notes.get(&name).into_iter().flatten() {
            _ = writeln!(text, "    {}", note_text(note));
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

fn failure_text(reason: JobFailure) -> &'static str {
    match reason {
        JobFailure::Hung => "failed: the page did not answer in time",
        JobFailure::Crashed => "failed: the page crashed",
        JobFailure::NotLoaded => "failed: the page could not be loaded",
        JobFailure::Missing => "failed: the element was not found again",
        JobFailure::Lost => "failed: the browser ended",
        JobFailure::Unreachable => "failed: this state could not be reached again",
        JobFailure::Exchanged => "failed: no tab could execute it",
        JobFailure::LoggedOut => "failed: the session was over after it",
        JobFailure::OutOfScope => "failed: the load led out of the scope",
        JobFailure::NoPage => "failed: its address leads to no page",
    }
}

fn note_text(note: &Note) -> String {
    match note {
        Note::Dialog(kind, said) => {
            format!("dialog answered ({}): {}", Escaped(kind, 20), Quoted(said))
        }
        Note::Window(url) => format!("new window blocked: {}", Escaped(url, 200)),
        Note::Download(url) => format!("download blocked: {}", Escaped(url, 200)),
        Note::OutOfScope(url) => {
            format!("navigation out of scope blocked: {}", Escaped(url, 200))
        }
        Note::Route(url) => format!("address changed to {}", Escaped(url, 200)),
        Note::Unsettled => "page did not settle in time".to_owned(),
        Note::Tampered => "page replaced built-in functions of the browser".to_owned(),
        Note::Allowed => "dangerous, performed because of --allow".to_owned(),
        Note::Ended => "the application could not be loaded afterwards".to_owned(),
        Note::Unsafe(method, url) => {
            format!("unsafe request blocked: {} {}", Escaped(method, 20), Escaped(url, 200))
        }
    }
}
