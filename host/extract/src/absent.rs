//! Objects that a scraper asked for and that are not there: whatever they would have said is not known, and the document has to say so.

use std::collections::BTreeMap;

use aibom_facts::inventory::Unresolved;
use aibom_facts::object::Locator;

use crate::Subject;

/// One for each place whose object was looked for in vain. A place may name an object of one of several kinds, of which only one has to
/// be there.
pub(crate) fn objects(subject: &Subject<'_>) -> Vec<Unresolved> {
    let mut places: BTreeMap<&Locator, Option<&str>> = BTreeMap::new();
    for (index, place) in subject.sought.iter().enumerate() {
        let Some(place) = place else { continue };
        let is_there = subject.trees.get(index).is_some_and(Option::is_some);
        let name = subject.objects.get(index).map_or("", |object| object.name.as_str());
        let missing = places.entry(place).or_insert(Some(name));
        if is_there {
            *missing = None;
        }
    }
    places
        .into_iter()
        .filter_map(|(at, missing)| {
            let reference = missing?.to_owned();
            Some(Unresolved { what: "object".to_owned(), at: at.clone(), why: "not-found".to_owned(), reference })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use aibom_facts::inventory::Origin;
    use aibom_facts::object::ObjectRef;
    use aibom_facts::pointer::Pointer;
    use aibom_facts::report::Report;
    use aibom_facts::tree::Tree;

    use super::*;

    /// References and places of what is missing, for related objects with the place that names each and whether each is there.
    fn missing(related: &[(Option<&str>, bool)]) -> Vec<String> {
        let tree = Tree::from_json(b"{}").unwrap();
        let objects: Vec<ObjectRef> =
            (0..=related.len()).map(|index| ObjectRef { name: format!("object-{index}"), ..ObjectRef::default() }).collect();
        let mut trees = vec![Some(&tree)];
        trees.extend(related.iter().map(|(_, is_there)| is_there.then_some(&tree)));
        let place = |place: Option<&str>| place.map(|pointer| Locator::scraped(Pointer::parse(pointer).unwrap()));
        let mut sought = vec![None];
        sought.extend(related.iter().map(|(pointer, _)| place(*pointer)));
        let report = Report::default();
        let subject = Subject { objects: &objects, trees: &trees, sought: &sought, report: &report, origin: Origin::Manifest };
        super::objects(&subject).iter().map(|entry| format!("{} {} {}", entry.why, entry.reference, entry.at.pointer)).collect()
    }

    #[test]
    fn an_object_that_was_looked_for_in_vain_is_unresolved_at_the_place_that_names_it() {
        assert_eq!(missing(&[(Some("/spec/cache"), false), (Some("/spec/base"), true)]), ["not-found object-1 /spec/cache"]);
    }

    #[test]
    fn one_of_several_kinds_that_a_place_may_name_is_enough() {
        assert!(missing(&[(Some("/spec/runtime"), false), (Some("/spec/runtime"), true)]).is_empty());
        assert!(missing(&[(Some("/spec/runtime"), true), (Some("/spec/runtime"), false)]).is_empty());
        assert_eq!(missing(&[(Some("/spec/runtime"), false), (Some("/spec/runtime"), false)]), ["not-found object-1 /spec/runtime"]);
    }

    #[test]
    fn what_nobody_looked_for_is_not_missing() {
        assert!(missing(&[(None, false)]).is_empty());
    }
}
