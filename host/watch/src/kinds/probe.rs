//! Whether objects of a kind can be read right now.

use serde::Deserialize;

use crate::client::{Accept, Client};
use crate::failure::{Cause, Failure};
use crate::resource::{Resource, Scope};

/// Namespace and name of an object.
pub(super) type Name = (String, String);

/// Why objects cannot be read, and which one it was, if it was one.
#[derive(Debug)]
pub(super) struct Missed {
    pub(super) failure: Failure,
    pub(super) name: Option<Name>,
}

impl From<Failure> for Missed {
    fn from(failure: Failure) -> Self {
        Self { failure, name: None }
    }
}

/// Lists one object, and reads it, or `hint`, by its name. True when an object was read, false when there is none.
///
/// A list is answered out of the API server's watch cache as long as nothing was written since the conversion webhook died; only a read by
/// name, without a version, goes to the store and through the webhook.
///
/// # Errors
/// Objects cannot be read.
pub(super) async fn probe(client: &Client, resource: &Resource, hint: Option<Name>) -> Result<bool, Missed> {
    #[derive(Deserialize)]
    struct List {
        #[serde(default)]
        items: Option<Vec<Item>>,
    }
    #[derive(Deserialize)]
    struct Item {
        metadata: Named,
    }
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        namespace: String,
        name: String,
    }
    let text = client.list_text(&format!("{}?limit=1", resource.path(&Scope::Cluster)), Accept::Metadata).await?;
    let list: List = serde_json::from_str(&text)
        .map_err(|error| Failure::new(Cause::Decode, format!("a list of {resource} cannot be read: {error}")))?;
    let listed = list.items.unwrap_or_default().into_iter().next().map(|item| (item.metadata.namespace, item.metadata.name));
    // What was known may be gone by now, and of what is gone nothing is converted.
    for (namespace, name) in hint.into_iter().chain(listed) {
        match client.get_text(&resource.object_path(Some(&namespace), &name), Accept::Metadata).await {
            Ok(_) => return Ok(true),
            Err(failure) if failure.cause == Cause::NotFound => {}
            Err(failure) => return Err(Missed { failure, name: Some((namespace, name)) }),
        }
    }
    Ok(false)
}
