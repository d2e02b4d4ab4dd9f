//! Reading an object whose every field may be absent, null or of the wrong type.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

use crate::{Failure, Locator, Node, NodeKind, Problem, Report};

/// Problems kept per report. One malformed list can hold a million wrong elements; a reader of the report needs a few.
const MAX_PROBLEMS: usize = 64;

/// Collects problems while an object is read. One per call of `scrape`.
///
/// ```no_run
/// # use k8s_aibom_sdk::*;
/// # fn example(object: &Node) -> Report {
/// let reader = Reader::new();
/// let spec = reader.read(object).required("spec");
/// let mut report = Report::new();
/// report.state("example.mode", spec.text("mode").map(Claim::declared));
/// reader.finish(report)
/// # }
/// ```
#[derive(Default)]
pub struct Reader {
    problems: RefCell<Vec<Problem>>,
    left_out: Cell<usize>,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// Where it was read.
    pub at: Locator,
}

/// A text with its place; never empty.
pub type Text = Found<String>;

impl Found<String> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// A part of an object, present or not. Reading from an absent part finds nothing and is no problem, so that a chain of parts needs no
/// branches. Members are looked up in keys that were fetched once, and parts read twice are kept, because every question to the host
/// costs more than anything done here.
#[derive(Clone)]
pub struct Part<'a> {
    reader: &'a Reader,
    there: Option<Rc<There<'a>>>,
    at: Locator,
}

/// What a part that is there knows.
struct There<'a> {
    node: Handle<'a>,
    keys: OnceCell<Vec<String>>,
    parts: RefCell<Vec<(String, Part<'a>)>>,
}

enum Handle<'a> {
    Borrowed(&'a Node),
    Owned(Node),
}

impl There<'_> {
    fn node(&self) -> &Node {
        match &self.node {
            Handle::Borrowed(node) => node,
            Handle::Owned(node) => node,
        }
    }

    fn keys(&self) -> &[String] {
        self.keys.get_or_init(|| self.node().keys())
    }
}

/// Appends `/` and the token, escaped as RFC 6901 says.
pub(crate) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}

fn word(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Null => "null",
        NodeKind::Boolean => "a boolean",
        NodeKind::Number => "a number",
        NodeKind::Text => "a string",
        NodeKind::Array => "a list",
        NodeKind::Object => "an object",
    }
}

impl Reader {
    /// A reader without problems yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts reading at an object (or at any node). What is no object gives a problem and an absent part.
    pub fn read<'a>(&'a self, node: &'a Node) -> Part<'a> {
        Part::of(self, Handle::Borrowed(node), node.locator()).must_be_object()
    }

    /// A part that is not there, for a related object that was not given.
    pub fn nothing(&self) -> Part<'_> {
        Part { reader: self, there: None, at: Locator { object: 0, pointer: String::new() } }
    }

    /// Records that something was skipped. The same words at the same place are kept once.
    pub fn problem(&self, at: Locator, message: impl fmt::Display) {
        let problem = Problem { at, message: message.to_string() };
        let mut problems = self.problems.borrow_mut();
        if problems.contains(&problem) {
            return;
        }
        if problems.len() < MAX_PROBLEMS {
            problems.push(problem);
        } else {
            self.left_out.set(self.left_out.get() + 1);
        }
    }

    /// Adds the problems to the report.
    pub fn finish(&self, mut report: Report) -> Report {
        report.problems.append(&mut self.problems.take());
        let left_out = self.left_out.take();
        if left_out > 0 {
            let at = Locator { object: 0, pointer: String::new() };
            report.problems.push(Problem { at, message: format!("{left_out} further problems are left out") });
        }
        report
    }
}

impl<'a> Part<'a> {
    fn of(reader: &'a Reader, node: Handle<'a>, at: Locator) -> Self {
        let there = There { node, keys: OnceCell::new(), parts: RefCell::default() };
        Self { reader, there: Some(Rc::new(there)), at }
    }

    /// Whether it is there.
    pub fn exists(&self) -> bool {
        self.there.is_some()
    }

    /// Its place, if it is there.
    pub fn place(&self) -> Option<Locator> {
        self.there.as_ref().map(|_| self.at.clone())
    }

