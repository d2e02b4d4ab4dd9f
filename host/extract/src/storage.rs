//! Volumes that containers mount, and accelerators that they ask for.

use std::collections::{BTreeSet, HashMap};

use aibom_facts::inventory::{Class, Confidence, Data, DataKind, Device, Evidence, Finding, Key, Source};
use aibom_facts::report::Report;
use aibom_facts::tree::NodeId;

use crate::items;
use crate::merge::{Draft, is_location};
use crate::pods::{Container, Place};
use crate::rules::Rules;

/// Members of a volume that say where its content is, with the path of the name in them.
const SOURCES: [(&str, &str, DataKind); 9] = [
    ("persistentVolumeClaim", "claimName", DataKind::Volume),
    ("hostPath", "path", DataKind::Volume),
    ("configMap", "name", DataKind::Configuration),
    ("secret", "secretName", DataKind::Configuration),
    ("image", "reference", DataKind::Volume),
    ("nfs", "path", DataKind::Volume),
    ("csi", "driver", DataKind::Volume),
    ("azureFile", "shareName", DataKind::Volume),
    ("gcePersistentDisk", "pdName", DataKind::Volume),
];

/// Most labels of nodes that are kept.
const MAX_LABELS: usize = 16;
/// Most places of one volume in one pod that are kept; a server and what prepares it have one each.
const MAX_PLACES: usize = 32;
/// Longest path there can be; what is longer lies under no mount.
const MAX_PATH: usize = 4096;

/// Volumes by the directory that they are mounted at.
#[derive(Debug, Default)]
pub(crate) struct Mounts(HashMap<String, Key>);

impl Mounts {
    /// Adds a volume; the last one of a directory counts.
    pub(crate) fn add(&mut self, path: &str, volume: Key) {
        let directory = path.trim_end_matches('/');
        if !directory.is_empty() {
            self.0.insert(directory.to_owned(), volume);
        }
    }

    /// The volume that holds a file, which is that of the longest directory, with the length of that.
    fn holder(&self, file: &str) -> Option<(usize, &Key)> {
        if self.0.is_empty() || file.len() > MAX_PATH {
            return None;
        }
        let ends = file.rmatch_indices('/').map(|(index, _)| index);
        std::iter::once(file.len()).chain(ends).find_map(|end| self.0.get(&file[..end]).map(|key| (end, key)))
    }
}

/// A volume by its pod and name.
type Volume<'a> = (u32, NodeId, &'a str);

/// A directory that a volume is mounted at, and which part of it.
type Mounted<'a> = (&'a str, &'a str);

/// Where the containers of each pod mount a volume.
#[derive(Default)]
pub(crate) struct SharedVolumes<'a>(HashMap<Volume<'a>, BTreeSet<Mounted<'a>>>);

impl<'a> SharedVolumes<'a> {
    pub(crate) fn new(containers: &[Container<'a>]) -> Self {
        let mut out = Self::default();
        for container in containers {
            let (Some(list), Some(pod)) = (container.mounts, container.pod) else { continue };
            for mount in list.items().filter_map(Mount::read) {
                let places = out.0.entry((pod.object, pod.node, mount.volume)).or_default();
                if places.len() < MAX_PLACES {
                    places.insert((mount.path, mount.part));
                }
            }
        }
        out
    }

    /// Where else in its pod a path of a container is seen: other containers mount the volume that it lies in at places of their own.
    pub(crate) fn seen_at(&self, container: &Container<'_>, path: &str) -> Vec<String> {
        let (Some(list), Some(pod)) = (container.mounts, container.pod) else { return Vec::new() };
        let holding = list.items().filter_map(Mount::read).filter_map(|mount| Some((below(path, mount.path)?, mount)));
        let Some((rest, mount)) = holding.max_by_key(|(_, mount)| mount.path.len()) else { return Vec::new() };
        let within = join(mount.part, rest);
        let places = self.0.get(&(pod.object, pod.node, mount.volume)).into_iter().flatten();
        let seen = places.filter_map(|(directory, part)| below(&within, part).map(|rest| join(directory, rest)));
        seen.filter(|seen| seen != path).collect()
    }
}

/// Whether a path lies in a volume that the container mounts.
pub(crate) fn is_mounted(container: &Container<'_>, path: &str) -> bool {
    let mounts = container.mounts.into_iter().flat_map(|list| list.items()).filter_map(Mount::read);
    path.starts_with('/') && mounts.into_iter().any(|mount| below(path, mount.path).is_some())
}

/// One entry of a container's `volumeMounts`.
struct Mount<'a> {
    volume: &'a str,
    /// Directory, without a slash at its end.
    path: &'a str,
    /// The directory of the volume that is mounted, empty for the whole.
    part: &'a str,
}

