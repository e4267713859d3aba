//! A run that is in its directory: its settings as they are now, and what its records say. The only file
//! that knows under which names the command keeps something in a store.

use std::collections::BTreeMap;
use std::path::Path;

use argiope_controller::Controller;
use argiope_explore::graph::Graph;
use argiope_explore::id::{ActionSignature, StateIndex, StateKey};
use argiope_explore::page::Page;
use argiope_explore::quoted::{Escaped, Quoted};
use argiope_explore::strategy::INITIAL;
use argiope_runtime::crawl::{self, CrawlError};
use argiope_runtime::learned::{self, LearnedValues};
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::{ContentHash, StateDetail, Store, StoreError};

use argiope::failure::CommandFailure;

/// The settings, where a resumed crawl was given others than the run began with.
const SETTINGS: &str = "settings";
/// The application that argiope itself served, if it did.
const SITE: &str = "site";

/// What a refusal of the store means: most of them are about the directory that was given.
pub fn refused(error: &StoreError) -> CommandFailure {
    use StoreError::{
        Damaged, DiskFull, HoldsRun, InUse, Io, NewerFact, NoRun, NotADirectory, NotAStore,
        Occupied, OtherVersion, ReadOnly, Stopped, Unfinished,
    };
    match error {
        Occupied(_)
        | HoldsRun(_)
        | NoRun(_)
        | Unfinished(_)
        | NotADirectory(_)
        | NotAStore(_)
        | OtherVersion { .. }
        | NewerFact(_)
        | InUse(_)
        | Io { .. } => CommandFailure::Input(error.to_string()),
        Damaged(_) | DiskFull(_) | Stopped | ReadOnly => CommandFailure::Failed(error.to_string()),
    }
}

/// The settings that a run has now.
pub fn settings(store: &Store) -> Result<CrawlSettings, CommandFailure> {
    let wrong =
        |error| CommandFailure::Failed(format!("the settings of the run cannot be read: {error}"));
    match store.named(SETTINGS).map_err(|error| refused(&error))? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(wrong),
        None => serde_json::from_value(store.meta().settings.clone()).map_err(wrong),
    }
}

/// Gives a run other settings.
pub fn set(store: &Store, settings: &CrawlSettings) -> Result<(), StoreError> {
    store.put(SETTINGS, &serde_json::to_vec(settings).expect("settings are JSON"))
}