    /// The version of an object's `apiVersion`, without the group; empty where it cannot be read.
    ///
    /// # Errors
    /// A version that is none of `versions`: the object is of another shape than the scraper knows.
    pub fn version(&self, versions: &[&str]) -> Result<String, Failure> {
        let Some(text) = self.text("apiVersion") else { return Ok(String::new()) };
        let version = text.as_str().rsplit_once('/').map_or(text.as_str(), |(_, version)| version);
        if versions.contains(&version) {
            return Ok(version.to_owned());
        }
        Err(Failure::Unsupported(format!(
            "{} is read at {}, not at {}",
            self.text("kind").map(|kind| kind.value).unwrap_or_default(),
            versions.join(" and "),
            text.value
        )))
    }

    /// Keys of its members, in order.
    pub fn keys(&self) -> Vec<String> {
        self.there.as_ref().map(|there| there.keys().to_vec()).unwrap_or_default()
    }

    /// Whether a member is there and not null, whatever its type.
    pub fn has(&self, key: &str) -> bool {
        self.member(key).is_some()
    }

    /// Records a problem with this part or a member of it.
    pub fn problem(&self, key: &str, message: impl fmt::Display) {
        self.reader.problem(if key.is_empty() { self.at.clone() } else { self.at_key(key) }, message);
    }

    fn at_key(&self, key: &str) -> Locator {
        let mut at = self.at.clone();
        push_token(&mut at.pointer, key);
        at
    }

    fn wrong(&self, at: &Locator, expected: &str, found: NodeKind) {
        let place = if at.pointer.is_empty() { "the root" } else { at.pointer.as_str() };
        self.reader.problem(at.clone(), format_args!("expected {expected} at {place}, found {}", word(found)));
    }

    fn absent(&self) -> Self {
        Self { reader: self.reader, there: None, at: self.at.clone() }
    }

    fn must_be_object(self) -> Self {
        // Only an object has keys; asking for them answers both questions.
        let has_keys = self.there.as_ref().is_some_and(|there| !there.keys().is_empty());
        if has_keys { self } else { self.must_be(NodeKind::Object, "an object") }
    }

    fn must_be(self, kind: NodeKind, expected: &str) -> Self {
        match self.there.as_ref().map(|there| there.node().kind()) {
            Some(found) if found != kind => {
                self.wrong(&self.at, expected, found);
                self.absent()
            }
            _ => self,
        }
    }

    /// The member's node and place; none when absent or null.
    fn member(&self, key: &str) -> Option<(Node, Locator)> {
        let there = self.there.as_ref()?;
        let node = there.keys().iter().any(|known| known == key).then(|| there.node().get(key))??;
        Some((node, self.at_key(key)))
    }

    fn array(&self, key: &str) -> Self {
        match self.member(key) {
            Some((node, at)) => Self::of(self.reader, Handle::Owned(node), at).must_be(NodeKind::Array, "a list"),
            None => self.absent(),
        }
    }

    /// A member that is an object.
    #[must_use]
    pub fn part(&self, key: &str) -> Self {
        let Some(there) = &self.there else { return self.absent() };
        if let Some((_, part)) = there.parts.borrow().iter().find(|(known, _)| known == key) {
            return part.clone();
        }
        let Some((node, at)) = self.member(key) else { return self.absent() };
        let part = Self::of(self.reader, Handle::Owned(node), at).must_be_object();
        there.parts.borrow_mut().push((key.to_owned(), part.clone()));
        part
    }

    /// A member that is an object and without which there is nothing to say: its absence is a problem.
    #[must_use]
    pub fn required(&self, key: &str) -> Self {
        let part = self.part(key);
        if self.exists() && !part.exists() && !self.has(key) {
            self.reader.problem(self.at.clone(), format_args!("expected an object at {}, found nothing", self.at_key(key).pointer));
        }
        part
    }

    /// A member that is a text; empty ones count as absent.
    pub fn text(&self, key: &str) -> Option<Text> {
        let (node, at) = self.member(key)?;
        let Some(value) = node.text() else {
            self.wrong(&at, "a string", node.kind());
            return None;
        };
        (!value.is_empty()).then_some(Found { value, at })
    }

    /// A member that should be a text and that writers of YAML often leave unquoted (`tag: 8`, `value: true`): integers and booleans
    /// are read and reported, since an API server refuses them. Of a fraction (`tag: 1.10`) the host knows the value, `1.1`, and not how
    /// it was written: it is reported, and what is claimed of it counts as derived.
    pub fn scalar(&self, key: &str) -> Option<Text> {
        let (node, at) = self.member(key)?;
        let kind = node.kind();
        if !matches!(kind, NodeKind::Number | NodeKind::Boolean) {
            return self.text(key);
        }
        let value = node.json();
        if kind == NodeKind::Number && value.contains(['.', 'e', 'E']) {
            let message = format!("expected a string at {}, found a fraction; put it in quotes", at.pointer);
            self.reader.problem(at.clone(), message);
            return Some(Found { value, at });
        }
        self.wrong(&at, "a string", kind);
        Some(Found { value, at })
    }

