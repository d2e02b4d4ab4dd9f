//! Inventory to document.

use std::borrow::Cow;

use aibom_facts::inventory::{Class, Confidence, Inventory, Origin};

use crate::cyclonedx::{
    Body, Bom, Component, Composition, DataReference, Dependency, DistributionConstraints, Evidence, Head, Lifecycle, Metadata, ModelCard,
    ModelParameters, Pedigree, Property, Service,
};
use crate::document::Document;
use crate::draft::{Draft, Drafts, Pairs};
use crate::evidence::{Identified, identity, location, occurrences, place, settle};
use crate::filter::{self, UNNAMED};
use crate::scrub::Scrubber;
use crate::{Options, PropertyNames, SpecVersion, envelope, names, reference, url};

pub(crate) fn render(inventory: &Inventory, options: &Options) -> Document {
    let mut scrubber = Scrubber::new();
    let root_reference = reference::root(inventory, options.cluster_uid.as_deref(), &mut scrubber);
    let drafts = Drafts::of(inventory, &root_reference, &mut scrubber);
    let context = Context { inventory, options, drafts: &drafts };

    let mut components = Vec::new();
    let mut services = Vec::new();
    let mut sure = Vec::new();
    for draft in drafts.by_reference.values() {
        let word = if draft.class == Class::Service {
            let (word, service) = context.service(draft);
            services.push(service);
            word
        } else {
            let (word, component) = context.component(draft);
            components.push(component);
            word
        };
        if matches!(draft.class, Class::Model | Class::Runtime) && word != Confidence::Unresolved {
            sure.push(word);
        }
    }
    components.sort_by(|a, b| (a.component_type, &a.bom_ref).cmp(&(b.component_type, &b.bom_ref)));

    let mut content = Bom {
        head: Head {
            schema: match options.spec_version {
                SpecVersion::V1_6 => "http://cyclonedx.org/schema/bom-1.6.schema.json",
                SpecVersion::V1_7 => "http://cyclonedx.org/schema/bom-1.7.schema.json",
            },
            bom_format: "CycloneDX",
            spec_version: options.spec_version.as_str(),
            serial_number: None,
            version: None,
        },
        metadata: Metadata {
            timestamp: None,
            lifecycles: vec![Lifecycle {
                phase: match inventory.origin {
                    Origin::Manifest => "discovery",
                    Origin::Cluster => "operations",
                },
            }],
            tools: None,
            component: context.root(&root_reference),
            properties: Vec::new(),
            distribution_constraints: options
                .tlp
                .filter(|_| options.spec_version == SpecVersion::V1_7)
                .map(|tlp| DistributionConstraints { tlp: tlp.as_str() }),
        },
        body: Body {
            components,
            services,
            dependencies: dependencies(&root_reference, &drafts),
            compositions: compositions(&root_reference, &drafts),
        },
        citations: Vec::new(),
    };
    filter::content(&mut content, &mut scrubber, options.property_names);
    let confidence = sure.into_iter().min().unwrap_or(Confidence::Unresolved);
    envelope::close(content, inventory, options, confidence, &mut scrubber)
}

/// Property of a workload that has no document of its own, with a number behind.
pub(crate) const OWNED: &str = "aibom.rollup.owned";

struct Context<'a> {
    inventory: &'a Inventory,
    options: &'a Options,
    drafts: &'a Drafts<'a>,
}

impl<'a> Context<'a> {
    fn component(&self, draft: &Draft<'a>) -> (Confidence, Component) {
        let objects = &self.inventory.objects;
        let (field, value) = match (&draft.purl, &draft.group) {
            (Some(purl), _) => ("purl", purl.clone()),
            (None, Some(group)) => ("name", format!("{group}/{}", draft.name)),
            (None, None) if draft.name.is_empty() => ("name", UNNAMED.to_owned()),
            (None, None) => ("name", draft.name.clone()),
        };
        let identified = Identified { field, value, id: draft.id.clone(), evidence: &draft.evidence, conflicts: &draft.conflicts };
        let (word, identity) = identity(&identified, draft.confidence, objects);
        let occurrences = occurrences(draft.evidence.iter().chain(&draft.conflicts).copied(), objects);
        let evidence = (!identity.is_empty() || !occurrences.is_empty()).then_some(Evidence { identity, occurrences });
        let is_model = draft.class == Class::Model;
        let component = Component {
            component_type: draft.component_type,
            bom_ref: Some(draft.reference.clone()),
            group: draft.group.clone(),
            name: draft.name.clone(),
            version: draft.version.clone(),
            is_external: (self.options.spec_version == SpecVersion::V1_7 && draft.class == Class::Device).then_some(true),
            hashes: draft.hashes.iter().cloned().collect(),
            purl: draft.purl.clone(),
            pedigree: if draft.adapter { self.pedigree(draft) } else { None },
            external_references: draft.links.iter().cloned().collect(),
            evidence,
            model_card: is_model.then(|| self.model_card(draft)),
            data: draft.data.clone().into_iter().collect(),
            properties: self.properties_of(draft, word),
        };
        (word, component)
    }

