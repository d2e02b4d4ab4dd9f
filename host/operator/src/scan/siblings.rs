//! Objects of the inputs that scrapers may ask for besides the one they scrape.
//!
//! Names are unique in a cluster and not in a folder: a repository has the same object once for each environment. So the one nearest
//! to whoever asks is taken (same file, same folder, nearest common folder), and none when two are equally near and differ.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use aibom_facts::object::ObjectRef;
use aibom_facts::tree::Tree;
use aibom_plugin::Want;

use super::Located;
use crate::pipeline::Related;

/// One object.
pub struct Sibling {
    /// Input that holds it.
    pub file: String,
    /// Its name.
    pub object: ObjectRef,
    /// The object.
    pub tree: Arc<Tree>,
    /// Hash of the object, to tell copies from rivals.
    pub sha256: [u8; 32],
    /// Where it stands in its input, when that was asked for.
    pub lines: Option<Located>,
}

/// Objects by group, kind and name.
#[derive(Default)]
pub struct Siblings(BTreeMap<(String, String, String), Vec<Sibling>>);

/// The objects as seen from one input.
pub struct SeenFrom<'a> {
    siblings: &'a Siblings,
    file: &'a str,
}

/// No objects at all.
pub struct Nobody;

impl Siblings {
    /// Adds an object.
    pub fn add(&mut self, sibling: Sibling) {
        let object = &sibling.object;
        let key = (object.group.clone(), object.kind.clone(), object.name.clone());
        let known = self.0.entry(key).or_default();
        // One file may hold the same object thousands of times.
        let same =
            |other: &Sibling| (&other.file, &other.object.namespace, other.sha256) == (&sibling.file, &object.namespace, sibling.sha256);
        if !known.last().is_some_and(same) {
            known.push(sibling);
        }
    }

    /// The objects as seen from an input.
    pub fn of<'a>(&'a self, file: &'a str) -> SeenFrom<'a> {
        SeenFrom { siblings: self, file }
    }
}

impl Related for Nobody {
    fn find(&self, _: &Want) -> Option<(ObjectRef, Arc<Tree>)> {
        None
    }

    fn looks(&self) -> bool {
        false
    }
}

impl SeenFrom<'_> {
    /// The input that holds an object which was found before, and where in it the object stands.
    pub fn place(&self, object: &ObjectRef) -> Option<(String, Located)> {
        let key = (object.group.clone(), object.kind.clone(), object.name.clone());
        let known = self.siblings.0.get(&key)?.iter().filter(|sibling| sibling.object == *object);
        let nearest = known.max_by_key(|sibling| nearness(&sibling.file, self.file))?;
        Some((nearest.file.clone(), nearest.lines.clone()?))
    }
}

impl Related for SeenFrom<'_> {
    fn find(&self, want: &Want) -> Option<(ObjectRef, Arc<Tree>)> {
        let key = (want.group.clone(), want.kind.clone(), want.name.clone());
        // A manifest may leave its namespace to the client, so a missing one is that of whoever asks.
        let fits =
            |found: &&Sibling| found.object.namespace == want.namespace || found.object.namespace.is_none() || want.namespace.is_none();
        let mut best: Option<(usize, &Sibling)> = None;
        let mut rival = false;
        for sibling in self.siblings.0.get(&key)?.iter().filter(fits) {
            let near = nearness(&sibling.file, self.file);
            match best {
                Some((known, _)) if near < known => {}
                Some((known, first)) if near == known => rival |= first.sha256 != sibling.sha256,
                _ => (best, rival) = (Some((near, sibling)), false),
            }
        }
        let (_, first) = best?;
        if rival {
            tracing::warn!(
                kind = want.kind,
                name = want.name,
                asked_by = self.file,
                "several objects of this name are equally near: none is taken"
            );
            return None;
        }
        Some((first.object.clone(), Arc::clone(&first.tree)))
    }
}

/// How near two inputs are: the same one, else the number of folders they share.
fn nearness(left: &str, right: &str) -> usize {
    if left == right {
        return usize::MAX;
    }
    let folders = |path: &str| {
        Path::new(path)
            .parent()
            .map(|folder| folder.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    folders(left).iter().zip(&folders(right)).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aibom_facts::object::Locator;

    fn sibling(file: &str, content: &str) -> Sibling {
        let text = format!(r#"{{"apiVersion":"example.com/v1","kind":"Cache","metadata":{{"name":"c"}},"spec":"{content}"}}"#);
        let tree = Tree::from_json(text.as_bytes()).unwrap();
        Sibling { file: file.to_owned(), object: ObjectRef::of(&tree).unwrap(), sha256: tree.sha256(), tree: Arc::new(tree), lines: None }
    }

    fn found(siblings: &Siblings, file: &str) -> Option<String> {
        let want = Want {
            group: "example.com".into(),
            kind: "Cache".into(),
            namespace: Some("demo".into()),
            name: "c".into(),
            at: Locator::default(),
            refused: None,
        };
        siblings.of(file).find(&want).map(|(_, tree)| tree.text(tree.at(tree.root(), "/spec").unwrap()).unwrap().to_owned())
    }

    #[test]
    fn the_nearest_object_of_a_name_is_taken() {
        let mut siblings = Siblings::default();
        for (file, content) in [("prod/cache.yaml", "prod"), ("dev/cache.yaml", "dev"), ("dev/both.yaml", "same file")] {
            siblings.add(sibling(file, content));
        }
        assert_eq!(found(&siblings, "prod/service.yaml").as_deref(), Some("prod"));
        assert_eq!(found(&siblings, "dev/both.yaml").as_deref(), Some("same file"));
    }

    #[test]
    fn an_object_of_another_namespace_is_not_taken() {
        let mut siblings = Siblings::default();
        let mut other = sibling("a.yaml", "other");
        other.object.namespace = Some("other".to_owned());
        siblings.add(other);
        assert_eq!(found(&siblings, "a.yaml"), None);
        let mut own = sibling("b.yaml", "own");
        own.object.namespace = Some("demo".to_owned());
        siblings.add(own);
        assert_eq!(found(&siblings, "a.yaml").as_deref(), Some("own"));
    }

    #[test]
    fn equally_near_objects_that_differ_give_none_and_equal_ones_do() {
        let mut siblings = Siblings::default();
        siblings.add(sibling("a/cache.yaml", "one"));
        siblings.add(sibling("b/cache.yaml", "two"));
        assert_eq!(found(&siblings, "service.yaml"), None);
        let mut same = Siblings::default();
        same.add(sibling("a/cache.yaml", "one"));
        same.add(sibling("b/cache.yaml", "one"));
        assert_eq!(found(&same, "service.yaml").as_deref(), Some("one"));
    }
}