    /// A member that may be a text or a number: a quantity, a percentage. A fraction without quotes keeps its value and not how it was
    /// written; the host takes what is claimed of it as derived.
    pub fn quantity(&self, key: &str) -> Option<Text> {
        let (node, at) = self.member(key)?;
        match node.kind() {
            NodeKind::Number => Some(Found { value: node.json(), at }),
            NodeKind::Text => self.text(key),
            found => {
                self.wrong(&at, "a quantity", found);
                None
            }
        }
    }

    /// A member that is a whole number.
    pub fn integer(&self, key: &str) -> Option<Found<i64>> {
        let (node, at) = self.member(key)?;
        let value = node.integer();
        if value.is_none() {
            self.wrong(&at, "a whole number", node.kind());
        }
        Some(Found { value: value?, at })
    }

    /// A member that is true or false.
    pub fn flag(&self, key: &str) -> Option<Found<bool>> {
        let (node, at) = self.member(key)?;
        let value = node.boolean();
        if value.is_none() {
            self.wrong(&at, "a boolean", node.kind());
        }
        Some(Found { value: value?, at })
    }

    /// A member that is one of some words. Another word is a problem and still returned: it is what the object says.
    pub fn one_of(&self, key: &str, words: &[&str]) -> Option<Text> {
        let text = self.text(key)?;
        if !words.contains(&text.as_str()) {
            self.reader.problem(text.at.clone(), format_args!("`{}` is none of {}", text.value, words.join(", ")));
        }
        Some(text)
    }

    /// Place of a member that is a list, to be handed to the host.
    pub fn list(&self, key: &str) -> Option<Locator> {
        self.array(key).place()
    }

    /// Elements of a member that is a list of objects. Others are reported and skipped.
    pub fn each(&self, key: &str) -> Vec<Self> {
        let list = self.array(key);
        let Some(there) = &list.there else { return Vec::new() };
        let parts = there.node().items().into_iter().enumerate().map(|(index, node)| {
            let at = list.at_key(&index.to_string());
            Self::of(self.reader, Handle::Owned(node), at).must_be_object()
        });
        parts.filter(Self::exists).collect()
    }

    /// Members of a member that is a map of objects, with their keys. Others, null ones included, are reported and skipped.
    pub fn members(&self, key: &str) -> Vec<(String, Self)> {
        let map = self.part(key);
        let members = map.keys().into_iter().map(|name| {
            let part = map.required(&name);
            (name, part)
        });
        members.filter(|(_, part)| part.exists()).collect()
    }

    /// Texts at a pointer in which `*` stands for every member or element, such as `/volumes/*/name`: one question to the host for all
    /// of them. What is no text there is left out and no problem.
    pub fn texts(&self, pattern: &str) -> Vec<Text> {
        let nodes = self.there.as_ref().map(|there| there.node().select(pattern)).unwrap_or_default();
        let texts = nodes.into_iter().filter_map(|node| Some(Found { value: node.text()?, at: node.locator() }));
        texts.filter(|text| !text.value.is_empty()).collect()
    }

