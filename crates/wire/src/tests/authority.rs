//! The files of an authority and of the certificates that it issues.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::bed::Directory;
use crate::{AuthorityError, Credentials, authority};

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
        authority::issue(authority.path(), name, &[host.to_owned()], out.path())
    };
    for name in ["", "a b", "../a", "ä", &"x".repeat(65)] {
        assert!(matches!(issue(name, "localhost"), Err(AuthorityError::Name { .. })), "{name:?}");
    }
    for host in ["", "a b", "host:80", "[::1]"] {
        assert!(matches!(issue("a", host), Err(AuthorityError::Host { .. })), "{host:?}");
    }
    assert!(fs::read_dir(out.path()).expect("readable").next().is_none());
    for host in ["::1", "10.0.0.1", "crawl-1.example.org"] {
        issue("crawl-1.example_org", host).expect("issued");
        Credentials::load(out.path()).expect("usable");
    }
}

#[test]
fn an_authority_with_a_wrong_key_issues_nothing() {
    let (authority, other, out) =
        (Directory::authority(), Directory::authority(), Directory::new());
    fs::copy(other.path().join("ca.key"), authority.path().join("ca.key")).expect("copied");
    let issued = authority::issue(authority.path(), "a", &[], out.path());
    assert!(matches!(issued, Err(AuthorityError::Unfit { .. })), "{issued:?}");
    assert!(fs::read_dir(out.path()).expect("readable").next().is_none());
}
