//! The hello by which two processes introduce themselves, and the check that they match.
//!
//! Later versions must be able to read these bytes: a hello begins with the protocol version in
//! four bytes (big-endian), a verdict with one byte. Everything after the version may change with
//! it.

use serde::{Deserialize, Serialize};

use crate::PROTOCOL;

/// The maximum size of a hello or a verdict, in bytes.
pub(crate) const MAX_HELLO: usize = 4 << 10;
/// The maximum size of a text in a hello, in bytes.
pub const MAX_TEXT: usize = 256;
/// The maximum size of the reason of a refusal, in bytes. A longer one is cut.
const MAX_REASON: usize = 1 << 10;
const NUMBER: usize = 4;
const ACCEPTED: u8 = 0;
const REFUSED: u8 = 1;

/// The role of a process in its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A member of the ring.
    Controller,
    /// Executes jobs for controllers.
    Crawler,
    /// A command of a user.
    Client,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Controller, Self::Crawler, Self::Client];

    /// The name of the role: one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Crawler => "crawler",
            Self::Client => "client",
        }
    }
}

/// The introduction of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of its protocol: [`PROTOCOL`].
    pub protocol: u32,
    /// The name of its cluster, which must be the same on both sides.
    pub cluster: String,
    /// Its role.
    pub role: Role,
    /// Its name: a random number that the process drew when it started.
    pub name: u128,
    /// The address at which others can dial it, if any.
    pub address: Option<String>,
}

/// A hello as received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReceivedHello {
    pub(crate) protocol: Option<u32>,
    /// `None` if it is unreadable.
    pub(crate) hello: Option<Hello>,
}

impl Hello {
    /// Creates a hello of this version of the protocol, without an address.
    pub fn new(cluster: &str, role: Role, name: u128) -> Self {
        Self { protocol: PROTOCOL, cluster: cluster.to_owned(), role, name, address: None }
    }

    /// Adds the address at which others can dial this process.
    #[must_use]
    pub fn with_address(mut self, address: &str) -> Self {
        self.address = Some(address.to_owned());
        self
    }

    /// Encodes the hello. The error says which text is too long.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, String> {
        self.check_texts()?;
        let rest = (&self.cluster, self.role, self.name, &self.address);
        let rest = postcard::to_stdvec(&rest).map_err(|error| error.to_string())?;
        Ok([&self.protocol.to_be_bytes()[..], &rest].concat())
    }

    /// Decodes the hello of the other side, as far as it is readable.
    pub(crate) fn decode(bytes: &[u8]) -> ReceivedHello {
        let Some((number, rest)) = bytes.split_first_chunk::<NUMBER>() else {
            return ReceivedHello { protocol: None, hello: None };
        };
        let protocol = u32::from_be_bytes(*number);
        type Rest = (String, Role, u128, Option<String>);
        let hello = postcard::from_bytes::<Rest>(rest)
            .ok()
            .map(|(cluster, role, name, address)| Self { protocol, cluster, role, name, address });
        ReceivedHello { protocol: Some(protocol), hello }
    }

    fn check_texts(&self) -> Result<(), String> {
        let address = self.address.as_ref().map_or(0, String::len);
        for (what, size) in [("name of the cluster", self.cluster.len()), ("address", address)] {
            if size > MAX_TEXT {
                return Err(format!("the {what} has {size} bytes; the limit is {MAX_TEXT}"));
            }
        }
        Ok(())
    }

    /// Checks that this process can talk to the other one. The error is the reason of the refusal.
    pub(crate) fn check_peer(&self, received: ReceivedHello) -> Result<Hello, String> {
        let unreadable = || "its hello is unreadable".to_owned();
        // The version comes first: the rest may be unreadable if the versions differ.
        let protocol = received.protocol.ok_or_else(unreadable)?;
        if protocol != self.protocol {
            return Err(format!(
                "it uses protocol version {protocol}, this side uses {}",
                self.protocol
            ));
        }
        let other = received.hello.ok_or_else(unreadable)?;
        other.check_texts()?;
        if other.cluster != self.cluster {
            return Err(format!(
                "it belongs to cluster {:?}, this side belongs to cluster {:?}",
                other.cluster, self.cluster
            ));
        }
        if other.name == self.name {
            return Err("it is the same process".to_owned());
        }
        Ok(other)
    }
}

