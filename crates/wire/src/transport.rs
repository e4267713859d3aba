//! Dials and listens over any transport.
//!
//! Accepting never waits for a handshake: that is a future of its own, which the caller runs
//! concurrently. This module does not know what follows the handshake.

use std::io;
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::handshake::{HandshakeError, HelloCheck, Refusal, exchange_hellos};
use crate::hello::Hello;
use crate::limits::ConnectionLimits;
use crate::memory::{MemoryListener, MemoryTransport};
use crate::net::TcpTransport;
use crate::stream::Stream;

/// The pause after a failed accept, most often because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// Why dialing failed.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// No process answers at the address. A retry may help.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable {
        /// The dialed address.
        address: String,
        /// What happened.
        reason: String,
    },
    /// One side refused the other. A retry does not help.
    #[error("{0}")]
    Refused(Refusal),
    /// One side has no certificate that the other trusts.
    #[error("not authenticated: {0}")]
    NotAuthenticated(String),
    /// The address is not on loopback and there are no certificates.
    #[error(
        "{address} is not a loopback address, and other addresses need certificates; \
         create them with 'argiope certs init'"
    )]
    Unprotected {
        /// The address.
        address: String,
    },
}

impl DialError {
    fn from_handshake(address: &str, error: HandshakeError) -> Self {
        match error {
            HandshakeError::Refused(refusal) => Self::Refused(refusal),
            HandshakeError::NotAuthenticated(reason) => Self::NotAuthenticated(reason),
            error @ (HandshakeError::Deadline | HandshakeError::Closed | HandshakeError::Io(_)) => {
                Self::unreachable(address, &error)
            }
        }
    }

    fn unreachable(address: &str, reason: &impl ToString) -> Self {
        Self::Unreachable { address: address.to_owned(), reason: reason.to_string() }
    }
}

/// Why listening failed.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is not on loopback and there are no certificates.
    #[error(
        "{address} is not a loopback address, and other addresses need certificates; \
         create them with 'argiope certs init'"
    )]
    Unprotected {
        /// The address.
        address: String,
    },
    /// The address does not exist here, or is in use.
    #[error("cannot listen at {address}: {error}")]
    Io {
        /// The address.
        address: String,
        /// The error of the system.
        error: io::Error,
    },
}

/// A transport: what carries the bytes.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP, with or without TLS.
    Net(TcpTransport),
    /// Pipes within this process.
    Memory(MemoryTransport),
}

impl Transport {
    /// The certificates of this process, if it has any.
    pub fn credentials(&self) -> Option<&Credentials> {
        match self {
            Self::Net(net) => net.credentials(),
            Self::Memory(_) => None,
        }
    }

    /// Connects to the process that listens at an address, if both sides accept.
    pub async fn dial(
        &self,
        address: &str,
        me: &Hello,
        limits: &ConnectionLimits,
    ) -> Result<Connection, DialError> {
        let deadline = Instant::now() + limits.hello;
        let stream = match timeout_at(deadline, self.open(address)).await {
            Ok(stream) => stream?,
            Err(_) => return Err(DialError::unreachable(address, &HandshakeError::Deadline)),
        };
        let connection = exchange_hellos(stream, me, limits, deadline, &|_| Ok(())).await;
        connection.map_err(|error| DialError::from_handshake(address, error))
    }

    /// Opens a stream to an address, with TLS if there are certificates, before the handshake.
    pub(crate) async fn open(&self, address: &str) -> Result<Stream, DialError> {
        match self {
            Self::Net(net) => {
                let socket = net.connect(address).await;
                let socket = socket.map_err(|error| DialError::unreachable(address, &error))?;
                let unprotected = || DialError::Unprotected { address: address.to_owned() };
                let stream = net.secure_dialed(socket.ok_or_else(unprotected)?, address).await;
                stream.map_err(|error| DialError::from_handshake(address, error))
            }
            Self::Memory(memory) => match memory.open(address).await {
                Some(stream) => Ok(Stream::new(stream)),
                None => Err(DialError::unreachable(address, &"no process listens there")),
            },
        }
    }

