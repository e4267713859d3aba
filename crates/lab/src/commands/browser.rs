//! `argiope bench browser`: how much of the browser's speed a crawl reaches. One run measures, in
//! turns:
//! - a bare loop over the same protocol connection, without a strategy and a store;
//! - two independent bare loops at once;
//! - the crawler with one tab and with two;
//! - the usual way: an event, 200 ms of sleep, and a reload to go back.
//!
//! Only ratios are comparable between machines.

mod baseline;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use argiope_browser::agent::{AgentSettings, PathStep};
use argiope_browser::tab::{Tab, TabError};
use argiope_browser::{Browser, Executable, LaunchSettings};
use argiope_runtime::crawl::{self, CrawlPlan, CrawlSummary};
use argiope_runtime::settings::{CrawlSettings, Scope};
use argiope_runtime::store::Store;
use argiope_sites::Server;
use serde::Serialize;
use tokio::sync::Notify;

use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::progress::WorkProgress;
use argiope::{browser, output, threads};

use crate::baseline::PairedSpeeds;
use crate::machine;

/// The sleep of the usual way after each event.
const SLEEP: Duration = Duration::from_millis(200);
/// The candidates that the usual way executes; each takes equally long.
const USUAL_CANDIDATES: usize = 5;
/// The actions of one measurement by default.
const ACTIONS: u64 = 1500;

/// An application to crawl.
struct Site {
    /// Its name in the figures.
    name: &'static str,
    fixture: &'static str,
    query: &'static str,
    /// Whether the usual way is measured too.
    usual: bool,
    /// Whether it is crawled completely by default: predictions depend on what is known.
    whole: bool,
    /// Whether a crawl takes less than a second, of which the start of a browser is a large share.
    is_short: bool,
}

/// Six switches take half a second, of which the second tab spends a share on its first load. With
/// ten switches that share is negligible.
const SITES: [Site; 3] = [
    Site {
        name: "toggles",
        fixture: "toggles",
        query: "",
        usual: true,
        whole: true,
        is_short: true,
    },
    Site {
        name: "toggles, ten switches",
        fixture: "toggles",
        query: "?switches=10",
        usual: false,
        whole: true,
        is_short: false,
    },
    Site {
        name: "filetree-cassandra",
        fixture: "filetree-cassandra",
        query: "",
        usual: false,
        whole: false,
        is_short: false,
    },
];

const AFTER_HELP: &str = "\
Examples:
  argiope bench browser --rounds 1 --actions 100 --out bench-browser.json
  argiope bench browser --rounds 1 --actions 100 --baseline ../before/argiope

With --baseline the bench compares this program with another one, such as an earlier build. Both \
run `PROGRAM crawl URL --json` in turns, with one tab and with two, on the larger sites. The table \
has the actions per second that they print, the start of the browser included. The ratio \
this/baseline is the median over the rounds, followed by the lowest and the highest one.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct BrowserBenchArgs {
    /// Measure everything N times, in turns; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Execute about N actions for each measurement [default: 1500, and the toggles completely]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(50..=100_000))]
    actions: Option<u64>,
    /// Run this browser [default: the one that `argiope crawl` finds]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    /// Compare with this executable of argiope instead
    #[arg(long, value_name = "PROGRAM")]
    baseline: Option<PathBuf>,
    /// Write the figures to FILE, as JSON
    #[arg(long, value_name = "FILE", default_value = "out/bench-browser.json")]
    out: PathBuf,
}

/// Actions per second, measured in turns.
#[derive(Default, Serialize)]
struct Measured {
    site: &'static str,
    bare: Vec<f64>,
    two_bare: Vec<f64>,
    one_tab: Vec<f64>,
    two_tabs: Vec<f64>,
    /// The busy cores of the whole machine, which bound what more tabs can gain.
    one_tab_cores: Vec<f64>,
    two_tabs_cores: Vec<f64>,
    /// Transitions per second of the crawler with one tab.
    transitions: Vec<f64>,
    /// Transitions per second of the usual way.
    usual: Option<f64>,
}

#[derive(Serialize)]
struct Ratios {
    one_tab_to_bare: f64,
    two_bare_to_one: f64,
    two_tabs_to_one: f64,
    two_tabs_to_bare: f64,
    /// The bound for two tabs: all cores busy, and no more work per action than one tab has.
    two_tabs_at_most: f64,
    one_tab_to_usual: Option<f64>,
}

