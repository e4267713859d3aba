//! What a crawl found, at its end: for people, or as one JSON object.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use argiope::format::{count, name, number};
use argiope_controller::input::StoppedBy;
use argiope_explore::identity::Masks;
use argiope_runtime::crawl::CrawlSummary;
use argiope_runtime::settings::CrawlSettings;
use serde::Serialize;

use argiope::format;

/// So many volatile parts are shown; `argiope explain` shows all.
const SHOWN: usize = 5;

/// A crawl that has ended.
pub struct Ended<'a> {
    /// What was asked for.
    pub settings: &'a CrawlSettings,
    /// How it ended.
    pub summary: &'a CrawlSummary,
    /// How long it took, the start of the browser included.
    pub wall: Duration,
    /// Where everything is.
    pub out: &'a Path,
    /// What changed by itself on every page, and in single states.
    pub masks: &'a Masks,
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
    failed: usize,
    nondeterministic: usize,
    unsettled: usize,
    urls: usize,
    tabs: u32,
    wall_s: f64,
    actions_per_s: f64,
    out: String,
}

impl Ended<'_> {
    /// Actions per second of this process.
    fn pace(&self) -> f64 {
        self.summary.progress.actions_now as f64 / self.wall.as_secs_f64().max(0.001)
    }

    /// One JSON object on one line.
    pub fn json(&self) -> String {
        let CrawlSummary {
            complete,
            stopped_by,
            progress,
            failed,
            nondeterministic,
            unsettled,
            urls,
            ..
        } = self.summary;
        // Whole thousandths: the rest is noise.
        let short = |value: f64| (value * 1000.0).round() / 1000.0;
        let line = Line {
            url: &self.settings.url,
            complete: *complete,
            stopped_by: *stopped_by,
            states: progress.states,
            transitions: progress.transitions,
            actions_executed: progress.actions,
            resets: progress.resets,
            reset_cost: short(self.summary.reset_cost),
            failed: *failed,
            nondeterministic: *nondeterministic,
            unsettled: *unsettled,
            urls: *urls,
            tabs: self.settings.tabs,
            wall_s: short(self.wall.as_secs_f64()),
            actions_per_s: short(self.pace()),
            out: self.out.to_string_lossy().into_owned(),
        };
        serde_json::to_string(&line).expect("numbers and texts are JSON") + "\n"
    }

    /// Some lines for people.
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
            "{} and {} (a reset costs as much as {} actions)",
            count(progress.actions, "action"),
            count(progress.resets, "reset"),
            number(*reset_cost),
        );
        if progress.actions_now > 0 {
            let tabs = count(self.settings.tabs.into(), "tab");
            let time = format::time(self.wall);
            _ = writeln!(text, "{time} with {tabs}, {:.1} actions/s", self.pace());
        }
        self.troubles(&mut text);
        self.volatile(&mut text);
        self.next(&mut text);
        text
    }

    fn end(&self) -> String {
        if self.summary.complete {
            return "complete".to_owned();
        }
        let why = match self.summary.stopped_by {
            Some(StoppedBy::MaxStates) => "stopped at the limit of states",
            Some(StoppedBy::MaxActions) => "stopped at the limit of actions",
            Some(StoppedBy::MaxDepth) => "done but for what is deeper than the limit",
            Some(StoppedBy::MaxTime) => "stopped at the limit of time",
            Some(StoppedBy::Interrupt) => "interrupted",
            Some(StoppedBy::NotLoaded) => "stopped, since the address cannot be loaded any more",
            Some(StoppedBy::Trouble) | None => "stopped by trouble",
        };
        format!(
            "{why}, {} not tried",
            count(self.summary.progress.unexplored as u64, "known action")
        )
    }

    fn troubles(&self, text: &mut String) {
        let CrawlSummary { failed, nondeterministic, unsettled, urls, browsers_replaced, .. } =
            self.summary;
        let mut say = |number: usize, one: &str, many: &str| {
            if number > 0 {
                _ = writeln!(text, "{number} {}", if number == 1 { one } else { many });
            }
        };
        say(*failed, "action failed and was given up", "actions failed and were given up");
        say(
            *nondeterministic,
            "transition leads to several states",
            "transitions lead to several states",
        );
        say(
            *unsettled,
            "transition ended while its page was still busy",
            "transitions ended while their page was still busy",
        );
        say(*urls, "plain link", "plain links");
        say(*browsers_replaced as usize, "browser was replaced", "browsers were replaced");
    }

    fn volatile(&self, text: &mut String) {
        let masks = &self.masks.masks;
        if masks.is_empty() {
            return;
        }
        let were = if masks.len() == 1 { "was" } else { "were" };
        _ = writeln!(text, "{} {were} masked:", count(masks.len() as u64, "volatile part"));
        for mask in masks.iter().take(SHOWN) {
            _ = writeln!(text, "  {mask}");
        }
        if masks.len() > SHOWN {
            let (program, out) = (format::program(), format::path(self.out));
            _ = writeln!(text, "  and {} more: {program} explain {out}", masks.len() - SHOWN);
        }
    }

    /// What to do next.
    fn next(&self, text: &mut String) {
        let (program, out) = (format::program(), format::path(self.out));
        _ = writeln!(text, "everything is in {out}:");
        _ = writeln!(text, "  {program} states {out}");
        _ = writeln!(text, "  {program} export {out} --format model");
        if let Some(resume) = self.resume() {
            _ = writeln!(text, "to go on:\n  {resume}");
        }
    }

    /// How to go on, unless there is nothing left.
    pub fn resume(&self) -> Option<String> {
        if self.summary.complete {
            return None;
        }
        let more = match self.summary.stopped_by {
            Some(StoppedBy::MaxStates) => " --max-states none",
            Some(StoppedBy::MaxActions) => " --max-actions none",
            Some(StoppedBy::MaxDepth) => " --max-depth none",
            _ => "",
        };
        Some(format!("{} crawl --resume {}{more}", format::program(), format::path(self.out)))
    }
}
