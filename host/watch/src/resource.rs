//! Resources and where they are in the API.

use std::fmt;

/// A resource in one version, as URLs name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// API group, empty for the core group.
    pub group: String,
    /// Version, such as `v1beta1`.
    pub version: String,
    /// Plural, lower case.
    pub plural: String,
    /// Kind.
    pub kind: String,
}

/// Which objects of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All of the cluster, or those of a resource without namespaces.
    Cluster,
    /// Those of one namespace.
    Namespace(String),
}

impl Resource {
    /// A resource; the core group is the empty one.
    pub fn new(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self { group: group.to_owned(), version: version.to_owned(), plural: plural.to_owned(), kind: kind.to_owned() }
    }

    /// The definitions of custom resources.
    pub fn definitions() -> Self {
        Self::new("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition")
    }

    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Path of the collection.
    pub fn path(&self, scope: &Scope) -> String {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", self.group) };
        match scope {
            Scope::Cluster => format!("{root}/{}/{}", self.version, self.plural),
            Scope::Namespace(namespace) => format!("{root}/{}/namespaces/{}/{}", self.version, escaped(namespace), self.plural),
        }
    }

    /// Path of one object.
    pub fn object_path(&self, namespace: Option<&str>, name: &str) -> String {
        let scope = namespace.map_or(Scope::Cluster, |namespace| Scope::Namespace(namespace.to_owned()));
        format!("{}/{}", self.path(&scope), escaped(name))
    }
}

/// `plural.group`, the name of its definition where it has one.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() { f.write_str(&self.plural) } else { write!(f, "{}.{}", self.plural, self.group) }
    }
}

/// A text as it may stand in a path or a query.
pub(crate) fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        let pods = Resource::new("", "v1", "pods", "Pod");
        assert_eq!(pods.path(&Scope::Cluster), "/api/v1/pods");
        assert_eq!(pods.object_path(Some("demo"), "a"), "/api/v1/namespaces/demo/pods/a");
        let widgets = Resource::new("example.com", "v1beta1", "widgets", "Widget");
        assert_eq!(widgets.path(&Scope::Namespace("demo".to_owned())), "/apis/example.com/v1beta1/namespaces/demo/widgets");
        assert_eq!(widgets.object_path(None, "a/../b"), "/apis/example.com/v1beta1/widgets/a%2F..%2Fb");
        assert_eq!((widgets.to_string(), widgets.api_version()), ("widgets.example.com".to_owned(), "example.com/v1beta1".to_owned()));
    }
}
