//! The certificates of this process, and what TLS makes of them.
//!
//! The files are looked at for every new connection and read again when they were exchanged, so that
//! certificates can be renewed without a restart. Knows nothing of sockets, and not how the files were made.

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
/// The key that belongs to it.
pub const KEY_FILE: &str = "node.key";
const FILES: [&str; 3] = [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE];

/// The name that is in every certificate of a cluster and that dialers ask for. A member is who has a
/// certificate of the cluster's authority, not who is at an address: machines move, and are reached by
/// several names.
pub const COMMON_HOST: &str = "argiope";

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{} does not hold what it should: {reason}", file.display())]
    Content {
        /// Which.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The files cannot be used together.
    #[error("the certificates in {} cannot be used: {reason}", directory.display())]
    Unfit {
        /// Where they are.
        directory: PathBuf,
        /// What is wrong with them.
        reason: String,
    },
}

/// What new connections are made with.
#[derive(Clone)]
pub(crate) struct Configs {
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) client: Arc<ClientConfig>,
}

/// How a file is told from the one that was exchanged for it: its inode, size, and last change.
type Stamps = Vec<(u64, u64, i64, i64)>;

struct State {
    configs: Configs,
    /// Of the files that were looked at last, whether or not they could be used.
    stamps: Option<Stamps>,
    last_error: Option<String>,
}

/// The certificates of a directory; clones are the same ones.
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
        // Before the files: if one is exchanged in between, it is read again for the next connection.
        let stamps = stamps(directory);
        let configs = read(directory)?;
        let state = State { configs, stamps, last_error: None };
        Ok(Self { directory: directory.into(), state: Arc::new(Mutex::new(state)) })
    }

    /// Why the files that are there now are not the ones in use; `None` if they are.
    pub fn last_error(&self) -> Option<String> {
        self.state().last_error.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to make a new connection with. New files that cannot be used leave the old ones in use: the
    /// three are not exchanged in one moment.
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
    let said = |error: rustls::Error| error.to_string();
    let mut roots = RootCertStore::empty();
    for certificate in authority {
        roots.add(certificate).map_err(said)?;
    }
    let roots = Arc::new(roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .build()
            .map_err(|error: VerifierBuilderError| error.to_string())?;
    let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(said)?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain.clone(), key.clone_key())
        .map_err(said)?;
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(said)?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .map_err(said)?;
    // A resumed session would not show its certificate again. Connections are few and long.
    server.send_tls13_tickets = 0;
    client.resumption = Resumption::disabled();
    Ok(Configs { server: Arc::new(server), client: Arc::new(client) })
}
