//! The summary of a crawl: for people, or as one JSON object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use argiope::format::{count, name, number};
use argiope_controller::Controller;
use argiope_controller::coverage::Coverage;
use argiope_controller::input::StoppedBy;
use argiope_controller::outcome::JobFailure;
use argiope_explore::identity::Masks;
use argiope_explore::quoted::Escaped;
use argiope_runtime::crawl::CrawlSummary;
use argiope_runtime::learned::PageDoubts;
use argiope_runtime::ledger::{Ledger, LedgerReason};
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;
use serde::Serialize;

use argiope::format;

/// How many masks, and how many avoided actions, the summary lists. `argiope explain` and `argiope
/// ledger` list all.
const LISTED: usize = 5;

/// A crawl that has ended.
pub struct CrawlReport<'a> {
    /// The settings of the run.
    pub settings: &'a CrawlSettings,
    /// How it ended.
    pub summary: &'a CrawlSummary,
    /// The time taken, with the start of the browser.
    pub wall: Duration,
    /// The run directory.
    pub out: &'a Path,
    /// The masks of all pages and of single states.
    pub masks: &'a Masks,
    /// What was seen and not performed.
    pub ledger: &'a RunLedger,
}

/// What the summary says of the ledger.
pub struct RunLedger {
    /// Actions by reason.
    counts: BTreeMap<LedgerReason, usize>,
    /// The labels of actions that were left alone, escaped.
    avoided: Vec<String>,
    /// Actions after which the application could not be loaded, each with its state, escaped.
    pub ended_by: Vec<String>,
}

impl RunLedger {
    /// Of a run that cannot be read.
    pub const NONE: Self =
        Self { counts: BTreeMap::new(), avoided: Vec::new(), ended_by: Vec::new() };

    /// Reads the ledger of a run. A store that cannot be read has none: the crawl has said why.
    pub fn read(store: &Store, summary: &CrawlSummary, controller: &Controller) -> Self {
        let Ok(ledger) = Ledger::read(store, controller) else { return Self::NONE };
        let avoided = ledger.entries.iter().filter(|entry| entry.reason == LedgerReason::Avoided);
        let avoided = avoided.map(|entry| {
            format!("{} ({})", Escaped(&entry.label, 100), Escaped(&entry.detail, 100))
        });
        let mut ended: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (state, action) in &summary.ended {
            let number = controller.graph().and_then(|graph| graph.find(*state));
            let offers = store.detail(*state).ok().flatten().map(|detail| detail.offers);
            let offers = offers.unwrap_or_default();
            let offer = offers.iter().find(|offer| offer.signature == *action);
            let label = offer.map_or("unknown action", |offer| offer.label.as_str());
            let number = number.map_or_else(|| "?".to_owned(), |state| state.0.to_string());
            ended.entry(Escaped(label, 160).to_string()).or_default().push(number);
        }
        let ended = ended
            .into_iter()
            .map(|(label, states)| format!("{label} in state {}", states.join(" and ")));
        Self { counts: ledger.counts(), avoided: avoided.collect(), ended_by: ended.collect() }
    }

    fn avoided(&self) -> usize {
        self.counts.get(&LedgerReason::Avoided).copied().unwrap_or(0)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    complete: bool,
    stopped_by: Option<StoppedBy>,
    states: usize,
    transitions: usize,
    actions_executed: u64,
    resets: u64,
    reset_cost: f64,
    coverage: Coverage,
    failed: usize,
    given_up: &'a BTreeMap<JobFailure, usize>,
    gone: usize,
    nondeterministic: usize,
    unsettled: usize,
    #[serde(rename = "unsafe")]
    curbed: usize,
    blocked: Blocked<'a>,
    urls: usize,
    avoided: usize,
    ledger: BTreeMap<&'static str, usize>,
    ended_by: &'a [String],
    tampered: &'a BTreeSet<String>,
    truncated: bool,
    seeds_left: Vec<&'a str>,
    tabs: u32,
    wall_s: f64,
    actions_per_s: f64,
    out: String,
}

/// What left the scope and was blocked.
#[derive(Serialize)]
struct Blocked<'a> {
    /// How many requests; on a cluster that is not known.
    requests: Option<u64>,
    hosts: Vec<&'a str>,
}

impl<'a> Blocked<'a> {
    fn of(summary: &'a CrawlSummary) -> Self {
        let requests: u64 = summary.blocked.values().sum();
        let hosts: Vec<&str> = summary.blocked.keys().map(String::as_str).collect();
        Self { requests: (requests > 0 || hosts.is_empty()).then_some(requests), hosts }
    }
}

