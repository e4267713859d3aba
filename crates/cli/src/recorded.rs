//! A stored run: its present settings and its records. No other file knows the names under which
//! the command keeps values in a store.

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
use argiope::format;

/// The settings of a resumed crawl, if they differ from those that the run began with.
const SETTINGS: &str = "settings";
/// The application that argiope served to the run, if any.
const SITE: &str = "site";
const ATTACH: &str = "attach";

/// The present settings of a run.
pub fn settings(store: &Store) -> Result<CrawlSettings, CommandFailure> {
    let wrong =
        |error| CommandFailure::Failed(format!("cannot read the settings of the run: {error}"));
    match store.named(SETTINGS)? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(wrong),
        None => serde_json::from_value(store.meta().settings.clone()).map_err(wrong),
    }
}

/// Changes the settings of a run.
pub fn set_settings(store: &Store, settings: &CrawlSettings) -> Result<(), StoreError> {
    store.put(SETTINGS, &serde_json::to_vec(settings).expect("settings are JSON"))
}

/// The application that argiope served to the run, if any.
pub fn site(store: &Store) -> Result<Option<String>, CommandFailure> {
    let name = store.named(SITE)?;
    Ok(name.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Stores which application argiope serves to the run.
pub fn set_site(store: &Store, name: &str) -> Result<(), StoreError> {
    store.put(SITE, name.as_bytes())
}

/// The command that fetches the crawl of a cluster that the run waits for, if it does.
pub fn attach_command(store: &Store) -> Result<Option<String>, StoreError> {
    let command = store.named(ATTACH)?.filter(|command| !command.is_empty());
    Ok(command.map(|bytes| format::harmless(&String::from_utf8_lossy(&bytes))))
}

/// Stores that the run waits for a crawl of a cluster, or that it has it.
pub fn set_attach_command(store: &Store, command: Option<&str>) -> Result<(), StoreError> {
    store.put(ATTACH, command.unwrap_or_default().as_bytes())
}

/// Restores the controller from the records of a run.
pub fn controller(
    store: &Store,
    settings: &CrawlSettings,
    reset_cost: f64,
) -> Result<Controller, CommandFailure> {
    crawl::restore(store, settings, reset_cost).map_err(|error| match error {
        CrawlError::Store(error) => error.into(),
        other => CommandFailure::Failed(other.to_string()),
    })
}

/// A run, open for reading.
pub struct RecordedRun {
    /// The store.
    pub store: Store,
    /// The settings.
    pub settings: CrawlSettings,
    /// The learned masks and costs.
    pub learned: LearnedValues,
    /// The controller, restored.
    pub controller: Controller,
}

impl RecordedRun {
    /// Reads the run in a directory.
    pub fn open(directory: &Path) -> Result<Self, CommandFailure> {
        let store = Store::read(directory)?;
        let settings = settings(&store)?;
        let learned = learned::load(&store)?;
        let controller = controller(&store, &settings, learned.reset_cost)?;
        Ok(Self { store, settings, learned, controller })
    }

    /// The graph.
    pub fn graph(&self) -> Result<&Graph, CommandFailure> {
        self.controller.graph().ok_or_else(|| {
            CommandFailure::Input("the run has no state: it ended before its first page".into())
        })
    }

    /// All states, in the order of discovery.
    pub fn states(&self) -> impl Iterator<Item = StateIndex> + use<> {
        (0..self.controller.graph().map_or(0, Graph::states) as u32).map(StateIndex)
    }

    /// The stored detail of a state.
    pub fn detail(&self, state: StateIndex) -> Result<StateDetail, CommandFailure> {
        present(self.store.detail(self.graph()?.key(state))?)
    }

    /// The snapshot of a state.
    pub fn page(&self, state: StateIndex) -> Result<Page, CommandFailure> {
        present(self.store.page(self.detail(state)?.page)?)
    }

    /// The stored bytes with this hash.
    pub fn blob(&self, hash: ContentHash) -> Result<Vec<u8>, CommandFailure> {
        present(self.store.blob(hash)?)
    }

    /// Finds a state by `initial`, its number, or the beginning of its key.
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
                "several keys begin with {text}: write more digits"
            ))),
            (None, _) => Err(CommandFailure::Input(format!(
                "no state {text:?}: write 'initial', a number from 0 to {}, or the beginning of a key",
                graph.states() - 1
            ))),
        }
    }

    /// Describes a state: its number, key, title and address, escaped.
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

    /// The escaped labels of all actions, from the state where each was first seen.
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

/// What a store must have of each state.
fn present<T>(found: Option<T>) -> Result<T, CommandFailure> {
    let missing = "the store is damaged: a state has no description";
    found.ok_or_else(|| CommandFailure::Failed(missing.to_owned()))
}

/// The first eight digits of a key, which tell the states of a run apart.
fn short(key: StateKey) -> String {
    format!("{key:?}")[..8].to_owned()
}
