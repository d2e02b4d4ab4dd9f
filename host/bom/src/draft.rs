//! One draft per finding: the step between the inventory's words and CycloneDX's.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use aibom_facts::image::ImageId;
use aibom_facts::inventory::{
    Class, Confidence, Data, DataKind, Device, Evidence, Finding, Image, Inventory, Key, Model, Observed, Role, Runtime, Service,
};
use aibom_facts::model::ModelReference;
use aibom_facts::purl::Purl;
use aibom_facts::report::{ContainerClass, Duty};

use crate::cyclonedx::{ComponentData, ExternalReference, Hash};
use crate::reference;
use crate::scrub::Scrubber;
use crate::url::{self, Unfit};

/// Names, written with dots, and values of properties.
pub(crate) type Pairs<'i> = BTreeSet<(Cow<'i, str>, Cow<'i, str>)>;

/// A component or service before its references to others are known.
#[derive(Clone, Debug)]
pub(crate) struct Draft<'i> {
    pub(crate) reference: String,
    pub(crate) class: Class,
    /// CycloneDX component type; not used by services.
    pub(crate) component_type: &'static str,
    pub(crate) group: Option<String>,
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) purl: Option<String>,
    pub(crate) hashes: BTreeSet<Hash>,
    pub(crate) links: BTreeSet<ExternalReference>,
    pub(crate) endpoints: BTreeSet<String>,
    pub(crate) data: Option<ComponentData>,
    pub(crate) dataset: bool,
    pub(crate) adapter: bool,
    /// Value of an evidence entry that stands for the identity; none when all do.
    pub(crate) id: Option<String>,
    pub(crate) confidence: Confidence,
    pub(crate) evidence: Vec<&'i Evidence>,
    pub(crate) conflicts: Vec<&'i Evidence>,
    pub(crate) properties: Pairs<'i>,
    pub(crate) needs: BTreeSet<&'i Key>,
}

impl<'i> Draft<'i> {
    fn new(finding: &'i Finding, component_type: &'static str, reference: String) -> Self {
        let properties = finding
            .properties
            .iter()
            .filter(|(name, _)| !crate::names::is_own(name))
            .flat_map(|(name, values)| values.iter().map(move |value| (Cow::Borrowed(name.as_str()), Cow::Borrowed(value.as_str()))))
            .collect();
        Self {
            reference,
            class: finding.key.class,
            component_type,
            group: None,
            name: finding.key.name.clone(),
            version: None,
            purl: None,
            hashes: BTreeSet::new(),
            links: BTreeSet::new(),
            endpoints: BTreeSet::new(),
            data: None,
            dataset: false,
            adapter: false,
            id: Some(finding.key.name.clone()),
            confidence: finding.confidence,
            evidence: finding.evidence.iter().collect(),
            conflicts: finding.conflicts.iter().collect(),
            properties,
            needs: finding.needs.iter().collect(),
        }
    }

    fn property(&mut self, name: &'static str, value: impl Into<Cow<'i, str>>) {
        self.properties.insert((Cow::Borrowed(name), value.into()));
    }

    /// Joins a finding with the same reference. What only one can hold stays as it is here.
    fn join(&mut self, other: Self) {
        self.group = self.group.take().or(other.group);
        self.version = self.version.take().or(other.version);
        self.data = self.data.take().or(other.data);
        self.hashes.extend(other.hashes);
        self.links.extend(other.links);
        self.endpoints.extend(other.endpoints);
        self.dataset |= other.dataset;
        self.adapter |= other.adapter;
        // An unreadable mention takes nothing from a readable one.
        self.confidence = self.confidence.max(other.confidence);
        self.evidence.extend(other.evidence);
        self.conflicts.extend(other.conflicts);
        self.properties.extend(other.properties);
        self.needs.extend(other.needs);
    }
}

/// All drafts of an inventory by reference, and the reference of each finding.
pub(crate) struct Drafts<'i> {
    pub(crate) by_reference: BTreeMap<String, Draft<'i>>,
    pub(crate) reference_of: BTreeMap<&'i Key, String>,
}

