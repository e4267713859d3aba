//! What both sides say when one does not trust the other: whole sentences, which name the expected
//! authority. None has a name that only rustls knows.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::bed::{Directory, accept_next, acceptor, dialer, order, refused_pair, run, secured};
use crate::handshake::exchange_hellos;
use crate::stream::Stream;
use crate::{
    ConnectionLimits, Credentials, HandshakeError, Hello, Role, TcpTransport, Transport, UtcTime,
    credentials,
};

const LOOPBACK: &str = "127.0.0.1:0";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What both sides say: the dialer, then the acceptor.
async fn said(
    dials: &Transport,
    dials_as: &Hello,
    listens: &Transport,
    listens_as: &Hello,
) -> (String, String) {
    let mut listener = listens.listen(LOOPBACK).await.expect("an address");
    let (dialed, accepted) = refused_pair(dials, dials_as, &mut listener, listens_as).await;
    (dialed.to_string(), accepted.to_string())
}

async fn said_by_nodes(dials: &Directory, listens: &Directory) -> (String, String) {
    said(&secured(dials), &dialer(), &secured(listens), &acceptor()).await
}

#[test]
fn the_dialer_refuses_a_certificate_of_another_authority() {
    run(async {
        let (ours, theirs) = (Directory::authority(), Directory::authority());
        let (dials, listens) = (ours.node("a"), theirs.node("b"));
        let (dialed, accepted) = said_by_nodes(&dials, &listens).await;
        let (our_name, their_name) = (ours.authority_name(), theirs.authority_name());
        assert_ne!(our_name, their_name);
        assert_eq!(
            dialed,
            format!(
                "not authenticated: the certificate of the other side is from {their_name}; \
                 this side expects one from {our_name}"
            )
        );
        assert_eq!(
            accepted,
            format!(
                "not authenticated: the other side does not trust the certificate of this side \
                 (\"b\", from {their_name}, valid until {})",
                listens.end()
            )
        );
    });
}

#[test]
fn the_acceptor_refuses_a_certificate_of_another_authority() {
    run(async {
        let (ours, theirs) = (Directory::authority(), Directory::authority());
        let (dials, listens) = (ours.node("a"), theirs.node("b"));
        // The dialer trusts both authorities, as during a change from one to the other.
        let both =
            [&ours, &theirs].map(|one| fs::read(one.path().join("ca.pem")).expect("readable"));
        fs::write(dials.path().join("ca.pem"), both.concat()).expect("written");
        let (dialed, accepted) = said_by_nodes(&dials, &listens).await;
        let (our_name, their_name) = (ours.authority_name(), theirs.authority_name());
        assert_eq!(
            dialed,
            format!(
                "not authenticated: the other side does not trust the certificate of this side \
                 (\"a\", from {our_name}, valid until {})",
                dials.end()
            )
        );
        assert_eq!(
            accepted,
            format!(
                "not authenticated: the certificate of the other side is from {our_name}; \
                 this side expects one from {their_name}"
            )
        );
    });
}

#[test]
fn both_sides_say_when_a_certificate_has_ended() {
    run(async {
        let authority = Directory::authority();
        let name = authority.authority_name();
        let order = order("a", &Role::ALL, &["127.0.0.1"]);
        let short = authority.node_at(&order, UtcTime::now(), Duration::from_secs(3));
        // It is valid when the process begins.
        let ended = secured(&short);
        let good = secured(&authority.node("b"));
        let end = crate::authority::show(short.path()).expect("a certificate").valid_until;
        while UtcTime::now() <= end {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let says = |whose: &str| {
            format!(
                "not authenticated: the certificate of {whose} side (\"a\", from {name}) \
                 ended on {}; renew it with 'argiope certs renew'",
                short.end()
            )
        };
        let expected = (says("this"), says("the other"));
        assert_eq!(said(&ended, &dialer(), &good, &acceptor()).await, expected);
        let expected = (says("the other"), says("this"));
        assert_eq!(said(&good, &dialer(), &ended, &acceptor()).await, expected);
        // A process does not begin with it.
        let error = Credentials::load(short.path()).expect_err("it has ended");
        assert_eq!(
            error.to_string(),
            format!(
                "cannot use the certificates in {}: the certificate (\"a\", from {name}) \
                 ended on {}; renew it with 'argiope certs renew'",
                short.path().display(),
                short.end()
            )
        );
    });
}

fn roots(authority: &Directory) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    for root in credentials::certificates(&authority.path().join("ca.pem")).expect("readable") {
        roots.add(root).expect("a root");
    }
    roots
}

