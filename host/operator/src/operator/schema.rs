//! Whether the definitions in the cluster know every field that this controller writes and reads.

use aibom_api::VERSION;
use aibom_api::compare::missing_from_definition;
use aibom_watch::{Cause, Client, Failure, Resource};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

/// Our definitions that are not installed, or not served in the version that is read and written, each with what is wrong.
///
/// # Errors
/// A definition could not be read.
pub async fn not_served(client: &Client) -> Result<Vec<String>, Failure> {
    let definitions = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition");
    let mut missing = Vec::new();
    for ours in aibom_api::crd::definitions() {
        let name = ours.metadata.name.unwrap_or_default();
        match client.get::<CustomResourceDefinition>(&definitions.object_path(None, &name)).await {
            Ok(found) if found.spec.versions.iter().any(|version| version.name == VERSION && version.served) => {}
            Ok(found) => {
                let served: Vec<String> =
                    found.spec.versions.into_iter().filter(|version| version.served).map(|version| version.name).collect();
                missing.push(format!("the definition {name} does not serve {VERSION}, but {}", served.join(", ")));
            }
            Err(failure) if failure.cause == Cause::NotFound => missing.push(format!("the definition {name} is not installed")),
            Err(failure) => return Err(failure),
        }
    }
    Ok(missing)
}

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
