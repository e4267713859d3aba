//! The authorities that this machine trusts, for connections to servers outside.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Where distributions keep the list.
const LISTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A connector that trusts whom this machine trusts; `None` if it has no list.
pub(super) fn connector() -> Option<TlsConnector> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let lists = named.into_iter().chain(LISTS.map(PathBuf::from));
    let roots = lists.filter_map(|list| {
        let certificates = CertificateDer::pem_file_iter(list).ok()?.filter_map(Result::ok);
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        Some(roots).filter(|roots| !roots.is_empty())
    });
    let roots = roots.into_iter().next()?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().ok()?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(TlsConnector::from(Arc::new(config)))
}
