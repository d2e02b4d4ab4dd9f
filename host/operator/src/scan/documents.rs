//! Text into objects: splits a stream of YAML or JSON documents and unfolds `List`s.
//!
//! Each document is parsed on its own, so that a broken one costs nothing but itself. YAML makes that safe: a line that starts with
//! `---` ends a document wherever it stands, block scalars included (YAML 1.2.2, 9.1.2).

use aibom_facts::object::ObjectRef;
use aibom_facts::tree::{Kind, NodeId, Tree};

/// Largest input of one file or of standard input, in bytes.
pub const MAX_INPUT: u64 = 64 << 20;

/// One document of an input.
#[derive(Debug)]
pub struct Document {
    /// Index among the documents of the input; empty ones count.
    pub index: usize,
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
    /// The object, or those of a `List`.
    Objects(Vec<Object>),
}

/// One object of a document.
#[derive(Debug)]
pub struct Object {
    /// Position in the `List` that held it.
    pub item: Option<usize>,
    /// Its name.
    pub reference: ObjectRef,
    /// The document's tree.
    pub tree: std::sync::Arc<Tree>,
    /// Where in the tree it stands.
    pub root: NodeId,
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
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) {
        // Templates start with `{{` and YAML flow maps with `{` too: what is no JSON gets its second chance as YAML.
        if let Some(documents) = read_json(text) {
            return documents;
        }
    }
    split(text).into_iter().enumerate().map(|(index, chunk)| Document { index, content: chunk.parse() }).collect()
}

fn read_json(text: &str) -> Option<Vec<Document>> {
    let values: Result<Vec<Tree>, _> = serde_json::Deserializer::from_str(text).into_iter::<Tree>().collect();
    let documents = values.ok()?.into_iter().enumerate();
    Some(documents.map(|(index, tree)| Document { index, content: Ok(objects(tree)) }).collect())
}

/// A document's text and where it starts.
struct Chunk<'a> {
    text: std::borrow::Cow<'a, str>,
    /// Lines before it.
    line: usize,
}

/// Cuts at lines that start with `---` followed by white space or nothing. What stands before the first of them counts as a document
/// only when it holds more than comments and directives, as YAML has it.
fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut start_line = 0;
    let mut explicit = false;
    let mut offset = 0;
    let mut push = |from: usize, to: usize, line: usize, explicit: bool| {
        let body = &text[from..to];
        if !explicit && body.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#') || line.starts_with('%')) {
            return;
        }
        // The marker becomes blanks, so that what follows it on its line keeps its place.
        let text = if explicit { format!("   {}", &body[3..]).into() } else { body.into() };
        chunks.push(Chunk { text, line });
    };
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])) {
            push(start, offset, start_line, explicit);
            (start, start_line, explicit) = (offset, number, true);
        }
        offset += line.len();
    }
    push(start, text.len(), start_line, explicit);
    chunks
}

impl Chunk<'_> {
    fn parse(&self) -> Result<Content, Malformed> {
        let options = serde_saphyr::options! { with_snippet: false };
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
    let tree = std::sync::Arc::new(tree);
    let mut found = Vec::new();
    if tree.kind(root) == Kind::Array {
        unfold(&tree, root, &mut found);
        return if found.is_empty() { Content::Other } else { Content::Objects(found) };
    }
    let Some(reference) = ObjectRef::of_node(&tree, root) else { return Content::Other };
    match tree.get(root, "items") {
        Some(items) if reference.kind.ends_with("List") && tree.kind(items) == Kind::Array => unfold(&tree, items, &mut found),
        _ => found.push(Object { item: None, reference, tree: std::sync::Arc::clone(&tree), root }),
    }
    Content::Objects(found)
}

fn unfold(tree: &std::sync::Arc<Tree>, items: NodeId, found: &mut Vec<Object>) {
    for (position, item) in tree.items(items).enumerate() {
        if let Some(reference) = ObjectRef::of_node(tree, item) {
            found.push(Object { item: Some(position), reference, tree: std::sync::Arc::clone(tree), root: item });
        }
    }
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
                Ok(Content::Objects(objects)) => objects.iter().map(|object| object.reference.name.as_str()).collect::<Vec<_>>().join("+"),
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
        assert!(["line 6", "line 7", "line 8"].contains(&read[1].as_str()), "{read:?}");
    }

    #[test]
    fn the_line_of_a_fault_counts_from_the_top_of_the_input() {
        let text = "a: 1\n---\nb: 1\nb: 2\n";
        let documents = read(text);
        let malformed = documents[1].content.as_ref().unwrap_err();
        assert_eq!(malformed.line, Some(4), "{malformed:?}");
    }

    #[test]
    fn lists_are_unfolded_in_yaml_and_json() {
        let yaml = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n";
        assert_eq!(kinds(yaml), ["a+b"]);
        let json = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}]} {"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}"#;
        assert_eq!(kinds(json), ["a", "b"]);
    }

    #[test]
    fn a_template_that_is_neither_yaml_nor_json_is_one_fault() {
        let read = kinds("{{ if .Values.on }}\nkind: A\n{{ end }}\n");
        assert_eq!(read.len(), 1);
        assert!(read[0].starts_with("line") || read[0] == "other", "{read:?}");
    }
}
