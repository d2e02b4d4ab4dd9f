//! Facts about one workload, with evidence. Documents are rendered from an [`Inventory`] and nothing else.
//!
//! Findings refer to each other by [`Key`], which is made from identity (class and name), never from position, so that one more
//! container renames nothing. `needs` of a finding lists what it depends on: a runtime needs its image and the models it runs, a
//! model needs the volume it is read from, an adapter needs its base.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::image::{ImageId, ImageReference};
use crate::model::ModelReference;
use crate::object::{Locator, ObjectRef};
use crate::report::{ContainerClass, Duty, Problem};
use crate::rollup::Rollup;

/// Where the object of an inventory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A manifest file; nothing is known to run.
    Manifest,
    /// An API server.
    Cluster,
}

/// What a workload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Serves models.
    Inference,
    /// Trains models from scratch or further.
    Training,
    /// Fine-tunes models.
    FineTuning,
    /// Measures the quality of models.
    Evaluation,
    /// Measures the speed of servers.
    Benchmark,
    /// Fetches or prepares models and data.
    DataPreparation,
    /// Runs agents.
    Agent,
    /// Stores vectors.
    VectorDatabase,
    /// Routes to or fronts model servers.
    Gateway,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 9] = [
        Self::Inference,
        Self::Training,
        Self::FineTuning,
        Self::Evaluation,
        Self::Benchmark,
        Self::DataPreparation,
        Self::Agent,
        Self::VectorDatabase,
        Self::Gateway,
    ];

    /// The word used in reports, rules and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Training => "training",
            Self::FineTuning => "fine-tuning",
            Self::Evaluation => "evaluation",
            Self::Benchmark => "benchmark",
            Self::DataPreparation => "data-preparation",
            Self::Agent => "agent",
            Self::VectorDatabase => "vector-database",
            Self::Gateway => "gateway",
        }
    }

    /// Reads the word; none outside the vocabulary.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == word)
    }
}

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Seen but not readable.
    Unresolved,
    /// From a name, a pattern or a convention.
    Inferred,
    /// Written in the specification by whoever made the object.
    Declared,
    /// A signature held.
    Verified,
}

impl Confidence {
    /// Every word, least sure first.
    pub const ALL: [Self; 4] = [Self::Unresolved, Self::Inferred, Self::Declared, Self::Verified];

    /// The word used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::Inferred => "inferred",
            Self::Declared => "declared",
            Self::Verified => "verified",
        }
    }
}

