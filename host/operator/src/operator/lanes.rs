//! Which watches run: one for each kind that a scraper reads, and those of pods and replica sets, which tell what runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use aibom_api::kinds::GroupKind;
use aibom_watch::{Cause, Client, Failure, Resource, Scope};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::lane::{Order, Subject, run};
use super::serving::Serving;
use super::shared::Shared;

/// Running watches.
pub struct Lanes {
    running: HashMap<Subject, Running>,
    /// Up to so many namespaces pods are watched in each of them, beyond it in the whole cluster.
    per_namespace: usize,
    /// Resources that the cluster serves, by kind. Those that it does not are asked for again.
    found: HashMap<Arc<GroupKind>, Resource>,
}

struct Running {
    orders: mpsc::UnboundedSender<Order>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Lanes {
    /// None run.
    pub fn new(per_namespace: usize) -> Self {
        Self { running: HashMap::new(), per_namespace, found: HashMap::new() }
    }

    /// Starts and stops watches, so that those run that are needed.
    pub async fn fit(&mut self, shared: &Arc<Shared>, serving: &Serving) {
        let wanted = self.wanted(shared, serving).await;
        let gone: Vec<Subject> = self.running.keys().filter(|subject| !wanted.contains(subject)).cloned().collect();
        // New ones first: where a kind only changes its scope, it is looked at all the time.
        for subject in wanted {
            if !self.running.contains_key(&subject) {
                self.start(shared, subject);
            }
        }
        for subject in gone {
            self.stop(shared, &subject).await;
        }
    }

    fn start(&mut self, shared: &Arc<Shared>, subject: Subject) {
        let (orders, receiver) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        tracing::info!(resource = %subject.resource, version = subject.resource.version, scope = ?subject.scope, "a watch begins");
        let task = tokio::spawn(run(Arc::clone(shared), subject.clone(), receiver, stop.clone()));
        self.running.insert(subject, Running { orders, stop, task });
    }

    async fn stop(&mut self, shared: &Shared, subject: &Subject) {
        let Some(running) = self.running.remove(subject) else { return };
        running.stop.cancel();
        let _ = running.task.await;
        tracing::info!(resource = %subject.resource, scope = ?subject.scope, "a watch was ended");
        // Other watches of the kind may tell of the same by now.
        let others: Vec<Scope> = self.running.keys().filter(|other| other.kind == subject.kind).map(|other| other.scope.clone()).collect();
        let mut world = shared.world();
        let touched = world.end_lane(&subject.kind, &subject.scope, &others);
        drop(world);
        shared.look_at(touched);
    }

    /// Stops all watches, and what is known of their kinds stays.
    pub async fn stop_all(&mut self) {
        for (_, running) in self.running.drain() {
            running.stop.cancel();
            let _ = running.task.await;
        }
    }

    /// Tells all watches something.
    pub fn tell(&self, order: &Order) {
        for running in self.running.values() {
            // One that has ended has nothing to be told.
            let _ = running.orders.send(order.clone());
        }
    }

    async fn wanted(&mut self, shared: &Shared, serving: &Serving) -> BTreeSet<Subject> {
        let namespaces: Vec<String> = shared.world().namespaces().map(ToString::to_string).collect();
        let per_namespace = self.per_namespace;
        let scopes = |narrow: bool| {
            if narrow && namespaces.len() <= per_namespace {
                namespaces.iter().cloned().map(Scope::Namespace).collect()
            } else {
                vec![Scope::Cluster]
            }
        };
        let mut kinds: Vec<(Arc<GroupKind>, Vec<Resource>, bool)> = Vec::new();
        for plugin in serving.catalogue.plugins() {
            for kind in &plugin.description().kinds {
                let own = GroupKind::new(&kind.group, &kind.kind);
                // One that is not its own to read may be another plugin's.
                let reader = serving.catalogue.plugin_of(&kind.group, &kind.kind);
                if reader.is_some_and(|reader| reader.name() == plugin.name()) && serving.effective.allows(&own) {
                    let versions = kind.versions.iter().map(|version| Resource::new(&kind.group, version, &kind.plural, &kind.kind));
                    kinds.push((Arc::new(own), versions.collect(), true));
                }
            }
        }
        for known in &serving.effective.pod_template_kinds {
            let own = GroupKind::new(&known.group, &known.kind);
            // What a scraper reads it reads better.
            if serving.catalogue.plugin_of(&known.group, &known.kind).is_none() && serving.effective.allows(&own) {
                let resource = Resource::new(&known.group, &known.version, &known.plural, &known.kind);
                kinds.push((Arc::new(own), vec![resource], true));
            }
        }
        for (group, plural, kind) in [("", "pods", "Pod"), ("apps", "replicasets", "ReplicaSet")] {
            let own = GroupKind::new(group, kind);
            if !kinds.iter().any(|(known, ..)| **known == own) {
                kinds.push((Arc::new(own), vec![Resource::new(group, "v1", plural, kind)], false));
            }
        }
        let mut wanted = BTreeSet::new();
        let unknown = kinds.iter().any(|(kind, versions, _)| self.found.get(kind).is_none_or(|found| !versions.contains(found)));
        let served = if unknown { groups(&shared.client).await } else { None };
        for (kind, versions, scraped) in kinds {
            let Some(resource) = self.find(&shared.client, &kind, &versions, served.as_ref()).await else { continue };
            let narrow = matches!((&*kind.group, &*kind.kind), ("", "Pod") | ("apps", "ReplicaSet"));
            for scope in scopes(narrow) {
                wanted.insert(Subject { kind: Arc::clone(&kind), resource: resource.clone(), scope, scraped });
            }
        }
        wanted
    }

    /// The first of some versions that the cluster serves.
    async fn find(
        &mut self,
        client: &Client,
        kind: &Arc<GroupKind>,
        versions: &[Resource],
        served: Option<&BTreeSet<String>>,
    ) -> Option<Resource> {
        if let Some(found) = self.found.get(kind).filter(|found| versions.contains(found)) {
            return Some(found.clone());
        }
        let may_be =
            |resource: &&Resource| resource.group.is_empty() || served.is_none_or(|served| served.contains(&resource.api_version()));
        for resource in versions.iter().filter(may_be) {
            match is_served(client, resource).await {
                Ok(true) => {
                    self.found.insert(Arc::clone(kind), resource.clone());
                    return Some(resource.clone());
                }
                Ok(false) => {}
                Err(failure) => tracing::warn!(%resource, %failure, "whether a kind is served could not be found out"),
            }
        }
        None
    }
}

/// Every group and version that the cluster serves; none when that could not be found out.
async fn groups(client: &Client) -> Option<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct List {
        groups: Vec<Group>,
    }
    #[derive(Deserialize)]
    struct Group {
        versions: Vec<Version>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        group_version: String,
    }
    match client.get::<List>("/apis").await {
        Ok(list) => Some(list.groups.into_iter().flat_map(|group| group.versions).map(|version| version.group_version).collect()),
        Err(failure) => {
            tracing::warn!(%failure, "the API groups of the cluster could not be listed");
            None
        }
    }
}

/// Whether the cluster serves a resource, in namespaces.
async fn is_served(client: &Client, resource: &Resource) -> Result<bool, Failure> {
    #[derive(Deserialize)]
    struct List {
        resources: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        name: String,
        kind: String,
        namespaced: bool,
    }
    let root = if resource.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", resource.group) };
    match client.get::<List>(&format!("{root}/{}", resource.version)).await {
        Ok(list) => Ok(list.resources.iter().any(|entry| entry.name == resource.plural && entry.kind == resource.kind && entry.namespaced)),
        Err(failure) if failure.cause == Cause::NotFound => Ok(false),
        Err(failure) => Err(failure),
    }
}