impl<'i> Drafts<'i> {
    /// Drafts every finding. Their order in the inventory does not matter.
    pub(crate) fn of(inventory: &'i Inventory, root: &str, scrubber: &mut Scrubber) -> Self {
        let mut list: Vec<(&'i Key, Draft<'i>)> = Vec::new();
        for model in &inventory.models {
            list.push((&model.finding.key, draft_model(model, root, scrubber)));
        }
        for runtime in &inventory.runtimes {
            list.push((&runtime.finding.key, draft_runtime(runtime, root, scrubber)));
        }
        for image in &inventory.images {
            list.push((&image.finding.key, draft_image(image, root, scrubber)));
        }
        for data in &inventory.data {
            list.push((&data.finding.key, draft_data(data, root, scrubber)));
        }
        for device in &inventory.devices {
            list.push((&device.finding.key, draft_device(device, root, scrubber)));
        }
        for service in &inventory.services {
            list.push((&service.finding.key, draft_service(service, root, scrubber)));
        }
        // Joining depends on the order, so drafts that meet are put into one that only their content decides.
        list.sort_by(|(a_key, a), (b_key, b)| {
            a.reference
                .cmp(&b.reference)
                .then_with(|| a_key.cmp(b_key))
                .then_with(|| b.confidence.cmp(&a.confidence).then_with(|| format!("{a:?}").cmp(&format!("{b:?}"))))
        });
        let mut by_reference: BTreeMap<String, Draft<'i>> = BTreeMap::new();
        let mut reference_of = BTreeMap::new();
        for (key, draft) in list {
            reference_of.entry(key).or_insert_with(|| draft.reference.clone());
            match by_reference.get_mut(&draft.reference) {
                Some(known) => known.join(draft),
                None => {
                    by_reference.insert(draft.reference.clone(), draft);
                }
            }
        }
        Self { by_reference, reference_of }
    }

    /// References of what a draft needs, itself excluded. Needs that no finding answers are left out.
    pub(crate) fn needed_by<'a>(&'a self, draft: &'a Draft<'i>) -> BTreeSet<&'a str> {
        draft
            .needs
            .iter()
            .filter_map(|key| self.reference_of.get(key))
            .map(String::as_str)
            .filter(|reference| *reference != draft.reference)
            .collect()
    }

    /// Components that a draft needs, in the order of references.
    pub(crate) fn needed_drafts<'a>(&'a self, draft: &'a Draft<'i>) -> impl Iterator<Item = &'a Draft<'i>> {
        self.needed_by(draft).into_iter().filter_map(|reference| self.by_reference.get(reference))
    }
}

/// The purl as text, unless the filter would touch it or what it was made from.
fn clean_purl(purl: Option<Purl>, parts: &[&str], scrubber: &mut Scrubber) -> Option<String> {
    if parts.iter().any(|part| !scrubber.is_masked(part)) {
        return None;
    }
    purl.map(|purl| purl.to_string()).filter(|text| scrubber.is_clean(text))
}

fn draft_model<'i>(model: &'i Model, root: &str, scrubber: &mut Scrubber) -> Draft<'i> {
    let revision = model.revision.as_deref();
    let commit = revision.filter(|text| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).map(str::to_ascii_lowercase);
    let purl = match &model.reference {
        ModelReference::Hub { owner, name } => {
            clean_purl(Purl::hugging_face(owner, name, commit.as_deref()), &[owner, name, &format!("{owner}/{name}")], scrubber)
        }
        ModelReference::Uri(_) | ModelReference::Path(_) | ModelReference::Name(_) => None,
    };
    let reference = purl.clone().unwrap_or_else(|| reference::local(root, &model.finding.key, scrubber));
    let mut draft = Draft::new(&model.finding, "machine-learning-model", reference);
    draft.id = Some(model.reference.id());
    draft.purl = purl;
    draft.adapter = model.role == Role::Adapter;
    match &model.reference {
        ModelReference::Hub { owner, name } => {
            draft.group = Some(owner.clone());
            draft.name.clone_from(name);
            let card = format!("https://huggingface.co/{owner}/{name}");
            if let Some(commit) = &commit {
                link(&mut draft, "distribution", &format!("{card}/tree/{commit}"), scrubber);
            }
            link(&mut draft, "model-card", &card, scrubber);
        }
        ModelReference::Uri(uri) => {
            draft.name.clone_from(uri);
            link(&mut draft, "distribution", uri, scrubber);
        }
        ModelReference::Path(text) | ModelReference::Name(text) => draft.name.clone_from(text),
    }
    draft.version = commit;
    for source in &model.sources {
        // A path is a place in a container, no place to fetch from.
        if !source.contains("://") || !link(&mut draft, "distribution", source, scrubber) {
            draft.property("model.source", source.as_str());
        }
    }
    draft.property("aibom.model.role", model.role.as_str());
    draft.property("model.form", model.reference.form());
    draft.property("model.revision", revision.unwrap_or_default());
    for served in &model.served {
        draft.property("model.served-name", served.as_str());
    }
    draft
}

