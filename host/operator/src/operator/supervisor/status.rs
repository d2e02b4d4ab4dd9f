//! What the supervisor says in the status of the configuration.

use std::sync::Arc;
use std::time::Duration;

use aibom_api::config::{AibomControllerConfigStatus, KindStatus, PluginStatus};
use aibom_api::kinds::GroupKind;
use aibom_api::{CONFIG_NAME, GROUP, VERSION, conditions};
use aibom_plugin::Plugin;
use aibom_watch::kinds::Health;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::kinds::{DISCOVERY, advice, remark, time_of};
use super::{State, Supervisor};
use crate::operator::serving::Serving;
use crate::operator::writer::FIELD_MANAGER;

/// What is said of a kind that no scraper reads.
fn followed(message: Option<String>) -> String {
    let why = "followed for who owns whom, by metadata only; no AIBOM is made of it";
    message.map_or_else(|| why.to_owned(), |message| format!("{why}; {message}"))
}

/// Counts of objects are written no more often than this, and only when they are others.
const COUNTED: Duration = Duration::from_mins(1);

impl Supervisor {
    /// Writes the status of the configuration when it says something else than what was written.
    pub(super) async fn tell_status(&self, state: &mut State) {
        // Counts change with every object, and nobody tells of them.
        state.tell_at = Some(Instant::now() + COUNTED);
        if !state.configuration.exists() || self.shared.term.left().is_none() {
            return;
        }
        let now = Time(Timestamp::now());
        let status = self.status(state, &now);
        let wanted = plain(&status);
        let stored: Option<AibomControllerConfigStatus> =
            state.configuration.stored_status().and_then(|status| serde_json::from_value(status.clone()).ok());
        let written = state.written.clone().or_else(|| stored.map(|stored| plain(&stored)));
        let same = |written: &Value| *written == wanted || (without_counts(written) == without_counts(&wanted) && !state.counts_are_due());
        if written.as_ref().is_some_and(same) {
            state.written = written;
            return;
        }
        let body = json!({ "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "AIBOMControllerConfig", "metadata": { "name": CONFIG_NAME }, "status": &status });
        let api: Api<aibom_api::config::AibomControllerConfig> = Api::all(self.shared.client.inner().clone());
        let params = PatchParams::apply(FIELD_MANAGER).force();
        match tokio::time::timeout(Duration::from_secs(10), api.patch_status(CONFIG_NAME, &params, &Patch::Apply(body))).await {
            Ok(Ok(_)) => {
                state.written = Some(wanted);
                state.counted_at = Instant::now();
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the status of the configuration could not be written");
                state.tell_at = Some(Instant::now() + Duration::from_secs(30));
            }
            Err(_) => state.tell_at = Some(Instant::now() + Duration::from_secs(30)),
        }
    }

    fn status(&self, state: &State, now: &Time) -> AibomControllerConfigStatus {
        let configuration = &state.configuration;
        let stored: AibomControllerConfigStatus =
            configuration.stored_status().and_then(|status| serde_json::from_value(status.clone()).ok()).unwrap_or_default();
        let serving = self.shared.serving();
        let mut kinds = self.kinds(state, &serving, &stored, now);
        let unhealthy: Vec<String> = kinds.iter().filter(|kind| kind.health.as_deref() == Some("Unhealthy")).map(in_condition).collect();
        let idle = absent(state, &stored, &mut kinds, now);
        let mut plugins = self.plugins(state, &serving);
        let idle: Vec<String> = idle.into_iter().chain(without_effect(&serving, &mut plugins)).collect();
        self.count_plugins(&plugins);
        let mut all = stored.conditions.clone();
        for wanted in configuration.conditions(&unhealthy, &idle) {
            conditions::set(&mut all, &wanted, now);
        }
        AibomControllerConfigStatus {
            conditions: all,
            observed_generation: configuration.generation(),
            last_loaded_at: if configuration.is_valid() && stored.observed_generation != configuration.generation() {
                Some(now.clone())
            } else {
                stored.last_loaded_at.clone().or_else(|| configuration.is_valid().then(|| now.clone()))
            },
            effective_configuration: Some(configuration.effective().to_spec()),
            effective_configuration_hash: Some(configuration.effective().hash()),
            kinds,
            plugins,
        }
    }

    fn kinds(&self, state: &State, serving: &Serving, stored: &AibomControllerConfigStatus, now: &Time) -> Vec<KindStatus> {
        let counts = self.shared.world().counts();
        let mut kinds: Vec<KindStatus> = state
            .driver
            .views()
            .filter_map(|(kind, view)| {
                // What was never there is not spoken of.
                let health = view.health.as_ref()?;
                let known = stored.kinds.iter().find(|known| known.group == kind.group && known.kind == kind.kind);
                // As long as nothing is known, what was known last stands: a restart is no news.
                let last = known.filter(|known| *health == Health::Starting && known.health.is_some());
                let word = last.and_then(|known| known.health.as_deref()).unwrap_or(health.as_str());
                let same = known.filter(|known| known.health.as_deref() == Some(word) && known.state.as_deref() == Some(view.state));
                let told = |message| if state.followed.contains(kind) { Some(followed(message)) } else { message };
                let (cause, message) = match (last, health) {
                    (Some(known), _) => (known.cause.clone(), known.message.clone()),
                    (None, Health::Unhealthy(trouble)) => (Some(trouble.cause.to_owned()), told(Some(advice(kind, trouble, Some(&view))))),
                    (None, Health::Disabled(why)) => (Some(why.as_str().to_owned()), told(remark(kind, &view))),
                    (None, _) => (None, told(remark(kind, &view))),
                };
                let plugin = serving.catalogue.plugin_of(&kind.group, &kind.kind);
                let objects = counts.get(kind).copied().unwrap_or(0);
                Some(KindStatus {
                    group: kind.group.clone(),
                    kind: kind.kind.clone(),
                    version: view.choice.as_ref().map(|choice| choice.resource.version.clone()),
                    state: Some(view.state.to_owned()),
                    health: Some(word.to_owned()),
                    cause,
                    message,
                    since: same
                        .and_then(|known| known.since.clone())
                        .or_else(|| view.since.and_then(time_of).map(Time))
                        .or(Some(now.clone())),
                    // Before everything was read it is no count.
                    objects: last.and_then(|known| known.objects).or_else(|| i64::try_from(objects).ok()),
                    plugin: plugin.map(|plugin| plugin.description().name.clone()),
                    plugin_digest: plugin.map(|plugin| format!("sha256:{}", plugin.digest())),
                })
            })
            .collect();
        if let Some((Health::Unhealthy(trouble), since)) = state.driver.discovery() {
            kinds.push(KindStatus {
                group: "apiextensions.k8s.io".to_owned(),
                kind: DISCOVERY.to_owned(),
                health: Some("Unhealthy".to_owned()),
                cause: Some(trouble.cause.to_owned()),
                message: Some(format!(
                    "definitions of kinds cannot be read, so that kinds that come, change or go are not noticed; those that are watched stay so. Details: {}",
                    trouble.message
                )),
                since: time_of(since).map(Time),
                ..KindStatus::default()
            });
        }
        kinds
    }

    fn plugins(&self, state: &State, serving: &Serving) -> Vec<PluginStatus> {
        let serves = |plugin: &Plugin| serving.effective.uses_plugin(&plugin.description().name);
        let built_in = self.built_in.iter().map(|plugin| {
            let description = plugin.description();
            PluginStatus {
                name: description.name.clone(),
                source: Some("BuiltIn".to_owned()),
                state: Some(if serves(plugin) { "Serving" } else { "Disabled" }.to_owned()),
                version: Some(description.version.clone()),
                digest: Some(format!("sha256:{}", plugin.digest())),
                kinds: description.kinds.iter().map(|kind| GroupKind::new(&kind.group, &kind.kind).to_string()).collect(),
                ..PluginStatus::default()
            }
        });
        let mut all: Vec<PluginStatus> = built_in.chain(self.refused.iter().cloned()).collect();
        for status in state.external.status(serves) {
            // A plugin from outside may have the name of a built-in one; the list is kept by name.
            let taken = all.iter().any(|known| known.name == status.name);
            let source = status.source.clone().unwrap_or_default();
            all.push(if taken { PluginStatus { name: format!("{} ({source})", status.name), ..status } } else { status });
        }
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all
    }

    fn count_plugins(&self, plugins: &[PluginStatus]) {
        self.shared.metrics.plugins.reset();
        for plugin in plugins {
            self.shared.metrics.plugins.with_label_values(&[&plugin.name, plugin.state.as_deref().unwrap_or_default()]).set(1);
        }
    }
}

/// One kind in the message of a condition.
fn in_condition(kind: &KindStatus) -> String {
    let since = kind.since.as_ref().map(|since| format!(" since {}", since.0)).unwrap_or_default();
    let cause = kind.cause.as_deref().unwrap_or("unknown");
    format!("{}: {cause}{since}. {}", GroupKind::new(&kind.group, &kind.kind), kind.message.as_deref().unwrap_or_default())
}

impl State {
    fn counts_are_due(&self) -> bool {
        self.counted_at.elapsed() >= COUNTED
    }
}

/// Kinds that the configuration names and the cluster does not serve: each has its entry in the status. Says so for people.
fn absent(state: &State, stored: &AibomControllerConfigStatus, kinds: &mut Vec<KindStatus>, now: &Time) -> Vec<String> {
    let effective = state.configuration.effective();
    let named = effective.workload_kinds.iter().flatten().map(|kind| ("spec.discovery.workloadKinds", kind.clone()));
    let templates = effective.pod_template_kinds.iter().map(|known| GroupKind::new(&known.group, &known.kind));
    let named = named.chain(templates.map(|kind| ("spec.discovery.podTemplateKinds", kind)));
    let mut told = Vec::new();
    for (path, kind) in named.filter(|(_, kind)| state.driver.is_absent(&Arc::new(kind.clone()))) {
        told.push(format!("{path}: the cluster does not serve {kind}"));
        if kinds.iter().any(|known| known.group == kind.group && known.kind == kind.kind) {
            continue;
        }
        let known = stored.kinds.iter().find(|known| known.group == kind.group && known.kind == kind.kind);
        let same = known.filter(|known| known.state.as_deref() == Some("Absent"));
        kinds.push(KindStatus {
            group: kind.group,
            kind: kind.kind,
            state: Some("Absent".to_owned()),
            message: Some("the cluster does not serve this kind; it is looked at as soon as its definition comes".to_owned()),
            since: Some(same.and_then(|known| known.since.clone()).unwrap_or_else(|| now.clone())),
            ..KindStatus::default()
        });
    }
    told
}

/// Settings of plugins that nothing takes: those of a plugin that there is not, and kinds that a plugin does not read. Each is said in the
/// entry of the plugin, and for people.
fn without_effect(serving: &Serving, plugins: &mut Vec<PluginStatus>) -> Vec<String> {
    let mut told = Vec::new();
    let names: Vec<String> = plugins.iter().map(|plugin| plugin.name.clone()).collect();
    for settings in &serving.effective.plugins {
        let Some(plugin) = plugins.iter_mut().find(|plugin| plugin.name == settings.name) else {
            let message = format!("there is no plugin of this name; there are {}", names.join(", "));
            told.push(format!("spec.plugins[{}]: {message}", settings.name));
            plugins.push(PluginStatus {
                name: settings.name.clone(),
                state: Some("NotFound".to_owned()),
                message: Some(message),
                ..PluginStatus::default()
            });
            continue;
        };
        // Of one that was rejected it is not known what it reads.
        let unknown: Vec<&str> = settings
            .kinds
            .iter()
            .filter(|_| !plugin.kinds.is_empty())
            .filter(|kind| kind.parse::<GroupKind>().is_ok_and(|kind| !plugin.kinds.contains(&kind.to_string())))
            .map(String::as_str)
            .collect();
        if !unknown.is_empty() {
            let message =
                format!("spec.plugins names {}, which it does not read; it reads {}", unknown.join(", "), plugin.kinds.join(", "));
            told.push(format!("spec.plugins[{}].kinds: {message}", settings.name));
            plugin.message.get_or_insert(message);
        }
    }
    plugins.sort_by(|left, right| left.name.cmp(&right.name));
    told
}

/// A status as [`plain`] has it without counts, which change all the time.
fn without_counts(plain: &Value) -> Value {
    let mut plain = plain.clone();
    for kind in plain.get_mut("kinds").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(kind) = kind.as_object_mut() {
            kind.remove("objects");
        }
    }
    plain
}

/// A status without what changes by itself: times.
fn plain(status: &AibomControllerConfigStatus) -> Value {
    let mut status = status.clone();
    status.last_loaded_at = None;
    for condition in &mut status.conditions {
        condition.last_transition_time = Time(Timestamp::UNIX_EPOCH);
    }
    for kind in &mut status.kinds {
        kind.since = None;
    }
    for plugin in &mut status.plugins {
        plugin.since = None;
    }
    serde_json::to_value(status).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    use aibom_api::config::PluginConfig;
    use aibom_api::effective::Effective;

    #[test]
    fn settings_of_a_plugin_that_there_is_not_and_kinds_that_one_does_not_read_are_told() {
        let settings = |name: &str, kinds: &[&str]| PluginConfig {
            name: name.to_owned(),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            ..PluginConfig::default()
        };
        let effective =
            Effective { plugins: vec![settings("wigdets", &[]), settings("widgets", &["example.com/Gadget"])], ..Effective::default() };
        let serving = Serving::new(1, Vec::new(), Arc::new(effective), None);
        let own = PluginStatus { name: "widgets".to_owned(), kinds: vec!["example.com/Widget".to_owned()], ..PluginStatus::default() };
        let mut plugins = vec![own];
        let told = without_effect(&serving, &mut plugins);
        assert_eq!(
            told,
            [
                "spec.plugins[wigdets]: there is no plugin of this name; there are widgets",
                "spec.plugins[widgets].kinds: spec.plugins names example.com/Gadget, which it does not read; it reads example.com/Widget"
            ]
        );
        let states: Vec<_> = plugins.iter().map(|plugin| (plugin.name.as_str(), plugin.state.as_deref())).collect();
        assert_eq!(states, [("widgets", None), ("wigdets", Some("NotFound"))]);
        assert!(plugins.iter().all(|plugin| plugin.message.is_some()));
    }
}