    /// Listens at an address. Port 0 takes any free port.
    pub async fn listen(&self, address: &str) -> Result<Listener, ListenError> {
        let failed = |error| ListenError::Io { address: address.to_owned(), error };
        match self {
            Self::Net(net) => {
                let unprotected = || ListenError::Unprotected { address: address.to_owned() };
                let listener = net.listen(address).await.map_err(failed)?;
                let listener = listener.ok_or_else(unprotected)?;
                let address = listener.local_addr().map_err(failed)?.to_string();
                Ok(Listener { address, source: Source::Net(listener, net.clone()) })
            }
            Self::Memory(memory) => {
                let listener = memory
                    .listen(address)
                    .ok_or_else(|| failed(io::ErrorKind::AddrInUse.into()))?;
                Ok(Listener { address: listener.address.clone(), source: Source::Memory(listener) })
            }
        }
    }
}

enum Source {
    Net(TcpListener, TcpTransport),
    Memory(MemoryListener),
}

/// Accepts dialers. Dropping it frees the address and keeps the connections.
pub struct Listener {
    /// The address, with the actual port.
    pub address: String,
    source: Source,
}

impl Listener {
    /// Waits for the next dialer, before its handshake. Safe to cancel.
    pub async fn accept(&mut self) -> IncomingConnection {
        match &mut self.source {
            Source::Net(listener, net) => loop {
                if let Ok((socket, from)) = listener.accept().await {
                    let raw = Raw::Net(socket, net.clone());
                    return IncomingConnection { from: from.to_string(), raw };
                }
                // The dialer is gone already, or the system is short of a resource.
                tokio::time::sleep(PAUSE).await;
            },
            Source::Memory(listener) => {
                let raw = Raw::Memory(listener.accept().await);
                IncomingConnection { from: String::new(), raw }
            }
        }
    }
}

enum Raw {
    Net(TcpStream, TcpTransport),
    Memory(DuplexStream),
}

/// A dialer before its handshake. Dropping it closes the connection.
pub struct IncomingConnection {
    /// The network address of the dialer. Empty within a process.
    pub from: String,
    raw: Raw,
}

impl IncomingConnection {
    /// Performs the handshake. Succeeds if both sides accept and `check` finds no reason against
    /// it.
    ///
    /// The dialer decides how long it takes, up to the limit. Run it concurrently with `accept`.
    pub async fn handshake(
        self,
        me: &Hello,
        limits: &ConnectionLimits,
        check: HelloCheck<'_>,
    ) -> Result<Connection, HandshakeError> {
        self.secure(limits).await?.handshake(me, limits, check).await
    }

    /// Performs only the first part of the handshake: TLS, if there are certificates.
    pub async fn secure(
        self,
        limits: &ConnectionLimits,
    ) -> Result<SecuredConnection, HandshakeError> {
        let deadline = Instant::now() + limits.hello;
        let stream = match self.raw {
            Raw::Net(socket, net) => {
                socket.set_nodelay(true).map_err(HandshakeError::Io)?;
                net.secure_accepted(socket, deadline).await?
            }
            Raw::Memory(stream) => Stream::new(stream),
        };
        Ok(SecuredConnection { stream, deadline })
    }
}

/// A dialer after TLS and before the hellos. Dropping it closes the connection.
pub struct SecuredConnection {
    stream: Stream,
    deadline: Instant,
}

impl SecuredConnection {
    /// Whether the dialer has presented a certificate that this side trusts.
    pub fn is_certified(&self) -> bool {
        self.stream.session.is_some()
    }

    /// Performs the rest of the handshake. Succeeds if both sides accept and `check` finds no
    /// reason against it.
    pub async fn handshake(
        self,
        me: &Hello,
        limits: &ConnectionLimits,
        check: HelloCheck<'_>,
    ) -> Result<Connection, HandshakeError> {
        exchange_hellos(self.stream, me, limits, self.deadline, check).await
    }
}
