//! What a connection knows: the calls that wait for their answers, and the sessions. No I/O, but
//! for the queue to the writer.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::log::{self, LoggedCall, LoggedContent};
use super::{CallError, Closed, SessionId};
use crate::cdp::events::{SessionEvent, session_event};
use crate::events::Queue;
use crate::message::{self, ProtocolMessage};

pub(super) type CallAnswer = Result<Box<RawValue>, CallError>;

#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) session: Option<SessionId>,
    pub(super) answer: oneshot::Sender<CallAnswer>,
    /// `None` where the log is off.
    pub(super) logged: Option<LoggedCall>,
}

impl PendingCall {
    pub(super) fn end(self, id: u64, answer: CallAnswer) {
        if let Some(logged) = &self.logged {
            log::on_answer(id, self.session.as_ref().map(|id| &*id.0), logged, &answer);
        }
        // A reply that is dropped meanwhile needs no answer.
        let _ = self.answer.send(answer);
    }
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) target: Box<str>,
    pub(super) crashed: bool,
    pub(super) queue: Queue,
    /// What the log may show of its messages.
    pub(super) logged: LoggedContent,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) next_id: u64,
    pub(super) pending: HashMap<u64, PendingCall>,
    pub(super) sessions: HashMap<SessionId, Session>,
    /// `None` once the connection is closed; the writer ends with it, which closes the pipe.
    pub(super) outgoing: Option<mpsc::UnboundedSender<Vec<u8>>>,
    pub(super) closed: Option<Closed>,
    pub(super) malformed: u64,
}

impl State {
    pub(super) fn send<P: Serialize + ?Sized>(
        &mut self,
        id: u64,
        session: Option<&SessionId>,
        (method, has_secret): (&'static str, bool),
        params: &P,
    ) -> Result<Option<LoggedCall>, CallError> {
        if let Some(reason) = &self.closed {
            return Err(CallError::ConnectionClosed(reason.clone()));
        }
        let mut may_show = LoggedContent::All;
        if let Some(session) = session {
            match self.sessions.get(session) {
                None => return Err(CallError::SessionGone),
                Some(session) if session.crashed => return Err(CallError::Crashed),
                Some(session) => may_show = session.logged,
            }
        }
        let session = session.map(|id| &*id.0);
        let bytes = message::encode(id, session, method, params)
            .map_err(|error| CallError::Malformed(error.to_string()))?;
        let may_show = (!has_secret).then_some(may_show);
        let logged = log::on_sent(id, session, method, &bytes, may_show);
        let sent = self.outgoing.as_ref().is_some_and(|outgoing| outgoing.send(bytes).is_ok());
        if sent { Ok(logged) } else { Err(CallError::ConnectionClosed(Closed::Ended)) }
    }

    pub(super) fn answer(&mut self, id: u64, answer: CallAnswer) {
        // A call whose reply was dropped is no longer here.
        if let Some(call) = self.pending.remove(&id) {
            call.end(id, answer);
        }
    }

    /// Keeps the sessions up to date.
    pub(super) fn follow(&mut self, method: &str, incoming: &ProtocolMessage<'_>) {
        let params = incoming.params.map_or("{}", RawValue::get);
        match session_event(method, params) {
            Ok(None) => {}
            Ok(Some(SessionEvent::Attached(attached))) => {
                let target = attached.target_info.target_id.into();
                let begun = Session {
                    target,
                    crashed: false,
                    queue: Queue::default(),
                    logged: LoggedContent::All,
                };
                self.sessions.entry(SessionId(attached.session_id.into())).or_insert(begun);
            }
            Ok(Some(SessionEvent::Detached(detached))) => self.end(detached.session_id),
            Ok(Some(SessionEvent::TargetCrashed(crashed))) => {
                self.crash(|_, session| *session.target == *crashed.target_id);
            }
            Ok(Some(SessionEvent::SessionCrashed)) => {
                self.crash(|id, _| Some(&*id.0) == incoming.session);
            }
            Err(_) => self.malformed += 1,
        }
    }

    fn end(&mut self, session: &str) {
        if let Some(ended) = self.sessions.remove(session) {
            let error = if ended.crashed { CallError::Crashed } else { CallError::SessionGone };
            self.fail_calls(session, &error);
            ended.queue.close();
        }
    }

    fn crash(&mut self, is_it: impl Fn(&SessionId, &Session) -> bool) {
        let mut crashed = Vec::new();
        for (id, session) in &mut self.sessions {
            if is_it(id, session) {
                session.crashed = true;
                crashed.push(id.clone());
            }
        }
        for session in crashed {
            self.fail_calls(&session.0, &CallError::Crashed);
        }
    }

    fn fail_calls(&mut self, session: &str, error: &CallError) {
        let of_session =
            |call: &PendingCall| call.session.as_ref().is_some_and(|id| *id.0 == *session);
        for (id, call) in self.pending.extract_if(|_, call| of_session(call)) {
            call.end(id, Err(error.clone()));
        }
    }
}

pub(super) fn answer_of(incoming: ProtocolMessage<'_>) -> CallAnswer {
    /// Chromium's error number for a session that it does not know.
    const NO_SESSION: i64 = -32001;
    match (incoming.error, incoming.result) {
        (Some(error), _) if error.code == NO_SESSION => Err(CallError::SessionGone),
        (Some(error), _) => Err(CallError::Protocol { code: error.code, message: error.message }),
        (None, Some(result)) => Ok(result.to_owned()),
        (None, None) => Err(CallError::Malformed("neither result nor error".to_owned())),
    }
}