#[derive(Serialize)]
struct Figures<'a> {
    machine: Machine,
    rounds: u32,
    sites: Vec<(&'a Measured, Ratios)>,
}

#[derive(Serialize)]
struct BaselineFigures<'a> {
    machine: Machine,
    rounds: u32,
    baseline: &'a Path,
    speeds: &'a [PairedSpeeds],
}

#[derive(Serialize)]
struct Machine {
    cores: usize,
    processor: String,
    memory_mb: u64,
    load: String,
    browser: String,
    argiope: &'static str,
}

pub fn run(args: &BrowserBenchArgs) -> Result<(), CommandFailure> {
    let executable = browser::find(args.browser.as_deref())?;
    let machine = machine(executable.version.clone());
    if let Some(program) = &args.baseline {
        let speeds = baseline::measure(args, program)?;
        let figures =
            BaselineFigures { machine, rounds: args.rounds, baseline: program, speeds: &speeds };
        write(&args.out, &figures)?;
        return output::print(&crate::baseline::table("actions/s", &speeds));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandFailure::Failed(format!("cannot run tasks: {error}")))?;
    let mut all = Vec::new();
    let progress = WorkProgress::new(u64::from(args.rounds) * SITES.len() as u64);
    for site in &SITES {
        let server = Server::start(site.fixture)
            .map_err(|error| CommandFailure::Failed(error.to_string()))?;
        let url = server.url() + site.query;
        let bench = Bench { args, executable: &executable, url, site, progress: &progress };
        let set = tokio::task::LocalSet::new();
        all.push(runtime.block_on(set.run_until(bench.measure()))?);
    }
    let sites = all.iter().map(|measured| (measured, measured.ratios())).collect();
    write(&args.out, &Figures { machine, rounds: args.rounds, sites })?;
    output::print(&table(&all, args))
}

/// Writes figures as JSON, in a directory that is made if it is missing.
fn write(path: &Path, figures: &impl Serialize) -> Result<(), CommandFailure> {
    let json = serde_json::to_string_pretty(figures).expect("plain figures are JSON") + "\n";
    if let Some(parent) = path.parent() {
        output::directory(parent)?;
    }
    output::file(path, json)
}

struct Bench<'a> {
    args: &'a BrowserBenchArgs,
    executable: &'a Executable,
    url: String,
    site: &'static Site,
    progress: &'a WorkProgress,
}

