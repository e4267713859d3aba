//! `argiope crawl`: a real application in Chromium, from a directory and into it. Here is what comes before
//! and after a crawl; the crawl itself is the runtime's.

mod args;
mod cluster;
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
use argiope_runtime::settings::{CrawlSettings, Scope};
use argiope_runtime::store::{Store, StoreError};
use argiope_sites::Server;
use tokio::sync::Notify;

pub use args::CrawlArgs;
pub use cluster::{AttachArgs, attach};
use progress::ProgressPrinter;
use report::Ended;
use run_dir::RunDir;

use crate::recorded::{self, refused};
use argiope::cluster::chance;
use argiope::failure::{CommandFailure, INTERRUPTED, LIMIT};
use argiope::{browser, format, interrupt, output, terminal};

/// The application of `--demo`.
const DEMO: &str = "demo";

/// A crawl that can begin or go on.
struct Ready {
    store: Store,
    settings: CrawlSettings,
    out: PathBuf,
    /// The place that was made for it, if it is a new one.
    place: Option<RunDir>,
    /// The server of the application, if argiope serves it.
    server: Option<Server>,
    /// The browser, if it was looked for already.
    executable: Option<Executable>,
}

pub fn run(args: &CrawlArgs) -> Result<(), CommandFailure> {
    if args.ring.is_wanted() {
        return cluster::run(args);
    }
    if let Some(name) = args.ring.pointless() {
        return Err(CommandFailure::Input(format!("{name} means nothing without --cluster")));
    }
    let started = Instant::now();
    let ready = match &args.what.resume {
        Some(directory) => resume(args, directory)?,
        None => begin(args)?,
    };
    if let Some(summary) = finished(&ready)? {
        return tell(args, &ready.settings, &ready.out, Duration::ZERO, &summary, &Masks::NONE);
    }
    let Ready { store, settings, out, place, server, executable } = ready;
    let executable = executable.map_or_else(|| browser::find(args.browser.as_deref()), Ok)?;
    let plan = CrawlPlan {
        store,
        settings: settings.clone(),
        browser: LaunchSettings::new(executable, std::env::temp_dir()),
        secret: secret()?,
        interrupt: Arc::new(Notify::new()),
        deadline: args.max_time.map(|time| started + time),
    };
    let ended =
        drive(plan, ProgressPrinter::new(args.quiet, rustix::process::geteuid().is_root()))?;
    drop(server);
    let begun =
        Store::read(&out).and_then(|store| Ok((store.length()? > 0, learned::load(&store)?)));
    if let (Some(place), Ok((false, _))) = (&place, &begun) {
        place.undo();
    }
    let nothing_yet = matches!(begun, Ok((false, _)));
    match ended {
        None => {
            let when = match &place {
                Some(_) => "before the first page was there; nothing was kept",
                None => "before it went on; nothing has changed",
            };
            terminal::message(&format!("interrupted {when}"));
            Err(CommandFailure::Ended(INTERRUPTED))
        }
        Some(Err(error)) => Err(failed(&error, (!nothing_yet).then_some(&*out))),
        Some(Ok(summary)) => {
            let masks = begun.map(|(_, learned)| all_masks(&learned)).unwrap_or_default();
            tell(args, &settings, &out, started.elapsed(), &summary, &masks)
        }
    }
}

/// Makes everything ready for a new crawl.
fn begin(args: &CrawlArgs) -> Result<Ready, CommandFailure> {
    // Whatever can be wrong is looked at before anything is written.
    let executable = Some(browser::find(args.browser.as_deref())?);
    let server = if args.what.demo {
        let server = Server::start(DEMO);
        Some(server.map_err(|error| CommandFailure::Failed(error.to_string()))?)
    } else {
        None
    };
    let url =
        server.as_ref().map(Server::url).or_else(|| args.what.url.clone()).unwrap_or_default();
    let scope = Scope::of(&url).map_err(CommandFailure::Input)?;
    let settings = args.settings(url);
    let name = if args.what.demo { DEMO.to_owned() } else { run_dir::name_of(&scope.site) };
    let place = match &args.out {
        Some(path) => RunDir::given(path),
        None => RunDir::chosen(&name)?,
    };
    let as_json = serde_json::to_value(&settings).expect("settings are JSON");
    let store = match Store::create(&place.path, &as_json) {
        Ok(store) => store,
        Err(error) => {
            if args.out.is_none() {
                place.undo();
            }
            return Err(refused(&error));
        }
    };
    if server.is_some() {
        recorded::set_site(&store, DEMO).map_err(|error| refused(&error))?;
    }
    Ok(Ready { store, settings, out: place.path.clone(), place: Some(place), server, executable })
}