impl<'a> Mount<'a> {
    fn read(place: Place<'a>) -> Option<Self> {
        let path = place.text_of("mountPath")?.trim_end_matches('/');
        let part = place.text_of("subPath").unwrap_or_default().trim_matches('/');
        (!path.is_empty() && path.len() <= MAX_PATH).then_some(Self { volume: place.text_of("name")?, path, part })
    }
}

/// What of a path follows a directory, if it lies there.
fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    if directory.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn join(directory: &str, rest: &str) -> String {
    let between = if directory.is_empty() || rest.is_empty() { "" } else { "/" };
    format!("{directory}{between}{rest}")
}

/// A list of a pod specification, by the names of its items.
type Named<'a> = HashMap<&'a str, Place<'a>>;

/// Volumes and claims of the pod specifications, each read once.
#[derive(Default)]
struct Pods<'a>(HashMap<(u32, NodeId, &'static str), Named<'a>>);

impl<'a> Pods<'a> {
    /// The item of this name in a list of a pod specification, the first one if there are several.
    fn find(&mut self, pod: Place<'a>, list: &'static str, name: &str) -> Option<Place<'a>> {
        let named = self.0.entry((pod.object, pod.node, list)).or_insert_with(|| {
            let mut named = Named::new();
            for item in pod.get(list).into_iter().flat_map(|list| list.items()) {
                if let Some(name) = item.text_of("name") {
                    named.entry(name).or_insert(item);
                }
            }
            named
        });
        named.get(name).copied()
    }
}

pub(crate) fn add(draft: &mut Draft<'_>, report: &Report, containers: &[Container<'_>]) {
    let models = draft.models_of(containers.len());
    let items = items::mounts(report);
    let mut pods = Pods::default();
    for (container, models) in containers.iter().zip(models) {
        let mounted = mounts(draft, container, &mut pods);
        needs(draft, &models, &mounted, items.get(container.template.as_str()));
        devices(draft, container, &mut pods);
    }
}

/// The volumes that a container mounts.
fn mounts<'a>(draft: &mut Draft<'_>, container: &Container<'a>, pods: &mut Pods<'a>) -> Mounts {
    let mut out = Mounts::default();
    let (Some(list), Some(pod)) = (container.mounts, container.pod) else { return out };
    for mount in list.items() {
        let Some(name) = mount.text_of("name") else { continue };
        let path = mount.text_of("mountPath").or_else(|| mount.text_of("mountPoint")).unwrap_or_default();
        let Some(volume) = pods.find(pod, "volumes", name) else { continue };
        let Some((word, kind, source)) = source_of(volume) else { continue };
        let Some(content) = source.text().map(str::to_owned) else { continue };
        let mut finding = Finding::new(Class::Data, format!("{word}/{content}"), Confidence::Declared);
        for at in [source.at(), mount.at()] {
            finding.evidence.push(Evidence {
                at,
                source: Source::VolumeSource,
                value: content.clone(),
                by: path.to_owned(),
                container: container.name.clone(),
            });
        }
        finding.property("volume.name", name);
        finding.property("volume.mountPath", path);
        finding.property("volume.source", word);
        finding.property("container.name", &container.name);
        if word == "nfs" {
            finding.property("volume.server", volume.get("nfs").and_then(|nfs| nfs.text_of("server")).unwrap_or_default());
        }
        out.add(path, finding.key.clone());
        draft.data(Data { finding, kind, name: content });
    }
    out
}

/// The config map that holds a file of a container.
pub(crate) fn configuration_at<'a>(container: &Container<'a>, file: &str) -> Option<&'a str> {
    let (list, pod) = (container.mounts?, container.pod?);
    let holds = |mount: &Place<'a>| {
        let rest = file.strip_prefix(mount.text_of("mountPath")?.trim_end_matches('/'))?;
        (rest.is_empty() || rest.starts_with('/')).then_some(())
    };
    let mount = list.items().filter(|mount| holds(mount).is_some()).max_by_key(|mount| mount.text_of("mountPath").map(str::len))?;
    let name = mount.text_of("name")?;
    let volume = pod.get("volumes")?.items().find(|volume| volume.text_of("name") == Some(name))?;
    volume.get("configMap")?.text_of("name")
}

fn source_of(volume: Place<'_>) -> Option<(&'static str, DataKind, Place<'_>)> {
    SOURCES.iter().find_map(|(word, member, kind)| {
        let source = volume.get(word)?;
        source.get(member).map(|name| (*word, *kind, name))
    })
}

