//! Whether the definitions in the cluster know every field that this controller writes and reads.

use aibom_api::VERSION;
use aibom_api::compare::missing_from_definition;
use aibom_watch::{Cause, Client, Failure, Resource};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;

/// Our definitions that are not installed, or not served in the version that is read and written, each with what is wrong.
///
/// # Errors
/// A definition could not be read.
pub async fn not_served(client: &Client) -> Result<Vec<String>, Failure> {
    complaints(client, |ours, found| {
        let name = ours.name_any();
        let Some(found) = found else { return vec![format!("the definition {name} is not installed")] };
        if found.spec.versions.iter().any(|version| version.name == VERSION && version.served) {
            return Vec::new();
        }
        let served: Vec<&str> = found.spec.versions.iter().filter(|version| version.served).map(|version| &*version.name).collect();
        vec![format!("the definition {name} does not serve {VERSION}, but {}", served.join(", "))]
    })
    .await
}

/// Fields of our definitions that the served ones lack, each with the name of its definition.
///
/// # Errors
/// A definition could not be read.
pub async fn missing_fields(client: &Client) -> Result<Vec<String>, Failure> {
    complaints(client, |ours, found| {
        let missing = match found {
            Some(found) => missing_from_definition(found, ours),
            None => vec!["the definition itself".to_owned()],
        };
        missing.into_iter().map(|field| format!("{}: {field}", ours.name_any())).collect()
    })
    .await
}

/// What is wrong with our definitions as the cluster has them. `check` is given each as it should be, and as it is if there is one.
async fn complaints(
    client: &Client,
    check: impl Fn(&CustomResourceDefinition, Option<&CustomResourceDefinition>) -> Vec<String>,
) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for ours in aibom_api::crd::definitions() {
        let found = match client.get(&Resource::definitions().object_path(None, &ours.name_any())).await {
            Ok(found) => Some(found),
            Err(failure) if failure.cause == Cause::NotFound => None,
            Err(failure) => return Err(failure),
        };
        all.extend(check(&ours, found.as_ref()));
    }
    Ok(all)
}