/// A TLS client of another program that trusts the authority, with the given certificate or none.
fn foreign_client(authority: &Directory, own: Option<&Directory>) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("a version")
        .with_root_certificates(roots(authority));
    match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let chain = credentials::certificates(&own.path().join("node.pem")).expect("readable");
            let key = credentials::key(&own.path().join("node.key")).expect("readable");
            builder.with_client_auth_cert(chain, key).expect("they belong together")
        }
    }
}

/// What the acceptor says to a client of another program, which trusts the acceptor. The client's
/// error comes first.
async fn said_to(authority: &Directory, client: ClientConfig) -> (HandshakeError, String) {
    let node = authority.node("b");
    let mut listener = secured(&node).listen(LOOPBACK).await.expect("an address");
    let address = listener.address.clone();
    let (me, other, limits) = (dialer(), acceptor(), ConnectionLimits::default());
    let dialed = async {
        let socket = TcpStream::connect(&address).await.expect("connected");
        let connector = TlsConnector::from(Arc::new(client));
        let name = ServerName::try_from("127.0.0.1").expect("a name");
        let stream = connector.connect(name, socket).await;
        let stream = stream.map_err(|error| HandshakeError::from_io(error, None))?;
        let deadline = tokio::time::Instant::now() + limits.hello;
        exchange_hellos(Stream::new(stream), &me, &limits, deadline, &|_| Ok(())).await
    };
    let (dialed, accepted) = tokio::join!(dialed, accept_next(&mut listener, &other, &limits));
    (dialed.expect_err("refused"), accepted.expect_err("refused").to_string())
}

/// The sentence on a certificate that is valid from tomorrow, without the end: the present minute.
fn not_yet(authority: &Directory, node: &Directory) -> String {
    let from = crate::authority::show(node.path()).expect("a certificate").valid_from;
    let name = authority.authority_name();
    format!(
        "not authenticated: the certificate of the other side (\"a\", from {name}) \
         is valid from {from}; the clock of this side says 20"
    )
}

#[test]
fn the_acceptor_says_when_a_certificate_is_not_valid_yet() {
    run(async {
        let authority = Directory::authority();
        let tomorrow = UtcTime::from_unix(UtcTime::now().to_unix() + DAY.as_secs());
        let node = authority.node_at(&order("a", &[Role::Client], &[]), tomorrow, DAY);
        let (dialed, accepted) = said_to(&authority, foreign_client(&authority, Some(&node))).await;
        assert!(accepted.starts_with(&not_yet(&authority, &node)), "{accepted}");
        assert_eq!(
            dialed.to_string(),
            "not authenticated: the other side ended the TLS connection (alert 46)"
        );
    });
}

#[test]
fn the_dialer_says_when_a_certificate_is_not_valid_yet() {
    run(async {
        let authority = Directory::authority();
        let tomorrow = UtcTime::from_unix(UtcTime::now().to_unix() + DAY.as_secs());
        let node = authority.node_at(&order("a", &Role::ALL, &["127.0.0.1"]), tomorrow, DAY);
        let chain = credentials::certificates(&node.path().join("node.pem")).expect("readable");
        let key = credentials::key(&node.path().join("node.key")).expect("readable");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("a version")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("they belong together");
        let listener = TcpListener::bind(LOOPBACK).await.expect("an address");
        let address = listener.local_addr().expect("an address").to_string();
        let accepted = async {
            let (socket, _) = listener.accept().await.expect("a dialer");
            TlsAcceptor::from(Arc::new(server)).accept(socket).await.map(drop)
        };
        let (dials, me) = (secured(&authority.node("b")), dialer());
        let limits = ConnectionLimits::default();
        let (dialed, accepted) = tokio::join!(dials.dial(&address, &me, &limits), accepted);
        let said = dialed.expect_err("refused").to_string();
        assert!(said.starts_with(&not_yet(&authority, &node)), "{said}");
        accepted.expect_err("refused");
    });
}

#[test]
fn a_dialer_without_a_certificate_is_refused() {
    run(async {
        let authority = Directory::authority();
        let (dialed, accepted) = said_to(&authority, foreign_client(&authority, None)).await;
        assert!(matches!(dialed, HandshakeError::NotAuthenticated(_)), "{dialed:?}");
        assert_eq!(
            accepted,
            format!(
                "not authenticated: the other side presented no certificate; \
                 this side expects one from {}",
                authority.authority_name()
            )
        );
    });
}