    fn service(&self, draft: &Draft<'a>) -> (Confidence, Service) {
        let best = draft.evidence.first().map(|piece| piece.source.hundredths());
        let word = settle(draft.confidence, best);
        let service = Service {
            bom_ref: draft.reference.clone(),
            name: draft.name.clone(),
            endpoints: draft.endpoints.iter().cloned().collect(),
            trust_boundary: draft.endpoints.is_empty() || !draft.endpoints.iter().all(|endpoint| is_in_cluster(endpoint)),
            properties: self.properties_of(draft, word),
        };
        (word, service)
    }

    /// The facts of a draft with those that readers look for beside the native members.
    fn properties_of(&self, draft: &Draft<'a>, word: Confidence) -> Vec<Property> {
        let objects = &self.inventory.objects;
        let mut pairs = draft.properties.clone();
        let mut add = |name: &'static str, value: Cow<'a, str>| pairs.insert((Cow::Borrowed(name), value));
        add("aibom.confidence", word.as_str().into());
        if let Some(first) = draft.evidence.first() {
            add("aibom.evidence.source", first.source.as_str().into());
            add("aibom.evidence.locator", place(first, objects).into());
        }
        for conflict in &draft.conflicts {
            add("aibom.conflict", place(conflict, objects).into());
        }
        if draft.class == Class::Model {
            add("identity.confidence", "claimed".into());
            if let Some((name, first)) = draft.evidence.first().and_then(|first| Some((identity_property(first.source)?, first))) {
                add(name, first.by.as_str().into());
            }
        }
        spelled(pairs, self.options.property_names)
    }

    /// An empty card is taken away by [`tidy`].
    fn model_card(&self, draft: &Draft<'a>) -> ModelCard {
        let settings: Pairs<'_> = draft
            .properties
            .iter()
            .filter_map(|(name, value)| Some((names::hyperparameter(name)?.into(), Cow::Borrowed(&**value))))
            .collect();
        let task = draft.properties.iter().find(|(name, _)| name == "model.task").map(|(_, value)| value.clone().into_owned());
        let datasets: Vec<DataReference> = self
            .drafts
            .needed_drafts(draft)
            .filter(|needed| needed.dataset)
            .map(|needed| DataReference { reference: needed.reference.clone() })
            .collect();
        ModelCard { model_parameters: Some(ModelParameters { task, datasets }), properties: spelled(settings, self.options.property_names) }
    }

    /// The models that an adapter was made from. They stand here by name; what they are in the document says `dependencies`.
    fn pedigree(&self, draft: &Draft<'a>) -> Option<Pedigree> {
        let ancestors: Vec<Component> = self
            .drafts
            .needed_drafts(draft)
            .filter(|needed| needed.class == Class::Model)
            .map(|needed| Component {
                component_type: needed.component_type,
                group: needed.group.clone(),
                name: needed.name.clone(),
                version: needed.version.clone(),
                purl: needed.purl.clone(),
                ..Component::default()
            })
            .collect();
        (!ancestors.is_empty()).then_some(Pedigree { ancestors })
    }