/// Makes everything ready to go on with a crawl.
fn resume(args: &CrawlArgs, directory: &Path) -> Result<Ready, CommandFailure> {
    let store = Store::open(directory).map_err(|error| refused(&error))?;
    let before = recorded::settings(&store)?;
    let mut settings = before.clone();
    args.change(&mut settings);
    if settings != before {
        recorded::set(&store, &settings).map_err(|error| refused(&error))?;
    }
    let server = match recorded::site(&store)? {
        Some(site) => Some(serve_again(&site, &settings.url)?),
        None => None,
    };
    Ok(Ready { store, settings, out: directory.to_owned(), place: None, server, executable: None })
}

/// The address is part of what was found, so the application must be where it was.
fn serve_again(site: &str, url: &str) -> Result<Server, CommandFailure> {
    let port = url.trim_end_matches('/').rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let port: u16 = port.ok_or_else(|| CommandFailure::Failed(format!("{url} has no port")))?;
    Server::start_at(site, port).map_err(|error| {
        CommandFailure::Failed(format!("{site} cannot be served at {url} again: {error}"))
    })
}

/// How a crawl ended that has nothing left to do.
fn finished(ready: &Ready) -> Result<Option<CrawlSummary>, CommandFailure> {
    if ready.place.is_some() {
        return Ok(None);
    }
    let learned = learned::load(&ready.store).map_err(|error| refused(&error))?;
    let controller = recorded::controller(&ready.store, &ready.settings, learned.reset_cost)?;
    let summary = CrawlSummary::of(&controller, true, None);
    let begun = summary.progress.states > 0;
    Ok((begun && summary.progress.unexplored == 0).then_some(summary))
}

/// A name that no page can guess.
fn secret() -> Result<String, CommandFailure> {
    Ok(format!("a{:032x}", chance()?))
}

/// Crawls until the end; nothing if it was interrupted before there was anything to keep.
fn drive(
    plan: CrawlPlan,
    mut watch: ProgressPrinter,
) -> Result<Option<Result<CrawlSummary, CrawlError>>, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandFailure::Failed(format!("cannot start: {error}")))?;
    let heard = interrupt::listen();
    let stop = plan.interrupt.clone();
    let begun = Cell::new(false);
    let ended = tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut crawl = pin!(crawl::crawl(plan, |progress| {
            begun.set(true);
            watch.show(progress);
        }));
        tokio::select! {
            biased;
            ended = &mut crawl => Some(ended),
            () = heard.notified() => {
                if !begun.get() {
                    return None;
                }
                stop.notify_one();
                Some(crawl.await)
            }
        }
    });
    watch.end();
    Ok(ended)
}

/// All that was found to be volatile, on every page or in single states.
fn all_masks(learned: &learned::LearnedValues) -> Masks {
    let single = learned.state_masks.iter().map(|(_, masks)| masks);
    single.fold(learned.masks.clone(), |all, masks| all.and(masks))
}

/// What the end of a crawl without a summary means; `out` is where it can go on.
fn failed(error: &CrawlError, out: Option<&Path>) -> CommandFailure {
    let and_on = out.map_or_else(String::new, |out| {
        format!("; to go on: {} crawl --resume {}", format::program(), format::path(out))
    });
    match error {
        CrawlError::NoPage(_) | CrawlError::Settings(_) => CommandFailure::Input(error.to_string()),
        CrawlError::Store(StoreError::Damaged(_)) => CommandFailure::Failed(error.to_string()),
        CrawlError::Launch(_)
        | CrawlError::NoTab(_)
        | CrawlError::Store(_)
        | CrawlError::NoThread(_)
        | CrawlError::Panicked => CommandFailure::Failed(format!("{error}{and_on}")),
    }
}

/// Says how a crawl ended, and gives the code to end with.
fn tell(
    args: &CrawlArgs,
    settings: &CrawlSettings,
    out: &Path,
    wall: Duration,
    summary: &CrawlSummary,
    masks: &Masks,
) -> Result<(), CommandFailure> {
    let ended = Ended { settings, summary, wall, out, masks };
    output::print(&if args.json { ended.json() } else { ended.text() })?;
    if args.json
        && !args.quiet
        && let Some(resume) = ended.resume()
    {
        terminal::message(&format!("to resume: {resume}"));
    }
    match summary.stopped_by {
        None if summary.complete => Ok(()),
        Some(StoppedBy::Interrupt) => Err(CommandFailure::Ended(INTERRUPTED)),
        Some(
            StoppedBy::MaxStates | StoppedBy::MaxActions | StoppedBy::MaxDepth | StoppedBy::MaxTime,
        ) => Err(CommandFailure::Ended(LIMIT)),
        Some(StoppedBy::NotLoaded) => {
            Err(CommandFailure::Failed(format!("{} cannot be loaded any more", settings.url)))
        }
        Some(StoppedBy::Trouble) | None => {
            Err(CommandFailure::Failed("the crawl could not go on".to_owned()))
        }
    }
}