/// Kind of place a fact was read from. The words are an interface (property `aibom.evidence.source`), the numbers are CycloneDX
/// confidences of one piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A structured field that exists to state the fact.
    CrdField,
    /// A flag or positional argument that the recognised program documents.
    ContainerArg,
    /// A word of a shell script.
    ShellScript,
    /// A variable that the recognised program documents.
    EnvVar,
    /// A variable of a conventional name; nothing shows that the program reads it.
    EnvVarConvention,
    /// A variable whose presence alone says something (a key by name).
    EnvVarNamePresent,
    /// The image as written.
    ImageReference,
    /// A pattern over the image's repository.
    ImagePattern,
    /// The image's tag.
    ImageTag,
    /// A volume or a volume mount.
    VolumeSource,
    /// A resource request or claim.
    ResourceRequest,
    /// A node selector.
    NodeSelector,
    /// An annotation under the documented prefix.
    WorkloadAnnotation,
    /// Pod status.
    PodStatus,
    /// Computed by the scraper from the places named.
    Derived,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 15] = [
        Self::CrdField,
        Self::ContainerArg,
        Self::ShellScript,
        Self::EnvVar,
        Self::EnvVarConvention,
        Self::EnvVarNamePresent,
        Self::ImageReference,
        Self::ImagePattern,
        Self::ImageTag,
        Self::VolumeSource,
        Self::ResourceRequest,
        Self::NodeSelector,
        Self::WorkloadAnnotation,
        Self::PodStatus,
        Self::Derived,
    ];

    /// The word used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CrdField => "crd_field",
            Self::ContainerArg => "container_arg",
            Self::ShellScript => "shell_script",
            Self::EnvVar => "env_var",
            Self::EnvVarConvention => "env_var_convention",
            Self::EnvVarNamePresent => "env_var_name_present",
            Self::ImageReference => "image_reference",
            Self::ImagePattern => "image_pattern",
            Self::ImageTag => "image_tag",
            Self::VolumeSource => "volume_source",
            Self::ResourceRequest => "resource_request",
            Self::NodeSelector => "node_selector",
            Self::WorkloadAnnotation => "workload_annotation",
            Self::PodStatus => "pod_status",
            Self::Derived => "derived",
        }
    }

    /// Confidence of one piece of evidence of this kind, in hundredths.
    pub fn hundredths(self) -> u8 {
        match self {
            Self::CrdField | Self::ImageReference | Self::PodStatus | Self::VolumeSource | Self::ResourceRequest | Self::NodeSelector => {
                100
            }
            Self::ContainerArg | Self::EnvVar => 90,
            Self::WorkloadAnnotation => 80,
            Self::ShellScript => 60,
            Self::EnvVarConvention | Self::ImagePattern | Self::EnvVarNamePresent | Self::Derived => 50,
            Self::ImageTag => 40,
        }
    }

    /// The word that goes with [`Source::hundredths`].
    pub fn confidence(self) -> Confidence {
        if self.hundredths() >= 60 { Confidence::Declared } else { Confidence::Inferred }
    }
}

/// One piece of evidence: a value and the place it was read from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The place.
    pub at: Locator,
    /// Kind of place.
    pub source: Source,
    /// The value concluded from it.
    pub value: String,
    /// Flag, variable or pattern that made the value count; empty when there is none.
    pub by: String,
    /// Container name; empty when the place is in none.
    pub container: String,
}

/// Identity of a finding within one inventory: class, then name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Class.
    pub class: Class,
    /// Name that is unique in the class.
    pub name: String,
}

impl Key {
    /// A key.
    pub fn new(class: Class, name: impl Into<String>) -> Self {
        Self { class, name: name.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.class.as_str(), self.name)
    }
}

/// Class of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// [`Runtime`]
    Runtime,
    /// [`Image`]
    Image,
    /// [`Data`]
    Data,
    /// [`Device`]
    Device,
    /// [`Model`]
    Model,
    /// [`Service`]
    Service,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 6] = [Self::Runtime, Self::Image, Self::Data, Self::Device, Self::Model, Self::Service];

    /// The word used in keys and references.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Image => "image",
            Self::Data => "data",
            Self::Device => "device",
            Self::Model => "model",
            Self::Service => "service",
        }
    }
}

/// What is common to all findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Identity.
    pub key: Key,
    /// How sure the finding is.
    pub confidence: Confidence,
    /// Evidence, most effective first.
    pub evidence: Vec<Evidence>,
    /// Values that other places gave and that lost against the effective one.
    pub conflicts: Vec<Evidence>,
    /// Further facts by dotted name. A name with several values has several entries in the set.
    pub properties: BTreeMap<String, BTreeSet<String>>,
    /// What it depends on.
    pub needs: BTreeSet<Key>,
}

impl Finding {
    /// A finding without evidence yet.
    pub fn new(class: Class, name: impl Into<String>, confidence: Confidence) -> Self {
        Self {
            key: Key::new(class, name),
            confidence,
            evidence: Vec::new(),
            conflicts: Vec::new(),
            properties: BTreeMap::new(),
            needs: BTreeSet::new(),
        }
    }

    /// Adds a further fact; empty values are left out.
    pub fn property(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.properties.entry(name.into()).or_default().insert(value);
        }
    }
}

