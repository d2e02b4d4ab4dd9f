//! Text into objects: splits a stream of YAML or JSON documents and unfolds `List`s.
//!
//! Each document is parsed on its own, so that a broken one costs nothing but itself. YAML makes that safe: a line that starts with
//! `---` ends a document wherever it stands, block scalars included (YAML 1.2.2, 9.1.2).

use std::ops::Range;
use std::sync::Arc;

use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::tree::{Kind, MAX_DEPTH, MAX_NODES, NodeId, Tree};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy};

mod stream;

pub(super) use stream::Counter;
pub use stream::Documents;

/// Largest input of one file or of standard input, in bytes.
pub const MAX_INPUT: u64 = 64 << 20;

/// One document of an input.
#[derive(Debug)]
pub struct Document {
    /// Index among the documents of the input; empty ones count.
    pub index: usize,
    /// Where it stands in the text, in bytes.
    pub span: Range<usize>,
    /// What it holds.
    pub content: Result<Content, Malformed>,
    /// A key that is given twice in what was read none the less; the last one counts.
    pub doubled: Option<Malformed>,
}

/// What a document holds.
#[derive(Debug)]
pub enum Content {
    /// Nothing but comments.
    Empty,
    /// A value that is no Kubernetes object: it has no `apiVersion` and `kind`.
    Other,
    /// The object, or those of a list.
    Objects {
        /// The objects.
        objects: Vec<Object>,
        /// Entries of a list that are no objects.
        other: usize,
    },
}

/// One object of a document.
#[derive(Debug)]
pub struct Object {
    /// Position in the `List` that held it.
    pub item: Option<usize>,
    /// Its name.
    pub reference: ObjectRef,
    /// The document's tree.
    pub tree: Arc<Tree>,
    /// Where in the tree it stands.
    pub root: NodeId,
    /// Where in the document the tree's root stands, when the tree is not the document's.
    pub within: Option<Pointer>,
}

impl Object {
    /// Where in the document the object stands.
    pub fn place(&self) -> Pointer {
        self.within.clone().unwrap_or_else(|| self.tree.pointer(self.root))
    }
}

/// Why a document could not be read, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Line in the input, from 1; none when the fault has no place.
    pub line: Option<usize>,
    /// Column, from 1.
    pub column: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

/// Reads the documents of a text one by one. JSON texts may hold several values one after the other; what follows them is read as YAML
/// where a `---` stands, and a value with a fault costs itself alone.
pub fn read(text: &str) -> Documents<'_> {
    Documents::new(text)
}

/// How YAML is read. Size is limited by the input and by the tree; the library's own limit counts names of members too, of which there
/// are at most as many as nodes. What aliases may blow up keeps the library's own, strict limits.
///
/// Comments are passed over: the library would keep those of a long block that is commented out, and give up at its 97th line.
///
/// That every key is there once is for the tree to say, which looks at every key anyhow; the library would keep a copy of each. With
/// merge keys (`<<`) it has to.
pub(super) fn options(text: &str) -> serde_saphyr::Options {
    if text.contains("<<") {
        careful_options()
    } else {
        serde_saphyr::options! {
            with_snippet: false,
            budget: budget(),
            emit_comments: false,
            duplicate_keys: DuplicateKeyPolicy::PassThrough,
            merge_keys: MergeKeyPolicy::AsOrdinary,
        }
    }
}

/// The library looks at keys itself, and knows the place of every fault.
fn careful_options() -> serde_saphyr::Options {
    serde_saphyr::options! { with_snippet: false, budget: budget(), emit_comments: false }
}

fn budget() -> Option<serde_saphyr::Budget> {
    serde_saphyr::budget! { max_nodes: 2 * MAX_NODES, max_events: 4 * MAX_NODES, max_depth: MAX_DEPTH }
}

/// The objects of one document.
fn objects(tree: Tree) -> Result<Content, Malformed> {
    let root = tree.root();
    if tree.is_null(root) {
        return Ok(Content::Empty);
    }
    let tree = Arc::new(tree);
    let mut found = Found::default();
    if tree.kind(root) == Kind::Array {
        found.unfold(&tree, root, None, 0);
        return Ok(if found.objects.is_empty() { Content::Other } else { found.content() });
    }
    let Some(reference) = ObjectRef::of_node(&tree, root) else { return Ok(Content::Other) };
    let items = tree.get(root, "items").filter(|_| reference.api_version() == "v1" && reference.kind == "List");
    if items.is_some_and(|items| !matches!(tree.kind(items), Kind::Array | Kind::Null)) {
        return Err(Malformed {
            line: None,
            column: None,
            reason: "`items` of the List is no list, so its objects are not read".to_owned(),
        });
    }
    found.add(&tree, root, reference, None, 0);
    Ok(found.content())
}

/// Lists in lists in lists: nobody writes them, and each level costs a stack frame.
const MAX_LISTS: usize = 8;

#[derive(Default)]
struct Found {
    objects: Vec<Object>,
    other: usize,
}

impl Found {
    fn content(self) -> Content {
        Content::Objects { objects: self.objects, other: self.other }
    }

    fn add(&mut self, tree: &Arc<Tree>, root: NodeId, reference: ObjectRef, item: Option<usize>, depth: usize) {
        match tree.get(root, "items").filter(|items| reference.kind.ends_with("List") && tree.kind(*items) == Kind::Array) {
            Some(items) if depth < MAX_LISTS => self.unfold(tree, items, Some(&reference), depth + 1),
            _ => self.objects.push(Object { item, reference, tree: Arc::clone(tree), root, within: None }),
        }
    }

    fn unfold(&mut self, tree: &Arc<Tree>, items: NodeId, list: Option<&ObjectRef>, depth: usize) {
        for (position, item) in tree.items(items).enumerate() {
            if let Some(reference) = ObjectRef::of_node(tree, item) {
                self.add(tree, item, reference, Some(position), depth);
            } else if let Some((own, reference)) = list.and_then(|list| typed_item(tree, item, list)) {
                let root = own.root();
                let within = Some(tree.pointer(item));
                self.objects.push(Object { item: Some(position), reference, tree: Arc::new(own), root, within });
            } else {
                self.other += 1;
            }
        }
    }
}

/// An item of a list as the API server writes it, `DeploymentList` and the like: what all items have in common stands on the list alone.
fn typed_item(tree: &Tree, item: NodeId, list: &ObjectRef) -> Option<(Tree, ObjectRef)> {
    let kind = list.kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    if tree.kind(item) != Kind::Object || tree.member(item, "kind").is_some() || tree.member(item, "apiVersion").is_some() {
        return None;
    }
    let api_version = serde_json::to_string(&list.api_version()).ok()?;
    let kind = serde_json::to_string(kind).ok()?;
    let json = tree.json(item);
    let members = json.strip_prefix('{')?;
    let comma = if members == "}" { "" } else { "," };
    let own = Tree::from_json(format!("{{\"apiVersion\":{api_version},\"kind\":{kind}{comma}{members}").as_bytes()).ok()?;
    let reference = ObjectRef::of(&own)?;
    Some((own, reference))
}

#[cfg(test)]
mod tests;
