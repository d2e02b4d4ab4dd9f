//! The one task that decides what is looked at: it follows configuration, namespaces and plugins, and has the watches of kinds started
//! and stopped.

mod kinds;
mod status;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aibom_api::config::PluginStatus;
use aibom_api::effective::{Effective, Section};
use aibom_api::kinds::GroupKind;
use aibom_api::{CONFIG_NAME, GROUP, VERSION};
use aibom_artifact::configmap::LABEL;
use aibom_extract::Rules;
use aibom_plugin::{Host, Plugin};
use aibom_watch::kinds::Driver;
use aibom_watch::{Accept, Event, Object, Resource, Scope, Settings, Watch};
use k8s_openapi::api::core::v1::ObjectReference;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::configuration::{Configuration, Told};
use super::events::Type;
use super::external::{Change, External};
use super::http::Ready;
use super::lane::Order;
use super::lanes::Lanes;
use super::schema;
use super::serving::{self, Allowed, Serving};
use super::shared::Shared;

/// Changes that come together are told together.
const TOGETHER: Duration = Duration::from_millis(500);

/// Longer than anything is waited for.
const LONG: Duration = Duration::from_hours(1);

/// What the supervisor is started with.
pub struct Supervisor {
    /// What the tasks share.
    pub shared: Arc<Shared>,
    /// The plugin host.
    pub host: Host,
    /// Plugins that came with the binary.
    pub built_in: Vec<Plugin>,
    /// Built-in plugins that were refused.
    pub refused: Vec<PluginStatus>,
    /// Namespace of the controller.
    pub namespace: String,
    /// The controller's own pod, for events.
    pub pod: Option<ObjectReference>,
    /// Probes.
    pub ready: Arc<Ready>,
    /// Whether the readiness probe asks for a valid configuration.
    pub strict: bool,
    /// Up to so many namespaces pods are watched in each of them.
    pub per_namespace: usize,
    /// Between probes of a kind.
    pub probe: Duration,
}

struct State {
    configuration: Configuration,
    external: External,
    driver: Driver<Arc<GroupKind>>,
    lanes: Lanes,
    /// Kinds that are followed for their owners only.
    followed: BTreeSet<Arc<GroupKind>>,
    rules: Option<Arc<Rules>>,
    round: u64,
    /// For which round kinds were last wanted.
    wanted: u64,
    /// Labels of all namespaces, for when the selector changes.
    labels: BTreeMap<String, BTreeMap<String, String>>,
    /// Status as it was written last, without times.
    written: Option<Value>,
    tell_at: Option<Instant>,
    /// Our own definitions have changed, and are compared then.
    compare_at: Option<Instant>,
    /// When counts of objects were written last.
    counted_at: Instant,
}

