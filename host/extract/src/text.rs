//! Text that remembers which variables it came from.

use std::ops::Range;

use aibom_facts::inventory::Source;
use aibom_facts::object::Locator;

/// Longest text that expansion makes, which is longer than any object is written; a script can double a variable at every line.
pub(crate) const MAX_TEXT: usize = 2 * 1024 * 1024;

/// A variable whose value is in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Via {
    /// Name of the variable.
    pub(crate) name: String,
    /// Where its value stands.
    pub(crate) at: Locator,
}

/// Why a piece of text is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// Word of the inventory's vocabulary.
    pub(crate) why: &'static str,
    /// The reference that would supply it.
    pub(crate) at: Locator,
    /// Name of what is referred to.
    pub(crate) reference: String,
}

/// Where a piece of text came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Variable(Via),
    Unknown(Unknown),
}

/// A text with the origins of its pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traced {
    pub(crate) text: String,
    pub(crate) marks: Vec<(Range<usize>, Origin)>,
}

impl Traced {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), marks: Vec::new() }
    }

    pub(crate) fn unknown_text(text: impl Into<String>, unknown: Unknown) -> Self {
        let text = text.into();
        let marks = vec![(0..text.len(), Origin::Unknown(unknown))];
        Self { text, marks }
    }

    /// Appends what fits.
    pub(crate) fn push(&mut self, more: &str) {
        let mut room = MAX_TEXT.saturating_sub(self.text.len()).min(more.len());
        while !more.is_char_boundary(room) {
            room -= 1;
        }
        self.text.push_str(&more[..room]);
    }

    pub(crate) fn append(&mut self, more: &Self) {
        let start = self.text.len();
        self.push(&more.text);
        let end = self.text.len();
        for (range, origin) in &more.marks {
            if self.marks.len() < 64 {
                self.marks.push(((start + range.start).min(end)..(start + range.end).min(end), origin.clone()));
            }
        }
    }

    /// A part of it, with the marks that touch it.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        let marks = self.marks.iter().filter(|(mark, _)| mark.start < range.end && range.start < mark.end);
        Self {
            text: self.text[range.clone()].to_owned(),
            marks: marks
                .map(|(mark, origin)| (mark.start.max(range.start) - range.start..mark.end.min(range.end) - range.start, origin.clone()))
                .collect(),
        }
    }

    /// Says that the whole text is the value of this variable.
    pub(crate) fn through(mut self, via: Via) -> Self {
        self.marks.push((0..self.text.len(), Origin::Variable(via)));
        self
    }

    /// The text with `$(NAME)` in place of what came out of variables: a value may be anything, a secret too.
    pub(crate) fn as_written(&self) -> String {
        let mut values: Vec<(&Range<usize>, &str)> = self
            .marks
            .iter()
            .filter_map(|(range, origin)| match origin {
                Origin::Variable(via) if !range.is_empty() => Some((range, via.name.as_str())),
                _ => None,
            })
            .collect();
        // Of two that hold one another, the outer one was written.
        values.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut out = String::new();
        let mut done = 0;
        for (range, name) in values {
            if range.start >= done {
                out.push_str(self.text.get(done..range.start).unwrap_or_default());
                out.push_str("$(");
                out.push_str(name);
                out.push(')');
            }
            done = done.max(range.end);
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }

    pub(crate) fn unknown(&self) -> Option<&Unknown> {
        self.marks.iter().find_map(|(_, origin)| match origin {
            Origin::Unknown(unknown) => Some(unknown),
            Origin::Variable(_) => None,
        })
    }

    /// Nothing of it is known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.marks.iter().any(|(range, origin)| matches!(origin, Origin::Unknown(_)) && *range == (0..self.text.len()))
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = &Via> {
        self.marks.iter().filter_map(|(_, origin)| match origin {
            Origin::Variable(via) => Some(via),
            Origin::Unknown(_) => None,
        })
    }
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The word after expansion.
    pub(crate) text: Traced,
    /// The list element or script it stands in.
    pub(crate) at: Locator,
    /// Kind of place.
    pub(crate) source: Source,
}

impl Token {
    pub(crate) fn as_str(&self) -> &str {
        &self.text.text
    }
}
