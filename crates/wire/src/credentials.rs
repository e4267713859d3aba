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
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig, version::TLS13};

/// The certificate of the cluster's authority.
pub const AUTHORITY_FILE: &str = "ca.pem";
/// The certificate of this process.
pub const CERTIFICATE_FILE: &str = "node.pem";
/// The key of this process.
pub const KEY_FILE: &str = "node.key";
const FILES: [&str; 3] = [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE];

/// The host name in every certificate of a cluster, which dialers ask for. A certificate of the
/// authority makes a process a member of the cluster, not its address: machines move and have
/// several names.
pub const COMMON_HOST: &str = "argiope";

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

/// The name that dialers ask for.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::try_from(COMMON_HOST).expect("it is a name")
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
    configs(authority, chain, key)
        .map_err(|reason| CredentialsError::Unfit { directory: directory.to_owned(), reason })
}

fn configs(
    authority: Vec<CertificateDer<'static>>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Configs, String> {
    let message = |error: rustls::Error| error.to_string();
    let mut roots = RootCertStore::empty();
    for certificate in authority {
        roots.add(certificate).map_err(message)?;
    }
    let roots = Arc::new(roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .build()
            .map_err(|error: VerifierBuilderError| error.to_string())?;
    let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(message)?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain.clone(), key.clone_key())
        .map_err(message)?;
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(message)?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .map_err(message)?;
    // A resumed session would not present its certificate again. Connections are few and long.
    server.send_tls13_tickets = 0;
    client.resumption = Resumption::disabled();
    Ok(Configs { server: Arc::new(server), client: Arc::new(client) })
}
