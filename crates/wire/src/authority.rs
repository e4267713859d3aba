//! The authority of a cluster, which issues the certificates of its processes.
//!
//! The authority is a directory with a certificate and its key. It is needed only to issue
//! certificates, so it need not be on a machine of the cluster. Knows nothing of connections.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::WebPkiClientVerifier;

use crate::credentials::{
    self, AUTHORITY_FILE, CERTIFICATE_FILE, COMMON_HOST, CredentialsError, KEY_FILE,
};

/// The key of the authority. Its holder can issue certificates for the cluster.
pub const AUTHORITY_KEY_FILE: &str = "ca.key";
/// The validity of an authority's certificate.
pub const AUTHORITY_VALIDITY: Duration = Duration::from_secs(10 * YEAR);
/// The validity of a process's certificate.
pub const NODE_VALIDITY: Duration = Duration::from_secs(2 * YEAR);
/// The maximum length of a process's name.
pub const MAX_NAME: usize = 64;
const YEAR: u64 = 365 * 24 * 60 * 60;
/// Certificates are valid from this much earlier, because clocks differ.
const CLOCK_SKEW: Duration = Duration::from_secs(60 * 60);
/// The maximum length of a host name.
const MAX_HOST: usize = 253;
const AUTHORITY_NAME: &str = "argiope authority";
/// The mode of a key: only its owner may read it.
const SECRET: u32 = 0o600;
const PUBLIC: u32 = 0o644;

/// Why no certificate was issued.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// There is an authority already. A new one would invalidate all its certificates.
    #[error("{} exists already; choose another directory", file.display())]
    Exists {
        /// The file that would be overwritten.
        file: PathBuf,
    },
    /// The name is not valid in a certificate.
    #[error("invalid name {name:?}: use 1 to {MAX_NAME} letters, digits, '.', '_' and '-'")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The host is not valid in a certificate.
    #[error("invalid host {host:?}: use an IP address or a host name")]
    Host {
        /// The host as given.
        host: String,
    },
    /// A file or a directory cannot be written.
    #[error("cannot write {}: {error}", file.display())]
    Write {
        /// The file or directory.
        file: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The authority's files cannot be read.
    #[error("cannot use the authority: {0}")]
    Read(#[from] CredentialsError),
    /// The authority's certificate and key do not match.
    #[error("cannot use the authority in {}: {reason}", directory.display())]
    Unfit {
        /// The directory of the authority.
        directory: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The library could not create the certificate.
    #[error("cannot create the certificate: {0}")]
    Make(#[from] rcgen::Error),
}

/// Creates an authority: `ca.pem` and `ca.key` in a directory, which is created if necessary.
pub fn init(directory: &Path) -> Result<(), AuthorityError> {
    make_directory(directory)?;
    let certificate_file = directory.join(AUTHORITY_FILE);
    let key_file = directory.join(AUTHORITY_KEY_FILE);
    for file in [&certificate_file, &key_file] {
        if file.exists() {
            return Err(AuthorityError::Exists { file: file.clone() });
        }
    }
    let key = KeyPair::generate()?;
    let certificate = authority_params().self_signed(&key)?;
    write_new(&key_file, &pem("PRIVATE KEY", key.serialized_der()), SECRET)?;
    write_new(&certificate_file, &pem("CERTIFICATE", certificate.der()), PUBLIC)
}

/// Issues a certificate for a process: `node.pem`, `node.key` and a copy of the authority's
/// `ca.pem` in `out`. Replaces existing files. A running process uses the new ones for its next
/// connection.
pub fn issue(
    authority: &Path,
    name: &str,
    hosts: &[String],
    out: &Path,
) -> Result<(), AuthorityError> {
    if !fits(name, MAX_NAME) {
        return Err(AuthorityError::Name { name: name.to_owned() });
    }
    let is_host = |host: &String| host.parse::<IpAddr>().is_ok() || fits(host, MAX_HOST);
    if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
        return Err(AuthorityError::Host { host: host.clone() });
    }
    let hosts = [&[COMMON_HOST.to_owned()], hosts].concat();

    let root = credentials::certificates(&authority.join(AUTHORITY_FILE))?;
    let authority_key = KeyPair::try_from(&credentials::key(&authority.join(AUTHORITY_KEY_FILE))?)?;
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name.push(DnType::CommonName, name);
    set_validity(&mut params, NODE_VALIDITY);
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = params.signed_by(&key, &Issuer::new(authority_params(), authority_key))?;
    verify(&root, certificate.der())
        .map_err(|reason| AuthorityError::Unfit { directory: authority.to_owned(), reason })?;

    make_directory(out)?;
    let root: String = root.iter().map(|root| pem("CERTIFICATE", root)).collect();
    replace_file(&out.join(AUTHORITY_FILE), &root, PUBLIC)?;
    replace_file(&out.join(KEY_FILE), &pem("PRIVATE KEY", key.serialized_der()), SECRET)?;
    replace_file(&out.join(CERTIFICATE_FILE), &pem("CERTIFICATE", certificate.der()), PUBLIC)
}

/// The parameters of every authority. They are fixed, so that they need not be read from its
/// certificate.
fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, AUTHORITY_NAME);
    set_validity(&mut params, AUTHORITY_VALIDITY);
    // It signs certificates of processes, not of further authorities.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn set_validity(params: &mut CertificateParams, validity: Duration) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(CLOCK_SKEW);
    params.not_after = epoch + now + validity;
}

/// Checks that processes will accept the certificate. They would not if the authority's key did not
/// match its certificate.
fn verify(root: &[CertificateDer<'static>], made: &CertificateDer<'static>) -> Result<(), String> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in root {
        roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    }
    let provider = rustls::crypto::ring::default_provider();
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.into())
        .build()
        .map_err(|error| error.to_string())?;
    verifier.verify_client_cert(made, &[], UnixTime::now()).map_err(|error| error.to_string())?;
    Ok(())
}

fn fits(text: &str, longest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && text.len() <= longest && text.bytes().all(allowed)
}

fn pem(label: &str, der: &[u8]) -> String {
    let encoded = BASE64_STANDARD.encode(der);
    // Base64 is ASCII, so every index is a character boundary.
    let lines: Vec<_> = encoded.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn make_directory(directory: &Path) -> Result<(), AuthorityError> {
    fs::create_dir_all(directory)
        .map_err(|error| AuthorityError::Write { file: directory.to_owned(), error })
}

/// Writes a file that must not exist, and creates it with its final mode.
fn write_new(file: &Path, text: &str, mode: u32) -> Result<(), AuthorityError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let written = options.open(file).and_then(|mut opened| {
        opened.write_all(text.as_bytes())?;
        opened.sync_all()
    });
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => AuthorityError::Exists { file: file.to_owned() },
        _ => AuthorityError::Write { file: file.to_owned(), error },
    })
}

/// Replaces a file in one step, so that no process reads half of it.
fn replace_file(file: &Path, text: &str, mode: u32) -> Result<(), AuthorityError> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    // Left over from an attempt that was interrupted.
    let _ = fs::remove_file(&new);
    write_new(&new, text, mode)?;
    fs::rename(&new, file).map_err(|error| AuthorityError::Write { file: file.to_owned(), error })
}
