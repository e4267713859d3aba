//! Connections of a controller: the process at the other end, and what it has been sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use argiope_controller::journal::ContentId;
use argiope_ring::Key;
use argiope_wire::{Connection, Hello, Role, Sender};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::controller::Seat;
use super::protocol::encode;

/// The number of a connection in this process.
pub type LinkId = u64;

/// What happens on a connection.
pub enum ConnectionEvent {
    /// A frame has arrived.
    Frame(LinkId, Vec<u8>),
    /// It has ended; why.
    Closed(LinkId, String),
}

/// One connection.
pub struct Link {
    /// The process at the other end.
    pub hello: Hello,
    sender: Sender,
    /// Reads frames; dropping it ends the task.
    _reader: JoinSet<()>,
    /// The contents that the other process has.
    pub has: BTreeSet<ContentId>,
    /// Frames that were not sent because the other process is too slow.
    pub dropped: u64,
    /// Counts the connection among those of its address, if the other process dialled.
    _seat: Option<Seat>,
}

impl Link {
    /// Takes a connection over. Frames are passed on in order; while the queue is full, the
    /// connection is read no further.
    pub fn open(
        id: LinkId,
        connection: Connection,
        arrivals: mpsc::Sender<ConnectionEvent>,
        seat: Option<Seat>,
    ) -> Self {
        let hello = connection.peer.clone();
        let (sender, mut receiver) = connection.split();
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            let why = loop {
                match receiver.recv().await {
                    Ok(Some(frame)) => {
                        if arrivals.send(ConnectionEvent::Frame(id, frame.to_vec())).await.is_err()
                        {
                            return;
                        }
                    }
                    Ok(None) => break "it was closed".to_owned(),
                    Err(error) => break error.to_string(),
                }
            };
            let _ = arrivals.send(ConnectionEvent::Closed(id, why)).await;
        });
        Self { hello, sender, _reader: reader, has: BTreeSet::new(), dropped: 0, _seat: seat }
    }

    /// Whether a controller is at the other end, and this one.
    pub fn leads_to(&self, controller: Key) -> bool {
        self.hello.role == Role::Controller && self.hello.name == controller.0
    }

    /// Sends a message unless the queue is full. Returns whether it is on its way; the sender of a
    /// lost question retries.
    pub fn send(&mut self, message: &impl Serialize) -> bool {
        let sent = self.sender.try_send(encode(message)).is_ok();
        self.dropped += u64::from(!sent);
        sent
    }

    /// Sends messages that may not fit into the queue, in order, without waiting here.
    pub fn send_all<T: Serialize + Send + 'static>(&self, messages: Vec<T>) {
        let sender = self.sender.clone();
        tokio::spawn(async move {
            for message in messages {
                if sender.send(encode(&message)).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Waits until every frame is sent.
    pub async fn finish(self) {
        let _ = self.sender.finish().await;
    }
}

/// What all connections of a process share.
#[derive(Clone)]
pub struct Switch {
    /// The transport.
    pub transport: argiope_wire::Transport,
    /// What this process says about itself.
    pub me: Arc<Hello>,
    /// The limits of every connection.
    pub limits: argiope_wire::ConnectionLimits,
}
