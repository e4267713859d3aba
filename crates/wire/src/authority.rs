//! The authority of a cluster, which issues the certificates of its processes.
//!
//! The authority is a directory with a certificate and its key. It is needed only to issue
//! certificates, so it need not be on a machine of the cluster. Its name comes from its key, so
//! that errors can tell two authorities apart. Knows nothing of connections.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::{CertificateDer, DnsName};

use crate::certificate::{CertificateSummary, UtcTime, is_reserved};
use crate::credentials::{self, AUTHORITY_FILE, CERTIFICATE_FILE, CredentialsError, KEY_FILE};
use crate::hello::Role;
use crate::trust::Trust;

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
/// How the name of every authority begins. Earlier versions had nothing after it.
const FIRST_NAME: &str = "argiope authority";
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
    /// There is a certificate already, which a process may be using.
    #[error(
        "{} exists already; choose another directory, or renew the certificate there with \
         'argiope certs renew'",
        file.display()
    )]
    Issued {
        /// The file that would be overwritten.
        file: PathBuf,
    },
    /// The certificate would be of no use.
    #[error("a certificate needs a role: controller, crawler or client")]
    NoRole,
    /// A controller is dialled, so its certificate must name its hosts.
    #[error("a controller needs a host: the address or the name that others dial")]
    NoHost,
    /// The name is not valid in a certificate.
    #[error("invalid name {name:?}: use 1 to {MAX_NAME} letters, digits, '.', '_' and '-'")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The host is not valid in a certificate.
    #[error("invalid host {host:?}: use an IP address or a host name, without a port")]
    Host {
        /// The host as given.
        host: String,
    },
    /// The host would be taken for a role.
    #[error("invalid host {host:?}: names below \"argiope\" stand for roles")]
    Reserved {
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
    /// Files cannot be read, or do not match.
    #[error(transparent)]
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

/// What a certificate is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateOrder {
    /// The name of the machine or the user.
    pub name: String,
    /// What its processes may be. A controller may also be a client.
    pub roles: Vec<Role>,
    /// The hosts at which a controller is dialled.
    pub hosts: Vec<String>,
}

impl CertificateOrder {
    /// Checks the order, and adds the roles that come with others.
    fn complete(&self) -> Result<Self, AuthorityError> {
        let Self { name, hosts, .. } = self;
        if !fits(name, MAX_NAME) {
            return Err(AuthorityError::Name { name: name.clone() });
        }
        let is_host = |host: &str| {
            let is_name = fits(host, MAX_HOST) && DnsName::try_from(host).is_ok();
            host.parse::<IpAddr>().is_ok() || is_name
        };
        if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
            return Err(AuthorityError::Host { host: host.clone() });
        }
        if let Some(host) = hosts.iter().find(|host| is_reserved(host)) {
            return Err(AuthorityError::Reserved { host: host.clone() });
        }
        let is_controller = self.roles.contains(&Role::Controller);
        // A controller asks others for the status before it joins. It could do more harm than a
        // client in any case.
        let has = |role| self.roles.contains(&role) || role == Role::Client && is_controller;
        let roles: Vec<Role> = Role::ALL.into_iter().filter(|&role| has(role)).collect();
        match (&roles[..], &hosts[..]) {
            ([], _) => Err(AuthorityError::NoRole),
            (_, []) if is_controller => Err(AuthorityError::NoHost),
            _ => Ok(Self { name: name.clone(), roles, hosts: hosts.clone() }),
        }
    }
}