/// A model whose path lies under a mount needs that volume.
fn needs(draft: &mut Draft<'_>, models: &BTreeSet<String>, mounted: &Mounts, items: Option<&Mounts>) {
    for name in models {
        let Some(model) = draft.models.get_mut(name) else { continue };
        let location = is_location(&model.reference).then_some(name);
        let mut images = BTreeSet::new();
        for path in model.sources.iter().chain(location) {
            let holders = [mounted.holder(path), items.and_then(|items| items.holder(path))];
            // Of two volumes at one directory the one that the report states counts.
            if let Some((_, key)) = holders.into_iter().flatten().max_by_key(|(length, _)| *length) {
                model.finding.needs.insert(key.clone());
                images.extend(key.name.strip_prefix("image/").map(|image| format!("oci://{image}")));
            }
        }
        // An image that is mounted is where the weights come from.
        model.sources.append(&mut images);
    }
}

fn is_device(rules: &Rules, resource: &str) -> bool {
    rules.conventions.devices.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => resource.starts_with(prefix),
        None => resource == pattern,
    })
}

/// Whether the resources of a container have an accelerator.
pub(crate) fn device_asked_for<'a>(rules: &Rules, resources: Place<'a>) -> Option<(&'a str, Place<'a>)> {
    ["limits", "requests"]
        .iter()
        .filter_map(|key| resources.get(key))
        .flat_map(|list| list.members())
        .find(|(name, quantity)| is_device(rules, name) && quantity.value().is_some_and(|count| count != "0"))
}

fn devices<'a>(draft: &mut Draft<'_>, container: &Container<'a>, pods: &mut Pods<'a>) {
    let Some(resources) = container.resources else { return };
    for key in ["limits", "requests"] {
        let Some(list) = resources.get(key) else { continue };
        for (name, quantity) in list.members() {
            let Some(count) = quantity.value().filter(|count| *count != "0" && is_device(draft.rules, name)) else { continue };
            let mut finding = Finding::new(Class::Device, name, Confidence::Declared);
            finding.evidence.push(Evidence {
                at: quantity.at(),
                source: Source::ResourceRequest,
                value: count.to_owned(),
                by: key.to_owned(),
                container: container.name.clone(),
            });
            finding.property("container.name", &container.name);
            for (label, value) in container.pod.map(|pod| nodes(draft.rules, pod)).unwrap_or_default() {
                finding.property("node.selector", format!("{label}={}", value.value().unwrap_or_default()));
                finding.evidence.push(Evidence {
                    at: value.at(),
                    source: Source::NodeSelector,
                    value: value.value().unwrap_or_default().to_owned(),
                    by: label.to_owned(),
                    container: container.name.clone(),
                });
            }
            draft.device(Device { finding, quantities: vec![count.to_owned()] });
        }
    }
    claims(draft, container, resources, pods);
}

/// Labels of the nodes that a pod asks for, as far as they tell the accelerator.
fn nodes<'a>(rules: &Rules, pod: Place<'a>) -> Vec<(&'a str, Place<'a>)> {
    let known = |label: &str| rules.conventions.accelerator_labels.iter().any(|known| known == label);
    let mut out: Vec<(&str, Place<'a>)> = Vec::new();
    if let Some(selector) = pod.get("nodeSelector") {
        out.extend(selector.members().filter(|(label, value)| known(label) && value.value().is_some()));
    }
    let path = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let terms = path.iter().try_fold(pod, |place, key| place.get(key));
    let expressions = terms.into_iter().flat_map(|terms| terms.items()).filter_map(|term| term.get("matchExpressions"));
    for expression in expressions.flat_map(|list| list.items()).filter(|expression| expression.text_of("operator") == Some("In")) {
        if let (Some(label), Some(values)) = (expression.text_of("key").filter(|label| known(label)), expression.get("values")) {
            out.extend(values.items().filter(|value| value.value().is_some()).map(|value| (label, value)));
        }
    }
    out.truncate(MAX_LABELS);
    out
}

/// Devices by resource claim.
fn claims<'a>(draft: &mut Draft<'_>, container: &Container<'a>, resources: Place<'a>, pods: &mut Pods<'a>) {
    let Some(list) = resources.get("claims") else { return };
    for claim in list.items() {
        let Some(name) = claim.text_of("name") else { continue };
        let declared = container.pod.and_then(|pod| pods.find(pod, "resourceClaims", name));
        let reference = declared.and_then(|item| item.get("resourceClaimTemplateName").or_else(|| item.get("resourceClaimName")));
        let text = reference.and_then(|place| place.text()).unwrap_or(name).to_owned();
        let mut finding = Finding::new(Class::Device, format!("resource-claim/{text}"), Confidence::Declared);
        for at in reference.map(|place| place.at()).into_iter().chain([claim.at()]) {
            finding.evidence.push(Evidence {
                at,
                source: Source::ResourceRequest,
                value: text.clone(),
                by: String::new(),
                container: container.name.clone(),
            });
        }
        finding.property("container.name", &container.name);
        draft.device(Device { finding, quantities: vec!["1".to_owned()] });
    }
}