/// Adds a link, or says why not: a text that is no IRI reference is refused by readers, and one with credentials is shown to nobody.
fn link(draft: &mut Draft<'_>, reference_type: &'static str, text: &str, scrubber: &mut Scrubber) -> bool {
    match linkable(text, scrubber) {
        Ok(()) => {
            draft.links.insert(ExternalReference { url: text.to_owned(), reference_type });
            true
        }
        Err(why) => {
            draft.property("aibom.link.omitted", why);
            false
        }
    }
}

fn linkable(text: &str, scrubber: &mut Scrubber) -> Result<(), &'static str> {
    url::check(text).map_err(Unfit::as_str)?;
    if scrubber.is_clean(text) { Ok(()) } else { Err("secret") }
}

fn draft_runtime<'i>(runtime: &'i Runtime, root: &str, scrubber: &mut Scrubber) -> Draft<'i> {
    let reference = reference::local(root, &runtime.finding.key, scrubber);
    let mut draft = Draft::new(&runtime.finding, if runtime.framework { "framework" } else { "application" }, reference);
    draft.version.clone_from(&runtime.version);
    draft.property("runtime.name", runtime.finding.key.name.as_str());
    // Patterns, commands and fields all speak about this runtime, whatever their text is.
    draft.id = None;
    draft
}

fn draft_image<'i>(image: &'i Image, root: &str, scrubber: &mut Scrubber) -> Draft<'i> {
    let purl = image.reference.as_ref().and_then(|parsed| clean_purl(Purl::oci(parsed), &[&image.written, &parsed.to_string()], scrubber));
    let reference = purl.clone().unwrap_or_else(|| reference::local(root, &image.finding.key, scrubber));
    let mut draft = Draft::new(&image.finding, "container", reference);
    draft.id = None;
    draft.purl = purl;
    draft.property("image.reference", image.written.trim());
    match &image.reference {
        Some(parsed) => {
            draft.name = parsed.name();
            draft.property("image.repository", parsed.name());
            draft.property("image.tag", parsed.tag.as_deref().unwrap_or_default());
            draft.version = parsed.digest.as_ref().map(ToString::to_string).or_else(|| parsed.tag.clone());
            if let Some(digest) = &parsed.digest {
                // Whether a digest is that of an index or of one platform's manifest only the registry knows.
                draft.property("image.digest-kind", "unknown");
                draft.hashes.extend(hash(&digest.algorithm, &digest.hex));
            }
        }
        None => image.written.trim().clone_into(&mut draft.name),
    }
    observed(&mut draft, image);
    if draft.purl.is_none() {
        draft.name = last_segments(&draft.name, 3);
    }
    for container in &image.containers {
        draft.property("container.name", container.name.as_str());
        draft.property("container.class", class_word(container.class));
        draft.property("container.init", if container.class == ContainerClass::Init { "true" } else { "false" });
        draft.property("aibom.container.template", container.template.as_str());
        draft.property("aibom.container.duty", duty_word(container.duty));
        if image.containers.len() > 1 {
            // With several containers the properties above are sets; this one says what belongs together.
            let template = if container.template.is_empty() { String::new() } else { format!("{}/", container.template) };
            draft.property("aibom.container.use", format!("{template}{} {}", container.name, class_word(container.class)));
        }
    }
    draft
}

