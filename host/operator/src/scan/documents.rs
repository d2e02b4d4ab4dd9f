//! Text into objects: splits a stream of YAML or JSON documents and unfolds `List`s.
//!
//! Each document is parsed on its own, so that a broken one costs nothing but itself. YAML makes that safe: a line that starts with
//! `---` ends a document wherever it stands, block scalars included (YAML 1.2.2, 9.1.2).

use std::ops::Range;
use std::sync::Arc;

use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::tree::{Kind, MAX_DEPTH, MAX_NODES, NodeId, Tree};

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

/// Reads every document of a text. JSON texts may hold several values one after the other.
pub fn read(text: &str) -> Vec<Document> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Templates start with `{{` and YAML flow maps with `{` too: what is no JSON gets its second chance as YAML.
    let json = if bare.trim_start().starts_with(['{', '[']) { read_json(bare) } else { None };
    let mut documents = json.unwrap_or_else(|| read_yaml(bare));
    shift(&mut documents, text.len() - bare.len());
    documents
}

/// Moves documents that were read from a part of a text.
fn shift(documents: &mut [Document], by: usize) {
    for document in documents {
        document.span = document.span.start + by..document.span.end + by;
    }
}

/// Values of JSON one after the other. None when the text does not even start with one. What follows the last good value is read as YAML
/// when a `---` stands there, and is one fault otherwise, with the lines of JSON behind it read again.
fn read_json(text: &str) -> Option<Vec<Document>> {
    let mut documents = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Tree>();
    loop {
        let start = values.byte_offset();
        let rest = text[start..].trim_start();
        let from = text.len() - rest.len();
        if !documents.is_empty() && rest.starts_with("---") {
            continue_at(&mut documents, text, from, read_yaml(rest));
            return Some(documents);
        }
        match values.next() {
            None => return Some(documents),
            Some(Ok(tree)) => {
                let span = from..values.byte_offset();
                documents.push(Document { index: documents.len(), span, content: Ok(objects(tree)) });
            }
            Some(Err(_)) if documents.is_empty() => return None,
            Some(Err(error)) => {
                let (line, column) = (Some(error.line()), Some(error.column()));
                let reason = error.to_string();
                let reason = reason.rfind(" at line ").map_or(reason.as_str(), |cut| &reason[..cut]).to_owned();
                let content = Err(Malformed { line, column, reason });
                documents.push(Document { index: documents.len(), span: from..text.len(), content });
                // The next line that starts a value or a document.
                let starts = |line: &str| line.starts_with(['{', '[']) || line.starts_with("---");
                let mut at = from;
                let next = text[from..].split_inclusive('\n').find_map(|line| {
                    let start = at;
                    at += line.len();
                    (start > from && starts(line)).then_some(start)
                });
                if let Some(next) = next {
                    continue_at(&mut documents, text, next, read(&text[next..]));
                }
                return Some(documents);
            }
        }
    }
}

/// Appends documents that were read from a later part of the text.
fn continue_at(documents: &mut Vec<Document>, text: &str, from: usize, later: Vec<Document>) {
    let lines = text[..from].matches('\n').count();
    let mut later = later;
    shift(&mut later, from);
    for mut document in later {
        document.index = documents.len();
        if let Err(malformed) = &mut document.content {
            malformed.line = malformed.line.map(|line| line + lines);
        }
        documents.push(document);
    }
}

fn read_yaml(text: &str) -> Vec<Document> {
    split(text).into_iter().enumerate().map(|(index, chunk)| Document { index, span: chunk.span.clone(), content: chunk.parse() }).collect()
}

/// A document's text and where it starts.
struct Chunk<'a> {
    text: std::borrow::Cow<'a, str>,
    /// Lines before it.
    line: usize,
    /// Where it stands, its marker included.
    span: Range<usize>,
}

/// Cuts at lines that start with `---` or `...` followed by white space or nothing. What stands before a `---` counts as a document only
/// when it holds more than comments and directives, as YAML has it; directives (`%…`) stay with the document that they are for.
fn split(text: &str) -> Vec<Chunk<'_>> {
    let is_marker = |line: &str, marker: &str| {
        line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    };
    let is_bare =
        |body: &str| body.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#') || line.starts_with('%'));
    let mut chunks = Vec::new();
    let mut chunk = Start { offset: 0, line: 0, marked: false, directives: false };
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let body = &text[chunk.offset..offset];
        if is_marker(line, "---") {
            if !chunk.marked && is_bare(body) && body.lines().any(|line| line.starts_with('%')) {
                (chunk.marked, chunk.directives) = (true, true);
            } else {
                chunk.push(text, offset, is_bare, &mut chunks);
                chunk = Start { offset, line: number, marked: true, directives: false };
            }
        } else if is_marker(line, "...") {
            chunk.push(text, offset, is_bare, &mut chunks);
            chunk = Start { offset: offset + line.len(), line: number + 1, marked: false, directives: false };
        }
        offset += line.len();
    }
    chunk.push(text, text.len(), is_bare, &mut chunks);
    chunks
}

