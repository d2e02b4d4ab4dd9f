//! `k8s-aibom operator`: one AIBOM for every AI workload of the namespaces that are opted in, kept true.
//!
//! # Tasks
//!
//! ```text
//!  supervisor ── configuration, plugins, namespaces ──> lanes: one watch for each kind ──> scrape ──> world
//!                                                                                                       │ keys
//!  aiboms ── what is stored ────────────────────────────────────────────────────> world               queue
//!                                                                                                       ▼
//!  elector ── term ─────────────────────────────────────────────────────────────────────────────> workers ──> AIBOMs
//! ```
//!
//! * The [`world`] is what is known: facts of workloads, owners, digests of pods, and hashes of what is stored. It is pure, and so is the
//!   [`plan`] for one workload that is made out of it.
//! * Workers write, and nobody else does: an AIBOM with two requests, and none at all when it says already what it should.
//! * Every write looks at the term of the lease right before. A process that stands by reads nothing.

pub mod aiboms;
pub mod configuration;
pub mod desired;
pub mod events;
pub mod external;
pub mod failing;
pub mod flags;
pub mod gauges;
pub mod http;
pub mod lane;
pub mod lanes;
pub mod lease;
pub mod metrics;
pub mod plan;
pub mod queue;
pub mod refetch;
pub mod related;
pub mod schema;
pub mod scrape;
pub mod serving;
pub mod shared;
pub mod stored;
pub mod supervisor;
pub mod worker;
pub mod world;
pub mod writer;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aibom_api::config::PluginStatus;
use aibom_api::effective::Effective;
use aibom_plugin::{Host, HostConfig, Plugin};
use aibom_watch::{Client, Resource};
use anyhow::Context as _;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Api;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalogue::Catalogue;
use events::{Events, Type};
use flags::Flags;
use http::Ready;
use lease::{Elector, Term};
use metrics::Metrics;
use queue::Queue;
use serving::Serving;
use shared::Shared;
use supervisor::Supervisor;
use world::World;

/// Time for a read.
const PATIENCE: Duration = Duration::from_secs(30);

/// For so long our own definitions are waited for: they may be installed together with the controller.
const DEFINITIONS: Duration = Duration::from_secs(30);

/// Slots of the plugin engine: calls take well under a millisecond, and each slot keeps memory.
const SLOTS: usize = 4;