/// What pods say that they run for an image.
fn observed<'i>(draft: &mut Draft<'i>, image: &'i Image) {
    let mut running = BTreeSet::new();
    for Observed { id, .. } in &image.observed {
        match id {
            ImageId::Manifest { digest, repository } => {
                draft.property("image.digest.observed", digest.to_string());
                running.insert(digest);
                // The kubelet names whatever repository it pulled these bytes from first.
                let other = repository.as_ref().filter(|name| image.reference.as_ref().is_some_and(|parsed| parsed.name() != **name));
                draft.property("image.repository.observed", other.cloned().unwrap_or_default());
            }
            // The digest of a configuration is none that anybody could pull.
            ImageId::Config(digest) => draft.property("image.id.observed", digest.to_string()),
        }
    }
    // While all run the same, how many they are is no fact about the image, and would change with every scaling.
    let digest_of = |id: &'i ImageId| match id {
        ImageId::Manifest { digest, .. } => (true, digest),
        ImageId::Config(digest) => (false, digest),
    };
    let different: BTreeSet<_> = image.observed.iter().map(|observed| digest_of(&observed.id)).collect();
    if different.len() > 1 {
        for Observed { id, container, pods, revisions } in &image.observed {
            let (_, digest) = digest_of(id);
            let of: Vec<String> = revisions.iter().map(|revision| format!(" revision={revision}")).collect();
            draft.property("image.digest.pods", format!("{digest} pods={pods} container={container}{}", of.concat()));
        }
    }
    match image.reference.as_ref().and_then(|parsed| parsed.digest.as_ref()) {
        None => {
            if let (1, Some(digest)) = (running.len(), running.first()) {
                draft.property("image.digest-kind", "unknown");
                draft.hashes.extend(hash(&digest.algorithm, &digest.hex));
            }
        }
        // An index and the manifest of one platform in it have different digests, and which of the two a pod names is the runtime's choice.
        Some(declared) if !running.is_empty() && !running.contains(declared) => draft.property("image.digest.drift", "true"),
        Some(_) => {}
    }
}

fn draft_data<'i>(data: &'i Data, root: &str, scrubber: &mut Scrubber) -> Draft<'i> {
    let reference = reference::local(root, &data.finding.key, scrubber);
    let mut draft = Draft::new(&data.finding, "data", reference);
    if !data.name.is_empty() {
        draft.name.clone_from(&data.name);
        draft.id = Some(data.name.clone());
    }
    let of_source = || data.finding.properties.get("volume.source").and_then(|values| values.first()).cloned();
    draft.data = Some(match data.kind {
        DataKind::Dataset => ComponentData { data_type: "dataset", name: draft.name.clone() },
        DataKind::Configuration => ComponentData { data_type: "configuration", name: draft.name.clone() },
        DataKind::Volume => ComponentData { data_type: "other", name: of_source().unwrap_or_else(|| draft.name.clone()) },
    });
    draft.dataset = data.kind == DataKind::Dataset;
    draft
}

fn draft_device<'i>(device: &'i Device, root: &str, scrubber: &mut Scrubber) -> Draft<'i> {
    let reference = reference::local(root, &device.finding.key, scrubber);
    let mut draft = Draft::new(&device.finding, "device", reference);
    draft.id = None;
    for quantity in &device.quantities {
        draft.property("resource.quantity", quantity.as_str());
    }
    draft
}

fn draft_service<'i>(service: &'i Service, root: &str, scrubber: &mut Scrubber) -> Draft<'i> {
    let reference = reference::local(root, &service.finding.key, scrubber);
    let mut draft = Draft::new(&service.finding, "", reference);
    for endpoint in &service.endpoints {
        match linkable(endpoint, scrubber) {
            Ok(()) => {
                draft.endpoints.insert(endpoint.clone());
            }
            Err(why) => {
                draft.property("aibom.link.omitted", why);
                draft.property("service.endpoint", endpoint.as_str());
            }
        }
    }
    draft
}

fn hash(algorithm: &str, hex: &str) -> Option<Hash> {
    let (alg, length) = match algorithm {
        "sha256" => ("SHA-256", 64),
        "sha512" => ("SHA-512", 128),
        _ => return None,
    };
    let fits = hex.len() == length && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    fits.then(|| Hash { alg, content: hex.to_owned() })
}

/// The end of a name without purl: readers take such a name apart at `/` and expect at most registry, repository and image.
fn last_segments(name: &str, count: usize) -> String {
    let start = name.rmatch_indices('/').nth(count - 1).map_or(0, |(at, _)| at + 1);
    name[start..].to_owned()
}

fn class_word(class: ContainerClass) -> &'static str {
    match class {
        ContainerClass::Main => "main",
        ContainerClass::Init => "init",
        ContainerClass::Sidecar => "sidecar",
    }
}

fn duty_word(duty: Duty) -> &'static str {
    match duty {
        Duty::Unknown => "",
        Duty::Engine => "engine",
        Duty::Infrastructure => "infrastructure",
    }
}