    fn root(&self, root_reference: &str) -> Component {
        let inventory = self.inventory;
        let mut pairs: Pairs<'_> = inventory
            .properties
            .iter()
            .filter(|(name, _)| !names::is_own_on_root(name))
            .flat_map(|(name, values)| values.iter().map(move |value| (name.into(), value.into())))
            .collect();
        let mut add = |name: &'static str, value: &'a str| pairs.insert((name.into(), value.into()));
        add(
            "aibom.source",
            match inventory.origin {
                Origin::Manifest => "manifest",
                Origin::Cluster => "cluster",
            },
        );
        if inventory.origin == Origin::Cluster {
            add("aibom.cluster.uid", self.options.cluster_uid.as_deref().unwrap_or_default());
        }
        let (mut group, mut name) = (None, String::new());
        if let Some(subject) = inventory.subject() {
            add("aibom.workload.group", &subject.group);
            add("aibom.workload.apiVersion", &subject.version);
            add("aibom.workload.kind", &subject.kind);
            add("aibom.workload.namespace", subject.namespace.as_deref().unwrap_or_default());
            add("aibom.workload.name", &subject.name);
            add("aibom.workload.uid", subject.uid.as_deref().unwrap_or_default());
            group.clone_from(&subject.namespace);
            name.clone_from(&subject.name);
        }
        for category in inventory.categories.keys() {
            add("aibom.workload.category", category.as_str());
        }
        let mut add = |name: Cow<'a, str>, value: String| pairs.insert((name, value.into()));
        for (category, evidence) in &inventory.categories {
            for piece in evidence {
                add("aibom.workload.category.evidence".into(), format!("{}: {}", category.as_str(), place(piece, &inventory.objects)));
            }
        }
        let rollup = &inventory.rollup;
        for (_, related) in (0_u32..).zip(&inventory.objects).skip(1).filter(|(index, _)| !rollup.parts.contains(index)) {
            add("aibom.related.object".into(), related.to_string());
        }
        for (index, owned) in rollup.owned.iter().enumerate().filter(|(_, owned)| !owned.passing) {
            add(format!("{OWNED}.{index}").into(), format!("{}/{}", owned.kind, owned.name));
        }
        for unread in &rollup.unread {
            add("aibom.rollup.incomplete".into(), unread.clone());
        }
        add("aibom.rollup.unresolved".into(), rollup.unresolved.clone().unwrap_or_default());
        for unknown in &inventory.unresolved {
            let reference = if unknown.reference.is_empty() { String::new() } else { format!(" {}", unknown.reference) };
            let value = format!("{}{reference} at {}", unknown.why, location(&unknown.at, &inventory.objects));
            add(format!("aibom.unresolved.{}", names::word(&unknown.what)).into(), value);
        }
        for problem in &inventory.problems {
            add("aibom.problem".into(), format!("{} at {}", problem.message, location(&problem.at, &inventory.objects)));
        }
        Component {
            component_type: "application",
            bom_ref: Some(root_reference.to_owned()),
            group,
            name,
            properties: spelled(pairs, self.options.property_names),
            ..Component::default()
        }
    }
}

/// Properties sorted by name and value. Entries without value say nothing and are left out.
pub(crate) fn spelled(pairs: Pairs<'_>, form: PropertyNames) -> Vec<Property> {
    let mut spelled: Vec<Property> = pairs
        .into_iter()
        .filter(|(name, value)| !name.trim().is_empty() && !value.trim().is_empty())
        .map(|(name, value)| Property { name: names::spell(name, form), value: value.into_owned() })
        .collect();
    // In another spelling they stand in another order.
    spelled.sort();
    spelled.dedup();
    spelled
}

/// Property that names what made a piece of evidence count, as readers of the older form know it.
fn identity_property(source: aibom_facts::inventory::Source) -> Option<&'static str> {
    use aibom_facts::inventory::Source;
    match source {
        Source::ContainerArg | Source::ShellScript => Some("identity.argFlag"),
        Source::EnvVar | Source::EnvVarConvention => Some("identity.envVarName"),
        Source::WorkloadAnnotation => Some("identity.annotation"),
        _ => None,
    }
}

/// Whether a URL leads to this cluster: a bare host name, a service name, or the pod itself.
fn is_in_cluster(endpoint: &str) -> bool {
    url::host(endpoint).is_some_and(|host| {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let labels: Vec<&str> = host.split('.').collect();
        (labels.len() == 1 && !host.contains(':'))
            || matches!(&*host, "127.0.0.1" | "[::1]")
            || labels[1..].contains(&"svc")
            || labels.ends_with(&["cluster", "local"])
    })
}

/// Every reference once. The workload depends on everything that was found in it.
fn dependencies(root_reference: &str, drafts: &Drafts<'_>) -> Vec<Dependency> {
    let mut list: Vec<Dependency> = drafts
        .by_reference
        .values()
        .map(|draft| Dependency {
            reference: draft.reference.clone(),
            depends_on: drafts.needed_by(draft).into_iter().map(str::to_owned).collect(),
        })
        .collect();
    list.push(Dependency { reference: root_reference.to_owned(), depends_on: drafts.by_reference.keys().cloned().collect() });
    list.sort_by(|a, b| a.reference.cmp(&b.reference));
    list
}

/// What is not known: images and models are not opened, and nobody says that a manifest names all it uses.
fn compositions(root_reference: &str, drafts: &Drafts<'_>) -> Vec<Composition> {
    let root = vec![root_reference.to_owned()];
    let closed: Vec<String> = drafts
        .by_reference
        .values()
        .filter(|draft| matches!(draft.class, Class::Image | Class::Model))
        .map(|draft| draft.reference.clone())
        .collect();
    let mut list = vec![Composition { aggregate: "incomplete", assemblies: root.clone(), dependencies: Vec::new() }];
    if !closed.is_empty() {
        list.push(Composition { aggregate: "unknown", assemblies: closed, dependencies: Vec::new() });
    }
    list.push(Composition { aggregate: "incomplete", assemblies: Vec::new(), dependencies: root });
    list
}
