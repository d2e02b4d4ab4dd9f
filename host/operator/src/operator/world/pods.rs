//! Flat records of pods: what they run, and who controls them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

/// What is kept of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Namespace.
    pub namespace: Arc<str>,
    /// UID of its controller, if it has one.
    pub owner: Option<Arc<str>>,
    /// Containers whose image is known by now, by name.
    pub containers: Box<[Running]>,
}

/// An image that a container runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Running {
    /// Name of the container.
    pub name: Arc<str>,
    /// Image as the specification of the pod has it.
    pub image: Arc<str>,
    /// What the runtime says it is, as it stands in the status.
    pub image_id: Box<str>,
}

/// Digests by name of the container and image as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests(pub BTreeMap<Of, BTreeSet<Box<str>>>);

/// Name of a container, and its image as written.
pub type Of = (Arc<str>, Arc<str>);

/// All pods that are known.
#[derive(Debug, Default)]
pub struct Pods {
    pods: HashMap<Arc<str>, Pod>,
    by_owner: HashMap<Arc<str>, HashSet<Arc<str>>>,
}

impl Pod {
    /// Reads the record of a pod; none for a text that is no pod.
    pub fn of(object: &str, namespace: &str, owner: Option<Arc<str>>) -> Option<Self> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Object {
            spec: Containers,
            status: Statuses,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Containers {
            containers: Vec<Container>,
            init_containers: Vec<Container>,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Statuses {
            container_statuses: Vec<Container>,
            init_container_statuses: Vec<Container>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Container {
            name: String,
            image: String,
            #[serde(rename = "imageID")]
            image_id: String,
        }
        let object: Object = serde_json::from_str(object).ok()?;
        let written: HashMap<&str, &str> =
            object.spec.containers.iter().chain(&object.spec.init_containers).map(|c| (&*c.name, &*c.image)).collect();
        let mut containers: Vec<Running> = object
            .status
            .container_statuses
            .iter()
            .chain(&object.status.init_container_statuses)
            .filter(|status| !status.image_id.is_empty())
            // The image of the status may be spelled otherwise than the one of the specification, or be another tag of it.
            .filter_map(|status| {
                let image = written.get(&*status.name)?;
                Some(Running { name: Arc::from(&*status.name), image: Arc::from(*image), image_id: Box::from(&*status.image_id) })
            })
            .collect();
        containers.sort();
        Some(Self { namespace: Arc::from(namespace), owner, containers: containers.into_boxed_slice() })
    }
}

impl Pods {
    /// A pod is there; whether it runs something else than before.
    pub fn put(&mut self, uid: &str, pod: Pod) -> bool {
        if self.pods.get(uid) == Some(&pod) {
            return false;
        }
        let before = self.remove(uid);
        let uid: Arc<str> = Arc::from(uid);
        if let Some(owner) = &pod.owner {
            self.by_owner.entry(Arc::clone(owner)).or_default().insert(Arc::clone(&uid));
        }
        let changed = before.map_or(!pod.containers.is_empty(), |before| before != pod);
        self.pods.insert(uid, pod);
        changed
    }

    /// A pod is gone.
    pub fn remove(&mut self, uid: &str) -> Option<Pod> {
        let pod = self.pods.remove(uid)?;
        if let Some(owner) = &pod.owner
            && let Some(pods) = self.by_owner.get_mut(owner)
        {
            pods.remove(uid);
            if pods.is_empty() {
                self.by_owner.remove(owner);
            }
        }
        Some(pod)
    }

    /// The pods of a namespace are of no interest any more.
    pub fn remove_namespace(&mut self, namespace: &str) {
        let gone: Vec<Arc<str>> = self.uids(|pod| &*pod.namespace == namespace).cloned().collect();
        for uid in gone {
            self.remove(&uid);
        }
    }

    /// UIDs of some pods.
    pub fn uids(&self, wanted: impl Fn(&Pod) -> bool) -> impl Iterator<Item = &Arc<str>> {
        self.pods.iter().filter(move |(_, pod)| wanted(pod)).map(|(uid, _)| uid)
    }

    /// Adds the digests of a pod, and of the pods that an object controls.
    pub fn digests_of(&self, uid: &str, digests: &mut Digests) {
        let owned = self.by_owner.get(uid).into_iter().flatten();
        for pod in owned.filter_map(|uid| self.pods.get(uid)).chain(self.pods.get(uid)) {
            for running in &pod.containers {
                let key = (Arc::clone(&running.name), Arc::clone(&running.image));
                digests.0.entry(key).or_default().insert(running.image_id.clone());
            }
        }
    }
}