impl CrawlReport<'_> {
    /// Actions per second of this process.
    fn pace(&self) -> f64 {
        self.summary.progress.actions_now as f64 / self.wall.as_secs_f64().max(0.001)
    }

    /// Says that the application cannot be loaded any more, and after which action.
    pub fn not_loaded(&self) -> String {
        let url = &self.settings.url;
        let resume = "start it again, then resume: the crawl goes on without";
        match self.ledger.ended_by.as_slice() {
            [] => format!("{url} can no longer be loaded"),
            [one] => format!("{url} can no longer be loaded after {one}; {resume} that action"),
            several => format!(
                "{url} can no longer be loaded; one of these actions may have ended it: {}; \
                 {resume} them",
                several.join(", ")
            ),
        }
    }

    /// One JSON object on one line.
    pub fn json(&self) -> String {
        let CrawlSummary { progress, .. } = self.summary;
        // Whole thousandths: the rest is noise.
        let short = |value: f64| (value * 1000.0).round() / 1000.0;
        let line = Line {
            url: &self.settings.url,
            complete: self.summary.complete,
            stopped_by: self.summary.stopped_by,
            states: progress.states,
            transitions: progress.transitions,
            actions_executed: progress.actions,
            resets: progress.resets,
            reset_cost: short(self.summary.reset_cost),
            coverage: self.summary.coverage,
            failed: self.summary.failed(),
            given_up: &self.summary.given_up,
            gone: self.summary.gone,
            nondeterministic: self.summary.nondeterministic,
            unsettled: self.summary.unsettled,
            curbed: self.summary.curbed,
            blocked: Blocked::of(self.summary),
            urls: self.summary.urls,
            avoided: self.ledger.avoided(),
            ledger: self.ledger.counts.iter().map(|(why, count)| (why.name(), *count)).collect(),
            ended_by: &self.ledger.ended_by,
            tampered: &self.summary.doubts.tampered,
            truncated: self.summary.doubts.truncated,
            seeds_left: self.summary.seeds_left.keys().map(String::as_str).collect(),
            tabs: self.settings.tabs,
            wall_s: short(self.wall.as_secs_f64()),
            actions_per_s: short(self.pace()),
            out: self.out.to_string_lossy().into_owned(),
        };
        serde_json::to_string(&line).expect("numbers and texts are JSON") + "\n"
    }

    /// A few lines for people.
    pub fn text(&self) -> String {
        let CrawlSummary { progress, reset_cost, .. } = self.summary;
        let mut text = format!("{}: {}\n", name(&self.settings.url), self.end());
        _ = writeln!(
            text,
            "{}, {}",
            count(progress.states as u64, "state"),
            count(progress.transitions as u64, "transition"),
        );
        _ = writeln!(
            text,
            "{}, {} (cost of a reset: {} actions)",
            count(progress.actions, "action"),
            count(progress.resets, "reset"),
            number(*reset_cost),
        );
        if progress.actions_now > 0 {
            let tabs = count(self.settings.tabs.into(), "tab");
            let time = format::time(self.wall);
            _ = writeln!(text, "{time} with {tabs}, {:.1} actions/s", self.pace());
        }
        self.write_problems(&mut text);
        self.write_ledger(&mut text);
        self.write_doubts(&mut text);
        for why in self.summary.seeds_left.values() {
            _ = writeln!(text, "not loaded: {why}");
        }
        self.write_blocked(&mut text);
        self.write_masks(&mut text);
        self.write_next_steps(&mut text);
        text
    }

    fn end(&self) -> String {
        if self.summary.complete {
            return "complete".to_owned();
        }
        let given_up = self.summary.failed();
        if self.summary.stopped_by.is_none() && given_up > 0 {
            return format!("explored, except {} given up", count(given_up as u64, "action"));
        }
        if self.summary.stopped_by.is_none() && !self.summary.doubts.is_empty() {
            return "explored, but the model may be wrong".to_owned();
        }
        if self.summary.stopped_by.is_none() && !self.summary.seeds_left.is_empty() {
            let left = count(self.summary.seeds_left.len() as u64, "seed");
            return format!("explored, except from {left} that could not be loaded");
        }
        if self.summary.stopped_by == Some(StoppedBy::PartsCovered) {
            let Coverage { alike_waiting, estimated_more, .. } = self.summary.coverage;
            let waiting = count(alike_waiting as u64, "alike action");
            let more = match estimated_more {
                0 => String::new(),
                more => format!(" (and about {more} in combinations that were not found)"),
            };
            return format!("every part is covered, {waiting} not tried{more}");
        }
        let why = match self.summary.stopped_by {
            Some(StoppedBy::MaxStates) => "stopped by --max-states",
            Some(StoppedBy::MaxActions) => "stopped by --max-actions",
            Some(StoppedBy::MaxDepth) => "stopped by --max-depth",
            Some(StoppedBy::MaxTime) => "stopped by --max-time",
            Some(StoppedBy::Interrupt) => "interrupted",
            Some(StoppedBy::NotLoaded) => "stopped, since the address can no longer be loaded",
            Some(StoppedBy::PartsCovered | StoppedBy::Trouble) | None => "stopped by an error",
        };
        format!(
            "{why}, {} unexplored",
            count(self.summary.progress.unexplored as u64, "known action")
        )
    }

    fn write_problems(&self, text: &mut String) {
        let CrawlSummary {
            gone, nondeterministic, unsettled, curbed, urls, browsers_replaced, ..
        } = self.summary;
        for (reason, number) in &self.summary.given_up {
            _ = writeln!(
                text,
                "{} given up: {}",
                count(*number as u64, "action"),
                reason.in_words()
            );
        }
        let mut write = |number: usize, one: &str, many: &str| {
            if number > 0 {
                _ = writeln!(text, "{number} {}", if number == 1 { one } else { many });
            }
        };
        write(*gone, "state did not come back", "states did not come back");
        write(
            *nondeterministic,
            "transition leads to several states",
            "transitions lead to several states",
        );
        write(
            *unsettled,
            "transition to a page that did not settle",
            "transitions to pages that did not settle",
        );
        write(
            *curbed,
            "transition with a request that --safe stopped",
            "transitions with requests that --safe stopped",
        );
        write(*urls, "plain link", "plain links");
        write(*browsers_replaced as usize, "browser was replaced", "browsers were replaced");
    }

    /// What was left alone, and how much else was seen and not performed.
    fn write_ledger(&self, text: &mut String) {
        let RunLedger { counts, avoided, ended_by } = self.ledger;
        for ended in ended_by {
            _ = writeln!(text, "the application could not be loaded after: {ended}");
        }
        if !avoided.is_empty() {
            let number = count(self.ledger.avoided() as u64, "action");
            _ = writeln!(text, "{number} left alone (--allow TEXT performs them):");
            for label in avoided.iter().take(LISTED) {
                _ = writeln!(text, "  {label}");
            }
            if avoided.len() > LISTED {
                _ = writeln!(text, "  and {} more", avoided.len() - LISTED);
            }
        }
        let others = counts.iter().filter(|(reason, _)| **reason != LedgerReason::Avoided);
        let others: Vec<String> =
            others.map(|(reason, count)| format!("{count} {}", reason.name())).collect();
        if !others.is_empty() {
            _ = writeln!(text, "seen and not performed: {}", others.join(", "));
        }
    }

    fn write_blocked(&self, text: &mut String) {
        let Blocked { requests, hosts } = Blocked::of(self.summary);
        if hosts.is_empty() {
            return;
        }
        let requests = requests.map_or("requests".to_owned(), |number| count(number, "request"));
        let shown: Vec<String> = hosts.iter().take(LISTED).map(|host| name(host)).collect();
        let more = match hosts.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {}", count(more as u64, "other host")),
        };
        _ = writeln!(text, "{requests} out of scope blocked: {}{more}", shown.join(", "));
    }

    fn write_doubts(&self, text: &mut String) {
        let PageDoubts { tampered, truncated } = &self.summary.doubts;
        if !tampered.is_empty() {
            let names: Vec<String> =
                tampered.iter().take(LISTED).map(|name| Escaped(name, 80).to_string()).collect();
            let more = if tampered.len() > LISTED { " and others" } else { "" };
            let names = names.join(", ");
            _ = writeln!(text, "a page replaced {names}{more}: it may have deceived argiope");
        }
        if *truncated {
            _ = writeln!(text, "a page is too large: argiope saw only the first part of it");
        }
    }

    fn write_masks(&self, text: &mut String) {
        let masks = &self.masks.masks;
        if masks.is_empty() {
            return;
        }
        _ = writeln!(text, "{} of volatile content:", count(masks.len() as u64, "mask"));
        for mask in masks.iter().take(LISTED) {
            _ = writeln!(text, "  {mask}");
        }
        if masks.len() > LISTED {
            let (program, out) = (format::program(), format::path(self.out));
            _ = writeln!(text, "  and {} more: {program} explain {out}", masks.len() - LISTED);
        }
    }

    /// The commands that come next.
    fn write_next_steps(&self, text: &mut String) {
        let (program, out) = (format::program(), format::path(self.out));
        _ = writeln!(text, "the run is in {out}:");
        _ = writeln!(text, "  {program} states {out}");
        if !self.ledger.counts.is_empty() {
            _ = writeln!(text, "  {program} ledger {out}");
        }
        _ = writeln!(text, "  {program} export {out} --format model");
        if let Some(resume) = self.resume_command() {
            _ = writeln!(text, "to resume:\n  {resume}");
        }
    }

    /// The command that resumes the crawl, unless it is complete.
    pub fn resume_command(&self) -> Option<String> {
        if self.summary.complete {
            return None;
        }
        let more = match self.summary.stopped_by {
            Some(StoppedBy::MaxStates) => " --max-states none",
            Some(StoppedBy::MaxActions) => " --max-actions none",
            Some(StoppedBy::MaxDepth) => " --max-depth none",
            Some(StoppedBy::PartsCovered) => " --stop-at all",
            _ => "",
        };
        Some(format!("{} crawl --resume {}{more}", format::program(), format::path(self.out)))
    }
}
