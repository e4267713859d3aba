//! Metrics and health of a controller over HTTP, on loopback only.

use std::net::SocketAddr;
use std::sync::Arc;

use argiope_runtime::cluster::controller::Metrics;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

use argiope::failure::CommandFailure;

/// Serves `/metrics` and `/health` until the process ends.
pub async fn serve(address: SocketAddr, metrics: Arc<Metrics>) -> Result<(), CommandFailure> {
    if !address.ip().is_loopback() {
        return Err(CommandFailure::Input(format!(
            "--metrics {address}: it must be a loopback address"
        )));
    }
    let listener = tokio::net::TcpListener::bind(address).await;
    let listener =
        listener.map_err(|error| CommandFailure::Input(format!("--metrics {address}: {error}")))?;
    let numbers = metrics.clone();
    let health = move || async move {
        if metrics.is_well() {
            (StatusCode::OK, "well\n")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "not well\n")
        }
    };
    let app = Router::new()
        .route("/metrics", get(move || async move { numbers.text() }))
        .route("/health", get(health));
    tokio::spawn(async move {
        // The server ends with the process.
        let _ = axum::serve(listener, app).await;
    });
    Ok(())
}
