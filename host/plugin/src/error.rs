//! What can go wrong, typed. The words of [`Step`] and [`CallError::word`] are labels of metrics and stay as they are.

use std::fmt;
use std::time::Duration;

use aibom_facts::report::Problem;

/// Why a host could not be made.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A setting makes no sense.
    #[error("setting `{setting}` of the plugin host: expected {expected}")]
    Setting {
        /// Field of [`crate::HostConfig`].
        setting: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// The engine refused its settings or the machine.
    #[error("the WebAssembly engine cannot start: {0}")]
    Engine(String),
    /// The thread that ends calls at their deadline could not be started.
    #[error("the deadline thread cannot start: {0}")]
    Ticker(#[from] std::io::Error),
}

/// Steps of loading, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Form and size, before anything is compiled.
    Scan,
    /// Version of the contract and imports.
    Contract,
    /// Compilation to native code.
    Compile,
    /// Imports and exports against the host's.
    Link,
    /// Memories, tables and instances that an instance needs.
    Resources,
    /// A trial instance and a call of `describe`.
    Probe,
    /// What `describe` said.
    Description,
}

impl Step {
    /// The word used in metrics and conditions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Contract => "contract",
            Self::Compile => "compile",
            Self::Link => "link",
            Self::Resources => "resources",
            Self::Probe => "probe",
            Self::Description => "description",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a plugin was not loaded. Nothing that was loaded before is affected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plugin `{plugin}` (sha256:{digest}) cannot be loaded, step {step}: expected {expected}, found {found}")]
pub struct LoadError {
    /// The step that failed.
    pub step: Step,
    /// Name under which the plugin was to be loaded.
    pub plugin: String,
    /// SHA-256 of its bytes, lower-case hex.
    pub digest: String,
    /// What the step wants.
    pub expected: String,
    /// What it got.
    pub found: String,
}

/// The reason behind a [`LoadError`], before it knows its plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) step: Step,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Rejection {
    pub(crate) fn new(step: Step, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { step, expected: expected.into(), found: found.into() }
    }
}

/// A limit on what a guest may ask of the host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostLimit {
    /// Too much work was asked of the host ([`crate::HostConfig::view_calls`]).
    #[error("more than {0} steps of host work")]
    Work(u64),
    /// Too many node handles at the same time ([`crate::HostConfig::handles`]).
    #[error("more than {0} node handles at the same time")]
    Handles(usize),
    /// An answer that is too large ([`crate::HostConfig::result_bytes`]).
    #[error("an answer of the host over {0} bytes")]
    Answer(usize),
    /// The objects of a call are too large to be numbered.
    #[error("objects with more than 4,294,967,295 nodes together")]
    Objects,
    /// The machine could not give what the call needed, within its limits.
    #[error("no instance: {0}")]
    Instance(String),
}

/// How a call ended when it did not end well. The first three are answers of the guest and a normal outcome of an object; the others
/// end the guest and are faults of the plugin, except `Pool` and `Host(HostLimit::Instance)`, which are the host's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The scraper does not read this version or shape.
    #[error("the scraper does not read this object: {0}")]
    Unsupported(String),
    /// The scraper says that the object is malformed.
    #[error("malformed at `{}` of object {}: {}", .0.at.pointer, .0.at.object, .0.message)]
    Malformed(Problem),
    /// The scraper gave another reason.
    #[error("the scraper failed: {0}")]
    Failed(String),
    /// The deadline passed.
    #[error("the scraper did not finish within {} ms", .0.as_millis())]
    Deadline(Duration),
    /// Memory was refused and the guest could not go on.
    #[error("the scraper needed more than {0} bytes of memory")]
    Memory(usize),
    /// The call stack was exhausted.
    #[error("the scraper exhausted its call stack")]
    Stack,
    /// The guest aborted. The text is its last error line, or the trap where it said nothing.
    #[error("the scraper aborted: {0}")]
    Panic(String),
    /// What the guest handed over cannot be read: too large, not UTF-8, outside of its memory, or against the contract.
    #[error("the scraper handed over what cannot be read: {0}")]
    Output(String),
    /// The guest asked too much of the host, or the host could not serve.
    #[error("the scraper passed a limit of its host: {0}")]
    Host(HostLimit),
    /// All slots were taken. Calls through the asynchronous functions wait instead.
    #[error("no free slot for the call")]
    Pool,
}

impl CallError {
    /// Every word of [`CallError::word`].
    pub const WORDS: [&'static str; 10] =
        ["unsupported", "malformed", "failed", "deadline", "memory", "stack", "panic", "output", "host", "pool"];

    /// The word used in metrics.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unsupported(_) => "unsupported",
            Self::Malformed(_) => "malformed",
            Self::Failed(_) => "failed",
            Self::Deadline(_) => "deadline",
            Self::Memory(_) => "memory",
            Self::Stack => "stack",
            Self::Panic(_) => "panic",
            Self::Output(_) => "output",
            Self::Host(_) => "host",
            Self::Pool => "pool",
        }
    }

    /// Whether the guest itself answered with a failure, which says something about the object and nothing bad about the plugin.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Unsupported(_) | Self::Malformed(_) | Self::Failed(_))
    }
}