impl Bench<'_> {
    async fn measure(&self) -> Result<Measured, CommandFailure> {
        let mut measured = Measured { site: self.site.name, ..Measured::default() };
        self.progress.set_step(self.site.name);
        for _ in 0..self.args.rounds {
            let one = self.crawl(1).await?;
            measured.bare.push(self.bare(1, one.actions_each)?);
            measured.one_tab.push(one.actions);
            measured.one_tab_cores.push(one.cores);
            measured.transitions.push(one.transitions);
            let two = self.crawl(2).await?;
            measured.two_tabs.push(two.actions);
            measured.two_tabs_cores.push(two.cores);
            measured.two_bare.push(self.bare(2, two.actions_each)?);
            self.progress.advance(1);
        }
        if self.site.usual {
            measured.usual = Some(self.usual_way().await?);
        }
        Ok(measured)
    }

    fn actions(&self) -> u64 {
        self.args.actions.unwrap_or(ACTIONS)
    }

    fn launch(&self) -> LaunchSettings {
        LaunchSettings::new(self.executable.clone(), std::env::temp_dir())
    }

    async fn browser(&self) -> Result<Arc<Browser>, CommandFailure> {
        let browser = Browser::launch(&self.launch()).await;
        Ok(Arc::new(browser.map_err(|error| CommandFailure::Failed(error.to_string()))?))
    }

    /// Opens a tab with the first page, and lists the actions there.
    async fn tab(&self, browser: &Arc<Browser>) -> Result<(Tab, Vec<PathStep>), CommandFailure> {
        let scope = Scope::of(&self.url).map_err(CommandFailure::Failed)?;
        let frames = !browser.can_do_without_frames;
        let agent =
            AgentSettings { frames, ..AgentSettings::new("bench", scope.origin, scope.site) };
        let mut tab =
            Tab::open(browser.clone(), agent).await.map_err(|error| tab_failure(&error))?;
        let steps = first_steps(&mut tab, &self.url).await?;
        Ok((tab, steps))
    }

    /// Executes the actions of the first page in turn, one round trip each: the most that the
    /// connection and the page allow. Loops that run at once share nothing but the machine. A
    /// browser gets faster with time, so it executes as many actions as in one crawl (`each`).
    fn bare(&self, loops: u64, each: u64) -> Result<f64, CommandFailure> {
        let (mut actions, mut time) = (0, Duration::ZERO);
        let share = each.div_ceil(loops);
        while actions < self.actions() {
            let together = Barrier::new(loops as usize);
            let spans: Result<Vec<(Instant, Instant)>, CommandFailure> = thread::scope(|scope| {
                let one = || block_on(self.bare_loop(share, &together))?;
                let running: Vec<_> = (0..loops).map(|_| scope.spawn(one)).collect();
                running
                    .into_iter()
                    .map(|running| running.join().expect("a loop panicked"))
                    .collect()
            });
            let spans = spans?;
            let begun = spans.iter().map(|span| span.0).min();
            let ended = spans.iter().map(|span| span.1).max();
            time += ended.zip(begun).map_or(Duration::ZERO, |(ended, begun)| ended - begun);
            actions += share * loops;
        }
        Ok(actions as f64 / time.as_secs_f64())
    }

    /// Runs one loop; returns its start and its end.
    async fn bare_loop(
        &self,
        actions: u64,
        together: &Barrier,
    ) -> Result<(Instant, Instant), CommandFailure> {
        let prepared = match self.browser().await {
            Ok(browser) => self.tab(&browser).await,
            Err(error) => Err(error),
        };
        together.wait();
        let (mut tab, steps) = prepared?;
        let begun = Instant::now();
        for step in steps.iter().cycle().take(actions as usize) {
            tab.run(std::slice::from_ref(step)).await.map_err(|error| tab_failure(&error))?;
        }
        Ok((begun, Instant::now()))
    }

    /// Crawls until enough actions are executed.
    async fn crawl(&self, tabs: u32) -> Result<Speed, CommandFailure> {
        let (mut actions, mut transitions, mut time, mut busy) = (0, 0, Duration::ZERO, 0.0);
        let mut actions_each = 0;
        while actions < self.actions() {
            let whole = self.site.whole && self.args.actions.is_none();
            let most = (!whole).then_some(self.actions());
            let (summary, work) = self.crawl_once(tabs, most).await?;
            actions_each = summary.progress.actions.max(1);
            actions += actions_each;
            transitions += summary.progress.transitions;
            time += summary.progress.elapsed;
            busy += work;
        }
        let time = time.as_secs_f64();
        let (actions, transitions) = (actions as f64 / time, transitions as f64 / time);
        Ok(Speed { actions_each, actions, transitions, cores: busy / time })
    }

    /// Crawls once; also returns the busy seconds of all cores from the first action to the last.
    async fn crawl_once(
        &self,
        tabs: u32,
        most_actions: Option<u64>,
    ) -> Result<(CrawlSummary, f64), CommandFailure> {
        let failed = |error: String| CommandFailure::Failed(error);
        let mut settings = CrawlSettings::new(self.url.clone());
        settings.tabs = tabs;
        settings.max_actions = most_actions;
        let directory = std::env::temp_dir().join(format!("argiope-bench-{}", std::process::id()));
        let stored = serde_json::to_value(&settings).expect("settings are plain data");
        let store =
            Store::create(&directory, &stored).map_err(|error| failed(error.to_string()))?;
        let plan = CrawlPlan {
            store,
            settings,
            browser: self.launch(),
            secret: "bench".to_owned(),
            interrupt: Arc::new(Notify::new()),
            deadline: None,
        };
        let (mut first, mut last) = (None, 0.0);
        let ended = crawl::crawl(plan, |_| {
            last = machine::busy_seconds();
            first.get_or_insert(last);
        });
        let ended = ended.await;
        std::fs::remove_dir_all(&directory).map_err(|error| failed(error.to_string()))?;
        let summary = ended.map_err(|error| failed(error.to_string()))?;
        Ok((summary, last - first.unwrap_or(last)))
    }

    /// Transitions per second of a loop that sleeps after each event and reloads to go back. Each
    /// candidate costs a load and a path of average length.
    async fn usual_way(&self) -> Result<f64, CommandFailure> {
        let (mut tab, steps) = self.tab(&self.browser().await?).await?;
        let started = Instant::now();
        for first in 0..USUAL_CANDIDATES {
            tab.load(&self.url).await.map_err(|error| tab_failure(&error))?;
            tokio::time::sleep(SLEEP).await;
            // The path has half of the switches on average; then comes the candidate.
            for step in steps.iter().cycle().skip(first).take(steps.len() / 2 + 1) {
                tab.run(std::slice::from_ref(step)).await.map_err(|error| tab_failure(&error))?;
                tokio::time::sleep(SLEEP).await;
            }
        }
        Ok(USUAL_CANDIDATES as f64 / started.elapsed().as_secs_f64())
    }
}

