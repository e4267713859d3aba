//! The log of the protocol, for debugging. At level `debug` the target [`TARGET`] gets a line for
//! each call that ends; at level `trace` also calls as they are sent, events, and what they carry.
//! What pages wrote is shortened and escaped. A level that is off costs one comparison.

use std::fmt;
use std::time::Instant;

use tracing::{Level, debug, enabled, trace};

use super::state::CallAnswer;
use crate::message::ProtocolMessage;

/// The target to switch on: `RUST_LOG=argiope_browser::protocol=trace`.
pub const TARGET: &str = "argiope_browser::protocol";
/// The most bytes of a message that the log shows.
const SHOWN: usize = 300;

/// What the log shows instead of a secret.
const NOT_SHOWN: &[u8] = b"(not shown)";

/// What the log may show of the messages of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoggedContent {
    /// Everything.
    #[default]
    All,
    /// Nothing of requests that are held: they have secret headers.
    NoRequests,
    /// No content: a password is typed.
    Nothing,
}

impl LoggedContent {
    fn shows(self, method: &str) -> bool {
        match self {
            Self::All => true,
            Self::NoRequests => !method.starts_with("Fetch."),
            Self::Nothing => false,
        }
    }
}

/// What the log remembers of a call until it ends.
#[derive(Debug)]
pub(super) struct LoggedCall {
    method: &'static str,
    sent: Instant,
    shows: bool,
}

/// Logs a call that was sent; nothing to remember where the log is off. `may_show` says what the
/// session allows; `None` hides a call that carries a secret.
pub(super) fn on_sent(
    id: u64,
    session: Option<&str>,
    method: &'static str,
    message: &[u8],
    may_show: Option<LoggedContent>,
) -> Option<LoggedCall> {
    if !enabled!(target: TARGET, Level::DEBUG) {
        return None;
    }
    // Every message ends with a zero byte.
    let text = message.strip_suffix(&[0]).unwrap_or(message);
    let size = text.len();
    let shows = may_show.is_some_and(|content| content.shows(method));
    let shown = if shows { text } else { NOT_SHOWN };
    trace!(target: TARGET, id, session, method, size, content = %Excerpt(shown), "sent");
    Some(LoggedCall { method, sent: Instant::now(), shows })
}

/// Logs how a call ended.
pub(super) fn on_answer(id: u64, session: Option<&str>, call: &LoggedCall, answer: &CallAnswer) {
    let method = call.method;
    let took = call.sent.elapsed();
    match answer {
        Ok(answer) => {
            let size = answer.get().len();
            debug!(target: TARGET, id, session, method, size, ?took, "answered");
            let shown = if call.shows { answer.get().as_bytes() } else { NOT_SHOWN };
            trace!(target: TARGET, id, content = %Excerpt(shown), "answer");
        }
        Err(error) => debug!(target: TARGET, id, session, method, ?took, %error, "failed"),
    }
}

/// Logs an event.
pub(super) fn on_event(method: &str, message: &ProtocolMessage<'_>, may_show: LoggedContent) {
    let text = message.params.map_or("", |params| params.get());
    let shown = if may_show.shows(method) { text.as_bytes() } else { NOT_SHOWN };
    trace!(
        target: TARGET,
        session = message.session,
        method = %Excerpt(method.as_bytes()),
        size = text.len(),
        content = %Excerpt(shown),
        "event"
    );
}