/// Runs the operator until it is told to stop.
///
/// # Errors
/// It could not be started, or has lost its lease: whoever runs it starts it again.
pub fn run(flags: Flags) -> anyhow::Result<()> {
    // Few threads: the work is waiting. Calls of plugins run on threads of their own, as many as there are slots.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(SLOTS + 4)
        .thread_keep_alive(Duration::from_secs(5))
        .enable_all()
        .build()
        .context("the runtime cannot be started")?;
    let outcome = runtime.block_on(operate(flags));
    // What still runs is a call of a plugin with a deadline, or a read that nobody waits for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

async fn operate(flags: Flags) -> anyhow::Result<()> {
    flags.warn_about_ignored();
    let probes = http::listen(&flags.health_probe_bind_address).await?;
    let metrics_address = http::listen(&flags.metrics_bind_address).await?;
    let identity = Identity::of(&flags);
    let client = connect(flags.kubeconfig.as_deref(), &identity.instance).await?;
    let stop = CancellationToken::new();
    let mut signals = (
        signal(SignalKind::terminate()).context("SIGTERM cannot be waited for")?,
        signal(SignalKind::interrupt()).context("SIGINT cannot be waited for")?,
    );

    let metrics = Metrics::new().context("the metrics cannot be registered")?;
    let (events, sending) = Events::new(client.inner().clone(), identity.instance.clone(), metrics.events_dropped.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(sending);
    let (elector, term) = if flags.leader_elect {
        let leases = Api::namespaced(client.inner().clone(), &identity.namespace);
        let (elector, term) = Elector::new(leases, identity.instance.clone());
        (Some(elector), term)
    } else {
        (None, Term::unlimited())
    };
    let empty = Arc::new(Serving::new(0, Vec::new(), Arc::new(Effective::default()), None));
    let shared = Arc::new(Shared {
        client,
        world: Mutex::new(World::new()),
        queue: Queue::new(),
        serving: watch::channel(empty).0,
        calls: Arc::new(Semaphore::new(SLOTS)),
        bulky_reads: Semaphore::new(1),
        bulky_writes: Semaphore::new(1),
        metrics,
        events,
        term: term.clone(),
        kinds_changed: Notify::new(),
        kinds_read: Notify::new(),
        related_changed: Notify::new(),
        cluster_uid: std::sync::OnceLock::new(),
    });
    let ready = Arc::new(Ready::default());
    if let Some(elector) = &elector {
        // A process that stands by is as ready as it will be; rollouts wait for it.
        let (mut stands_by, ready) = (elector.stands_by(), Arc::clone(&ready));
        tasks.spawn(async move {
            if stands_by.wait_for(|stands_by| *stands_by).await.is_ok() {
                ready.synced.store(true, Ordering::Relaxed);
                ready.configured.store(true, Ordering::Relaxed);
            }
        });
    }
    if let Some(listener) = probes {
        tasks.spawn(http::probes(listener, Arc::clone(&ready), stop.clone()));
    }
    if let Some(listener) = metrics_address {
        tasks.spawn(http::metrics(listener, Arc::clone(&shared), stop.clone()));
    }
    // The lease is given back when everything else has ended, so that two never write.
    let ended = CancellationToken::new();
    let mut election = tokio::spawn({
        let ended = ended.clone();
        async move {
            match elector {
                Some(elector) => elector.run(ended).await,
                None => ended.cancelled().await,
            }
        }
    });
    let work = lead(&flags, &identity, Arc::clone(&shared), term, ready, stop.clone());
    tokio::pin!(work);
    let (outcome, finished, why) = tokio::select! {
        outcome = &mut work => (outcome, true, "its work has ended"),
        _ = signals.0.recv() => (Ok(()), false, "SIGTERM"),
        _ = signals.1.recv() => (Ok(()), false, "SIGINT"),
        _ = &mut election => (Err(anyhow::anyhow!("the lease was lost")), false, "the lease was lost"),
    };
    tracing::info!(why, "the operator stops");
    stop.cancel();
    shared.queue.close();
    if !finished {
        // Writes that are under way may end; what waits is found again by whoever comes next.
        let _ = tokio::time::timeout(Duration::from_secs(12), work).await;
    }
    ended.cancel();
    if !election.is_finished() {
        let _ = tokio::time::timeout(Duration::from_secs(3), election).await;
    }
    tasks.shutdown().await;
    outcome
}

/// Waits for the lease, then does the work of the operator until it is stopped.
async fn lead(
    flags: &Flags,
    identity: &Identity,
    shared: Arc<Shared>,
    mut term: Term,
    ready: Arc<Ready>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    tokio::select! { () = term.begun() => {}, () = stop.cancelled() => return Ok(()) }
    if let Some(pod) = &identity.pod {
        let note = format!("k8s-aibom {} looks after the AIBOMs from now on", env!("CARGO_PKG_VERSION"));
        shared.events.tell(Type::Normal, "ControllerStarting", &note, pod.clone());
    }
    definitions_are_served(&shared.client, &stop).await?;
    let cluster_uid = cluster_uid(&shared.client, &stop).await;
    let _ = shared.cluster_uid.set(cluster_uid);
    let folder = crate::cli::plugin_folder(flags.plugins.clone())?;
    let (host, built_in, refused) = tokio::task::spawn_blocking(move || load(&folder)).await.context("plugins cannot be loaded")??;

    let mut tasks = JoinSet::new();
    let (synced, looked_through) = oneshot::channel();
    tasks.spawn(aiboms::follow(Arc::clone(&shared), synced, stop.clone()));
    // Nothing is looked at before it is known what is stored: everything would seem to be missing.
    tokio::select! { _ = looked_through => {}, () = stop.cancelled() => {} }
    let supervisor = Supervisor {
        shared: Arc::clone(&shared),
        host,
        built_in,
        refused,
        namespace: identity.namespace.clone(),
        pod: identity.pod.clone(),
        ready: Arc::clone(&ready),
        strict: flags.strict_config_readiness,
        per_namespace: flags.pod_watch_namespaces,
        probe: Duration::from_secs(flags.watch_probe_interval.into()),
    };
    tasks.spawn(supervisor.run(stop.clone()));
    tasks.spawn(related::follow(Arc::clone(&shared), stop.clone()));
    for _ in 0..flags.workers.clamp(1, 64) {
        tasks.spawn(worker::work(Arc::clone(&shared)));
    }
    ready.synced.store(true, Ordering::Relaxed);
    stop.cancelled().await;
    shared.queue.close();
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "a task of the operator ended badly");
        }
    }
    Ok(())
}

