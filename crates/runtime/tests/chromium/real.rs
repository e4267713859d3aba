//! A crawl as the command would do it, and what it left in its store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use argiope_browser::LaunchSettings;
use argiope_browser::find::{Executable, find};
use argiope_controller::journal::Fact;
use argiope_controller::outcome::Note;
use argiope_explore::id::{ActionSignature, StateKey};
use argiope_runtime::crawl::{CrawlError, CrawlPlan, CrawlProgress, CrawlSummary, crawl};
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{Store, StoreError};
use argiope_sites::Notes;

/// Far more than any crawl here takes; one that hangs then ends as stopped, which no test accepts.
const PATIENCE: Duration = Duration::from_secs(600);

/// A directory of one test, removed with this value.
pub struct Place(PathBuf);

impl Place {
    /// Makes it where temporary files are: profiles need a short path.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("argiope-crawl-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The directory, where browsers have their profiles.
    pub fn profiles(&self) -> &Path {
        &self.0
    }

    /// A path inside.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a crawl left in its store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// The states.
    pub states: BTreeSet<StateKey>,
    /// Where each executed action led the first time.
    pub transitions: BTreeMap<(StateKey, ActionSignature), StateKey>,
    /// What was given up.
    pub failed: BTreeSet<(StateKey, ActionSignature)>,
}

/// Crawls, or resumes a crawl, in the given run directory; profiles of browsers lie beside it.
pub fn run(settings: &CrawlSettings, directory: &Path) -> Result<CrawlSummary, CrawlError> {
    run_with(settings, directory, None, |_| ())
}

/// The same with another program as browser, and tells of its progress.
pub fn run_with(
    settings: &CrawlSettings,
    directory: &Path,
    browser: Option<&Path>,
    watch: impl FnMut(&CrawlProgress),
) -> Result<CrawlSummary, CrawlError> {
    let store = match Store::open(directory) {
        Err(StoreError::NoRun(_) | StoreError::Unfinished(_)) => {
            Store::create(directory, &serde_json::to_value(settings).unwrap())
        }
        store => store,
    };
    let mut launch = LaunchSettings::new(executable(), directory.parent().unwrap().to_owned());
    if let Some(browser) = browser {
        launch.executable.path = browser.to_owned();
    }
    let plan = CrawlPlan {
        store: store?,
        settings: settings.clone(),
        browser: launch,
        secret: "q8Zr1mWv".to_owned(),
        interrupt: Default::default(),
        deadline: Some(Instant::now() + PATIENCE),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(tokio::task::LocalSet::new().run_until(crawl(plan, watch)))
}

/// The browser that argiope would find.
pub fn executable() -> Executable {
    let variable = |name| std::env::var_os(name);
    find(None, variable("ARGIOPE_BROWSER").as_deref(), variable("PATH").as_deref()).unwrap()
}

/// The journal of a crawl.
pub fn records(directory: &Path) -> Vec<Fact> {
    Store::read(directory).unwrap().facts().unwrap().map(Result::unwrap).collect()
}

/// What the journal of a crawl adds up to.
pub fn model(records: &[Fact]) -> Model {
    let mut model = Model::default();
    for record in records {
        match *record {
            Fact::State { key, .. } => {
                model.states.insert(key);
            }
            Fact::Transition { from, action, to, .. } => {
                model.transitions.insert((from, action), to);
            }
            Fact::GivenUp { from, action, .. } => {
                model.failed.insert((from, action));
            }
            Fact::Stray { .. }
            | Fact::Appeared { .. }
            | Fact::PlainLink { .. }
            | Fact::LinkFollower { .. }
            | Fact::Gone { .. }
            | Fact::Entry { .. }
            | Fact::Ended { .. }
            | Fact::Parts { .. }
            | Fact::Undeferred
            | Fact::Spent { .. } => {}
        }
    }
    model
}

/// How many transitions carry which note.
pub fn notes(records: &[Fact]) -> Notes {
    let mut count = Notes::default();
    for record in records {
        let Fact::Transition { notes, .. } = record else { continue };
        let has = |wanted: fn(&Note) -> bool| u64::from(notes.iter().any(wanted));
        count.dialogs += has(|note| matches!(note, Note::Dialog(..)));
        count.windows += has(|note| matches!(note, Note::Window(_)));
        count.downloads += has(|note| matches!(note, Note::Download(_)));
        count.out_of_scope += has(|note| matches!(note, Note::OutOfScope(_)));
    }
    count
}