/// Where a chunk starts.
struct Start {
    offset: usize,
    line: usize,
    /// It has its `---`, as the first line or behind directives.
    marked: bool,
    /// Directives stand before its `---`.
    directives: bool,
}

impl Start {
    fn push<'a>(&self, text: &'a str, end: usize, is_bare: impl Fn(&str) -> bool, chunks: &mut Vec<Chunk<'a>>) {
        let body = &text[self.offset..end];
        if !self.marked && is_bare(body) {
            return;
        }
        // A marker at the start becomes blanks, so that what follows it on its line keeps its place.
        let text = if self.marked && !self.directives { format!("   {}", &body[3..]).into() } else { body.into() };
        chunks.push(Chunk { text, line: self.line, span: self.offset..end });
    }
}

impl Chunk<'_> {
    fn parse(&self) -> Result<Content, Malformed> {
        // Size is limited by the input and by the tree. What aliases may blow up keeps the library's own, strict limits.
        let budget = serde_saphyr::budget! { max_nodes: MAX_NODES, max_events: 4 * MAX_NODES, max_depth: MAX_DEPTH };
        let options = serde_saphyr::options! { with_snippet: false, budget: budget };
        match serde_saphyr::from_str_with_options::<Tree>(&self.text, options) {
            Ok(tree) => Ok(objects(tree)),
            Err(error) => {
                let place = error.location().filter(|location| location.line() > 0);
                let line = place.map(|location| location.line() as usize);
                let column = place.map(|location| location.column() as usize);
                let mut reason = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
                // The library repeats the place, counted within the chunk.
                if let Some(cut) = reason.rfind(" at line ") {
                    reason.truncate(cut);
                }
                if self.text.contains("{{") {
                    reason.push_str(" (this looks like a Helm template: scan the output of `helm template`)");
                }
                Err(Malformed {
                    line: line.map(|line| line + self.line),
                    column,
                    reason: reason.lines().next().unwrap_or_default().to_owned(),
                })
            }
        }
    }
}

