//! What a served schema lacks, so that the controller can say that the definitions in the cluster are older than it is.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use crate::VERSION;

/// Paths of fields that `ours` has and `served` has not, at any depth, in the order of their names.
///
/// Elements of lists are written `[]`, values of maps `*`: `spec.sinks[].gcs.pathTemplate`. Of a field that is missing with all that is
/// below it, only the field itself is named. A field of another type is missing, as what we would write there is refused. A value of a
/// closed vocabulary that the served schema does not allow is named after its field: `spec.bomGeneration.specVersion=1.7`. Where the
/// served schema keeps unknown fields, nothing is missing. Further fields of the served schema are no difference.
pub fn missing_fields(served: &JSONSchemaProps, ours: &JSONSchemaProps) -> Vec<String> {
    let mut missing = Vec::new();
    compare("", served, ours, &mut missing);
    missing
}

/// [`missing_fields`] of the version that we write, for a definition as it is in the cluster. A definition that does not serve this version lacks
/// the version itself, and that is what is named: `v1beta1`.
pub fn missing_from_definition(served: &CustomResourceDefinition, ours: &CustomResourceDefinition) -> Vec<String> {
    match (schema_of(served), schema_of(ours)) {
        (Some(served), Some(ours)) => missing_fields(served, ours),
        (None, Some(_)) => vec![VERSION.to_owned()],
        (_, None) => Vec::new(),
    }
}

fn schema_of(definition: &CustomResourceDefinition) -> Option<&JSONSchemaProps> {
    let version = definition.spec.versions.iter().find(|version| version.name == VERSION && version.served)?;
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}

fn compare(path: &str, served: &JSONSchemaProps, ours: &JSONSchemaProps, missing: &mut Vec<String>) {
    if served.type_ != ours.type_ && ours.type_.is_some() && served.type_.is_some() {
        missing.push(path.to_owned());
        return;
    }
    if let (Some(allowed), Some(wanted)) = (&served.enum_, &ours.enum_) {
        for value in wanted.iter().filter(|value| !allowed.contains(value)) {
            let shown = value.0.as_str().map_or_else(|| value.0.to_string(), str::to_owned);
            missing.push(format!("{path}={shown}"));
        }
    }
    let keeps_unknown = served.x_kubernetes_preserve_unknown_fields == Some(true);
    let none = BTreeMap::new();
    let has = served.properties.as_ref().unwrap_or(&none);
    for (name, wanted) in ours.properties.iter().flatten() {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match has.get(name) {
            Some(found) => compare(&below, found, wanted, missing),
            None if keeps_unknown => {}
            // A map takes every name, with one schema for all values.
            None => match values(served) {
                Values::Any => {}
                Values::Of(found) => compare(&below, found, wanted, missing),
                Values::None => missing.push(below),
            },
        }
    }
    if let Some(JSONSchemaPropsOrArray::Schema(wanted)) = &ours.items
        && let Some(JSONSchemaPropsOrArray::Schema(found)) = &served.items
    {
        compare(&format!("{path}[]"), found, wanted, missing);
    }
    match (values(ours), values(served)) {
        (Values::None, _) | (_, Values::Any) => {}
        (Values::Of(wanted), Values::Of(found)) => compare(&format!("{path}.*"), found, wanted, missing),
        (Values::Of(_) | Values::Any, _) if keeps_unknown => {}
        (Values::Of(_) | Values::Any, _) => missing.push(format!("{path}.*")),
    }
    if ours.x_kubernetes_preserve_unknown_fields == Some(true) && !keeps_unknown && matches!(values(served), Values::None) {
        missing.push(format!("{path}.*"));
    }
}

/// What the values of a map may be.
enum Values<'a> {
    None,
    Any,
    Of(&'a JSONSchemaProps),
}

