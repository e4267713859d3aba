//! Which certificates a process trusts, and the sentences that say why it does not trust one.
//!
//! rustls verifies the authority's signature and the validity during the TLS handshake. Roles and
//! hosts are compared after it, with the hello, so that both sides learn the reason. Knows nothing
//! of files or sockets.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use tokio_rustls::rustls::crypto::{self, CryptoProvider};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use tokio_rustls::rustls::{
    self, AlertDescription, CertificateError, DigitallySignedStruct, DistinguishedName, OtherError,
    RootCertStore, SignatureScheme,
};

use crate::certificate::{CertificateSummary, UtcTime, is_reserved};
use crate::hello::{Hello, Role};

/// How to replace a certificate that has ended.
const RENEW: &str = "renew it with 'argiope certs renew'";

/// The sentence about a certificate that is not trusted, on its way through rustls.
#[derive(Debug)]
struct NotTrusted(String);

impl fmt::Display for NotTrusted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotTrusted {}

/// The authorities that a process trusts.
#[derive(Debug)]
pub(crate) struct Trust {
    roots: Arc<RootCertStore>,
    /// Verifies certificates of dialers.
    dialers: Arc<dyn ClientCertVerifier>,
    provider: Arc<CryptoProvider>,
    /// The names of the authorities, as in `"argiope authority 1a2b-3c4d"`.
    names: String,
}

impl Trust {
    /// Trusts authorities. The error says why one of them is no authority.
    pub(crate) fn new(
        authorities: &[CertificateDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        let mut names: Vec<String> = Vec::new();
        let broken = || "the authority's certificate cannot be read".to_owned();
        for authority in authorities {
            roots.add(authority.clone()).map_err(|_| broken())?;
            let name = CertificateSummary::read(authority).ok_or_else(broken)?.name;
            names.push(format!("{name:?}"));
        }
        let roots = Arc::new(roots);
        let dialers =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let dialers = dialers.build().map_err(|_| broken())?;
        Ok(Self { roots, dialers, provider, names: names.join(" or ") })
    }

    /// Checks that the other processes of the cluster trust a certificate at a moment. `whose`
    /// names it in the error.
    pub(crate) fn check(
        &self,
        whose: &str,
        certificate: &CertificateDer<'_>,
        at: UtcTime,
    ) -> Result<(), String> {
        let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(at.to_unix()));
        match self.dialers.verify_client_cert(certificate, &[], at) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.reason(whose, certificate, &error)),
        }
    }

    /// Says why a certificate is not trusted.
    fn reason(
        &self,
        whose: &str,
        certificate: &CertificateDer<'_>,
        error: &rustls::Error,
    ) -> String {
        let expected = &self.names;
        let Some(CertificateSummary { name, authority, valid_from, valid_until, .. }) =
            CertificateSummary::read(certificate)
        else {
            return format!("{whose} cannot be read; this side expects one from {expected}");
        };
        match error {
            rustls::Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            ) => format!("{whose} ({name:?}, from {authority:?}) ended on {valid_until}; {RENEW}"),
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
            ) => format!(
                "{whose} ({name:?}, from {authority:?}) is valid from {valid_from}; \
                 the clock of this side says {}",
                UtcTime::now()
            ),
            _ if !expected.contains(&format!("{authority:?}")) => {
                format!("{whose} is from {authority:?}; this side expects one from {expected}")
            }
            rustls::Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            ) => format!("{whose} says that it is from {authority:?}, which did not sign it"),
            _ => format!("{whose} is not of the kind that {expected} issues"),
        }
    }

    fn not_trusted(
        &self,
        certificate: &CertificateDer<'_>,
        error: &rustls::Error,
    ) -> rustls::Error {
        let reason = self.reason("the certificate of the other side", certificate, error);
        CertificateError::Other(OtherError(Arc::new(NotTrusted(reason)))).into()
    }
}

/// For certificates of acceptors.
impl ServerCertVerifier for Trust {
    /// Verifies the signature and the validity. [`PeerCertificate::check`] verifies the names.
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = ParsedCertificate::try_from(end_entity).and_then(|parsed| {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &self.roots,
                intermediates,
                now,
                algorithms,
            )
        });
        verified.map_err(|error| self.not_trusted(end_entity, &error))?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// For certificates of dialers.
impl ClientCertVerifier for Trust {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.dialers.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let verified = self.dialers.verify_client_cert(end_entity, intermediates, now);
        verified.map_err(|error| self.not_trusted(end_entity, &error))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.dialers.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.dialers.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.dialers.supported_verify_schemes()
    }
}

/// What this side has in a TLS handshake: its certificate, and the authorities that it trusts.
#[derive(Debug)]
pub(crate) struct OwnIdentity {
    pub(crate) certificate: PeerCertificate,
    pub(crate) trust: Arc<Trust>,
}

