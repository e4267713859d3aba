//! The arguments of `argiope crawl` as typed, and the checked settings that they become.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use argiope_browser::ThirdParty;
use argiope_controller::settings::StopAt;
use argiope_explore::{identity, strategies};
use argiope_runtime::inputs::{self, InputRule};
use argiope_runtime::login::GivenSecrets;
use argiope_runtime::settings::{CrawlSettings, Scope};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::cluster::ClusterCrawlArgs;
use super::login_args::{LoginArgs, check_tabs, read_access};
use crate::args::{identity_names, strategy_names};
use crate::duration::{duration, moment};
use argiope::failure::CommandFailure;
use argiope::threads;

const AFTER_HELP: &str = "\
Examples:
  argiope crawl --demo --out demo-run
  argiope crawl http://localhost:3000/ --tabs 2 --max-time 10m --json
  argiope crawl http://localhost:3000/ http://localhost:3000/#/admin
  argiope crawl --demo --max-states 10 --out small-run
  argiope crawl --resume small-run --max-states none --quiet

An action is one step of a user: click, type, choose, hover, drag and so on. A reset clears \
cookies and storage and loads the address again. The run directory holds everything found so far, \
so that a crawl can be interrupted or killed, and resumed. With --resume, --max-states, \
--max-actions and --max-depth replace the earlier limit; `none` removes it. --max-time holds for \
one call. On a cluster the client stops the crawl soon after a limit, while it follows the crawl.

Of several addresses, and those of --seeds, each is loaded at the beginning, and the crawl begins \
at all of them. They lie in one scope. One that cannot be loaded leaves the crawl incomplete; \
--resume tries it again, for a crawl of a cluster on one machine. One that would be left alone as \
an action is refused. If a load of its own address leads to a state, argiope reaches it by that \
address where this is cheaper; `argiope states` shows with which address a path begins.

A crawl stays in its scope: the origin of the first address. --include adds pages of other origins, or \
narrows the own one; --exclude takes addresses away. A pattern is an address with * for any text, \
such as '/docs/*' or 'https://*.example.com/*'. Requests that leave the scope are blocked, counted \
and listed. With --safe, sockets are blocked, too.

If the server itself demands a user name and a password (HTTP basic or digest), set \
ARGIOPE_LOGIN=USER:PASSWORD, or write USER:PASSWORD@ before the host. Values of --header, of \
--cookie and in the file of --login may have ${env:NAME} for a variable of the environment and \
${file:PATH} for the content of a file. Secrets are never stored, shown, logged or exported: \
--resume reads them again from where they came. A value that is written into the command line is \
visible to other users of the machine, and must be given again with --resume.

Actions that log out, shut down, restart, delete everything or an account, or pay are left alone: \
their names in eleven languages say so, or their addresses. --allow performs those whose name has \
TEXT as whole words, or whose address has it. --avoid leaves more alone. Its value is a selector \
if it begins with #, . or [ or with css:, and otherwise a text (text: before it says so). A text \
with a slash is a piece of an address. `argiope ledger` lists what was left alone.

With --json it prints one object: url, complete, stopped_by (max-states, max-actions, max-depth, \
max-time, parts-covered, interrupt, not-loaded, trouble or null), states, transitions, actions_executed, resets, \
reset_cost (in actions), coverage (reached: none, parts or all; contexts, contexts_executed, parts, \
alike_waiting, estimated_more), failed, given_up (by reason), nondeterministic, unsettled, unsafe \
(transitions with requests that --safe stopped), blocked (requests that left the scope, and their \
hosts), urls, avoided, ledger (actions not performed, by reason), ended_by (actions after which \
the application could not be loaded), tampered (built-in functions that a page replaced), \
truncated (a page was too large), seeds_left (addresses that could not be loaded), tabs, wall_s, actions_per_s \
(both of this process only), out.

