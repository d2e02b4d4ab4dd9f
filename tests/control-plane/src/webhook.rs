//! A conversion webhook that a test can stop, slow down and have lie.
//!
//! It listens on the loopback interface with the certificate that the API server has made for itself there, so that a definition names it
//! by URL and no Service is needed.

mod graph;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::cluster::ControlPlane;
use crate::error::{Error, Result};
use crate::ports;

pub use graph::convert as convert_graph;

/// Converts one object to a version, `group/version`.
pub type Convert = fn(&Value, &str) -> Value;

/// A conversion webhook.
pub struct Webhook {
    port: u16,
    certificate: Vec<u8>,
    tls: Arc<ServerConfig>,
    answers: Answers,
    running: Mutex<Option<Running>>,
}

struct Running {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

#[derive(Clone)]
struct Answers {
    convert: Convert,
    /// Milliseconds before each answer.
    delay: Arc<AtomicU64>,
    /// 1: objects come back as they were.
    lies: Arc<AtomicU64>,
    count: Arc<AtomicU64>,
}

impl Webhook {
    /// One that answers, for definitions of this control plane.
    ///
    /// # Errors
    /// The certificate cannot be read, or no port is free.
    pub fn start(plane: &ControlPlane, convert: Convert) -> Result<Self> {
        let fault = |error: &dyn std::fmt::Display| Error::Webhook(error.to_string());
        let file = plane.ca_file();
        let certificate = fs::read(&file).map_err(Error::file("read", &file))?;
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&certificate).collect::<Result<_, _>>().map_err(|error| fault(&error))?;
        let key = PrivateKeyDer::from_pem_file(file.with_extension("key")).map_err(|error| fault(&error))?;
        let tls = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|tls| tls.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| fault(&error))?;
        let [port] = ports::free()?;
        let answers = Answers { convert, delay: Arc::default(), lies: Arc::default(), count: Arc::default() };
        let webhook = Self { port, certificate, tls: Arc::new(tls), answers, running: Mutex::new(None) };
        webhook.resume()?;
        Ok(webhook)
    }

    /// The part `conversion` of a definition that is converted by it.
    pub fn conversion(&self) -> Value {
        json!({
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": { "url": format!("https://127.0.0.1:{}/convert", self.port), "caBundle": base64(&self.certificate) },
                "conversionReviewVersions": ["v1"],
            },
        })
    }

    /// Refuses connections from now on.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { stop, thread }) = running {
            drop(stop);
            // It ends with its runtime, and every connection with it.
            let _ = thread.join();
        }
    }

    /// Answers again, at the same place.
    ///
    /// # Errors
    /// The port was taken meanwhile.
    pub fn resume(&self) -> Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return Ok(());
        }
        let fault = |error: std::io::Error| Error::Webhook(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))).map_err(fault)?;
        let listener = Listener { tcp: listener, tls: TlsAcceptor::from(Arc::clone(&self.tls)) };
        let router = Router::new().route("/convert", post(answer)).with_state(self.answers.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    outcome = async { axum::serve(listener, router).await } => drop(outcome),
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        *running = Some(Running { stop, thread });
        Ok(())
    }

    /// Waits before each answer.
    pub fn delay(&self, time: Duration) {
        self.answers.delay.store(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether it gives objects back as they came, and says that they were converted.
    pub fn lie(&self, lies: bool) {
        self.answers.lies.store(lies.into(), Ordering::Relaxed);
    }

    /// Reviews it was asked for.
    pub fn reviews(&self) -> u64 {
        self.answers.count.load(Ordering::Relaxed)
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn answer(State(answers): State<Answers>, body: Bytes) -> String {
    answers.count.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(answers.delay.load(Ordering::Relaxed))).await;
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let request = &review["request"];
    let desired = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let lies = answers.lies.load(Ordering::Relaxed) > 0;
    let objects = request["objects"].as_array().into_iter().flatten();
    let converted: Vec<Value> = objects.map(|object| if lies { object.clone() } else { (answers.convert)(object, desired) }).collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "response": { "uid": request["uid"], "convertedObjects": converted, "result": { "status": "Success" } },
    })
    .to_string()
}

struct Listener {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            if let Ok((stream, address)) = self.tcp.accept().await
                && let Ok(stream) = self.tls.accept(stream).await
            {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

/// RFC 4648, as JSON has bytes.
fn base64(bytes: &[u8]) -> String {
    serde_json::to_value(k8s_openapi::ByteString(bytes.to_vec()))
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