/// The application that argiope itself served to the run, if it did.
pub fn site(store: &Store) -> Result<Option<String>, CommandFailure> {
    let name = store.named(SITE).map_err(|error| refused(&error))?;
    Ok(name.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Remembers which application argiope serves to the run.
pub fn set_site(store: &Store, name: &str) -> Result<(), StoreError> {
    store.put(SITE, name.as_bytes())
}

/// The controller that wrote the records of a run.
pub fn controller(
    store: &Store,
    settings: &CrawlSettings,
    reset_cost: f64,
) -> Result<Controller, CommandFailure> {
    crawl::restore(store, settings, reset_cost).map_err(|error| match error {
        CrawlError::Store(error) => refused(&error),
        other => CommandFailure::Failed(other.to_string()),
    })
}

/// A run to look at.
pub struct RecordedRun {
    /// Everything that is kept.
    pub store: Store,
    /// What was asked for.
    pub settings: CrawlSettings,
    /// What was learned.
    pub learned: LearnedValues,
    /// What is known.
    pub controller: Controller,
}

impl RecordedRun {
    /// Reads the run in a directory.
    pub fn open(directory: &Path) -> Result<Self, CommandFailure> {
        let store = Store::read(directory).map_err(|error| refused(&error))?;
        let settings = settings(&store)?;
        let learned = learned::load(&store).map_err(|error| refused(&error))?;
        let controller = controller(&store, &settings, learned.reset_cost)?;
        Ok(Self { store, settings, learned, controller })
    }
}

/// The store's answer about a state of the graph.
const NO_DETAIL: &str = "the store is damaged: a state has no description";

impl RecordedRun {
    /// The graph.
    pub fn graph(&self) -> Result<&Graph, CommandFailure> {
        self.controller.graph().ok_or_else(|| {
            CommandFailure::Input(
                "the run has no state yet: it was ended before its first page".into(),
            )
        })
    }

    /// Every state, in the order of discovery.
    pub fn states(&self) -> impl Iterator<Item = StateIndex> + use<> {
        (0..self.controller.graph().map_or(0, Graph::states) as u32).map(StateIndex)
    }

    /// What is known of a state.
    pub fn detail(&self, state: StateIndex) -> Result<StateDetail, CommandFailure> {
        let key = self.graph()?.key(state);
        let detail = self.store.detail(key).map_err(|error| refused(&error))?;
        detail.ok_or_else(|| CommandFailure::Failed(NO_DETAIL.to_owned()))
    }

    /// The snapshot of a state.
    pub fn page(&self, state: StateIndex) -> Result<Page, CommandFailure> {
        let page = self.store.page(self.detail(state)?.page).map_err(|error| refused(&error))?;
        page.ok_or_else(|| CommandFailure::Failed(NO_DETAIL.to_owned()))
    }

    /// The bytes of that name.
    pub fn blob(&self, hash: ContentHash) -> Result<Vec<u8>, CommandFailure> {
        let bytes = self.store.blob(hash).map_err(|error| refused(&error))?;
        bytes.ok_or_else(|| CommandFailure::Failed(NO_DETAIL.to_owned()))
    }

    /// The state that a person means: `initial`, a number in the order of discovery, or the beginning of a key.
    pub fn find(&self, text: &str) -> Result<StateIndex, CommandFailure> {
        let graph = self.graph()?;
        if text == "initial" {
            return Ok(INITIAL);
        }
        let number = text.parse::<u32>().ok().filter(|&number| (number as usize) < graph.states());
        if let Some(number) = number {
            return Ok(StateIndex(number));
        }
        let beginning = text.to_ascii_lowercase();
        let hex = !beginning.is_empty() && beginning.bytes().all(|byte| byte.is_ascii_hexdigit());
        let fits =
            |state: &StateIndex| hex && format!("{:?}", graph.key(*state)).starts_with(&beginning);
        let mut found = self.states().filter(fits);
        match (found.next(), found.next()) {
            (Some(state), None) => Ok(state),
            (Some(_), Some(_)) => Err(CommandFailure::Input(format!(
                "several states have a key that begins with {text}"
            ))),
            (None, _) => Err(CommandFailure::Input(format!(
                "there is no state {text:?}: write 'initial', a number from 0 to {}, or the beginning of a key",
                graph.states() - 1
            ))),
        }
    }

    /// A state in a few words, fit to print: its number, its key, its title or address.
    pub fn describe(&self, state: StateIndex) -> Result<String, CommandFailure> {
        let detail = self.detail(state)?;
        let key = short(self.graph()?.key(state));
        let title = if detail.title.is_empty() {
            String::new()
        } else {
            format!("{} ", Quoted(&detail.title))
        };
        Ok(format!("state {} ({key}) {title}{}", state.0, Escaped(&detail.url, 100)))
    }

    /// What people call each action, fit to print, as in the state where it was first seen.
    pub fn labels(&self) -> Result<BTreeMap<ActionSignature, String>, CommandFailure> {
        let mut labels = BTreeMap::new();
        for state in self.states() {
            for offer in self.detail(state)?.offers {
                labels
                    .entry(offer.signature)
                    .or_insert_with(|| Escaped(&offer.label, 160).to_string());
            }
        }
        Ok(labels)
    }
}

/// The beginning of a key: enough to tell states apart, and short enough to type.
pub fn short(key: StateKey) -> String {
    format!("{key:?}")[..8].to_owned()
}