Exit codes: 0 complete or as far as --stop-at says, 1 failed, 2 bad input, 3 interrupted, 4 limit reached, 5 explored \
except for actions given up or addresses that could not be loaded, or a page may have deceived \
argiope.";

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
    /// Stop when every kind of action was executed in every condition of its part of the page
    /// (parts), when every action was executed in every state (all), or decide by how many there
    /// are (auto) [default: all]
    #[arg(long, value_name = "COVERAGE", value_parser = coverage())]
    stop_at: Option<StopAt>,
    /// Stop after this time, for example 90s, 10m or 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// Seed the random generator with N [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// Let pages draw real random numbers instead of numbers that follow from the seed
    #[arg(long, conflicts_with = "resume")]
    real_random: bool,
    /// Store a screenshot of every state
    #[arg(long, conflicts_with = "resume")]
    screenshots: bool,
    /// Ignore elements that match this selector (may be given several times)
    #[arg(long, value_name = "CSS", conflicts_with = "resume")]
    ignore: Vec<String>,
    /// Perform dangerous actions whose name or address has TEXT (may be given several times)
    #[arg(long, value_name = "TEXT", conflicts_with = "resume", value_parser = some_text)]
    allow: Vec<String>,
    /// Leave alone what TEXT names or a selector matches, beside what is dangerous (may be given
    /// several times)
    #[arg(long, value_name = "TEXT|CSS", conflicts_with = "resume", value_parser = avoided)]
    avoid: Vec<Avoided>,
    /// Type the values of this file into fields; docs/guide/inputs.md has an example
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    inputs: Option<PathBuf>,
    /// Crawl pages whose address matches this pattern, also of other origins (may be given several
    /// times)
    #[arg(long, value_name = "PATTERN", conflicts_with = "resume")]
    include: Vec<String>,
    /// Request nothing from addresses that match this pattern (may be given several times)
    #[arg(long, value_name = "PATTERN", conflicts_with = "resume")]
    exclude: Vec<String>,
    /// Load scripts, styles, fonts and images of other origins, or no more than the scope [default:
    /// allow]
    #[arg(long, value_name = "allow|block", conflicts_with = "resume", value_parser = third_party)]
    third_party: Option<ThirdParty>,
    /// Stop every request that may change data: only GET, HEAD and OPTIONS reach the server
    #[arg(long, conflicts_with = "resume")]
    safe: bool,
    /// Freeze the clock of the pages [TIME if it is left out: 2024-01-15T10:30:00Z]
    #[arg(long, value_name = "TIME", conflicts_with = "resume", value_parser = moment, allow_hyphen_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "2024-01-15T10:30:00Z")]
    freeze_time: Option<i64>,
    /// Wait at most this long for a page to settle after an action [default: 10s]
    #[arg(long, value_name = "DURATION", conflicts_with = "resume", value_parser = duration)]
    settle_cap: Option<Duration>,
    #[command(flatten)]
    pub login: LoginArgs,
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
#[group(required = true, multiple = true)]
pub struct CrawlTarget {
    /// Crawl the application at this address; of several, each is loaded at the beginning
    #[arg(value_name = "URL", conflicts_with_all = ["resume", "demo"])]
    urls: Vec<String>,
    /// Begin with the addresses in FILE as well: one in each line, after # a comment
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "demo"])]
    seeds: Option<PathBuf>,
    /// Resume the run in DIR
    #[arg(long, value_name = "DIR", conflicts_with = "demo")]
    pub resume: Option<PathBuf>,
    /// Crawl a small mail application that argiope serves on loopback
    #[arg(long)]
    pub demo: bool,
}

