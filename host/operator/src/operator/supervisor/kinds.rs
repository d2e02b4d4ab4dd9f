//! What the supervisor does for the state machines of the kinds, and what it lets people know of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aibom_api::kinds::GroupKind;
use aibom_watch::Resource;
use aibom_watch::kinds::{Demand, Driver, Effect, Health, Names, Said, Timing, Told, Trouble, View, Way};
use k8s_openapi::api::core::v1::ObjectReference;
use tokio::time::Instant;

use super::{State, Supervisor};
use crate::clock::unix_seconds;
use crate::operator::events::Type;
use crate::operator::lanes::Run;
use crate::operator::serving::Serving;
use crate::parts::is_copy;

/// Our own definitions are compared so long after they have changed: the two of them often change together.
const SETTLED: Duration = Duration::from_secs(2);

/// Name under which the discovery as a whole is told of.
pub(super) const DISCOVERY: &str = "CRDDiscovery";

/// Which kinds are wanted by a set of scrapers.
pub(super) fn demands(serving: &Serving) -> BTreeMap<Arc<GroupKind>, Demand> {
    let mut demands = BTreeMap::new();
    let conflicts: BTreeMap<GroupKind, Vec<String>> =
        serving.catalogue.conflicts().map(|(group, kind, plugins)| (GroupKind::new(group, kind), plugins.to_vec())).collect();
    for plugin in serving.catalogue.plugins() {
        for kind in &plugin.description().kinds {
            let own = GroupKind::new(&kind.group, &kind.kind);
            let rivals = conflicts.get(&own).cloned().unwrap_or_default();
            // One that is not its own to read may be another plugin's.
            let reader = serving.catalogue.plugin_of(&kind.group, &kind.kind);
            if reader.is_some_and(|reader| reader.name() == plugin.name()) || rivals.iter().any(|rival| rival == plugin.name()) {
                let versions = kind.versions.iter().map(|version| Resource::new(&kind.group, version, &kind.plural, &kind.kind));
                let demand = Demand { versions: versions.collect(), allowed: serving.effective.allows(&own), rivals };
                demands.insert(Arc::new(own), demand);
            }
        }
    }
    for known in &serving.effective.pod_template_kinds {
        let own = GroupKind::new(&known.group, &known.kind);
        // What a scraper reads it reads better.
        if !demands.contains_key(&own) {
            let versions = vec![Resource::new(&known.group, &known.version, &known.plural, &known.kind)];
            demands.insert(Arc::new(own.clone()), Demand { versions, allowed: serving.effective.allows(&own), rivals: Vec::new() });
        }
    }
    demands
}

/// Kinds that stand between scraped objects and their pods.
#[derive(Debug, Default)]
struct Owners {
    /// Those of scrapers of which a kind is there.
    demands: BTreeMap<Arc<GroupKind>, Demand>,
    /// Those that may turn out to be needed, or are on their way.
    expected: HashSet<Arc<GroupKind>>,
}

/// Which kinds are followed for their owners only: those that a scraper names, as long as there is a kind that it reads. Nothing else has
/// a use for them.
fn owners(serving: &Serving, read: &BTreeMap<Arc<GroupKind>, Demand>, driver: &Driver<Arc<GroupKind>>) -> Owners {
    let running: HashSet<&Arc<GroupKind>> = driver.running().map(|(kind, ..)| kind).collect();
    let views: BTreeMap<&Arc<GroupKind>, View> = driver.views().collect();
    let undecided = |kind: &Arc<GroupKind>| match views.get(kind) {
        None => true,
        Some(view) => view.state == "Unknown" && !driver.is_absent(kind),
    };
    let mut owners = Owners::default();
    for plugin in serving.catalogue.plugins() {
        let own: Vec<&Arc<GroupKind>> = read
            .iter()
            .filter(|(kind, demand)| {
                demand.allowed && serving.catalogue.plugin_of(&kind.group, &kind.kind).is_some_and(|reader| reader.name() == plugin.name())
            })
            .map(|(kind, _)| kind)
            .collect();
        let needed = own.iter().any(|kind| running.contains(*kind));
        let may_be = own.iter().any(|kind| undecided(kind));
        for kind in &plugin.description().intermediates {
            let own = Arc::new(GroupKind::new(&kind.group, &kind.kind));
            if read.contains_key(&own) || is_copy(&own) {
                continue;
            }
            if (needed || may_be) && undecided(&own) {
                owners.expected.insert(Arc::clone(&own));
            }
            if needed {
                let versions = kind.versions.iter().map(|version| Resource::new(&kind.group, version, &kind.plural, &kind.kind));
                let demand =
                    owners.demands.entry(own).or_insert_with(|| Demand { versions: Vec::new(), allowed: true, rivals: Vec::new() });
                // Whatever version: only metadata is read.
                for version in versions {
                    if !demand.versions.contains(&version) {
                        demand.versions.push(version);
                    }
                }
            }
        }
    }
    owners
}

