//! A controller as a process: it takes part in every crawl of its cluster, keeps its share on
//! disk, and serves the crawlers that dial it. One task decides, the `Dispatcher`; connections,
//! the disk and clocks bring it events. It never waits for a receiver: a slow receiver loses
//! frames, and the sender of a question retries.
//!
//! Read `dispatcher` first. The other files are named after what they serve.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argiope_controller::journal::Fact;
use argiope_controller::lifecycle::Lifecycle;
use argiope_ring::Key;
use argiope_wire::{DialError, ListenError};
use tokio::sync::Notify;

use super::certificates;
use super::connections::Switch;
use super::crawl_state::{CrawlShare, Duty};
use super::protocol::{CrawlId, CrawlSpec, decode};
use crate::store::{Store, StoreError};

mod accepting;
mod access;
mod clients;
mod crawlers;
mod disk;
mod dispatcher;
mod effects;
mod leaving;
mod membership;
mod metrics;
mod places;
mod star;
mod timers;
mod working_time;

use dispatcher::Dispatcher;
use membership::DISCOVERY;
pub use metrics::Metrics;
pub(super) use places::Seat;

/// What a controller needs.
pub struct ControllerPlan {
    /// The directory of its store: new, empty, or its own from before.
    pub data: PathBuf,
    /// Its place on the ring: drawn at random each time that it starts.
    pub me: Key,
    /// Connections.
    pub switch: Switch,
    /// Addresses of other controllers.
    pub join: Vec<String>,
    /// How many files the process may open, connections included.
    pub open_files: usize,
    /// Makes it leave in order.
    pub leave: Arc<Notify>,
    /// Where its metrics are published.
    pub metrics: Option<Arc<Metrics>>,
    /// A file that gets a line for each task that is assigned or executed.
    pub trace: Option<std::fs::File>,
}

/// Why a controller failed. What it kept is on disk.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The others would refuse its certificate.
    #[error("{0}")]
    Certificate(String),
    /// Its directory cannot be used.
    #[error(transparent)]
    Open(StoreError),
    /// The disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is on disk was written by another version.
    #[error("{0}")]
    Kept(String),
    /// The cluster that it was to join refuses it.
    #[error("the cluster refuses this controller: {0}")]
    Refused(DialError),
}

/// Runs a controller until it is told to leave. Calls `ready` with the address once it listens.
/// Must run in a `LocalSet`.
pub async fn run(
    mut plan: ControllerPlan,
    listen: &str,
    ready: impl FnOnce(&str),
) -> Result<(), ControllerError> {
    // Before the store is touched: a controller that cannot listen keeps nothing.
    let listener = plan.switch.transport.listen(listen).await?;
    let me = &mut plan.switch.me;
    if me.address.is_none() {
        *me = Arc::new((**me).clone().with_address(&listener.address));
    }
    if let Some(credentials) = plan.switch.transport.credentials() {
        credentials.check_hello(&plan.switch.me).map_err(ControllerError::Certificate)?;
    }
    let store = open(&plan.data).map_err(ControllerError::Open)?;
    let open_files = plan.open_files;
    tokio::task::spawn_local(certificates::watch(plan.switch.clone()));
    let mut dispatcher = Dispatcher::new(plan, store)?;
    dispatcher.recall()?;
    dispatcher.resume_coordinating();
    let accepting = dispatcher.accept_from(listener, open_files);
    ready(dispatcher.switch.me.address.as_deref().unwrap_or_default());
    let ended = dispatcher.run().await;
    accepting.abort();
    dispatcher.close().await;
    ended
}

impl Dispatcher {
    /// Loads what an earlier process of this controller has kept.
    fn recall(&mut self) -> Result<(), ControllerError> {
        let unknown = |what: &str| {
            ControllerError::Kept(format!("{what} was kept by another version of argiope"))
        };
        let mut kept: BTreeMap<CrawlId, Vec<Fact>> = BTreeMap::new();
        self.disk.store.kept(|crawl, fact| kept.entry(CrawlId(crawl)).or_default().push(fact))?;
        for (name, bytes) in self.disk.store.named_from("crawl/")? {
            let id = u64::from_str_radix(&name, 16).map(CrawlId).map_err(|_| unknown(&name))?;
            let spec: CrawlSpec = decode(&bytes).ok_or_else(|| unknown("a crawl"))?;
            let mut share = CrawlShare::new(spec, self.me).map_err(ControllerError::Kept)?;
            let ended = self.disk.store.named(&format!("finished/{id}"))?;
            let stopped = self.disk.store.named(&format!("stopped/{id}"))?;
            share.stopped = stopped.is_some();
            if let Some(bytes) = self.disk.store.named(&format!("spent/{id}"))? {
                share.writers = decode(&bytes).ok_or_else(|| unknown("what was spent"))?;
            }
            if let Some(masks) = self.disk.store.named(&format!("volatile/{id}"))? {
                share.volatile = decode(&masks).ok_or_else(|| unknown("what is volatile"))?;
            }
            let facts = kept.remove(&id).unwrap_or_default();
            self.disk.recall_kept(id, &facts);
            if share.is_star() {
                share.duty = self.recall_star(id, &facts)?;
                if share.coordinator().is_some() {
                    share.lifecycle = Lifecycle::founder(self.me);
                }
            } else if let Some(last) = ended.as_ref().or(stopped.as_ref()) {
                let last = decode(last).ok_or_else(|| unknown("the end of a crawl"))?;
                share.duty = Duty::Ended(last);
            } else {
                share.lifecycle = Lifecycle::restarted(self.me, facts, self.now(), DISCOVERY);
            }
            if ended.is_some() {
                share.lifecycle.on_finished();
            }
            self.shares.insert(id, share);
        }
        if let Some(bytes) = self.disk.store.named("members")? {
            let members: Vec<String> =
                decode(&bytes).ok_or_else(|| unknown("the list of members"))?;
            self.membership.addresses.extend(members);
        }
        Ok(())
    }
}

/// Marks the store of a controller.
const CONTROLLER: &str = "controller";

/// The store of a new or an earlier controller.
fn open(directory: &Path) -> Result<Store, StoreError> {
    if !directory.join(crate::store::FILE).exists() {
        return Store::create(directory, &serde_json::json!({ CONTROLLER: true }));
    }
    let store = Store::read(directory)?;
    if store.meta().settings.get(CONTROLLER).is_none() {
        return Err(StoreError::Occupied(directory.to_owned()));
    }
    drop(store);
    Store::open(directory)
}

/// The addresses of other controllers that an earlier process has kept in its directory.
pub fn known_addresses(directory: &Path) -> Vec<String> {
    let store = Store::read(directory).ok();
    let bytes = store.and_then(|store| store.named("members").ok()?);
    bytes.and_then(|bytes| decode(&bytes)).unwrap_or_default()
}
