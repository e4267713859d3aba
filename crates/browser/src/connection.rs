//! One connection to a browser: calls, their answers, and events by session (flat sessions).
//!
//! A call is on its way when [`Connection::call`] returns, whether or not its [`Reply`] is awaited, so
//! several can be sent without waiting. Knows nothing of what the methods mean, but for those that tell of
//! sessions that begin, crash and end.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

use crate::events::{Event, Events, Queue};
use crate::message::{self, ProtocolMessage};

mod error;
mod state;

pub use error::{CallError, Closed};
use state::{CallAnswer, PendingCall, State, answer_of};

/// The largest message that is accepted. A larger one ends the connection: only a hostile page makes such.
pub const MAX_MESSAGE: usize = 64 << 20;
const CHUNK: usize = 64 << 10;
/// A buffer that one large message has made larger than this is given back afterwards.
const KEPT_BUFFER: usize = 1 << 20;

/// A session: a target that the connection is attached to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The protocol's name of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SessionId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl std::borrow::Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    browser_queue: Queue,
}

/// A connection; clones are the same one.
#[derive(Clone)]
pub struct ProtocolConnection {
    shared: Arc<Shared>,
}

impl fmt::Debug for ProtocolConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        formatter.debug_struct("Connection").field("closed", &state.closed).finish_non_exhaustive()
    }
}

