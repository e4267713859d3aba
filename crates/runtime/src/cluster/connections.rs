//! Connections of a controller: who is at the other end, and what was sent there already.

use std::collections::BTreeSet;
use std::sync::Arc;

use argiope_controller::journal::ContentId;
use argiope_wire::{Connection, Hello, Sender};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::protocol::encode;

/// Counts connections.
pub type LinkId = u64;

/// What connections bring.
pub enum ConnectionEvent {
    /// A frame.
    Frame(LinkId, Vec<u8>),
    /// It is over; why.
    Closed(LinkId, String),
}

/// One connection.
pub struct Link {
    /// Who is there.
    pub hello: Hello,
    sender: Sender,
    _reader: Reader,
    /// The contents that the other side has.
    pub has: BTreeSet<ContentId>,
    /// Frames that were not sent because the other side does not keep up.
    pub dropped: u64,
}

/// Reads as long as it is there: whoever is not wanted any more is not listened to.
struct Reader(AbortHandle);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Link {
    /// Takes a connection over: what comes is passed on in order, and waits while nobody takes it.
    pub fn open(
        id: LinkId,
        connection: Connection,
        arrivals: mpsc::Sender<ConnectionEvent>,
    ) -> Self {
        let hello = connection.peer.clone();
        let (sender, mut receiver) = connection.split();
        let reader = tokio::spawn(async move {
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
        let reader = Reader(reader.abort_handle());
        Self { hello, sender, _reader: reader, has: BTreeSet::new(), dropped: 0 }
    }

    /// Sends a message unless the other side is too far behind; says whether it is on its way. What is lost so is
    /// said again by whoever waits for an answer.
    pub fn send(&mut self, message: &impl Serialize) -> bool {
        let sent = self.sender.try_send(encode(message)).is_ok();
        self.dropped += u64::from(!sent);
        sent
    }

    /// Sends what may take longer than the queue is, in order, without holding anything up here.
    pub fn send_all<T: Serialize + Send + 'static>(
        &self,
        messages: impl IntoIterator<Item = T> + Send + 'static,
    ) where
        <Vec<T> as IntoIterator>::IntoIter: Send,
    {
        let sender = self.sender.clone();
        let messages: Vec<T> = messages.into_iter().collect();
        tokio::spawn(async move {
            for message in messages {
                if sender.send(encode(&message)).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Waits until everything is on its way.
    pub async fn finish(self) {
        let _ = self.sender.finish().await;
    }
}

/// What all connections share.
#[derive(Clone)]
pub struct Switch {
    /// What carries them.
    pub transport: argiope_wire::Transport,
    /// What this process says of itself.
    pub me: Arc<Hello>,
    /// The limits of every connection.
    pub limits: argiope_wire::ConnectionLimits,
}
