//! The certificates of this process, and the TLS settings made from them.
//!
//! Every new connection checks the files and reads them again if they changed, so certificates can
//! be renewed without a restart. Knows nothing of sockets or of how the files were issued.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ClientConfig, ServerConfig, version::TLS13};

use crate::certificate::{CertificateSummary, UtcTime};
use crate::hello::{Hello, Role};
use crate::trust::{OwnIdentity, PeerCertificate, Trust, host_of};

/// The certificate of the cluster's authority.
pub const AUTHORITY_FILE: &str = "ca.pem";
/// The certificate of this process.
pub const CERTIFICATE_FILE: &str = "node.pem";
/// The key of this process.
pub const KEY_FILE: &str = "node.key";
const FILES: [&str; 3] = [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE];
/// A certificate that ends within this many days is announced.
const ANNOUNCED_DAYS: i64 = 30;

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A file has the wrong content.
    #[error("{} holds no valid certificate or key: {reason}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The files do not match each other.
    #[error("cannot use the certificates in {}: {reason}", directory.display())]
    Unfit {
        /// The directory of the files.
        directory: PathBuf,
        /// What is wrong with them.
        reason: String,
    },
}

/// The TLS settings of new connections.
#[derive(Clone)]
pub(crate) struct Configs {
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) own: Arc<OwnIdentity>,
}

/// Inode, size and modification time of each file. They show whether a file was replaced.
type Stamps = Vec<(u64, u64, i64, i64)>;

struct State {
    configs: Configs,
    /// The stamps of the files at the last check, whether or not they were valid.
    stamps: Option<Stamps>,
    last_error: Option<String>,
}

/// The certificates of a directory. Clones share them.
#[derive(Clone)]
pub struct Credentials {
    directory: Arc<Path>,
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Credentials")
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// Reads `ca.pem`, `node.pem` and `node.key` of a directory.
    pub fn load(directory: &Path) -> Result<Self, CredentialsError> {
        // Before the files: a file that is replaced in between is read again later.
        let stamps = stamps(directory);
        let configs = read(directory)?;
        let state = State { configs, stamps, last_error: None };
        Ok(Self { directory: directory.into(), state: Arc::new(Mutex::new(state)) })
    }

    /// Why the present files are not in use, or `None` if they are.
    pub fn last_error(&self) -> Option<String> {
        self.state().last_error.clone()
    }

    /// What the certificate in use says.
    pub fn summary(&self) -> CertificateSummary {
        self.current().own.certificate.summary.clone()
    }

    /// Checks that the certificate has a role. The error says what to do.
    pub fn check_role(&self, role: Role) -> Result<(), String> {
        let (own, directory) = (self.current().own, self.directory.display());
        if own.certificate.has_role(role) {
            return Ok(());
        }
        let CertificateSummary { name, .. } = &own.certificate.summary;
        let (has, role) = (own.certificate.summary.roles_clause(), role.name());
        Err(format!(
            "the certificate in {directory} ({name:?}) {has}; this process is a {role}: \
             issue one with 'argiope certs issue NAME --role {role}'"
        ))
    }

    /// Checks that the certificate agrees with what this process says of itself. The others would
    /// refuse it. The error says what to do.
    pub fn check_hello(&self, hello: &Hello) -> Result<(), String> {
        self.check_role(hello.role)?;
        let (own, directory) = (self.current().own, self.directory.display());
        let Some(address) = hello.address.as_ref().filter(|_| hello.role == Role::Controller)
        else {
            return Ok(());
        };
        let host = host_of(address);
        if own.certificate.names_host(host) {
            return Ok(());
        }
        let CertificateSummary { name, .. } = &own.certificate.summary;
        let names = own.certificate.summary.hosts_clause();
        Err(format!(
            "the certificate in {directory} ({name:?}) {names}, and others are to dial {host:?}: \
             give --advertise with a host that it names, or issue one with --host {host}"
        ))
    }

