//! `argiope crawl`: prepares the run directory and the browser, lets the runtime crawl, and prints
//! the summary.

mod args;
mod cluster;
mod login_args;
mod progress;
mod report;
mod run_dir;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argiope_browser::{Executable, LaunchSettings};
use argiope_controller::input::StoppedBy;
use argiope_explore::identity::Masks;
use argiope_runtime::crawl::{self, CrawlError, CrawlPlan, CrawlSummary};
use argiope_runtime::learned;
use argiope_runtime::login::GivenSecrets;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{Store, StoreError};
use argiope_sites::Server;
use tokio::sync::Notify;

pub use args::CrawlArgs;
pub use cluster::{AttachArgs, attach};
use login_args::read_access;
use progress::{ProgressPrinter, warnings};
use report::{CrawlReport, RunLedger};
use run_dir::RunDir;

use crate::recorded;
use argiope::cluster::{block_on, random_number};
use argiope::failure::{CommandFailure, GIVEN_UP, INTERRUPTED, LIMIT};
use argiope::{browser, format, interrupt, output, terminal};

/// The application of `--demo`.
const DEMO: &str = "demo";

/// A crawl that can begin or resume.
struct PreparedCrawl {
    store: Store,
    settings: CrawlSettings,
    out: PathBuf,
    /// The directory that was made for it, if it is new.
    run_dir: Option<RunDir>,
    /// The server of the application, if argiope serves it.
    server: Option<Server>,
    /// The browser, if it was found before.
    executable: Option<Executable>,
    /// Secrets that were given to resume it.
    given: GivenSecrets,
}

/// Crawls, on this machine or on a cluster.
pub fn run(args: &CrawlArgs) -> Result<(), CommandFailure> {
    if args.ring.is_wanted() {
        return cluster::run(args);
    }
    if let Some(name) = args.ring.requires_cluster() {
        return Err(CommandFailure::Input(format!("{name} requires --cluster")));
    }
    let started = Instant::now();
    let prepared = match &args.target.resume {
        Some(directory) => prepare_resumed(args, directory)?,
        None => prepare_new(args)?,
    };
    if let Some(summary) = finished(&prepared)? {
        let PreparedCrawl { settings, out, .. } = &prepared;
        let ledger = &ledger_of(&prepared.store, settings, &summary);
        let (summary, wall, masks) = (&summary, Duration::ZERO, &Masks::NONE);
        return conclude(args, &CrawlReport { settings, summary, wall, out, masks, ledger });
    }
    let PreparedCrawl { store, mut settings, out, run_dir, server, executable, given } = prepared;
    if run_dir.is_none() {
        read_access(&mut settings, &given)?;
    }
    let executable = executable.map_or_else(|| browser::find(args.browser.as_deref()), Ok)?;
    let plan = CrawlPlan {
        store,
        settings: settings.clone(),
        browser: LaunchSettings::new(executable, std::env::temp_dir()),
        // The name of the page agent, which no page can guess.
        secret: format!("a{:032x}", random_number()?),
        interrupt: Arc::new(Notify::new()),
        deadline: args.max_time.map(|time| started + time),
    };
    let warnings = warnings(settings.safe, !rustix::process::geteuid().is_root());
    let outcome = drive(plan, ProgressPrinter::new(args.quiet, warnings))?;
    drop(server);
    let begun =
        Store::read(&out).and_then(|store| Ok((store.length()? > 0, learned::load(&store)?)));
    let is_empty = matches!(begun, Ok((false, _)));
    if let Some(run_dir) = run_dir.as_ref().filter(|_| is_empty) {
        run_dir.undo();
    }
    match outcome {
        None => {
            let when = match &run_dir {
                Some(_) => "before the first page; nothing was stored",
                None => "before it resumed; nothing has changed",
            };
            terminal::message(&format!("interrupted {when}"));
            Err(CommandFailure::Ended(INTERRUPTED))
        }
        Some(Err(error)) => Err(failed(&error, (!is_empty).then_some(&*out))),
        Some(Ok(summary)) => {
            let masks = &begun.map(|(_, learned)| all_masks(&learned)).unwrap_or_default();
            let (settings, summary, wall) = (&settings, &summary, started.elapsed());
            let store = Store::read(&out);
            let ledger = &store.map(|store| ledger_of(&store, settings, summary));
            let ledger = ledger.as_ref().unwrap_or(const { &RunLedger::NONE });
            conclude(args, &CrawlReport { settings, summary, wall, out: &out, masks, ledger })
        }
    }
}

