//! Connections of a controller: the process at the other end, and what it has been sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use argiope_controller::journal::ContentId;
use argiope_ring::Key;
use argiope_wire::{Connection, Hello, Role, SendError, Sender};
use bytes::Bytes;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;

use super::controller::Seat;
use super::protocol::encode;

/// The number of a connection in this process.
pub type LinkId = u64;

/// What happens on a connection.
pub enum ConnectionEvent {
    /// A frame has arrived. Its bytes count as waiting until the permit is dropped.
    Frame(LinkId, Bytes, OwnedSemaphorePermit),
    /// It has ended; why.
    Closed(LinkId, String),
}

/// The most bytes of a frame of a client: its requests are short.
const CLIENT_FRAME: usize = 1 << 20;

/// Where the frames of all connections wait to be handled, bounded in frames and in bytes. A
/// connection whose frame does not fit is read no further; the process that handles frames never
/// waits.
#[derive(Clone)]
pub struct Arrivals {
    queue: mpsc::Sender<ConnectionEvent>,
    free_bytes: Arc<Semaphore>,
    capacity: u32,
}

impl Arrivals {
    /// A queue for this many frames and bytes. A frame that is larger than the queue has it alone.
    pub fn new(frames: usize, bytes: u32) -> (Self, mpsc::Receiver<ConnectionEvent>) {
        let (queue, arrived) = mpsc::channel(frames);
        let free_bytes = Arc::new(Semaphore::new(bytes as usize));
        (Self { queue, free_bytes, capacity: bytes }, arrived)
    }