/// Creates an authority: `ca.pem` and `ca.key` in a directory, which is created if necessary.
pub fn init(directory: &Path) -> Result<CertificateSummary, AuthorityError> {
    make_directory(directory)?;
    let certificate_file = directory.join(AUTHORITY_FILE);
    let key_file = directory.join(AUTHORITY_KEY_FILE);
    for file in [&certificate_file, &key_file] {
        if file.exists() {
            return Err(AuthorityError::Exists { file: file.clone() });
        }
    }
    let key = KeyPair::generate()?;
    let mut params = authority_params(&key);
    let now = UtcTime::now();
    set_validity(&mut params, now, later(now, AUTHORITY_VALIDITY));
    let certificate = params.self_signed(&key)?;
    write_new(&key_file, &pem("PRIVATE KEY", key.serialized_der()), SECRET)?;
    write_new(&certificate_file, &pem("CERTIFICATE", certificate.der()), PUBLIC)?;
    read_summary(&certificate_file)
}

/// Issues a certificate for a process: `node.pem`, `node.key` and a copy of the authority's
/// `ca.pem` in `out`. Replaces no file.
pub fn issue(
    authority: &Path,
    order: &CertificateOrder,
    out: &Path,
) -> Result<CertificateSummary, AuthorityError> {
    let order = order.complete()?;
    let files = [AUTHORITY_FILE, KEY_FILE, CERTIFICATE_FILE].map(|file| out.join(file));
    if let Some(file) = files.iter().find(|file| file.exists()) {
        return Err(AuthorityError::Issued { file: file.clone() });
    }
    let made = Authority::open(authority)?.sign(&order, UtcTime::now(), NODE_VALIDITY)?;
    make_directory(out)?;
    made.write(out, write_new)
}

/// Issues a certificate again, with the same name, roles and hosts, a new key and a new validity.
/// A running process uses the new files for its next connection.
pub fn renew(authority: &Path, directory: &Path) -> Result<CertificateSummary, AuthorityError> {
    let authority = Authority::open(authority)?;
    let file = directory.join(CERTIFICATE_FILE);
    let unfit = |reason| CredentialsError::Unfit { directory: directory.to_owned(), reason };
    let old = credentials::certificates(&file)?.swap_remove(0);
    let summary = read_summary(&file)?;
    // The holder of the old certificate must not gain roles or hosts by changing the file. It may
    // have ended.
    let checked = authority.trust.check("the certificate", &old, summary.valid_until);
    checked.map_err(unfit)?;
    let CertificateSummary { name, roles, hosts, .. } = summary;
    let order = CertificateOrder { name, roles, hosts }.complete()?;
    authority.sign(&order, UtcTime::now(), NODE_VALIDITY)?.write(directory, replace_file)
}

/// Reads the certificate in a directory: that of a process, or that of an authority.
pub fn show(directory: &Path) -> Result<CertificateSummary, AuthorityError> {
    let own = directory.join(CERTIFICATE_FILE);
    let is_authority = !own.exists() && directory.join(AUTHORITY_KEY_FILE).exists();
    read_summary(&if is_authority { directory.join(AUTHORITY_FILE) } else { own })
}

fn read_summary(file: &Path) -> Result<CertificateSummary, AuthorityError> {
    let unreadable = || CredentialsError::Content {
        file: file.to_owned(),
        reason: "its certificate cannot be read".to_owned(),
    };
    let found = credentials::certificates(file)?;
    let summary = found.first().and_then(|found| CertificateSummary::read(found));
    Ok(summary.ok_or_else(unreadable)?)
}

/// An authority that can issue certificates.
pub(crate) struct Authority {
    directory: PathBuf,
    roots: Vec<CertificateDer<'static>>,
    key: KeyPair,
    trust: Trust,
    valid_until: UtcTime,
}