impl ProtocolConnection {
    /// Speaks over the two pipes, with two tasks on the current runtime.
    pub fn open(from_browser: OwnedFd, to_browser: OwnedFd) -> io::Result<Self> {
        let reader = pipe::Receiver::from_owned_fd(from_browser)?;
        let writer = pipe::Sender::from_owned_fd(to_browser)?;
        let (outgoing, queued) = mpsc::unbounded_channel();
        let connection = Self { shared: Arc::default() };
        connection.state().outgoing = Some(outgoing);
        tokio::spawn(connection.clone().read(reader));
        tokio::spawn(connection.clone().write(writer, queued));
        Ok(connection)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a call, to a session or to the browser itself, and gives what waits for its answer.
    pub fn call<P: Serialize + ?Sized>(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: &P,
    ) -> PendingReply {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        state.next_id += 1;
        let id = state.next_id;
        if let Err(error) = state.send(id, session, method, params) {
            // The receiver is in our hands: this cannot fail.
            let _ = sender.send(Err(error));
        } else {
            state.pending.insert(id, PendingCall { session: session.cloned(), answer: sender });
        }
        drop(state);
        PendingReply { id, answer, connection: self.clone() }
    }

    /// Sends a call and reads its answer as a `T`.
    pub fn call_as<T: DeserializeOwned, P: Serialize + ?Sized>(
        &self,
        session: Option<&SessionId>,
        method: &str,
        params: &P,
    ) -> impl Future<Output = Result<T, CallError>> + use<T, P> {
        self.call(session, method, params).read()
    }

    /// The events of a session, from its beginning; `None` if there is no such session.
    pub fn events(&self, session: &SessionId) -> Option<Events> {
        self.state().sessions.get(session).map(|session| session.queue.reader())
    }

    /// The events that belong to no session.
    pub fn browser_events(&self) -> Events {
        self.shared.browser_queue.reader()
    }

    /// Whether the renderer process behind a session has died.
    pub fn has_crashed(&self, session: &SessionId) -> bool {
        self.state().sessions.get(session).is_some_and(|session| session.crashed)
    }

    /// Why the connection is closed; `None` while it is open.
    pub fn closed(&self) -> Option<Closed> {
        self.state().closed.clone()
    }

    /// How many messages of the browser could not be read.
    pub fn malformed(&self) -> u64 {
        self.state().malformed
    }

    /// Closes the connection; a browser that was started for it ends.
    pub fn close(&self) {
        self.close_because(Closed::ByUs);
    }

    fn close_because(&self, reason: Closed) {
        let mut state = self.state();
        let reason = state.closed.get_or_insert(reason).clone();
        state.outgoing = None;
        let pending = std::mem::take(&mut state.pending);
        let sessions = std::mem::take(&mut state.sessions);
        drop(state);
        for call in pending.into_values() {
            // Nobody waits for an answer whose reply was dropped.
            let _ = call.answer.send(Err(CallError::ConnectionClosed(reason.clone())));
        }
        for session in sessions.into_values() {
            session.queue.close();
        }
        self.shared.browser_queue.close();
    }

    async fn write(self, mut pipe: pipe::Sender, mut queued: mpsc::UnboundedReceiver<Vec<u8>>) {
        while let Some(mut bytes) = queued.recv().await {
            // What else is waiting goes in the same write.
            while bytes.len() < CHUNK
                && let Ok(more) = queued.try_recv()
            {
                bytes.extend_from_slice(&more);
            }
            if let Err(error) = pipe.write_all(&bytes).await {
                // The end of a browser is told by the reader, after its last words; a broken pipe here
                // comes first only by chance.
                if error.kind() != io::ErrorKind::BrokenPipe {
                    self.close_because(Closed::Pipe(error.to_string()));
                }
                return;
            }
        }
    }

    async fn read(self, mut pipe: pipe::Receiver) {
        let mut buffer = Vec::with_capacity(CHUNK);
        let reason = loop {
            let scanned = buffer.len();
            buffer.reserve(CHUNK);
            match pipe.read_buf(&mut buffer).await {
                Ok(0) => break Closed::Ended,
                Ok(_) => {}
                Err(error) => break Closed::Pipe(error.to_string()),
            }
            self.take_messages(&mut buffer, scanned);
            if buffer.len() > MAX_MESSAGE {
                break Closed::TooLarge;
            }
            if self.closed().is_some() {
                return;
            }
        };
        self.close_because(reason);
    }

    /// Takes the complete messages out of the buffer, whose first bytes are known to hold no end of one.
    fn take_messages(&self, buffer: &mut Vec<u8>, scanned: usize) {
        let mut start = 0;
        let mut from = scanned;
        while let Some(length) = buffer[from..].iter().position(|byte| *byte == 0) {
            let end = from + length;
            self.take(&buffer[start..end]);
            start = end + 1;
            from = start;
        }
        buffer.drain(..start);
        if buffer.is_empty() && buffer.capacity() > KEPT_BUFFER {
            *buffer = Vec::with_capacity(CHUNK);
        }
    }

    fn take(&self, bytes: &[u8]) {
        let Ok(incoming) = message::decode(bytes) else {
            let mut state = self.state();
            state.malformed += 1;
            if let Some(id) = message::id_of_broken(bytes) {
                state.answer(id, Err(CallError::Malformed("not JSON".to_owned())));
            }
            return;
        };
        match (incoming.id, incoming.method) {
            (Some(id), _) => self.state().answer(id, answer_of(incoming)),
            (None, Some(method)) => self.take_event(method, &incoming),
            (None, None) => self.state().malformed += 1,
        }
    }

    fn take_event(&self, method: &str, incoming: &ProtocolMessage<'_>) {
        let mut state = self.state();
        state.follow(method, incoming);
        let params = incoming.params.map_or_else(|| RawValue::NULL.to_owned(), ToOwned::to_owned);
        let event = Event { method: method.into(), params };
        match incoming.session {
            None => self.shared.browser_queue.push(event),
            // An event of a session that has just ended has no reader any more.
            Some(session) => {
                if let Some(session) = state.sessions.get(session) {
                    session.queue.push(event);
                }
            }
        }
    }
}

/// Waits for the answer to a call that is already on its way. Dropping it forgets the call; the browser
/// performs it all the same.
#[derive(Debug)]
#[must_use = "the call is sent, but whether it succeeded is known only by awaiting this"]
pub struct PendingReply {
    id: u64,
    answer: oneshot::Receiver<CallAnswer>,
    connection: ProtocolConnection,
}

impl PendingReply {
    /// Waits no longer than the given time.
    pub async fn within(self, limit: Duration) -> Result<Box<RawValue>, CallError> {
        tokio::time::timeout(limit, self).await.unwrap_or(Err(CallError::Deadline))
    }

    /// Waits, and reads the answer as a `T`.
    pub async fn read<T: DeserializeOwned>(self) -> Result<T, CallError> {
        read(&self.await?)
    }

    /// Waits no longer than the given time, and reads the answer as a `T`.
    pub async fn read_within<T: DeserializeOwned>(self, limit: Duration) -> Result<T, CallError> {
        read(&self.within(limit).await?)
    }
}

fn read<T: DeserializeOwned>(answer: &RawValue) -> Result<T, CallError> {
    serde_json::from_str(answer.get()).map_err(|error| CallError::Malformed(error.to_string()))
}

impl Future for PendingReply {
    type Output = CallAnswer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CallAnswer> {
        Pin::new(&mut self.answer).poll(context).map(|answer| {
            // The other end is dropped only with the runtime's tasks.
            answer.unwrap_or(Err(CallError::ConnectionClosed(Closed::Ended)))
        })
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.connection.state().pending.remove(&self.id);
    }
}
