//! `argiope ledger`: lists the actions that were seen and not performed, with the reason.

use std::fmt::Write;
use std::path::PathBuf;

use argiope::format::count;
use argiope_explore::id::StateIndex;
use argiope_explore::quoted::Escaped;
use argiope_runtime::ledger::{Ledger, LedgerEntry, LedgerReason};
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde::Serialize;

use crate::recorded::RecordedRun;
use argiope::failure::CommandFailure;
use argiope::output;

const AFTER_HELP: &str = "\
Examples:
  argiope ledger demo-run
  argiope ledger demo-run --reason avoided --reason failed
  argiope ledger demo-run --state 5 --json

An action that was performed in some state is not listed for being invisible, covered or disabled \
in others; what a page withholds is listed with the first state that shows it. A page lists two \
hundred withheld actions, and the ledger says how many more there are. What is unsettled was \
performed, and so was what a note of a transition says.

With --json it prints one object: counts (by reason), unlisted, and entries, each with reason, \
action (its signature, or null), label, detail, states (by number) and count.

Exit codes: 0 done, 1 failed, 2 bad input.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct LedgerArgs {
    /// Read the run in this directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// List only what has this reason (may be given several times)
    #[arg(long, value_name = "REASON", value_parser = reason_names())]
    reason: Vec<String>,
    /// List only what was seen in this state
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,
}

fn reason_names() -> PossibleValuesParser {
    let value = |why: LedgerReason| PossibleValue::new(why.name()).help(why.in_words());
    PossibleValuesParser::new(LedgerReason::ALL.map(value))
}

/// The ledger as JSON.
#[derive(Serialize)]
struct LedgerJson {
    counts: std::collections::BTreeMap<&'static str, usize>,
    unlisted: usize,
    entries: Vec<EntryJson>,
}

#[derive(Serialize)]
struct EntryJson {
    reason: &'static str,
    action: Option<String>,
    label: String,
    detail: String,
    states: Vec<u32>,
    count: usize,
}

/// Lists the ledger of a run.
pub fn run(args: &LedgerArgs) -> Result<(), CommandFailure> {
    let recorded = RecordedRun::open(&args.directory)?;
    recorded.graph()?;
    let state = args.state.as_ref().map(|state| recorded.find(state)).transpose()?;
    let mut ledger = Ledger::read(&recorded.store, &recorded.controller)?;
    let is_filtered = state.is_some() || !args.reason.is_empty();
    ledger.entries.retain(|entry| {
        let is_wanted = |name: &String| name == entry.reason.name();
        let has_reason = args.reason.is_empty() || args.reason.iter().any(is_wanted);
        has_reason && state.is_none_or(|state| entry.states.contains(&state))
    });
    if is_filtered {
        // It is not known which reasons and states the others have.
        ledger.unlisted = 0;
    }
    output::print(&if args.json { json(&ledger) } else { text(&ledger) })
}

/// One JSON object on one line.
fn json(ledger: &Ledger) -> String {
    let entry = |entry: &LedgerEntry| EntryJson {
        reason: entry.reason.name(),
        action: entry.action.map(|action| format!("{:016x}", action.0)),
        label: entry.label.clone(),
        detail: entry.detail.clone(),
        states: entry.states.iter().map(|state| state.0).collect(),
        count: entry.count,
    };
    let counts = ledger.counts().into_iter().map(|(reason, count)| (reason.name(), count));
    let all = LedgerJson {
        counts: counts.collect(),
        unlisted: ledger.unlisted,
        entries: ledger.entries.iter().map(entry).collect(),
    };
    serde_json::to_string(&all).expect("texts and numbers are JSON") + "\n"
}

/// One line for each action, by reason.
fn text(ledger: &Ledger) -> String {
    if ledger.entries.is_empty() && ledger.unlisted == 0 {
        return "no such action\n".to_owned();
    }
    let counts = ledger.counts();
    let mut text = String::new();
    for reason in LedgerReason::ALL {
        let Some(number) = counts.get(&reason) else { continue };
        let actions = count(*number as u64, "action");
        _ = writeln!(text, "{} ({}): {actions}", reason.name(), reason.in_words());
        for entry in ledger.entries.iter().filter(|entry| entry.reason == reason) {
            let many = if entry.count > 1 { format!("{} ", entry.count) } else { String::new() };
            let detail = if entry.detail.is_empty() {
                String::new()
            } else {
                format!("  [{}]", Escaped(&entry.detail, 160))
            };
            let label = Escaped(&entry.label, 160);
            _ = writeln!(text, "  {many}{label}{detail}  {}", seen_in(&entry.states));
        }
    }
    if ledger.unlisted > 0 {
        let more = count(ledger.unlisted as u64, "action");
        _ = writeln!(text, "and {more} that pages withhold, beyond two hundred on one page");
    }
    text
}

/// Where an action was seen.
fn seen_in(states: &[StateIndex]) -> String {
    match states {
        [] => String::new(),
        [state] => format!("state {}", state.0),
        [first, rest @ ..] => format!("state {} and {} more", first.0, rest.len()),
    }
}
