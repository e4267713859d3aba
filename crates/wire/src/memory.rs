//! Connections within one process, for tests and for a ring whose members share a process.
//!
//! The bytes go through bounded pipes, so the same framing, handshake and limits apply as on a network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// What a pipe holds before its writer must wait, in each direction.
const PIPE: usize = 64 << 10;
/// How many dialers may wait to be accepted, as in a socket's backlog.
const BACKLOG: usize = 128;

type Board = BTreeMap<String, mpsc::Sender<DuplexStream>>;

/// A switchboard of its own; clones are the same one. Addresses are any strings.
#[derive(Clone, Debug, Default)]
pub struct MemoryTransport {
    board: Arc<Mutex<Board>>,
}

impl MemoryTransport {
    /// A switchboard where nobody listens yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pipe to who listens at the address; `None` if nobody does, or nobody accepts.
    pub(crate) async fn open(&self, address: &str) -> Option<DuplexStream> {
        let listener = self.board().get(address).cloned()?;
        let (near, far) = tokio::io::duplex(PIPE);
        listener.send(far).await.ok()?;
        Some(near)
    }

    /// Listens at an address; `None` if somebody does already.
    pub(crate) fn listen(&self, address: &str) -> Option<MemoryListener> {
        let mut board = self.board();
        if board.contains_key(address) {
            return None;
        }
        let (dialers, dialed) = mpsc::channel(BACKLOG);
        board.insert(address.to_owned(), dialers);
        drop(board);
        Some(MemoryListener { memory: self.clone(), address: address.to_owned(), dialed })
    }
}

/// Somebody who listens; the address is free again when it is dropped.
pub(crate) struct MemoryListener {
    memory: MemoryTransport,
    pub(crate) address: String,
    dialed: mpsc::Receiver<DuplexStream>,
}

impl MemoryListener {
    pub(crate) async fn accept(&mut self) -> DuplexStream {
        match self.dialed.recv().await {
            Some(stream) => stream,
            // The board keeps a sender for as long as this listens.
            None => std::future::pending().await,
        }
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        self.memory.board().remove(&self.address);
    }
}