impl OwnIdentity {
    /// Says why a TLS handshake failed, without the names that rustls has for it.
    pub(crate) fn explain(&self, error: &rustls::Error) -> String {
        let expected = &self.trust.names;
        match error {
            rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(reason))) => {
                reason.to_string()
            }
            rustls::Error::NoCertificatesPresented => {
                format!(
                    "the other side presented no certificate; this side expects one from {expected}"
                )
            }
            rustls::Error::InvalidMessage(_) | rustls::Error::PeerSentOversizedRecord => format!(
                "the other side does not use TLS: it has no certificate, or it is not argiope; \
                 this side expects a certificate from {expected}"
            ),
            rustls::Error::AlertReceived(alert) => self.explain_alert(*alert),
            error => explain_without_identity(error),
        }
    }

    fn explain_alert(&self, alert: AlertDescription) -> String {
        let CertificateSummary { name, authority, valid_until, .. } = &self.certificate.summary;
        let is_about_certificate = matches!(
            alert,
            AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied
                | AlertDescription::DecryptError
        );
        if !is_about_certificate {
            return explain_without_identity(&rustls::Error::AlertReceived(alert));
        }
        if *valid_until < UtcTime::now() {
            return format!(
                "the certificate of this side ({name:?}, from {authority:?}) \
                 ended on {valid_until}; {RENEW}"
            );
        }
        format!(
            "the other side does not trust the certificate of this side \
             ({name:?}, from {authority:?}, valid until {valid_until})"
        )
    }
}

/// Says why TLS failed, where nothing is known of this side's certificate.
pub(crate) fn explain_without_identity(error: &rustls::Error) -> String {
    match error {
        rustls::Error::AlertReceived(alert) => {
            format!("the other side ended the TLS connection (alert {})", u8::from(*alert))
        }
        rustls::Error::PeerIncompatible(_) => "the other side does not support TLS 1.3".to_owned(),
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
            "the certificate of the other side is not trusted".to_owned()
        }
        rustls::Error::General(reason) => format!("TLS failed on this side: {reason}"),
        rustls::Error::FailedToGetRandomBytes | rustls::Error::FailedToGetCurrentTime => {
            "TLS failed on this side: the system has no random bytes or no clock".to_owned()
        }
        _ => "the other side does not follow the TLS protocol".to_owned(),
    }
}

/// A certificate whose signature and validity are verified, or this side's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerCertificate {
    der: CertificateDer<'static>,
    pub(crate) summary: CertificateSummary,
}

impl PeerCertificate {
    /// Reads a certificate; `None` if that is no certificate.
    pub(crate) fn read(certificate: &CertificateDer<'_>) -> Option<Self> {
        let summary = CertificateSummary::read(certificate)?;
        Some(Self { der: certificate.clone().into_owned(), summary })
    }

    fn has_name(&self, name: &str) -> bool {
        let Ok(name) = ServerName::try_from(name) else { return false };
        ParsedCertificate::try_from(&self.der)
            .is_ok_and(|parsed| verify_server_name(&parsed, &name).is_ok())
    }

    /// Whether its holder may have a role.
    pub(crate) fn has_role(&self, role: Role) -> bool {
        self.has_name(&role.certified_name())
    }

    /// Whether it names a host.
    pub(crate) fn names_host(&self, host: &str) -> bool {
        !is_reserved(host) && self.has_name(host)
    }

    /// Checks that the other side may be what it says, and is the host that was dialled. The error
    /// is the reason of the refusal.
    pub(crate) fn check(&self, hello: &Hello, dialled: Option<&str>) -> Result<(), String> {
        let CertificateSummary { name, roles, .. } = &self.summary;
        if roles.is_empty() {
            return Err(format!(
                "its certificate {name:?} has no role; \
                 issue a new one with 'argiope certs issue --role ROLE'"
            ));
        }
        if !self.has_role(hello.role) {
            let role = hello.role.name();
            let has = self.summary.roles_clause();
            return Err(format!("it says that it is a {role}; its certificate {name:?} {has}"));
        }
        let names = self.summary.hosts_clause();
        if let (Role::Controller, Some(address)) = (hello.role, &hello.address)
            && !self.names_host(host_of(address))
        {
            return Err(format!(
                "it says that others reach it at {address:?}; its certificate {name:?} {names}"
            ));
        }
        let Some(dialled) = dialled else { return Ok(()) };
        if hello.role != Role::Controller {
            return Err(format!("it is a {}, not a controller", hello.role.name()));
        }
        if !self.names_host(dialled) {
            return Err(format!(
                "the dialer reached it at {dialled:?}; its certificate {name:?} {names}"
            ));
        }
        Ok(())
    }
}

/// An address without its port, and an IPv6 address without its brackets.
pub(crate) fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_has_no_port_and_no_brackets() {
        assert_eq!(host_of("10.0.0.1:7400"), "10.0.0.1");
        assert_eq!(host_of("one.example:7400"), "one.example");
        assert_eq!(host_of("[2001:db8::1]:7400"), "2001:db8::1");
    }
}
