//! One connection to a browser: calls, their answers, and events by session (flat sessions).
//!
//! A call is on its way when [`ProtocolConnection::call`] returns, whether or not its
//! [`PendingReply`] is awaited, so several can be sent without waiting. [`crate::cdp`] says which
//! calls there are; here only the events that begin, crash and end sessions have a meaning.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

use crate::cdp::ProtocolCall;
use crate::events::{Event, Events, Queue};
use crate::message::{self, ProtocolMessage};

mod error;
mod log;
mod state;

pub use error::{CallError, Closed};
pub use log::LoggedContent;
use state::{CallAnswer, PendingCall, State, answer_of};

/// The largest message that is accepted, in bytes. A larger one ends the connection: only a hostile
/// page makes one.
pub const MAX_MESSAGE: usize = 64 << 20;
const CHUNK: usize = 64 << 10;
/// A buffer that a large message made larger than this is freed afterwards.
const KEPT_BUFFER: usize = 1 << 20;

/// A session: a target that the connection is attached to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub Arc<str>);

impl std::borrow::Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    browser_queue: Queue,
}

/// A connection; clones are the same one.
#[derive(Clone, Debug)]
pub struct ProtocolConnection {
    shared: Arc<Shared>,
}

impl ProtocolConnection {
    /// Connects over two pipes, with two tasks on the current runtime.
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

    /// Sends a call, to a session or to the browser itself; the reply waits for its answer.
    pub fn call<C: ProtocolCall>(
        &self,
        session: Option<&SessionId>,
        call: &C,
    ) -> PendingReply<C::Answer> {
        self.send_call(session, (C::METHOD, C::HAS_SECRET), call, C::read)
    }

    /// Sends a call of a method that [`crate::cdp`] does not have, whose answer `read` reads.
    pub fn call_method<P: Serialize + ?Sized, T>(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: &P,
        read: AnswerReader<T>,
    ) -> PendingReply<T> {
        self.send_call(session, (method, false), params, read)
    }

    fn send_call<P: Serialize + ?Sized, T>(
        &self,
        session: Option<&SessionId>,
        method: (&'static str, bool),
        params: &P,
        read: AnswerReader<T>,
    ) -> PendingReply<T> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        state.next_id += 1;
        let id = state.next_id;
        match state.send(id, session, method, params) {
            Ok(logged) => {
                let session = session.cloned();
                state.pending.insert(id, PendingCall { session, answer: sender, logged });
            }
            Err(error) => {
                // This function holds the receiver, so sending cannot fail.
                let _ = sender.send(Err(error));
            }
        }
        drop(state);
        PendingReply { id, answer, connection: self.clone(), read }
    }

    /// The events of a session, from its beginning; `None` if there is no such session.
    pub fn events(&self, session: &SessionId) -> Option<Events> {
        self.state().sessions.get(session).map(|session| session.queue.reader())
    }

    /// The events that belong to no session.
    pub fn browser_events(&self) -> Events {
        self.shared.browser_queue.reader()
    }

    /// Says what the log may show of a session's messages from now on.
    pub fn limit_log(&self, session: &SessionId, content: LoggedContent) {
        if let Some(session) = self.state().sessions.get_mut(session) {
            session.logged = content;
        }
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
        for (id, call) in pending {
            call.end(id, Err(CallError::ConnectionClosed(reason.clone())));
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
                // The reader reports the end of a browser, after its last messages. A broken pipe
                // can be noticed earlier here.
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

    /// Takes the complete messages out of the buffer. No message ends in the first `scanned` bytes.
    fn take_messages(&self, buffer: &mut Vec<u8>, scanned: usize) {
        let mut start = 0;
        let mut from = scanned;
        while let Some(length) = buffer[from..].iter().position(|byte| *byte == 0) {
            let end = from + length;
            self.on_message(&buffer[start..end]);
            start = end + 1;
            from = start;
        }
        buffer.drain(..start);
        if buffer.is_empty() && buffer.capacity() > KEPT_BUFFER {
            *buffer = Vec::with_capacity(CHUNK);
        }
    }

    fn on_message(&self, bytes: &[u8]) {
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
            (None, Some(method)) => self.on_event(method, &incoming),
            (None, None) => self.state().malformed += 1,
        }
    }

    fn on_event(&self, method: &str, incoming: &ProtocolMessage<'_>) {
        let mut state = self.state();
        let named = incoming.session.and_then(|session| state.sessions.get(session));
        log::on_event(method, incoming, named.map_or(LoggedContent::All, |session| session.logged));
        state.follow(method, incoming);
        let params = incoming.params.map_or_else(|| RawValue::NULL.to_owned(), ToOwned::to_owned);
        let event = Event { method: method.into(), params };
        match incoming.session {
            None => self.shared.browser_queue.push(event),
            // An event of a session that has just ended has no reader.
            Some(session) => {
                if let Some(session) = state.sessions.get(session) {
                    session.queue.push(event);
                }
            }
        }
    }
}

type AnswerReader<T> = fn(Box<RawValue>) -> Result<T, CallError>;

/// Waits for the answer to a call that is already on its way. Dropping it forgets the call; the
/// browser performs it all the same.
#[must_use = "the call is sent, but whether it succeeded is known only by its answer"]
pub struct PendingReply<T> {
    id: u64,
    answer: oneshot::Receiver<CallAnswer>,
    connection: ProtocolConnection,
    read: AnswerReader<T>,
}

impl<T> PendingReply<T> {
    /// Waits for the answer.
    pub async fn answer(mut self) -> Result<T, CallError> {
        // The other end is dropped only with the runtime's tasks.
        let ended = Err(CallError::ConnectionClosed(Closed::Ended));
        (&mut self.answer).await.unwrap_or(ended).and_then(self.read)
    }

    /// Waits no longer than the given time.
    pub async fn within(self, limit: Duration) -> Result<T, CallError> {
        tokio::time::timeout(limit, self.answer()).await.unwrap_or(Err(CallError::Deadline))
    }
}

impl<T> Drop for PendingReply<T> {
    fn drop(&mut self) {
        self.connection.state().pending.remove(&self.id);
    }
}
