//! The arguments of `argiope crawl` as typed, and the checked settings that they become.

use std::path::PathBuf;
use std::time::Duration;

use argiope_explore::{identity, strategies};
use argiope_runtime::settings::CrawlSettings;

use super::cluster::ClusterCrawlArgs;
use crate::args::{identity_names, strategy_names};
use crate::duration::{duration, moment};
use argiope::{login, threads};

const AFTER_HELP: &str = "\
Examples:
  argiope crawl --demo --out demo-run
  argiope crawl http://localhost:3000/ --tabs 2 --max-time 10m --json
  argiope crawl --demo --max-states 10 --out small-run
  argiope crawl --resume small-run --max-states none --quiet

An action is one step of a user: click, type, choose, hover, drag and so on. A reset clears \
cookies and storage and loads the address again. The run directory holds everything found so far, \
so that a crawl can be interrupted or killed, and resumed. With --resume, --max-states, \
--max-actions and --max-depth replace the earlier limit; `none` removes it. --max-time holds for \
one call. On a cluster the client stops the crawl soon after a limit, while it follows the crawl.

If the application demands a login, write USER:PASSWORD@ before its host, or set \
ARGIOPE_LOGIN=USER:PASSWORD. The run directory keeps the login for --resume; only its owner can \
read it. The login is never shown, logged or exported.

With --json it prints one object: url, complete, stopped_by (max-states, max-actions, max-depth, \
max-time, interrupt, not-loaded, trouble or null), states, transitions, actions_executed, resets, \
reset_cost (in actions), failed, given_up (by reason), nondeterministic, unsettled, urls, tabs, wall_s, actions_per_s \
(both of this process only), out.

Exit codes: 0 complete, 1 failed, 2 bad input, 3 interrupted, 4 limit reached, 5 explored \
except for actions given up.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CrawlArgs {
    #[command(flatten)]
    pub target: CrawlTarget,
    /// Write the run to DIR, which is new or empty [default: out/HOST-N]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Explore with this strategy; `argiope strategies` lists them [default: adaptive, on a cluster
    /// greedy]
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = strategy_names(&[]), hide_possible_values = true)]
    strategy: Option<String>,
    /// Work with N tabs [default: the number of cores; with --resume, as before]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    tabs: Option<u32>,
    /// Tell states apart by this identity; `argiope identities` lists them [default: content]
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = identity_names(), hide_possible_values = true)]
    identity: Option<String>,
    /// Stop after N states
    #[arg(long, value_name = "N", value_parser = limit_of_one)]
    max_states: Option<Limit>,
    /// Execute at most N actions
    #[arg(long, value_name = "N", value_parser = limit_of_one)]
    max_actions: Option<Limit>,
    /// Explore no state that is more than N actions away from the first
    #[arg(long, value_name = "N", value_parser = limit)]
    max_depth: Option<Limit>,
    /// Stop after this time, for example 90s, 10m or 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// Seed the random generator with N [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Store a screenshot of every state
    #[arg(long, conflicts_with = "resume")]
    screenshots: bool,
    /// Ignore elements that match this selector (may be given several times)
    #[arg(long, value_name = "CSS", conflicts_with = "resume")]
    ignore: Vec<String>,
    /// Freeze the clock of the pages [TIME if it is left out: 2024-01-15T10:30:00Z]
    #[arg(long, value_name = "TIME", conflicts_with = "resume", value_parser = moment, allow_hyphen_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "2024-01-15T10:30:00Z")]
    freeze_time: Option<i64>,
    /// Wait at most this long for a page to settle after an action [default: 10s]
    #[arg(long, value_name = "DURATION", conflicts_with = "resume", value_parser = duration)]
    settle_cap: Option<Duration>,
    /// Run this browser [default: $ARGIOPE_BROWSER, then a Chromium or Chrome on the path]
    #[arg(long, value_name = "PATH")]
    pub browser: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Print no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub ring: ClusterCrawlArgs,
}

/// What to crawl.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct CrawlTarget {
    /// Crawl the application at this address
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Resume the run in DIR
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Crawl a small mail application that argiope serves on loopback
    #[arg(long)]
    pub demo: bool,
}

/// A limit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(Option<u32>);

/// Parses a limit.
fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let number =
        text.parse().map_err(|_| format!("write a number up to {} or 'none'", u32::MAX))?;
    Ok(Limit(Some(number)))
}

/// Parses a limit of at least 1.
fn limit_of_one(text: &str) -> Result<Limit, String> {
    match limit(text)? {
        Limit(Some(0)) => Err("it must be at least 1".to_owned()),
        limit => Ok(limit),
    }
}

impl CrawlArgs {
    /// The settings of a new crawl.
    pub fn settings(&self, url: &str) -> CrawlSettings {
        let chosen = |name: &Option<String>, default: &str| {
            name.clone().unwrap_or_else(|| default.to_owned())
        };
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
        settings.login = settings.login.or_else(|| login::of_environment(&settings.url));
        if let Some(cap) = self.settle_cap {
            settings.settle_ms = u32::try_from(cap.as_millis()).unwrap_or(u32::MAX);
        }
        self.apply_changes(&mut settings);
        settings
    }

    /// Applies the options that a resumed crawl may change.
    pub fn apply_changes(&self, settings: &mut CrawlSettings) {
        settings.tabs = self.tabs.unwrap_or(settings.tabs);
        if let Some(limit) = self.max_states {
            settings.max_states = limit.0.map(|limit| limit as usize);
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