impl Supervisor {
    /// Has those kinds watched that the scrapers read, and those that stand between these and their pods.
    pub(super) fn want(&self, state: &mut State) {
        let serving = self.shared.serving();
        let mut all = demands(&serving);
        let owners = owners(&serving, &all, &state.driver);
        let followed: BTreeSet<Arc<GroupKind>> = owners.demands.keys().cloned().collect();
        self.shared.world().expect(owners.expected);
        // Watches of copies wait until it is known who may own them.
        self.shared.kinds_read.notify_waiters();
        all.extend(owners.demands);
        if state.round != state.wanted || state.followed != followed {
            (state.wanted, state.followed) = (state.round, followed);
            state.driver.want(all);
        }
    }

    /// A driver for the machines of all kinds.
    pub(super) fn driver(&self) -> Driver<Arc<GroupKind>> {
        let shared = Arc::clone(&self.shared);
        let names: Names<Arc<GroupKind>> = Arc::new(move |kind, number| shared.world().example(kind, number));
        let timing = Timing { probe: self.probe, probe_ill: self.probe.min(Timing::default().probe_ill), ..Timing::default() };
        let own = aibom_api::crd::definitions().into_iter().filter_map(|definition| definition.metadata.name);
        Driver::new(self.shared.client.clone(), timing, names).following(own)
    }

    /// Has those watches run that the machines want, in the scopes that are looked at.
    pub(super) async fn fit(&self, state: &mut State) {
        let runs = state.driver.running().map(|(kind, run, resource)| Run {
            kind: Arc::clone(kind),
            run,
            resource: resource.clone(),
            scraped: !state.followed.contains(kind),
        });
        let runs: Vec<Run> = runs.collect();
        state.lanes.fit(&self.shared, &runs).await;
    }

    /// Does what a machine asks for.
    pub(super) async fn said(&self, state: &mut State, said: Said<Arc<GroupKind>>) {
        match said {
            Said::Kind(kind, effect) => self.effect(state, &kind, effect).await,
            Said::Discovery(told) => {
                let about = "definitions of kinds";
                let (type_, reason, note) = match &told {
                    Told::Unhealthy(trouble) => (
                        Type::Warning,
                        "WatchUnhealthy",
                        format!(
                            "{DISCOVERY}: {about} cannot be read ({}); kinds that are watched stay so: {}",
                            trouble.cause, trouble.message
                        ),
                    ),
                    _ => (Type::Normal, "WatchRecovered", format!("{DISCOVERY}: {about} can be read again")),
                };
                self.tell(type_, reason, &note, None);
            }
            Said::Definition(_) => {
                state.compare_at.get_or_insert_with(|| Instant::now() + SETTLED);
            }
            Said::Changed => {}
        }
        self.want(state);
        self.show(state);
        state.tell_soon();
    }

    async fn effect(&self, state: &mut State, kind: &Arc<GroupKind>, effect: Effect) {
        match effect {
            Effect::Track => self.shared.world().set_removed(kind, false),
            Effect::Untrack => self.shared.world().set_removed(kind, true),
            Effect::Start { .. } => self.fit(state).await,
            Effect::Stop { run } => {
                state.lanes.stop(&self.shared, kind, run);
                // Pods are watched for their digests in any case.
                self.fit(state).await;
            }
            Effect::Sweep(why) => {
                tracing::info!(%kind, why = why.as_str(), "the AIBOMs of a kind are taken away");
                state.lanes.forget_kind(&self.shared, kind);
                let touched = self.shared.world().stored_of(kind);
                self.shared.look_at(touched);
            }
            Effect::Forget => state.lanes.forget_kind(&self.shared, kind),
            Effect::Tell(told) => self.tell_kind(state, kind, &told),
            Effect::Probe { .. } => {}
        }
    }

    fn tell_kind(&self, state: &State, kind: &Arc<GroupKind>, told: &Told) {
        // It comes and goes with the kinds that need it.
        if *told == Told::Started && state.followed.contains(kind) {
            return;
        }
        let view = state.driver.views().find(|(known, _)| *known == kind).map(|(_, view)| view);
        let (type_, reason, note) = match told {
            Told::Started => (Type::Normal, "WatchStarted", format!("{kind} is watched from now on")),
            Told::Recovered => (Type::Normal, "WatchRecovered", format!("objects of {kind} can be read")),
            Told::Unhealthy(trouble) => {
                let note = format!(
                    "objects of {kind} cannot be read ({}); their AIBOMs stay as they are. {}",
                    trouble.cause,
                    advice(kind, trouble, view.as_ref())
                );
                (Type::Warning, "WatchUnhealthy", note)
            }
            Told::Disabled(why) => {
                let because = match why.as_str() {
                    "config" => "the configuration excludes it",
                    _ => "its definition was removed",
                };
                (
                    Type::Normal,
                    "WatchDisabled",
                    format!("{kind} is not watched any more, and its AIBOMs are taken away: {because} ({})", why.as_str()),
                )
            }
        };
        let definition = state.driver.definition_of(kind).map(|name| ObjectReference {
            api_version: Some("apiextensions.k8s.io/v1".to_owned()),
            kind: Some("CustomResourceDefinition".to_owned()),
            name: Some(name),
            ..ObjectReference::default()
        });
        self.tell(type_, reason, &note, definition);
    }