impl CrawlTarget {
    /// All addresses, the first one first.
    fn addresses(&self) -> Result<Vec<String>, CommandFailure> {
        let mut addresses = self.urls.clone();
        if let Some(path) = &self.seeds {
            let shown = path.display();
            let unread = |why| CommandFailure::Input(format!("cannot read {shown}: {why}"));
            let mut text = String::new();
            let file = File::open(path).map_err(|error| unread(error.to_string()))?;
            let read = file.take(MOST_SEED_BYTES + 1).read_to_string(&mut text);
            read.map_err(|error| unread(error.to_string()))?;
            if text.len() as u64 > MOST_SEED_BYTES {
                return Err(unread(format!("it has more than {MOST_SEED_BYTES} bytes")));
            }
            addresses.extend(seeds_of(&text));
            if addresses.is_empty() {
                let why = format!("{shown} has no address: write one in each line");
                return Err(CommandFailure::Input(why));
            }
        }
        Ok(addresses)
    }

    /// The address of the application.
    pub fn first(&self) -> Result<String, CommandFailure> {
        Ok(self.addresses()?.into_iter().next().unwrap_or_default())
    }
}

/// The largest file of addresses, in bytes.
const MOST_SEED_BYTES: u64 = 1 << 20;

/// The addresses in the text of a file. A # begins a comment at the beginning of a line or after a
/// space: an address may have one.
fn seeds_of(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let address = line.split_whitespace().next()?;
        (!address.starts_with('#')).then(|| address.to_owned())
    })
}

/// A limit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(Option<u32>);

/// Parses what becomes of other origins.
fn third_party(text: &str) -> Result<ThirdParty, String> {
    match text {
        "allow" => Ok(ThirdParty::Allow),
        "block" => Ok(ThirdParty::Block),
        _ => Err("write 'allow' or 'block'".to_owned()),
    }
}

/// Parses a limit.
fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let number =
        text.parse().map_err(|_| format!("write a number up to {} or 'none'", u32::MAX))?;
    Ok(Limit(Some(number)))
}

/// What `--avoid` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Avoided {
    /// Words of a name, or a piece of an address.
    Text(String),
    /// A selector.
    Selector(String),
}

impl Avoided {
    fn text(&self) -> Option<String> {
        if let Self::Text(text) = self { Some(text.clone()) } else { None }
    }

    fn selector(&self) -> Option<String> {
        if let Self::Selector(selector) = self { Some(selector.clone()) } else { None }
    }
}

/// Tells a selector from a text by how it begins.
fn avoided(value: &str) -> Result<Avoided, String> {
    let (is_selector, rest) = match (value.strip_prefix("css:"), value.strip_prefix("text:")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => (value.starts_with(['#', '.', '[']), value),
    };
    let rest = some_text(rest)?;
    Ok(if is_selector { Avoided::Selector(rest) } else { Avoided::Text(rest) })
}

/// Parses a text with at least one letter or digit.
fn some_text(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_alphanumeric) {
        Ok(text.trim().to_owned())
    } else {
        Err("write at least one word".to_owned())
    }
}

/// Parses a limit of at least 1.
fn limit_of_one(text: &str) -> Result<Limit, String> {
    match limit(text)? {
        Limit(Some(0)) => Err("it must be at least 1".to_owned()),
        limit => Ok(limit),
    }
}

/// Parses the name of a coverage.
fn coverage() -> impl TypedValueParser<Value = StopAt> {
    PossibleValuesParser::new(["parts", "all", "auto"]).map(|name| match name.as_str() {
        "parts" => StopAt::Parts,
        "auto" => StopAt::Auto,
        _ => StopAt::All,
    })
}

