//! What a scraper said about one object, after grounding: every pointer resolves, every `declared` text stands where it says.
//!
//! The shapes mirror the WIT contract (`wit/`), whose comments explain each field. The host works with these types only, so that a
//! second major version of the contract converts into them and nothing else changes.

use serde::{Deserialize, Serialize};

use crate::object::Locator;

/// How a claim's text follows from the places it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The text is the value at the place, or the values of several places joined by one of `:` `/` `@`. Checked by the host.
    Declared,
    /// The text is computed from the values at the places.
    Derived,
    /// The presence of what is at the place implies the text.
    Implied,
}

impl Basis {
    /// Every basis.
    pub const ALL: [Self; 3] = [Self::Declared, Self::Derived, Self::Implied];

    /// The word of the contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Derived => "derived",
            Self::Implied => "implied",
        }
    }
}

/// A statement and where it was read. `at` is never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The statement.
    pub text: String,
    /// How it follows from `at`.
    pub basis: Basis,
    /// The places, most effective first.
    pub at: Vec<Locator>,
}

/// A named fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// Dotted name, such as `example.component.type`. Names under `aibom.` are the host's own and dropped.
    pub name: String,
    /// Value and place.
    pub value: Claim,
}

/// Class of an item; the closed vocabulary of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemClass {
    /// A model with weights.
    Model,
    /// A LoRA or other adapter.
    Adapter,
    /// A tokenizer apart from its model.
    Tokenizer,
    /// A program that runs models.
    Runtime,
    /// Training or evaluation data.
    Dataset,
    /// Storage, such as a persistent volume claim.
    Volume,
    /// A service that is called.
    Service,
    /// An accelerator.
    Device,
    /// Configuration kept elsewhere: a template, a preset, a config map.
    Configuration,
}

impl ItemClass {
    /// Reads the word of the contract; none for a word outside the vocabulary.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "model" => Self::Model,
            "adapter" => Self::Adapter,
            "tokenizer" => Self::Tokenizer,
            "runtime" => Self::Runtime,
            "dataset" => Self::Dataset,
            "volume" => Self::Volume,
            "service" => Self::Service,
            "device" => Self::Device,
            "configuration" => Self::Configuration,
            _ => return None,
        })
    }
}

/// One thing the object names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Unique in the report; empty where nothing refers to it.
    pub id: String,
    /// Class.
    pub class: ItemClass,
    /// Role, such as `main`, `draft`, `base`; empty for the usual one.
    pub role: String,
    /// Name.
    pub name: Claim,
    /// Version or revision.
    pub version: Option<Claim>,
    /// Where the content comes from: URIs, volume claims, image references.
    pub sources: Vec<Claim>,
    /// Ids of items it needs, or names of the pod templates it runs in.
    pub uses: Vec<String>,
    /// Further facts.
    pub properties: Vec<Property>,
}

/// What a pod template is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duty {
    /// Not said.
    #[default]
    Unknown,
    /// Runs models.
    Engine,
    /// Router, frontend, planner: plumbing without a model of its own.
    Infrastructure,
}

/// A PodTemplateSpec or PodSpec inside an object, read by the host's one set of rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodTemplate {
    /// Where it stands. It may hold the PodSpec under `spec` (a PodTemplateSpec) or be one itself.
    pub at: Locator,
    /// Component or role name, unique in the report.
    pub name: String,
    /// Role in the workload, such as `prefill`.
    pub role: String,
    /// What it is there for.
    pub duty: Duty,
    /// Env lists the operator adds to each container, lowest precedence first.
    pub inherited_env: Vec<Locator>,
    /// Further facts.
    pub properties: Vec<Property>,
}

/// Class of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerClass {
    /// Runs beside the others for the life of the pod.
    Main,
    /// Runs to completion before the others start.
    Init,
    /// A helper beside the main one, or a restartable init container.
    Sidecar,
}

/// A container that is not written as one (`spec.image.repository` + `spec.image.tag`, or a container object outside any pod spec).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Name of the running container, so that its digest can be found in pod status.
    pub name: String,
    /// Class.
    pub class: ContainerClass,
    /// Name of the pod template it belongs to, or empty.
    pub template: String,
    /// Image reference.
    pub image: Option<Claim>,
    /// Command list.
    pub command: Option<Locator>,
    /// Argument lists, in the order in which they are joined.
    pub args: Vec<Locator>,
    /// Env lists, lowest precedence first.
    pub env: Vec<Locator>,
    /// `envFrom` lists, or texts that name a Secret of which every key becomes a variable.
    pub env_from: Vec<Locator>,
    /// `volumeMounts` list.
    pub volume_mounts: Option<Locator>,
    /// Resource requirements.
    pub resources: Option<Locator>,
    /// Further facts.
    pub properties: Vec<Property>,
}

/// Something malformed that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub at: Locator,
    /// What, in a sentence.
    pub message: String,
}

/// All that a scraper said about one object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Categories the kind itself proves, such as `inference`.
    pub categories: Vec<String>,
    /// Items.
    pub items: Vec<Item>,
    /// Pod templates.
    pub pod_templates: Vec<PodTemplate>,
    /// Containers outside pod templates.
    pub containers: Vec<Container>,
    /// Facts about the workload itself.
    pub properties: Vec<Property>,
    /// Malformed parts.
    pub problems: Vec<Problem>,
}
