//! Objects as they come from the API server: their text, and what a controller needs to know of each.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::meta::Meta;
use crate::resource::Resource;

/// An object as it came.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its metadata.
    pub meta: Meta,
    /// All of it, as JSON.
    pub text: Box<RawValue>,
}

impl Object {
    /// An item of a list, with its `kind` and `apiVersion`. Items of lists of the built-in kinds come without them, and whoever reads an
    /// object by its kind needs them.
    ///
    /// # Errors
    /// The text is no JSON object with a `metadata` of the right shape.
    pub fn item(text: Box<RawValue>, resource: &Resource) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Item {
            kind: Option<IgnoredAny>,
            api_version: Option<IgnoredAny>,
            #[serde(default)]
            metadata: Meta,
        }
        let item: Item = serde_json::from_str(text.get())?;
        // Duplicates would make the object unreadable, and one without the other is nothing that a server sends.
        if item.kind.is_some() || item.api_version.is_some() {
            return Ok(Self { meta: item.metadata, text });
        }
        let body = text.get().trim_start().strip_prefix('{').unwrap_or_default().trim_start();
        let comma = if body.starts_with('}') { "" } else { "," };
        let typed = format!(r#"{{"kind":"{}","apiVersion":"{}"{comma}{body}"#, resource.kind, resource.api_version());
        Ok(Self { meta: item.metadata, text: RawValue::from_string(typed)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_of_a_list_gets_its_type_and_an_object_keeps_it() {
        let resource = Resource::new("apps", "v1", "deployments", "Deployment");
        let item = |text: &str| Object::item(RawValue::from_string(text.to_owned()).unwrap(), &resource);
        let typed = |text: &str| item(text).unwrap().text.get().to_owned();
        assert_eq!(typed(r#"{"metadata":{}}"#), r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{}}"#);
        assert_eq!(typed("{ }"), r#"{"kind":"Deployment","apiVersion":"apps/v1"}"#);
        let own = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{}}"#;
        assert_eq!(typed(own), own);
        assert_eq!(item(r#"{"metadata":{"name":"a"}}"#).unwrap().meta.name, "a");
        assert!(item("7").is_err() && item(r#"{"metadata":{"name":5}}"#).is_err());
    }
}
