//! Messages of the protocol as they go over the pipe: JSON, each ended by a zero byte.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message from the browser. Its content stays text, because most of it is never read.
#[derive(Debug, Deserialize)]
pub(crate) struct ProtocolMessage<'a> {
    pub(crate) id: Option<u64>,
    pub(crate) method: Option<&'a str>,
    #[serde(rename = "sessionId")]
    pub(crate) session: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    pub(crate) error: Option<ErrorBody>,
}

/// Why the browser refused a call.
#[derive(Debug, Deserialize)]
pub(crate) struct ErrorBody {
    pub(crate) code: i64,
    pub(crate) message: String,
}

#[derive(Serialize)]
struct Outgoing<'a, P: ?Sized> {
    id: u64,
    method: &'a str,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    params: &'a P,
}

/// The bytes of a call, its end included.
pub(crate) fn encode<P: Serialize + ?Sized>(
    id: u64,
    session: Option<&str>,
    method: &str,
    params: &P,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(&Outgoing { id, method, session, params })?;
    bytes.push(0);
    Ok(bytes)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<ProtocolMessage<'_>, serde_json::Error> {
    serde_json::from_slice(bytes)
}

/// The number of the call that a malformed message answers: the browser writes it first.
pub(crate) fn id_of_broken(bytes: &[u8]) -> Option<u64> {
    let rest = bytes.strip_prefix(b"{\"id\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_written_as_the_protocol_wants_it() {
        let bytes = encode(7, Some("S"), "A.b", &serde_json::json!({"c": 1})).unwrap();
        assert_eq!(
            bytes,
            b"{\"id\":7,\"method\":\"A.b\",\"sessionId\":\"S\",\"params\":{\"c\":1}}\0"
        );
    }

    #[test]
    fn lone_surrogates_do_not_break_a_message() {
        let message = decode(br#"{"id":1,"result":{"value":"\ud800"}}"#).unwrap();
        assert_eq!(message.result.unwrap().get(), r#"{"value":"\ud800"}"#);
    }

    #[test]
    fn deep_nesting_does_not_break_a_message() {
        let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
        assert!(decode(deep.as_bytes()).is_ok());
    }

    #[test]
    fn a_broken_answer_still_names_its_call() {
        assert!(decode(b"{\"id\":12,\"result\":{\"a\":\"\xff\"}}").is_err());
        assert_eq!(id_of_broken(b"{\"id\":12,\"result\":{\"a\":\"\xff\"}}"), Some(12));
        assert_eq!(id_of_broken(b"{\"method\":\"A.b\"}"), None);
    }
}
