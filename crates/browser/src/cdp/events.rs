//! The protocol's events that argiope acts on, as typed values.

use serde::Deserialize;
use serde_json::Error;

use crate::events::Event;

/// An event that says which sessions there are.
#[derive(Debug)]
pub(crate) enum SessionEvent<'a> {
    /// A session begins.
    Attached { session: &'a str, target: &'a str },
    /// A session has ended.
    Detached { session: &'a str },
    /// The process of a target has died.
    TargetCrashed { target: &'a str },
    /// The process behind the session that the event came in has died.
    SessionCrashed,
}

/// Reads an event that says which sessions there are; `None` for all others.
pub(crate) fn session_event<'a>(
    method: &str,
    params: &'a str,
) -> Result<Option<SessionEvent<'a>>, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Attached<'a> {
        session_id: &'a str,
        #[serde(borrow)]
        target_info: Target<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Target<'a> {
        target_id: &'a str,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Detached<'a> {
        session_id: &'a str,
    }
    Ok(Some(match method {
        "Target.attachedToTarget" => {
            let Attached { session_id, target_info } = serde_json::from_str(params)?;
            SessionEvent::Attached { session: session_id, target: target_info.target_id }
        }
        "Target.detachedFromTarget" => {
            let Detached { session_id } = serde_json::from_str(params)?;
            SessionEvent::Detached { session: session_id }
        }
        "Target.targetCrashed" => {
            let Target { target_id } = serde_json::from_str(params)?;
            SessionEvent::TargetCrashed { target: target_id }
        }
        "Inspector.targetCrashed" => SessionEvent::SessionCrashed,
        _ => return Ok(None),
    }))
}

/// An event of a tab that argiope must answer or take note of.
#[derive(Debug)]
pub(crate) enum TabEvent {
    /// A request is held.
    RequestPaused(PausedRequest),
    /// A dialog is open.
    DialogOpening(OpenDialog),
    /// A download begins.
    DownloadBegins(Download),
    /// The browser has logged something.
    Logged(LogEntry),
}

/// Reads an event that argiope must act on; `None` for all others.
pub(crate) fn tab_event(event: &Event) -> Result<Option<TabEvent>, Error> {
    #[derive(Deserialize)]
    struct Added {
        entry: LogEntry,
    }
    Ok(Some(match &*event.method {
        "Fetch.requestPaused" => TabEvent::RequestPaused(event.read()?),
        "Page.javascriptDialogOpening" => TabEvent::DialogOpening(event.read()?),
        "Page.downloadWillBegin" => TabEvent::DownloadBegins(event.read()?),
        "Log.entryAdded" => TabEvent::Logged(event.read::<Added>()?.entry),
        _ => return Ok(None),
    }))
}

/// A request that waits to be continued or failed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PausedRequest {
    pub(crate) request_id: String,
    pub(crate) frame_id: String,
    pub(crate) request: RequestAddress,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RequestAddress {
    pub(crate) url: String,
}

/// A dialog of the browser that is open.
#[derive(Debug, Deserialize)]
pub(crate) struct OpenDialog {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) message: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Download {
    pub(crate) url: String,
}

/// An entry of the browser's log.
#[derive(Debug, Deserialize)]
pub(crate) struct LogEntry {
    pub(crate) source: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) url: String,
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn only_events_about_sessions_are_session_events() {
        let attached = r#"{"sessionId":"S","targetInfo":{"targetId":"T"}}"#;
        let event = session_event("Target.attachedToTarget", attached).unwrap();
        assert!(matches!(event, Some(SessionEvent::Attached { session: "S", target: "T" })));
        assert!(session_event("Target.attachedToTarget", "{}").is_err());
        assert!(session_event("Page.loadEventFired", "{}").unwrap().is_none());
    }

    #[test]
    fn a_log_entry_need_not_have_an_address() {
        let params = r#"{"entry":{"source":"network","text":"failed"}}"#.to_owned();
        let event = Event {
            method: "Log.entryAdded".into(),
            params: RawValue::from_string(params).unwrap(),
        };
        let Some(TabEvent::Logged(entry)) = tab_event(&event).unwrap() else { panic!("not read") };
        assert_eq!((&*entry.source, &*entry.text, &*entry.url), ("network", "failed", ""));
    }
}