/// A model, adapter or tokenizer. Its role is in `role`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Common part; the key's name is [`ModelReference::id`].
    pub finding: Finding,
    /// Identity.
    pub reference: ModelReference,
    /// What it is used for.
    pub role: Role,
    /// Revision as declared: a commit, a branch or a tag.
    pub revision: Option<String>,
    /// Names under which it is served.
    pub served: BTreeSet<String>,
    /// Where its weights come from: URIs and paths that are not its identity.
    pub sources: BTreeSet<String>,
}

/// What a model is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The one that is served or run.
    #[default]
    Main,
    /// Proposes tokens for the main one (speculative decoding).
    Draft,
    /// A LoRA or other adapter.
    Adapter,
    /// A tokenizer that is not the main model's own.
    Tokenizer,
    /// Makes embeddings.
    Embedding,
    /// Ranks documents.
    Reranker,
    /// Grades answers.
    Judge,
    /// Input of fine-tuning.
    Base,
    /// Called, routed to or measured.
    Target,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 9] =
        [Self::Main, Self::Draft, Self::Adapter, Self::Tokenizer, Self::Embedding, Self::Reranker, Self::Judge, Self::Base, Self::Target];

    /// The word used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Draft => "draft",
            Self::Adapter => "adapter",
            Self::Tokenizer => "tokenizer",
            Self::Embedding => "embedding",
            Self::Reranker => "reranker",
            Self::Judge => "judge",
            Self::Base => "base",
            Self::Target => "target",
        }
    }

    /// Reads the word; none outside the vocabulary.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// A program that runs models or AI work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Common part; the key's name is the runtime's name in lower case.
    pub finding: Finding,
    /// Version, where a tag or field states one.
    pub version: Option<String>,
    /// A library used by a program rather than a program one runs.
    pub framework: bool,
}

/// An image with every container that uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Common part; the key's name is the canonical reference, or the text as written when that is no reference.
    pub finding: Finding,
    /// As written.
    pub written: String,
    /// Parsed; none for placeholders and malformed text.
    pub reference: Option<ImageReference>,
    /// Containers that run it.
    pub containers: Vec<ContainerUse>,
    /// What pods of the workload say that they run, where there are pods: several while a new version is rolled out, or where a tag
    /// moved.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub observed: BTreeSet<Observed>,
}

/// What the pods of a workload run in one container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Observed {
    /// What they say that it is.
    pub id: ImageId,
    /// Name of the container.
    pub container: String,
    /// How many pods say so.
    pub pods: u32,
    /// Revisions of the workload that these pods belong to, where that is known.
    pub revisions: BTreeSet<String>,
}

/// One container of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContainerUse {
    /// Container name.
    pub name: String,
    /// Class.
    pub class: ContainerClass,
    /// Pod template it belongs to; empty when the object has one unnamed template.
    pub template: String,
    /// What its template is there for.
    pub duty: Duty,
}

impl PartialOrd for Duty {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Duty {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (*self as u8).cmp(&(*other as u8))
    }
}

/// Kind of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataKind {
    /// Training or evaluation data.
    Dataset,
    /// Storage mounted into a container.
    Volume,
    /// Configuration kept elsewhere.
    Configuration,
}

/// A dataset, a volume or a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Common part.
    pub finding: Finding,
    /// Kind.
    pub kind: DataKind,
    /// What the user calls it: the claim, the dataset, the config map.
    pub name: String,
}

/// An accelerator that is asked for; a request, not proof of hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Common part; the key's name is the resource name.
    pub finding: Finding,
    /// How many per container, as written, largest first.
    pub quantities: Vec<String>,
}

/// A remote AI service that is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Common part.
    pub finding: Finding,
    /// Base URLs, without credentials.
    pub endpoints: BTreeSet<String>,
}

