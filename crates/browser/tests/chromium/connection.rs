//! The connection against a peer that says what no browser would.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::Duration;

use argiope_browser::connection::Closed;
use argiope_browser::{CallError, ProtocolConnection, SessionId};
use serde_json::json;

/// The other side of the pipes.
struct Peer {
    hears: PipeReader,
    says: PipeWriter,
}

impl Peer {
    fn connect() -> (ProtocolConnection, Self) {
        let (from_browser, says) = std::io::pipe().unwrap();
        let (hears, to_browser) = std::io::pipe().unwrap();
        let connection = ProtocolConnection::open(from_browser.into(), to_browser.into()).unwrap();
        (connection, Self { hears, says })
    }

    fn say(&mut self, message: &[u8]) {
        self.says.write_all(message).unwrap();
        self.says.write_all(b"\0").unwrap();
    }

    /// Attaches a session.
    fn attach(&mut self, session: &str) -> SessionId {
        let params = json!({"sessionId": session, "targetInfo": {"targetId": "T"}});
        self.say(
            json!({"method": "Target.attachedToTarget", "params": params}).to_string().as_bytes(),
        );
        SessionId(session.into())
    }
}

async fn next_method(connection: &ProtocolConnection) -> Option<String> {
    connection.browser_events().next().await.map(|event| event.method.into_string())
}

#[tokio::test]
async fn messages_that_cannot_be_read_are_counted_and_the_connection_goes_on() {
    let (connection, mut peer) = Peer::connect();
    let broken = connection.call_method(None, "A.one", &json!({}), Ok);
    let sound = connection.call_method(None, "A.two", &json!({}), Ok);
    peer.say(b"nonsense");
    peer.say(b"{}");
    peer.say(b"{\"id\":1,\"result\":{\"a\":\"\xff\"}}");
    peer.say(br#"{"id":77,"result":{}}"#);
    peer.say(br#"{"id":2,"result":{"b":3}}"#);
    assert!(matches!(broken.answer().await, Err(CallError::Malformed(_))));
    assert_eq!(sound.answer().await.unwrap().get(), r#"{"b":3}"#);
    assert_eq!(connection.malformed(), 3);
}

#[tokio::test]
async fn calls_are_sent_in_order_without_being_awaited() {
    let (connection, mut peer) = Peer::connect();
    let one = connection.call_method(None, "A.one", &json!({}), Ok);
    let two = connection.call_method(None, "A.two", &json!({"x": 1}), Ok);
    // Lets the writer run.
    peer.say(br#"{"method":"A.event","params":{}}"#);
    assert_eq!(next_method(&connection).await.as_deref(), Some("A.event"));
    connection.close();
    assert_eq!(one.answer().await.unwrap_err(), CallError::ConnectionClosed(Closed::ByUs));
    assert_eq!(two.answer().await.unwrap_err(), CallError::ConnectionClosed(Closed::ByUs));
    tokio::task::yield_now().await;
    let heard = tokio::task::spawn_blocking(move || {
        let mut heard = String::new();
        peer.hears.read_to_string(&mut heard).unwrap();
        heard
    });
    let heard = heard.await.unwrap();
    let expected = "{\"id\":1,\"method\":\"A.one\",\"params\":{}}\0{\"id\":2,\"method\":\"A.two\",\"params\":{\"x\":1}}\0";
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_a_deadline_and_a_late_one_does_no_harm() {
    let (connection, mut peer) = Peer::connect();
    let late = connection.call_method(None, "A.late", &json!({}), Ok);
    assert_eq!(late.within(Duration::from_millis(1)).await.unwrap_err(), CallError::Deadline);
    let next = connection.call_method(None, "A.next", &json!({}), Ok);
    peer.say(br#"{"id":1,"result":{"late":true}}"#);
    peer.say(br#"{"id":2,"error":{"code":-32000,"message":"no"}}"#);
    let refused = CallError::Protocol { code: -32000, message: "no".to_owned() };
    assert_eq!(next.answer().await.unwrap_err(), refused);
}

#[tokio::test]
async fn a_session_that_ends_fails_its_calls_and_no_others() {
    let (connection, mut peer) = Peer::connect();
    let (gone, stays) = (peer.attach("gone"), peer.attach("stays"));
    assert!(next_method(&connection).await.is_some());
    assert!(next_method(&connection).await.is_some());
    let mut events = connection.events(&gone).unwrap();
    let fails = connection.call_method(Some(&gone), "A.one", &json!({}), Ok);
    let works = connection.call_method(Some(&stays), "A.two", &json!({}), Ok);
    peer.say(br#"{"method":"A.last","params":{},"sessionId":"gone"}"#);
    peer.say(br#"{"method":"Target.detachedFromTarget","params":{"sessionId":"gone"}}"#);
    peer.say(br#"{"id":2,"result":{},"sessionId":"stays"}"#);
    assert_eq!(fails.answer().await.unwrap_err(), CallError::SessionGone);
    assert!(works.answer().await.is_ok());
    assert_eq!(
        events.next().await.map(|event| event.method.into_string()).as_deref(),
        Some("A.last")
    );
    assert!(events.next().await.is_none());
    let after = connection.call_method(Some(&gone), "A.three", &json!({}), Ok);
    assert_eq!(after.answer().await.unwrap_err(), CallError::SessionGone);
}

#[tokio::test]
async fn a_peer_that_ends_fails_all_calls_and_closes_all_queues() {
    let (connection, mut peer) = Peer::connect();
    let session = peer.attach("S");
    assert!(next_method(&connection).await.is_some());
    let mut events = connection.events(&session).unwrap();
    let call = connection.call_method(Some(&session), "A.one", &json!({}), Ok);
    drop(peer);
    assert_eq!(call.answer().await.unwrap_err(), CallError::ConnectionClosed(Closed::Ended));
    assert!(events.next().await.is_none());
    assert!(next_method(&connection).await.is_none());
    assert_eq!(connection.closed(), Some(Closed::Ended));
}