impl CrawlArgs {
    /// The settings of a new crawl, with all secrets that they name.
    pub fn settings(&self, url: &str) -> Result<CrawlSettings, CommandFailure> {
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
            real_random: self.real_random,
            freeze_time: self.freeze_time,
            ignore: self.ignore.clone(),
            allow: self.allow.clone(),
            avoid: self.avoid.iter().filter_map(Avoided::text).collect(),
            avoid_selectors: self.avoid.iter().filter_map(Avoided::selector).collect(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            third_party: self.third_party.unwrap_or_default(),
            safe: self.safe,
            ..CrawlSettings::new(url)
        };
        settings.seed = self.seed.unwrap_or(settings.seed);
        if let Some(cap) = self.settle_cap {
            settings.settle_ms = u32::try_from(cap.as_millis()).unwrap_or(u32::MAX);
        }
        // A wrong address says so before a login that is for none.
        Scope::of(&settings.url).map_err(CommandFailure::Input)?;
        let given = self.apply_changes(&mut settings)?;
        if settings.safe && settings.login.script.is_some() {
            let why = "--safe would stop the requests of --login: log in once by other means, and \
                       give the session by --storage-state or --cookie";
            return Err(CommandFailure::Input(why.to_owned()));
        }
        read_access(&mut settings, &given)?;
        Ok(settings)
    }

    /// Adds the further addresses with which the crawl begins.
    pub fn add_seeds(&self, settings: &mut CrawlSettings) -> Result<(), CommandFailure> {
        let addresses = self.target.addresses()?;
        let further = addresses.iter().skip(1).map(String::as_str);
        settings.add_seeds(further).map_err(CommandFailure::Input)
    }

    /// The values of the file of inputs, checked.
    pub fn inputs(&self) -> Result<Vec<InputRule>, CommandFailure> {
        let Some(path) = &self.inputs else { return Ok(Vec::new()) };
        let shown = path.display();
        let file = File::open(path).and_then(|file| {
            let mut text = String::new();
            // One byte more than a file may have: the check says that it is too large.
            file.take(inputs::MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
            Ok(text)
        });
        let text =
            file.map_err(|error| CommandFailure::Input(format!("cannot read {shown}: {error}")))?;
        inputs::parse(&shown.to_string(), &text)
            .map_err(|error| CommandFailure::Input(error.to_string()))
    }

    /// Applies the options that a resumed crawl may change. Returns the secrets among them.
    pub fn apply_changes(
        &self,
        settings: &mut CrawlSettings,
    ) -> Result<GivenSecrets, CommandFailure> {
        let given = self.login.apply(settings)?;
        if settings.login.before_reset.is_some() && self.target.resume.is_none() {
            settings.tabs = 1;
        }
        settings.tabs = self.tabs.unwrap_or(settings.tabs);
        check_tabs(settings)?;
        if let Some(limit) = self.max_states {
            settings.max_states = limit.0.map(|limit| limit as usize);
        }
        if let Some(limit) = self.max_actions {
            settings.max_actions = limit.0.map(u64::from);
        }
        if let Some(limit) = self.max_depth {
            settings.max_depth = limit.0;
        }
        settings.stop_at = self.stop_at.unwrap_or(settings.stop_at);
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_told_from_a_text_by_how_it_begins() {
        let text = |text: &str| Ok(Avoided::Text(text.to_owned()));
        let selector = |text: &str| Ok(Avoided::Selector(text.to_owned()));
        assert_eq!(avoided("Archive all"), text("Archive all"));
        assert_eq!(avoided("/admin/"), text("/admin/"));
        assert_eq!(avoided("#danger"), selector("#danger"));
        assert_eq!(avoided(".danger button"), selector(".danger button"));
        assert_eq!(avoided("[data-danger]"), selector("[data-danger]"));
        assert_eq!(avoided("css:button.danger"), selector("button.danger"));
        assert_eq!(avoided("text:#1"), text("#1"));
        for empty in ["", " ", "css:", "text: ", "..."] {
            assert!(avoided(empty).is_err(), "{empty:?}");
        }
    }

    #[test]
    fn a_limit_is_a_number_or_none() {
        assert_eq!(limit("0"), Ok(Limit(Some(0))));
        assert_eq!(limit_of_one("none"), Ok(Limit(None)));
        for bad in ["0", "-1", "many", "", "99999999999"] {
            assert!(limit_of_one(bad).is_err(), "{bad}");
        }
    }
}
