//! Authentication by certificates, and certificates that are replaced while processes run.

use std::fs;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::bed::{Directory, accept_next, acceptor, dialer, refused_pair, run, secured};
use crate::handshake::exchange_hellos;
use crate::stream::Stream;
use crate::{
    ConnectionLimits, Credentials, CredentialsError, DialError, HandshakeError, ListenError,
    TcpTransport, Transport, authority, credentials,
};

const LOOPBACK: &str = "127.0.0.1:0";

fn neither_is_authenticated((dialed, accepted): (DialError, HandshakeError)) {
    assert!(matches!(dialed, DialError::NotAuthenticated(_)), "{dialed:?}");
    assert!(matches!(accepted, HandshakeError::NotAuthenticated(_)), "{accepted:?}");
}

#[test]
fn both_sides_refuse_a_certificate_of_another_authority() {
    run(async {
        let (ours, theirs) = (Directory::authority().node("a"), Directory::authority().node("a"));
        let mut listener = secured(&ours).listen(LOOPBACK).await.expect("an address");
        neither_is_authenticated(
            refused_pair(&secured(&theirs), &dialer(), &mut listener, &acceptor()).await,
        );
    });
}

#[test]
fn a_listener_with_certificates_refuses_a_plain_dialer() {
    run(async {
        let node = Directory::authority().node("a");
        let mut listener = secured(&node).listen(LOOPBACK).await.expect("an address");
        let plain = Transport::Net(TcpTransport::plain());
        neither_is_authenticated(refused_pair(&plain, &dialer(), &mut listener, &acceptor()).await);
    });
}

#[test]
fn a_plain_listener_refuses_a_dialer_with_certificates() {
    run(async {
        let node = Directory::authority().node("a");
        let mut listener =
            Transport::Net(TcpTransport::plain()).listen(LOOPBACK).await.expect("an address");
        neither_is_authenticated(
            refused_pair(&secured(&node), &dialer(), &mut listener, &acceptor()).await,
        );
    });
}

/// A TLS client that trusts the authority, with the given certificate or none.
fn client(authority: &Directory, own: Option<&Directory>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for root in credentials::certificates(&authority.path().join("ca.pem")).expect("readable") {
        roots.add(root).expect("a root");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("a version")
        .with_root_certificates(roots);
    match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let chain = credentials::certificates(&own.path().join("node.pem")).expect("readable");
            let key = credentials::key(&own.path().join("node.key")).expect("readable");
            builder.with_client_auth_cert(chain, key).expect("they belong together")
        }
    }
}

/// Asserts that the listener refuses a dialer that trusts the listener.
async fn refused_by_the_listener(authority: &Directory, client: ClientConfig) {
    let node = authority.node("a");
    let mut listener = secured(&node).listen(LOOPBACK).await.expect("an address");
    let address = listener.address.clone();
    let (me, other, limits) = (dialer(), acceptor(), ConnectionLimits::default());
    let dialed = async {
        let socket = TcpStream::connect(&address).await.expect("connected");
        let connector = TlsConnector::from(Arc::new(client));
        let stream = connector.connect(credentials::server_name(), socket).await?;
        let deadline = tokio::time::Instant::now() + limits.hello;
        exchange_hellos(Stream::new(stream), &me, &limits, deadline, &|_| Ok(())).await
    };
    let (dialed, accepted) = tokio::join!(dialed, accept_next(&mut listener, &other, &limits));
    for error in [dialed.expect_err("refused"), accepted.expect_err("refused")] {
        assert!(matches!(error, HandshakeError::NotAuthenticated(_)), "{error:?}");
    }
}

#[test]
fn a_dialer_without_a_certificate_is_refused() {
    run(async {
        let authority = Directory::authority();
        refused_by_the_listener(&authority, client(&authority, None)).await;
    });
}

#[test]
fn a_dialer_with_a_foreign_certificate_is_refused() {
    run(async {
        let (authority, foreign) = (Directory::authority(), Directory::authority().node("a"));
        refused_by_the_listener(&authority, client(&authority, Some(&foreign))).await;
    });
}

