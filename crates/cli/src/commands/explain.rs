//! `argiope explain`: what differs between two states, and what is masked.

use std::fmt::Write;
use std::path::PathBuf;

use argiope::format::count;
use argiope_explore::id::StateIndex;
use argiope_explore::identity::{self, Difference, Masks, Significance, difference};
use argiope_explore::quoted::Quoted;

use crate::recorded::RecordedRun;
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope explain demo-run
  argiope explain demo-run initial 5

Write a state as `initial`, as its number, or as the beginning of its key; `argiope states` lists \
them. Without states it lists all masks: content that changes by itself does not tell states \
apart.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ExplainArgs {
    /// Read the run in this directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Compare this state
    #[arg(value_name = "A", requires = "b")]
    a: Option<String>,
    /// Compare with this state
    #[arg(value_name = "B")]
    b: Option<String>,
}

/// Compares two states, or lists the masks.
pub fn run(args: &ExplainArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    let (Some(a), Some(b)) = (&args.a, &args.b) else { return output::print(&masks(&recorded)) };
    let (a, b) = (recorded.find(a)?, recorded.find(b)?);
    output::print(&compared(&recorded, a, b)?)
}

/// What differs between two states, by significance.
fn compared(
    recorded: &RecordedRun,
    a: StateIndex,
    b: StateIndex,
) -> Result<String, CommandFailure> {
    let name = &recorded.settings.identity;
    let identity = identity::find(name).ok_or_else(|| {
        CommandFailure::Input(format!("the run has the unknown identity {name:?}"))
    })?;
    let mut text = format!("A: {}\nB: {}\n", recorded.describe(a)?, recorded.describe(b)?);
    if a == b {
        return Ok(text + "A and B are the same state.\n");
    }
    // The keys of states depend on the masks of all pages, not on those of single states.
    let found =
        difference(identity, &recorded.learned.masks, &recorded.page(a)?, &recorded.page(b)?);
    let headings = [
        (Significance::Counts, format!("Differences that tell them apart (identity {name}):")),
        (Significance::Masked, "Masked differences:".to_owned()),
        (Significance::DoesNotCount, "Differences that the identity ignores:".to_owned()),
    ];
    for (verdict, heading) in headings {
        let lines: Vec<&Difference> = found.iter().filter(|one| one.verdict == verdict).collect();
        if !lines.is_empty() {
            _ = writeln!(text, "{heading}");
        }
        for line in lines {
            // The heading says the same.
            let line = line.to_string();
            let plain =
                line.strip_suffix(" (masked)").or_else(|| line.strip_suffix(" (does not count)"));
            _ = writeln!(text, "  {}", plain.unwrap_or(&line));
        }
    }
    for (letter, state) in [("A", a), ("B", b)] {
        if let Some(masks) = recorded.learned.state_masks.of(recorded.graph()?.key(state)) {
            _ = write!(text, "Masks of {letter} alone:\n{}", lines(masks));
        }
    }
    Ok(text)
}

/// Lists all masks.
fn masks(recorded: &RecordedRun) -> String {
    let mut text = String::new();
    let everywhere = &recorded.learned.masks;
    if !everywhere.is_empty() {
        let masks = count(everywhere.masks.len() as u64, "mask");
        _ = write!(text, "{masks} on every page:\n{}", lines(everywhere));
    }
    for (key, masks) in recorded.learned.state_masks.iter() {
        let number = recorded.controller.known().state(key);
        let state = number.map_or_else(|| format!("{key:?}"), |state| state.0.to_string());
        _ = write!(text, "masks of state {state}:\n{}", lines(masks));
    }
    for selector in &recorded.settings.ignore {
        _ = writeln!(text, "ignored by --ignore: elements that match {}", Quoted(selector));
    }
    if text.is_empty() {
        text.push_str("no masks: no content changed by itself\n");
    }
    text
}

fn lines(masks: &Masks) -> String {
    masks.to_string().lines().map(|line| format!("  {line}\n")).collect()
}
