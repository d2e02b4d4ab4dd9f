//! A text as a stream of documents, each read only when it is asked for: an input is as large as its text and one document, not as all of
//! its documents.

use std::borrow::Cow;
use std::ops::Range;

use aibom_facts::tree::Tree;
use serde_saphyr::DuplicateKeyPolicy;

use super::{Content, Document, Malformed, careful_options, objects, options};

/// The documents of a text; see [`super::read`].
pub struct Documents<'a> {
    text: &'a str,
    /// Where the text begins, behind a byte order mark.
    top: usize,
    form: Form<'a>,
    /// Documents that were given.
    count: usize,
    lines: Counter,
}

/// How the rest of the text is read.
enum Form<'a> {
    /// Values of JSON from here.
    Json(usize),
    /// What is left of a stream of YAML, which starts at this place of the text.
    Yaml(usize, Chunks<'a>),
    /// There is nothing left.
    End,
}

impl<'a> Documents<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
        let top = text.len() - bare.len();
        let form = if is_json(bare) { Form::Json(top) } else { Form::Yaml(top, Chunks::new(bare)) };
        Self { text, top, form, count: 0, lines: Counter::default() }
    }

    fn document(&mut self, span: Range<usize>, content: Result<Content, Malformed>) -> Document {
        self.count += 1;
        Document { index: self.count - 1, span, content, doubled: None }
    }

    /// The next value of JSON, if any; what is none sets how the rest is read.
    fn json(&mut self, at: usize) -> Option<Document> {
        let from = self.text.len() - self.text[at..].trim_start().len();
        let rest = &self.text[from..];
        if rest.is_empty() {
            self.form = Form::End;
            return None;
        }
        if self.count > 0 && is_marker(rest, "---") {
            self.form = Form::Yaml(from, Chunks::new(rest));
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Tree>();
        let error = match values.next()? {
            Ok(tree) => {
                let end = from + values.byte_offset();
                self.form = Form::Json(end);
                return Some(self.document(from..end, objects(tree)));
            }
            Err(error) => error,
        };
        if self.count == 0 && !is_json_with_a_fault(rest) {
            self.form = Form::Yaml(from, Chunks::new(rest));
            return None;
        }
        let end = next_start(rest).map_or(self.text.len(), |next| from + next);
        self.form = if end < self.text.len() { Form::Json(end) } else { Form::End };
        let line = self.lines.before(self.text, from) + error.line();
        // Columns of the first line count from where the value starts.
        let indent = if error.line() == 1 { from - self.text[..from].rfind('\n').map_or(self.top, |before| before + 1) } else { 0 };
        let reason = error.to_string();
        let reason = without_values(reason.rfind(" at line ").map_or(reason.as_str(), |cut| &reason[..cut]));
        Some(self.document(from..end, Err(Malformed { line: Some(line), column: Some(error.column() + indent), reason })))
    }
}

impl Iterator for Documents<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        loop {
            let document = match &mut self.form {
                Form::End => return None,
                Form::Json(at) => {
                    let at = *at;
                    self.json(at)
                }
                Form::Yaml(start, chunks) => {
                    let start = *start;
                    let chunk = chunks.next()?;
                    let mut content = chunk.parse();
                    let mut doubled = None;
                    if let Err(malformed) = &mut content {
                        let before = self.lines.before(self.text, start) + chunk.line;
                        malformed.line = malformed.line.map(|line| line + before);
                        if let Some(read) = chunk.parse_doubled(malformed) {
                            doubled = content.err();
                            content = read;
                        }
                    }
                    let document = self.document(start + chunk.span.start..start + chunk.span.end, content);
                    Some(Document { doubled, ..document })
                }
            };
            if document.is_some() {
                return document;
            }
        }
    }
}

/// Lines before a place that only moves on, so that a text is counted once.
#[derive(Default)]
pub(in crate::scan) struct Counter {
    at: usize,
    lines: usize,
}

impl Counter {
    pub(in crate::scan) fn before(&mut self, text: &str, at: usize) -> usize {
        self.lines += text.get(self.at..at).map_or(0, |between| between.matches('\n').count());
        self.at = self.at.max(at);
        self.lines
    }
}

/// Templates start with `{{` and flow maps of YAML with `{` too: what is no JSON gets its second chance as YAML.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Whether a text whose first value is no JSON is none the less a series of JSON values: it is no YAML either, and a later one is good.
fn is_json_with_a_fault(text: &str) -> bool {
    if Chunks::new(text).next().is_some_and(|chunk| chunk.parse().is_ok()) {
        return false;
    }
    let mut rest = text;
    while let Some(next) = next_start(rest) {
        rest = &rest[next..];
        if is_marker(rest, "---") {
            return false;
        }
        if serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>().next().is_some_and(|value| value.is_ok()) {
            return true;
        }
    }
    false
}

/// Where, behind its first line, a text has a line that starts a value of JSON or a document of YAML.
fn next_start(text: &str) -> Option<usize> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        let start = at;
        at += line.len();
        let starts = (line.starts_with(['{', '[']) && !line.starts_with("{{")) || is_marker(line, "---");
        (start > 0 && starts).then_some(start)
    })
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// Whether a text holds nothing but comments and directives.
fn is_bare(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#') || line.starts_with('%'))
}

/// Whether the fault is a key that is given twice, as the tree or as the library says it.
fn is_doubled(reason: &str) -> bool {
    reason.starts_with("duplicate") || reason.ends_with("given twice")
}

