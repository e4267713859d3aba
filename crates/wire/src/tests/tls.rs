//! Certificates that are replaced while processes run, that end soon, and that are missing.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::bed::{Directory, accept_next, acceptor, dialer, order, refused_pair, run, secured};
use crate::{
    ConnectionLimits, Credentials, CredentialsError, DialError, HandshakeError, ListenError, Role,
    TcpTransport, Transport, UtcTime, authority,
};

const LOOPBACK: &str = "127.0.0.1:0";

fn copy_files(from: &Path, to: &Path) {
    for file in ["ca.pem", "node.key", "node.pem"] {
        fs::copy(from.join(file), to.join(file)).expect("copied");
    }
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
            copy_files(new.node(name).path(), node.path());
        }
        let (one, two) = tokio::join!(
            dials.dial(&address, &me, &limits),
            accept_next(&mut listener, &other, &limits)
        );
        assert!(one.is_ok() && two.is_ok());
        let (dialed, accepted) = refused_pair(&left_behind, &me, &mut listener, &other).await;
        assert!(matches!(dialed, DialError::NotAuthenticated(_)), "{dialed:?}");
        assert!(matches!(accepted, HandshakeError::NotAuthenticated(_)), "{accepted:?}");

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
        let breakages: [&dyn Fn(); 4] = [
            // The first step of a change to another authority.
            &|| {
                let other = Directory::authority();
                fs::copy(other.path().join("ca.pem"), node.path().join("ca.pem")).expect("copied");
            },
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
            copy_files(authority.node("a").path(), node.path());
            credentials.current();
            assert_eq!(credentials.last_error(), None);
        }
    });
}

#[test]
fn a_renewed_certificate_is_used_at_once_and_each_step_leaves_the_old_one_in_use() {
    let authority = Directory::authority();
    let (node, steps) = (authority.node("a"), authority.node("a"));
    let credentials = Credentials::load(node.path()).expect("usable");
    authority::renew(authority.path(), steps.path()).expect("renewed");
    let in_use = || credentials.current().own.certificate.clone();
    let old = in_use();
    // The order in which `renew` replaces the files.
    for (file, is_new) in [("ca.pem", false), ("node.key", false), ("node.pem", true)] {
        fs::copy(steps.path().join(file), node.path().join(file)).expect("copied");
        assert_eq!(in_use() != old, is_new, "{file}");
    }
    assert_eq!(credentials.last_error(), None);
    authority::renew(authority.path(), node.path()).expect("renewed");
    assert_ne!(in_use(), old);
    assert_eq!(credentials.last_error(), None);
}

#[test]
fn a_certificate_that_ends_within_thirty_days_is_announced() {
    let authority = Directory::authority();
    let day = Duration::from_secs(24 * 60 * 60);
    let notice = |days: u32| {
        let order = order("a", &[Role::Client], &[]);
        let node = authority.node_at(&order, UtcTime::now(), days * day);
        let notice = Credentials::load(node.path()).expect("usable").notice();
        (node, notice)
    };
    assert_eq!(notice(31).1, None);
    let (node, notice) = notice(29);
    let expected = format!(
        "the certificate in {} (\"a\") ends on {}: renew it with 'argiope certs renew'",
        node.path().display(),
        node.end()
    );
    assert_eq!(notice, Some(expected));
}

#[test]
fn new_files_that_cannot_be_used_are_announced() {
    let node = Directory::authority().node("a");
    let credentials = Credentials::load(node.path()).expect("usable");
    assert_eq!(credentials.notice(), None);
    fs::remove_file(node.path().join("node.key")).expect("removed");
    let notice = credentials.notice().expect("a notice");
    assert!(notice.starts_with("new certificates are not used: cannot read "), "{notice}");
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
