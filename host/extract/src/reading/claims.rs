//! What a container is found to say.

use aibom_facts::inventory::{Category, Evidence, Role, Unresolved};
use aibom_facts::model::{ModelReference, ParsedModel};

use crate::apis::Calls;
use crate::rules::Does;

/// A runtime that a container shows.
#[derive(Clone, Debug)]
pub(crate) struct RuntimeClaim {
    pub(crate) runtime: usize,
    pub(crate) evidence: Evidence,
    /// Version by the tag, with its evidence.
    pub(crate) version: Option<Evidence>,
}

/// A model that a container names.
#[derive(Clone, Debug)]
pub(crate) struct ModelClaim {
    pub(crate) parsed: ParsedModel,
    pub(crate) role: Role,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) conflicts: Vec<Evidence>,
    pub(crate) served: Vec<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) revision: Option<String>,
    /// It is downloaded, not loaded.
    pub(crate) fetched: bool,
    /// Its caller says that it calls it, so it is no other name of a model that runs beside it.
    pub(crate) called: bool,
    /// Directory that a download fills.
    pub(crate) destination: Option<Destination>,
    pub(crate) parameters: Vec<(String, String)>,
    /// What it is in particular: `reward`.
    pub(crate) part: String,
}

/// A dataset that a container names.
#[derive(Clone, Debug)]
pub(crate) struct DatasetClaim {
    pub(crate) id: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) properties: Vec<(String, String)>,
}

/// A directory that a download fills.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The path, as far as it is known.
    pub(crate) path: String,
    /// Something unknown follows.
    pub(crate) open: bool,
}

/// The reading of one container.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) runtimes: Vec<RuntimeClaim>,
    pub(crate) models: Vec<ModelClaim>,
    pub(crate) datasets: Vec<DatasetClaim>,
    /// Facts about the run itself: its method, where its output goes.
    pub(crate) run: Vec<(String, String)>,
    pub(crate) categories: Vec<(Category, Evidence)>,
    pub(crate) does: Option<Does>,
    /// Role of the main model of what runs.
    pub(crate) role: Role,
    pub(crate) unresolved: Vec<Unresolved>,
    /// Runtimes that the report declares and that run here.
    pub(crate) declared: Vec<usize>,
    /// The image is known AI software, whatever runs in it.
    pub(crate) ai_image: Option<(Category, Evidence)>,
    /// Services that it calls, and models of them.
    pub(crate) calls: Calls,
    /// Where an engine without a model would be reported, and why.
    pub(crate) silent: Option<Unresolved>,
}

impl Reading {
    /// What measures a server is told the name that the server has given the model, and the repository or directory of its tokenizer: that
    /// of the model.
    pub(crate) fn join_tokenizer(&mut self) {
        let place = |claim: &ModelClaim| matches!(claim.parsed.reference, ModelReference::Hub { .. } | ModelReference::Path(_));
        let Some(at) = self.models.iter().position(|claim| claim.role == Role::Tokenizer && place(claim)) else { return };
        let id = self.models[at].parsed.reference.id();
        let last = id.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let served = |claim: &ModelClaim| match &claim.parsed.reference {
            ModelReference::Name(name) if claim.role == Role::Target && is_alike(name, last) => Some(name.clone()),
            _ => None,
        };
        let Some((asked, name)) = self.models.iter().enumerate().find_map(|(index, claim)| Some((index, served(claim)?))) else { return };
        let mut whole = self.models[at].clone();
        let asked = &self.models[asked];
        whole.evidence.extend(asked.evidence.iter().cloned());
        whole.conflicts.extend(asked.conflicts.iter().cloned());
        whole.served.extend(asked.served.iter().cloned().chain([name.clone()]));
        whole.parameters.extend(asked.parameters.iter().cloned());
        whole.role = Role::Target;
        self.models[at] = whole;
        self.models
            .retain(|claim| claim.role != Role::Target || !matches!(&claim.parsed.reference, ModelReference::Name(own) if *own == name));
    }
}

/// Whether one name holds the other, but for signs, capitals and the vendor `Meta` in front.
fn is_alike(name: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text: String = text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        text.strip_prefix("meta").map_or(text.clone(), str::to_owned)
    };
    let (name, other) = (plain(name), plain(other));
    name.len() >= 4 && other.len() >= 4 && (name.contains(&other) || other.contains(&name))
}

/// A claim that says no more than which model it is.
pub(crate) fn claim(parsed: ParsedModel, role: Role, evidence: Vec<Evidence>) -> ModelClaim {
    let sources = parsed.source.iter().cloned().collect();
    let revision = parsed.revision.clone();
    ModelClaim {
        parsed,
        role,
        evidence,
        conflicts: Vec::new(),
        served: Vec::new(),
        sources,
        revision,
        fetched: false,
        called: false,
        destination: None,
        parameters: Vec::new(),
        part: String::new(),
    }
}
