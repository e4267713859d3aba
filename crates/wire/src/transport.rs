//! Dialing and listening, whatever carries the bytes.
//!
//! Accepting is quick and never waits for a dialer: the handshake is a future of its own, for the caller to
//! run beside others. Knows nothing of what is said after the hello.

use std::io;
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;
use crate::handshake::{HandshakeError, HelloCheck, Refusal, exchange_hellos};
use crate::hello::Hello;
use crate::limits::ConnectionLimits;
use crate::memory::{MemoryListener, MemoryTransport};
use crate::net::{AddressError, TcpTransport};
use crate::stream::Stream;

/// How long to wait when the system has no socket to give, most often because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// Why there is no connection, by what can be done about it.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// Nobody answers there now; later somebody may.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable {
        /// Who was dialed.
        address: String,
        /// What happened.
        reason: String,
    },
    /// The two do not belong together; trying again does not help.
    #[error("{0}")]
    Refused(Refusal),
    /// One of the two has no certificate that the other trusts.
    #[error("not authenticated: {0}")]
    NotAuthenticated(String),
    /// The address is not on loopback and there are no certificates.
    #[error(
        "{address} is not a loopback address: without certificates only loopback addresses are dialed; make some with 'argiope certs init'"
    )]
    Unprotected {
        /// Who was to be dialed.
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

/// Why nobody can be listened to at an address.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is not on loopback and there are no certificates.
    #[error(
        "{address} is not a loopback address: without certificates only loopback addresses are served; make some with 'argiope certs init'"
    )]
    Unprotected {
        /// Where it was to be listened.
        address: String,
    },
    /// The address is not there to be used, or used already.
    #[error("cannot listen at {address}: {error}")]
    Io {
        /// Where it was to be listened.
        address: String,
        /// What the system says.
        error: io::Error,
    },
}

/// What carries the bytes.
#[derive(Clone, Debug)]
pub enum Transport {
    /// The network.
    Net(TcpTransport),
    /// This process.
    Memory(MemoryTransport),
}

impl Transport {
    /// Connects to who listens at the address, if both want it.
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

    /// A stream to who listens at the address, authenticated if need be, without a word being said on it.
    pub(crate) async fn open(&self, address: &str) -> Result<Stream, DialError> {
        match self {
            Self::Net(net) => {
                let socket = net.connect(address).await.map_err(|error| match error {
                    AddressError::NotLoopback => {
                        DialError::Unprotected { address: address.to_owned() }
                    }
                    AddressError::Io(error) => DialError::unreachable(address, &error),
                })?;
                net.secure_dialed(socket)
                    .await
                    .map_err(|error| DialError::from_handshake(address, error))
            }
            Self::Memory(memory) => match memory.open(address).await {
                Some(stream) => Ok(Stream::new(stream)),
                None => Err(DialError::unreachable(address, &"nobody listens there")),
            },
        }
    }

    /// Listens at an address. Port 0 is any that is free.
    pub async fn listen(&self, address: &str) -> Result<Listener, ListenError> {
        let failed = |error| ListenError::Io { address: address.to_owned(), error };
        match self {
            Self::Net(net) => {
                let listener = net.listen(address).await.map_err(|error| match error {
                    AddressError::NotLoopback => {
                        ListenError::Unprotected { address: address.to_owned() }
                    }
                    AddressError::Io(error) => failed(error),
                })?;
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

/// Accepts dialers; dropping it frees the address and leaves the connections alone.
pub struct Listener {
    address: String,
    source: Source,
}

impl Listener {
    /// Where it listens, with the real port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The next dialer, of whom nothing is known yet. Can be abandoned without losing one.
    pub async fn accept(&mut self) -> IncomingConnection {
        match &mut self.source {
            Source::Net(listener, net) => loop {
                match listener.accept().await {
                    Ok((socket, from)) => {
                        return IncomingConnection {
                            from: from.to_string(),
                            raw: Raw::Net(socket, net.clone()),
                        };
                    }
                    // Either this dialer is gone already, or the system is short of something for a while.
                    Err(_) => tokio::time::sleep(PAUSE).await,
                }
            },
            Source::Memory(listener) => IncomingConnection {
                from: String::new(),
                raw: Raw::Memory(listener.accept().await),
            },
        }
    }
}

enum Raw {
    Net(TcpStream, TcpTransport),
    Memory(DuplexStream),
}

/// Somebody who dialed. Dropping it hangs up.
pub struct IncomingConnection {
    from: String,
    raw: Raw,
}

impl IncomingConnection {
    /// The address that the dialer has on the network; empty within a process.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// Makes a connection of it, if both want it and `check` has nothing against it. Takes as long as the
    /// dialer takes, up to the limit: run it beside the accepting of others.
    pub async fn handshake(
        self,
        me: &Hello,
        limits: &ConnectionLimits,
        check: HelloCheck<'_>,
    ) -> Result<Connection, HandshakeError> {
        let deadline = Instant::now() + limits.hello;
        let stream = match self.raw {
            Raw::Net(socket, net) => {
                socket.set_nodelay(true)?;
                net.secure_accepted(socket, deadline).await?
            }
            Raw::Memory(stream) => Stream::new(stream),
        };
        exchange_hellos(stream, me, limits, deadline, check).await
    }
}
