//! Connections within one process, for tests.
//!
//! The bytes go through bounded pipes, so framing, handshake and limits are the same as on a
//! network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// The capacity of a pipe in each direction, in bytes.
const PIPE: usize = 64 << 10;
/// The maximum number of dialers that wait to be accepted, as in a socket's backlog.
const BACKLOG: usize = 128;

type Listeners = BTreeMap<String, mpsc::Sender<DuplexStream>>;

/// A transport within one process. Clones share their listeners. An address is any string.
#[derive(Clone, Debug, Default)]
pub struct MemoryTransport {
    listeners: Arc<Mutex<Listeners>>,
}

impl MemoryTransport {
    /// Creates a transport without listeners.
    pub fn new() -> Self {
        Self::default()
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a pipe to the listener at an address, or returns `None` if there is none. The pipe is
    /// raw: its user may send any bytes, as on a socket. [`Transport::dial`](crate::Transport) does
    /// the handshake.
    pub async fn open(&self, address: &str) -> Option<DuplexStream> {
        let listener = self.listeners().get(address).cloned()?;
        let (near, far) = tokio::io::duplex(PIPE);
        listener.send(far).await.ok()?;
        Some(near)
    }

    /// Listens at an address, or returns `None` if the address is in use.
    pub(crate) fn listen(&self, address: &str) -> Option<MemoryListener> {
        let mut listeners = self.listeners();
        if listeners.contains_key(address) {
            return None;
        }
        let (dialers, dialed) = mpsc::channel(BACKLOG);
        listeners.insert(address.to_owned(), dialers);
        drop(listeners);
        Some(MemoryListener { memory: self.clone(), address: address.to_owned(), dialed })
    }
}

/// A listener. Dropping it frees the address.
pub(crate) struct MemoryListener {
    memory: MemoryTransport,
    pub(crate) address: String,
    dialed: mpsc::Receiver<DuplexStream>,
}

impl MemoryListener {
    pub(crate) async fn accept(&mut self) -> DuplexStream {
        match self.dialed.recv().await {
            Some(stream) => stream,
            // The table keeps a sender while this listener exists.
            None => std::future::pending().await,
        }
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        self.memory.listeners().remove(&self.address);
    }
}