#[test]
fn a_certificate_without_a_role_is_refused() {
    run(async {
        let authority = Directory::authority();
        let node = authority.node_at(&order("a", &[], &["127.0.0.1"]), UtcTime::now(), DAY);
        let (dialed, accepted) = said_to(&authority, foreign_client(&authority, Some(&node))).await;
        let reason = "its certificate \"a\" has no role; \
                      issue a new one with 'argiope certs issue --role ROLE'";
        assert_eq!(dialed.to_string(), format!("refused by the other side: {reason}"));
        assert_eq!(accepted, format!("refused the other side: {reason}"));
        // The same holds for a process of this version that is given such a certificate.
        let error = Credentials::load(node.path()).expect_err("no role");
        assert_eq!(
            error.to_string(),
            format!(
                "cannot use the certificates in {}: the certificate has no role: an earlier \
                 version of argiope made it; issue a new one with \
                 'argiope certs issue NAME --role ROLE'",
                node.path().display()
            )
        );
    });
}

#[test]
fn a_dialer_cannot_be_more_than_its_certificate_says() {
    run(async {
        let authority = Directory::authority();
        let listens = secured(&authority.node("one"));
        let check = async |node: Directory, claims: Hello, reason: &str| {
            let said = said(&secured(&node), &claims, &listens, &acceptor()).await;
            let expected = (
                format!("refused by the other side: {reason}"),
                format!("refused the other side: {reason}"),
            );
            assert_eq!(said, expected);
        };
        let node = |roles: &[Role], hosts: &[&str]| authority.node_of("me", roles, hosts);
        let hello = |role| Hello::new("garden", role, 1);
        let controller = hello(Role::Controller).with_address("10.0.0.1:7400");
        check(
            node(&[Role::Client], &["10.0.0.1"]),
            controller.clone(),
            "it says that it is a controller; its certificate \"me\" has the role client",
        )
        .await;
        check(
            node(&[Role::Crawler, Role::Client], &["10.0.0.1"]),
            controller.clone(),
            "it says that it is a controller; \
             its certificate \"me\" has the roles crawler and client",
        )
        .await;
        check(
            node(&[Role::Client], &[]),
            hello(Role::Crawler),
            "it says that it is a crawler; its certificate \"me\" has the role client",
        )
        .await;
        check(
            node(&[Role::Crawler], &[]),
            hello(Role::Client),
            "it says that it is a client; its certificate \"me\" has the role crawler",
        )
        .await;
        check(
            node(&[Role::Controller], &["10.0.0.2", "two.example"]),
            controller.clone(),
            "it says that others reach it at \"10.0.0.1:7400\"; \
             its certificate \"me\" names the hosts 10.0.0.2 and two.example",
        )
        .await;
        // The names that stand for roles are not hosts.
        check(
            node(&[Role::Controller], &["10.0.0.2"]),
            hello(Role::Controller).with_address("controller.argiope:7400"),
            "it says that others reach it at \"controller.argiope:7400\"; \
             its certificate \"me\" names the host 10.0.0.2",
        )
        .await;
    });
}

#[test]
fn an_acceptor_must_be_a_controller_at_the_dialed_host() {
    run(async {
        let authority = Directory::authority();
        let dials = secured(&authority.node("me"));
        let check = async |node: Directory, claims: Hello, reason: &str| {
            let said = said(&dials, &dialer(), &secured(&node), &claims).await;
            let expected = (
                format!("refused the other side: {reason}"),
                format!("refused by the other side: {reason}"),
            );
            assert_eq!(said, expected);
        };
        let node = |roles: &[Role], hosts: &[&str]| authority.node_of("one", roles, hosts);
        check(
            node(&[Role::Client], &["127.0.0.1"]),
            acceptor(),
            "it says that it is a controller; its certificate \"one\" has the role client",
        )
        .await;
        check(
            node(&[Role::Client], &["127.0.0.1"]),
            Hello::new("garden", Role::Client, 2),
            "it is a client, not a controller",
        )
        .await;
        check(
            node(&[Role::Controller], &["10.0.0.1"]),
            acceptor().with_address("10.0.0.1:7400"),
            "the dialer reached it at \"127.0.0.1\"; \
             its certificate \"one\" names the host 10.0.0.1",
        )
        .await;
    });
}

