//! Probes and metrics over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::shared::Shared;

/// What the readiness probe depends on. The health of single kinds is no part of it.
#[derive(Debug, Default)]
pub struct Ready {
    /// The AIBOMs were looked through, or this process stands by.
    pub synced: AtomicBool,
    /// The configuration is valid, or need not be.
    pub configured: AtomicBool,
}

/// Opens an address; `:8080` means every interface, as the Go operator has it.
///
/// # Errors
/// The address is none, or taken.
pub async fn listen(address: &str) -> anyhow::Result<Option<TcpListener>> {
    if matches!(address, "0" | "") {
        return Ok(None);
    }
    let full = if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() };
    let parsed: SocketAddr =
        full.parse().with_context(|| format!("`{address}` is no address; write :8081 or 127.0.0.1:8081, or 0 for none"))?;
    TcpListener::bind(parsed).await.map(Some).with_context(|| format!("the address {address} cannot be listened on"))
}

/// Serves `/healthz` and `/readyz` until it is stopped.
pub async fn probes(listener: TcpListener, ready: Arc<Ready>, stop: CancellationToken) {
    let readyz = |State(ready): State<Arc<Ready>>| async move {
        let checks = [("synced", ready.synced.load(Ordering::Relaxed)), ("config-valid", ready.configured.load(Ordering::Relaxed))];
        let lines: Vec<String> = checks.iter().map(|(name, ok)| format!("[{}] {name}\n", if *ok { '+' } else { '-' })).collect();
        let text = lines.concat();
        let all = checks.iter().all(|(_, ok)| *ok);
        (if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, text)
    };
    let router = Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(readyz)).with_state(ready);
    serve(listener, router, stop).await;
}

/// Serves `/metrics` until it is stopped.
pub async fn metrics(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    async fn text(State(shared): State<Arc<Shared>>) -> Response {
        super::gauges::refresh(&shared);
        match shared.metrics.text() {
            Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
    serve(listener, Router::new().route("/metrics", get(text)).with_state(shared), stop).await;
}

async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await {
        tracing::error!(%error, "a server of probes or metrics ended");
    }
}