/// The verdict of one side on the other's hello: accepted, or refused with a reason.
pub(crate) type HelloVerdict = Result<(), String>;

pub(crate) fn encode_verdict(verdict: &HelloVerdict) -> Vec<u8> {
    match verdict {
        Ok(()) => vec![ACCEPTED],
        Err(reason) => [&[REFUSED], &reason.as_bytes()[..reason.len().min(MAX_REASON)]].concat(),
    }
}

/// Decodes a verdict, or returns `None` if it is unreadable. A reason is untrusted and may be cut
/// inside a character, so it is made safe to print.
pub(crate) fn decode_verdict(bytes: &[u8]) -> Option<HelloVerdict> {
    match bytes.split_first()? {
        (&ACCEPTED, _) => Some(Ok(())),
        (&REFUSED, reason) => {
            let reason = String::from_utf8_lossy(&reason[..reason.len().min(MAX_REASON)]);
            Some(Err(reason.replace(char::is_control, "\u{fffd}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hello() -> Hello {
        Hello::new("garden", Role::Controller, 7).with_address("10.0.0.1:4400")
    }

    #[test]
    fn a_decoded_hello_equals_the_encoded_one() {
        let bytes = hello().encode().expect("short enough");
        assert_eq!(
            Hello::decode(&bytes),
            ReceivedHello { protocol: Some(PROTOCOL), hello: Some(hello()) }
        );
    }

    #[test]
    fn an_unreadable_hello_of_another_version_reports_the_version() {
        let received = Hello::decode(&[0, 0, 99, 9, 255, 255]);
        let refused =
            format!("it uses protocol version {}, this side uses {PROTOCOL}", 99 * 256 + 9);
        assert_eq!(hello().check_peer(received), Err(refused));
    }

    #[test]
    fn an_unreadable_hello_of_the_same_version_is_refused() {
        let refused = Err("its hello is unreadable".to_owned());
        let unreadable = [&PROTOCOL.to_be_bytes()[..], &[255]].concat();
        assert_eq!(hello().check_peer(Hello::decode(&unreadable)), refused);
        assert_eq!(hello().check_peer(Hello::decode(&[0, 0])), refused);
    }

    #[test]
    fn a_process_refuses_itself() {
        let bytes = hello().encode().expect("short enough");
        assert_eq!(
            hello().check_peer(Hello::decode(&bytes)),
            Err("it is the same process".to_owned())
        );
    }

    #[test]
    fn texts_that_are_too_long_are_refused() {
        let long = "x".repeat(MAX_TEXT + 1);
        assert!(Hello::new(&long, Role::Client, 1).encode().is_err());
        let received = ReceivedHello {
            protocol: Some(PROTOCOL),
            hello: Some(Hello { name: 8, ..hello().with_address(&long) }),
        };
        assert_eq!(
            hello().check_peer(received),
            Err("the address has 257 bytes; the limit is 256".to_owned())
        );
    }

    #[test]
    fn a_reason_is_bounded_and_safe_to_print() {
        let reason = format!("\u{1b}[2J{}", "ä".repeat(MAX_REASON));
        let Some(Err(read)) = decode_verdict(&encode_verdict(&Err(reason))) else {
            panic!("it was refused");
        };
        assert!(read.starts_with("\u{fffd}[2Jä") && read.len() < MAX_REASON + 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn arbitrary_bytes_are_not_a_valid_hello(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            // Random bytes would have to contain the name of the cluster.
            prop_assert!(hello().check_peer(Hello::decode(&bytes)).is_err());
            let _ = decode_verdict(&bytes);
        }
    }
}
