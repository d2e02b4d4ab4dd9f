//! The part of CycloneDX 1.6 and 1.7 that is written here, as serde structures in the order of the schema. Lists and optional
//! members that are empty are left out, since readers that omit empty values would lose them on a round trip.

#![allow(clippy::struct_field_names, reason = "members are named as the schema names them")]

use serde::Serialize;

use crate::strings::strings;

/// A document in its parts: most of it stands in the body, which is written once, whatever is put around it later.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Bom {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) metadata: Metadata,
    #[serde(flatten)]
    pub(crate) body: Body,
    /// 1.7 only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) citations: Vec<Citation>,
}

/// What stands in front of the metadata.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Head {
    #[serde(rename = "$schema")]
    pub(crate) schema: &'static str,
    #[serde(rename = "bomFormat")]
    pub(crate) bom_format: &'static str,
    #[serde(rename = "specVersion")]
    pub(crate) spec_version: &'static str,
    #[serde(rename = "serialNumber", skip_serializing_if = "Option::is_none")]
    pub(crate) serial_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u32>,
}

/// What stands behind the metadata and is content.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Body {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) components: Vec<Component>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) services: Vec<Service>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) compositions: Vec<Composition>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<String>,
    pub(crate) lifecycles: Vec<Lifecycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Tools>,
    pub(crate) component: Component,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) properties: Vec<Property>,
    /// 1.7 only.
    #[serde(rename = "distributionConstraints", skip_serializing_if = "Option::is_none")]
    pub(crate) distribution_constraints: Option<DistributionConstraints>,
}
strings!(Metadata { timestamp, tools, component, properties } constants { lifecycles, distribution_constraints });

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DistributionConstraints {
    pub(crate) tlp: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Lifecycle {
    pub(crate) phase: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Tools {
    pub(crate) components: Vec<Component>,
}
strings!(Tools { components } constants {});

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Component {
    #[serde(rename = "type")]
    pub(crate) component_type: &'static str,
    #[serde(rename = "bom-ref", skip_serializing_if = "Option::is_none")]
    pub(crate) bom_ref: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// 1.7 only.
    #[serde(rename = "isExternal", skip_serializing_if = "Option::is_none")]
    pub(crate) is_external: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hashes: Vec<Hash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) purl: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pedigree: Option<Pedigree>,
    #[serde(rename = "externalReferences", skip_serializing_if = "Vec::is_empty")]
    pub(crate) external_references: Vec<ExternalReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<Evidence>,
    #[serde(rename = "modelCard", skip_serializing_if = "Option::is_none")]
    pub(crate) model_card: Option<ModelCard>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) data: Vec<ComponentData>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) properties: Vec<Property>,
}
strings!(Component { bom_ref, group, name, version, hashes, purl, pedigree, external_references, evidence, model_card, data, properties } constants { component_type, is_external });

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Hash {
    pub(crate) alg: &'static str,
    pub(crate) content: String,
}
strings!(Hash { content } constants { alg });

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Pedigree {
    pub(crate) ancestors: Vec<Component>,
}
strings!(Pedigree { ancestors } constants {});

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct ExternalReference {
    // The schema writes `url` first; readers do not care, byte comparison does.
    pub(crate) url: String,
    #[serde(rename = "type")]
    pub(crate) reference_type: &'static str,
}
strings!(ExternalReference { url } constants { reference_type });

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Evidence {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) identity: Vec<Identity>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) occurrences: Vec<Occurrence>,
}
strings!(Evidence { identity, occurrences } constants {});

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Identity {
    pub(crate) field: &'static str,
    pub(crate) confidence: f64,
    #[serde(rename = "concludedValue")]
    pub(crate) concluded_value: String,
    pub(crate) methods: Vec<Method>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
}
strings!(Identity { concluded_value, methods, tools } constants { field, confidence });

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Method {
    pub(crate) technique: &'static str,
    pub(crate) confidence: f64,
    pub(crate) value: String,
}
strings!(Method { value } constants { technique, confidence });

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Occurrence {
    pub(crate) location: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) symbol: Option<String>,
    #[serde(rename = "additionalContext", skip_serializing_if = "Option::is_none")]
    pub(crate) additional_context: Option<String>,
}
strings!(Occurrence { location, symbol, additional_context } constants {});

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ModelCard {
    #[serde(rename = "modelParameters", skip_serializing_if = "Option::is_none")]
    pub(crate) model_parameters: Option<ModelParameters>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) properties: Vec<Property>,
}
strings!(ModelCard { model_parameters, properties } constants {});

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ModelParameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) datasets: Vec<DataReference>,
}
strings!(ModelParameters { task, datasets } constants {});

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct DataReference {
    #[serde(rename = "ref")]
    pub(crate) reference: String,
}
strings!(DataReference { reference } constants {});

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ComponentData {
    #[serde(rename = "type")]
    pub(crate) data_type: &'static str,
    pub(crate) name: String,
}
strings!(ComponentData { name } constants { data_type });

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) value: String,
}
strings!(Property { name, value } constants {});

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Service {
    #[serde(rename = "bom-ref")]
    pub(crate) bom_ref: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) endpoints: Vec<String>,
    #[serde(rename = "x-trust-boundary")]
    pub(crate) trust_boundary: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) properties: Vec<Property>,
}
strings!(Service { bom_ref, name, endpoints, properties } constants { trust_boundary });

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Dependency {
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    #[serde(rename = "dependsOn", skip_serializing_if = "Vec::is_empty")]
    pub(crate) depends_on: Vec<String>,
}
strings!(Dependency { reference, depends_on } constants {});

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Composition {
    pub(crate) aggregate: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) assemblies: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) dependencies: Vec<String>,
}
strings!(Composition { assemblies, dependencies } constants { aggregate });

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Citation {
    pub(crate) pointers: Vec<String>,
    pub(crate) timestamp: String,
    #[serde(rename = "attributedTo")]
    pub(crate) attributed_to: String,
}
strings!(Citation { pointers, timestamp, attributed_to } constants {});
