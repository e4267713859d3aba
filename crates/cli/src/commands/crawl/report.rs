//! The summary of a crawl: for people, or as one JSON object.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use argiope::format::{count, name, number};
use argiope_controller::input::StoppedBy;
use argiope_controller::outcome::JobFailure;
use argiope_explore::identity::Masks;
use argiope_runtime::crawl::CrawlSummary;
use argiope_runtime::settings::CrawlSettings;
use serde::Serialize;

use argiope::format;

/// The masks that the summary lists; `argiope explain` lists all.
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
    given_up: &'a BTreeMap<JobFailure, usize>,
    gone: usize,
    nondeterministic: usize,
    unsettled: usize,
    urls: usize,
    tabs: u32,
    wall_s: f64,
    actions_per_s: f64,
    out: String,
}

impl CrawlReport<'_> {
    /// Actions per second of this process.
    fn pace(&self) -> f64 {
        self.summary.progress.actions_now as f64 / self.wall.as_secs_f64().max(0.001)
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
            failed: self.summary.failed(),
            given_up: &self.summary.given_up,
            gone: self.summary.gone,
            nondeterministic: self.summary.nondeterministic,
            unsettled: self.summary.unsettled,
            urls: self.summary.urls,
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
        let why = match self.summary.stopped_by {
            Some(StoppedBy::MaxStates) => "stopped by --max-states",
            Some(StoppedBy::MaxActions) => "stopped by --max-actions",
            Some(StoppedBy::MaxDepth) => "stopped by --max-depth",
            Some(StoppedBy::MaxTime) => "stopped by --max-time",
            Some(StoppedBy::Interrupt) => "interrupted",
            Some(StoppedBy::NotLoaded) => "stopped, since the address can no longer be loaded",
            Some(StoppedBy::Trouble) | None => "stopped by an error",
        };
        format!(
            "{why}, {} unexplored",
            count(self.summary.progress.unexplored as u64, "known action")
        )
    }

    fn write_problems(&self, text: &mut String) {
        let CrawlSummary { gone, nondeterministic, unsettled, urls, browsers_replaced, .. } =
            self.summary;
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
        write(*urls, "plain link", "plain links");
        write(*browsers_replaced as usize, "browser was replaced", "browsers were replaced");
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
            _ => "",
        };
        Some(format!("{} crawl --resume {}{more}", format::program(), format::path(self.out)))
    }
}