/// The beginning of a text, safe to print: control characters are escaped, and bytes that are not
/// UTF-8 are replaced.
struct Excerpt<'a>(&'a [u8]);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(SHOWN)];
        for character in String::from_utf8_lossy(shown).chars() {
            // Quotes are everywhere in JSON and do no harm.
            if matches!(character, '"' | '\'') {
                write!(formatter, "{character}")?;
            } else {
                write!(formatter, "{}", character.escape_debug())?;
            }
        }
        if shown.len() < self.0.len() {
            write!(formatter, "… ({} bytes)", self.0.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::{Arc, Mutex};

    use serde_json::value::RawValue;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Metadata, Subscriber};

    use super::*;
    use crate::cdp::{self, ProtocolCall};

    #[test]
    fn excerpts_are_short_and_fit_to_print() {
        assert_eq!(Excerpt(b"{\"a\":\"b\"}").to_string(), "{\"a\":\"b\"}");
        assert_eq!(Excerpt(b"\x1b[31m\n\xff").to_string(), "\\u{1b}[31m\\n\u{fffd}");
        let long = Excerpt(&[b'x'; 1000]).to_string();
        assert_eq!(long, format!("{}… (1000 bytes)", "x".repeat(SHOWN)));
    }

    /// Keeps the lines of the log up to a level.
    struct Recorder {
        level: Level,
        lines: Arc<Mutex<Vec<String>>>,
    }

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            if field.name() != "took" {
                write!(self.0, " {}={value:?}", field.name()).unwrap();
            }
        }
    }

    impl Subscriber for Recorder {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == TARGET && *metadata.level() <= self.level
        }
        fn event(&self, event: &tracing::Event<'_>) {
            let mut line = Line(event.metadata().level().to_string());
            event.record(&mut line);
            self.lines.lock().unwrap().push(line.0);
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// The lines that one call leaves in the log.
    fn lines(level: Level) -> Vec<String> {
        let lines = Arc::default();
        let recorder = Recorder { level, lines: Arc::clone(&lines) };
        tracing::subscriber::with_default(recorder, || {
            let all = Some(LoggedContent::All);
            let call = on_sent(7, Some("S"), "Page.enable", b"{}\0", all).unwrap();
            let answer = RawValue::from_string("{\"a\":1}".to_owned()).unwrap();
            on_answer(7, Some("S"), &call, &Ok(answer));
        });
        lines.lock().unwrap().clone()
    }

    #[test]
    fn a_secret_is_logged_neither_where_it_is_sent_nor_where_it_is_answered() {
        let lines = Arc::default();
        let recorder = Recorder { level: Level::TRACE, lines: Arc::clone(&lines) };
        let secret = b"{\"method\":\"Fetch.requestPaused\",\"params\":{\"a\":\"whisper\"}}";
        tracing::subscriber::with_default(recorder, || {
            let answer = RawValue::from_string("{\"value\":\"whisper\"}".to_owned()).unwrap();
            for may_show in [None, Some(LoggedContent::Nothing), Some(LoggedContent::NoRequests)] {
                let call = on_sent(7, None, "Fetch.enable", secret, may_show).unwrap();
                on_answer(7, None, &call, &Ok(answer.clone()));
            }
            let event = crate::message::decode(secret).unwrap();
            on_event("Fetch.requestPaused", &event, LoggedContent::NoRequests);
            on_event("Page.frameNavigated", &event, LoggedContent::Nothing);
        });
        let lines = lines.lock().unwrap().concat();
        assert!(lines.contains("Fetch.requestPaused") && !lines.contains("whisper"), "{lines}");
        let secrets = [
            <cdp::ContinueWithAuth<'_> as ProtocolCall>::HAS_SECRET,
            <cdp::SetCookies<'_> as ProtocolCall>::HAS_SECRET,
            <cdp::InsertText<'_> as ProtocolCall>::HAS_SECRET,
        ];
        assert_eq!((secrets, cdp::EnablePage::HAS_SECRET), ([true; 3], false));
    }

    #[test]
    fn a_call_is_logged_once_at_debug_and_with_its_content_at_trace() {
        let answered = "DEBUG message=answered id=7 session=\"S\" method=\"Page.enable\" size=7";
        assert_eq!(lines(Level::DEBUG), [answered]);
        let sent = "TRACE message=sent id=7 session=\"S\" method=\"Page.enable\" size=2 content={}";
        let content = "TRACE message=answer id=7 content={\"a\":1}";
        assert_eq!(lines(Level::TRACE), [sent, answered, content]);
        let sent = on_sent(7, None, "Page.enable", b"{}\0", Some(LoggedContent::All));
        assert!(sent.is_none(), "the log is off");
    }
}