#[test]
fn a_host_is_dialed_by_any_name_of_its_certificate() {
    run(async {
        let authority = Directory::authority();
        let node = authority.node_of("one", &[Role::Controller], &["127.0.0.1", "localhost"]);
        let (transport, limits) = (secured(&node), ConnectionLimits::default());
        let mut listener = transport.listen(LOOPBACK).await.expect("an address");
        let port = listener.address.rsplit_once(':').expect("a port").1.to_owned();
        let (me, other) = (Hello::new("garden", Role::Client, 1), acceptor());
        for host in ["127.0.0.1", "localhost", "LOCALHOST"] {
            let address = format!("{host}:{port}");
            let (dialed, accepted) = tokio::join!(
                transport.dial(&address, &me, &limits),
                accept_next(&mut listener, &other, &limits)
            );
            assert!(dialed.is_ok() && accepted.is_ok(), "{host}: {dialed:?}");
        }
    });
}

#[test]
fn a_listener_with_certificates_refuses_a_plain_dialer() {
    run(async {
        let authority = Directory::authority();
        let plain = Transport::Net(TcpTransport::plain());
        let node = authority.node("a");
        let (dialed, accepted) = said(&plain, &dialer(), &secured(&node), &acceptor()).await;
        assert_eq!(
            dialed,
            "not authenticated: the other side requires certificates; this side has none: \
             name the directory of its certificate with --certs"
        );
        assert_eq!(accepted, no_tls(&authority));
    });
}

/// What a side with certificates says to a side that speaks something else.
fn no_tls(authority: &Directory) -> String {
    format!(
        "not authenticated: the other side does not use TLS: it has no certificate, or it is not \
         argiope; this side expects a certificate from {}",
        authority.authority_name()
    )
}

#[test]
fn a_plain_listener_refuses_a_dialer_with_certificates() {
    run(async {
        let authority = Directory::authority();
        let plain = Transport::Net(TcpTransport::plain());
        let node = authority.node("a");
        let (dialed, accepted) = said(&secured(&node), &dialer(), &plain, &acceptor()).await;
        assert_eq!(dialed, no_tls(&authority));
        assert_eq!(
            accepted,
            "not authenticated: the other side uses certificates; this side has none: \
             name the directory of its certificate with --certs"
        );
    });
}

#[test]
fn garbage_instead_of_tls_is_recognised() {
    run(async {
        let authority = Directory::authority();
        let node = authority.node("a");
        let mut listener = secured(&node).listen(LOOPBACK).await.expect("an address");
        let address = listener.address.clone();
        let (me, limits) = (acceptor(), ConnectionLimits::default());
        let long = [b'x'; 70_000];
        // The last one begins as TLS does: an alert, which ends the connection.
        let alert: &[u8] = &[21, 3, 3, 0, 2, 2, 80];
        for garbage in [b"GET / HTTP/1.1\r\n\r\n", &long[..], &[0; 50], alert] {
            let dialed = async {
                let mut socket = TcpStream::connect(&address).await.expect("connected");
                let _ = socket.write_all(garbage).await;
                let _ = socket.read_to_end(&mut Vec::new()).await;
            };
            let ((), accepted) = tokio::join!(dialed, accept_next(&mut listener, &me, &limits));
            let expected = if garbage == alert {
                "not authenticated: the other side ended the TLS connection (alert 80)".to_owned()
            } else {
                no_tls(&authority)
            };
            assert_eq!(accepted.expect_err("refused").to_string(), expected);
        }
    });
}

#[test]
fn a_process_checks_its_own_certificate_before_others_do() {
    let authority = Directory::authority();
    let node = authority.node_of("me", &[Role::Client], &[]);
    let client = Credentials::load(node.path()).expect("usable");
    assert_eq!(client.check_role(Role::Client), Ok(()));
    assert_eq!(
        client.check_role(Role::Controller),
        Err(format!(
            "the certificate in {} (\"me\") has the role client; this process is a controller: \
             issue one with 'argiope certs issue NAME --role controller'",
            node.path().display()
        ))
    );
    let node = authority.node_of("one", &[Role::Controller], &["10.0.0.1"]);
    let controller = Credentials::load(node.path()).expect("usable");
    let at = |address| Hello::new("garden", Role::Controller, 1).with_address(address);
    assert_eq!(controller.check_hello(&at("10.0.0.1:7400")), Ok(()));
    assert_eq!(
        controller.check_hello(&at("0.0.0.0:7400")),
        Err(format!(
            "the certificate in {} (\"one\") names the host 10.0.0.1, and others are to dial \
             \"0.0.0.0\": give --advertise with a host that it names, or issue one with \
             --host 0.0.0.0",
            node.path().display()
        ))
    );
}
