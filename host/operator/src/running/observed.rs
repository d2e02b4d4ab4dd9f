//! What pods run, put to the images of an inventory.

use std::collections::BTreeSet;

use aibom_facts::image::{ImageId, ImageReference};
use aibom_facts::inventory::{Class, Confidence, ContainerUse, Evidence, Finding, Image, Inventory, Observed, Source};
use aibom_facts::object::Locator;
use aibom_facts::report::{ContainerClass, Duty};

use super::Digests;

/// Adds what pods run to the images that they run it for: by name of the container and image as written. An image that pods run and
/// nobody has written down is added: it was injected, or is of an earlier revision that still runs.
pub fn observe(inventory: &mut Inventory, digests: &Digests) {
    for ((container, written), ids) in &digests.0 {
        let observed = ids.iter().filter_map(|(id, runners)| {
            Some(Observed {
                id: ImageId::parse(id)?,
                container: container.to_string(),
                pods: runners.pods,
                revisions: runners.revisions.iter().map(ToString::to_string).collect(),
            })
        });
        let observed: Vec<Observed> = observed.collect();
        if observed.is_empty() {
            continue;
        }
        let of = |image: &&mut Image| image.written == **written && image.containers.iter().any(|own| own.name == **container);
        if let Some(image) = inventory.images.iter_mut().find(of) {
            image.observed.extend(observed);
            continue;
        }
        let labels: BTreeSet<String> = ids.values().flat_map(|runners| &runners.labels).map(|label| format!("Pod/{label}")).collect();
        unwritten(inventory, container, written, &labels).observed.extend(observed);
    }
}

/// The image of a container that only pods have.
fn unwritten<'i>(inventory: &'i mut Inventory, container: &str, written: &str, pods: &BTreeSet<String>) -> &'i mut Image {
    let reference = ImageReference::parse(written).ok();
    let name = reference.as_ref().map_or_else(|| written.to_owned(), ToString::to_string);
    let at = inventory.images.iter().position(|image| image.finding.key.name == name).unwrap_or_else(|| {
        let confidence = if reference.is_some() { Confidence::Declared } else { Confidence::Unresolved };
        let mut finding = Finding::new(Class::Image, name, confidence);
        for pod in pods {
            finding.property("aibom.rollup.from", pod);
        }
        finding.evidence.push(Evidence {
            at: Locator::default(),
            source: Source::PodStatus,
            value: written.to_owned(),
            by: String::new(),
            container: container.to_owned(),
        });
        let (written, containers, observed) = (written.to_owned(), Vec::new(), BTreeSet::new());
        inventory.images.push(Image { finding, written, reference, containers, observed });
        inventory.images.len() - 1
    });
    let image = &mut inventory.images[at];
    image.finding.property("container.name", container);
    image.containers.push(ContainerUse {
        name: container.to_owned(),
        class: ContainerClass::Main,
        template: String::new(),
        duty: Duty::Unknown,
    });
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::Pod;
    use aibom_facts::inventory::Origin;
    use aibom_watch::Meta;
    use serde_json::json;
    use std::sync::Arc;

    fn pod(containers: &[(&str, &str, &str)]) -> Pod {
        let specs: Vec<_> = containers.iter().map(|(name, image, _)| json!({ "name": name, "image": image })).collect();
        let statuses: Vec<_> = containers.iter().map(|(name, _, id)| json!({ "name": name, "image": "x", "imageID": id })).collect();
        let object = json!({ "spec": { "containers": specs }, "status": { "containerStatuses": statuses } });
        Pod::of(&object.to_string(), &Meta::default(), None).unwrap()
    }

    #[test]
    fn b39_each_digest_is_there_with_the_number_of_its_pods_and_their_revisions() {
        let id = |byte: &str| format!("r.io/acme/engine@sha256:{}", byte.repeat(32));
        let mut digests = Digests::default();
        let mut inventory = Inventory::new(Vec::new(), Origin::Cluster);
        for (byte, revision) in [("ab", "1"), ("ab", "1"), ("cd", "2")] {
            digests.add(&pod(&[("engine", "r.io/acme/engine:1", &id(byte))]), Some(&Arc::from(revision)), "plum-*");
        }
        unwritten(&mut inventory, "engine", "r.io/acme/engine:1", &BTreeSet::new());
        observe(&mut inventory, &digests);
        assert_eq!(inventory.images.len(), 1);
        let seen: Vec<(u32, Vec<&str>)> = inventory.images[0]
            .observed
            .iter()
            .map(|observed| (observed.pods, observed.revisions.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(seen, [(2, vec!["1"]), (1, vec!["2"])]);
    }

    #[test]
    fn an_image_that_only_pods_have_is_there_with_the_pods() {
        let digest = format!("sha256:{}", "ab".repeat(32));
        let mut digests = Digests::default();
        digests.add(&pod(&[("proxy", "r.io/mesh/proxy:2", &format!("r.io/mesh/proxy@{digest}"))]), None, "plum-*");
        let mut inventory = Inventory::new(Vec::new(), Origin::Cluster);
        observe(&mut inventory, &digests);
        let [image] = &inventory.images[..] else { panic!("one image") };
        assert_eq!((&*image.written, image.containers[0].name.as_str(), image.observed.len()), ("r.io/mesh/proxy:2", "proxy", 1));
        assert!(image.finding.properties["aibom.rollup.from"].contains("Pod/plum-*"));
    }

    #[test]
    fn b40_a_pod_that_still_pulls_says_nothing_yet() {
        let mut digests = Digests::default();
        digests.add(&pod(&[("engine", "r.io/acme/engine:1", "")]), None, "plum-*");
        let mut inventory = Inventory::new(Vec::new(), Origin::Cluster);
        observe(&mut inventory, &digests);
        assert!(inventory.images.is_empty());
    }
}
