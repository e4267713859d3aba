//! The protocol's events that argiope acts on, as typed values.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Error;

use crate::connection::SessionId;
use crate::events::Event;

/// An event that says which sessions there are.
#[derive(Debug)]
pub(crate) enum SessionEvent<'a> {
    /// A session begins.
    Attached(AttachedSession<'a>),
    /// A session has ended.
    Detached(DetachedSession<'a>),
    /// The process of a target has died.
    TargetCrashed(EventTarget<'a>),
    /// The process behind the session that the event came in has died.
    SessionCrashed,
}

/// Reads an event that says which sessions there are; `None` for all others.
pub(crate) fn session_event<'a>(
    method: &str,
    params: &'a str,
) -> Result<Option<SessionEvent<'a>>, Error> {
    Ok(Some(match method {
        "Target.attachedToTarget" => SessionEvent::Attached(serde_json::from_str(params)?),
        "Target.detachedFromTarget" => SessionEvent::Detached(serde_json::from_str(params)?),
        "Target.targetCrashed" => SessionEvent::TargetCrashed(serde_json::from_str(params)?),
        "Inspector.targetCrashed" => SessionEvent::SessionCrashed,
        _ => return Ok(None),
    }))
}

/// A session that begins.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttachedSession<'a> {
    pub(crate) session_id: &'a str,
    #[serde(borrow)]
    pub(crate) target_info: EventTarget<'a>,
}

/// The target that an event is about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventTarget<'a> {
    pub(crate) target_id: &'a str,
}

/// A session that has ended.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DetachedSession<'a> {
    pub(crate) session_id: &'a str,
}

/// An event of a tab that argiope must answer or take note of.
#[derive(Debug)]
pub(crate) enum TabEvent {
    /// A request is held.
    RequestPaused(PausedRequest),
    /// A server demands a login.
    AuthRequired(AuthDemand),
    /// A dialog is open.
    DialogOpening(OpenDialog),
    /// A download begins.
    DownloadBegins(Download),
    /// The browser has logged something.
    Logged(LogEntry),
    /// A document will be replaced by another after some time.
    NavigationScheduled(ScheduledNavigation),
    /// A frame shows a new document.
    Navigated(NavigatedFrame),
    /// A session begins with something that the tab has started, such as a worker.
    Attached(StartedSession),
}

/// Reads an event that argiope must act on; `None` for all others.
pub(crate) fn tab_event(event: &Event) -> Result<Option<TabEvent>, Error> {
    #[derive(Deserialize)]
    struct Added {
        entry: LogEntry,
    }
    #[derive(Deserialize)]
    struct Navigated {
        frame: NavigatedFrame,
    }
    Ok(Some(match &*event.method {
        "Fetch.requestPaused" => TabEvent::RequestPaused(event.read()?),
        "Fetch.authRequired" => TabEvent::AuthRequired(event.read()?),
        "Page.javascriptDialogOpening" => TabEvent::DialogOpening(event.read()?),
        "Page.downloadWillBegin" => TabEvent::DownloadBegins(event.read()?),
        "Page.frameScheduledNavigation" => TabEvent::NavigationScheduled(event.read()?),
        "Page.frameNavigated" => TabEvent::Navigated(event.read::<Navigated>()?.frame),
        "Target.attachedToTarget" => TabEvent::Attached(event.read()?),
        "Log.entryAdded" => TabEvent::Logged(event.read::<Added>()?.entry),
        _ => return Ok(None),
    }))
}

/// A session with something that a tab has started.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedSession {
    pub(crate) session_id: SessionId,
    pub(crate) target_info: StartedTarget,
}

/// What a tab has started.
#[derive(Debug, Deserialize)]
pub(crate) struct StartedTarget {
    /// For example `worker`, which is a dedicated one.
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) url: String,
}

/// A request that waits to be continued or failed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PausedRequest {
    pub(crate) request_id: String,
    #[serde(default)]
    pub(crate) frame_id: String,
    /// For example `Document`.
    #[serde(default)]
    pub(crate) resource_type: String,
    pub(crate) request: HeldRequest,
}

/// What is requested.
#[derive(Debug, Deserialize)]
pub(crate) struct HeldRequest {
    pub(crate) url: String,
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
}

/// A request that waits for a login.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthDemand {
    pub(crate) request_id: String,
    pub(crate) auth_challenge: AuthChallenge,
}

/// The server that demands a login.
#[derive(Debug, Deserialize)]
pub(crate) struct AuthChallenge {
    /// `Server` or `Proxy`.
    #[serde(default)]
    pub(crate) source: String,
    pub(crate) origin: String,
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

/// A navigation that the browser will begin by itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduledNavigation {
    pub(crate) frame_id: String,
    /// In seconds.
    pub(crate) delay: f64,
    pub(crate) reason: String,
    pub(crate) url: String,
}

impl ScheduledNavigation {
    /// Whether the page asked for it: by `<meta http-equiv=refresh>` or the `Refresh` header.
    pub(crate) fn is_refresh(&self) -> bool {
        ["metaTagRefresh", "httpHeaderRefresh"].contains(&self.reason.as_str())
    }
}

/// A frame that shows a new document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NavigatedFrame {
    pub(crate) id: String,
    pub(crate) url: String,
    /// The address that could not be loaded, where the browser shows a page of its own.
    pub(crate) unreachable_url: Option<String>,
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
        let Some(SessionEvent::Attached(attached)) = event else { panic!("not read") };
        assert_eq!((attached.session_id, attached.target_info.target_id), ("S", "T"));
        assert!(session_event("Target.attachedToTarget", "{}").is_err());
        assert!(session_event("Page.loadEventFired", "{}").unwrap().is_none());
    }

    #[test]
    fn only_a_page_that_asks_for_it_is_refreshed() {
        let read = |reason: &str| {
            let params = format!(r#"{{"frameId":"F","delay":2,"reason":"{reason}","url":"u"}}"#);
            let event = Event {
                method: "Page.frameScheduledNavigation".into(),
                params: RawValue::from_string(params).unwrap(),
            };
            let Ok(Some(TabEvent::NavigationScheduled(scheduled))) = tab_event(&event) else {
                panic!("not read")
            };
            scheduled.is_refresh()
        };
        assert!(read("metaTagRefresh") && read("httpHeaderRefresh"));
        assert!(!read("scriptInitiated"));
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
