//! Flat records of pods: what they run, and who controls them.

mod observed;

pub use observed::observe;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use aibom_watch::Meta;
use serde::Deserialize;

/// What is kept of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Namespace.
    pub namespace: Arc<str>,
    /// UID of its controller, if it has one.
    pub owner: Option<Arc<str>>,
    /// Which revision of its controller it is, where its controller says so at the pod.
    pub revision: Option<Arc<str>>,
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

/// What pods run, by name of the container and image as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests(pub BTreeMap<Of, BTreeMap<Box<str>, Runners>>);

/// Name of a container, and its image as written.
pub type Of = (Arc<str>, Arc<str>);

/// Pods that run the same in a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runners {
    /// How many.
    pub pods: u32,
    /// Revisions that they belong to.
    pub revisions: BTreeSet<Arc<str>>,
    /// What stands for their names in a document.
    pub labels: BTreeSet<Box<str>>,
}

/// All pods that are known.
#[derive(Debug, Default)]
pub struct Pods(HashMap<Arc<str>, Pod>);

impl Pod {
    /// Reads the record of a pod, whose controller has the UID `owner`; none for a text that is no pod.
    pub fn of(object: &str, meta: &Meta, owner: Option<Arc<str>>) -> Option<Self> {
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
        let revision = meta.labels.get("controller-revision-hash").map(|revision| Arc::from(&**revision));
        Some(Self { namespace: Arc::from(&*meta.namespace), owner, revision, containers: containers.into_boxed_slice() })
    }
}

impl Pods {
    /// A pod is there; whether it runs something else than before.
    pub fn put(&mut self, uid: &str, pod: Pod) -> bool {
        match self.0.get_mut(uid) {
            Some(known) if *known == pod => false,
            Some(known) => {
                *known = pod;
                true
            }
            None => {
                let runs = !pod.containers.is_empty();
                self.0.insert(Arc::from(uid), pod);
                runs
            }
        }
    }

    /// A pod is gone.
    pub fn remove(&mut self, uid: &str) -> Option<Pod> {
        self.0.remove(uid)
    }

    /// A pod.
    pub fn get(&self, uid: &str) -> Option<&Pod> {
        self.0.get(uid)
    }

    /// The pods of a namespace are of no interest any more.
    pub fn remove_namespace(&mut self, namespace: &str) {
        self.0.retain(|_, pod| *pod.namespace != *namespace);
    }

    /// UIDs of some pods.
    pub fn uids(&self, wanted: impl Fn(&Pod) -> bool) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().filter(move |(_, pod)| wanted(pod)).map(|(uid, _)| uid)
    }
}

impl Digests {
    /// Adds what a pod runs. `revision` is that of its controller.
    pub fn add(&mut self, pod: &Pod, revision: Option<&Arc<str>>, label: &str) {
        for running in &pod.containers {
            let of = (Arc::clone(&running.name), Arc::clone(&running.image));
            let runners = self.0.entry(of).or_default().entry(running.image_id.clone()).or_default();
            runners.pods += 1;
            runners.revisions.extend(pod.revision.as_ref().or(revision).cloned());
            if !runners.labels.contains(label) {
                runners.labels.insert(Box::from(label));
            }
        }
    }
}