fn values(schema: &JSONSchemaProps) -> Values<'_> {
    match &schema.additional_properties {
        None | Some(JSONSchemaPropsOrBool::Bool(false)) => Values::None,
        Some(JSONSchemaPropsOrBool::Bool(true)) => Values::Any,
        Some(JSONSchemaPropsOrBool::Schema(schema)) => Values::Of(schema),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::crd;

    fn schema(value: Value) -> JSONSchemaProps {
        serde_json::from_value(value).unwrap()
    }

    fn object(properties: &Value) -> Value {
        json!({ "type": "object", "properties": properties })
    }

    #[test]
    fn a_schema_lacks_nothing_of_itself_and_nothing_of_a_smaller_one() {
        for definition in crd::definitions() {
            assert_eq!(missing_from_definition(&definition, &definition), Vec::<String>::new());
        }
        let small = schema(object(&json!({ "a": { "type": "string" } })));
        let large = schema(object(&json!({ "a": { "type": "string" }, "b": { "type": "string" } })));
        assert_eq!(missing_fields(&large, &small), Vec::<String>::new());
        assert_eq!(missing_fields(&small, &large), ["b"]);
    }

    #[test]
    fn what_is_missing_is_named_at_any_depth() {
        let ours = object(&json!({
            "spec": object(&json!({
                "list": { "type": "array", "items": object(&json!({ "a": { "type": "string" }, "b": { "type": "integer" } })) },
                "map": { "type": "object", "additionalProperties": object(&json!({ "c": { "type": "string" } })) },
                "sub": object(&json!({ "d": object(&json!({ "e": { "type": "string" } })) })),
                "free": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                "word": { "type": "string", "enum": ["x", "y"] },
            })),
        }));
        let served = object(&json!({
            "spec": object(&json!({
                "list": { "type": "array", "items": object(&json!({ "a": { "type": "string" } })) },
                "map": { "type": "object", "additionalProperties": object(&json!({})) },
                "sub": object(&json!({ "other": { "type": "string" } })),
                "free": { "type": "object" },
                "word": { "type": "string", "enum": ["x"] },
            })),
        }));
        let missing = missing_fields(&schema(served), &schema(ours));
        assert_eq!(missing, ["spec.free.*", "spec.list[].b", "spec.map.*.c", "spec.sub.d", "spec.word=y"]);
    }

    #[test]
    fn nothing_is_missing_where_unknown_fields_are_kept() {
        let ours = schema(object(&json!({ "a": object(&json!({ "b": { "type": "string" } })) })));
        for keeps in [
            json!({ "type": "object", "properties": { "a": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } }),
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
            json!({ "type": "object", "properties": { "a": { "type": "object", "additionalProperties": true } } }),
        ] {
            assert_eq!(missing_fields(&schema(keeps.clone()), &ours), Vec::<String>::new(), "{keeps}");
        }
    }

    #[test]
    fn a_field_of_another_type_is_missing() {
        let ours = schema(object(&json!({ "a": { "type": "integer" } })));
        assert_eq!(missing_fields(&schema(object(&json!({ "a": { "type": "string" } }))), &ours), ["a"]);
    }

    #[test]
    fn a_vocabulary_that_was_opened_lacks_nothing() {
        let ours = schema(object(&json!({ "a": { "type": "string", "enum": ["x"] } })));
        assert_eq!(missing_fields(&schema(object(&json!({ "a": { "type": "string" } }))), &ours), Vec::<String>::new());
    }

    #[test]
    fn fields_taken_out_of_our_own_definition_are_found_again() {
        let ours = crd::config_definition();
        let mut served = ours.clone();
        let schema = served.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
        let spec = schema.properties.as_mut().unwrap().get_mut("spec").unwrap().properties.as_mut().unwrap();
        spec.remove("plugins");
        spec.get_mut("discovery").unwrap().properties.as_mut().unwrap().remove("workloadKinds");
        assert_eq!(missing_from_definition(&served, &ours), ["spec.discovery.workloadKinds", "spec.plugins"]);
    }

    #[test]
    fn a_definition_without_our_version_lacks_the_version() {
        let ours = crd::aibom_definition();
        let mut served = ours.clone();
        served.spec.versions.retain(|version| version.name != VERSION);
        assert_eq!(missing_from_definition(&served, &ours), [VERSION]);
        let mut unserved = ours.clone();
        unserved.spec.versions[0].served = false;
        assert_eq!(missing_from_definition(&unserved, &ours), [VERSION]);
    }
}
