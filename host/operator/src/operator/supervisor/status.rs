//! What the supervisor says in the status of the configuration.

use std::time::Duration;

use aibom_api::config::{AibomControllerConfigStatus, KindStatus, PluginStatus};
use aibom_api::kinds::GroupKind;
use aibom_api::{CONFIG_NAME, GROUP, VERSION, conditions};
use aibom_plugin::Plugin;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{State, Supervisor};
use crate::operator::serving::Serving;
use crate::operator::writer::FIELD_MANAGER;

impl Supervisor {
    /// Writes the status of the configuration when it says something else than what was written.
    pub(super) async fn tell_status(&self, state: &mut State) {
        if !state.configuration.exists() || self.shared.term.left().is_none() {
            return;
        }
        let now = Time(Timestamp::now());
        let status = self.status(state, &now);
        let wanted = plain(&status);
        let stored: Option<AibomControllerConfigStatus> =
            state.configuration.stored_status().and_then(|status| serde_json::from_value(status.clone()).ok());
        let written = state.written.clone().or_else(|| stored.map(|stored| plain(&stored)));
        if written.as_ref() == Some(&wanted) {
            state.written = written;
            return;
        }
        let body = json!({ "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "AIBOMControllerConfig", "metadata": { "name": CONFIG_NAME }, "status": &status });
        let api: Api<aibom_api::config::AibomControllerConfig> = Api::all(self.shared.client.inner().clone());
        let params = PatchParams::apply(FIELD_MANAGER).force();
        match tokio::time::timeout(Duration::from_secs(10), api.patch_status(CONFIG_NAME, &params, &Patch::Apply(body))).await {
            Ok(Ok(_)) => state.written = Some(wanted),
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
        let kinds = self.kinds(&serving, &stored, now);
        let unhealthy: Vec<String> = kinds
            .iter()
            .filter(|kind| kind.health.as_deref() == Some("Unhealthy"))
            .map(|kind| format!("{}: {}", GroupKind::new(&kind.group, &kind.kind), kind.cause.as_deref().unwrap_or("unknown")))
            .collect();
        let mut all = stored.conditions.clone();
        for wanted in configuration.conditions(&unhealthy) {
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
            plugins: self.plugins(state, &serving),
        }
    }

    fn kinds(&self, serving: &Serving, stored: &AibomControllerConfigStatus, now: &Time) -> Vec<KindStatus> {
        let world = self.shared.world();
        let mut kinds = Vec::new();
        for (kind, lane, objects) in world.kinds() {
            let plugin = serving.catalogue.plugin_of(&kind.group, &kind.kind);
            if plugin.is_none() && serving.templates(&kind.group, &kind.kind).is_none() {
                continue;
            }
            let health = match (lane.failing, lane.synced, objects) {
                (true, ..) => "Unhealthy",
                (false, false, _) => "Unknown",
                (false, true, 0) => "Unproven",
                (false, true, _) => "Healthy",
            };
            let known = stored.kinds.iter().find(|known| known.group == kind.group && known.kind == kind.kind);
            // As long as nothing is known, what was known last stands: a restart is no news.
            let health = match known.and_then(|known| known.health.as_deref()) {
                Some(last) if health == "Unknown" => last,
                _ => health,
            };
            let same = known.filter(|known| known.health.as_deref() == Some(health));
            kinds.push(KindStatus {
                group: kind.group.clone(),
                kind: kind.kind.clone(),
                version: world.resource(&kind).map(|resource| resource.version.clone()),
                state: Some("Ready".to_owned()),
                health: Some(health.to_owned()),
                cause: lane.cause.map(|cause| cause.as_str().to_owned()),
                message: None,
                since: Some(same.and_then(|known| known.since.clone()).unwrap_or_else(|| now.clone())),
                objects: Some(i64::try_from(objects).unwrap_or(i64::MAX)),
                plugin: plugin.map(|plugin| plugin.description().name.clone()),
                plugin_digest: plugin.map(|plugin| format!("sha256:{}", plugin.digest())),
            });
        }
        for (kind, plugins) in serving.catalogue.conflicts() {
            let (group, kind) =
                kind.split_once('/').map_or((String::new(), kind.clone()), |(group, kind)| (group.to_owned(), kind.to_owned()));
            let known = stored.kinds.iter().find(|known| known.group == group && known.kind == kind);
            let same = known.filter(|known| known.state.as_deref() == Some("Conflict"));
            kinds.push(KindStatus {
                group,
                kind,
                state: Some("Conflict".to_owned()),
                health: Some("Unhealthy".to_owned()),
                cause: Some("PluginConflict".to_owned()),
                message: Some(format!(
                    "the plugins {} claim this kind, so none of them reads it; switch one off, or narrow it with spec.plugins[].kinds",
                    plugins.join(" and ")
                )),
                since: Some(same.and_then(|known| known.since.clone()).unwrap_or_else(|| now.clone())),
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
        self.shared.metrics.plugins.reset();
        for plugin in &all {
            self.shared.metrics.plugins.with_label_values(&[&plugin.name, plugin.state.as_deref().unwrap_or_default()]).set(1);
        }
        all
    }
}

/// A status without what changes by itself: times and counts.
fn plain(status: &AibomControllerConfigStatus) -> Value {
    let mut status = status.clone();
    status.last_loaded_at = None;
    for condition in &mut status.conditions {
        condition.last_transition_time = Time(Timestamp::UNIX_EPOCH);
    }
    for kind in &mut status.kinds {
        (kind.since, kind.objects) = (None, None);
    }
    for plugin in &mut status.plugins {
        plugin.since = None;
    }
    serde_json::to_value(status).unwrap_or_default()
}