#[test]
fn replaced_certificates_are_used_by_the_next_connection() {
    run(async {
        let (old, new) = (Directory::authority(), Directory::authority());
        let (a, b, left_behind) = (old.node("a"), old.node("b"), old.node("c"));
        let (dials, left_behind) = (secured(&a), secured(&left_behind));
        let mut listener = secured(&b).listen(LOOPBACK).await.expect("an address");
        let address = listener.address.clone();
        let (me, other, limits) = (dialer(), acceptor(), ConnectionLimits::default());

        let (one, two) = tokio::join!(
            dials.dial(&address, &me, &limits),
            accept_next(&mut listener, &other, &limits)
        );
        let (sender, _receiver) = one.expect("dialed").split();
        let (_sender, mut receiver) = two.expect("accepted").split();

        for (name, node) in [("a", &a), ("b", &b)] {
            authority::issue(new.path(), name, &[], node.path()).expect("a certificate");
        }
        let (one, two) = tokio::join!(
            dials.dial(&address, &me, &limits),
            accept_next(&mut listener, &other, &limits)
        );
        assert!(one.is_ok() && two.is_ok());
        neither_is_authenticated(refused_pair(&left_behind, &me, &mut listener, &other).await);

        // An open connection continues.
        sender.send("still here").await.expect("sent");
        assert_eq!(receiver.recv().await.expect("received").expect("a frame"), "still here");
    });
}

#[test]
fn invalid_certificates_leave_the_old_ones_in_use() {
    run(async {
        let authority = Directory::authority();
        let node = authority.node("a");
        let credentials = Credentials::load(node.path()).expect("usable");
        let transport = Transport::Net(TcpTransport::secured(credentials.clone()));
        let mut listener = transport.listen(LOOPBACK).await.expect("an address");
        let address = listener.address.clone();
        let (me, other, limits) = (dialer(), acceptor(), ConnectionLimits::default());
        let foreign = authority.node("b");
        let breakages: [&dyn Fn(); 3] = [
            &|| fs::write(node.path().join("node.pem"), "nothing").expect("written"),
            &|| fs::remove_file(node.path().join("ca.pem")).expect("removed"),
            // A key of another certificate.
            &|| {
                let key = fs::read(foreign.path().join("node.key")).expect("readable");
                fs::write(node.path().join("node.key"), key).expect("written");
            },
        ];
        for breaks in breakages {
            breaks();
            let (one, two) = tokio::join!(
                transport.dial(&address, &me, &limits),
                accept_next(&mut listener, &other, &limits)
            );
            assert!(one.is_ok() && two.is_ok());
            assert!(credentials.last_error().is_some());
            authority::issue(authority.path(), "a", &[], node.path()).expect("a certificate");
            credentials.current();
            assert_eq!(credentials.last_error(), None);
        }
    });
}

#[test]
fn the_error_names_a_missing_file() {
    let node = Directory::authority().node("a");
    fs::remove_file(node.path().join("node.key")).expect("removed");
    let error = Credentials::load(node.path()).expect_err("a file is missing");
    assert!(
        matches!(&error, CredentialsError::File { file, .. } if file.ends_with("node.key")),
        "{error}"
    );
}

#[test]
fn without_certificates_only_loopback_is_served() {
    run(async {
        let plain = Transport::Net(TcpTransport::plain());
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let error = plain.listen(address).await.map(drop).expect_err("not on loopback");
            assert!(matches!(error, ListenError::Unprotected { .. }), "{error:?}");
            assert!(error.to_string().contains("argiope certs init"), "{error}");
        }
        for address in ["0.0.0.0:9", "192.0.2.1:9"] {
            let error = plain
                .dial(address, &dialer(), &ConnectionLimits::default())
                .await
                .expect_err("not on loopback");
            assert!(matches!(error, DialError::Unprotected { .. }), "{error:?}");
            assert!(error.to_string().contains("argiope certs init"), "{error}");
        }
    });
}
