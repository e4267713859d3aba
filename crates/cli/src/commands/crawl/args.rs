//! The arguments of `argiope crawl` as typed, and the checked settings that they become.

use std::path::PathBuf;
use std::time::Duration;

use argiope_explore::{identity, strategies};
use argiope_runtime::settings::CrawlSettings;

use super::cluster::ClusterCrawlArgs;
use crate::args::{identity_names, strategy_names};
use crate::duration::{duration, moment};
use argiope::threads;

const AFTER_HELP: &str = "\
Examples:
  argiope crawl --demo --out demo-run
  argiope crawl http://localhost:3000/ --tabs 2 --max-time 10m --json
  argiope crawl --demo --max-states 10 --out small-run
  argiope crawl --resume small-run --max-states none --quiet

An action is whatever a user could do: click, type, choose, hover, drag and so on. A reset loads the \
address again, with cookies and storage cleared. Everything that was found is in the directory at any \
moment, so that a crawl can be interrupted or killed, and resumed. A limit that is given with --resume \
replaces the one that the crawl began with, and `none` takes it away.

With --json there is one object on standard output: url, complete, stopped_by (max-states, max-actions, \
max-depth, max-time, interrupt, not-loaded, trouble or null), states, transitions, actions_executed, \
resets, reset_cost (in actions), failed, nondeterministic, unsettled, urls, tabs, wall_s, actions_per_s \
(both of this process only, if the crawl was resumed), out.

Exit codes: 0 complete, 1 failed, 2 bad input (nothing was written), 3 interrupted, 4 a limit was reached.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CrawlArgs {
    #[command(flatten)]
    pub what: What,
    /// The directory for the run, new or empty [default: out/HOST-N]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// The strategy; `argiope strategies` lists them [default: adaptive, on a ring greedy]
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = strategy_names(&[]), hide_possible_values = true)]
    strategy: Option<String>,
    /// How many tabs work at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    tabs: Option<u32>,
    /// When two pages are the same state; `argiope identities` lists the answers [default: content]
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = identity_names(), hide_possible_values = true)]
    identity: Option<String>,
    /// Stop at so many states
    #[arg(long, value_name = "N", value_parser = limit_of_one)]
    max_states: Option<Limit>,
    /// Stop before more than so many actions
    #[arg(long, value_name = "N", value_parser = limit_of_one)]
    max_actions: Option<Limit>,
    /// Do nothing in states that are more than so many actions away from the first one
    #[arg(long, value_name = "N", value_parser = limit)]
    max_depth: Option<Limit>,
    /// Stop after this time, for example 90s, 10m or 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// Decides everything that is left to chance [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Keep a picture of every state
    #[arg(long, conflicts_with = "resume")]
    screenshots: bool,
    /// Leave out whatever matches this selector (may be given several times)
    #[arg(long, value_name = "CSS", conflicts_with = "resume")]
    ignore: Vec<String>,
    /// Fix the clock of the pages [TIME when none is given: 2024-01-15T10:30:00Z]
    #[arg(long, value_name = "TIME", conflicts_with = "resume", value_parser = moment, allow_hyphen_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "2024-01-15T10:30:00Z")]
    freeze_time: Option<i64>,
    /// How long a page may be busy after an action before it is taken as it is [default: 10s]
    #[arg(long, value_name = "DURATION", conflicts_with = "resume", value_parser = duration)]
    settle_cap: Option<Duration>,
    /// The browser [default: $ARGIOPE_BROWSER, then the first Chromium or Chrome on the path]
    #[arg(long, value_name = "PATH")]
    pub browser: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub ring: ClusterCrawlArgs,
}

/// What is to be crawled.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct What {
    /// The address of the application
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Go on with the run in this directory
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Crawl a small mail application that argiope itself serves on loopback
    #[arg(long)]
    pub demo: bool,
}

/// A limit, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(Option<u32>);

impl Limit {
    fn as_usize(self) -> Option<usize> {
        self.0.map(|limit| limit as usize)
    }
}

fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let number =
        text.parse().map_err(|_| format!("a number up to {} or 'none' is needed", u32::MAX))?;
    Ok(Limit(Some(number)))
}

fn limit_of_one(text: &str) -> Result<Limit, String> {
    match limit(text)? {
        Limit(Some(0)) => Err("it must be at least 1".to_owned()),
        limit => Ok(limit),
    }
}

impl CrawlArgs {
    /// The settings of a new crawl.
    pub fn settings(&self, url: String) -> CrawlSettings {
        let chosen =
            |name: &Option<String>, usual: &str| name.clone().unwrap_or_else(|| usual.to_owned());
        let strategy = if self.ring.is_wanted() {
            strategies::FOR_PARTIAL_GRAPHS[0]
        } else {
            strategies::DEFAULT
        };
        let mut settings = CrawlSettings {
            strategy: chosen(&self.strategy, strategy),
            identity: chosen(&self.identity, identity::DEFAULT),
            tabs: threads::cores().clamp(1, 64) as u32,
            screenshots: self.screenshots,
            freeze_time: self.freeze_time,
            ignore: self.ignore.clone(),
            ..CrawlSettings::new(url)
        };
        settings.seed = self.seed.unwrap_or(settings.seed);
        if let Some(cap) = self.settle_cap {
            settings.settle_ms = u32::try_from(cap.as_millis()).unwrap_or(u32::MAX);
        }
        self.change(&mut settings);
        settings
    }

    /// What may be changed while a crawl is under way.
    pub fn change(&self, settings: &mut CrawlSettings) {
        settings.tabs = self.tabs.unwrap_or(settings.tabs);
        if let Some(limit) = self.max_states {
            settings.max_states = limit.as_usize();
        }
        if let Some(limit) = self.max_actions {
            settings.max_actions = limit.0.map(u64::from);
        }
        if let Some(limit) = self.max_depth {
            settings.max_depth = limit.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_or_none() {
        assert_eq!(limit("0"), Ok(Limit(Some(0))));
        assert_eq!(limit_of_one("none"), Ok(Limit(None)));
        for bad in ["0", "-1", "many", "", "99999999999"] {
            assert!(limit_of_one(bad).is_err(), "{bad}");
        }
    }
}
