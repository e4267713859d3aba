//! TCP, with mutual TLS if there are certificates.
//!
//! Without certificates, every process that reaches a port would be a member of the cluster. Only
//! loopback addresses are then dialled and served. Knows nothing of frames.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::credentials::Credentials;
use crate::handshake::HandshakeError;
use crate::stream::{Stream, TlsSession};
use crate::trust::{OwnIdentity, PeerCertificate, host_of};

/// The maximum number of dialers that wait to be accepted. A dialer that finds the queue full waits
/// for a second before it tries again.
const BACKLOG: u32 = 4096;
/// The maximum number of bytes that are read from a dialer after a TLS error, so that it can read
/// the reason.
const LINGERED: u64 = 64 << 10;

/// A transport over TCP. Clones share their credentials.
#[derive(Clone, Debug)]
pub struct TcpTransport {
    credentials: Option<Credentials>,
}

impl TcpTransport {
    /// TCP without certificates, on loopback addresses only.
    pub fn plain() -> Self {
        Self { credentials: None }
    }

    /// TCP with mutual TLS.
    pub fn secured(credentials: Credentials) -> Self {
        Self { credentials: Some(credentials) }
    }

    /// The certificates of this process, if it has any.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// Finds the addresses behind a name. `None` if one is not on loopback and there are no
    /// certificates.
    async fn resolve(&self, address: &str) -> io::Result<Option<Vec<SocketAddr>>> {
        let found: Vec<_> = lookup_host(address).await?.collect();
        let are_allowed = self.credentials.is_some()
            || found.iter().all(|found| found.ip().to_canonical().is_loopback());
        Ok(are_allowed.then_some(found))
    }

    /// Listens at an address; `None` if it needs certificates.
    pub(crate) async fn listen(&self, address: &str) -> io::Result<Option<TcpListener>> {
        let Some(found) = self.resolve(address).await? else { return Ok(None) };
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for address in found {
            match listen_at(address) {
                Ok(listener) => return Ok(Some(listener)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Connects the socket, without TLS; `None` if the address needs certificates.
    pub(crate) async fn connect(&self, address: &str) -> io::Result<Option<TcpStream>> {
        let Some(found) = self.resolve(address).await? else { return Ok(None) };
        let socket = TcpStream::connect(&found[..]).await?;
        // The writer gathers small frames itself, so the socket must not delay them.
        socket.set_nodelay(true)?;
        Ok(Some(socket))
    }

    /// Performs the dialer's side of TLS, if there are credentials.
    pub(crate) async fn secure_dialed(
        &self,
        socket: TcpStream,
        address: &str,
    ) -> Result<Stream, HandshakeError> {
        let Some(credentials) = &self.credentials else {
            return Ok(Stream::tcp(socket));
        };
        let configs = credentials.current();
        let host = host_of(address).to_owned();
        let name = ServerName::try_from(host.clone()).map_err(|_| {
            HandshakeError::NotAuthenticated(format!("no certificate can name the host {host:?}"))
        })?;
        let connected = TlsConnector::from(configs.client).connect(name, socket).await;
        let stream =
            connected.map_err(|error| HandshakeError::from_io(error, Some(&configs.own)))?;
        let session = session(configs.own, stream.get_ref().1.peer_certificates(), Some(host))?;
        Ok(Stream::new(stream).with_session(session))
    }

    /// Performs the acceptor's side of TLS, if there are credentials.
    pub(crate) async fn secure_accepted(
        &self,
        socket: TcpStream,
        deadline: Instant,
    ) -> Result<Stream, HandshakeError> {
        let Some(credentials) = &self.credentials else {
            return Ok(Stream::tcp(socket));
        };
        let configs = credentials.current();
        let acceptor = TlsAcceptor::from(configs.server);
        match timeout_at(deadline, acceptor.accept(socket).into_fallible()).await {
            Err(_) => Err(HandshakeError::Deadline),
            Ok(Ok(stream)) => {
                let session = session(configs.own, stream.get_ref().1.peer_certificates(), None)?;
                Ok(Stream::new(stream).with_session(session))
            }
            Ok(Err((error, socket))) => {
                // Only for the dialer, so the result does not matter.
                let _ = timeout_at(deadline, linger(socket)).await;
                Err(HandshakeError::from_io(error, Some(&configs.own)))
            }
        }
    }
}

/// Listens at one address, with a longer queue than that of `TcpListener::bind`.
fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restarted process takes its address again, although old connections linger.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Reads the certificate that the other side has presented and TLS has verified.
fn session(
    own: Arc<OwnIdentity>,
    certificates: Option<&[CertificateDer<'static>]>,
    dialled: Option<String>,
) -> Result<TlsSession, HandshakeError> {
    let peer = certificates.and_then(|all| all.first()).and_then(PeerCertificate::read);
    let unreadable = || "the certificate of the other side cannot be read".to_owned();
    let peer = peer.ok_or_else(|| HandshakeError::NotAuthenticated(unreadable()))?;
    Ok(TlsSession { own, peer, dialled })
}

/// Closes a socket so that the dialer can read the alert. Closing with unread bytes would reset the
/// connection and might discard the alert.
async fn linger(mut socket: TcpStream) -> io::Result<()> {
    socket.shutdown().await?;
    tokio::io::copy(&mut socket.take(LINGERED), &mut tokio::io::sink()).await?;
    Ok(())
}
