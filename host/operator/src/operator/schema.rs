//! Whether the definitions in the cluster know every field that this controller writes and reads.

use aibom_api::compare::missing_from_definition;
use aibom_watch::{Cause, Client, Failure, Resource};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

/// Fields of our definitions that the served ones lack, each with the name of its definition.
///
/// # Errors
/// A definition could not be read.
pub async fn missing_fields(client: &Client) -> Result<Vec<String>, Failure> {
    let definitions = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition");
    let mut missing = Vec::new();
    for ours in aibom_api::crd::definitions() {
        let name = ours.metadata.name.clone().unwrap_or_default();
        match client.get::<CustomResourceDefinition>(&definitions.object_path(None, &name)).await {
            Ok(served) => {
                missing.extend(missing_from_definition(&served, &ours).into_iter().map(|field| format!("{name}: {field}")));
            }
            Err(failure) if failure.cause == Cause::NotFound => missing.push(format!("{name}: the definition itself")),
            Err(failure) => return Err(failure),
        }
    }
    Ok(missing)
}
