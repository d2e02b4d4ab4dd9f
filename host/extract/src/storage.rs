//! Volumes that containers mount, and accelerators that they ask for.

use std::collections::BTreeSet;

use aibom_facts::inventory::{Class, Confidence, Data, DataKind, Device, Evidence, Finding, Key, Source};

use aibom_facts::report::Report;

use crate::items;
use crate::merge::{Draft, is_location};
use crate::pods::{Container, Place};

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

pub(crate) fn add(draft: &mut Draft<'_>, report: &Report, containers: &[Container<'_>]) {
    let models = draft.models_of(containers.len());
    for (container, models) in containers.iter().zip(models) {
        let mut mounted = mounts(draft, container);
        if !models.is_empty() {
            mounted.extend(items::mounts(report, &container.template));
        }
        needs(draft, &models, &mounted);
        devices(draft, container);
    }
}

/// The volumes that a container mounts, with their mount paths.
fn mounts(draft: &mut Draft<'_>, container: &Container<'_>) -> Vec<(String, Key)> {
    let mut out = Vec::new();
    let (Some(list), Some(pod)) = (container.mounts, container.pod) else { return out };
    for mount in list.items() {
        let Some(name) = mount.text_of("name") else { continue };
        let path = mount.text_of("mountPath").or_else(|| mount.text_of("mountPoint")).unwrap_or_default();
        let Some(volume) = volume(pod, name) else { continue };
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
        out.push((path.to_owned(), finding.key.clone()));
        draft.data(Data { finding, kind, name: content });
    }
    out
}

fn volume<'a>(pod: Place<'a>, name: &str) -> Option<Place<'a>> {
    pod.get("volumes")?.items().find(|volume| volume.text_of("name") == Some(name))
}

fn source_of(volume: Place<'_>) -> Option<(&'static str, DataKind, Place<'_>)> {
    SOURCES.iter().find_map(|(word, member, kind)| {
        let source = volume.get(word)?;
        source.get(member).map(|name| (*word, *kind, name))
    })
}

/// A model whose path lies under a mount needs that volume.
fn needs(draft: &mut Draft<'_>, models: &BTreeSet<String>, mounted: &[(String, Key)]) {
    for name in models {
        let Some(model) = draft.models.get_mut(name) else { continue };
        let mut paths: Vec<&str> = model.sources.iter().map(String::as_str).collect();
        if is_location(&model.reference) {
            paths.push(name);
        }
        // The longest mount path holds the file.
        let holders =
            paths.iter().filter_map(|path| mounted.iter().filter(|(mount, _)| under(path, mount)).max_by_key(|(mount, _)| mount.len()));
        let holders: Vec<Key> = holders.map(|(_, key)| key.clone()).collect();
        model.finding.needs.extend(holders);
    }
}

fn under(path: &str, mount: &str) -> bool {
    let mount = mount.trim_end_matches('/');
    !mount.is_empty() && path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn devices(draft: &mut Draft<'_>, container: &Container<'_>) {
    let Some(resources) = container.resources else { return };
    for key in ["limits", "requests"] {
        let Some(list) = resources.get(key) else { continue };
        for (name, quantity) in list.members() {
            let known = draft.rules.conventions.devices.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == pattern,
            });
            let Some(count) = quantity.scalar().filter(|count| known && *count != "0") else { continue };
            let mut finding = Finding::new(Class::Device, name, Confidence::Declared);
            finding.evidence.push(Evidence {
                at: quantity.at(),
                source: Source::ResourceRequest,
                value: count.to_owned(),
                by: key.to_owned(),
                container: container.name.clone(),
            });
            finding.property("container.name", &container.name);
            draft.device(Device { finding, quantities: vec![count.to_owned()] });
        }
    }
    claims(draft, container, resources);
}

/// Devices by resource claim.
fn claims(draft: &mut Draft<'_>, container: &Container<'_>, resources: Place<'_>) {
    let Some(list) = resources.get("claims") else { return };
    for claim in list.items() {
        let Some(name) = claim.text_of("name") else { continue };
        let declared = container
            .pod
            .and_then(|pod| pod.get("resourceClaims"))
            .and_then(|list| list.items().find(|item| item.text_of("name") == Some(name)));
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
