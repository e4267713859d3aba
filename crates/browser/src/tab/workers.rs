//! What a page starts beside its documents, such as workers. The page agent does not reach it, so
//! the browser holds each until its chance is seeded and its requests are held, as far as the crawl
//! wants that. A page without workers costs nothing.

use super::watch::TabWatch;
use super::{guard, usual_log};
use crate::agent::AgentSettings;
use crate::border::UrlParts;
use crate::browser::OpenedTab;
use crate::cdp::events::StartedSession;
use crate::cdp::{Evaluate, RunIfWaiting, SetAutoAttach, TargetFilter};
use crate::connection::{LoggedContent, PendingReply, ProtocolConnection, SessionId};

/// The protocol's kind of a dedicated worker.
const DEDICATED: &str = "worker";

/// As `agent/chance.js`, without the path of a job, which no worker knows. The address of a worker
/// that a script made up is random itself, and does not count. A worker that waits has no address
/// yet: the page's process would die if the script read it.
const SCRIPT: &str = r#"((seed, address) => {
  const { imul } = Math;
  const generator = (salt) => {
    let state = (seed ^ salt) >>> 0;
    for (let at = 0; at < address.length; at++) {
      state = imul(state ^ address.charCodeAt(at), 16777619) >>> 0;
    }
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let word = imul(state ^ (state >>> 15), state | 1);
      word ^= word + imul(word ^ (word >>> 7), word | 61);
      return (word ^ (word >>> 14)) >>> 0;
    };
  };
  const number = generator(0);
  const byte = generator(0x5bd1e995);
  const fill = Crypto.prototype.getRandomValues;
  const Bytes = Uint8Array;
  Math.random = () => number() / 4294967296;
  Crypto.prototype.getRandomValues = function getRandomValues(array) {
    fill.call(this, array);
    const bytes = new Bytes(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at++) bytes[at] = byte() >>> 11;
    return array;
  };
  if (Crypto.prototype.randomUUID) {
    Crypto.prototype.randomUUID = function randomUUID() {
      let id = "";
      for (let at = 0; at < 36; at++) {
        if (at === 8 || at === 13 || at === 18 || at === 23) id += "-";
        else if (at === 14) id += "4";
        else id += "0123456789abcdef"[at === 19 ? 8 | ((byte() >>> 11) & 3) : (byte() >>> 11) & 15];
      }
      return id;
    };
  }
})"#;

/// Lets the browser hold what a session starts before it runs. Safe crawls hold everything: the
/// door reads no method in a connection with TLS. Others hold dedicated workers, if those draw
/// seeded numbers or get headers. A session has no other call of this kind: it would replace this.
pub(super) fn hold(
    connection: &ProtocolConnection,
    session: &SessionId,
    settings: &AgentSettings,
) -> Option<PendingReply<()>> {
    let is_safe = settings.border.bounds.is_safe;
    let dedicated: &[_] = &[TargetFilter { kind: DEDICATED }];
    let hold = SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: (!is_safe).then_some(dedicated),
    };
    let is_needed = settings.seed.is_some() || holds_requests(settings);
    is_needed.then(|| connection.call(Some(session), &hold))
}

/// Whether requests of workers are held, too.
fn holds_requests(settings: &AgentSettings) -> bool {
    settings.border.bounds.is_safe || !settings.headers.is_empty()
}

/// The address of a worker without its origin; empty if a script made it up.
fn repeatable_address(url: &str) -> String {
    let made_up = url.starts_with("blob:");
    let parts = UrlParts::of(url).filter(|_| !made_up);
    parts.map(|parts| parts.path).unwrap_or_default()
}

impl TabWatch {
    /// The tab has started something that waits: seeds its chance, holds its requests, lets it run.
    /// Not everything has requests of its own, and what the calls answer does not matter.
    pub(super) fn on_attached(&self, started: StartedSession) {
        let opened = OpenedTab { session: started.session_id, ..self.opened.clone() };
        let inner = Self { opened, ..self.clone() };
        let session = &inner.opened.session;
        // A login may be under way.
        let is_loading = self.outside().loading;
        let logged = if is_loading { LoggedContent::Nothing } else { usual_log(&self.settings) };
        self.connection.limit_log(session, logged);
        if let Some(seed) = self.settings.seed.filter(|_| started.target_info.kind == DEDICATED) {
            let address = serde_json::Value::from(repeatable_address(&started.target_info.url));
            inner.send(&Evaluate::new(&format!("{SCRIPT}({seed}, {address});")));
        }
        if !holds_requests(&self.settings) {
            inner.send(&RunIfWaiting {});
            return;
        }
        drop(guard::watch(&self.connection, session, &self.settings));
        drop(hold(&self.connection, session, &self.settings));
        inner.send(&RunIfWaiting {});
        if let Some(events) = self.connection.events(session) {
            // Ends with its session.
            tokio::spawn(inner.boxed(events));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_differs_in_every_crawl_does_not_count() {
        assert_eq!(repeatable_address("http://app.test:8080/w.js?a=1#b"), "/w.js?a=1");
        assert_eq!(repeatable_address("blob:http://app.test/fa30469a-6606"), "");
        assert_eq!(repeatable_address("data:text/javascript,1"), "");
    }
}
