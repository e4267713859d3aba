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
use serde::Serialize;

use crate::recorded::RecordedRun;
use crate::state_names::{PageSigns, ScreenKey, name_states};
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope states demo-run
  argiope states demo-run 5
  argiope states demo-run --screens
  argiope states demo-run --screens --json

States are numbered in the order of discovery; `initial` is state 0. The beginning of a key also \
names a state. Keys are the same in every crawl of an application. A state is named by the dialog, \
the selected tab or the heading that tells it from the others.

With --json it prints one list of objects. A state has state (its number), key, depth (null if no \
path is known), tried and known (numbers of actions), name, title and address. A screen has name, \
address and states (their numbers, the first one first).";

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
    /// Print one JSON list instead of lines
    #[arg(long, conflicts_with = "state")]
    json: bool,
}

/// Lists the states, or shows one.
pub fn run(args: &StatesArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    match &args.state {
        Some(state) => output::print(&detail(&recorded, recorded.find(state)?)?),
        None if args.screens => {
            let screens = screens(&recorded)?;
            output::print(&if args.json { json(&screens) } else { screens_table(&screens) })
        }
        None => {
            let states = states(&recorded)?;
            output::print(&if args.json { json(&states) } else { states_table(&states) })
        }
    }
}

fn json<T: Serialize>(rows: &[T]) -> String {
    serde_json::to_string(rows).expect("texts and numbers are JSON") + "\n"
}

/// The longest name of a state, in characters.
const LONGEST_NAME: usize = 80;

/// A group of states that are nearly equal.
#[derive(Serialize)]
struct Screen {
    name: String,
    /// With `#` for numbers and generated names.
    address: String,
    states: Vec<u32>,
}

/// The screens, the largest first.
fn screens(recorded: &RecordedRun) -> Result<Vec<Screen>, CommandFailure> {
    let mut groups: BTreeMap<ScreenKey, Vec<u32>> = BTreeMap::new();
    let mut signs = Vec::new();
    for state in recorded.states() {
        let page = recorded.page(state)?;
        signs.push(PageSigns::of(&page));
        groups.entry(ScreenKey::of(&page, &recorded.learned.masks)).or_default().push(state.0);
    }
    let mut groups: Vec<(ScreenKey, Vec<u32>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, states)| (std::cmp::Reverse(states.len()), states[0]));
    let firsts: Vec<PageSigns> =
        groups.iter().map(|(_, states)| signs[states[0] as usize].clone()).collect();
    let named = groups.into_iter().zip(name_states(&firsts));
    let screen =
        |((key, states), name): ((ScreenKey, _), _)| Screen { name, address: key.template, states };
    Ok(named.map(screen).collect())
}

fn screens_table(screens: &[Screen]) -> String {
    let states: usize = screens.iter().map(|screen| screen.states.len()).sum();
    let states = count(states as u64, "state");
    let mut text = format!("{} of {states}\n", count(screens.len() as u64, "screen"));
    _ = writeln!(text, "{:>6}  {:>6}  {:>6}  name and address", "screen", "states", "first");
    for (number, Screen { name, address, states }) in screens.iter().enumerate() {
        _ = writeln!(
            text,
            "{number:>6}  {:>6}  {:>6}  {}  {}",
            states.len(),
            states[0],
            Escaped(name, LONGEST_NAME),
            Escaped(address, 100),
        );
    }
    text
}

/// A state in the list.
#[derive(Serialize)]
struct ListedState {
    state: u32,
    key: String,
    depth: Option<usize>,
    tried: usize,
    known: usize,
    name: String,
    title: String,
    address: String,
}

fn states(recorded: &RecordedRun) -> Result<Vec<ListedState>, CommandFailure> {
    let graph = recorded.graph()?;
    let paths = recorded.controller.paths();
    let mut signs = Vec::new();
    for state in recorded.states() {
        signs.push(PageSigns::of(&recorded.page(state)?));
    }
    let mut states = Vec::new();
    for (state, name) in recorded.states().zip(name_states(&signs)) {
        let detail = recorded.detail(state)?;
        let key = graph.key(state);
        let known = graph.slots(state).filter(|slot| !graph.closed().contains(slot)).count();
        states.push(ListedState {
            state: state.0,
            key: format!("{key:?}"),
            depth: paths.to(key).map(|path| path.steps.len()),
            tried: known - graph.unexplored_in(state) as usize,
            known,
            name,
            title: detail.title,
            address: detail.url,
        });
    }
    Ok(states)
}

fn states_table(states: &[ListedState]) -> String {
    let mut text =
        format!("{:>6}  {:<8}  {:>5}  {:>11}  page\n", "state", "key", "depth", "tried/known");
    for ListedState { state, key, depth, tried, known, name, address, .. } in states {
        _ = writeln!(
            text,
            "{state:>6}  {:<8}  {:>5}  {:>11}  {} {}",
            &key[..8],
            depth.map_or_else(|| "?".to_owned(), |depth| depth.to_string()),
            format!("{tried}/{known}"),
            Quoted(name),
            Escaped(address, 100),
        );
    }
    text
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
