//! What can be wrong with a configuration, and what of it this version cannot do.

use std::fmt;

use crate::config::SinkType;
use crate::kinds::{GroupKind, NoKind};
use crate::text::quoted;
use crate::words::words;

words! {
    /// Parts of a configuration that are right or wrong by themselves. What is wrong in one leaves the others in force.
    pub enum Section {
        /// `spec.discovery.namespaceSelector`
        NamespaceSelector = "namespaceSelector",
        /// `spec.discovery.inferenceRuntimeImagePatterns`
        ImagePatterns = "inferenceRuntimeImagePatterns",
        /// `spec.discovery.workloadKinds`
        WorkloadKinds = "workloadKinds",
        /// `spec.discovery.podTemplateKinds`
        PodTemplateKinds = "podTemplateKinds",
        /// `spec.discovery.runtimes`
        Runtimes = "runtimes",
        /// `spec.bomGeneration`
        BomGeneration = "bomGeneration",
        /// `spec.sinks`, each sink by itself
        Sinks = "sinks",
        /// `spec.logging`
        Logging = "logging",
        /// `spec.verification`
        Verification = "verification",
        /// `spec.plugins`, each plugin by itself
        Plugins = "plugins",
    }
}

/// One thing that is wrong, and where. It reads `<path>: <what to do>`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ConfigError {
    /// The part that keeps its last good state because of it.
    pub section: Section,
    /// Path of the field, such as `spec.sinks[0].webhook.endpoint`.
    pub path: String,
    /// What is wrong.
    #[source]
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Another shape than the schema's. The API server lets it through only where its definition is older or newer.
    #[error("cannot be read ({0}); compare it with `kubectl explain`")]
    Unreadable(String),
    /// A number out of its limits, which are included.
    #[error("is {value}; use a number from {min} to {max}")]
    OutOfRange {
        /// The number.
        value: i64,
        /// Least number.
        min: i64,
        /// Greatest number.
        max: i64,
    },
    /// A text or list whose length is out of its limits, which are included.
    #[error("has length {length}; use {min} to {max}")]
    Length {
        /// Characters or elements.
        length: usize,
        /// Least length.
        min: usize,
        /// Greatest length.
        max: usize,
    },
    /// Not a key of a label.
    #[error("{} is no key of a label", quoted(.0))]
    LabelKey(String),
    /// Not a value of a label.
    #[error("{} is no value of a label; use up to 63 letters, digits, -, _ and .", quoted(.0))]
    LabelValue(String),
    /// Not an operator of a selector.
    #[error("{} is no operator; use In, NotIn, Exists or DoesNotExist", quoted(.0))]
    Operator(String),
    /// In or NotIn without values.
    #[error("is empty; {0} needs at least one value")]
    ValuesNeeded(String),
    /// Exists or DoesNotExist with values.
    #[error("must be empty; {0} takes no values")]
    ValuesForbidden(String),
    /// Not a kind.
    #[error(transparent)]
    NoKind(#[from] NoKind),
    /// A kind that nothing can read.
    #[error("{kind} is not known; use one of: {known}")]
    UnknownKind {
        /// The kind.
        kind: GroupKind,
        /// Known kinds, with commas between them.
        known: String,
    },
    /// Not a regular expression.
    #[error("is no regular expression in the syntax of RE2: {0}")]
    Pattern(String),
    /// Not a JSON pointer to something within an object.
    #[error("{} is no JSON pointer; write for example /spec/template", quoted(.0))]
    Pointer(String),
    /// Not a name of what stands in front.
    #[error("{} is no {what}", quoted(.value))]
    Name {
        /// What it should name.
        what: &'static str,
        /// What stands there.
        value: String,
    },
    /// Given twice.
    #[error("{0} is given twice; keep one")]
    Duplicate(String),
    /// Changes of runtimes that the rules refuse.
    #[error("{0}")]
    Runtimes(String),
    /// A field that is needed with what the rest says.
    #[error("is missing; it is needed with {with}")]
    Missing {
        /// What makes it necessary.
        with: &'static str,
    },
    /// A field that does not go with what the rest says.
    #[error("does not go with {with}; remove one of them")]
    Conflict {
        /// What it does not go with.
        with: &'static str,
    },
    /// A URL with another scheme than one of these.
    #[error("must begin with {0}")]
    Scheme(&'static str),
    /// Credentials on a connection that everybody can read.
    #[error("uses http, which would show the credentials of auth to everybody on the way; use https")]
    ClearText,
    /// A constraint that everybody meets.
    #[error("constrains nobody; give issuer, subjectPattern or both")]
    NoConstraint,
}

/// A part of a configuration that is right, but that this version of the controller cannot do yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Path of the part.
    pub path: String,
    /// What it asks for.
    pub feature: Feature,
}

/// What this version cannot do yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Delivery of documents.
    Sink {
        /// Name of the sink.
        name: String,
        /// Its type.
        type_: SinkType,
    },
    /// Verification of signatures.
    Verification,
    /// Another form of the log than the one that the process was started with.
    LogFormat,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.feature {
            Feature::Sink { name, type_ } => write!(
                f,
                "{}: the sink {name} is not served: this version supports no sinks of type {type_}, documents are in AIBOM objects only",
                self.path
            ),
            Feature::LogFormat => write!(f, "{}: the form of the log is that of the flag --zap-encoder, from start to end", self.path),
            Feature::Verification => {
                write!(f, "{}: this version verifies no signatures, they are recorded as claims", self.path)
            }
        }
    }
}

/// All of a list in one message, as conditions have it, with `; ` between them and nothing said twice.
pub fn joined<T: fmt::Display>(list: &[T]) -> String {
    let mut texts: Vec<String> = list.iter().map(ToString::to_string).collect();
    texts.dedup();
    texts.join("; ")
}