    /// What the operator must do soon: the present files cannot be used, or the certificate ends.
    pub fn notice(&self) -> Option<String> {
        let own = self.current().own;
        let directory = self.directory.display();
        if let Some(error) = self.last_error() {
            return Some(format!("new certificates are not used: {error}"));
        }
        let CertificateSummary { name, valid_until, .. } = &own.certificate.summary;
        let days = valid_until.days_after(UtcTime::now());
        let ends = if days < 0 { "ended" } else { "ends" };
        (days < ANNOUNCED_DAYS).then(|| {
            format!(
                "the certificate in {directory} ({name:?}) {ends} on {valid_until}: \
                 renew it with 'argiope certs renew'"
            )
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The settings of a new connection. Invalid new files leave the old ones in use, because the
    /// three files are not replaced in one step.
    pub(crate) fn current(&self) -> Configs {
        let stamps = stamps(&self.directory);
        let mut state = self.state();
        if stamps.is_none() || stamps != state.stamps {
            match read(&self.directory) {
                Ok(configs) => {
                    state.configs = configs;
                    state.last_error = None;
                }
                Err(error) => state.last_error = Some(error.to_string()),
            }
            state.stamps = stamps;
        }
        state.configs.clone()
    }
}

/// `None` if one of the files is missing.
fn stamps(directory: &Path) -> Option<Stamps> {
    let stamp = |file: &&str| {
        let found = fs::metadata(directory.join(file)).ok()?;
        Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
    };
    FILES.iter().map(stamp).collect()
}

/// The certificates of a file; at least one.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, CredentialsError> {
    let pem = contents(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(unreadable(file, &pem::Error::NoItemsFound)),
        Ok(found) => Ok(found),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// The key of a file.
pub(crate) fn key(file: &Path) -> Result<PrivateKeyDer<'static>, CredentialsError> {
    PrivateKeyDer::from_pem_slice(&contents(file)?).map_err(|error| unreadable(file, &error))
}

fn contents(file: &Path) -> Result<Vec<u8>, CredentialsError> {
    fs::read(file).map_err(|error| CredentialsError::File { file: file.to_owned(), error })
}

fn unreadable(file: &Path, error: &pem::Error) -> CredentialsError {
    CredentialsError::Content { file: file.to_owned(), reason: error.to_string() }
}

fn read(directory: &Path) -> Result<Configs, CredentialsError> {
    let authority = certificates(&directory.join(AUTHORITY_FILE))?;
    let chain = certificates(&directory.join(CERTIFICATE_FILE))?;
    let key = key(&directory.join(KEY_FILE))?;
    configs(&authority, chain, key)
        .map_err(|reason| CredentialsError::Unfit { directory: directory.to_owned(), reason })
}

/// The settings of a certificate that all processes of the cluster trust.
fn configs(
    authorities: &[CertificateDer<'static>],
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Configs, String> {
    let unfit = |_: rustls::Error| {
        format!("the key in {KEY_FILE} is not that of the certificate in {CERTIFICATE_FILE}")
    };
    let broken = |error: rustls::Error| format!("TLS cannot be set up: {error}");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = Arc::new(Trust::new(authorities, Arc::clone(&provider))?);
    let certificate = chain.first().and_then(PeerCertificate::read);
    let certificate =
        certificate.ok_or_else(|| format!("{CERTIFICATE_FILE} is not a certificate"))?;
    let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(broken)?
        .with_client_cert_verifier(Arc::<Trust>::clone(&trust))
        .with_single_cert(chain.clone(), key.clone_key())
        .map_err(unfit)?;
    trust.check("the certificate", &chain[0], UtcTime::now())?;
    if certificate.summary.roles.is_empty() {
        return Err("the certificate has no role: an earlier version of argiope made it; \
             issue a new one with 'argiope certs issue NAME --role ROLE'"
            .to_owned());
    }
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(broken)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::<Trust>::clone(&trust))
        .with_client_auth_cert(chain, key)
        .map_err(unfit)?;
    // A resumed session would not present its certificate again. Connections are few and long.
    server.send_tls13_tickets = 0;
    client.resumption = Resumption::disabled();
    let own = Arc::new(OwnIdentity { certificate, trust });
    Ok(Configs { server: Arc::new(server), client: Arc::new(client), own })
}
