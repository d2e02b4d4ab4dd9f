//! Inputs and documents that cannot be read: where and why, in one line.
//!
//! The lines around a fault are not shown: a manifest that does not parse may well be a Secret.

use super::documents::Malformed;
use super::sources::SourceError;

/// One input or document that could not be read. The others are still done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The whole story in one line.
    pub message: String,
    /// Name of the input.
    pub file: String,
    /// Index of the document; none when the input itself failed.
    pub document: Option<usize>,
    /// Line in the input, from 1.
    pub line: Option<usize>,
}

impl Fault {
    /// An input that cannot be read.
    pub fn input(error: &SourceError) -> Self {
        let (file, line) = match error {
            SourceError::Unreadable { name, .. } | SourceError::TooLarge { name } | SourceError::TooDeep { name } => (name.clone(), None),
            SourceError::NoText { name, line, .. } => (name.clone(), Some(*line)),
        };
        Self { message: error.to_string(), file, document: None, line }
    }

    /// A document that cannot be read.
    pub fn document(file: &str, index: usize, malformed: &Malformed) -> Self {
        use std::fmt::Write as _;
        let mut message = format!("{file}, document {index}");
        if let Some(line) = malformed.line {
            let _ = write!(message, ", line {line}");
        }
        if let Some(column) = malformed.column {
            let _ = write!(message, ", column {column}");
        }
        let _ = write!(message, ": {}", malformed.reason);
        Self { message, file: file.to_owned(), document: Some(index), line: malformed.line }
    }
}
