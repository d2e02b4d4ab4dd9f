//! Reading a tree from YAML, straight from the parser's events.
//!
//! Nearly every manifest is plain: maps with names as keys, lists, scalars. Between the parser and a tree of those nothing is left to
//! decide, so that the layers which a deserializer for any type needs (look-ahead, replay of anchors, recorded keys, budgets) cost more
//! than they give. What is not plain is left to that deserializer, the same parser underneath, faults with their places included: this
//! reader gives the tree that the other one would give, or none.

use granit_parser::{Event, Parser, ScalarStyle};

use super::read::Keys;
use super::{Builder, Chain, MAX_DEPTH, MAX_NODES, Span, Tree, Value};

/// Longest text that is read here, in bytes: the limit of the deserializer for all scalars together, 64 MiB, is out of reach of a text of
/// half its length, whatever is escaped in it.
const LONGEST: usize = 32 << 20;

/// Bytes of a document for one node, at least, as most are.
const BYTES_PER_NODE: usize = 16;

impl Tree {
    /// Reads a document of plain YAML. None when there is anything in it that needs more than its events: a fault, an anchor, a tag, a
    /// merge key, a key that is no name, a number that is no plain decimal one, a second document, nesting or length out of the common.
    /// Whether such a document can be read is for a reader of all YAML to say.
    pub fn from_plain_yaml(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let options = granit_parser::options! { emit_comments: false };
        let mut parser = Parser::new_from_str_with_options(text, options);
        let mut reader = Reader::default();
        reader.builder.text.reserve(text.len());
        reader.builder.nodes.reserve(text.len() / BYTES_PER_NODE);
        while let Some(event) = parser.next_event() {
            reader.take(event.ok()?.0)?;
        }
        reader.finish()
    }
}

/// A tree under construction.
#[derive(Default)]
struct Reader {
    builder: Builder,
    /// Lists and maps that are not closed yet, the innermost last.
    open: Vec<Open>,
    /// Documents that began.
    documents: usize,
    ended: bool,
}

/// A list or a map that is not closed yet.
struct Open {
    node: u32,
    chain: Chain,
    form: Form,
}

enum Form {
    /// Items so far.
    List(u32),
    /// Keys so far, and the one that waits for its value.
    Map(Keys, Option<Span>),
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::StreamStart | Event::DocumentEnd => {}
            Event::DocumentStart(_, None) if self.documents == 0 => self.documents = 1,
            Event::StreamEnd => self.ended = true,
            Event::Scalar(text, style, 0, None) => self.scalar(&text, style)?,
            Event::SequenceStart(_, 0, None) => self.open(Form::List(0))?,
            Event::MappingStart(_, 0, None) => self.open(Form::Map(Keys::default(), None))?,
            Event::SequenceEnd => {
                let Open { node, chain, form: Form::List(_) } = self.open.pop()? else { return None };
                self.builder.nodes[node as usize].value = Value::Array { first: chain.first };
            }
            Event::MappingEnd => {
                let Open { node, chain, form: Form::Map(_, None) } = self.open.pop()? else { return None };
                self.builder.nodes[node as usize].value = Value::Object { first: chain.first };
            }
            _ => return None,
        }
        Some(())
    }

    fn finish(self) -> Option<Tree> {
        let complete = self.ended && self.open.is_empty() && !self.builder.nodes.is_empty();
        complete.then(|| self.builder.finish())
    }

    fn open(&mut self, form: Form) -> Option<()> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        let node = self.node(Value::Null)?;
        self.open.push(Open { node, chain: Chain::default(), form });
        Some(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle) -> Option<()> {
        let meaning = if style == ScalarStyle::Plain { meaning(text)? } else { Meaning::Text };
        if let Some(Open { form: Form::Map(keys, waiting @ None), chain, .. }) = self.open.last_mut() {
            let (Meaning::Text, false) = (meaning, style == ScalarStyle::Plain && text == "<<") else { return None };
            let key = self.builder.intern(text);
            *waiting = keys.insert(key, chain, &self.builder).then_some(key);
            return waiting.map(drop);
        }
        let value = match meaning {
            Meaning::Text => Value::Text(self.builder.intern(text)),
            Meaning::Whole => Value::Number(self.builder.intern(text)),
            Meaning::Fraction(value) => self.builder.fraction(value),
            Meaning::Boolean(value) => Value::Boolean(value),
            Meaning::Null => Value::Null,
        };
        self.node(value).map(drop)
    }

    /// Adds a node where the next one stands.
    fn node(&mut self, value: Value) -> Option<u32> {
        if self.builder.nodes.len() >= MAX_NODES {
            return None;
        }
        let Some(Open { node: parent, chain, form }) = self.open.last_mut() else {
            // A second root.
            return self.builder.nodes.is_empty().then(|| self.builder.push(0, Span::default(), value));
        };
        let key = match form {
            Form::List(items) => {
                *items += 1;
                Span { start: *items - 1, len: 0 }
            }
            // A list or a map as a key.
            Form::Map(_, waiting) => waiting.take()?,
        };
        let own = self.builder.push(*parent, key, value);
        chain.add(own, &mut self.builder);
        Some(own)
    }
}

/// What a plain scalar means.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Text,
    /// An integer in decimal, as it is written in JSON.
    Whole,
    Fraction(f64),
    Boolean(bool),
    Null,
}

/// Most digits of an integer that fits into 64 bits whatever they are.
const SAFE_DIGITS: usize = 18;

/// The meaning of a plain scalar by the rules of the deserializer, which knows the words of YAML 1.1 too. None where more than one rule
/// has to be asked: numbers with another base, an exponent, underscores or leading zeros.
fn meaning(text: &str) -> Option<Meaning> {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return Some(Meaning::Null) };
    // The deserializer trims before it looks, but for null.
    if [first, last].iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match first {
        b'~' if bytes.len() == 1 => Some(Meaning::Null),
        b'n' | b'N' if matches!(text, "null" | "Null" | "NULL") => Some(Meaning::Null),
        b't' | b'T' | b'y' | b'Y' | b'o' | b'O' | b'f' | b'F' | b'n' | b'N' => Some(if is(["true", "yes", "y", "on"]) {
            Meaning::Boolean(true)
        } else if is(["false", "no", "n", "off"]) {
            Meaning::Boolean(false)
        } else {
            Meaning::Text
        }),
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        _ => Some(Meaning::Text),
    }
}

/// Likewise, for a text that starts as a number does.
fn number(text: &str) -> Option<Meaning> {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !bare.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return Some(Meaning::Text);
    }
    // Digits of any base, the letters of a base, of an exponent, of `.inf` and `.nan`, signs, underscores and one point: what has anything
    // else is no number of any kind.
    let alien = !bare.bytes().all(|byte| byte.is_ascii_hexdigit() || b"_.+-xXoOiInN".contains(&byte));
    let sign_inside = || bare.as_bytes().windows(2).any(|pair| matches!(pair, [before, b'+' | b'-'] if !matches!(before, b'e' | b'E')));
    if alien || sign_inside() || bare.matches('.').count() > 1 {
        return Some(Meaning::Text);
    }
    let canonical = !text.starts_with('+') && (bare == "0" || !bare.starts_with('0')) && text != "-0";
    if canonical && bare.len() <= SAFE_DIGITS && digits(bare) {
        return Some(Meaning::Whole);
    }
    let (whole, fraction) = bare.split_once('.')?;
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite()).map(Meaning::Fraction)
}

#[cfg(test)]
mod tests;
