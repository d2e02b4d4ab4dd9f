//! Definitions of the custom resources, made from the types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt as _;

use crate::SERVED_VERSIONS;
use crate::aibom::Aibom;
use crate::canonical::Canonical;
use crate::config::AibomControllerConfig;

/// What stands in front of a file.
const HEADER: &str = "# Written by `cargo xtask crdgen` from the types of host/api. Do not edit.\n";

/// Width at which descriptions are broken, in characters after their indentation.
const WIDTH: usize = 100;

/// A file of the folder `crds/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name, `<group>_<plural>.yaml`.
    pub name: String,
    /// Content.
    pub yaml: String,
}

/// A definition that cannot be written as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the definition of {name} cannot be written as YAML: {reason}")]
pub struct YamlError {
    /// Name of the definition.
    pub name: String,
    /// What the writer said.
    pub reason: String,
}

/// Both definitions.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    vec![aibom_definition(), config_definition()]
}

/// The definition of AIBOM: namespaced, with a status of its own.
pub fn aibom_definition() -> CustomResourceDefinition {
    finish(Aibom::crd())
}

/// The definition of AIBOMControllerConfig: for the whole cluster, with a status of its own.
pub fn config_definition() -> CustomResourceDefinition {
    finish(AibomControllerConfig::crd())
}

/// The files of the folder `crds/`. Same types, same bytes.
///
/// # Errors
/// When the YAML library refuses a value, which no type of ours can make it do.
pub fn files() -> Result<Vec<File>, YamlError> {
    let file = |definition: &CustomResourceDefinition| {
        let name = format!("{}_{}.yaml", definition.spec.group, definition.spec.names.plural);
        Ok(File { name, yaml: format!("{HEADER}{}", to_yaml(definition)?) })
    };
    definitions().iter().map(file).collect()
}

/// A definition as YAML: keys sorted, whole numbers without a point, long descriptions broken into lines.
///
/// # Errors
/// When the YAML library refuses a value.
pub fn to_yaml(definition: &CustomResourceDefinition) -> Result<String, YamlError> {
    let error = |reason: String| YamlError { name: definition.metadata.name.clone().unwrap_or_default(), reason };
    let value = serde_json::to_value(definition).map_err(|reason| error(reason.to_string()))?;
    let options = serde_saphyr::ser_options! { folded_wrap_chars: WIDTH };
    serde_saphyr::to_string_with_options(&Canonical::from(value), options).map_err(|reason| error(reason.to_string()))
}

/// All versions with one schema, and what the derive leaves out.
fn finish(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    let names = &mut definition.spec.names;
    names.list_kind = Some(format!("{}List", names.kind));
    // The server changes nothing but `apiVersion`, which is right because the versions have one schema.
    definition.spec.conversion = Some(CustomResourceConversion { strategy: "None".to_owned(), webhook: None });
    if let Some(mut stored) = definition.spec.versions.pop() {
        if let Some(schema) = stored.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            tidy(schema);
            // An object without spec is valid: every section has its default.
            schema.required = None;
        }
        definition.spec.versions = SERVED_VERSIONS
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let mut version = stored.clone();
                (*name).clone_into(&mut version.name);
                version.served = true;
                version.storage = index == 0;
                version
            })
            .collect();
    }
    definition
}

/// Takes away what only describes the Rust types, at every depth.
///
/// `nullable` is one of these: an absent field is left out, never written as null, and the Go operator's schema forbids null too.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.title = None;
    schema.nullable = None;
    // What remains of an optional word.
    if let Some(words) = &mut schema.enum_ {
        words.retain(|word| !word.0.is_null());
    }
    if let Some(description) = &mut schema.description {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if let Some(required) = &mut schema.required {
        required.sort();
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        tidy(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        tidy(values);
    }
    for property in schema.properties.iter_mut().flat_map(|properties| properties.values_mut()) {
        tidy(property);
    }
}
