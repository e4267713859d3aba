//! Warns the operator about the certificates of this process, before other processes refuse it.

use std::time::Duration;

use tokio::time::Instant;

use super::connections::Switch;

/// The time between two looks at the files.
const PERIOD: Duration = Duration::from_secs(60);
/// The time after which a warning is repeated.
const REPEATED: Duration = Duration::from_secs(24 * 60 * 60);

/// Logs a warning while the certificate ends soon or new files cannot be used, until the task is
/// aborted.
pub async fn watch(switch: Switch) {
    let Some(credentials) = switch.transport.credentials() else { return };
    let mut said: Option<(String, Instant)> = None;
    loop {
        let notice = credentials.notice();
        let is_known = said
            .as_ref()
            .is_some_and(|(last, at)| notice.as_ref() == Some(last) && at.elapsed() < REPEATED);
        if !is_known {
            said = notice.map(|notice| {
                tracing::warn!("{notice}");
                (notice, Instant::now())
            });
        }
        tokio::time::sleep(PERIOD).await;
    }
}
