//! What two processes say of themselves first, and whether they fit together.
//!
//! The bytes must stay readable for versions to come: a hello begins with the protocol's number in four
//! bytes (big-endian), a verdict with one byte. All that follows the number may change with it.

use serde::{Deserialize, Serialize};

use crate::PROTOCOL;

/// The largest hello or verdict, in bytes.
pub(crate) const MAX_HELLO: usize = 4 << 10;
/// The longest text in a hello, in bytes.
pub const MAX_TEXT: usize = 256;
/// The longest reason of a refusal, in bytes; a longer one is cut.
const MAX_REASON: usize = 1 << 10;
const NUMBER: usize = 4;
const ACCEPTED: u8 = 0;
const REFUSED: u8 = 1;

/// What a process is in its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A member of the ring.
    Controller,
    /// Works for controllers.
    Crawler,
    /// A person's command.
    Client,
}

/// What a process says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version that it speaks: [`PROTOCOL`].
    pub protocol: u32,
    /// The name of its cluster; both sides must be of the same.
    pub cluster: String,
    /// What it is.
    pub role: Role,
    /// Who it is: a random number that the process drew when it began.
    pub name: u128,
    /// Where others can dial it, if they can.
    pub address: Option<String>,
}

/// A hello as it arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReceivedHello {
    pub(crate) protocol: Option<u32>,
    /// `None` if it cannot be read.
    pub(crate) hello: Option<Hello>,
}

impl Hello {
    /// Says hello in this version of the protocol, without an address.
    pub fn new(cluster: &str, role: Role, name: u128) -> Self {
        Self { protocol: PROTOCOL, cluster: cluster.to_owned(), role, name, address: None }
    }

    /// Says also where others can dial it.
    #[must_use]
    pub fn with_address(mut self, address: &str) -> Self {
        self.address = Some(address.to_owned());
        self
    }

    /// The bytes of it; an error says what is too long.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, String> {
        self.check_texts()?;
        let rest = (&self.cluster, self.role, self.name, &self.address);
        let rest = postcard::to_stdvec(&rest).map_err(|error| error.to_string())?;
        let mut bytes = self.protocol.to_be_bytes().to_vec();
        bytes.extend_from_slice(&rest);
        Ok(bytes)
    }

    /// Reads what the other side sent, as far as it can be read.
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
        for (what, text) in
            [("name of the cluster", Some(&self.cluster)), ("address", self.address.as_ref())]
        {
            if let Some(text) = text
                && text.len() > MAX_TEXT
            {
                return Err(format!("the {what} has {} bytes, {MAX_TEXT} are allowed", text.len()));
            }
        }
        Ok(())
    }

    /// Whether this process can speak with the one that was heard; an error is the sentence that says why
    /// not.
    pub(crate) fn check_peer(&self, heard: ReceivedHello) -> Result<Hello, String> {
        let unreadable = || "its hello cannot be read".to_owned();
        // First, since nothing else is sure to be readable when the versions differ.
        let protocol = heard.protocol.ok_or_else(unreadable)?;
        if protocol != self.protocol {
            return Err(format!(
                "it speaks protocol {protocol}, this side speaks {}",
                self.protocol
            ));
        }
        let other = heard.hello.ok_or_else(unreadable)?;
        other.check_texts()?;
        if other.cluster != self.cluster {
            return Err(format!(
                "it is of the cluster {:?}, this side is of the cluster {:?}",
                other.cluster, self.cluster
            ));
        }
        if other.name == self.name {
            return Err("it is the same process".to_owned());
        }
        Ok(other)
    }
}

/// What one side says of the other's hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelloVerdict {
    Accepted,
    Refused(String),
}

impl HelloVerdict {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Accepted => vec![ACCEPTED],
            Self::Refused(reason) => {
                let mut bytes = vec![REFUSED];
                bytes.extend_from_slice(&reason.as_bytes()[..reason.len().min(MAX_REASON)]);
                bytes
            }
        }
    }

    /// `None` if it cannot be read. A reason may have been cut within a character, and is made fit to be printed,
    /// since it comes from outside.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&ACCEPTED, _) => Some(Self::Accepted),
            (&REFUSED, reason) => {
                let reason = String::from_utf8_lossy(&reason[..reason.len().min(MAX_REASON)]);
                Some(Self::Refused(reason.replace(char::is_control, "\u{fffd}")))
            }
            _ => None,
        }
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
    fn a_hello_is_read_as_it_was_written() {
        let bytes = hello().encode().expect("short enough");
        assert_eq!(
            Hello::decode(&bytes),
            ReceivedHello { protocol: Some(PROTOCOL), hello: Some(hello()) }
        );
    }

    #[test]
    fn an_unreadable_hello_of_another_version_still_tells_the_version() {
        let heard = Hello::decode(&[0, 0, 99, 9, 255, 255]);
        let refused = format!("it speaks protocol {}, this side speaks {PROTOCOL}", 99 * 256 + 9);
        assert_eq!(hello().check_peer(heard), Err(refused));
    }

    #[test]
    fn an_unreadable_hello_of_the_same_version_is_refused() {
        let refused = Err("its hello cannot be read".to_owned());
        let unreadable = [&PROTOCOL.to_be_bytes()[..], &[255]].concat();
        assert_eq!(hello().check_peer(Hello::decode(&unreadable)), refused);
        assert_eq!(hello().check_peer(Hello::decode(&[0, 0])), refused);
    }

    #[test]
    fn a_process_does_not_speak_with_itself() {
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
        let heard = ReceivedHello {
            protocol: Some(PROTOCOL),
            hello: Some(Hello { name: 8, ..hello().with_address(&long) }),
        };
        assert_eq!(
            hello().check_peer(heard),
            Err("the address has 257 bytes, 256 are allowed".to_owned())
        );
    }

    #[test]
    fn a_reason_is_bounded_and_fit_to_be_printed() {
        let reason = format!("\u{1b}[2J{}", "ä".repeat(MAX_REASON));
        let Some(HelloVerdict::Refused(read)) =
            HelloVerdict::decode(&HelloVerdict::Refused(reason).encode())
        else {
            panic!("it was refused");
        };
        assert!(read.starts_with("\u{fffd}[2Jä") && read.len() < MAX_REASON + 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn arbitrary_bytes_are_no_hello_that_fits(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            // A chance hit would need the name of the cluster.
            prop_assert!(hello().check_peer(Hello::decode(&bytes)).is_err());
            let _ = HelloVerdict::decode(&bytes);
        }
    }
}
