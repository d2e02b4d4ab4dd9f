//! What a scraper asks for before it can finish.

use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::tree::Tree;

use crate::contract::types;
use crate::description::{Description, is_dns_label, is_dns_name};
use crate::text;
use crate::walk::{self, Steps};

/// Wants of one call.
pub(crate) const MAX_WANTS: usize = 64;

/// A read that a scraper asks for. Answers go back in the order of the wants, so a want that must not be answered stays in its place,
/// says why in `refused`, and names nothing: whoever looks it up all the same finds no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// API group, empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; none for a cluster-scoped object.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// The place in the object that names it.
    pub at: Locator,
    /// Why it must be answered with none.
    pub refused: Option<Refusal>,
}

/// Why a want is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// `describe` does not name the kind, or it is Secret.
    Kind,
    /// Neither the namespace of the object nor the cluster scope.
    Namespace,
    /// No object can have this name.
    Name,
    /// The place does not resolve in the object.
    Place,
}

impl Refusal {
    /// The word used in metrics and log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Namespace => "namespace",
            Self::Name => "name",
            Self::Place => "place",
        }
    }
}

/// Checks one want against the description and the object it was made from.
pub(crate) fn check(want: &types::Want, description: &Description, object: &Tree, steps: &mut Steps) -> Want {
    let own = object.at(object.root(), "/metadata/namespace").and_then(|node| object.text(node));
    let resolved = want.at.object == 0 && matches!(walk::resolve(object, object.root(), &want.at.pointer, steps), Ok(Some(_)));
    let refused = if !description.may_ask_for(&want.group, &want.kind) || (want.group.is_empty() && want.kind == "Secret") {
        Some(Refusal::Kind)
    } else if want.namespace.as_deref().is_some_and(|namespace| !is_dns_label(namespace) || own != Some(namespace)) {
        Some(Refusal::Namespace)
    } else if !is_dns_name(&want.name) {
        Some(Refusal::Name)
    } else if !resolved {
        Some(Refusal::Place)
    } else {
        None
    };
    let at = if resolved { Pointer::parse(&want.at.pointer).unwrap_or_default() } else { Pointer::root() };
    let at = Locator::scraped(at);
    if let Some(reason) = refused {
        let asked = format!("{} {} {:?} {}", want.group, want.kind, want.namespace, want.name);
        tracing::debug!(scraper = description.name, reason = reason.as_str(), asked = %text::clean(&asked).0, "want refused");
        return Want { group: String::new(), kind: String::new(), namespace: None, name: String::new(), at, refused };
    }
    let types::Want { group, kind, namespace, name, .. } = want.clone();
    Want { group, kind, namespace, name, at, refused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::KindRef;

    fn ask(object: &str, change: impl FnOnce(&mut types::Want)) -> Want {
        let kind = |group: &str, kind: &str| KindRef {
            group: group.into(),
            kind: kind.into(),
            plural: "caches".into(),
            versions: vec!["v1".into()],
        };
        let description = Description {
            name: "example".into(),
            version: "1".into(),
            kinds: vec![kind("example.com", "Widget")],
            intermediates: vec![],
            related: vec![kind("example.com", "Cache")],
            reads_status: false,
            options_schema: None,
        };
        let mut want = types::Want {
            group: "example.com".into(),
            kind: "Cache".into(),
            namespace: Some("team".into()),
            name: "weights".into(),
            at: types::Locator { object: 0, pointer: "/spec/cache".into() },
        };
        change(&mut want);
        let object = Tree::from_json(object.as_bytes()).unwrap();
        check(&want, &description, &object, &mut Steps::new(1_000))
    }

    const OBJECT: &str = r#"{"metadata":{"namespace":"team"},"spec":{"cache":"weights"}}"#;

    #[test]
    fn a_want_for_a_described_kind_in_the_same_namespace_is_allowed() {
        assert_eq!(ask(OBJECT, |_| {}).refused, None);
        assert_eq!(ask(OBJECT, |w| w.namespace = None).refused, None);
        assert_eq!(ask(r#"{"spec":{"cache":"weights"}}"#, |w| w.namespace = None).refused, None);
    }

    #[test]
    fn wants_that_reach_further_are_refused_in_place() {
        let refused = ask(OBJECT, |w| w.kind = "Widget".into());
        assert!(refused.group.is_empty() && refused.kind.is_empty() && refused.name.is_empty(), "{refused:?} must find nothing");
        assert_eq!(ask(OBJECT, |w| w.kind = "Widget".into()).refused, Some(Refusal::Kind));
        assert_eq!(ask(OBJECT, |w| (w.group, w.kind) = (String::new(), "Secret".into())).refused, Some(Refusal::Kind));
        assert_eq!(ask(OBJECT, |w| w.namespace = Some("kube-system".into())).refused, Some(Refusal::Namespace));
        assert_eq!(ask(r#"{"spec":{"cache":"weights"}}"#, |_| {}).refused, Some(Refusal::Namespace), "of an object that has none");
        assert_eq!(ask(OBJECT, |w| w.name = "../other".into()).refused, Some(Refusal::Name));
        assert_eq!(ask(OBJECT, |w| w.at.pointer = "/spec/none".into()).refused, Some(Refusal::Place));
        assert_eq!(ask(OBJECT, |w| w.at.object = 1).refused, Some(Refusal::Place));
    }
}
