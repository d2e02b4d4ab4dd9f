//! The first major version of the contract, as wasmtime's bindings see it. The generated types end in this crate: callers get the
//! types of [`crate::description`] and of `aibom_facts::report`. A second major version would be a second module like this one.

use crate::description::{Description, KindRef};

wasmtime::component::bindgen!({
    path: "../../wit/v1.0.0",
    world: "plugin",
    imports: { default: trappable },
    with: { "k8s-aibom:scraper/view.node": crate::state::Handle },
});

pub(crate) use k8s_aibom::scraper::{log, types, view};

/// Package of the contract.
pub(crate) const PACKAGE: &str = "k8s-aibom:scraper";
/// Interfaces that a guest may import.
pub(crate) const IMPORTS: [&str; 3] = ["view", "log", "types"];
/// The interface that a guest must export.
pub(crate) const EXPORT: &str = "scraper";
/// The major version that is understood.
pub(crate) const MAJOR: u64 = 1;
/// The version whose text the host was built with.
pub(crate) const VERSION: &str = "1.0.0";

impl From<types::KindRef> for KindRef {
    fn from(kind: types::KindRef) -> Self {
        Self { group: kind.group, kind: kind.kind, plural: kind.plural, versions: kind.versions }
    }
}

impl From<types::Description> for Description {
    fn from(description: types::Description) -> Self {
        let kinds = |list: Vec<types::KindRef>| list.into_iter().map(KindRef::from).collect();
        Self {
            name: description.name,
            version: description.version,
            kinds: kinds(description.kinds),
            intermediates: kinds(description.intermediates),
            related: kinds(description.related),
            reads_status: description.reads_status,
            options_schema: description.options_schema,
        }
    }
}