impl Supervisor {
    /// Runs until it is stopped.
    pub async fn run(self, stop: CancellationToken) {
        let driver = self.driver();
        let mut state = State {
            configuration: Configuration::default(),
            external: External::default(),
            lanes: Lanes::new(self.per_namespace, driver.signals()),
            driver,
            followed: BTreeSet::new(),
            rules: None,
            round: 0,
            wanted: 0,
            labels: BTreeMap::new(),
            written: None,
            tell_at: None,
            compare_at: None,
            counted_at: Instant::now(),
        };
        let client = || self.shared.client.clone();
        let quick = (Duration::from_secs(1), Duration::from_mins(1));
        let named = Settings { fields: Some(format!("metadata.name={CONFIG_NAME}")), backoff: quick, ..Settings::default() };
        let configs = Resource::new(GROUP, VERSION, "aibomcontrollerconfigs", "AIBOMControllerConfig");
        let mut configs = Watch::new(client(), configs, &Scope::Cluster, named);
        let labelled = Settings { labels: Some(format!("{LABEL}=true")), page: 1, backoff: quick, ..Settings::default() };
        let maps = Resource::new("", "v1", "configmaps", "ConfigMap");
        let mut maps = Watch::new(client(), maps, &Scope::Namespace(self.namespace.clone()), labelled);
        let metadata = Settings { accept: Accept::Metadata, page: 500, backoff: quick, ..Settings::default() };
        let mut namespaces = Watch::new(client(), Resource::new("", "v1", "namespaces", "Namespace"), &Scope::Cluster, metadata);

        // In this order: which plugins there are decides what the configuration may name, and both decide what is read.
        self.read_first(&mut state, &mut configs, &mut maps, &mut namespaces, &stop).await;
        let mut listed = Listed::default();
        while !stop.is_cancelled() {
            let tell_at = state.tell_at.unwrap_or_else(|| Instant::now() + LONG);
            let compare_at = state.compare_at.unwrap_or_else(|| Instant::now() + LONG);
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                event = configs.next() => self.config(&mut state, &mut listed, event).await,
                event = maps.next() => self.map(&mut state, &mut listed, event).await,
                event = namespaces.next() => self.namespace(&mut state, &mut listed, event).await,
                said = state.driver.next() => self.said(&mut state, said).await,
                () = sleep_until(compare_at), if state.compare_at.is_some() => {
                    state.compare_at = None;
                    self.missing_fields(&mut state).await;
                    state.tell_soon();
                }
                () = sleep_until(tell_at), if state.tell_at.is_some() => {
                    state.tell_at = None;
                    self.tell_status(&mut state).await;
                }
                () = self.shared.kinds_changed.notified() => state.tell_soon(),
            }
        }
        state.lanes.stop_all().await;
    }

    /// Reads plugins, configuration and namespaces once, before anything is looked at.
    async fn read_first(&self, state: &mut State, configs: &mut Watch, maps: &mut Watch, namespaces: &mut Watch, stop: &CancellationToken) {
        let mut listed = Listed::default();
        let next = async |watch: &mut Watch| {
            tokio::select! { () = stop.cancelled() => None, event = watch.next() => Some(event) }
        };
        while let Some(event) = next(maps).await {
            let last = matches!(event, Event::Synced | Event::Failed(_));
            self.put_map(state, &mut listed, event);
            if last {
                break;
            }
        }
        self.missing_fields(state).await;
        let mut object = None;
        while let Some(event) = next(configs).await {
            match event {
                Event::Listed(found) => object = serde_json::from_str::<Value>(found.text.get()).ok(),
                Event::Synced => break,
                Event::Failed(failure) => {
                    tracing::warn!(%failure, "the configuration could not be read; a controller that guessed would undo what an administrator wants");
                }
                _ => {}
            }
        }
        if let Some(object) = &object {
            state.configuration.restore(object);
        }
        self.put_config(state, object).await;
        let mut listed = Listed::default();
        while let Some(event) = next(namespaces).await {
            let last = matches!(event, Event::Synced);
            self.namespace(state, &mut listed, event).await;
            if last {
                break;
            }
        }
    }

    async fn config(&self, state: &mut State, listed: &mut Listed, event: Event) {
        match event {
            Event::Listing => listed.config = Some(Vec::new()),
            Event::Listed(object) => {
                if let Some(list) = &mut listed.config {
                    list.extend(serde_json::from_str::<Value>(object.text.get()));
                }
            }
            Event::Synced => {
                if let Some(list) = listed.config.take() {
                    self.put_config(state, list.into_iter().next()).await;
                }
            }
            Event::Applied(object) => {
                let object: Option<Value> = serde_json::from_str(object.text.get()).ok();
                // Our own status comes back as an event of the same generation.
                let generation = |object: &Value| object.pointer("/metadata/generation").and_then(Value::as_i64);
                let same = object.as_ref().and_then(generation) == state.configuration.generation() && state.configuration.exists();
                if same {
                    // What stands in the status now is compared with what should.
                    state.configuration.set_object(object);
                    state.written = None;
                    state.tell_soon();
                } else {
                    state.written = None;
                    self.put_config(state, object).await;
                }
            }
            Event::Deleted(_) => self.put_config(state, None).await,
            Event::Opened | Event::Unreadable(_) => {}
            Event::Failed(failure) => {
                self.shared.metrics.watch_errors.with_label_values(&[GROUP, "AIBOMControllerConfig"]).inc();
                tracing::warn!(%failure, "the configuration cannot be watched");
            }
        }
    }

    async fn put_config(&self, state: &mut State, object: Option<Value>) {
        if object.is_none() {
            state.written = None;
        }
        let known = self.known_kinds(state);
        let before = state.configuration.effective().clone();
        let (told, changed) = state.configuration.put(object, &known);
        self.tell_all(state, told);
        self.ready.configured.store(!self.strict || state.configuration.is_valid(), Ordering::Relaxed);
        if changed || state.round == 0 {
            self.renew(state, Some(&before)).await;
        }
        state.tell_soon();
    }

    async fn map(&self, state: &mut State, listed: &mut Listed, event: Event) {
        if self.put_map(state, listed, event) {
            let known = self.known_kinds(state);
            let (told, _) = state.configuration.again(&known);
            self.tell_all(state, told);
            self.renew(state, None).await;
        }
        state.tell_soon();
    }

    /// Takes over what a ConfigMap says; whether another set of plugins serves now.
    fn put_map(&self, state: &mut State, listed: &mut Listed, event: Event) -> bool {
        match event {
            Event::Listing => {
                listed.maps = Some(BTreeSet::new());
                false
            }
            Event::Listed(object) | Event::Applied(object) => {
                let Object { meta, text } = *object;
                if let Some(seen) = &mut listed.maps {
                    seen.insert(meta.name.clone());
                }
                let map = ObjectReference {
                    api_version: Some("v1".to_owned()),
                    kind: Some("ConfigMap".to_owned()),
                    namespace: Some(self.namespace.clone()),
                    name: Some(meta.name.clone()),
                    uid: Some(meta.uid.clone()),
                    ..ObjectReference::default()
                };
                // Compiling takes its time, and must not take that of everybody else.
                let change = tokio::task::block_in_place(|| state.external.put(&self.host, &meta, text.get()));
                match change {
                    Change::None => false,
                    Change::Loaded { name, digest } => {
                        let note = format!("the plugin {name} (sha256:{digest}) serves from now on");
                        self.shared.events.tell(Type::Normal, "PluginLoaded", &note, map);
                        true
                    }
                    Change::Rejected(rejected) => {
                        let note = format!("the plugin {} was rejected, step {}: {}", rejected.name, rejected.step, rejected.message);
                        tracing::warn!(plugin = rejected.name, step = rejected.step, "{}", rejected.message);
                        self.shared.events.tell(Type::Warning, "PluginRejected", &note, map);
                        false
                    }
                }
            }
            Event::Deleted(object) => state.external.remove(&object.meta.name).is_some(),
            Event::Synced => {
                let gone = listed.maps.take().map(|seen| state.external.gone(&seen)).unwrap_or_default();
                gone.iter().filter(|name| state.external.remove(name).is_some()).count() > 0
            }
            Event::Opened | Event::Unreadable(_) => false,
            Event::Failed(failure) => {
                self.shared.metrics.watch_errors.with_label_values(&["", "ConfigMap"]).inc();
                tracing::warn!(%failure, "plugins in ConfigMaps cannot be watched");
                false
            }
        }
    }

    async fn namespace(&self, state: &mut State, listed: &mut Listed, event: Event) {
        match event {
            Event::Listing => listed.namespaces = Some(HashSet::new()),
            Event::Listed(object) | Event::Applied(object) => {
                let meta = object.meta;
                if meta.deletion_timestamp.is_some() {
                    // Everything in it goes, and nothing can be made there any more.
                    self.shared.world().forget(&meta.name);
                    state.labels.remove(&meta.name);
                    return;
                }
                let wanted = state.configuration.effective().namespaces.match_labels(&meta.labels);
                let first = listed.namespaces.as_mut().map(|seen| seen.insert(meta.name.clone())).is_some();
                state.labels.insert(meta.name.clone(), meta.labels);
                self.opt(state, &meta.name, wanted, !first).await;
            }
            Event::Deleted(object) => {
                let name = object.meta.name;
                state.labels.remove(&name);
                self.opt(state, &name, false, true).await;
            }
            Event::Synced => {
                let Some(seen) = listed.namespaces.take() else { return };
                let gone: Vec<String> = state.labels.keys().filter(|name| !seen.contains(*name)).cloned().collect();
                for name in gone {
                    state.labels.remove(&name);
                    self.opt(state, &name, false, false).await;
                }
                self.fit(state).await;
            }
            Event::Opened | Event::Unreadable(_) => {}
            Event::Failed(failure) => {
                self.shared.metrics.watch_errors.with_label_values(&["", "Namespace"]).inc();
                tracing::warn!(%failure, "namespaces cannot be watched");
            }
        }
    }

    /// Opts a namespace in or out.
    async fn opt(&self, state: &mut State, namespace: &str, wanted: bool, fit: bool) {
        let touched = {
            let mut world = self.shared.world();
            if wanted {
                if !world.opt_in(namespace) {
                    return;
                }
                None
            } else {
                let Some(touched) = world.opt_out(namespace) else { return };
                Some(touched)
            }
        };
        tracing::info!(namespace, opted_in = wanted, "a namespace changed");
        match touched {
            Some(touched) => self.shared.look_at(touched),
            None => state.lanes.tell(&Order::Namespace(namespace.to_owned())),
        }
        if fit {
            self.fit(state).await;
        }
    }

    /// Kinds that can be read, whether or not they are.
    fn known_kinds(&self, state: &State) -> BTreeSet<GroupKind> {
        let external: Vec<Plugin> = state.external.plugins().map(|(plugin, _)| plugin).collect();
        let kinds = self.built_in.iter().chain(&external).flat_map(|plugin| &plugin.description().kinds);
        kinds.map(|kind| GroupKind::new(&kind.group, &kind.kind)).collect()
    }

    /// A new set of scrapers and rules, and what follows from it.
    async fn renew(&self, state: &mut State, before: Option<&Effective>) {
        let effective = Arc::new(state.configuration.effective().clone());
        let first = state.round == 0;
        let changed = before.map(|before| effective.changed_since(before)).unwrap_or_default();
        if first || changed.contains(&Section::Runtimes) || changed.contains(&Section::ImagePatterns) {
            match serving::rules(&effective.runtimes, &effective.image_patterns) {
                Ok(rules) => state.rules = rules,
                // They were checked before they became effective.
                Err(error) => tracing::error!(error, "the configured runtimes cannot be used; the earlier ones stay"),
            }
        }
        let read_anew = first
            || before.is_none()
            || changed.iter().any(|section| {
                matches!(
                    section,
                    Section::Runtimes | Section::Plugins | Section::ImagePatterns | Section::PodTemplateKinds | Section::WorkloadKinds
                )
            });
        if read_anew {
            state.round += 1;
        }
        let plugins: Vec<Allowed> = self.built_in.iter().map(|plugin| (plugin.clone(), None)).chain(state.external.plugins()).collect();
        let serving = Arc::new(Serving::new(state.round, plugins, Arc::clone(&effective), state.rules.clone()));
        self.shared.serving.send_replace(Arc::clone(&serving));
        crate::logging::set_level(effective.logging.level.as_str());
        self.want(state);
        if first {
            return;
        }
        if changed.contains(&Section::NamespaceSelector) {
            let labels: Vec<(String, bool)> =
                state.labels.iter().map(|(name, labels)| (name.clone(), effective.namespaces.match_labels(labels))).collect();
            for (name, wanted) in labels {
                self.opt(state, &name, wanted, false).await;
            }
        }
        if read_anew {
            state.lanes.tell(&Order::Again);
        }
        if changed.contains(&Section::BomGeneration) || changed.contains(&Section::WorkloadKinds) || changed.contains(&Section::Plugins) {
            let everything = self.shared.world().everything();
            self.shared.look_at(everything);
        }
    }

    fn tell_all(&self, state: &State, told: Vec<Told>) {
        let object = ObjectReference {
            api_version: Some(format!("{GROUP}/{VERSION}")),
            kind: Some("AIBOMControllerConfig".to_owned()),
            name: Some(CONFIG_NAME.to_owned()),
            uid: state.configuration.uid().map(str::to_owned),
            ..ObjectReference::default()
        };
        for told in told {
            if let Some(result) = told.result {
                self.shared.metrics.config_reloads.with_label_values(&[result]).inc();
            }
            let type_ = if told.good { Type::Normal } else { Type::Warning };
            if told.good {
                tracing::info!(reason = told.reason, "{}", told.note);
            } else {
                tracing::warn!(reason = told.reason, "{}", told.note);
            }
            let regarding = if told.about_object { Some(object.clone()) } else { self.pod.clone() };
            if let Some(regarding) = regarding {
                self.shared.events.tell(type_, told.reason, &told.note, regarding);
            }
        }
    }

    async fn missing_fields(&self, state: &mut State) {
        match schema::missing_fields(&self.shared.client).await {
            Ok(fields) => state.configuration.set_missing_fields(fields),
            Err(failure) => tracing::warn!(%failure, "the served definitions could not be compared with ours"),
        }
    }
}

/// What lists that are under way have told up to now.
#[derive(Default)]
struct Listed {
    config: Option<Vec<Value>>,
    maps: Option<BTreeSet<String>>,
    namespaces: Option<HashSet<String>>,
}

impl State {
    fn tell_soon(&mut self) {
        let soon = Instant::now() + TOGETHER;
        self.tell_at = Some(self.tell_at.map_or(soon, |at| at.min(soon)));
    }
}