/// Prepares a new crawl.
fn prepare_new(args: &CrawlArgs) -> Result<PreparedCrawl, CommandFailure> {
    // Checks everything before anything is written.
    let executable = Some(browser::find(args.browser.as_deref())?);
    let (server, url) = target(args)?;
    let mut settings = CrawlSettings { inputs: args.inputs()?, ..args.settings(&url)? };
    args.add_seeds(&mut settings)?;
    settings.bounds().map_err(CommandFailure::Input)?;
    let run_dir = RunDir::choose(args.out.as_deref(), &settings.url, args.target.demo)?;
    let as_json = serde_json::to_value(&settings).expect("settings are JSON");
    let store = match Store::create(&run_dir.path, &as_json) {
        Ok(store) => store,
        Err(error) => {
            if args.out.is_none() {
                run_dir.undo();
            }
            return Err(error.into());
        }
    };
    if server.is_some() {
        recorded::set_site(&store, DEMO)?;
    }
    Ok(PreparedCrawl {
        store,
        settings,
        out: run_dir.path.clone(),
        run_dir: Some(run_dir),
        server,
        executable,
        given: GivenSecrets::default(),
    })
}

/// The application to crawl: its address, and its server if argiope serves it.
fn target(args: &CrawlArgs) -> Result<(Option<Server>, String), CommandFailure> {
    if !args.target.demo {
        return Ok((None, args.target.first()?));
    }
    let server = Server::start(DEMO).map_err(|error| CommandFailure::Failed(error.to_string()))?;
    let url = server.url();
    Ok((Some(server), url))
}

/// Prepares to resume a crawl.
fn prepare_resumed(args: &CrawlArgs, directory: &Path) -> Result<PreparedCrawl, CommandFailure> {
    let store = Store::open(directory)?;
    if let Some(attach) = recorded::attach_command(&store)? {
        let shown = format::path(directory);
        return Err(CommandFailure::Input(format!(
            "{shown} waits for a crawl of a cluster, which may still run; to fetch it: {attach}"
        )));
    }
    let before = recorded::settings(&store)?;
    let mut settings = before.clone();
    let given = args.apply_changes(&mut settings)?;
    if settings != before {
        recorded::set_settings(&store, &settings)?;
    }
    let server = match recorded::site(&store)? {
        Some(site) => Some(serve_again(&site, &settings.url)?),
        None => None,
    };
    Ok(PreparedCrawl {
        store,
        settings,
        out: directory.to_owned(),
        run_dir: None,
        server,
        executable: None,
        given,
    })
}

/// Serves the demo again at its old address, since states contain the address.
fn serve_again(site: &str, url: &str) -> Result<Server, CommandFailure> {
    let port = url.trim_end_matches('/').rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let port: u16 = port.ok_or_else(|| {
        CommandFailure::Failed(format!("cannot serve {site} again: {url} has no port"))
    })?;
    Server::start_at(site, port).map_err(|error| {
        CommandFailure::Failed(format!("cannot serve {site} at {url} again: {error}"))
    })
}

/// The summary of a crawl that has nothing left to do.
fn finished(prepared: &PreparedCrawl) -> Result<Option<CrawlSummary>, CommandFailure> {
    if prepared.run_dir.is_some() {
        return Ok(None);
    }
    let learned = learned::load(&prepared.store)?;
    let controller = recorded::controller(&prepared.store, &prepared.settings, learned.reset_cost)?;
    let summary = CrawlSummary::of(&controller, true, None).with_doubts(learned.doubts);
    let summary = summary.with_seeds_left(learned.seeds_left);
    let summary = CrawlSummary { blocked: learned.blocked, ..summary };
    let begun = summary.progress.states > 0;
    // What was given up is tried again.
    let is_over =
        summary.progress.unexplored == 0 && summary.failed() == 0 && summary.seeds_left.is_empty();
    Ok((begun && is_over).then_some(summary))
}

