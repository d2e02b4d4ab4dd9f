//! What the supervisor says in the status of the configuration.

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
        let kinds = self.kinds(state, &serving, &stored, now);
        let unhealthy: Vec<String> = kinds.iter().filter(|kind| kind.health.as_deref() == Some("Unhealthy")).map(in_condition).collect();
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
                let last = known.and_then(|known| known.health.as_deref()).filter(|_| *health == Health::Starting);
                let word = last.unwrap_or(health.as_str());
                let same = known.filter(|known| known.health.as_deref() == Some(word) && known.state.as_deref() == Some(view.state));
                let (cause, message) = match health {
                    Health::Unhealthy(trouble) => (Some(trouble.cause.to_owned()), Some(advice(kind, trouble, Some(&view)))),
                    Health::Disabled(why) => (Some(why.as_str().to_owned()), remark(kind, &view)),
                    _ => (None, remark(kind, &view)),
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
                    objects: Some(i64::try_from(objects).unwrap_or(i64::MAX)),
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
        self.shared.metrics.plugins.reset();
        for plugin in &all {
            self.shared.metrics.plugins.with_label_values(&[&plugin.name, plugin.state.as_deref().unwrap_or_default()]).set(1);
        }
        all
    }
}

/// One kind in the message of a condition.
fn in_condition(kind: &KindStatus) -> String {
    let since = kind.since.as_ref().map(|since| format!(" since {}", since.0)).unwrap_or_default();
    let cause = kind.cause.as_deref().unwrap_or("unknown");
    format!("{}: {cause}{since}. {}", GroupKind::new(&kind.group, &kind.kind), kind.message.as_deref().unwrap_or_default())
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