    /// Tells people about a definition, or the discovery of all.
    fn tell(&self, type_: Type, reason: &'static str, note: &str, related: Option<ObjectReference>) {
        match type_ {
            Type::Normal => tracing::info!(reason, "{note}"),
            Type::Warning => tracing::warn!(reason, "{note}"),
        }
        if let Some(regarding) = self.pod.clone().or_else(|| related.clone()) {
            self.shared.events.tell_related(type_, reason, note, regarding, related);
        }
    }

    /// Takes over into the world and into metrics how the kinds are doing.
    fn show(&self, state: &State) {
        let metrics = &self.shared.metrics;
        metrics.watch_healthy.reset();
        metrics.watch_state.reset();
        let mut sick = HashSet::new();
        for (kind, View { state, health, last_success, .. }) in state.driver.views() {
            let labels = [&*kind.group, &*kind.kind];
            let word = health.as_ref().map_or("NotRegistered", Health::as_str);
            metrics.watch_state.with_label_values(&[labels[0], labels[1], state, word]).set(1);
            if matches!(health, Some(Health::Unhealthy(_))) {
                sick.insert(Arc::clone(kind));
            }
            match &health {
                None | Some(Health::Disabled(_)) => {
                    for gauge in [&metrics.watch_last_success, &metrics.watch_last_event] {
                        // There is none where it was never watched.
                        let _ = gauge.remove_label_values(&labels);
                    }
                    let _ = metrics.watch_backoff.remove_label_values(&labels);
                }
                Some(health) => metrics.watch_healthy.with_label_values(&labels).set(health.is_good().into()),
            }
            if let Some(when) = last_success {
                metrics.watch_last_success.with_label_values(&labels).set(unix_seconds(when));
            }
        }
        if let Some((health, _)) = state.driver.discovery() {
            metrics.watch_healthy.with_label_values(&["apiextensions.k8s.io", DISCOVERY]).set(health.is_good().into());
        }
        let touched = self.shared.world().set_sick(sick);
        self.shared.look_at(touched);
    }
}

/// What is wrong with a kind, and what to do about it.
pub(super) fn advice(kind: &GroupKind, trouble: &Trouble, view: Option<&View>) -> String {
    let Trouble { cause, message } = trouble;
    let version = view.and_then(|view| view.choice.as_ref()).map_or("the version that is read", |choice| &*choice.resource.version);
    let todo = match *cause {
        "Conversion" => format!(
            "Its conversion webhook does not answer, without which no object can be read as {version}: see that the operator of {} runs, or remove its definitions with it",
            kind.group
        ),
        "Forbidden" => "The controller lacks the right to get, list and watch it: apply the role that `k8s-aibom plugin rbac` prints for its scraper, or that of the chart".to_owned(),
        "Unservable" => "Update the scraper or the definition, so that both know a version".to_owned(),
        "PluginConflict" => "Switch one of them off, or narrow it with spec.plugins[].kinds".to_owned(),
        "NotFound" => "The API server does not know it, though its definition is there: look at the conditions of the definition".to_owned(),
        "Network" | "Timeout" | "Server" | "Throttled" => "The API server does not answer as it should; it is asked again with growing pauses".to_owned(),
        _ => "It is tried again with growing pauses".to_owned(),
    };
    format!("{todo}. Details: {message}")
}

/// What else there is to say about a kind that is not in trouble.
pub(super) fn remark(kind: &GroupKind, view: &View) -> Option<String> {
    let way = view.choice.as_ref().map(|choice| (&*choice.resource.version, choice.way));
    let way = match way {
        Some((version, Way::Stored)) => Some(format!("read as {version}, in which it is stored: its conversion webhook is not needed")),
        Some((version, Way::Webhook)) => {
            Some(format!("read as {version} through its conversion webhook, since objects are stored in another version"))
        }
        Some((_, Way::Plain)) | None => None,
    };
    match &view.health {
        Some(Health::Starting) => Some("its objects are being listed".to_owned()),
        Some(Health::Unproven) => {
            let unproven = "there is no object to try a read with";
            Some(way.map_or_else(|| unproven.to_owned(), |way| format!("{unproven}; {way}")))
        }
        Some(Health::Healthy) => way,
        Some(Health::Disabled(why)) if why.as_str() == "config" => {
            Some(format!("spec.discovery.workloadKinds excludes it; add {kind} there to have it looked at"))
        }
        Some(Health::Disabled(_)) => Some("its definition was removed from the cluster".to_owned()),
        Some(Health::Unhealthy(_)) | None => None,
    }
}

/// Seconds of a point in time, for a condition or a status.
pub(super) fn time_of(when: SystemTime) -> Option<k8s_openapi::jiff::Timestamp> {
    k8s_openapi::jiff::Timestamp::from_second(unix_seconds(when)).ok()
}