/// The speed of several crawls.
struct Speed {
    /// The actions of the last crawl.
    actions_each: u64,
    /// Actions per second.
    actions: f64,
    /// Transitions per second.
    transitions: f64,
    /// The busy cores on average.
    cores: f64,
}

fn tab_failure(error: &TabError) -> CommandFailure {
    CommandFailure::Failed(format!("the browser failed: {error}"))
}

async fn first_steps(tab: &mut Tab, url: &str) -> Result<Vec<PathStep>, CommandFailure> {
    tab.load(url).await.map_err(|error| tab_failure(&error))?;
    let page = tab.look().await.map_err(|error| tab_failure(&error))?.page;
    let step = |offer: argiope_explore::page::Offer| PathStep {
        kind: offer.kind,
        place: offer.place,
        argument: offer.argument,
        number: None,
        trusted: false,
        expect: None,
        first: false,
    };
    Ok(page.offers.into_iter().map(step).collect())
}

impl Measured {
    fn ratios(&self) -> Ratios {
        // Neighbours in time are compared, since the load changes from round to round.
        let pairs = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
        Ratios {
            one_tab_to_bare: pairs(&self.one_tab, &self.bare),
            two_bare_to_one: pairs(&self.two_bare, &self.bare),
            two_tabs_to_one: pairs(&self.two_tabs, &self.one_tab),
            two_tabs_to_bare: pairs(&self.two_tabs, &self.bare),
            two_tabs_at_most: (threads::cores() as f64 / median(self.one_tab_cores.clone()))
                .min(2.0),
            one_tab_to_usual: self.usual.map(|usual| median(self.transitions.clone()) / usual),
        }
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn machine(browser: String) -> Machine {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned();
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let memory = field("/proc/meminfo", "MemTotal");
    let kilobytes: u64 = memory.trim_end_matches(" kB").parse().unwrap_or(0);
    Machine {
        cores: threads::cores(),
        processor: field("/proc/cpuinfo", "model name"),
        memory_mb: kilobytes / 1024,
        load,
        browser,
        argiope: env!("CARGO_PKG_VERSION"),
    }
}

fn table(all: &[Measured], args: &BrowserBenchArgs) -> String {
    let mut text = String::from("actions per second (median)\n");
    for measured in all {
        let ratios = measured.ratios();
        let middle = |figures: &[f64]| median(figures.to_vec());
        let _ = writeln!(text, "\n{}", measured.site);
        let _ = writeln!(text, "  bare loop       {:>8.0}", middle(&measured.bare));
        let _ = writeln!(
            text,
            "  two bare loops  {:>8.0}  {:.2} × one",
            middle(&measured.two_bare),
            ratios.two_bare_to_one
        );
        let _ = writeln!(
            text,
            "  one tab         {:>8.0}  {:.2} × the bare loop; {:.1} cores busy",
            middle(&measured.one_tab),
            ratios.one_tab_to_bare,
            middle(&measured.one_tab_cores)
        );
        let _ = writeln!(
            text,
            "  two tabs        {:>8.0}  {:.2} × the bare loop, {:.2} × one tab (at most {:.2} on this \
             machine); {:.1} cores busy",
            middle(&measured.two_tabs),
            ratios.two_tabs_to_bare,
            ratios.two_tabs_to_one,
            ratios.two_tabs_at_most,
            middle(&measured.two_tabs_cores)
        );
        if let (Some(usual), Some(ratio)) = (measured.usual, ratios.one_tab_to_usual) {
            let _ = writeln!(
                text,
                "  usual way       {usual:>8.2}  transitions per second; one tab is {ratio:.0} times as fast"
            );
        }
    }
    let _ = writeln!(text, "\nwritten to {}", args.out.display());
    text
}
