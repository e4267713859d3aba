//! The files of an authority and of the certificates that it issues.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::bed::{Directory, order};
use crate::{
    AuthorityError, CertificateSummary, Credentials, Role, UtcTime, authority, credentials,
};

#[test]
fn only_the_owner_can_read_a_key() {
    let authority = Directory::authority();
    let node = authority.node("a");
    for file in [authority.path().join("ca.key"), node.path().join("node.key")] {
        let mode = fs::metadata(file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(!node.path().join("ca.key").exists());
}

#[test]
fn an_authority_is_not_overwritten() {
    let directory = Directory::authority();
    let before = fs::read(directory.path().join("ca.key")).expect("readable");
    let again = authority::init(directory.path());
    assert!(matches!(again, Err(AuthorityError::Exists { .. })), "{again:?}");
    // Nor is an authority whose certificate was lost.
    fs::remove_file(directory.path().join("ca.pem")).expect("removed");
    assert!(authority::init(directory.path()).is_err());
    assert_eq!(fs::read(directory.path().join("ca.key")).expect("readable"), before);
}

#[test]
fn invalid_names_and_hosts_are_refused() {
    let authority = Directory::authority();
    let out = Directory::new();
    let issue = |name: &str, host: &str| {
        let order = order(name, &[Role::Controller], &[host]);
        authority::issue(authority.path(), &order, out.path())
    };
    for name in ["", "a b", "../a", "ä", &"x".repeat(65)] {
        assert!(matches!(issue(name, "localhost"), Err(AuthorityError::Name { .. })), "{name:?}");
    }
    for host in ["", "a b", "host:80", "[::1]", "a..b", "*.b", "*.argiope"] {
        assert!(matches!(issue("a", host), Err(AuthorityError::Host { .. })), "{host:?}");
    }
    // They stand for a role, or look as if they did.
    for host in ["client.argiope", "x.Argiope", "argiope"] {
        assert!(matches!(issue("a", host), Err(AuthorityError::Reserved { .. })), "{host:?}");
    }
    assert!(fs::read_dir(out.path()).expect("readable").next().is_none());
    for host in ["::1", "10.0.0.1", "crawl-1.example.org"] {
        let node = authority.node_of("crawl-1.example_org", &[Role::Controller], &[host]);
        let summary = Credentials::load(node.path()).expect("usable").summary();
        assert_eq!(
            (summary.name.as_str(), &summary.hosts[..]),
            ("crawl-1.example_org", &[host.to_owned()][..])
        );
    }
}

#[test]
fn a_certificate_needs_a_role_and_a_controller_needs_a_host() {
    let (authority, out) = (Directory::authority(), Directory::new());
    let issue =
        |roles: &[Role]| authority::issue(authority.path(), &order("a", roles, &[]), out.path());
    assert!(matches!(issue(&[]), Err(AuthorityError::NoRole)));
    assert!(matches!(issue(&[Role::Crawler, Role::Controller]), Err(AuthorityError::NoHost)));
    // A controller may be a client. No other role comes with another one.
    let roles = |node: &Directory| authority::show(node.path()).expect("readable").roles;
    let both = [Role::Controller, Role::Client];
    assert_eq!(roles(&authority.node_of("a", &[Role::Controller], &["::1"])), both);
    assert_eq!(roles(&authority.node_of("a", &[Role::Crawler], &[])), [Role::Crawler]);
    assert_eq!(roles(&authority.node_of("a", &[Role::Client], &[])), [Role::Client]);
}

#[test]
fn a_certificate_is_not_overwritten() {
    let authority = Directory::authority();
    let node = authority.node("a");
    let contents =
        || ["ca.pem", "node.key", "node.pem"].map(|file| fs::read(node.path().join(file)).ok());
    let before = contents();
    let again =
        || authority::issue(authority.path(), &order("a", &[Role::Client], &[]), node.path());
    let file = node.path().join("ca.pem");
    assert_eq!(
        again().expect_err("refused").to_string(),
        format!(
            "{} exists already; choose another directory, or renew the certificate there with \
             'argiope certs renew'",
            file.display()
        )
    );
    assert_eq!(contents(), before);
    // Nor is a key whose certificates were lost.
    fs::remove_file(file)
        .and_then(|()| fs::remove_file(node.path().join("node.pem")))
        .expect("removed");
    assert!(matches!(again(), Err(AuthorityError::Issued { .. })));
}

#[test]
fn a_renewed_certificate_says_the_same_with_a_new_key() {
    let authority = Directory::authority();
    let day = Duration::from_secs(24 * 60 * 60);
    let ended = UtcTime::from_unix(UtcTime::now().to_unix() - 3 * day.as_secs());
    let roles = [Role::Controller, Role::Client];
    let node = authority.node_at(&order("a", &roles, &["10.0.0.1", "a.example"]), ended, day);
    let key = || fs::read(node.path().join("node.key")).expect("a key");
    let (old, old_key) = (authority::show(node.path()).expect("a certificate"), key());
    let new = authority::renew(authority.path(), node.path()).expect("renewed");
    assert_eq!(new, authority::show(node.path()).expect("a certificate"));
    assert_ne!(key(), old_key);
    let CertificateSummary { valid_from, valid_until, .. } = new;
    assert_eq!(new, CertificateSummary { valid_from, valid_until, ..old });
    assert!(valid_until.days_after(UtcTime::now()) >= 729);
    Credentials::load(node.path()).expect("usable");
}

#[test]
fn a_foreign_certificate_is_not_renewed() {
    // Otherwise the holder of a client's certificate could become a controller.
    let (authority, foreign) = (Directory::authority(), Directory::authority());
    let node = foreign.node("a");
    let renewed = authority::renew(authority.path(), node.path()).expect_err("refused");
    assert_eq!(
        renewed.to_string(),
        format!(
            "cannot use the certificates in {}: the certificate is from {}; \
             this side expects one from {}",
            node.path().display(),
            foreign.authority_name(),
            authority.authority_name()
        )
    );
}

#[test]
fn a_damaged_certificate_is_read_without_harm() {
    let node = Directory::authority().node_of("a", &Role::ALL, &["::1", "a.example"]);
    let whole = credentials::certificates(&node.path().join("node.pem")).expect("readable");
    assert!(CertificateSummary::read(&whole[0]).is_some());
    for index in 0..whole[0].len() {
        for byte in [0, 0x7f, 0x80, 0x84, 0xff] {
            let mut damaged = whole[0].to_vec();
            damaged[index] = byte;
            let _ = CertificateSummary::read(&damaged);
        }
        let _ = CertificateSummary::read(&whole[0][..index]);
    }
}

#[test]
fn an_authority_with_a_wrong_key_issues_nothing() {
    let (authority, other, out) =
        (Directory::authority(), Directory::authority(), Directory::new());
    fs::copy(other.path().join("ca.key"), authority.path().join("ca.key")).expect("copied");
    let issued = authority::issue(authority.path(), &order("a", &[Role::Client], &[]), out.path());
    assert_eq!(
        issued.expect_err("refused").to_string(),
        format!(
            "cannot use the authority in {}: its key is that of {}, its certificate is {}",
            authority.path().display(),
            other.authority_name(),
            authority.authority_name()
        )
    );
    assert!(fs::read_dir(out.path()).expect("readable").next().is_none());
}
