//! `argiope explain`: why two states are two, and what of the pages was found to be volatile.

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

States are given as `initial`, by their number in the order of discovery, or by the beginning of their \
key; `argiope states` lists them. Without states it lists what changes by itself and is therefore masked.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ExplainArgs {
    /// The directory of the run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// A state
    #[arg(value_name = "A", requires = "b")]
    a: Option<String>,
    /// Another one
    #[arg(value_name = "B")]
    b: Option<String>,
}

pub fn run(args: &ExplainArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    let (Some(a), Some(b)) = (&args.a, &args.b) else { return output::print(&volatile(&recorded)) };
    let (a, b) = (recorded.find(a)?, recorded.find(b)?);
    output::print(&compared(&recorded, a, b)?)
}

fn compared(
    recorded: &RecordedRun,
    a: StateIndex,
    b: StateIndex,
) -> Result<String, CommandFailure> {
    let name = &recorded.settings.identity;
    let identity = identity::find(name).ok_or_else(|| {
        CommandFailure::Input(format!("the run has an unknown identity, {name:?}"))
    })?;
    let mut text = format!("A: {}\nB: {}\n", recorded.describe(a)?, recorded.describe(b)?);
    if a == b {
        return Ok(text + "They are the same state.\n");
    }
    // States have got their names through the masks of all pages; those of single states came later.
    let found =
        difference(identity, &recorded.learned.masks, &recorded.page(a)?, &recorded.page(b)?);
    let headings = [
        (Significance::Counts, format!("What makes them two states (identity {name}):")),
        (Significance::Masked, "What differs and is masked:".to_owned()),
        (Significance::DoesNotCount, "What differs and does not count:".to_owned()),
    ];
    for (verdict, heading) in headings {
        let lines: Vec<&Difference> = found.iter().filter(|one| one.verdict == verdict).collect();
        if !lines.is_empty() {
            _ = writeln!(text, "{heading}");
        }
        for line in lines {
            // The heading says it already.
            let line = line.to_string();
            let plain =
                line.strip_suffix(" (masked)").or_else(|| line.strip_suffix(" (does not count)"));
            _ = writeln!(text, "  {}", plain.unwrap_or(&line));
        }
    }
    for (letter, state) in [("A", a), ("B", b)] {
        if let Some(masks) = recorded.learned.state_masks.of(recorded.graph()?.key(state)) {
            _ = write!(
                text,
                "What was found later to change by itself in {letter}:\n{}",
                lines(masks)
            );
        }
    }
    Ok(text)
}

/// Everything that is masked.
fn volatile(recorded: &RecordedRun) -> String {
    let mut text = String::new();
    let everywhere = &recorded.learned.masks;
    if !everywhere.is_empty() {
        let parts = count(everywhere.masks.len() as u64, "volatile part");
        _ = write!(text, "{parts} masked on every page:\n{}", lines(everywhere));
    }
    for (key, masks) in recorded.learned.state_masks.iter() {
        let number = recorded.controller.known().state(key);
        let state = number.map_or_else(|| format!("{key:?}"), |state| state.0.to_string());
        _ = write!(text, "masked in state {state}:\n{}", lines(masks));
    }
    for selector in &recorded.settings.ignore {
        _ = writeln!(text, "left out, as asked: everything that matches {}", Quoted(selector));
    }
    if text.is_empty() {
        text.push_str("nothing is masked: no part of a page was found to change by itself\n");
    }
    text
}

fn lines(masks: &Masks) -> String {
    masks.to_string().lines().map(|line| format!("  {line}\n")).collect()
}