/// Crawls until the end. Returns none if it is interrupted before the first state.
fn drive(
    plan: CrawlPlan,
    mut printer: ProgressPrinter,
) -> Result<Option<Result<CrawlSummary, CrawlError>>, CommandFailure> {
    let interrupted = interrupt::listen();
    let stop = plan.interrupt.clone();
    let begun = Cell::new(false);
    let ended = block_on(async {
        let mut crawl = pin!(crawl::crawl(plan, |progress| {
            begun.set(true);
            printer.show(progress);
        }));
        tokio::select! {
            biased;
            ended = &mut crawl => Some(ended),
            () = interrupted.notified() => {
                if !begun.get() {
                    return None;
                }
                stop.notify_one();
                Some(crawl.await)
            }
        }
    });
    printer.end();
    ended
}

/// What a run says of actions that were not performed. Without a readable store it says nothing.
fn ledger_of(store: &Store, settings: &CrawlSettings, summary: &CrawlSummary) -> RunLedger {
    let controller = recorded::controller(store, settings, summary.reset_cost);
    controller.map_or(RunLedger::NONE, |controller| RunLedger::read(store, summary, &controller))
}

/// The masks of all pages and of single states together.
fn all_masks(learned: &learned::LearnedValues) -> Masks {
    let single = learned.state_masks.iter().map(|(_, masks)| masks);
    single.fold(learned.masks.clone(), |all, masks| all.and(masks))
}

/// Classifies an error of a crawl; `out` is the run directory if the crawl can be resumed.
fn failed(error: &CrawlError, out: Option<&Path>) -> CommandFailure {
    let resume = out.map_or_else(String::new, |out| {
        format!("; to resume: {} crawl --resume {}", format::program(), format::path(out))
    });
    match error {
        CrawlError::NoPage(page) if page.leads_to().is_some() => {
            let there = page.leads_to().unwrap_or_default();
            let line = format::crawl_line(there, std::env::args_os().skip(1));
            CommandFailure::Input(format!("{error}; to crawl that: {line}"))
        }
        CrawlError::NoPage(_) | CrawlError::Settings(_) => CommandFailure::Input(error.to_string()),
        CrawlError::Login(_) if out.is_none() => CommandFailure::Input(error.to_string()),
        CrawlError::Store(StoreError::Damaged(_)) => CommandFailure::Failed(error.to_string()),
        CrawlError::Launch(_)
        | CrawlError::NoTab(_)
        | CrawlError::Login(_)
        | CrawlError::Store(_)
        | CrawlError::NoThread(_)
        | CrawlError::Panicked => CommandFailure::Failed(format!("{error}{resume}")),
    }
}

/// Prints the summary and chooses the exit code.
fn conclude(args: &CrawlArgs, report: &CrawlReport<'_>) -> Result<(), CommandFailure> {
    output::print(&if args.json { report.json() } else { report.text() })?;
    if args.json
        && !args.quiet
        && let Some(resume) = report.resume_command()
    {
        terminal::message(&format!("to resume: {resume}"));
    }
    let CrawlSummary { doubts, seeds_left, .. } = report.summary;
    let misses_something =
        report.summary.failed() > 0 || !doubts.is_empty() || !seeds_left.is_empty();
    match report.summary.stopped_by {
        None if report.summary.complete => Ok(()),
        None | Some(StoppedBy::PartsCovered) if misses_something => {
            Err(CommandFailure::Ended(GIVEN_UP))
        }
        Some(StoppedBy::PartsCovered) => Ok(()),
        Some(StoppedBy::Interrupt) => Err(CommandFailure::Ended(INTERRUPTED)),
        Some(
            StoppedBy::MaxStates | StoppedBy::MaxActions | StoppedBy::MaxDepth | StoppedBy::MaxTime,
        ) => Err(CommandFailure::Ended(LIMIT)),
        Some(StoppedBy::NotLoaded) => Err(CommandFailure::Failed(report.not_loaded())),
        Some(StoppedBy::Trouble) | None => {
            Err(CommandFailure::Failed("the crawl could not continue".to_owned()))
        }
    }
}