/// Who this process is.
struct Identity {
    instance: String,
    namespace: String,
    pod: Option<ObjectReference>,
}

impl Identity {
    fn of(flags: &Flags) -> Self {
        let namespace = flags.pod_namespace.clone();
        let pod = flags.pod_name.as_ref().map(|name| ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            namespace: Some(namespace.clone()),
            name: Some(name.clone()),
            uid: flags.pod_uid.clone(),
            ..ObjectReference::default()
        });
        // A container that was restarted in its pod is the same holder of the lease: the one before is gone.
        let instance = flags.pod_name.clone().unwrap_or_else(|| format!("k8s-aibom-{:08x}", fastrand::u32(..)));
        Self { instance, namespace, pod }
    }
}

/// A client that hides no failure and waits for nothing for ever.
async fn connect(kubeconfig: Option<&Path>, instance: &str) -> anyhow::Result<Client> {
    let mut config = match kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path).with_context(|| format!("the kubeconfig {} cannot be read", path.display()))?;
            kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .with_context(|| format!("the kubeconfig {} cannot be used", path.display()))?
        }
        None => kube::Config::infer()
            .await
            .context("no cluster was found: neither a kubeconfig nor a ServiceAccount of a pod; give --kubeconfig")?,
    };
    config.default_retry = false;
    let agent = format!("k8s-aibom/{} ({instance})", env!("CARGO_PKG_VERSION"));
    let agent = http_header(&agent).context("the name of the pod cannot stand in a header")?;
    config.headers.push((::http::header::USER_AGENT, agent));
    let client = kube::Client::try_from(config).context("the client of the API cannot be made")?;
    Ok(Client::new(client, PATIENCE))
}

fn http_header(text: &str) -> anyhow::Result<::http::HeaderValue> {
    Ok(::http::HeaderValue::from_str(text)?)
}

/// Waits until our own definitions are served in the version that this process knows.
///
/// # Errors
/// They are not, after a while: another version of them is installed, and this process can do nothing with it.
async fn definitions_are_served(client: &Client, stop: &CancellationToken) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        match schema::not_served(client).await {
            Ok(missing) if missing.is_empty() => return Ok(()),
            Ok(missing) if begun.elapsed() > DEFINITIONS => {
                anyhow::bail!("{}; install the definitions of version {} of k8s-aibom", missing.join("; "), env!("CARGO_PKG_VERSION"));
            }
            Ok(missing) => tracing::warn!(missing = missing.join("; "), "the definitions of k8s-aibom are waited for"),
            Err(failure) => tracing::warn!(%failure, "the definitions of k8s-aibom cannot be read yet"),
        }
        tokio::select! { () = tokio::time::sleep(Duration::from_secs(3)) => {}, () = stop.cancelled() => return Ok(()) }
    }
}

/// UID of the namespace that every cluster has, which is as good as one of the cluster. Documents are numbered by it.
async fn cluster_uid(client: &Client, stop: &CancellationToken) -> String {
    let path = Resource::new("", "v1", "namespaces", "Namespace").object_path(None, "kube-system");
    let mut backoff = aibom_watch::Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
    loop {
        let failure = match client.get::<serde_json::Value>(&path).await {
            Ok(namespace) => match namespace.pointer("/metadata/uid").and_then(|uid| uid.as_str()) {
                Some(uid) => return uid.to_owned(),
                None => "it has no UID".to_owned(),
            },
            Err(failure) => failure.to_string(),
        };
        tracing::warn!(failure, "the namespace kube-system, whose UID names the cluster, cannot be read yet");
        tokio::select! { () = tokio::time::sleep(backoff.next_wait()) => {}, () = stop.cancelled() => return String::new() }
    }
}

type Loaded = (Host, Vec<Plugin>, Vec<PluginStatus>);

/// Loads the built-in plugins. One that is refused takes its kinds with it, and the status says so.
fn load(folder: &Path) -> anyhow::Result<Loaded> {
    let host = Host::new(HostConfig { slots: SLOTS, ..HostConfig::default() })?;
    let (catalogue, errors) = Catalogue::load(&host, folder)?;
    let refused = errors
        .into_iter()
        .map(|error| {
            tracing::error!(%error, "a built-in plugin cannot be used");
            PluginStatus {
                name: error.plugin(),
                source: Some("BuiltIn".to_owned()),
                state: Some("Rejected".to_owned()),
                message: Some(error.to_string()),
                ..PluginStatus::default()
            }
        })
        .collect();
    Ok((host, catalogue.plugins().to_vec(), refused))
}