/// Something seen that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unresolved {
    /// What is unknown: `model`, `adapter`, `draft`, `image`, `object`.
    pub what: String,
    /// The reference that would supply it.
    pub at: Locator,
    /// Why, one of [`Unresolved::WHY`].
    pub why: String,
    /// Name of what is referred to; empty when there is none.
    pub reference: String,
}

impl Unresolved {
    /// Every reason for which something is not readable.
    pub const WHY: [&str; 14] = [
        "secret",
        "configmap",
        "field",
        "template",
        "config-file",
        "database",
        "runtime-default",
        "preset",
        "not-found",
        "undefined-variable",
        "computed",
        "placeholder",
        "malformed",
        "too-long",
    ];
}

/// A program that contributed to the inventory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tool {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// SHA-256 of its bytes, lower-case hex; none for the host itself.
    pub sha256: Option<String>,
}

/// Most pieces of evidence of one category.
const GROUNDS: usize = 4;

/// Everything known about one workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// The workload, first, then the related objects in the order of locators.
    pub objects: Vec<ObjectRef>,
    /// Where it was read.
    pub origin: Origin,
    /// `metadata.generation`, when known.
    pub generation: Option<i64>,
    /// What it does, with what says so, the decisive first; empty for a workload that has nothing to do with AI.
    pub categories: BTreeMap<Category, Vec<Evidence>>,
    /// Models.
    pub models: Vec<Model>,
    /// Runtimes.
    pub runtimes: Vec<Runtime>,
    /// Images.
    pub images: Vec<Image>,
    /// Data.
    pub data: Vec<Data>,
    /// Devices.
    pub devices: Vec<Device>,
    /// Services.
    pub services: Vec<Service>,
    /// What could not be read.
    pub unresolved: BTreeSet<Unresolved>,
    /// Malformed parts.
    pub problems: BTreeSet<Problem>,
    /// Facts about the workload itself, by dotted name.
    pub properties: BTreeMap<String, BTreeSet<String>>,
    /// Scrapers that contributed.
    pub tools: BTreeSet<Tool>,
    /// Other workloads that it speaks for.
    #[serde(default, skip_serializing_if = "Rollup::is_empty")]
    pub rollup: Rollup,
}

impl Inventory {
    /// An inventory without facts.
    pub fn new(objects: Vec<ObjectRef>, origin: Origin) -> Self {
        Self {
            objects,
            origin,
            generation: None,
            categories: BTreeMap::new(),
            models: Vec::new(),
            runtimes: Vec::new(),
            images: Vec::new(),
            data: Vec::new(),
            devices: Vec::new(),
            services: Vec::new(),
            unresolved: BTreeSet::new(),
            problems: BTreeSet::new(),
            properties: BTreeMap::new(),
            tools: BTreeSet::new(),
            rollup: Rollup::default(),
        }
    }

    /// The workload.
    pub fn subject(&self) -> Option<&ObjectRef> {
        self.objects.first()
    }

    /// It does this, says a piece of evidence. The first few are kept: a workload of a hundred containers does not do it a hundred times
    /// over.
    pub fn does(&mut self, category: Category, evidence: Evidence) {
        let known = self.categories.entry(category).or_default();
        if known.len() < GROUNDS && !known.iter().any(|piece| (&piece.at, &piece.by) == (&evidence.at, &evidence.by)) {
            known.push(evidence);
        }
    }

    /// Whether the workload has to do with AI: it has a category.
    pub fn is_ai(&self) -> bool {
        !self.categories.is_empty()
    }

    /// Confidence of the whole: the lowest of its runtimes and models that are resolved; unresolved when there are none.
    pub fn confidence(&self) -> Confidence {
        let models = self.models.iter().map(|model| model.finding.confidence);
        let runtimes = self.runtimes.iter().map(|runtime| runtime.finding.confidence);
        models.chain(runtimes).filter(|confidence| *confidence != Confidence::Unresolved).min().unwrap_or(Confidence::Unresolved)
    }
}
