//! Moves opaque frames of bytes between the authenticated processes of a cluster.
//!
//! A [`Transport`] dials and listens, over TCP or within one process. TCP uses mutual TLS; without
//! certificates it serves loopback addresses only. Every [`Connection`] begins with a [`Hello`]
//! from both sides, and then carries frames in both directions. The module [`authority`] issues the
//! certificates. This crate does not know the content of frames: no controllers, crawls or states.

pub mod authority;
pub mod certificate;
pub mod connection;
pub mod credentials;
mod frame;
mod handshake;
pub mod hello;
pub mod limits;
pub mod memory;
pub mod net;
mod stream;
#[cfg(test)]
mod tests;
pub mod transport;
mod trust;
mod writer;

pub use authority::AuthorityError;
pub use certificate::{CertificateSummary, UtcTime};
pub use connection::{Connection, Receiver, RecvError, SendError, Sender};
pub use credentials::{Credentials, CredentialsError};
pub use handshake::{HandshakeError, HelloCheck, Refusal, Side};
pub use hello::{Hello, Role};
pub use limits::ConnectionLimits;
pub use memory::MemoryTransport;
pub use net::TcpTransport;
pub use transport::{
    DialError, IncomingConnection, ListenError, Listener, SecuredConnection, Transport,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// The version of the protocol, including the frames. Different versions refuse each other.
pub const PROTOCOL: u32 = 9;