impl Authority {
    /// Reads an authority, and checks that its key is that of its certificate.
    pub(crate) fn open(directory: &Path) -> Result<Self, AuthorityError> {
        let file = directory.join(AUTHORITY_FILE);
        let roots = credentials::certificates(&file)?;
        let key = KeyPair::try_from(&credentials::key(&directory.join(AUTHORITY_KEY_FILE))?)?;
        let unfit = |reason| AuthorityError::Unfit { directory: directory.to_owned(), reason };
        let CertificateSummary { name, valid_until, .. } = read_summary(&file)?;
        if name != authority_name(&key) {
            return Err(unfit(if name == FIRST_NAME {
                "an earlier version of argiope made it; make a new one with 'argiope certs init'"
                    .to_owned()
            } else {
                format!(
                    "its key is that of {:?}, its certificate is {name:?}",
                    authority_name(&key)
                )
            }));
        }
        if valid_until < UtcTime::now() {
            return Err(unfit(format!(
                "it ended on {valid_until}; make a new one with 'argiope certs init'"
            )));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = Trust::new(&roots, provider).map_err(unfit)?;
        Ok(Self { directory: directory.to_owned(), roots, key, trust, valid_until })
    }

    /// Makes a certificate. It does not outlive the authority.
    pub(crate) fn sign(
        &self,
        order: &CertificateOrder,
        from: UtcTime,
        validity: Duration,
    ) -> Result<IssuedCertificate, AuthorityError> {
        let CertificateOrder { name, roles, hosts } = order;
        let mut names: Vec<String> = roles.iter().map(|role| role.certified_name()).collect();
        names.extend(hosts.iter().cloned());
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, name);
        set_validity(&mut params, from, later(from, validity).min(self.valid_until));
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let params_of_authority = authority_params(&self.key);
        let issuer = Issuer::from_params(&params_of_authority, &self.key);
        let certificate = params.signed_by(&key, &issuer)?;
        let checked = self.trust.check("the new certificate", certificate.der(), from);
        checked.map_err(|reason| AuthorityError::Unfit {
            directory: self.directory.clone(),
            reason,
        })?;
        let root: String = self.roots.iter().map(|root| pem("CERTIFICATE", root)).collect();
        Ok(IssuedCertificate {
            root,
            key: pem("PRIVATE KEY", key.serialized_der()),
            certificate: pem("CERTIFICATE", certificate.der()),
        })
    }
}

/// A new certificate: the contents of the three files.
pub(crate) struct IssuedCertificate {
    root: String,
    key: String,
    certificate: String,
}

impl IssuedCertificate {
    /// Writes the files one after the other. A process that finds some of them goes on with those
    /// that it has: the key comes before its certificate.
    pub(crate) fn write(
        &self,
        directory: &Path,
        write: impl Fn(&Path, &str, u32) -> Result<(), AuthorityError>,
    ) -> Result<CertificateSummary, AuthorityError> {
        let file = directory.join(CERTIFICATE_FILE);
        write(&directory.join(AUTHORITY_FILE), &self.root, PUBLIC)?;
        write(&directory.join(KEY_FILE), &self.key, SECRET)?;
        write(&file, &self.certificate, PUBLIC)?;
        read_summary(&file)
    }
}

/// The name of the authority with a key: a fixed part, and digits of the hash of the public key.
fn authority_name(key: &KeyPair) -> String {
    let hash = blake3::hash(key.public_key_raw());
    let [a, b, c, d, ..] = hash.as_bytes();
    format!("{FIRST_NAME} {a:02x}{b:02x}-{c:02x}{d:02x}")
}

/// The parameters of an authority. They follow from its key, so that they need not be read from
/// its certificate.
fn authority_params(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, authority_name(key));
    // It signs certificates of processes, not of further authorities.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn later(from: UtcTime, validity: Duration) -> UtcTime {
    UtcTime::from_unix(from.to_unix().saturating_add(validity.as_secs()))
}

fn set_validity(params: &mut CertificateParams, from: UtcTime, until: UtcTime) {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let from = Duration::from_secs(from.to_unix()).saturating_sub(CLOCK_SKEW);
    params.not_before = epoch + from;
    params.not_after = epoch + Duration::from_secs(until.to_unix());
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
pub(crate) fn write_new(file: &Path, text: &str, mode: u32) -> Result<(), AuthorityError> {
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