    /// Adds a frame once there is room. Returns whether frames are still handled.
    async fn add(&self, id: LinkId, frame: Bytes) -> bool {
        let size = u32::try_from(frame.len()).unwrap_or(u32::MAX).min(self.capacity);
        let Ok(permit) = self.free_bytes.clone().acquire_many_owned(size).await else {
            return false;
        };
        self.queue.send(ConnectionEvent::Frame(id, frame, permit)).await.is_ok()
    }
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
        arrivals: Arrivals,
        seat: Option<Seat>,
    ) -> Self {
        let hello = connection.peer.clone();
        let is_client = hello.role == Role::Client;
        let (sender, mut receiver) = connection.split();
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            let why = loop {
                match receiver.recv().await {
                    Ok(Some(frame)) if is_client && frame.len() > CLIENT_FRAME => {
                        break "it sent a request that is too long".to_owned();
                    }
                    Ok(Some(frame)) => {
                        if !arrivals.add(id, frame).await {
                            return;
                        }
                    }
                    Ok(None) => break "it was closed".to_owned(),
                    Err(error) => break error.to_string(),
                }
            };
            let _ = arrivals.queue.send(ConnectionEvent::Closed(id, why)).await;
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

    /// Sends messages that do not fit into the queue together, in order, without waiting here. Each
    /// message is made when there is room for it. Calls `ended` after the last.
    pub fn send_each<T: Serialize + Send>(
        &self,
        messages: impl Iterator<Item = T> + Send + 'static,
        ended: impl FnOnce() + Send + 'static,
    ) {
        let sender = self.sender.clone();
        tokio::spawn(async move {
            for message in messages {
                // A content that is too large for a frame does not stop the others.
                let sent = sender.send(encode(&message)).await;
                if !matches!(sent, Ok(()) | Err(SendError::TooLarge { .. })) {
                    break;
                }
                // The dispatcher shares the thread.
                tokio::task::yield_now().await;
            }
            ended();
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use argiope_wire::{ConnectionLimits, MemoryTransport, Transport};
    use tokio::task::LocalSet;
    use tokio::time::timeout;

    use super::*;

    const FRAME: usize = 10_000;
    const LONG: Duration = Duration::from_secs(20);

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), work)
    }

    /// Two ends of a connection, the dialer in this role. The dialer's own queue is small.
    async fn connected(role: Role) -> (Connection, Connection) {
        let limits = ConnectionLimits { queue: 2, unsent_bytes: FRAME, ..Default::default() };
        let transport = Transport::Memory(MemoryTransport::new());
        let hello = |role, name| Hello::new("test", role, name);
        let mut listener = transport.listen("here").await.expect("it can listen");
        let accepted = async {
            let incoming = listener.accept().await;
            incoming.handshake(&hello(Role::Controller, 1), &limits, &|_| Ok(())).await
        };
        let me = hello(role, 2);
        let dialled = transport.dial("here", &me, &limits);
        let (accepted, dialled) = tokio::join!(accepted, dialled);
        (accepted.expect("accepted"), dialled.expect("dialled"))
    }

    /// Sends frames until none is taken for a while. Returns how many were.
    async fn flood(sender: &Sender, size: usize) -> usize {
        let mut sent = 0;
        while let Ok(Ok(())) = timeout(Duration::from_millis(200), sender.send(vec![7; size])).await
        {
            sent += 1;
            assert!(sent < 10_000, "nothing holds the sender back");
        }
        sent
    }

    #[test]
    fn a_fast_sender_holds_no_more_bytes_than_the_queue_has() {
        block_on(async {
            let (here, there) = connected(Role::Crawler).await;
            let (arrivals, mut arrived) = Arrivals::new(4096, 10 * FRAME as u32);
            let free_bytes = arrivals.free_bytes.clone();
            let _link = Link::open(1, here, arrivals, None);
            let (sender, _receiver) = there.split();
            let sent = flood(&sender, FRAME).await;
            assert_eq!(free_bytes.available_permits(), 0, "the queue is full of bytes");
            assert_eq!(arrived.len(), 10);
            // One frame more waits at the reader; the rest fills two pipes and the sender's queue.
            let elsewhere = (2 * 64 + 2 * 64 + 8) << 10;
            assert!(sent <= 11 + elsewhere / FRAME, "{sent} frames were taken");
            // As frames are handled, the others follow, and none is lost.
            for _ in 0..sent {
                let event = timeout(LONG, arrived.recv()).await.expect("in time");
                assert!(
                    matches!(event, Some(ConnectionEvent::Frame(1, frame, _)) if frame.len() == FRAME)
                );
            }
            assert_eq!(free_bytes.available_permits(), 10 * FRAME);
        });
    }

    #[test]
    fn a_frame_that_is_larger_than_the_queue_has_it_alone() {
        block_on(async {
            let (here, there) = connected(Role::Crawler).await;
            let (arrivals, mut arrived) = Arrivals::new(4096, 10);
            let _link = Link::open(1, here, arrivals, None);
            let (sender, _receiver) = there.split();
            for _ in 0..2 {
                sender.send(vec![7; FRAME]).await.expect("sent");
            }
            for _ in 0..2 {
                let event = timeout(LONG, arrived.recv()).await.expect("in time");
                assert!(matches!(event, Some(ConnectionEvent::Frame(..))));
            }
        });
    }

    #[test]
    fn a_client_cannot_send_long_requests() {
        block_on(async {
            let (here, there) = connected(Role::Client).await;
            let (arrivals, mut arrived) = Arrivals::new(4096, 64 << 20);
            let _link = Link::open(1, here, arrivals, None);
            let (sender, _receiver) = there.split();
            sender.send(vec![7; CLIENT_FRAME + 1]).await.expect("sent");
            let event = timeout(LONG, arrived.recv()).await.expect("in time");
            assert!(matches!(event, Some(ConnectionEvent::Closed(1, _))));
        });
    }

    #[test]
    fn messages_are_made_when_there_is_room_for_them() {
        block_on(async {
            let (here, there) = connected(Role::Client).await;
            let (arrivals, _arrived) = Arrivals::new(1, 1);
            let link = Link::open(1, here, arrivals, None);
            let made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let count = made.clone();
            let messages = (0..1_000).map(move |_| {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                vec![7_u8; FRAME]
            });
            let (done, ended) = tokio::sync::oneshot::channel();
            link.send_each(messages, move || _ = done.send(()));
            tokio::time::sleep(Duration::from_millis(200)).await;
            // The client reads nothing: a pipe, a queue and a buffer are full.
            let before = made.load(std::sync::atomic::Ordering::Relaxed);
            assert!(before < 30, "{before} messages were made for a client that reads none");
            let (_sender, mut receiver) = there.split();
            for _ in 0..1_000 {
                let frame = timeout(LONG, receiver.recv()).await.expect("in time");
                assert!(frame.expect("a frame").is_some());
            }
            timeout(LONG, ended).await.expect("in time").expect("it says so");
        });
    }
}