/// The objects of one document.
fn objects(tree: Tree) -> Content {
    let root = tree.root();
    if tree.is_null(root) {
        return Content::Empty;
    }
    let tree = Arc::new(tree);
    let mut found = Found::default();
    if tree.kind(root) == Kind::Array {
        found.unfold(&tree, root, None, 0);
        return if found.objects.is_empty() { Content::Other } else { found.content() };
    }
    let Some(reference) = ObjectRef::of_node(&tree, root) else { return Content::Other };
    found.add(&tree, root, reference, None, 0);
    found.content()
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
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        read(text)
            .into_iter()
            .map(|document| match document.content {
                Ok(Content::Empty) => "-".to_owned(),
                Ok(Content::Other) => "other".to_owned(),
                Ok(Content::Objects { objects, .. }) => {
                    objects.iter().map(|object| object.reference.name.as_str()).collect::<Vec<_>>().join("+")
                }
                Err(malformed) => format!("line {}", malformed.line.unwrap_or(0)),
            })
            .collect()
    }

    #[test]
    fn empty_documents_count_and_leading_comments_do_not() {
        let text = "# licence\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n---\n";
        assert_eq!(kinds(text), ["a", "-", "b", "-"]);
    }

    #[test]
    fn a_document_without_a_marker_is_the_first() {
        assert_eq!(kinds("apiVersion: v1\nkind: A\nmetadata: {name: a}\n--- # second\nx: 1\n"), ["a", "other"]);
    }

    #[test]
    fn ends_of_documents_and_directives_are_read_as_yaml_has_them() {
        let object = |name: &str| format!("apiVersion: v1\nkind: A\nmetadata: {{name: {name}}}\n");
        assert_eq!(kinds(&format!("{}...\n{}", object("a"), object("b"))), ["a", "b"]);
        assert_eq!(kinds(&format!("%YAML 1.2\n---\n{}...\n%YAML 1.2\n---\n{}", object("a"), object("b"))), ["a", "b"]);
        assert_eq!(kinds(&format!("{}...\n# end\n", object("a"))), ["a"]);
    }

    #[test]
    fn a_marker_inside_a_block_scalar_is_text_when_indented() {
        let text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nscript: |\n  echo\n  ---\n  done\n";
        assert_eq!(kinds(text), ["a"]);
    }

    #[test]
    fn a_broken_document_names_its_line_and_the_others_are_read() {
        let text =
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\nx: 1\ny: [1\nz: 2\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n";
        let read = kinds(text);
        assert_eq!((read[0].as_str(), read[2].as_str()), ("a", "b"));
        assert_eq!(read[1], "line 7", "{read:?}");
    }

    #[test]
    fn the_line_of_a_fault_counts_from_the_top_of_the_input() {
        let text = "a: 1\n---\nb: 1\nb: 2\n";
        let documents = read(text);
        let malformed = documents[1].content.as_ref().unwrap_err();
        assert_eq!(malformed.line, Some(4), "{malformed:?}");
    }

    #[test]
    fn every_document_knows_where_it_stands() {
        let yaml = "\u{feff}# top\n---\na: 1\n--- # two\nb: 2\n...\nc: 3\n";
        let texts: Vec<&str> = read(yaml).iter().map(|document| &yaml[document.span.clone()]).collect();
        assert_eq!(texts, ["---\na: 1\n", "--- # two\nb: 2\n", "c: 3\n"]);
        let json = "\u{feff} {\"a\": 1}\n{\"b\": 2} {\"c\": }\n{\"d\": 4}\n---\ne: 5\n";
        let texts: Vec<&str> = read(json).iter().map(|document| json[document.span.clone()].trim_end()).collect();
        assert_eq!((texts[0], texts[1], texts[3], texts[4]), ("{\"a\": 1}", "{\"b\": 2}", "{\"d\": 4}", "---\ne: 5"));
    }

    #[test]
    fn an_item_of_a_typed_list_knows_where_it_stands_in_the_document() {
        let text = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"a"}},{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}]}"#;
        let documents = read(text);
        let Ok(Content::Objects { objects, .. }) = &documents[0].content else { panic!("{documents:?}") };
        let places: Vec<String> = objects.iter().map(|object| object.place().to_string()).collect();
        assert_eq!(places, ["/items/0", "/items/1"]);
    }

    #[test]
    fn lists_are_unfolded_in_yaml_and_json() {
        let yaml = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n";
        assert_eq!(kinds(yaml), ["a+b"]);
        let json = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}]} {"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}"#;
        assert_eq!(kinds(json), ["a", "b"]);
    }

    #[test]
    fn items_of_a_typed_list_have_the_kind_of_the_list() {
        let text =
            r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"spec":{}},7]}"#;
        let Ok(Content::Objects { objects, other }) = read(text).remove(0).content else { panic!("no objects") };
        let names: Vec<_> = objects.iter().map(|object| object.reference.to_string()).collect();
        assert_eq!(names, ["apps/v1/Deployment/a", "apps/v1/Deployment/b"]);
        assert_eq!(other, 1);
    }

    #[test]
    fn lists_in_lists_are_unfolded() {
        let inner = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}]}"#;
        assert_eq!(kinds(&format!(r#"{{"apiVersion":"v1","kind":"List","items":[{inner},{inner}]}}"#)), ["a+a"]);
    }

    #[test]
    fn a_fault_among_json_values_costs_only_itself() {
        let good = r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}"#;
        assert_eq!(
            kinds(&format!(
                "{good}
{{\"a\": nonsense}}
{good}
"
            )),
            ["a", "line 2", "a"]
        );
        assert_eq!(
            kinds(&format!(
                "{good}
---
apiVersion: v1
kind: B
metadata: {{name: b}}
---
x: [
"
            )),
            ["a", "b", "line 7"]
        );
    }

    #[test]
    fn a_list_of_several_megabytes_is_read_and_an_alias_bomb_is_not() {
        let item = "- apiVersion: v1
  kind: A
  metadata: {name: a}
  spec: {a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
";
        let text = format!(
            "apiVersion: v1
kind: List
items:
{}",
            item.repeat(20_000)
        );
        let Ok(Content::Objects { objects, .. }) = read(&text).remove(0).content else { panic!("no objects") };
        assert_eq!(objects.len(), 20_000);
        let bomb = (1..40).fold(
            "a0: &a0 [x, x]
"
            .to_owned(),
            |text, n| {
                format!(
                    "{text}a{n}: &a{n} [*a{}, *a{}]
",
                    n - 1,
                    n - 1
                )
            },
        );
        assert!(read(&bomb).remove(0).content.is_err());
    }

    #[test]
    fn a_template_that_is_neither_yaml_nor_json_is_one_fault() {
        let read = kinds("{{ if .Values.on }}\nkind: A\n{{ end }}\n");
        assert_eq!(read.len(), 1);
        assert_eq!(read, ["line 1"]);
    }
}