/// A reason without what it quotes, but for single characters and names of members. A password that starts with `*` or `!` is an alias
/// or a tag to YAML, and what is quoted of it stands without the name that makes it a secret.
fn without_values(reason: &str) -> String {
    if !is_doubled(reason)
        && let Some(open) = reason.find(['`', '"'])
        && let Some(length) = reason[open + 1..].rfind(['`', '"', '\''])
        && length > "\\u{fffd}".len()
    {
        return format!("{}...{}", &reason[..=open], &reason[open + 1 + length..]);
    }
    reason.to_owned()
}

/// A document of YAML, not read yet.
struct Chunk<'a> {
    text: Cow<'a, str>,
    /// Lines before it.
    line: usize,
    /// Where it stands, its marker included.
    span: Range<usize>,
}

/// Cuts at lines that start with `---` or `...` followed by white space or nothing. What stands before a `---` counts as a document only
/// when it holds more than comments and directives, as YAML has it; directives (`%…`) stay with the document that they are for.
struct Chunks<'a> {
    text: &'a str,
    lines: std::str::SplitInclusive<'a, char>,
    /// Where the next line starts, and its number.
    offset: usize,
    number: usize,
    chunk: Start,
    ended: bool,
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

impl<'a> Chunks<'a> {
    fn new(text: &'a str) -> Self {
        let chunk = Start { offset: 0, line: 0, marked: false, directives: false };
        Self { text, lines: text.split_inclusive('\n'), offset: 0, number: 0, chunk, ended: false }
    }

    /// Ends the chunk here and begins the next one.
    fn cut(&mut self, end: usize, next: Start) -> Option<Chunk<'a>> {
        let Start { offset, line, marked, directives } = std::mem::replace(&mut self.chunk, next);
        let body = &self.text[offset..end];
        if !marked && is_bare(body) {
            return None;
        }
        // A marker at the start becomes blanks, so that what follows it on its line keeps its place.
        let text = if marked && !directives { format!("   {}", &body[3..]).into() } else { body.into() };
        Some(Chunk { text, line, span: offset..end })
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        while let Some(line) = self.lines.next() {
            let (start, number) = (self.offset, self.number);
            self.offset += line.len();
            self.number += 1;
            let done = if is_marker(line, "---") {
                let body = &self.text[self.chunk.offset..start];
                if !self.chunk.marked && is_bare(body) && body.lines().any(|line| line.starts_with('%')) {
                    (self.chunk.marked, self.chunk.directives) = (true, true);
                    None
                } else {
                    self.cut(start, Start { offset: start, line: number, marked: true, directives: false })
                }
            } else if is_marker(line, "...") {
                self.cut(start, Start { offset: self.offset, line: number + 1, marked: false, directives: false })
            } else {
                None
            };
            if done.is_some() {
                return done;
            }
        }
        if self.ended {
            return None;
        }
        self.ended = true;
        self.cut(self.text.len(), Start { offset: self.text.len(), line: self.number, marked: false, directives: false })
    }
}

impl Chunk<'_> {
    /// A document whose only fault is a key that is given twice, read as kubectl reads it: the last one counts.
    fn parse_doubled(&self, fault: &Malformed) -> Option<Result<Content, Malformed>> {
        if !is_doubled(&fault.reason) {
            return None;
        }
        let options = serde_saphyr::options! {
            with_snippet: false,
            budget: super::budget(),
            emit_comments: false,
            duplicate_keys: DuplicateKeyPolicy::LastWins,
        };
        // A map of names takes the last value; the tree takes each key once.
        let value: serde_json::Value = serde_saphyr::from_str_with_options(&self.text, options).ok()?;
        let tree = Tree::from_json(&serde_json::to_vec(&value).ok()?).ok()?;
        Some(objects(tree))
    }

    fn parse(&self) -> Result<Content, Malformed> {
        // Nothing but blanks and comments needs no parser.
        if self.text.lines().all(|line| line.trim().is_empty() || line.trim_start_matches(' ').starts_with('#')) {
            return Ok(Content::Empty);
        }
        if let Some(tree) = Tree::from_plain_yaml(&self.text) {
            return objects(tree);
        }
        match serde_saphyr::from_str_with_options::<Tree>(&self.text, options(&self.text)) {
            Ok(tree) => objects(tree),
            Err(error) => {
                let known = |error: &serde_saphyr::Error| error.location().filter(|location| location.line() > 0);
                let reason = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
                let reason = reason.lines().next().unwrap_or_default();
                // The library repeats the place, counted within the chunk.
                let mut reason = without_values(reason.rfind(" at line ").map_or(reason, |cut| &reason[..cut]));
                let mut place = known(&error);
                if reason.ends_with("is given twice") {
                    // The tree knows no places, and the library knows that of what holds both keys at most. When it looks at keys
                    // itself, it stops at the second one.
                    let again = serde_saphyr::from_str_with_options::<Tree>(&self.text, careful_options()).err();
                    place = again.as_ref().and_then(known).or(place);
                }
                if self.text.contains("{{") {
                    reason.push_str(" (this looks like a Helm template: scan the output of `helm template`)");
                }
                Err(Malformed {
                    line: place.map(|location| location.line() as usize),
                    column: place.map(|location| location.column() as usize),
                    reason,
                })
            }
        }
    }
}

/// The documents of a stream of YAML as the readers get them.
#[cfg(test)]
pub(super) fn texts(text: &str) -> Vec<String> {
    Chunks::new(text).map(|chunk| chunk.text.into_owned()).collect()
}