    /// The first element of a list of named objects, such as an env list.
    #[must_use]
    pub fn named(&self, key: &str, name: &str) -> Self {
        let list = self.array(key);
        match list.there.as_ref().and_then(|there| there.node().find("name", name)) {
            Some(node) => {
                let at = node.locator();
                Self::of(self.reader, Handle::Owned(node), at)
            }
            None => self.absent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn node(yaml: &str) -> Node {
        Node::new(0, testing::documents(yaml).remove(0))
    }

    fn messages(reader: &Reader) -> Vec<String> {
        reader.finish(Report::new()).problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn absent_and_null_fields_are_nothing_and_no_problem() {
        let (reader, object) = (Reader::new(), node("{a: null, b: ''}"));
        let part = reader.read(&object);
        assert!(part.text("a").is_none() && part.text("b").is_none() && part.integer("c").is_none());
        assert!(part.part("a").part("b").each("c").is_empty());
        assert!(messages(&reader).is_empty());
    }

    #[test]
    fn a_wrong_type_is_a_problem_at_its_place() {
        let (reader, object) = (Reader::new(), node("{a: [1], 'b/c~d': {e: {}}, f: 1.5, g: 'yes'}"));
        let part = reader.read(&object);
        assert!(part.text("a").is_none() && part.integer("f").is_none() && part.flag("g").is_none());
        assert!(part.each("a").is_empty() && part.part("b/c~d").text("e").is_none());
        assert_eq!(
            messages(&reader),
            [
                "expected a string at /a, found a list",
                "expected a whole number at /f, found a number",
                "expected a boolean at /g, found a string",
                "expected an object at /a/0, found a number",
                "expected a string at /b~1c~0d/e, found an object",
            ]
        );
    }

    #[test]
    fn values_carry_their_place() {
        let (reader, object) = (Reader::new(), node("{a: [{}, {name: x, deep: {n: 3}}]}"));
        let part = reader.read(&object);
        assert_eq!(part.each("a")[1].part("deep").integer("n").unwrap().at.pointer, "/a/1/deep/n");
        assert_eq!(part.named("a", "x").part("deep").place().unwrap().pointer, "/a/1/deep");
        assert_eq!(part.texts("/a/*/name"), [Found { value: "x".to_owned(), at: Locator::scraped("/a/1/name") }]);
    }

    #[test]
    fn a_required_part_is_missed_once_and_not_below_what_is_missing() {
        let (reader, object) = (Reader::new(), node("{}"));
        let part = reader.read(&object);
        let missing = part.required("a");
        let _ = (part.required("a"), missing.required("b"));
        assert_eq!(messages(&reader), ["expected an object at /a, found nothing"]);
    }

    #[test]
    fn an_unquoted_integer_or_boolean_is_read_and_reported() {
        let (reader, object) = (Reader::new(), node("{tag: 8, value: true, size: 5}"));
        let part = reader.read(&object);
        assert_eq!(part.scalar("tag").unwrap().value, "8");
        assert_eq!(part.scalar("value").unwrap().value, "true");
        assert_eq!(part.quantity("size").unwrap().value, "5");
        assert_eq!(messages(&reader), ["expected a string at /tag, found a number", "expected a string at /value, found a boolean"]);
    }

    #[test]
    fn an_unquoted_fraction_is_reported_and_read_by_its_value() {
        let (reader, object) = (Reader::new(), node("{tag: 1.10, power: 1e30, quoted: '1.10'}"));
        let part = reader.read(&object);
        assert_eq!(part.scalar("tag").unwrap().value, "1.1");
        assert!(part.scalar("power").is_some());
        assert_eq!(part.scalar("quoted").unwrap().value, "1.10");
        assert_eq!(
            messages(&reader),
            [
                "expected a string at /tag, found a fraction; put it in quotes",
                "expected a string at /power, found a fraction; put it in quotes",
            ]
        );
    }

    #[test]
    fn a_number_without_a_fraction_is_whole_however_it_is_written() {
        let (reader, object) = (Reader::new(), node("{a: 2.0, b: 1e3, c: -5, d: 1.5, e: 1e16, f: 18446744073709551615}"));
        let part = reader.read(&object);
        let read = |key: &str| part.integer(key).map(|found| found.value);
        assert_eq!(["a", "b", "c", "d", "e", "f"].map(read), [Some(2), Some(1000), Some(-5), None, None, None]);
        assert_eq!(messages(&reader).len(), 3);
    }

    #[test]
    fn a_flood_of_problems_is_counted_not_kept() {
        let text = format!("{{a: [{}]}}", vec!["null"; 1_000].join(","));
        let (reader, object) = (Reader::new(), node(&text));
        assert!(reader.read(&object).each("a").is_empty());
        let messages = messages(&reader);
        assert_eq!(messages.len(), MAX_PROBLEMS + 1);
        assert_eq!(messages.last().unwrap(), "936 further problems are left out");
    }

    #[test]
    fn an_unknown_version_is_unsupported_and_an_unreadable_one_is_read_as_the_preferred() {
        let (reader, known, unknown, odd) =
            (Reader::new(), node("apiVersion: g/v1"), node("{apiVersion: g/v9, kind: K}"), node("apiVersion: 9"));
        assert_eq!(reader.read(&known).version(&["v1"]), Ok("v1".to_owned()));
        assert_eq!(reader.read(&odd).version(&["v1"]), Ok(String::new()));
        let Err(Failure::Unsupported(text)) = reader.read(&unknown).version(&["v1", "v2"]) else { panic!() };
        assert_eq!(text, "K is read at v1 and v2, not at g/v9");
    }
}
