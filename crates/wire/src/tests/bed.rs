//! The test bed: a transport of each kind, two hellos, and temporary directories.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use crate::authority::{self, Authority, CertificateOrder};
use crate::{
    Connection, ConnectionLimits, Credentials, DialError, HandshakeError, Hello, Listener,
    MemoryTransport, Role, TcpTransport, Transport, UtcTime,
};

/// A test that takes longer hangs.
const HANGS: Duration = Duration::from_secs(30);

/// Runs a test on a runtime of its own.
pub(super) fn run(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { timeout(HANGS, test).await.expect("the test hangs") });
}

/// Tests each claim over every transport.
macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod memory { $(#[test] fn $claim() { $crate::tests::bed::run(super::$claim($crate::tests::bed::Bed::memory())); })* }
        mod tcp { $(#[test] fn $claim() { $crate::tests::bed::run(super::$claim($crate::tests::bed::Bed::tcp())); })* }
        mod tls { $(#[test] fn $claim() { $crate::tests::bed::run(super::$claim($crate::tests::bed::Bed::tls())); })* }
    };
}
pub(super) use contract;

/// A temporary directory of one test.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("argiope-wire-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Creates a directory with an authority.
    pub(super) fn authority() -> Self {
        let directory = Self::new();
        authority::init(directory.path()).expect("an authority");
        directory
    }

    /// Creates a directory with a certificate of the authority in this directory, for every role.
    pub(super) fn node(&self, name: &str) -> Self {
        self.node_of(name, &Role::ALL, &["127.0.0.1"])
    }

    /// Creates a directory with a certificate of the authority in this directory.
    pub(super) fn node_of(&self, name: &str, roles: &[Role], hosts: &[&str]) -> Self {
        let node = Self::new();
        authority::issue(self.path(), &order(name, roles, hosts), node.path())
            .expect("a certificate");
        node
    }

    /// Creates a directory with a certificate that is valid from a moment, for as long as this. The
    /// order is not checked.
    pub(super) fn node_at(
        &self,
        order: &CertificateOrder,
        from: UtcTime,
        validity: Duration,
    ) -> Self {
        let node = Self::new();
        let authority = Authority::open(self.path()).expect("an authority");
        let made = authority.sign(order, from, validity).expect("a certificate");
        made.write(node.path(), authority::write_new).expect("written");
        node
    }

    /// The name of the authority, as errors show it.
    pub(super) fn authority_name(&self) -> String {
        format!("{:?}", authority::show(self.path()).expect("a certificate").authority)
    }

    /// When the certificate ends, as errors show it.
    pub(super) fn end(&self) -> String {
        authority::show(self.path()).expect("a certificate").valid_until.to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a certificate is to say.
pub(super) fn order(name: &str, roles: &[Role], hosts: &[&str]) -> CertificateOrder {
    let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
    CertificateOrder { name: name.to_owned(), roles: roles.to_vec(), hosts }
}

/// TLS with the certificates of a directory.
pub(super) fn secured(node: &Directory) -> Transport {
    Transport::Net(TcpTransport::secured(
        Credentials::load(node.path()).expect("usable certificates"),
    ))
}

/// A transport under test.
pub(super) struct Bed {
    pub(super) transport: Transport,
    pub(super) address: &'static str,
    _node: Option<Directory>,
}

impl Bed {
    pub(super) fn memory() -> Self {
        Self { transport: Transport::Memory(MemoryTransport::new()), address: "here", _node: None }
    }

    pub(super) fn tcp() -> Self {
        Self {
            transport: Transport::Net(TcpTransport::plain()),
            address: "127.0.0.1:0",
            _node: None,
        }
    }

    pub(super) fn tls() -> Self {
        let node = Directory::authority().node("both");
        Self { transport: secured(&node), address: "127.0.0.1:0", _node: Some(node) }
    }

    pub(super) async fn listen(&self) -> Listener {
        self.transport.listen(self.address).await.expect("an address to listen at")
    }

    /// Two ends of a connection: the dialed one and the accepted one.
    pub(super) async fn pair(&self, limits: &ConnectionLimits) -> (Connection, Connection) {
        let mut listener = self.listen().await;
        self.pair_on(&mut listener, limits, limits).await
    }

    /// Two ends of a connection over an existing listener.
    pub(super) async fn pair_on(
        &self,
        listener: &mut Listener,
        dialing: &ConnectionLimits,
        accepting: &ConnectionLimits,
    ) -> (Connection, Connection) {
        let address = listener.address.clone();
        let (me, other) = (dialer(), acceptor());
        let dialed = self.transport.dial(&address, &me, dialing);
        let accepted = accept_next(listener, &other, accepting);
        let (dialed, accepted) = tokio::join!(dialed, accepted);
        (dialed.expect("dialed"), accepted.expect("accepted"))
    }

    /// The errors of both sides when two hellos do not match.
    pub(super) async fn refused_pair(
        &self,
        dials: &Hello,
        accepts: &Hello,
    ) -> (DialError, HandshakeError) {
        refused_pair(&self.transport, dials, &mut self.listen().await, accepts).await
    }
}

/// The errors of both sides when one of them refuses the other.
pub(super) async fn refused_pair(
    transport: &Transport,
    dials: &Hello,
    listener: &mut Listener,
    accepts: &Hello,
) -> (DialError, HandshakeError) {
    let (address, limits) = (listener.address.clone(), ConnectionLimits::default());
    let (dialed, accepted) = tokio::join!(
        transport.dial(&address, dials, &limits),
        accept_next(listener, accepts, &limits)
    );
    (dialed.expect_err("not dialed"), accepted.expect_err("not accepted"))
}

/// Accepts the next dialer and performs the handshake.
pub(super) async fn accept_next(
    listener: &mut Listener,
    me: &Hello,
    limits: &ConnectionLimits,
) -> Result<Connection, HandshakeError> {
    listener.accept().await.handshake(me, limits, &|_| Ok(())).await
}

pub(super) fn dialer() -> Hello {
    Hello::new("garden", Role::Crawler, 1)
}

pub(super) fn acceptor() -> Hello {
    Hello::new("garden", Role::Controller, 2).with_address("127.0.0.1:1")
}
